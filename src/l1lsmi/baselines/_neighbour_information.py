r"""Mutual information by nearest neighbours, of rows with weights.

The estimates of Kraskov, Stoegbauer and Grassberger (2004) and of Ross (2014) are means over the rows of
:math:`\psi(k) + \psi(n) - \psi(n_x) - \psi(n_y)`, with the numbers of rows in neighbourhoods. With weights,
the logarithms of these numbers become logarithms of the sums of the weights of the same rows, and the means
are weighted; with equal weights nothing changes.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import digamma, xlogy

from l1lsmi._arrays import HostArray
from l1lsmi._clock import check_time

#: Noise that tells ties apart, in standard deviations.
NOISE = 1e-10
#: Within a neighbourhood are rows that are nearer than the last neighbour, by more than rounding errors.
NEARER = 1 - 1e-12


def weighted_information(
    x: HostArray,
    y: HostArray,
    discrete: HostArray,
    y_is_discrete: bool,
    k: int,
    weights: HostArray,
    seed: int,
) -> HostArray:
    """Mutual information, in nats, of every column with a target; 0 where the estimate is negative.

    Parameters
    ----------
    x : numpy.ndarray of shape (n, m)
    y : numpy.ndarray of shape (n,)
    discrete : numpy.ndarray of bool, shape (m,)
        Columns that have states.
    y_is_discrete : bool
    k : int
        Number of neighbours.
    weights : numpy.ndarray of shape (n,)
    seed : int

    Returns
    -------
    numpy.ndarray of shape (m,)
    """
    rng = np.random.default_rng(seed)
    x = np.where(discrete, x, x + NOISE * rng.normal(size=x.shape))
    if not y_is_discrete:
        y = y + NOISE * rng.normal(size=y.shape)
    found = np.empty(x.shape[1])
    for j in range(x.shape[1]):
        check_time()
        if discrete[j] and y_is_discrete:
            found[j] = _of_states(x[:, j], y, weights)
        elif discrete[j] or y_is_discrete:
            numbers, states = (y, x[:, j]) if discrete[j] else (x[:, j], y)
            found[j] = _of_numbers_and_states(numbers, states, k, weights)
        else:
            found[j] = _of_numbers(x[:, j], y, k, weights)
    return np.maximum(found, 0.0)


def _of_states(one: HostArray, other: HostArray, weights: HostArray) -> float:
    one, other = (np.unique(states, return_inverse=True)[1].ravel() for states in (one, other))
    share = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(share, (one, other), weights / weights.sum())
    product = np.outer(share.sum(axis=1), share.sum(axis=0))
    return float((xlogy(share, share) - xlogy(share, np.where(product > 0, product, 1.0))).sum())


def _of_numbers(x: HostArray, y: HostArray, k: int, weights: HostArray) -> float:
    points = np.column_stack([x, y])
    distances, near = cKDTree(points).query(points, k + 1, p=np.inf)
    radius = NEARER * distances[:, -1]
    terms = (
        _term(np.full(x.size, k), weights[near[:, 1:]].sum(axis=1))
        + _term(np.array(x.size), weights.sum())
        - _within(x, radius, weights)
        - _within(y, radius, weights)
    )
    return float(weights @ terms / weights.sum())


def _of_numbers_and_states(x: HostArray, states: HostArray, k: int, weights: HostArray) -> float:
    radius, terms = np.zeros(x.size), np.zeros(x.size)
    _, codes, sizes = np.unique(states, return_inverse=True, return_counts=True)
    codes = codes.ravel()
    for code in np.flatnonzero(sizes > 1):
        rows = np.flatnonzero(codes == code)
        most = min(k, rows.size - 1)
        distances, near = cKDTree(x[rows, None]).query(x[rows, None], most + 1)
        radius[rows] = NEARER * distances[:, -1]
        inside = weights[rows]
        terms[rows] = _term(np.full(rows.size, most), inside[near[:, 1:]].sum(axis=1))
        terms[rows] -= _term(np.array(rows.size), inside.sum())
    kept = sizes[codes] > 1
    if not kept.any():
        return 0.0
    x, weights, radius, terms = x[kept], weights[kept], radius[kept], terms[kept]
    terms += _term(np.array(x.size), weights.sum()) - _within(x, radius, weights)
    return float(weights @ terms / weights.sum())


def _within(values: HostArray, radius: HostArray, weights: HostArray) -> HostArray:
    """`_term` of the rows that are at most so far away."""
    # Rounding errors of differences are those of the values.
    radius = radius - 1e-14 * np.abs(values).max()
    order = np.argsort(values, kind="stable")
    total = np.append(0.0, np.cumsum(weights[order]))
    low = np.searchsorted(values[order], values - radius, side="left")
    high = np.searchsorted(values[order], values + radius, side="right")
    return _term(high - low, total[high] - total[low])


def _term(counts: HostArray, masses: HostArray) -> HostArray:
    """Psi of a number of rows, with the logarithm of the sum of their weights in place of their number."""
    return np.asarray(digamma(counts) - np.log(counts) + np.log(masses))
