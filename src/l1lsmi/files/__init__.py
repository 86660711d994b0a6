"""Read tables from files, turn their columns into features for a selector, and write columns to files."""

from l1lsmi._columns.use import ColumnUse
from l1lsmi.files._target import TargetTable
from l1lsmi.files.prepare import Prepared, prepare
from l1lsmi.files.problem import FileProblem
from l1lsmi.files.read import read_table
from l1lsmi.files.table import Column, DataTable
from l1lsmi.files.write import csv_text, write_table

__all__ = [
    "read_table",
    "prepare",
    "write_table",
    "csv_text",
    "DataTable",
    "Column",
    "Prepared",
    "ColumnUse",
    "TargetTable",
    "FileProblem",
]
