"""Out-of-core rows with their targets and weights, in the form in which a fit uses them."""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target
from l1lsmi._rows.distinct import are_continuous, are_different, key_hashes
from l1lsmi._rows.table import RowTable
from l1lsmi._validation.rows import Beside, GivenRows, Rows, arrangement_of
from l1lsmi._validation.tables import with_missing_decided
from l1lsmi.sources.opening import OpenRows


def arrange_out_of_core(
    opened: OpenRows, task: str, class_weight: Any, beside: Beside, missing: str = "ignore"
) -> Rows:
    """Check targets and weights of rows that are not in memory.

    Parameters
    ----------
    opened : OpenRows
    task : str
    class_weight : dict, "balanced" or None
    beside : callable
        Further numbers of every row: rows are equal if these are equal too.
    missing : {"auto", "ignore", "value"}

    Returns
    -------
    Rows
    """
    table: Any = opened.table
    if opened.y is None:
        raise ValueError("The target y is None: pass what the features should predict, or its column's name.")
    given = GivenRows.of(table.n_rows, opened.y, task, opened.sample_weight, class_weight, beside)
    keys = given.keys()
    of_keys = key_hashes(keys)
    unchanged = given.weights is None and are_different(table.hashes + of_keys)
    hashes = None if unchanged else table.hashes_by_weight(given.weights) + of_keys

    def judge(rows: HostArray) -> bool:
        in_order = np.sort(rows)
        return are_continuous(table.rows_of(in_order).x, np.arange(in_order.size), keys[in_order])

    arrangement = arrangement_of(hashes, given, table.n_columns, judge)
    target, numbers = given.arranged(arrangement, task)
    if arrangement is None:
        table = with_missing_decided(table, target, missing)
        return Rows(table, target, numbers, lambda: (table, target), None)
    used, as_given = table.arranged(arrangement)

    def without_weights() -> tuple[RowTable, Target | None]:
        unweighted = given.as_given(arrangement, target, task)
        return with_missing_decided(as_given, unweighted, missing), unweighted

    return Rows(with_missing_decided(used, target, missing), target, numbers, without_weights, arrangement)
