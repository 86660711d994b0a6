"""Rows that are visited a part at a time, and not kept."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol

import numpy as np

from l1lsmi.arrays import HostArray, is_foreign
from l1lsmi.rows.folded import DEVICE_BLOCK_ROWS, Centers, FoldedRows, Layout, add_up
from l1lsmi.rows.table import Table

__all__ = ["ArrayParts", "Part", "PartedRows", "Parts", "fold_rows"]

#: Rows in a part of an array: enough that visiting it costs little beside the work.
PART_ROWS = 2_000
#: A part has at least so many rows, however little memory there is.
FEWEST_ROWS = 100


class Part(NamedTuple):
    """Consecutive rows, what is to be predicted for them, and their folds."""

    table: Table
    target: Any
    fold_of_row: HostArray


class Parts(Protocol):
    """Where the rows are.

    ``sum`` adds up ``function(part, *arguments)`` over the parts; ``columns`` are those that it reads.
    """

    def sum(self, function: Callable[..., Any], *arguments: Any, columns: HostArray | None) -> Any: ...


class ArrayParts:
    """Slices of an array in memory, or mapped into it, spread over threads."""

    def __init__(self, table: Table, target: Any, fold_of_row: HostArray, part_rows: int) -> None:
        self._whole = Part(table, target, fold_of_row)
        self._part_rows = part_rows

    def _part(self, start: int) -> Part:
        table, target, fold_of_row = self._whole
        stop = min(start + self._part_rows, table.n_rows)
        return Part(table.slice_of(start, stop), target.slice_of(start, stop), fold_of_row[start:stop])

    def sum(self, function: Callable[..., Any], *arguments: Any, columns: HostArray | None) -> Any:
        """Add up over the slices, in order whatever the number of threads."""
        starts = range(0, self._whole.table.n_rows, self._part_rows)

        def term(start: int) -> Any:
            return function(self._part(start), *arguments)

        n_jobs = min(self._whole.table.means.n_jobs, len(starts))
        if n_jobs == 1:
            return add_up(map(term, starts))
        # Each thread adds up a few slices at a time, and waits for the others: no more terms are alive.
        total: Any = None
        with ThreadPoolExecutor(n_jobs) as pool:
            for i in range(0, len(starts), 8 * n_jobs):
                total = add_up([total, *pool.map(term, starts[i : i + 8 * n_jobs])])
        return total


def fold_rows(table: Table, target: Any, fold_of_row: HostArray, layout: Layout) -> FoldedRows | PartedRows:
    """Lay rows out: all at hand where the memory allows, else a part at a time.

    Parameters
    ----------
    table : Table
    target : object
        What `Layout.attach` makes arrays of; has ``slice_of``.
    fold_of_row : numpy.ndarray of shape (n,)
        The fold of each row; -1 leaves a row out.
    layout : Layout
    """
    per_row = layout.bytes_per_row(table.n_columns)
    if table.n_rows * per_row <= table.means.kept_bytes():
        return FoldedRows(table, target, fold_of_row, layout)
    most = DEVICE_BLOCK_ROWS if is_foreign(table.x) else PART_ROWS
    # What is worked out of a row on the way takes several times what would be kept of it.
    block_rows = max(FEWEST_ROWS, min(most, table.means.kept_bytes() // (4 * per_row)))
    parts = ArrayParts(table, target, fold_of_row, block_rows)
    sizes = np.bincount(fold_of_row[fold_of_row >= 0], minlength=layout.n_folds)
    return PartedRows(parts, sizes, layout, block_rows)


class PartedRows:
    """The rows of a table, seen through a layout wherever they are.

    Parameters
    ----------
    parts : Parts
    fold_sizes : numpy.ndarray of int
    layout : Layout
    block_rows : int
        Rows that are worked on at a time.
    """

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
        return self._parts.sum(_sum_part, self._layout, self._block_rows, term, arguments, columns=columns)

    def forget(self) -> None:
        """Give back the memory of the last columns of the centres; nothing is kept of the rows."""
        self.centers.forget()


def _sum_part(
    part: Part, layout: Layout, block_rows: int, term: Callable[..., Any], arguments: tuple[Any, ...]
) -> Any:
    blocks = layout.blocks(part.table, part.target, part.fold_of_row, block_rows)
    return add_up(term(block, *arguments) for block in blocks)
