"""The target's side of the Hilbert-Schmidt criterion: its kernel, centred, in any piece of all pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.hsic.line import chebyshev_series, chebyshev_values, to_interval
from l1lsmi._numerics.target import Target

#: Rows whose factors, or kernels with some others, are worked out at a time.
PIECE_ROWS = 4_000


@dataclass(frozen=True)
class TargetFactor:
    """The target's kernel as A S A', where A has a row for every row of the target.

    Attributes
    ----------
    series : numpy.ndarray of shape (t, t)
        S.
    means : numpy.ndarray of shape (t,)
        Column means of A over all rows.
    low, high : float
        Range of the values; no part in it for classes.
    """

    series: HostArray
    means: HostArray
    low: float = 0.0
    high: float = 0.0

    @classmethod
    def find(cls, target: Target, sigma: float) -> TargetFactor | None:
        """Factors of a whole target; None where they would have too many columns."""
        if target.values is None:
            size = int(target.codes.max()) + 1
            return cls(np.eye(size), np.bincount(target.codes, minlength=size) / target.n_rows)
        low, high = float(target.values.min()), float(target.values.max())
        series = chebyshev_series(0.5 * (high - low) / sigma)
        if series is None:
            return None
        found = cls(series, np.zeros(len(series)), low, high)
        total = np.zeros(len(series))
        for piece in _pieces(target.n_rows):
            total += found.of(target.rows_of(piece)).sum(axis=0)
        return replace(found, means=total / target.n_rows)

    def of(self, target: Target) -> HostArray:
        """Rows of A for some rows of the target."""
        if target.values is None:
            return np.equal.outer(target.codes, np.arange(self.means.size)).astype(np.float64)
        points = to_interval(target.values, self.low, self.high)
        return chebyshev_values(points, self.means.size).T


@dataclass(frozen=True)
class PairedTarget:
    """Some rows of a target, with what centres their kernel among all rows.

    Attributes
    ----------
    target : Target
    sigma : float
        Kernel width; no part in it for classes.
    row_means : numpy.ndarray of shape (n,)
        Mean of the kernel of each of these rows with all rows.
    mean : float
        The mean of these over all rows.
    n_all : int
        Number of all rows.
    """

    target: Target
    sigma: float
    row_means: HostArray
    mean: float
    n_all: int

    @classmethod
    def whole(cls, target: Target, sigma: float, factor: TargetFactor | None) -> PairedTarget:
        """All rows, with the means of their kernels."""
        means = np.empty(target.n_rows)
        for piece in _pieces(target.n_rows):
            some = target.rows_of(piece)
            if factor is not None:
                means[piece] = factor.of(some) @ (factor.series @ factor.means)
            else:
                means[piece] = _sums_of_kernels(some, target, sigma) / target.n_rows
        return cls(target, sigma, means, float(means.mean()), target.n_rows)

    def slice_of(self, start: int, stop: int) -> PairedTarget:
        """Consecutive rows."""
        return replace(self, target=self.target.slice_of(start, stop), row_means=self.row_means[start:stop])

    def centred(self, other: PairedTarget, rows: slice, others: slice) -> HostArray:
        """The centred kernel over (n - 1)^2, of some of these rows with some of another piece."""
        kernel = _kernel(self.target.rows_of(rows), other.target.rows_of(others), self.sigma)
        kernel += self.mean - self.row_means[rows, None] - other.row_means[others]
        kernel /= (self.n_all - 1) ** 2
        return kernel


def _kernel(one: Target, other: Target, sigma: float) -> HostArray:
    if one.values is None or other.values is None:
        return np.equal.outer(one.codes, other.codes).astype(np.float64)
    gaps = np.subtract.outer(one.values, other.values)
    gaps /= sigma
    gaps *= gaps
    gaps *= -0.5
    return np.asarray(np.exp(gaps, out=gaps))


def _sums_of_kernels(some: Target, target: Target, sigma: float) -> HostArray:
    """Sum of the kernel of each of some rows over all of them, a small square of pairs at a time."""
    total = np.zeros(some.n_rows)
    for rows in _pieces(some.n_rows, 300):
        for others in _pieces(target.n_rows, 300):
            total[rows] += _kernel(some.rows_of(rows), target.rows_of(others), sigma).sum(axis=1)
    return total


def _pieces(n_rows: int, most: int = PIECE_ROWS) -> list[slice]:
    return [slice(start, min(start + most, n_rows)) for start in range(0, n_rows, most)]
