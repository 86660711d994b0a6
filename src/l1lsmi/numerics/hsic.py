r"""The Hilbert-Schmidt independence criterion: value, gradient in the weights, neighbouring sets.

.. math:: \frac{1}{(n-1)^2} \mathrm{tr}(K H L H) = \frac{1}{(n-1)^2}\sum_{ik} K_{ik}\tilde L_{ik}

with :math:`\tilde L = H L H`, which the target alone decides. Pairs of rows are visited in strips above
the diagonal, so that no n x n array is held.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from l1lsmi.arrays import (
    Array,
    HostArray,
    clip_in_place,
    exp_in_place,
    gather,
    like,
    namespace,
    to_numpy,
)
from l1lsmi.numerics.line import chebyshev_series, chebyshev_values, median_gap
from l1lsmi.numerics.model import Climb, Fit, Judgement, Model
from l1lsmi.numerics.target import Target, median_root
from l1lsmi.rows import Table

__all__ = ["PairedRows", "some_rows"]

#: Pairs in a strip: few enough to stay in cache.
STRIP_PAIRS = 100_000
#: The median distance is that of all pairs of at most so many rows, evenly spaced.
MEDIAN_ROWS = 2_000


#: Up to so many rows the target's centred kernel is kept: half an n x n array.
KEEP_ROWS = 4_000


def some_rows(values: HostArray) -> HostArray:
    """Values of the rows that medians are taken over."""
    if values.size <= MEDIAN_ROWS:
        return values
    return np.asarray(values[np.linspace(0, values.size - 1, MEDIAN_ROWS).astype(np.intp)])


class _Strip(NamedTuple):
    """Rows ``start`` to ``stop``, each paired with all rows from ``start`` on."""

    start: int
    stop: int


class PairedRows:
    """A target and a table seen through all pairs of rows.

    Parameters
    ----------
    table : Table
    target : Target
    sigma : float or None
        Kernel width of the standardised features; None takes the median distance.
    target_sigma : float
        Kernel width of the standardised target; no part in it for classes.
    """

    def __init__(self, table: Table, target: Target, *, sigma: float | None, target_sigma: float) -> None:
        self.table = table
        self.target = target
        self.sigma = sigma
        self.target_sigma = target_sigma
        self._strips = list(_strips(table.n_rows))
        self._held: tuple[HostArray, Array] | None = None
        self._kept: dict[_Strip, Array] = {}

    # -- the target ------------------------------------------------------------------------

    def _target_kernel(self, rows: slice, others: slice) -> HostArray:
        values = self.target.values
        if values is None:
            return np.equal.outer(self.target.codes[rows], self.target.codes[others]).astype(np.float64)
        gaps = (values[rows, None] - values[others]) / self.target_sigma
        return np.asarray(np.exp(-0.5 * gaps * gaps))

    @cached_property
    def _target_means(self) -> HostArray:
        """Mean of the target's kernel over each row."""
        if self.target.values is None:
            return np.asarray(np.bincount(self.target.codes)[self.target.codes] / self.table.n_rows)
        everything = slice(None)
        return np.concatenate(
            [self._target_kernel(slice(s.start, s.stop), everything).mean(axis=1) for s in self._strips]
        )

    def _centred(self, strip: _Strip) -> Array:
        """The target's centred kernel in a strip, kept for the next time where memory allows."""
        if self.table.n_rows > KEEP_ROWS:
            return self._centre(strip)
        if strip not in self._kept:
            self._kept[strip] = self._centre(strip)
        return self._kept[strip]

    def _centre(self, strip: _Strip) -> Array:
        """The target's centred kernel over (n - 1)^2; pairs that stand for two count twice."""
        rows, others = slice(strip.start, strip.stop), slice(strip.start, None)
        means = self._target_means
        centred = self._target_kernel(rows, others)
        centred += means.mean() - means[rows, None] - means[others]
        centred[:, strip.stop - strip.start :] *= 2
        return like(centred / (self.table.n_rows - 1) ** 2, self.table.x)

    # -- the features ----------------------------------------------------------------------

    def _values(self, columns: HostArray) -> Array:
        """Standardised columns of all rows; those asked for last are kept."""
        held = self._held
        if held is None or not np.array_equal(held[0], columns):
            held = (columns.copy(), self._around_medians(columns))
            self._held = held
        return held[1]

    def _around_medians(self, columns: HostArray) -> Array:
        """Standardised columns less their medians: far rows must not cost the near ones their digits."""
        z = self.table.take(np.arange(self.table.n_rows), columns)
        z -= like(np.median(to_numpy(z), axis=0), z)
        return z

    def _exponents(self, z: Array, squared_weights: HostArray, strip: _Strip) -> Array:
        """Minus half the weighted squared distances of the pairs of a strip."""
        xp = namespace(z)
        v = like(squared_weights, z)
        rows, others = z[strip.start : strip.stop, :], z[strip.start :, :]
        halves = 0.5 * ((others * others) @ v)
        products = (rows * v) @ xp.matrix_transpose(others)
        norms = halves[: rows.shape[0], None] + halves[None, :]
        products -= norms
        norms *= -1e-12
        # Equal points come out at rounding errors instead of 0, which would pass for distances.
        return xp.where(products > norms, xp.zeros_like(products), products)

    def median_distance(self, weights: HostArray, columns: HostArray) -> float:
        """Median weighted distance between pairs of rows."""
        if columns.size == 1:
            return abs(float(weights[0])) * median_gap(to_numpy(self._some_rows(columns))[:, 0])
        return math.sqrt(2) * median_root(self._half_distances(weights, columns))

    def _some_rows(self, columns: HostArray) -> Array:
        z = self._values(columns)
        if self.table.n_rows <= MEDIAN_ROWS:
            return z
        return gather(z, some_rows(np.arange(self.table.n_rows)), None)

    def _half_distances(self, weights: HostArray, columns: HostArray) -> HostArray:
        """Half the squared distances of all pairs of rows, each pair once."""
        z = self._some_rows(columns)
        strips = (to_numpy(self._exponents(z, weights**2, strip)) for strip in _strips(z.shape[0]))
        return -np.concatenate([_above(strip) for strip in strips])

    def _width(self, weights: HostArray, columns: HostArray) -> float:
        return self.median_distance(weights, columns) if self.sigma is None else self.sigma

    # -- values ----------------------------------------------------------------------------

    def value(self, weights: HostArray, columns: HostArray, sigma: float) -> float:
        """HSIC of weighted columns under a given width."""
        z, squares = self._values(columns), (weights / sigma) ** 2
        return sum(self._strip_value(strip, self._exponents(z, squares, strip)) for strip in self._strips)

    def score_set(self, columns: HostArray) -> float:
        """HSIC of a set of columns, all with weight 1, under its own width."""
        if columns.size == 1:
            return float(self.score_each(columns)[0])
        weights = np.ones(columns.size)
        if self.sigma is not None or self.table.n_rows > min(MEDIAN_ROWS, KEEP_ROWS):
            return self.value(weights, columns, self._width(weights, columns))
        # Distances are worked out once, for the median and for the kernel.
        z = self._values(columns)
        exponents = [self._exponents(z, weights, strip) for strip in self._strips]
        halves = np.concatenate([_above(to_numpy(strip)) for strip in exponents])
        sigma = math.sqrt(2) * median_root(np.negative(halves, out=halves))
        return sum(
            self._strip_value(strip, exponent * sigma**-2)
            for strip, exponent in zip(self._strips, exponents, strict=True)
        )

    def _strip_value(self, strip: _Strip, exponents: Array) -> float:
        kernel = exp_in_place(exponents)
        kernel *= self._centred(strip)
        return float(namespace(kernel).sum(kernel))

    def score_neighbours(self, columns: HostArray, others: HostArray, sign: float) -> HostArray:
        """HSIC of the set with (sign 1) or without (sign -1) each of the other columns.

        Distances within the set are computed once for each strip; a neighbour costs one update of them.
        """
        widths = self._neighbour_widths(columns, others, sign)
        base, moved = self._values(columns), self.table.take(np.arange(self.table.n_rows), others)
        totals = np.zeros(others.size)
        for strip in self._strips:
            within = self._exponents(base, np.ones(columns.size), strip)
            for i in range(others.size):
                gaps = moved[strip.start : strip.stop, i][:, None] - moved[strip.start :, i][None, :]
                gaps *= gaps
                gaps *= -0.5 * sign
                gaps += within
                gaps *= float(widths[i]) ** -2
                totals[i] += self._strip_value(strip, clip_in_place(gaps, 0.0))
        return totals

    def _neighbour_widths(self, columns: HostArray, others: HostArray, sign: float) -> HostArray:
        if self.sigma is not None:
            return np.full(others.size, self.sigma)
        within = self._half_distances(np.ones(columns.size), columns)
        z = to_numpy(self._some_rows(others))
        strips = list(_strips(z.shape[0]))
        widths = np.empty(others.size)
        for i in range(others.size):
            gaps = np.concatenate([_above(_gaps(z[:, i], strip)) for strip in strips])
            halves = within + 0.5 * sign * gaps * gaps
            # What is left of equal points when a column is taken away is a rounding error too.
            halves[halves <= 1e-12 * (within + gaps * gaps)] = 0.0
            widths[i] = math.sqrt(2) * median_root(halves)
        return widths

    def score_each(self, columns: HostArray) -> HostArray:
        """HSIC of every column by itself, without visiting all pairs where it can be avoided."""
        factor = self._target_factor()
        return np.array([self._score_one(column, factor) for column in columns])

    def _target_factor(self) -> tuple[HostArray, HostArray] | None:
        """Factors A and S of the centred target kernel, A S A'."""
        values = self.target.values
        if values is None:
            indicators = np.equal.outer(self.target.codes, np.arange(self.target.codes.max() + 1))
            factor, series = indicators.astype(np.float64), np.eye(indicators.shape[1])
        else:
            points, half_length = _to_interval(values)
            found = chebyshev_series(half_length / self.target_sigma)
            if found is None:
                return None
            factor, series = chebyshev_values(points, len(found)).T, found
        return factor - factor.mean(axis=0), series

    def _score_one(self, column: int, target_factor: tuple[HostArray, HostArray] | None) -> float:
        columns = np.array([column])
        x = to_numpy(self.table.take(np.arange(self.table.n_rows), columns))[:, 0]
        sigma = self._width(np.ones(1), columns)
        points, half_length = _to_interval(x)
        series = chebyshev_series(half_length / sigma)
        if series is None or target_factor is None:
            return self.value(np.ones(1), columns, sigma)
        factor, target_series = target_factor
        moments = chebyshev_values(points, len(series)) @ factor
        total = np.sum(series * (moments @ target_series @ moments.T))
        return float(total) / (self.table.n_rows - 1) ** 2

    # -- what weighting asks ---------------------------------------------------------------

    def value_and_gradient(
        self, weights: HostArray, columns: HostArray, model: Model
    ) -> tuple[float, HostArray]:
        """HSIC and its gradient in the weights."""
        value, slopes = self._slopes(weights, columns, columns, model.sigma)
        return value, np.asarray(2 * weights * slopes)

    def _slopes(
        self, weights: HostArray, columns: HostArray, candidates: HostArray, sigma: float
    ) -> tuple[float, HostArray]:
        """HSIC and its slopes in the squared weights of ``candidates``."""
        z = self._values(columns)
        wanted = z if candidates is columns else self.table.take(np.arange(self.table.n_rows), candidates)
        xp = namespace(z)
        total, slopes = 0.0, xp.zeros_like(wanted[0, :])
        for strip in self._strips:
            kernel = exp_in_place(self._exponents(z, (weights / sigma) ** 2, strip))
            kernel *= self._centred(strip)
            total += float(xp.sum(kernel))
            slopes += _half_gap_sums(kernel, wanted[strip.start : strip.stop, :], wanted[strip.start :, :])
        return total, -to_numpy(slopes) / sigma**2

    def choose_model(self, weights: HostArray, columns: HostArray) -> Judgement:
        """The median width (or the given one), and minus HSIC."""
        sigma = self._width(weights, columns)
        return Judgement(-self.value(weights, columns, sigma), Model(sigma))

    def choose_near(self, weights: HostArray, columns: HostArray, model: Model) -> Judgement:
        """The same as `choose_model`: the width is no matter of choice."""
        return self.choose_model(weights, columns)

    def judge(self, columns: HostArray, near: Model | None = None) -> Judgement:
        """Minus HSIC of a set of columns, all with weight 1, and the width that goes with it."""
        return Judgement(-self.score_set(columns), Model(self._width(np.ones(columns.size), columns)))

    def start_model(self, weights: HostArray, columns: HostArray, narrowness: float) -> Model:
        """A kernel whose squared width is the squared median distance over ``narrowness``."""
        return Model(self.median_distance(weights, columns) / math.sqrt(narrowness))

    def fit(self, weights: HostArray, columns: HostArray, model: Model, cv_score: float | None = None) -> Fit:
        """HSIC of weighted columns; there are no coefficients to fit."""
        value = self.value(weights, columns, model.sigma)
        return Fit(np.empty(0), value, -value if cv_score is None else cv_score)

    def climb(self, weights: HostArray, columns: HostArray, model: Model) -> Climb:
        """Evaluate HSIC."""
        value, gradient = self.value_and_gradient(weights, columns, model)
        return Climb(weights, value, gradient, model, lambda: value)

    def set_slopes(self, columns: HostArray, model: Model, candidates: HostArray) -> HostArray:
        """Slopes of HSIC in the squared weights of ``candidates``, where ``columns`` have weight 1."""
        return self._slopes(np.ones(columns.size), columns, candidates, model.sigma)[1]


