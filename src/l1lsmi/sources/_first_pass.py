"""One pass over all blocks: their column statistics, and checks of their values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._rows.distinct import row_hashes
from l1lsmi._rows.stream import BlockSource, ColumnStatistics, StreamTable
from l1lsmi._rows.table import Resources
from l1lsmi._validation.features import check_finite
from l1lsmi.sources._levels import Levels, all_levels, kinds_of


def check_named(y: Any) -> None:
    """Check that the target of a file or dataframe is given, before its columns are checked."""
    if y is None:
        raise ValueError("y is None: pass the name of the column to predict, or the targets of all rows.")


def named_columns(y: Any, names: Sequence[Any]) -> list[str] | None:
    """Names of the target's columns, where ``y`` names columns; None where it holds the targets themselves.

    Parameters
    ----------
    y : object
        A name, or a list of names of which at least one is that of a column.
    names : sequence of str
        All columns.
    """
    if isinstance(y, str):
        return [y]
    if not isinstance(y, (list, tuple)) or not y or not all(isinstance(name, str) for name in y):
        return None
    found = list(y)
    if not set(found) & set(names):
        return None
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise ValueError(f"y names column {twice!r} twice: name each target once.")
    return found


def merge_blocks(sums: Iterable[ColumnStatistics]) -> ColumnStatistics:
    """Statistics of all blocks from those of each."""
    total: ColumnStatistics | None = None
    for some in sums:
        total = some if total is None else total.merged(some)
    if total is None or total.n_rows < 2:
        n_rows = 0 if total is None else total.n_rows
        raise ValueError(f"Found X with n_samples={n_rows}: at least 2 rows are required.")
    return total


def stream_table(
    source: BlockSource, names: Sequence[str] | None, resources: Resources, levels: Levels
) -> tuple[StreamTable, list[list[Any] | None] | None]:
    """Pass over a source once and wrap it; also give the levels of its categories.

    ``levels`` are those with which the source numbers levels.
    """
    hashes: list[HostArray] = []

    def of_blocks() -> Any:
        start = 0
        for block in source.blocks(None):
            check_finite(block, names, start, allow_missing=True)
            start += len(block)
            if len(block):
                hashes.append(row_hashes(block))
                yield ColumnStatistics.of(block)

    total = merge_blocks(of_blocks())
    categories = levels.finish()
    kinds, mean, scale = kinds_of(total, categories)
    found = np.concatenate(hashes)
    table = StreamTable(source, total.n_rows, mean, scale, resources, kinds=kinds, hashes=found)
    return table, all_levels(mean.size, categories)
