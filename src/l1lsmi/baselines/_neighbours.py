"""Nearest neighbours of rows, and distances between rows of numeric and categorical features.

Distances are computed for blocks of rows, so that memory is linear in the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._rows.table import Table

#: Number of distances in a block: 4 MB.
BLOCK_SIZE = 2**19
#: Number of differences in a block: 1 MB fits into the cache.
DIFFERENCE_BLOCK_SIZE = 2**17
#: A k-d tree is faster than all pairwise distances up to about this many columns.
MAX_TREE_COLUMNS = 8


def row_slices(n_rows: int, numbers_per_row: int) -> list[slice]:
    """Split rows into slices of at most `BLOCK_SIZE` numbers, or of one row."""
    size = max(1, BLOCK_SIZE // max(1, numbers_per_row))
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def weighted_neighbours(
    distances: HostArray, rank_weights: HostArray
) -> tuple[HostArray, HostArray, HostArray]:
    """Find the nearest columns of every row, with weights that depend on their rank.

    Each of several equidistant columns gets the mean weight of their ranks, so that the result does not
    depend on the order of the columns.

    Parameters
    ----------
    distances : numpy.ndarray of shape (r, n)
        Infinite for columns to be ignored.
    rank_weights : numpy.ndarray of shape (k,)
        Weight of the nearest, the second nearest, ...

    Returns
    -------
    rows, columns : numpy.ndarray of int, shape (pairs,)
        Sorted by row, then by distance.
    weights : numpy.ndarray of shape (pairs,)
        With the sum of ``rank_weights`` in every row with at least k finite distances.
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
    # Equidistant columns have the ranks before + 1 to before + size; ranks above k have weight 0.
    before = starts - np.searchsorted(rows, rows[starts])
    total = np.append(0.0, np.cumsum(rank_weights))
    mean = (total[np.minimum(before + sizes, total.size - 1)] - total[before]) / sizes
    return rows, columns, np.repeat(mean, sizes)


