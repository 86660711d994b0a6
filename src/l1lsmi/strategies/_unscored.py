"""What a search chooses by whose time is out before it has scored anything: correlation with the target."""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray, in_float64, to_numpy
from l1lsmi._numerics.correlation import correlation_with_target
from l1lsmi._rows.table import is_large_sparse

#: Rows that correlations are taken over at most and at least, values of these rows in all columns, and
#: values that are in memory at a time.
MOST_ROWS, FEWEST_ROWS = 500, 20
MOST_VALUES = 2**22
AT_A_TIME = 2**19


def correlations(problem: Any) -> HostArray:
    """Absolute correlation of every column with the target over some rows, (m,); below 0 for constant ones.

    Rows that are not in memory would have to be read: all columns that vary are then equal, as they are where
    a category or a large sparse matrix has no quick correlation.
    """
    found = np.full(problem.n_features, -1.0)
    columns, table = problem.columns, problem.table
    found[columns] = 0.0
    if not table.in_memory or is_large_sparse(table):
        return found
    if table.kinds is not None:
        columns = columns[table.kinds.is_plain[columns]]
    n_rows = max(FEWEST_ROWS, min(MOST_ROWS, MOST_VALUES // max(1, columns.size)))
    rows = np.unique(np.linspace(0, table.n_rows - 1, n_rows).astype(np.intp))
    target = problem.target.rows_of(rows)
    source, places = table.locate(rows)
    step = max(1, AT_A_TIME // rows.size)
    for start in range(0, columns.size, step):
        some = columns[start : start + step]
        values = np.nan_to_num(to_numpy(in_float64(source.take(places, some))))
        found[some] = correlation_with_target(values, target)
    return found
