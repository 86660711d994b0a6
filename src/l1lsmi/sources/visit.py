"""One visit of all blocks: their statistics, and whether they are what they should be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from l1lsmi.arrays import HostArray
from l1lsmi.rows import ColumnSums, Means, StreamTable
from l1lsmi.rows.stream import BlockSource

__all__ = ["check_block", "label", "merge_blocks", "stream_table"]


def label(column: int, names: Sequence[str] | None) -> str:
    """A column as messages call it."""
    return str(column) if names is None else repr(names[column])


def check_block(block: HostArray, start: int, names: Sequence[str] | None) -> None:
    """Refuse values that are missing or infinite, by the row's number among all."""
    with np.errstate(over="ignore", invalid="ignore"):
        finite = bool(np.isfinite(block.sum()))
    if finite or np.isfinite(block).all():
        return
    row, column = np.argwhere(~np.isfinite(block))[0]
    what = "NaN" if np.isnan(block[row, column]) else "infinity"
    raise ValueError(
        f"Input X contains {what}, first in row {start + row} of column {label(column, names)}: drop or "
        "impute such values before fitting."
    )


def merge_blocks(sums: Iterable[ColumnSums]) -> ColumnSums:
    """Statistics of all blocks from those of each."""
    total: ColumnSums | None = None
    for some in sums:
        total = some if total is None else total.merged(some)
    if total is None or total.n_rows < 2:
        n_rows = 0 if total is None else total.n_rows
        raise ValueError(f"Found X with n_samples={n_rows}: at least 2 rows are required.")
    return total


def stream_table(source: BlockSource, names: Sequence[str] | None, means: Means) -> StreamTable:
    """Visit a source once and wrap it."""

    def of_blocks() -> Any:
        start = 0
        for block in source.blocks(None):
            check_block(block, start, names)
            start += len(block)
            if len(block):
                yield ColumnSums.of(block)

    total = merge_blocks(of_blocks())
    return StreamTable(source, total.n_rows, total.mean, total.scale, means)
