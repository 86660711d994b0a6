"""Rows laid out in blocks: cached in memory where it allows, else read a part at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._clock import check_time
from l1lsmi._rows.blocks import Block, Centers, Layout
from l1lsmi._rows.parts import FEWEST_ROWS, Part, Parts, add_up, added
from l1lsmi._rows.table import RowTable, Table


class CachedRows:
    """The rows of a table in blocks that stay in memory, each with its share of every fold.

    Parameters
    ----------
    blocks : sequence of Block
    fold_sizes : numpy.ndarray of float, shape (r, folds)
        Rows in each fold, or the sums of their weights.
    centers : Centers
    """

    cached = True

    def __init__(self, blocks: Sequence[Block], fold_sizes: HostArray, centers: Centers) -> None:
        self.blocks = list(blocks)
        self.fold_sizes = fold_sizes
        self.centers = centers

    @classmethod
    def of(
        cls, table: Table, target: Any, fold_of_row: HostArray, layout: Layout, block_rows: int | None = None
    ) -> CachedRows:
        """Lay out the rows of a table; a fold of -1 leaves a row out."""
        blocks = list(layout.blocks(table, target, fold_of_row, block_rows or table.max_block_rows))
        return cls(blocks, sizes_of_folds(target, fold_of_row, layout.n_folds), layout.centers)

    def sum(self, term: Callable[..., Any], *arguments: Any, columns: HostArray | None = None) -> Any:
        """Add up ``term(block, *arguments)`` over the blocks, in order; terms may be tuples.

        ``columns`` are those that the term reads, None for none; here all of them are in memory.
        """
        total: Any = None
        for block in self.blocks:
            check_time()
            total = added(total, term(block, *arguments))
        return total

    def take(self, members: Sequence[int]) -> CachedRows:
        """The rows of some draws of the batch."""
        blocks = [block.take(members) for block in self.blocks]
        return CachedRows(blocks, self.fold_sizes[list(members)], blocks[0].centers)

    def clear_cache(self) -> None:
        """Free the memory of the last exponents and of the columns behind them."""
        self.centers.clear_cache()
        for block in self.blocks:
            block.clear_cache()


def sizes_of_folds(target: Any, fold_of_row: HostArray, n_folds: int) -> HostArray:
    """Rows in each fold, (r, folds), or the sums of their weights; rows of fold -1 do not count."""
    weights = None if target is None else target.row_weights
    sizes = []
    for folds in fold_of_row:
        inside = folds >= 0
        of_rows = None if weights is None else weights[inside]
        sizes.append(np.bincount(folds[inside], of_rows, minlength=n_folds))
    return np.array(sizes, dtype=np.float64)


def lay_out_rows(
    table: RowTable, target: Any, fold_of_row: HostArray, layout: Layout
) -> CachedRows | UncachedRows:
    """Lay rows out: all of them cached where the memory allows, else a part at a time.

    Parameters
    ----------
    table : RowTable
    target : object
        `Layout.attach` makes arrays of it; has ``slice_of`` and ``row_weights``.
    fold_of_row : numpy.ndarray of shape (r, n)
        The fold of each row in each draw; -1 leaves a row out.
    layout : Layout
    """
    per_row = layout.bytes_per_row(table.n_columns) * len(fold_of_row)
    cache = table.cache_bytes()
    if table.in_memory and table.n_rows * per_row <= cache:
        source, _ = table.locate(np.empty(0, dtype=np.intp))
        return CachedRows.of(source, target, fold_of_row, layout)
    # Temporary arrays take several times what would be cached of a row.
    block_rows = max(FEWEST_ROWS, min(table.max_part_rows, cache // (4 * per_row)))
    sizes = sizes_of_folds(target, fold_of_row, layout.n_folds)
    return UncachedRows(table.parts(target, fold_of_row, block_rows), sizes, layout, block_rows)


class UncachedRows:
    """The rows of a table, read a part at a time for every sum.

    Parameters
    ----------
    parts : Parts
    fold_sizes : numpy.ndarray of float, shape (r, folds)
    layout : Layout
    block_rows : int
        Rows that are worked on at a time.
    """

    cached = False

    def __init__(self, parts: Parts, fold_sizes: HostArray, layout: Layout, block_rows: int) -> None:
        self._parts = parts
        self._layout = layout
        self._block_rows = block_rows
        self.fold_sizes = fold_sizes

    @property
    def centers(self) -> Centers:
        return self._layout.centers

    def sum(self, term: Callable[..., Any], *arguments: Any, columns: HostArray | None = None) -> Any:
        """Add up ``term(block, *arguments)`` over all blocks; ``columns`` are those that it reads."""
        needed = None if columns is None else np.unique(columns)
        return self._parts.sum(_sum_part, self._layout, self._block_rows, term, arguments, columns=needed)

    def clear_cache(self) -> None:
        """Free the memory of the last columns of the centres; nothing is cached of the rows."""
        self.centers.clear_cache()


def _sum_part(
    part: Part, layout: Layout, block_rows: int, term: Callable[..., Any], arguments: tuple[Any, ...]
) -> Any:
    blocks = layout.blocks(part.table, part.target, part.fold_of_row, block_rows)
    return add_up(term(block, *arguments) for block in blocks)
