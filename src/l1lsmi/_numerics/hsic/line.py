"""Kernels between points on a line: medians and Gaussian kernels without visiting all pairs.

A Gaussian kernel on an interval a few widths long is, to rounding error, a polynomial of moderate
degree in both arguments. As a Chebyshev series it separates into sums over points, so that what
would cost n squared exponentials costs n times the degree.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

import numpy as np

from l1lsmi._arrays import HostArray

#: Coefficients of the series smaller than this are rounding errors.
NEGLIGIBLE = 1e-14
#: Longest series that is tried.
MOST_TERMS = 400

#: A distance in standard deviations below which no width can tell points apart; a power of 2.
SMALLEST_GAP = 2.0**-50


def median_gap(points: HostArray) -> float:
    """Median distance of two points; that of the positive ones where it is 0; 1 where all are equal.

    The same number as from a list of all pairs, found by counting: a few rows guess a bracket, two
    counts check it, and only the pairs inside are listed. Points closer than `SMALLEST_GAP` are equal where
    the median would be smaller.
    """
    x = np.sort(points)
    found = _median_gap(x)
    return found if found >= SMALLEST_GAP else _median_gap(np.round(x / SMALLEST_GAP) * SMALLEST_GAP)


def _median_gap(x: HostArray) -> float:
    """The median of sorted points."""
    n = x.size
    n_pairs = n * (n - 1) // 2
    # Pairs at distance zero are those within a run of equal points.
    runs = np.diff(np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1], [True]])))
    n_zero = int((runs * (runs - 1) // 2).sum())
    if n_zero == n_pairs:
        return 1.0
    low_rank, high_rank = (n_pairs - 1) // 2, n_pairs // 2
    if high_rank < n_zero:
        low_rank, high_rank = n_zero + (n_pairs - n_zero - 1) // 2, n_zero + (n_pairs - n_zero) // 2
    return _mean_of_ranks(x, low_rank, high_rank)


def _mean_of_ranks(x: HostArray, low_rank: int, high_rank: int) -> float:
    """Mean of two neighbouring order statistics of the gaps between sorted points."""
    for below, above in _brackets(x, low_rank / (x.size * (x.size - 1) // 2)):
        first, last = _reach(x, below, "left"), _reach(x, above, "right")
        n_below, n_above = int(first.sum()), int(last.sum())
        if n_below <= low_rank and high_rank < n_above:
            if below == above:  # many gaps are equal
                return below
            gaps = _gaps_between(x, first, last)
            ranks = [low_rank - n_below, high_rank - n_below]
            return float(np.partition(gaps, sorted(set(ranks)))[ranks].mean())
    raise AssertionError("the last bracket holds every gap")


def _brackets(x: HostArray, share: float) -> Iterator[tuple[float, float]]:
    """Ranges of gaps that are likely, then certain, to hold the one at the given share."""
    n_some = min(x.size, 100)
    some = x[((np.arange(n_some) + 0.5) * x.size / n_some).astype(np.intp)]
    gaps = np.sort((some[:, None] - some)[np.tril_indices(n_some, -1)])
    share -= 0.5 / n_some  # each of the few stands for a group, whose inner gaps are missing
    for slack in (0.003, 0.03):
        low, high = (min(max(share + s, 0.0), 1.0) * (gaps.size - 1) for s in (-slack, slack))
        yield float(gaps[int(low)]), float(gaps[int(high)])
    yield 0.0, np.inf


def _reach(x: HostArray, gap: float, side: Literal["left", "right"]) -> HostArray:
    """For every point, how many later ones are closer than the gap (left), or at it too (right)."""
    return np.asarray(np.maximum(np.searchsorted(x, x + gap, side=side) - np.arange(1, x.size + 1), 0))


def _gaps_between(x: HostArray, first: HostArray, last: HostArray) -> HostArray:
    """Gaps of every point to those later ones that are counted in ``last`` but not in ``first``."""
    sizes = np.maximum(last - first, 0)
    left = np.repeat(np.arange(x.size), sizes)
    within = np.arange(left.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray(x[left + 1 + first[left] + within] - x[left])


@lru_cache(maxsize=64)
def _transform(n_terms: int) -> tuple[HostArray, HostArray]:
    """Chebyshev points, and the matrix from values there to coefficients."""
    angles = (np.arange(n_terms) + 0.5) * np.pi / n_terms
    matrix = 2.0 / n_terms * np.cos(np.arange(n_terms)[:, None] * angles)
    matrix[0] /= 2
    return np.cos(angles), matrix


def chebyshev_series(half_length: float) -> HostArray | None:
    """Coefficients of the kernel exp(-(s - t)^2 half_length^2 / 2) for s and t in [-1, 1].

    Parameters
    ----------
    half_length : float
        Half the length of the interval over the width of the kernel.

    Returns
    -------
    series : numpy.ndarray of shape (n_terms, n_terms) or None
        None where it would take too many terms.
    """
    if half_length > MOST_TERMS:  # it may be infinite
        return None
    n_terms = int(14 + 7.5 * half_length)  # enough as a rule
    while n_terms <= MOST_TERMS:
        points, transform = _transform(n_terms)
        kernel = np.exp(-0.5 * (half_length * (points[:, None] - points)) ** 2)
        series = transform @ kernel @ transform.T
        if np.abs(series[-2:]).max() < NEGLIGIBLE:
            needed = np.flatnonzero(np.abs(series).max(axis=0) > NEGLIGIBLE)
            size = int(needed[-1]) + 1 if needed.size else 1
            return np.asarray(series[:size, :size])
        n_terms += n_terms // 2
    return None


def chebyshev_values(s: HostArray, n_terms: int) -> HostArray:
    """Chebyshev polynomials of rising degree at points of [-1, 1], (n_terms, points), by recurrence."""
    values = np.ones((n_terms, s.size))
    if n_terms > 1:
        values[1] = s
    twice = 2 * s
    for degree in range(2, n_terms):
        np.multiply(twice, values[degree - 1], out=values[degree])
        values[degree] -= values[degree - 2]
    return values


def to_interval(x: HostArray, low: float, high: float) -> HostArray:
    """Points between ``low`` and ``high`` moved and scaled to [-1, 1]."""
    half = 0.5 * (high - low)
    if half == 0:
        return np.zeros_like(x)
    return np.clip((x - 0.5 * (low + high)) / half, -1.0, 1.0)