def nearest_rows(points: HostArray, k: int) -> tuple[HostArray, HostArray]:
    """The k nearest other rows of each row by Euclidean distance.

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
        found = _by_tree(points, k) if n_columns <= MAX_TREE_COLUMNS else _by_product(points, k)
    distances = np.empty(found.shape)
    for some in row_slices(n_rows, k * n_columns):
        distances[some] = np.linalg.norm(points[found[some]] - points[some, None], axis=2)
    return found, distances


def _by_order(values: HostArray, k: int) -> HostArray:
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    steps = np.arange(1, k + 1)
    # Nearest positions first: the graph of equal values is then a chain, which is connected.
    positions = np.arange(values.size)[:, None] + np.column_stack([-steps, steps]).ravel()
    inside = (positions >= 0) & (positions < values.size)
    positions = np.where(inside, positions, 0)
    gaps = np.where(inside, np.abs(ordered[positions] - ordered[:, None]), np.inf)
    nearest = np.argsort(gaps, axis=1, kind="stable")[:, :k]
    found = np.empty(nearest.shape, dtype=np.intp)
    found[order] = order[np.take_along_axis(positions, nearest, axis=1)]
    return found


def _by_tree(points: HostArray, k: int) -> HostArray:
    found = cKDTree(points).query(points, k + 1)[1]
    own = found == np.arange(found.shape[0])[:, None]
    # Among more than k equal rows the row itself may be missing.
    own[~own.any(axis=1), -1] = True
    return np.asarray(found[~own].reshape(found.shape[0], k))


def _by_product(points: HostArray, k: int) -> HostArray:
    found = np.empty((points.shape[0], k), dtype=np.intp)
    squares = np.einsum("ij,ij->i", points, points)
    for some in row_slices(points.shape[0], points.shape[0]):
        # |a - b|^2 - |a|^2; the term |a|^2 is the same for all neighbours of a row.
        distances = squares - 2 * points[some] @ points.T
        own = np.arange(some.start, some.stop)
        distances[own - some.start, own] = np.inf
        found[some] = np.argpartition(distances, k - 1, axis=1)[:, :k]
    return found


@dataclass(frozen=True)
class MixedColumns:
    """Numeric features scaled from 0 to 1 and categorical features, for distances and differences.

    Attributes
    ----------
    values : numpy.ndarray of shape (n, m)
        Codes of the categories in the columns ``categorical``.
    categorical : numpy.ndarray of int
        Columns whose differences are 0 or 1; columns with two values have such differences anyway and are
        not listed.
    numeric : numpy.ndarray of shape (n, numeric columns)
    indicators : numpy.ndarray of shape (n, indicators)
        Columns with two values, and an indicator of each category of the others. In single precision,
        which is exact for their small counts.
    indicator_weights : numpy.ndarray of shape (indicators,)
        1/2 for indicators of categories: two of them change with the category.
    indicator_sums : numpy.ndarray of shape (n,)
        Weighted sum of the indicators of each row.
    """

    values: HostArray
    categorical: HostArray
    numeric: HostArray
    indicators: HostArray
    indicator_weights: HostArray
    indicator_sums: HostArray

    @property
    def n_rows(self) -> int:
        return int(self.values.shape[0])

    @classmethod
    def of(cls, table: Table, order: HostArray, threshold: int) -> MixedColumns:
        """The columns of a table that vary, with the rows in the given order.

        Columns with up to ``threshold`` distinct values, but at most half as many as rows, are categorical.
        """
        values = to_numpy(table.take(order, table.varying))
        values -= values.min(axis=0)
        values /= values.max(axis=0)
        most = max(2, min(threshold, order.size // 2))
        counts = _count_values(values, most)
        categorical = np.flatnonzero((counts > 2) & (counts <= most))
        parts, weights = [values[:, counts == 2]], [np.ones(np.count_nonzero(counts == 2))]
        for j in categorical:
            categories, values[:, j] = np.unique(values[:, j], return_inverse=True)
            parts.append(values[:, j, None] == np.arange(categories.size))
            weights.append(np.full(categories.size, 0.5))
        numeric = values if counts.min() > most else values[:, counts > most]
        indicators = np.hstack([part.astype(np.float32) for part in parts])
        indicator_weights = np.concatenate(weights).astype(np.float32)
        return cls(
            values, categorical, numeric, indicators, indicator_weights, indicators @ indicator_weights
        )

    def distances(self, block: slice) -> HostArray:
        """Distances of the rows of a block from all rows; infinite from a row to itself."""
        total = np.zeros((block.stop - block.start, self.n_rows))
        if self.numeric.shape[1]:
            total = cdist(self.numeric[block], self.numeric, "cityblock")
        if self.indicators.shape[1]:
            # |a - b| = a + b - 2 a b for indicators.
            total += self.indicator_sums[block, None] + self.indicator_sums
            total -= 2 * (self.indicators[block] * self.indicator_weights) @ self.indicators.T
        own = np.arange(block.start, block.stop)
        total[own - block.start, own] = np.inf
        return total

    def differences(self, rows: HostArray, others: HostArray, weights: HostArray) -> HostArray:
        """Weighted sums of the differences in each column over pairs of rows.

        ``weights`` has shape (pairs,) or (sets of weights, pairs).
        """
        total = np.zeros((*weights.shape[:-1], self.values.shape[1]))
        step = max(1, DIFFERENCE_BLOCK_SIZE // self.values.shape[1])
        for start in range(0, rows.size, step):
            some = slice(start, start + step)
            difference = self.values[rows[some]]
            difference -= self.values[others[some]]
            np.abs(difference, out=difference)
            if self.categorical.size:
                difference[:, self.categorical] = difference[:, self.categorical] > 0
            total += weights[..., some] @ difference
        return total

    def differences_between(self, class_sizes: HostArray) -> HostArray:
        """Sums of the differences over all pairs of rows of two classes, without a loop over the pairs.

        Rows are sorted by class. Returns an array of shape (columns, classes, classes); within a class every
        pair counts twice.
        """
        n_classes = class_sizes.size
        totals = np.empty((self.values.shape[1], n_classes, n_classes))
        member = np.repeat(np.eye(n_classes), class_sizes, axis=0)
        is_categorical = np.isin(np.arange(totals.shape[0]), self.categorical)
        for j, column in enumerate(self.values.T):
            if is_categorical[j]:
                counts = (column == np.arange(column.max() + 1)[:, None]) @ member
                totals[j] = np.outer(class_sizes, class_sizes) - counts.T @ counts
                continue
            order = np.argsort(column)
            # A gap between successive values contributes to all pairs with a row on each side.
            below = np.cumsum(member[order], axis=0)[:-1]
            around = (below * np.diff(column[order])[:, None]).T @ (class_sizes - below)
            totals[j] = around + around.T
        return totals

    def weighted_differences_between(self, left: HostArray, right: HostArray) -> HostArray:
        """The same, of pairs of rows with weights: of the first row in each class, and of the second.

        ``left`` and ``right`` are (rows, classes). Returns an array of shape (columns, classes, classes).
        """
        all_left, all_right = left.sum(axis=0), right.sum(axis=0)
        totals = np.empty((self.values.shape[1], all_left.size, all_right.size))
        is_categorical = np.isin(np.arange(totals.shape[0]), self.categorical)
        for j, column in enumerate(self.values.T):
            if is_categorical[j]:
                member = column == np.arange(column.max() + 1)[:, None]
                totals[j] = np.outer(all_left, all_right) - (member @ left).T @ (member @ right)
                continue
            order = np.argsort(column)
            gaps = np.diff(column[order])[:, None]
            below, above = np.cumsum(left[order], axis=0)[:-1], np.cumsum(right[order], axis=0)[:-1]
            totals[j] = (below * gaps).T @ (all_right - above) + ((all_left - below) * gaps).T @ above
        return totals


def _count_values(values: HostArray, most: int) -> HostArray:
    """Number of distinct values in each column, or ``most + 1`` if there are more than ``most``."""
    few = np.arange(values.shape[1])
    counts = np.full(few.size, most + 1)
    # Few rows are enough to exclude most columns with many values.
    for rows in (4 * most, values.shape[0]):
        ordered = np.sort(values[:rows, few], axis=0)
        found = 1 + (np.diff(ordered, axis=0) > 0).sum(axis=0)
        counts[few] = np.minimum(found, most + 1)
        few = few[found <= most]
    return counts
