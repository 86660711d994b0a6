"""Tables with a header row, in which names of columns may be missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from l1lsmi._messages import counted, printable
from l1lsmi.files._arrow_arrays import table_of_arrays
from l1lsmi.files._strings import strip
from l1lsmi.files._table_builder import TableBuilder
from l1lsmi.files.problem import FileProblem

NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
LOOKS_LIKE_DATA = "The first row looks like data, as it holds only numbers, but is read as names of columns."

#: Characters of a name that count as none.
BLANKS = " \t\r\n\f\v\u00a0"


def table_with_header(
    names: Sequence[str], arrays: Sequence[Any], source: str, decimal: str = "."
) -> TableBuilder:
    """A table of arrays below a header row.

    A first column without a name holds row names, as R and pandas write them. Other columns without a name
    must be empty. A header of numbers only may be data, or wavelengths: it is read as names, with a note.

    Parameters
    ----------
    names : sequence of str
    arrays : sequence of pyarrow.Array
        As many as names, or one more: then the row names have no name, or the last column is empty.
    source : str
        For messages.
    decimal : {".", ","}, default="."
        As in `l1lsmi.preparation.TablePreparation`.
    """
    names = list(names)
    if len(arrays) > len(names):
        names = [*names, ""] if _is_empty(arrays[-1]) else ["", *names]
    unnamed = [index for index, name in enumerate(names) if not name.strip(BLANKS)]
    empty = {index for index in unnamed if _is_empty(arrays[index])}
    filled = [index + 1 for index in unnamed if index and index not in empty]
    if filled:
        raise FileProblem(
            f"{printable(source)} has values without a name in {counted(len(filled), 'column')}, first in "
            f"column {filled[0]}: give each column a name in the first row."
        )
    kept = [index for index in range(len(names)) if index not in empty]
    if not kept:
        raise FileProblem(
            f"{printable(source)} has neither names of columns nor values: pass a file with a row of names "
            "and rows of values."
        )
    table = table_of_arrays([names[index] for index in kept], [arrays[index] for index in kept], decimal)
    if empty:
        table.add_note(f"Left out {counted(len(empty), 'column')} with neither a name nor values.")
    if 0 in unnamed and 0 in kept:
        table.exclude(0)
        table.add_note("The first column has no name: it is read as row names, and is not a feature.")
    if all(NUMBER.fullmatch(name.strip()) for name in table.names):
        table.add_note(LOOKS_LIKE_DATA)
    return table


def _is_empty(array: Any) -> bool:
    if pa.types.is_large_string(array.type):
        array = strip(array)
    return bool(array.null_count == len(array))
