"""Rows that come in blocks, one after the other, and are read again for every sum."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._rows.distinct import Arrangement, row_hashes
from l1lsmi._rows.kinds import Kinds
from l1lsmi._rows.levels import LevelTotals, level_totals, renumbered
from l1lsmi._rows.out_of_core import OutOfCoreTable
from l1lsmi._rows.parts import FEWEST_ROWS, Part, add_up, sum_in_order
from l1lsmi._rows.statistics import column_statistics, is_constant, merged_statistics
from l1lsmi._rows.table import PART_ROWS, Resources, Table

OTHER_ROWS = (
    "X gave {} rows on this pass and {} on the first: it must give the same rows each time it is read."
)


class BlockSource(Protocol):
    """Gives the same rows in the same order on every pass.

    ``blocks(columns)`` yields arrays of the columns asked for, None for all.
    """

    def blocks(self, columns: HostArray | None) -> Iterator[HostArray]: ...


@dataclass(frozen=True)
class CountedSource:
    """Rows of another source, each given so many times, or not at all."""

    source: BlockSource
    counts: HostArray

    def blocks(self, columns: HostArray | None) -> Iterator[HostArray]:
        """Blocks of the source, with copies of their rows."""
        start, n_rows = 0, self.counts.size
        for block in self.source.blocks(columns):
            stop = start + len(block)
            if stop <= n_rows:
                yield np.repeat(block, self.counts[start:stop], axis=0)
            start = stop
        if start != n_rows:
            raise ValueError(OTHER_ROWS.format(start, n_rows))


@dataclass(frozen=True)
class NumberedSource:
    """Rows of another source, with other numbers of the levels of some columns."""

    source: BlockSource
    columns: HostArray
    numbers: HostArray

    def blocks(self, columns: HostArray | None) -> Iterator[HostArray]:
        """Blocks of the source, with the new numbers."""
        wanted = self.columns if columns is None else columns
        places = np.flatnonzero(np.isin(wanted, self.columns))
        numbers = self.numbers[np.searchsorted(self.columns, wanted[places])]
        places = self.columns if columns is None else places
        for block in self.source.blocks(columns):
            yield renumbered(block, places, numbers) if places.size else block


@dataclass(frozen=True)
class ColumnStatistics:
    """Number, weight, means and standard deviations of the rows so far; further rows can be merged.

    ``present`` is the weight of the rows in which each column has a value; ``low`` and ``high`` are NaN for
    columns without values. ``levels`` are those of the categories, where it is known which columns are.
    """

    n_rows: int
    weight: float
    mean: HostArray
    scale: HostArray
    low: HostArray
    high: HostArray
    present: HostArray
    levels: LevelTotals | None = None

    @classmethod
    def of(
        cls, x: HostArray, row_weights: HostArray | None = None, kinds: Kinds | None = None
    ) -> ColumnStatistics:
        """Of one block."""
        weight = len(x) if row_weights is None else float(row_weights.sum())
        low, high = np.fmin.reduce(x, axis=0), np.fmax.reduce(x, axis=0)
        present = np.full(x.shape[1], float(weight))
        if np.isnan(x.min(axis=0)).any():
            gone = np.isnan(x)
            lost = (np.ones(len(x)) if row_weights is None else row_weights) @ gone
            # Exactly all, or none, where all are there, or none, whatever the order of sums.
            present = np.where(gone.all(axis=0), 0.0, weight - lost)
        levels = None if kinds is None else LevelTotals.of(*_categories(x, kinds), row_weights)
        return cls(len(x), weight, *column_statistics(x, row_weights), low, high, present, levels)

    def merged(self, other: ColumnStatistics) -> ColumnStatistics:
        """Of the rows of both."""
        one, two = (self.mean, self.scale), (other.mean, other.scale)
        mean, scale = merged_statistics(self.present, one, other.present, two)
        low, high = np.fmin(self.low, other.low), np.fmax(self.high, other.high)
        constant = is_constant(low, high) | np.isnan(low)
        scale = np.where(constant, 0.0, scale)  # whatever the blocks say
        n_rows, weight = self.n_rows + other.n_rows, self.weight + other.weight
        present = self.present + other.present
        levels = None if self.levels is None or other.levels is None else self.levels.merged(other.levels)
        return ColumnStatistics(n_rows, weight, mean, scale, low, high, present, levels)

    @property
    def missing_share(self) -> HostArray:
        """Share of the rows without a value, for each column."""
        return np.maximum(1.0 - self.present / self.weight, 0.0)

    def scales(self, kinds: Kinds | None) -> dict[str, Any]:
        """Means, scales and kinds of the columns of a table of these rows."""
        if kinds is not None:
            assert self.levels is not None
            kinds = kinds.recounted(self.levels.weights, self.missing_share)
        return {"mean": self.mean, "scale": self.scale, "kinds": kinds}


@dataclass
class StreamTable(OutOfCoreTable):
    """A table whose rows come from a source, in blocks.

    Attributes
    ----------
    source : BlockSource
    n_rows : int
    mean, scale : numpy.ndarray of shape (m,)
    resources : Resources
    limits : numpy.ndarray of shape (2, m) or None
    kinds : Kinds or None
    order : numpy.ndarray of int or None
    hashes : numpy.ndarray of uint64 or None
    """

    source: BlockSource
    n_rows: int
    mean: HostArray
    scale: HostArray
    resources: Resources
    limits: HostArray | None = None
    kinds: Kinds | None = None
    order: HostArray | None = None
    hashes: HostArray | None = None

    def arranged(self, arrangement: Arrangement) -> tuple[StreamTable, StreamTable]:
        """The rows of an arrangement, with weighted column statistics; and the same rows as given."""
        counts, order, weights = arrangement.as_read(self.n_rows)
        source, start = CountedSource(self.source, counts), 0
        plain = total = None
        for block in source.blocks(None):
            some, start = slice(start, start + len(block)), start + len(block)
            if len(block):
                plain = _with(plain, ColumnStatistics.of(block, None, self.kinds))
                total = (
                    plain
                    if weights is None
                    else _with(total, ColumnStatistics.of(block, weights[some], self.kinds))
                )
        assert plain is not None and total is not None
        scales = plain.scales(self.kinds)
        hashes = None if self.hashes is None else np.repeat(self.hashes, counts)
        given = StreamTable(
            source=source, n_rows=plain.n_rows, resources=self.resources, hashes=hashes, **scales
        )
        return replace(given, order=order, **total.scales(self.kinds)), given

    def numbered_by_weight(
        self, row_weights: HostArray | None, key_hashes: HostArray
    ) -> tuple[StreamTable, HostArray]:
        """The same rows with levels numbered by the weights of the rows that have them, and the numbers."""
        assert self.kinds is not None
        columns = np.flatnonzero(self.kinds.is_category)
        totals, start = None, 0
        for block in self.blocks(None):
            stop = start + len(block)
            weights = None if row_weights is None else row_weights[start:stop]
            of_keys = key_hashes[start:stop]
            some = level_totals(block, columns, self.kinds.n_levels[columns], weights, of_keys)
            totals, start = some if totals is None else totals.merged(some), stop
        assert totals is not None
        numbers = totals.numbers()
        source = NumberedSource(self.source, columns, numbers)
        table = replace(self, source=source, **self.scales_renumbered(numbers))
        hashes = np.concatenate([row_hashes(block) for block in table.blocks(None)])
        return replace(table, hashes=hashes), numbers

    def blocks(self, columns: HostArray | None) -> Iterator[HostArray]:
        """Blocks of the source, which must have the rows that it had at first."""
        n_rows = 0
        for block in self.source.blocks(columns):
            n_rows += len(block)
            if n_rows <= self.n_rows:
                yield block
        if n_rows != self.n_rows:
            raise ValueError(OTHER_ROWS.format(n_rows, self.n_rows))

    def _read(self, rows: HostArray) -> Table:
        found, start = [], 0
        for block in self.blocks(None):
            stop = start + len(block)
            inside = rows[np.searchsorted(rows, start) : np.searchsorted(rows, stop)]
            if inside.size:
                found.append(block[inside - start])
            start = stop
        return self.table_of(np.concatenate(found))

    def read_columns(self, columns: HostArray) -> Table:
        """Some columns, in order, of all rows, in memory."""
        x, start = np.empty((self.n_rows, columns.size)), 0
        for block in self.blocks(columns):
            x[start : start + len(block)] = block
            start += len(block)
        return self.table_of(x if self.order is None else x[self.order], columns)

    def parts(self, target: Any, fold_of_row: HostArray, part_rows: int) -> StreamParts:
        """The rows with their targets and folds, in the blocks of the source."""
        return StreamParts(self, *self.in_order_of_reading(target, fold_of_row))


@dataclass(frozen=True)
class StreamParts:
    """Blocks of a source with the targets and folds of their rows."""

    table: StreamTable
    target: Any
    fold_of_row: HostArray

    def _parts(self, columns: HostArray | None) -> Iterator[Part]:
        table, start = self.table, 0
        blocks = _without_columns(table.n_rows) if columns is None else table.blocks(columns)
        held = np.empty(0, dtype=np.intp) if columns is None else columns
        for block in blocks:
            stop = start + len(block)
            here = table.table_of(block, held)
            yield Part(here, self.target.slice_of(start, stop), self.fold_of_row[..., start:stop])
            start = stop

    def sum(self, function: Callable[..., Any], *arguments: Any, columns: HostArray | None) -> Any:
        """Add up over the blocks."""
        return sum_in_order(
            lambda part: function(part, *arguments), self._parts(columns), self.table.resources.n_jobs
        )

    def sum_pairs(self, function: Callable[..., Any], *arguments: Any, columns: HostArray) -> Any:
        """Add up over pairs of blocks: as many as may be kept are held in turn, the others pass by."""
        n_rows, resources = self.table.n_rows, self.table.resources
        may_hold = max(1, resources.cache_bytes() // (8 * columns.size))
        block_rows = max(FEWEST_ROWS, min(PART_ROWS, may_hold // 8))
        n_held = max(1, may_hold // block_rows)
        total: Any = None
        for first in range(0, -(-n_rows // block_rows), n_held):
            pairs = self._pairs(first, n_held, block_rows, columns)
            found = sum_in_order(lambda pair: function(*pair, *arguments), pairs, resources.n_jobs)
            total = add_up([total, found])
        return total

    def _pairs(
        self, first: int, n_held: int, block_rows: int, columns: HostArray
    ) -> Iterator[tuple[Part, Part]]:
        """Blocks from number ``first`` on, each with those that are held when it comes."""
        table, held, start = self.table, list[Part](), 0
        for number, block in enumerate(_even_blocks(table.blocks(columns), block_rows)):
            stop = start + len(block)
            if number >= first:
                here = table.table_of(block, columns)
                part = Part(here, self.target.slice_of(start, stop), self.fold_of_row[..., start:stop])
                if number < first + n_held:
                    held.append(part)
                yield from ((one, part) for one in held)
            start = stop


def _categories(x: HostArray, kinds: Kinds) -> tuple[HostArray, HostArray]:
    """The columns of a block that are categories, and their numbers of levels."""
    columns = np.flatnonzero(kinds.is_category)
    return x[:, columns], kinds.n_levels[columns]


def _with(total: ColumnStatistics | None, more: ColumnStatistics) -> ColumnStatistics:
    return more if total is None else total.merged(more)


def _even_blocks(blocks: Iterator[HostArray], n_rows: int) -> Iterator[HostArray]:
    """The same rows in blocks of so many, the last excepted."""
    waiting: list[HostArray] = []
    size = 0
    for block in blocks:
        start = 0
        while start < len(block):
            some = block[start : start + n_rows - size]
            waiting.append(some)
            start, size = start + len(some), size + len(some)
            if size == n_rows:
                yield np.concatenate(waiting)
                waiting, size = [], 0
    if waiting:
        yield np.concatenate(waiting)


def _without_columns(n_rows: int) -> Iterator[HostArray]:
    """Blocks for sums that look at targets alone."""
    for start in range(0, n_rows, PART_ROWS):
        yield np.empty((min(PART_ROWS, n_rows - start), 0))
