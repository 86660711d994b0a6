"""Rows that are not in memory: in files, in blocks, or on a cluster.

`open_rows` takes what a selector was handed for X and y and finds a table whose rows can be visited.
"""

from l1lsmi.sources.lazy import select_columns
from l1lsmi.sources.opening import OpenRows, computed_targets, is_out_of_core, open_rows
from l1lsmi.sources.sample import read_sample

__all__ = ["OpenRows", "is_out_of_core", "open_rows", "read_sample", "select_columns", "computed_targets"]
