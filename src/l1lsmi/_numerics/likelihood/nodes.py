r"""Sums over the rows of one column as sums over few points.

With classes, the likelihood of one column needs only sums :math:`\sum_i g(x_i)` over the rows of a fold
and a class, of functions g that are analytic and vary over the kernel width. The line is cut into cells one
width long; in each, g is interpolated in Chebyshev points, and the sum over the rows becomes a sum over these
points, whose weights are sums of Lagrange polynomials. With 14 points in each cell the interpolation errs by
about :math:`2 \cdot 4^{-14}` of g, less than the interior-point method does. A column with fewer values than
that needs no interpolation: its values are the points, and their weights are counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from l1lsmi._arrays import HostArray

#: Chebyshev points for each cell.
POINTS = 14
#: Nodes are used where there are at least this many rows for each.
ROWS_PER_NODE = 8


class Nodes(NamedTuple):
    """Points on the line, and what the rows of each fold and class weigh there."""

    points: HostArray  # (J,)
    weights: HostArray  # (F, C, J)


class ColumnNodes:
    """The rows of one column, to be put on nodes for one kernel width after the other.

    Parameters
    ----------
    values : numpy.ndarray of shape (n,)
    groups : numpy.ndarray of int, shape (n,)
        Fold times the number of classes, plus class; negative leaves a row out.
    shape : tuple of int
        Folds and classes.
    row_weights : numpy.ndarray of shape (n,) or None
    """

    def __init__(
        self, values: HostArray, groups: HostArray, shape: tuple[int, int], row_weights: HostArray | None
    ) -> None:
        inside = groups >= 0
        order = np.argsort(values[inside], kind="stable")
        self._values = values[inside][order]
        self._groups = groups[inside][order]
        self._row_weights = None if row_weights is None else row_weights[inside][order]
        self._shape = shape
        self._starts = np.flatnonzero(np.diff(self._values, prepend=-np.inf) > 0)

    def at(self, sigma: float) -> Nodes | None:
        """Nodes for a kernel width, or None where rows are too few for nodes to be worth it."""
        if self._values.size == 0:
            return None
        cells = np.floor((self._values - self._values[0]) / sigma)
        first = np.flatnonzero(np.diff(cells, prepend=-1.0) > 0)
        size = min(self._starts.size, first.size * POINTS)
        if size * ROWS_PER_NODE > self._values.size:
            return None
        return self._distinct() if size == self._starts.size else self._interpolated(sigma, cells, first)

    def _distinct(self) -> Nodes:
        number = np.repeat(np.arange(self._starts.size), np.diff(self._starts, append=self._values.size))
        return Nodes(self._values[self._starts], self._sums(number, self._starts.size, self._row_weights))

    def _interpolated(self, sigma: float, cells: HostArray, first: HostArray) -> Nodes:
        # Points of the first kind, on (-1, 1), and their barycentric weights.
        angles = (2 * np.arange(POINTS) + 1) * np.pi / (2 * POINTS)
        local, signs = np.cos(angles), np.sin(angles) * (-1.0) ** np.arange(POINTS)
        middles = self._values[0] + (cells[first] + 0.5) * sigma
        number = np.repeat(np.arange(first.size), np.diff(first, append=cells.size))
        gaps = (self._values - middles[number]) * (2 / sigma) - local[:, None]
        # A row on a point has the whole weight there.
        gaps[np.abs(gaps) < 1e-15] = 1e-15
        shares = signs[:, None] / gaps
        shares /= shares.sum(axis=0)
        if self._row_weights is not None:
            shares *= self._row_weights
        sums = [self._sums(number, first.size, share) for share in shares]
        points = middles + (sigma / 2) * local[:, None]
        return Nodes(points.ravel(), np.concatenate(sums, axis=-1))

    def _sums(self, number: HostArray, size: int, values: HostArray | None) -> HostArray:
        folds, classes = self._shape
        found = np.bincount(self._groups * size + number, values, minlength=folds * classes * size)
        return np.asarray(found.reshape(folds, classes, size), dtype=np.float64)
