"""Rows that are not in memory: in files, in blocks, or on a cluster.

`open_rows` turns the X and y that a selector was given into a table whose rows can be read in batches.
"""

from l1lsmi.sources.lazy import select_columns
from l1lsmi.sources.opening import OpenRows, computed_targets, is_out_of_core, open_rows
from l1lsmi.sources.sample import read_sample

__all__ = ["OpenRows", "is_out_of_core", "open_rows", "read_sample", "select_columns", "computed_targets"]
