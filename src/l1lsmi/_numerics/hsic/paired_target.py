"""The target's kernel in the Hilbert-Schmidt criterion, centred, for any pairs of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.hsic.line import chebyshev_series, chebyshev_values, to_interval
from l1lsmi._numerics.target import Target

#: Rows whose factors, or kernels with some others, are computed at a time.
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
        Range of the values; not used for classes.
    """

    series: HostArray
    means: HostArray
    low: float = 0.0
    high: float = 0.0

    @classmethod
    def find(cls, target: Target, sigma: float) -> TargetFactor | None:
        """Factors of a whole target; None where they would have too many columns."""
        if target.values is None:
            shares = target.class_shares()
            return cls(np.eye(shares.size), shares)
        if target.values.ndim > 1:
            return None
        low, high = float(target.values.min()), float(target.values.max())
        series = chebyshev_series(0.5 * (high - low) / sigma)
        if series is None:
            return None
        found = cls(series, np.zeros(len(series)), low, high)
        total = np.zeros(len(series))
        for piece in _pieces(target.n_rows):
            total += found.weighted(target.rows_of(piece)).sum(axis=0)
        return replace(found, means=total / target.weight)

    def of(self, target: Target) -> HostArray:
        """Rows of A for some rows of the target."""
        if target.values is None:
            return np.equal.outer(target.codes, np.arange(self.means.size)).astype(np.float64)
        points = to_interval(target.values, self.low, self.high)
        return chebyshev_values(points, self.means.size).T

    def weighted(self, target: Target, centre: HostArray | float = 0.0) -> HostArray:
        """Rows of A less a centre, times the weights of the rows."""
        factors = self.of(target) - centre
        return factors if target.row_weights is None else factors * target.row_weights[:, None]


@dataclass(frozen=True)
class PairedTarget:
    """Some rows of a target, with what centres their kernel among all rows.

    Attributes
    ----------
    target : Target
    sigma : float
        Kernel width; not used for classes.
    row_means : numpy.ndarray of shape (n,)
        Mean of the kernel of each of these rows with all rows.
    mean : float
        The mean of these over all rows.
    n_all : float
        Number of all rows, or the sum of their weights.
    """

    target: Target
    sigma: float
    row_means: HostArray
    mean: float
    n_all: float

    @classmethod
    def whole(cls, target: Target, sigma: float, factor: TargetFactor | None) -> PairedTarget:
        """All rows, with the means of their kernels."""
        means = np.empty(target.n_rows)
        for piece in _pieces(target.n_rows):
            some = target.rows_of(piece)
            if factor is not None:
                means[piece] = factor.of(some) @ (factor.series @ factor.means)
            else:
                means[piece] = _sums_of_kernels(some, target, sigma) / target.weight
        mean = float(np.average(means, weights=target.row_weights))
        return cls(target, sigma, means, mean, target.weight)

    def rows_of(self, rows: HostArray | slice) -> PairedTarget:
        """Some of these rows."""
        return replace(self, target=self.target.rows_of(rows), row_means=self.row_means[rows])

    def slice_of(self, start: int, stop: int) -> PairedTarget:
        """Consecutive rows."""
        return self.rows_of(slice(start, stop))

    def centred(self, other: PairedTarget, rows: slice, others: slice) -> HostArray:
        """The centred kernel over (n - 1)^2, of some of these rows with some of another piece.

        Times the weights of both rows.
        """
        one, two = self.target.rows_of(rows), other.target.rows_of(others)
        kernel = _kernel(one, two, self.sigma)
        kernel += self.mean - self.row_means[rows, None] - other.row_means[others]
        kernel /= (self.n_all - 1) ** 2
        if one.row_weights is not None and two.row_weights is not None:
            kernel *= one.row_weights[:, None]
            kernel *= two.row_weights
        return kernel


def _kernel(one: Target, other: Target, sigma: float) -> HostArray:
    if one.values is None or other.values is None:
        return np.equal.outer(one.codes, other.codes).astype(np.float64)
    exponents = np.zeros((one.n_rows, other.n_rows))
    for at_rows, at_others in zip(one.columns.T, other.columns.T, strict=True):
        gaps = np.subtract.outer(at_rows, at_others)
        gaps /= sigma
        gaps *= gaps
        gaps *= -0.5
        exponents += gaps
    return np.asarray(np.exp(exponents, out=exponents))


def _sums_of_kernels(some: Target, target: Target, sigma: float) -> HostArray:
    """Weighted sum of the kernel of each of some rows over all of them, a small square of pairs at a time."""
    total = np.zeros(some.n_rows)
    weights = np.ones(target.n_rows) if target.row_weights is None else target.row_weights
    for rows in _pieces(some.n_rows, 300):
        for others in _pieces(target.n_rows, 300):
            kernel = _kernel(some.rows_of(rows), target.rows_of(others), sigma)
            total[rows] += kernel @ weights[others]
    return total


def _pieces(n_rows: int, most: int = PIECE_ROWS) -> list[slice]:
    return [slice(start, min(start + most, n_rows)) for start in range(0, n_rows, most)]
