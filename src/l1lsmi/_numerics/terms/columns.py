"""Orthonormal functions of every column: polynomials of its ranks, constant between quantiles.

The levels of a category, numbered by falling frequency, are bins of their own, so that its functions are
contrasts between levels. Missing values are in the last bin, where all functions are 0: they say nothing.
Where "missing" is a value, the first function tells it from the others.
"""

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
from l1lsmi._clock import check_time
from l1lsmi._numerics.target import Target
from l1lsmi._rows.kinds import Kinds
from l1lsmi._rows.parts import Part, Parts
from l1lsmi._rows.table import DEVICE_BLOCK_ROWS, RowTable, Table, is_large_sparse, sample_of

#: Bins of a column at most; the last one is that of missing values, where there are any.
N_BINS = 32
MISSING_BIN = N_BINS - 1
#: Columns whose quantiles are computed at a time.
CHUNK_COLUMNS = 256
#: Functions of a column at most; the last ones are seen in single terms alone.
N_FUNCTIONS = 16
#: The same where the rarest class has fewer than so many rows.
FEW_FUNCTIONS = 8
MANY_ROWS = 500
#: Functions of a column in terms of pairs; all of them where it has few different values.
N_PAIR_FUNCTIONS = 3
#: The same of a category.
N_CATEGORY_FUNCTIONS = 8
#: A column with so many bins at most has few different values: any contrast between them may matter.
FEW_BINS = 6
#: A class of one of several targets is rare with less than a tenth of the rows, or with fewer rows than the
#: first number; with more than the second it is not.
RARE_ROWS = (20, 160)
#: Of a large sparse table, a column is mostly 0 where its other values have a smaller share of the rows, and
#: rows that one of them then needs.
RARE_SHARE = 0.1
ROWS_OF_RARE = 2
#: Values of an array that are worked on at a time, and rows at least.
BLOCK_VALUES = 2**18
FEWEST_ROWS = 200
#: Values that stay in the processor's cache.
CACHED_VALUES = 2**17
#: The largest number of a byte.
MOST_OF_BYTE = 255
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
    missing : numpy.ndarray of bool, shape (m,)
        Whether a column has missing values.
    """

    columns: HostArray
    edges: HostArray
    values: HostArray
    sizes: HostArray
    n_pair_functions: HostArray
    largest_share: HostArray
    missing: HostArray

    @classmethod
    def of(
        cls, table: RowTable, target: Target, columns: HostArray, most: int = N_FUNCTIONS
    ) -> ColumnFunctions:
        """Find quantiles in a sample of the rows, and functions that are orthonormal on all rows.

        ``most`` is the number of functions at most; the first ones do not depend on it.
        """
        n_rare = rows_of_rarest(target)
        # A value must have five rows of the rarest class, and so must two values of two columns together.
        least: Any = float(np.clip(5 / n_rare, 0.002, 0.05))
        least_in_pairs = float(np.clip(np.sqrt(5 / n_rare), 0.002, 0.05))
        if is_large_sparse(table):
            edges, least = _edges_of_all_rows(table, columns, least)
        else:
            edges = _edges_of_sample(sample_of(table), columns, least)
        kinds = table.kinds
        if kinds is not None:
            edges = _edges_by_kind(edges, kinds, columns)
        none = np.empty(0, dtype=np.intp)
        empty = cls(columns, edges, np.empty((0, 0, 0)), none, none, np.empty(0), np.empty(0))
        above = parts_of(table, target).sum(_rows_above, empty, columns=columns)
        present = np.ones(columns.size) if kinds is None else 1 - kinds.missing_share[columns]
        of_present = above / (target.weight * np.maximum(present, 1e-300))[:, None]
        edges, shares = _without_rare_bins(edges, of_present, np.zeros(columns.size) + least / 2)
        n_functions = min(most, N_FUNCTIONS if n_rare >= MANY_ROWS else FEW_FUNCTIONS)
        values = np.empty((*shares.shape, n_functions), dtype=np.float32)
        sizes = np.empty(columns.size, dtype=np.intp)
        for start in range(0, columns.size, CHUNK_COLUMNS):
            check_time()
            some = slice(start, start + CHUNK_COLUMNS)
            values[some], sizes[some] = _polynomials(shares[some], n_functions)
        few = sizes < FEW_BINS
        rare = few & (np.where(shares > 0, shares, 1.0).min(axis=1) < least_in_pairs)
        in_pairs = np.where(few, sizes, np.minimum(sizes, N_PAIR_FUNCTIONS))
        in_pairs = np.where(rare, 0, in_pairs)
        if kinds is not None:
            for i in np.flatnonzero(kinds.is_category[columns]):
                values[i], sizes[i], in_pairs[i] = _contrasts(shares[i], n_functions, least_in_pairs)
        missing = np.zeros(columns.size, dtype=bool)
        if kinds is not None:
            missing = kinds.missing_share[columns] > 0
            values /= np.sqrt(np.maximum(present, 1e-300))[:, None, None].astype(np.float32)
            _let_missing_speak(values, sizes, in_pairs, present, kinds.as_value[columns])
        return cls(columns, edges, values, sizes, in_pairs, shares.max(axis=1) * present, missing)

    def take(self, places: HostArray) -> ColumnFunctions:
        """Some of the columns, in order."""
        if places.size == self.columns.size:
            return self
        return ColumnFunctions(*(getattr(self, each.name)[places] for each in fields(self)))

    def codes(self, table: Table) -> Array:
        """Bins of the rows of a table, (rows, m)."""
        if isinstance(table, CodedTable):
            return _columns_of(table, self.columns)
        x = in_float64(_columns_of(table, self.columns))
        xp = namespace(x)
        codes = empty(x.shape, x, xp.uint8)
        for some, values in _column_slices(x):
            of_some = empty(values.shape, x, xp.uint8)
            of_some[...] = 0
            for above in _above_each(values, self.edges[some]):
                of_some += _as_bytes(above)
            codes[:, some] = of_some
        if self.missing.any():
            codes = xp.where(xp.isnan(x), xp.full_like(codes, MISSING_BIN), codes)
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
    """Rows of the rarest class that has any, of any target; half of all rows for numbers."""
    if target.parts:
        return min(rows_of_rarest(one) for one in target.each())
    if target.is_classification:
        counts = np.bincount(target.codes)
        return float(counts[counts > 0].min())
    return target.n_rows / 2


def without_rare(target: Target) -> Target:
    """Several targets without those that have a class with few rows, unless all of them have.

    The rarest class limits the functions of columns that all targets are looked at with.
    """
    least = float(np.clip(target.n_rows / 10, *RARE_ROWS))
    kept = [i for i, one in enumerate(target.each()) if rows_of_rarest(one) >= least]
    return target.take(kept) if target.parts and 0 < len(kept) < len(target.parts) else target


def _columns_of(table: Table, columns: HostArray) -> Array:
    """Columns of the values of a table that may have some of them only."""
    held = np.arange(table.n_columns) if table.columns is None else table.columns
    return take_columns(table.x, None if held.size == columns.size else np.searchsorted(held, columns))


def _edges_of_sample(sample: Table, columns: HostArray, least: float) -> HostArray:
    """Edges from a sample of the rows."""
    parts = np.array_split(columns, -(-columns.size // CHUNK_COLUMNS))
    values = (np.asarray(to_numpy(_columns_of(sample, some)), dtype=np.float64) for some in parts)
    found = []
    for of_some in values:
        check_time()
        found.append(_edges(of_some, least))
    return np.concatenate(found)


def _edges_of_all_rows(table: Any, columns: HostArray, least: float) -> tuple[HostArray, HostArray]:
    """Edges from all rows, and the share that a bin needs, for columns that few rows may tell from others.

    A sample has none of the rows in which such a column is not 0. Of a column that mostly has one value,
    others need `ROWS_OF_RARE` rows.
    """
    rare, edges, shares = ROWS_OF_RARE / table.n_rows, [], []
    step = max(1, BLOCK_VALUES // table.n_rows)
    for start in range(0, columns.size, step):
        check_time()
        x = np.asarray(_columns_of(table, columns[start : start + step]), dtype=np.float64)
        mostly_zero = np.count_nonzero(x, axis=0) < RARE_SHARE * len(x)
        edges.append(np.where(mostly_zero[:, None], _edges(x, rare), _edges(x, least)))
        shares.append(np.where(mostly_zero, rare, least))
    return np.concatenate(edges), np.concatenate(shares)


def _edges(sample: HostArray, share: float) -> HostArray:
    """Values of a sample at evenly spaced ranks, and one at a small share of the rows from either end."""
    ordered = np.sort(sample, axis=0)  # NaN last
    ranks = np.sort(np.concatenate([[share], np.arange(1, N_BINS - 2) / (N_BINS - 2), [1 - share]]))
    sizes = len(sample) - np.isnan(sample).sum(axis=0)
    places = np.ceil(ranks[:, None] * sizes).astype(np.intp) - 1
    places = np.clip(places, 0, np.maximum(sizes - 1, 0))
    return np.ascontiguousarray(np.take_along_axis(ordered, places, axis=0).T)


def _edges_by_kind(edges: HostArray, kinds: Kinds, columns: HostArray) -> HostArray:
    """Edges between the levels of categories; the last bin is kept free where values are missing."""
    edges = np.where(np.isnan(edges), np.inf, edges)
    edges[kinds.missing_share[columns] > 0, -1] = np.inf
    for i in np.flatnonzero(kinds.is_category[columns]):
        n_edges = min(int(kinds.n_levels[columns[i]]), N_BINS - 1) - 1
        edges[i] = np.inf
        edges[i, :n_edges] = np.arange(n_edges) + 0.5
    return edges


def _let_missing_speak(
    values: HostArray, sizes: HostArray, in_pairs: HostArray, present: HostArray, as_value: HostArray
) -> None:
    """Put a function first that tells missing values from others, where they are a value; in place."""
    n_functions = values.shape[2]
    for i in np.flatnonzero(as_value):
        odds = np.sqrt(present[i] / (1 - present[i]))
        values[i, :, 1:] = values[i, :, :-1].copy()
        values[i, :, 0] = -1 / odds
        values[i, MISSING_BIN, 0] = odds
        sizes[i] = min(sizes[i] + 1, n_functions)
        in_pairs[i] = min(in_pairs[i] + 1, sizes[i])


def _rows_above(part: Part, functions: ColumnFunctions) -> HostArray:
    """Rows above every edge, or the sum of their weights, (m, N_BINS - 1)."""
    total = np.zeros(functions.edges.shape)
    for start, stop in row_slices(part.table, functions.columns.size):
        x = in_float64(_columns_of(part.table.slice_of(start, stop), functions.columns))
        xp = namespace(x)
        weights = part.target.row_weights
        across = None if weights is None else asarray_like(weights[start:stop], x)[None, :]
        for some, values in _column_slices(x):
            for k, above in enumerate(_above_each(values, functions.edges[some])):
                if across is not None:
                    counts = xp.reshape(across @ xp.astype(above, xp.float64), (-1,))
                elif is_non_numpy(x):
                    counts = xp.sum(xp.astype(above, xp.int64), axis=0)
                else:
                    counts = _true_rows(above)
                total[some, k] += to_numpy(counts)
    return total


def _above_each(values: Array, edges: HostArray) -> Iterator[Array]:
    """Which values are above each edge of their columns; with NumPy one array, changed by the next edge."""
    # Contiguous, as numbers side by side are compared several at a time.
    across = asarray_like(np.ascontiguousarray(edges.T), values)
    if is_non_numpy(values):
        yield from (values > across[k, :] for k in range(edges.shape[1]))
        return
    above = np.empty(values.shape, dtype=bool)
    for edge in across:
        yield np.greater(values, edge, out=above)


def _as_bytes(mask: Array) -> Array:
    """0 and 1; with NumPy not copied."""
    return namespace(mask).astype(mask, namespace(mask).uint8) if is_non_numpy(mask) else mask.view(np.uint8)


def _true_rows(values: HostArray) -> HostArray:
    """Rows that are true, of every column. Sums of bytes are many times as fast as sums of integers."""
    total = np.zeros(values.shape[1], dtype=np.intp)
    for start in range(0, len(values), MOST_OF_BYTE):
        total += values[start : start + MOST_OF_BYTE].view(np.uint8).sum(axis=0, dtype=np.uint8)
    return total


def _column_slices(x: Array) -> Iterator[tuple[slice, Array]]:
    """Some columns at a time, so many that their values stay in the cache; on a device, all."""
    n_rows, n_columns = int(x.shape[0]), int(x.shape[1])
    if is_non_numpy(x):
        yield slice(None), x
        return
    step = max(1, CACHED_VALUES // max(n_rows, 1))
    for start in range(0, n_columns, step):
        check_time()
        some = slice(start, min(start + step, n_columns))
        yield some, np.ascontiguousarray(x[:, some])


def row_slices(table: Table, width: int) -> Iterator[tuple[int, int]]:
    """First and last rows of slices that are worked on at a time, where arrays have so many columns."""
    step = DEVICE_BLOCK_ROWS if is_non_numpy(table.x) else max(FEWEST_ROWS, BLOCK_VALUES // max(width, 1))
    for start in range(0, table.n_rows, step):
        check_time()
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
    """Orthonormal polynomials of the ranks under the shares of the bins, (m, bins).

    Columns without equal values have the same shares, and their polynomials are computed once.
    """
    others = np.flatnonzero((shares != shares[0]).any(axis=1))
    values, sizes = _orthonormal(shares[np.append(0, others)], n_functions)
    places = np.zeros(len(shares), dtype=np.intp)
    places[others] = np.arange(1, others.size + 1)
    return values[places], sizes[places]


def _contrasts(shares: HostArray, n_functions: int, least: float) -> tuple[HostArray, int, int]:
    """Functions of a category, their number, and the number of the first ones, which are seen in pairs.

    Any contrast between levels may matter in pairs, where rare levels are one bin; beyond these functions are
    contrasts between the rare levels and the others of their bin.
    """
    wide = np.zeros(shares.size, dtype=np.intp)  # the wider bin of every bin
    number, total, left = 0, 0.0, 1.0
    for k, share in enumerate(shares.tolist()):
        wide[k] = number
        total, left = total + share, left - share
        if total >= least and left >= least:
            number, total = number + 1, 0.0
    of_wide = np.bincount(wide, shares, minlength=shares.size)
    found, sizes = _orthonormal(of_wide[None], n_functions)
    values = np.where(shares[:, None] > 0, found[0][wide], 0.0)
    size = n_wide = int(sizes[0])
    known = [np.ones(shares.size), *values.T[:size]]
    for place in np.flatnonzero(shares):
        if size == n_functions:
            break
        new = np.where(np.arange(shares.size) == place, 1 / np.sqrt(shares[place]), 0.0)
        for _ in range(2):
            for old in known:
                new = new - (shares * new * old).sum() * old
        norm = np.sqrt((shares * new**2).sum())
        if norm > 1e-6:
            values[:, size] = np.where(shares > 0, new / norm, 0.0)
            known.append(values[:, size])
            size += 1
    return values, size, min(n_wide, N_CATEGORY_FUNCTIONS)


def _orthonormal(shares: HostArray, n_functions: int) -> tuple[HostArray, HostArray]:
    """The polynomials, by Gram and Schmidt."""
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
