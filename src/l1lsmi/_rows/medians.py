"""Medians of distances."""

from __future__ import annotations

import numpy as np

from l1lsmi._arrays import Array, HostArray, is_non_numpy, namespace, to_numpy


def median_positive(values: HostArray) -> float:
    """Median, or that of the positive numbers where it is 0; 1 where there are none."""
    return float(_middle_positive(values).mean())


def median_root(squares: HostArray) -> float:
    """The same of the square roots of the numbers: a median distance from squared ones."""
    return float(np.sqrt(_middle_positive(squares)).mean())


def median_positive_rows(values: Array) -> list[float]:
    """`median_positive` of every row; sorted where the array is."""
    if not is_non_numpy(values) or values.shape[1] == 0:
        return [median_positive(row) for row in to_numpy(values)]
    size = values.shape[1]
    ordered = namespace(values).sort(values, axis=1)
    middle = to_numpy(ordered[:, (size - 1) // 2 : size // 2 + 1])
    return [
        float(two.mean()) if two[-1] > 0 else median_positive(to_numpy(ordered[i, :]))
        for i, two in enumerate(middle)
    ]


def _middle_positive(values: HostArray) -> HostArray:
    values = values.ravel()
    middle = _middle(values) if values.size else np.zeros(2)
    if middle[1] > 0:
        return middle
    positive = values[values > 0]
    return _middle(positive) if positive.size else np.ones(2)


def _middle(values: HostArray) -> HostArray:
    """The two numbers in the middle; of many numbers, from those near the middle of a sample."""
    ranks = np.array([(values.size - 1) // 2, values.size // 2])
    if values.size >= 50_000:
        some = np.sort(values[:: values.size // 20_000])
        low, high = some[int(0.48 * some.size)], some[int(0.52 * some.size)]
        n_below, near = np.count_nonzero(values < low), values[(values >= low) & (values <= high)]
        if n_below <= ranks[0] and ranks[1] - n_below < near.size:
            values, ranks = near, ranks - n_below
    return np.asarray(np.partition(values, np.unique(ranks))[ranks])


def weighted_median_distance(values: HostArray, weights: HostArray) -> float:
    """Median distance between two of the rows of (n, t) values, a row of weight w counting as w equal rows.

    That of the positive distances where it is 0; 1 where all rows are equal.
    """
    first, second = np.triu_indices(len(values), 1)
    gaps = np.sqrt(((values[first] - values[second]) ** 2).sum(axis=1))
    return weighted_median_of_pairs(gaps, weights)


def weighted_median_of_pairs(distances: HostArray, weights: HostArray) -> float:
    """The same from the distances of all pairs of rows, in the order of `numpy.triu_indices`."""
    first, second = np.triu_indices(weights.size, 1)
    counts, positive = weights[first] * weights[second], distances > 0
    if not positive.any():
        return 1.0
    n_zero = float((weights * (weights - 1) / 2).sum() + counts[~positive].sum())
    order = np.argsort(distances[positive], kind="stable")
    ordered, total = distances[positive][order], np.cumsum(counts[positive][order])
    n_pairs = n_zero + total[-1]
    if n_pairs // 2 < n_zero:  # the upper one of the two in the middle is 0
        n_zero, n_pairs = 0.0, total[-1]
    ranks = np.array([(n_pairs - 1) // 2, n_pairs // 2]) - n_zero
    places = np.minimum(np.searchsorted(total, ranks, side="right"), ordered.size - 1)
    return float(np.where(ranks < 0, 0.0, ordered[places]).mean())
