"""Rows that come in blocks, one after the other, and come again for every visit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from l1lsmi.arrays import HostArray
from l1lsmi.rows.parted import PART_ROWS, Part, sum_in_order
from l1lsmi.rows.remote import RemoteTable
from l1lsmi.rows.table import Means, Table, column_statistics, is_constant, merged_statistics

__all__ = ["BlockSource", "ColumnSums", "StreamTable"]


class BlockSource(Protocol):
    """Gives the same rows in the same order for every visit.

    ``blocks(columns)`` yields arrays of the columns asked for, None for all.
    """

    def blocks(self, columns: HostArray | None) -> Iterator[HostArray]: ...


@dataclass(frozen=True)
class ColumnSums:
    """Number, means and standard deviations of rows seen so far; those of further rows can be merged."""

    n_rows: int
    mean: HostArray
    scale: HostArray
    low: HostArray
    high: HostArray

    @classmethod
    def of(cls, x: HostArray) -> ColumnSums:
        """Of one block."""
        return cls(len(x), *column_statistics(x), x.min(axis=0), x.max(axis=0))

    def merged(self, other: ColumnSums) -> ColumnSums:
        """Of both together."""
        one, two = (self.mean, self.scale), (other.mean, other.scale)
        mean, scale = merged_statistics(self.n_rows, one, other.n_rows, two)
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        scale = np.where(is_constant(low, high), 0.0, scale)  # whatever the blocks say
        return ColumnSums(self.n_rows + other.n_rows, mean, scale, low, high)


@dataclass
class StreamTable(RemoteTable):
    """A table whose rows come from a source, in blocks.

    Attributes
    ----------
    source : BlockSource
    n_rows : int
    mean, scale : numpy.ndarray of shape (m,)
    means : Means
    """

    source: BlockSource
    n_rows: int
    mean: HostArray
    scale: HostArray
    means: Means

    def _read(self, rows: HostArray) -> Table:
        found, start = [], 0
        for block in self.source.blocks(None):
            stop = start + len(block)
            inside = rows[np.searchsorted(rows, start) : np.searchsorted(rows, stop)]
            if inside.size:
                found.append(block[inside - start])
            start = stop
        return Table(np.concatenate(found), self.mean, self.scale, self.means)

    def parts(self, target: Any, fold_of_row: HostArray) -> StreamParts:
        """The rows with what is to be predicted and their folds."""
        return StreamParts(self, target, fold_of_row)


@dataclass(frozen=True)
class StreamParts:
    """Blocks of a source with the targets and folds of their rows."""

    table: StreamTable
    target: Any
    fold_of_row: HostArray

    def _parts(self, columns: HostArray | None) -> Iterator[Part]:
        table, start = self.table, 0
        blocks = _without_columns(table.n_rows) if columns is None else table.source.blocks(columns)
        held = np.empty(0, dtype=np.intp) if columns is None else columns
        for block in blocks:
            stop = start + len(block)
            here = Table(block, table.mean, table.scale, table.means, held)
            yield Part(here, self.target.slice_of(start, stop), self.fold_of_row[start:stop])
            start = stop

    def sum(self, function: Callable[..., Any], *arguments: Any, columns: HostArray | None) -> Any:
        """Add up over the blocks."""
        return sum_in_order(
            lambda part: function(part, *arguments), self._parts(columns), self.table.means.n_jobs
        )


def _without_columns(n_rows: int) -> Iterator[HostArray]:
    """Blocks for sums that look at targets alone."""
    for start in range(0, n_rows, PART_ROWS):
        yield np.empty((min(PART_ROWS, n_rows - start), 0))
