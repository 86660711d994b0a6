"""Out-of-core rows with their targets and weights, in the form in which a fit uses them."""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target
from l1lsmi._rows.content import has_order
from l1lsmi._rows.distinct import are_continuous, are_different, key_hashes
from l1lsmi._rows.kinds import Kinds
from l1lsmi._rows.levels import in_order_of
from l1lsmi._rows.table import RowTable
from l1lsmi._validation.rows import Beside, GivenRows, Rows, arrangement_of, in_order_of_content
from l1lsmi._validation.tables import with_missing_decided
from l1lsmi.sources.opening import OpenRows


def arrange_out_of_core(
    opened: OpenRows,
    task: str,
    class_weight: Any,
    beside: Beside,
    missing: str = "ignore",
    by_content: bool = False,
) -> tuple[Rows, list[list[Any] | None] | None]:
    """Check targets and weights of rows that are not in memory.

    Parameters
    ----------
    opened : OpenRows
    task : str
    class_weight : dict, "balanced" or None
    beside : callable
        Returns further values of every row; rows count as equal only if these values are equal, too.
    missing : {"auto", "ignore", "value"}
    by_content : bool
        Whether the rows are sorted by their contents if there are few.

    Returns
    -------
    rows : Rows
    levels : list or None
        Levels of each category, and None for each numeric column; None if all columns are numeric.
    """
    table: Any = opened.table
    if opened.y is None:
        raise ValueError("y is None: pass what the features should predict, or the name of its column.")
    given = GivenRows.of(table.n_rows, opened.y, task, opened.sample_weight, class_weight, beside)
    keys = given.keys()
    of_keys = key_hashes(keys)
    levels = opened.levels
    unchanged = given.weights is None and are_different(table.hashes + of_keys)
    if not unchanged and table.has_categories:
        table, renumbered = table.numbered_by_weight(given.weights, of_keys)
        levels = _in_new_order(levels, table.kinds.is_category, renumbered)
    hashes = None if unchanged else table.hashes + of_keys

    def judge(rows: HostArray) -> bool:
        in_order = np.sort(rows)
        return are_continuous(table.rows_of(in_order).x, np.arange(in_order.size), keys[in_order])

    arrangement = arrangement_of(hashes, given, table.n_columns, judge)
    target, numbers = given.arranged(arrangement, task)
    if by_content and target is not None and has_order(target.n_rows, table.n_columns):
        used = table if arrangement is None else table.arranged(arrangement)[0]
        arrangement = in_order_of_content(used, target, arrangement, table.hashes + of_keys)
        target, numbers = given.arranged_by_content(arrangement, task)
    if arrangement is None:
        table = with_missing_decided(table, target, missing)
        return Rows(table, target, numbers, lambda: (table, target), None), levels
    used, as_given = table.arranged(arrangement)

    def without_weights() -> tuple[RowTable, Target | None]:
        unweighted = given.as_given(arrangement, target, task)
        return with_missing_decided(as_given, unweighted, missing), unweighted

    levels = _without_unused(levels, used.kinds)
    used = with_missing_decided(used, target, missing)
    return Rows(used, target, numbers, without_weights, arrangement), levels


def _in_new_order(
    levels: list[list[Any] | None] | None, is_category: HostArray, numbers: HostArray
) -> list[list[Any] | None]:
    """Levels of all columns by their new numbers, (categories, levels)."""
    found = list(levels or [])
    for j, number_of in zip(np.flatnonzero(is_category).tolist(), numbers, strict=True):
        found[j] = in_order_of(number_of, found[j] or [])
    return found


def _without_unused(
    levels: list[list[Any] | None] | None, kinds: Kinds | None
) -> list[list[Any] | None] | None:
    """Levels of all columns without those, the last ones, of rows that do not count."""
    if levels is None or kinds is None:
        return None
    found = [None if some is None else some[:n] for some, n in zip(levels, kinds.n_levels, strict=True)]
    return found if any(found) else None