def _strips(n_rows: int) -> Iterator[_Strip]:
    start = 0
    while start < n_rows:
        stop = min(n_rows, start + max(1, STRIP_PAIRS // (n_rows - start)))
        yield _Strip(start, stop)
        start = stop


def _above(pairs: HostArray) -> HostArray:
    """Values of a strip for pairs whose second row comes after the first."""
    return np.concatenate([row[i + 1 :] for i, row in enumerate(pairs)])


def _gaps(x: HostArray, strip: _Strip) -> HostArray:
    return np.asarray(x[strip.start : strip.stop, None] - x[strip.start :])


def _half_gap_sums(slopes: Array, rows: Array, others: Array) -> Array:
    """Half the sum over pairs of slope times squared gap, for every column."""
    xp = namespace(slopes)
    squares = xp.sum(slopes, axis=1) @ (rows * rows) + xp.sum(slopes, axis=0) @ (others * others)
    return 0.5 * squares - xp.sum(rows * (slopes @ others), axis=0)


def _to_interval(x: HostArray) -> tuple[HostArray, float]:
    """Points moved and scaled to [-1, 1], and half the length of the interval they came from."""
    low, high = float(x.min()), float(x.max())
    half = 0.5 * (high - low)
    if half == 0:
        return np.zeros_like(x), 0.0
    return np.clip((x - 0.5 * (low + high)) / half, -1.0, 1.0), half
