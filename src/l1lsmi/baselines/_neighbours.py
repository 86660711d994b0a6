"""Nearest rows: which they are, and how much each counts where several are equally near.

Distances are worked out for some rows at a time, so that memory grows with the rows and not with
their square.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._rows.table import Table

#: Numbers in one block of distances: 4 MB.
BLOCK_SIZE = 2**19
#: Numbers in one block of differences: 1 MB stays in cache.
DIFFERENCES = 2**17
#: A tree beats comparing all rows with all rows up to about so many columns.
TREE_COLUMNS = 8


def row_slices(n_rows: int, numbers_per_row: int) -> list[slice]:
    """Cut rows into slices of at most `BLOCK_SIZE` numbers, or of one row."""
    size = max(1, BLOCK_SIZE // max(1, numbers_per_row))
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def weigh_nearest(distances: HostArray, rank_weights: HostArray) -> tuple[HostArray, HostArray, HostArray]:
    """Find the nearest columns of every row and weigh them by their rank.

    Columns at the same distance share the weights of the ranks that they take up together, so that
    nothing depends on the order of the columns.

    Parameters
    ----------
    distances : numpy.ndarray of shape (r, n)
        Infinite where a column does not count.
    rank_weights : numpy.ndarray of shape (k,)
        Weight of the nearest, the second nearest, ...

    Returns
    -------
    rows, columns : numpy.ndarray of int, shape (pairs,)
        Rows rise, and distances within a row.
    weights : numpy.ndarray of shape (pairs,)
        Add up to the sum of ``rank_weights`` in every row with at least k finite distances.
    """
    k = min(rank_weights.size, distances.shape[1])
    furthest = np.partition(distances, k - 1, axis=1)[:, k - 1 : k]
    rows, columns = np.nonzero((distances <= furthest) & (distances < np.inf))
    values = distances[rows, columns]
    order = np.lexsort((values, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    changes = (np.diff(rows) > 0) | (np.diff(values) > 0)
    starts = np.flatnonzero(np.append(True, changes)) if rows.size else rows
    sizes = np.diff(np.append(starts, rows.size))
    # A group of equals takes up the ranks before + 1 to before + size; those past k weigh nothing.
    before = starts - np.searchsorted(rows, rows[starts])
    total = np.append(0.0, np.cumsum(rank_weights))
    shared = (total[np.minimum(before + sizes, total.size - 1)] - total[before]) / sizes
    return rows, columns, np.repeat(shared, sizes)


def nearest_rows(points: HostArray, k: int) -> tuple[HostArray, HostArray]:
    """The k rows nearest to each row, itself left out, by Euclidean distance.

    Parameters
    ----------
    points : numpy.ndarray of shape (n, m)
    k : int
        Less than n.

    Returns
    -------
    neighbours : numpy.ndarray of int, shape (n, k)
    distances : numpy.ndarray of shape (n, k)
    """
    n_rows, n_columns = points.shape
    if n_columns == 1:
        found = _by_order(points[:, 0], k)
    else:
        found = _by_tree(points, k) if n_columns <= TREE_COLUMNS else _by_product(points, k)
    distances = np.empty(found.shape)
    for some in row_slices(n_rows, k * n_columns):
        distances[some] = np.linalg.norm(points[found[some]] - points[some, None], axis=2)
    return found, distances


def _by_order(values: HostArray, k: int) -> HostArray:
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    steps = np.arange(1, k + 1)
    # Nearest places first: equal values are linked in a row and do not fall into pieces.
    places = np.arange(values.size)[:, None] + np.column_stack([-steps, steps]).ravel()
    inside = (places >= 0) & (places < values.size)
    places = np.where(inside, places, 0)
    gaps = np.where(inside, np.abs(ordered[places] - ordered[:, None]), np.inf)
    nearest = np.argsort(gaps, axis=1, kind="stable")[:, :k]
    found = np.empty(nearest.shape, dtype=np.intp)
    found[order] = order[np.take_along_axis(places, nearest, axis=1)]
    return found


def _by_tree(points: HostArray, k: int) -> HostArray:
    found = cKDTree(points).query(points, k + 1)[1]
    own = found == np.arange(found.shape[0])[:, None]
    # Where more than k rows are equal, they may have crowded out the row itself.
    own[~own.any(axis=1), -1] = True
    return np.asarray(found[~own].reshape(found.shape[0], k))


def _by_product(points: HostArray, k: int) -> HostArray:
    found = np.empty((points.shape[0], k), dtype=np.intp)
    squares = np.einsum("ij,ij->i", points, points)
    for some in row_slices(points.shape[0], points.shape[0]):
        # |a - b|^2 less |a|^2, which all neighbours of a row share.
        distances = squares - 2 * points[some] @ points.T
        own = np.arange(some.start, some.stop)
        distances[own - some.start, own] = np.inf
        found[some] = np.argpartition(distances, k - 1, axis=1)[:, :k]
    return found


@dataclass(frozen=True)
class MixedColumns:
    """Features on a scale from 0 to 1, laid out for distances and for differences.

    Attributes
    ----------
    values : numpy.ndarray of shape (n, m)
        Numbers of the levels in the columns ``levels``.
    levels : numpy.ndarray of int
        Columns whose values differ or do not, other than those with two values, where it is the same.
    scaled : numpy.ndarray of shape (n, numeric columns)
    flags : numpy.ndarray of shape (n, flags)
        0 and 1: columns with two values, and one flag for each level of the others. In single
        precision, which is exact for their small counts.
    flag_weights : numpy.ndarray of shape (flags,)
        A half for flags of levels: two of them change with the level.
    flag_sums : numpy.ndarray of shape (n,)
        Weighted sum of the flags of each row.
    """

    values: HostArray
    levels: HostArray
    scaled: HostArray
    flags: HostArray
    flag_weights: HostArray
    flag_sums: HostArray

    @property
    def n_rows(self) -> int:
        return int(self.values.shape[0])

    @classmethod
    def of(cls, table: Table, order: HostArray, threshold: int) -> MixedColumns:
        """Lay out the columns of a table that vary, its rows in the given order.

        Columns with up to ``threshold`` different values, but no more than half the rows, have levels.
        """
        values = to_numpy(table.take(order, table.varying))
        values -= values.min(axis=0)
        values /= values.max(axis=0)
        most = max(2, min(threshold, order.size // 2))
        counts = _count_values(values, most)
        levels = np.flatnonzero((counts > 2) & (counts <= most))
        flags, weights = [values[:, counts == 2]], [np.ones(np.count_nonzero(counts == 2))]
        for j in levels:
            different, values[:, j] = np.unique(values[:, j], return_inverse=True)
            flags.append(values[:, j, None] == np.arange(different.size))
            weights.append(np.full(different.size, 0.5))
        scaled = values if counts.min() > most else values[:, counts > most]
        flat = np.hstack([part.astype(np.float32) for part in flags])
        flag_weights = np.concatenate(weights).astype(np.float32)
        return cls(values, levels, scaled, flat, flag_weights, flat @ flag_weights)

    def distances(self, block: slice) -> HostArray:
        """Sums of differences between the rows of a block and all rows; infinite from a row to itself."""
        total = np.zeros((block.stop - block.start, self.n_rows))
        if self.scaled.shape[1]:
            total = cdist(self.scaled[block], self.scaled, "cityblock")
        if self.flags.shape[1]:
            # |a - b| = a + b - 2 a b for flags.
            total += self.flag_sums[block, None] + self.flag_sums
            total -= 2 * (self.flags[block] * self.flag_weights) @ self.flags.T
        own = np.arange(block.start, block.stop)
        total[own - block.start, own] = np.inf
        return total

    def differences(self, rows: HostArray, others: HostArray, weights: HostArray) -> HostArray:
        """Weighted sums of the differences in each column over pairs of rows.

        ``weights`` has shape (pairs,) or (sets of weights, pairs).
        """
        total = np.zeros((*weights.shape[:-1], self.values.shape[1]))
        step = max(1, DIFFERENCES // self.values.shape[1])
        for start in range(0, rows.size, step):
            some = slice(start, start + step)
            difference = self.values[rows[some]]
            difference -= self.values[others[some]]
            np.abs(difference, out=difference)
            if self.levels.size:
                difference[:, self.levels] = difference[:, self.levels] > 0
            total += weights[..., some] @ difference
        return total

    def differences_between(self, class_sizes: HostArray) -> HostArray:
        """Sums of the differences over all pairs of rows of two classes, without going through the pairs.

        Rows are ordered by class. Returns an array of shape (columns, classes, classes); within a class every
        pair counts twice.
        """
        n_classes = class_sizes.size
        totals = np.empty((self.values.shape[1], n_classes, n_classes))
        member = np.repeat(np.eye(n_classes), class_sizes, axis=0)
        has_levels = np.isin(np.arange(totals.shape[0]), self.levels)
        for j, column in enumerate(self.values.T):
            if has_levels[j]:
                counts = (column == np.arange(column.max() + 1)[:, None]) @ member
                totals[j] = np.outer(class_sizes, class_sizes) - counts.T @ counts
                continue
            order = np.argsort(column)
            # A gap between neighbouring values is part of the difference of every pair around it.
            below = np.cumsum(member[order], axis=0)[:-1]
            around = (below * np.diff(column[order])[:, None]).T @ (class_sizes - below)
            totals[j] = around + around.T
        return totals


def _count_values(values: HostArray, most: int) -> HostArray:
    """Number of different values in each column, or ``most + 1`` where there are more than ``most``."""
    few = np.arange(values.shape[1])
    counts = np.full(few.size, most + 1)
    # The first rows tell apart most columns with many values, without sorting the rest.
    for rows in (4 * most, values.shape[0]):
        ordered = np.sort(values[:rows, few], axis=0)
        found = 1 + (np.diff(ordered, axis=0) > 0).sum(axis=0)
        counts[few] = np.minimum(found, most + 1)
        few = few[found <= most]
    return counts
