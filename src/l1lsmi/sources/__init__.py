"""Where rows come from when they are not in memory: files, blocks that one gives, a cluster.

`open_rows` takes what a selector was handed for X and y and finds a table whose rows can be visited.
"""

from l1lsmi.sources.opening import OpenRows, is_elsewhere, open_rows, select_elsewhere, targets_here
from l1lsmi.sources.sample import read_sample

__all__ = ["OpenRows", "is_elsewhere", "open_rows", "read_sample", "select_elsewhere", "targets_here"]
