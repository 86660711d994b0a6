"""Rows that follow each other and may belong together, such as those of a patient."""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi._messages import quoted

#: Columns at most that are looked at.
MAX_COLUMNS = 1_000
#: Values at least of a column that names groups of rows; and which share of them has several rows.
LEAST_VALUES = 20
LEAST_SHARE = 0.9


def rows_together(X: Any) -> list[str]:
    """Note the column with the most values whose equal values follow each other, if there is one.

    Parameters
    ----------
    X : pyarrow.Table
        Of features.
    """
    best, most = "", 0
    for name in X.column_names[:MAX_COLUMNS]:
        n_values = _values_in_runs(X.column(name))
        best, most = (name, n_values) if n_values > most else (best, most)
    if not most:
        return []
    return [
        f"Rows with the same value of {quoted(best)} are next to each other ({most:,} values): if they "
        f"belong together, for example to one person, pass {quoted(best)} as groups."
    ]


def _values_in_runs(column: Any) -> int:
    """Number of values of a column, each of which has one run of rows; 0 for other columns."""
    n_rows = len(column)
    if n_rows < 2 * LEAST_VALUES or column.null_count:
        return 0
    import pyarrow as pa

    whole = column.combine_chunks()
    if pa.types.is_dictionary(whole.type):
        values = whole.indices.to_numpy(zero_copy_only=False)
    elif pa.types.is_floating(whole.type) or pa.types.is_integer(whole.type):
        values = whole.to_numpy(zero_copy_only=False)
        if not np.array_equal(values[:100], np.round(values[:100])):
            return 0
    else:
        return 0
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    several = np.diff(np.append(starts, n_rows)) > 1
    if not LEAST_VALUES <= starts.size <= n_rows / 2 or several.mean() < LEAST_SHARE:
        return 0
    return int(starts.size) if np.unique(values[starts]).size == starts.size else 0
