"""Orthonormal functions of every column: polynomials of its ranks, constant between quantiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from l1lsmi._arrays import (
    Array,
    HostArray,
    asarray_like,
    empty,
    in_float64,
    is_non_numpy,
    namespace,
    take_columns,
    to_numpy,
)
from l1lsmi._numerics.target import Target
from l1lsmi._rows.parts import Part, Parts
from l1lsmi._rows.table import DEVICE_BLOCK_ROWS, RowTable, Table, is_large_sparse, sample_of

#: Bins of a column at most.
N_BINS = 32
#: Columns whose quantiles are computed at a time.
CHUNK_COLUMNS = 256
#: Functions of a column at most; the last ones are seen in single terms alone.
N_FUNCTIONS = 16
#: The same where the rarest class has fewer than so many rows.
FEW_FUNCTIONS = 8
MANY_ROWS = 500
#: Functions of a column in terms of pairs; all of them where it has few different values.
N_PAIR_FUNCTIONS = 3
#: A column with so many bins at most has few different values: any contrast between them may matter.
FEW_BINS = 6
#: Of a large sparse table, a column is mostly 0 where its other values have a smaller share of the rows, and
#: rows that one of them then needs.
RARE_SHARE = 0.1
RARE_ROWS = 2
#: Values of an array that are worked on at a time, and rows at least.
BLOCK_VALUES = 2**18
FEWEST_ROWS = 200
#: Rows in a part of a table in memory.
BLOCK_ROWS = 2_000


@dataclass(frozen=True)
class ColumnFunctions:
    """Bins of some columns, and functions that are constant on them.

    Attributes
    ----------
    columns : numpy.ndarray of int, shape (m,)
        The columns, in order.
    edges : numpy.ndarray of shape (m, N_BINS - 1)
        A value is in the bin whose number is that of the edges below it.
    values : numpy.ndarray of float32, shape (m, N_BINS, functions)
        The functions in every bin; 0 where a column has fewer functions.
    sizes : numpy.ndarray of int, shape (m,)
        Number of functions.
    n_pair_functions : numpy.ndarray of int, shape (m,)
        Number of functions in terms of several columns.
    largest_share : numpy.ndarray of shape (m,)
        Share of the rows in the largest bin.
    """

    columns: HostArray
    edges: HostArray
    values: HostArray
    sizes: HostArray
    n_pair_functions: HostArray
    largest_share: HostArray

    @classmethod
    def of(cls, table: RowTable, target: Target, columns: HostArray) -> ColumnFunctions:
        """Find quantiles in a sample of the rows, and functions that are orthonormal on all rows."""
        n_rare = rows_of_rarest(target)
        # A value must have five rows of the rarest class, and so must two values of two columns together.
        least: Any = float(np.clip(5 / n_rare, 0.002, 0.05))
        least_in_pairs = float(np.clip(np.sqrt(5 / n_rare), 0.002, 0.05))
        if is_large_sparse(table):
            edges, least = _edges_of_all_rows(table, columns, least)
        else:
            edges = _edges_of_sample(sample_of(table), columns, least)
        none = np.empty(0, dtype=np.intp)
        empty = cls(columns, edges, np.empty((0, 0, 0)), none, none, np.empty(0))
        above = parts_of(table, target).sum(_rows_above, empty, columns=columns)
        edges, shares = _without_rare_bins(edges, above / target.weight, least / 2)
        n_functions = N_FUNCTIONS if n_rare >= MANY_ROWS else FEW_FUNCTIONS
        values = np.empty((*shares.shape, n_functions), dtype=np.float32)
        sizes = np.empty(columns.size, dtype=np.intp)
        for start in range(0, columns.size, CHUNK_COLUMNS):
            some = slice(start, start + CHUNK_COLUMNS)
            values[some], sizes[some] = _polynomials(shares[some], n_functions)
        few = sizes < FEW_BINS
        rare = few & (np.where(shares > 0, shares, 1.0).min(axis=1) < least_in_pairs)
        in_pairs = np.where(few, sizes, np.minimum(sizes, N_PAIR_FUNCTIONS))
        return cls(columns, edges, values, sizes, np.where(rare, 0, in_pairs), shares.max(axis=1))

    def take(self, places: HostArray) -> ColumnFunctions:
        """Some of the columns."""
        return ColumnFunctions(*(getattr(self, each.name)[places] for each in fields(self)))

    def codes(self, table: Table) -> Array:
        """Bins of the rows of a table, (rows, m)."""
        if isinstance(table, CodedTable):
            return _columns_of(table, self.columns)
        x = in_float64(_columns_of(table, self.columns))
        xp = namespace(x)
        edges = asarray_like(self.edges, x)
        codes = xp.astype(x > edges[:, 0], xp.uint8)
        for k in range(1, self.edges.shape[1]):
            codes += xp.astype(x > edges[:, k], xp.uint8)
        return codes

    def evaluate(self, codes: Array, places: HostArray, function: int) -> Array:
        """One function of some columns, (rows, columns), from their bins, (rows, columns)."""
        xp = namespace(codes)
        flat = asarray_like(self.values[places, :, function].ravel(), codes, dtype=xp.float64)
        starts = asarray_like(np.arange(places.size) * N_BINS, codes, dtype=xp.int64)
        index = xp.astype(codes, xp.int64) + starts
        return xp.reshape(xp.take(flat, xp.reshape(index, (-1,)), axis=0), index.shape)


class CodedTable(Table):
    """A table of bins instead of values."""


def coded(table: RowTable, functions: ColumnFunctions) -> RowTable:
    """The bins of all rows where they are in memory and fit, one byte each; else the table itself."""
    if not isinstance(table, Table) or table.n_rows * functions.columns.size > table.resources.shared_bytes():
        return table
    codes = empty((table.n_rows, functions.columns.size), table.x, namespace(table.x).uint8)
    for start, stop in row_slices(table, functions.columns.size):
        codes[start:stop, :] = functions.codes(table.slice_of(start, stop))
    return CodedTable(codes, table.mean, table.scale, table.resources, functions.columns)


def parts_of(table: RowTable, target: Target) -> Parts:
    """The rows with their targets, in parts."""
    rows = max(BLOCK_ROWS, table.max_part_rows)
    return table.parts(target, np.zeros((1, table.n_rows), dtype=np.intp), rows)


def rows_of_rarest(target: Target) -> float:
    """Rows of the rarest class; half of all rows for numbers."""
    if target.is_classification:
        return float(np.bincount(target.codes).min())
    return target.n_rows / 2


def _columns_of(table: Table, columns: HostArray) -> Array:
    """Columns of the values of a table that may have some of them only."""
    held = np.arange(table.n_columns) if table.columns is None else table.columns
    return take_columns(table.x, None if held.size == columns.size else np.searchsorted(held, columns))


def _edges_of_sample(sample: Table, columns: HostArray, least: float) -> HostArray:
    """Edges from a sample of the rows."""
    parts = np.array_split(columns, -(-columns.size // CHUNK_COLUMNS))
    values = (np.asarray(to_numpy(_columns_of(sample, some)), dtype=np.float64) for some in parts)
    return np.concatenate([_edges(of_some, least) for of_some in values])


def _edges_of_all_rows(table: Any, columns: HostArray, least: float) -> tuple[HostArray, HostArray]:
    """Edges from all rows, and the share that a bin needs, for columns that few rows may tell from others.

    A sample has none of the rows in which such a column is not 0. Of a column that mostly has one value,
    others need `RARE_ROWS` rows.
    """
    rare, edges, shares = RARE_ROWS / table.n_rows, [], []
    step = max(1, BLOCK_VALUES // table.n_rows)
    for start in range(0, columns.size, step):
        x = np.asarray(_columns_of(table, columns[start : start + step]), dtype=np.float64)
        mostly_zero = np.count_nonzero(x, axis=0) < RARE_SHARE * len(x)
        edges.append(np.where(mostly_zero[:, None], _edges(x, rare), _edges(x, least)))
        shares.append(np.where(mostly_zero, rare, least))
    return np.concatenate(edges), np.concatenate(shares)


def _edges(sample: HostArray, share: float) -> HostArray:
    """Values of a sample at evenly spaced ranks, and one at a small share of the rows from either end."""
    ordered = np.sort(sample, axis=0)
    ranks = np.concatenate([[share], np.arange(1, N_BINS - 2) / (N_BINS - 2), [1 - share]])
    places = np.clip(np.ceil(np.sort(ranks) * len(sample)).astype(np.intp) - 1, 0, len(sample) - 1)
    return np.ascontiguousarray(ordered[places].T)


def _rows_above(part: Part, functions: ColumnFunctions) -> HostArray:
    """Rows above every edge, or the sum of their weights, (m, N_BINS - 1)."""
    total = np.zeros(functions.edges.shape)
    for start, stop in row_slices(part.table, functions.columns.size):
        x = in_float64(_columns_of(part.table.slice_of(start, stop), functions.columns))
        xp = namespace(x)
        weights = part.target.row_weights
        across = None if weights is None else asarray_like(weights[start:stop], x)[None, :]
        edges = asarray_like(functions.edges, x)
        for k in range(functions.edges.shape[1]):
            above = x > edges[:, k]
            counts = (
                xp.sum(xp.astype(above, xp.int64), axis=0)
                if across is None
                else xp.reshape(across @ xp.astype(above, xp.float64), (-1,))
            )
            total[:, k] += to_numpy(counts)
    return total


def row_slices(table: Table, width: int) -> Iterator[tuple[int, int]]:
    """First and last rows of slices that are worked on at a time, where arrays have so many columns."""
    step = DEVICE_BLOCK_ROWS if is_non_numpy(table.x) else max(FEWEST_ROWS, BLOCK_VALUES // max(width, 1))
    for start in range(0, table.n_rows, step):
        yield start, min(start + step, table.n_rows)


def _without_rare_bins(
    edges: HostArray, above: HostArray, least: float | HostArray
) -> tuple[HostArray, HostArray]:
    """Edges between bins with enough rows each, infinite where there are fewer bins, and their shares."""
    share = np.zeros(len(edges))
    kept = np.zeros(edges.shape, dtype=bool)
    before = np.ones(len(edges))
    for k in range(edges.shape[1]):
        share += before - above[:, k]
        kept[:, k] = (share >= least) & (above[:, k] >= least)
        share[kept[:, k]] = 0.0
        before = above[:, k]
    above = -np.sort(-np.where(kept, above, 0.0), axis=1)
    shares = -np.diff(above, axis=1, prepend=1.0, append=0.0)
    return np.sort(np.where(kept, edges, np.inf), axis=1), np.where(shares > 1e-12, shares, 0.0)


def _polynomials(shares: HostArray, n_functions: int) -> tuple[HostArray, HostArray]:
    """Orthonormal polynomials of the ranks under the shares of the bins, (m, bins), by Gram and Schmidt."""
    ranks = 2 * np.cumsum(shares, axis=1) - shares - 1
    values = np.zeros((*shares.shape, n_functions))
    sizes = np.zeros(len(shares), dtype=np.intp)
    previous = [np.ones_like(shares)]
    n_bins = np.count_nonzero(shares, axis=1)
    for a in range(n_functions):
        # The last polynomial times the ranks: high powers would be nearly linear combinations of low ones.
        new = previous[-1] * ranks
        for _ in range(2):
            for old in previous:
                new = new - (shares * new * old).sum(axis=1, keepdims=True) * old
        norm = np.sqrt((shares * new**2).sum(axis=1, keepdims=True))
        exists = (n_bins > a + 1)[:, None] & (norm > 1e-6)
        new = np.where(exists & (shares > 0), new / np.where(exists, norm, 1.0), 0.0)
        values[:, :, a] = new
        sizes += exists[:, 0]
        previous.append(new)
    return values, sizes
