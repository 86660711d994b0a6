"""Rows that are visited a part at a time, and not kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol

import numpy as np

from l1lsmi._arrays import HostArray, is_foreign
from l1lsmi._rows.folded import DEVICE_BLOCK_ROWS, Centers, FoldedRows, Layout, add_up
from l1lsmi._rows.table import Means, Table

#: Rows in a part of an array: enough that visiting it costs little beside the work.
PART_ROWS = 1_000
#: A part has at least so many rows, however little memory there is.
FEWEST_ROWS = 100


class Part(NamedTuple):
    """Consecutive rows, what is to be predicted for them, and their folds."""

    table: Table
    target: Any
    fold_of_row: HostArray


class Parts(Protocol):
    """Where the rows are.

    ``sum`` adds up ``function(part, *arguments)`` over the parts; ``columns`` are those that it reads,
    None for none. ``sum_pairs`` adds up ``function(one, other, *arguments)`` over each part with itself,
    where both are the same object, and over every two parts once, in either order; ``columns`` are in order.
    """

    def sum(self, function: Callable[..., Any], *arguments: Any, columns: HostArray | None) -> Any: ...
    def sum_pairs(self, function: Callable[..., Any], *arguments: Any, columns: HostArray) -> Any: ...


class RowsElsewhere(Protocol):
    """A table whose rows are not in memory: what the numerics ask of it beside sums.

    ``columns_of`` reads some columns, in order, of all rows into memory, where they fit; it gives None where
    the work goes to the rows instead.
    """

    mean: HostArray
    scale: HostArray
    means: Means

    @property
    def n_rows(self) -> int: ...
    @property
    def n_columns(self) -> int: ...
    @property
    def varying(self) -> HostArray: ...
    def rows_of(self, rows: HostArray) -> Table: ...
    def columns_of(self, columns: HostArray) -> Table | None: ...
    def parts(self, target: Any, fold_of_row: HostArray) -> Parts: ...


def sum_in_order(function: Callable[[Any], Any], items: Iterable[Any], n_jobs: int) -> Any:
    """Add up a function of every item, spread over threads, in order whatever their number.

    Items are taken from the iterable as they are needed, so that few are alive at a time.
    """
    if n_jobs == 1:
        return add_up(map(function, items))
    total: Any = None
    waiting: deque[Future[Any]] = deque()
    with ThreadPoolExecutor(n_jobs) as pool:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * n_jobs:
                total = add_up([total, waiting.popleft().result()])
        while waiting:
            total = add_up([total, waiting.popleft().result()])
    return total


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
        """Add up over the slices."""
        table = self._whole.table
        starts = range(0, table.n_rows, self._part_rows)
        return sum_in_order(lambda start: function(self._part(start), *arguments), starts, table.means.n_jobs)

    def sum_pairs(self, function: Callable[..., Any], *arguments: Any, columns: HostArray) -> Any:
        """Add up over pairs of slices, from which the function takes the columns itself."""
        n_jobs = self._whole.table.means.n_jobs
        return sum_in_order(lambda pair: function(*pair, *arguments), self._pairs(), n_jobs)

    def _pairs(self) -> Iterator[tuple[Part, Part]]:
        n_rows = self._whole.table.n_rows
        for start in range(0, n_rows, self._part_rows):
            one = self._part(start)
            yield one, one
            for later in range(start + self._part_rows, n_rows, self._part_rows):
                yield one, self._part(later)


def fold_rows(
    table: Table | RowsElsewhere, target: Any, fold_of_row: HostArray, layout: Layout
) -> FoldedRows | PartedRows:
    """Lay rows out: all at hand where the memory allows, else a part at a time.

    Parameters
    ----------
    table : Table or RowsElsewhere
    target : object
        What `Layout.attach` makes arrays of; has ``slice_of``.
    fold_of_row : numpy.ndarray of shape (n,)
        The fold of each row; -1 leaves a row out.
    layout : Layout
    """
    per_row = layout.bytes_per_row(table.n_columns)
    x = table.x if isinstance(table, Table) else None
    kept = table.means.kept_bytes(x)
    if isinstance(table, Table) and table.n_rows * per_row <= kept:
        return FoldedRows(table, target, fold_of_row, layout)
    most = DEVICE_BLOCK_ROWS if x is not None and is_foreign(x) else PART_ROWS
    # What is worked out of a row on the way takes several times what would be kept of it.
    block_rows = max(FEWEST_ROWS, min(most, kept // (4 * per_row)))
    parts: Parts = (
        ArrayParts(table, target, fold_of_row, block_rows)
        if isinstance(table, Table)
        else table.parts(target, fold_of_row)
    )
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
        self.at_hand = False
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

    def forget(self) -> None:
        """Give back the memory of the last columns of the centres; nothing is kept of the rows."""
        self.centers.forget()


def _sum_part(
    part: Part, layout: Layout, block_rows: int, term: Callable[..., Any], arguments: tuple[Any, ...]
) -> Any:
    blocks = layout.blocks(part.table, part.target, part.fold_of_row, block_rows)
    return add_up(term(block, *arguments) for block in blocks)
