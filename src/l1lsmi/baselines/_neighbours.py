"""Nearest neighbours of rows, and distances between rows of numeric and categorical features.

Distances are computed for blocks of rows, so that memory is linear in the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._clock import check_time
from l1lsmi._rows.table import Table

#: Number of distances in a block: 4 MB.
BLOCK_SIZE = 2**19
#: Number of differences in a block: 1 MB fits into the cache.
DIFFERENCE_BLOCK_SIZE = 2**17
#: Differences of single columns that are added up at a time, in about a tenth of a second.
BLOCK_STEPS = 2**26
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
class MissingValues:
    """What missing values add to differences: see `MixedColumns`.

    Attributes
    ----------
    columns : numpy.ndarray of int
        Columns with missing values.
    gone : numpy.ndarray of bool, shape (n, columns)
    expected : numpy.ndarray of shape (n, columns)
        Mean difference of each value from all values of its column.
    both : numpy.ndarray of shape (columns,)
        Mean difference of two values of a column.
    added : numpy.ndarray of shape (n, columns)
        What is to be added to the difference of a value from the number that stands for a missing one.
    """

    columns: HostArray
    gone: HostArray
    expected: HostArray
    both: HostArray
    added: HostArray

    @classmethod
    def fill(
        cls, values: HostArray, is_category: HostArray, row_weights: HostArray | None = None
    ) -> MissingValues | None:
        """Find missing values, and replace them by 0 in place; None where there are none."""
        gone = np.isnan(values)
        columns = np.flatnonzero(gone.any(axis=0))
        if not columns.size:
            return None
        gone = gone[:, columns]
        expected = np.zeros(gone.shape)
        added = np.zeros(gone.shape)
        both = np.empty(columns.size)
        for i, j in enumerate(columns):
            present = ~gone[:, i]
            some = values[present, j]
            weights = np.ones(some.size) if row_weights is None else row_weights[present]
            mean = _mean_differences(some, weights, bool(is_category[j]))
            expected[present, i], both[i] = mean, weights @ mean / weights.sum()
            # Indicators of the levels of a category are all 0 for a missing value: half a difference.
            added[present, i] = mean - (0.5 if is_category[j] else some)
            values[~present, j] = 0.0
        return cls(columns, gone, expected, both, added)

    def add_to(self, distances: HostArray, block: slice) -> None:
        """Correct distances of the rows of a block from all rows."""
        gone = self.gone.astype(np.float64)
        distances += self.added[block] @ gone.T
        distances += gone[block] @ self.added.T
        distances += (gone[block] * self.both) @ gone.T

    def correct(self, differences: HostArray, rows: HostArray, others: HostArray) -> None:
        """Correct differences of pairs of rows."""
        one, two = self.gone[rows], self.gone[others]
        some = differences[:, self.columns]
        some = np.where(one, self.expected[others], some)
        some = np.where(two, np.where(one, self.both, self.expected[rows]), some)
        differences[:, self.columns] = some

    def between(self, i: int, left: HostArray, right: HostArray) -> HostArray:
        """Sums of differences from missing values over all pairs of rows of two classes.

        ``left`` and ``right`` are the weights of the rows in each class, (rows, classes).
        """
        gone, expected = self.gone[:, i].astype(np.float64), self.expected[:, i]
        once = np.outer(expected @ left, gone @ right) + np.outer(gone @ left, expected @ right)
        # A row does not differ from itself.
        pairs = np.outer(gone @ left, gone @ right) - (left * gone[:, None]).T @ right
        return np.asarray(once + self.both[i] * pairs)


def _mean_differences(values: HostArray, weights: HostArray, is_category: bool) -> HostArray:
    """Weighted mean of the differences of each value from all values, itself included."""
    total = weights.sum()
    if is_category:
        codes = np.unique(values, return_inverse=True)[1].ravel()
        return np.asarray(1.0 - np.bincount(codes, weights)[codes] / total)
    order = np.argsort(values, kind="stable")
    ordered, shares = values[order], weights[order] / total
    # Shares of the values up to each, and their parts of the mean.
    up_to, part = np.cumsum(shares), np.cumsum(shares * ordered)
    found = np.empty(values.size)
    found[order] = ordered * (2 * up_to - 1) + part[-1] - 2 * part
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
    missing : MissingValues or None
    """

    values: HostArray
    categorical: HostArray
    numeric: HostArray
    indicators: HostArray
    indicator_weights: HostArray
    indicator_sums: HostArray
    missing: MissingValues | None = None

    @property
    def n_rows(self) -> int:
        return int(self.values.shape[0])

    @classmethod
    def of(
        cls, table: Table, order: HostArray, threshold: int, row_weights: HostArray | None = None
    ) -> MixedColumns:
        """The columns of a table that vary, with the rows in the given order.

        Columns with up to ``threshold`` distinct values, but at most half as many as rows, are categorical.
        ``row_weights`` are those of the rows in this order, for means over the values of a column.
        """
        values = to_numpy(table.take(order, table.varying))
        values -= np.nanmin(values, axis=0)
        values /= np.nanmax(values, axis=0)
        most = max(2, min(threshold, order.size // 2))
        counts = _count_values(values, most)
        is_category = (counts > 2) & (counts <= most)
        if table.kinds is not None:
            is_category |= table.kinds.is_category[table.varying] & (counts > 2)
        missing = None if table.kinds is None else MissingValues.fill(values, is_category, row_weights)
        categorical = np.flatnonzero(is_category)
        parts, weights = [values[:, counts == 2]], [np.ones(np.count_nonzero(counts == 2))]
        for j in categorical:
            categories, values[:, j] = np.unique(values[:, j], return_inverse=True)
            parts.append(values[:, j, None] == np.arange(categories.size))
            weights.append(np.full(categories.size, 0.5))
            if missing is not None and j in missing.columns:
                parts[-1][missing.gone[:, np.searchsorted(missing.columns, j)]] = False
        is_number = (counts > most) & ~is_category
        numeric = values if is_number.all() else values[:, is_number]
        indicators = np.hstack([part.astype(np.float32) for part in parts])
        indicator_weights = np.concatenate(weights).astype(np.float32)
        return cls(
            values,
            categorical,
            numeric,
            indicators,
            indicator_weights,
            indicators @ indicator_weights,
            missing,
        )

    def distances(self, block: slice) -> HostArray:
        """Distances of the rows of a block from all rows; infinite from a row to itself."""
        total = np.zeros((block.stop - block.start, self.n_rows))
        if self.numeric.shape[1]:
            # A few rows at a time: a distance takes a step for each column.
            step = max(1, BLOCK_STEPS // (self.n_rows * self.numeric.shape[1]))
            for start in range(0, block.stop - block.start, step):
                check_time()
                some = self.numeric[block][start : start + step]
                total[start : start + step] = cdist(some, self.numeric, "cityblock")
        if self.indicators.shape[1]:
            # |a - b| = a + b - 2 a b for indicators.
            total += self.indicator_sums[block, None] + self.indicator_sums
            total -= 2 * (self.indicators[block] * self.indicator_weights) @ self.indicators.T
        if self.missing is not None:
            self.missing.add_to(total, block)
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
            if self.missing is not None:
                self.missing.correct(difference, rows[some], others[some])
            total += weights[..., some] @ difference
        return total

    def differences_between(self, class_sizes: HostArray) -> HostArray:
        """Sums of the differences over all pairs of rows of two classes, without a loop over the pairs.

        Rows are sorted by class. Returns an array of shape (columns, classes, classes); within a class every
        pair counts twice.
        """
        member = np.repeat(np.eye(class_sizes.size), class_sizes, axis=0)
        return self._sums_between(
            member, member, lambda column, some, _, is_category: _between_classes(column, some, is_category)
        )

    def weighted_differences_between(self, left: HostArray, right: HostArray) -> HostArray:
        """The same, of pairs of rows with weights: of the first row in each class, and of the second.

        ``left`` and ``right`` are (rows, classes). Returns an array of shape (columns, classes, classes).
        """
        return self._sums_between(left, right, _weighted_between)

    def _sums_between(self, left: HostArray, right: HostArray, sums: Callable[..., HostArray]) -> HostArray:
        """Sums of every column by a function of its values, with those of missing values."""
        totals = np.empty((self.values.shape[1], left.shape[1], right.shape[1]))
        is_categorical = np.isin(np.arange(totals.shape[0]), self.categorical)
        places = {} if self.missing is None else {int(j): i for i, j in enumerate(self.missing.columns)}
        for j, column in enumerate(self.values.T):
            if self.missing is None or j not in places:
                totals[j] = sums(column, left, right, bool(is_categorical[j]))
                continue
            present = ~self.missing.gone[:, places[j]]
            totals[j] = sums(column[present], left[present], right[present], bool(is_categorical[j]))
            totals[j] += self.missing.between(places[j], left, right)
        return totals


def _between_classes(column: HostArray, member: HostArray, is_categorical: bool) -> HostArray:
    """Sums of the differences of a column over pairs of rows, whose classes have a 1 each."""
    sizes = member.sum(axis=0)
    if is_categorical:
        counts = (column == np.arange(column.max() + 1)[:, None]) @ member
        return np.asarray(np.outer(sizes, sizes) - counts.T @ counts)
    order = np.argsort(column)
    # A gap between successive values contributes to all pairs with a row on each side.
    below = np.cumsum(member[order], axis=0)[:-1]
    around = (below * np.diff(column[order])[:, None]).T @ (sizes - below)
    return np.asarray(around + around.T)


def _weighted_between(
    column: HostArray, left: HostArray, right: HostArray, is_categorical: bool
) -> HostArray:
    """The same for rows with weights in each class."""
    all_left, all_right = left.sum(axis=0), right.sum(axis=0)
    if is_categorical:
        member = column == np.arange(column.max() + 1)[:, None]
        return np.asarray(np.outer(all_left, all_right) - (member @ left).T @ (member @ right))
    order = np.argsort(column)
    gaps = np.diff(column[order])[:, None]
    below, above = np.cumsum(left[order], axis=0)[:-1], np.cumsum(right[order], axis=0)[:-1]
    return np.asarray((below * gaps).T @ (all_right - above) + ((all_left - below) * gaps).T @ above)


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
