r"""The Hilbert-Schmidt independence criterion: value, gradient in the weights, neighbouring sets.

.. math:: \frac{1}{(n-1)^2} \mathrm{tr}(K H L H) = \frac{1}{(n-1)^2}\sum_{ik} K_{ik}\tilde L_{ik}

with :math:`\tilde L = H L H`, which the target alone decides. All of it are sums over pairs of blocks of rows
(`pair_terms`): in memory a single block where rows are few, else as many as keep the memory small, and the
blocks that come from elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from l1lsmi._arrays import Array, HostArray, in_float64, like, to_numpy
from l1lsmi._numerics.hsic import pair_terms
from l1lsmi._numerics.hsic.line import chebyshev_series, median_gap
from l1lsmi._numerics.hsic.pair_terms import (
    ROUNDING,
    PairBlock,
    Ranges,
    above,
    exponents,
    seen_from,
    strip_value,
    strips,
)
from l1lsmi._numerics.hsic.paired_target import PairedTarget, TargetFactor
from l1lsmi._numerics.model import Climb, Fit, Judgement, Model
from l1lsmi._numerics.target import Target, median_root
from l1lsmi._rows.parted import FEWEST_ROWS, ArrayParts, Parts, RowsElsewhere
from l1lsmi._rows.table import Table

#: The median distance is that of all pairs of at most so many rows, evenly spaced.
MEDIAN_ROWS = 2_000
#: Up to so many rows are one block, whose values and target kernel are kept; more are blocks of so many.
BLOCK_ROWS = 4_000
#: Arrays of rows by columns that are alive at a time in a pair of blocks.
ALIVE = 6


def some_rows(values: HostArray) -> HostArray:
    """Values of the rows that medians are taken over."""
    if values.size <= MEDIAN_ROWS:
        return values
    return np.asarray(values[np.linspace(0, values.size - 1, MEDIAN_ROWS).astype(np.intp)])


class PairedRows:
    """A target and a table seen through all pairs of rows.

    Parameters
    ----------
    table : Table or RowsElsewhere
    target : Target
    sigma : float or None
        Kernel width of the standardised features; None takes the median distance.
    target_sigma : float
        Kernel width of the standardised target; no part in it for classes.
    """

    def __init__(
        self, table: Table | RowsElsewhere, target: Target, *, sigma: float | None, target_sigma: float
    ) -> None:
        self.table = table
        self.target = target
        self.sigma = sigma
        self.target_sigma = target_sigma
        self._seen: tuple[HostArray, HostArray, Array] | None = None
        self._near: Table | None = None

    # -- sums over rows and over pairs of them -----------------------------------------------

    @cached_property
    def _factor(self) -> TargetFactor | None:
        return TargetFactor.find(self.target, self.target_sigma)

    @cached_property
    def _paired_target(self) -> PairedTarget:
        return PairedTarget.whole(self.target, self.target_sigma, self._factor)

    @cached_property
    def _one_fold(self) -> HostArray:
        return np.zeros(self.table.n_rows, dtype=np.int8)

    @cached_property
    def _elsewhere(self) -> Parts:
        assert not isinstance(self.table, Table)
        return self.table.parts(self._paired_target, self._one_fold)

    @cached_property
    def _whole(self) -> PairBlock | None:
        """All rows as one block, where they are few and in memory."""
        table = self._sample if self.table.n_rows <= MEDIAN_ROWS else self.table
        if not isinstance(table, Table) or table.n_rows > BLOCK_ROWS:
            return None
        kept = table.means.kept_bytes(table.x)
        return PairBlock(table, self._paired_target, keep=4 * table.n_rows**2 <= kept // 2)

    def _kept_bytes(self) -> int:
        table = self.table
        return table.means.kept_bytes(table.x if isinstance(table, Table) else None)

    def _block_rows(self, n_columns: int) -> int:
        """Rows of so many columns that are worked on at a time."""
        return max(FEWEST_ROWS, min(BLOCK_ROWS, self._kept_bytes() // (8 * ALIVE * n_columns)))

    def _in_memory(self, columns: HostArray) -> Table | None:
        """A table in memory that has these columns, taken there where they fit; None elsewhere."""
        table = self.table
        if isinstance(table, Table):
            return table
        near = self._near
        if near is not None and near.held is not None and np.isin(columns, near.held).all():
            return near
        if 8 * table.n_rows * columns.size > self._kept_bytes():
            return None
        found = table.columns_of(columns)
        if found is not None:
            self._near = found
        return found

    def _parts(self, columns: HostArray, block_rows: int) -> Parts:
        near = self._in_memory(columns)
        if near is None:
            return self._elsewhere
        return ArrayParts(near, self._paired_target, self._one_fold, block_rows)

    def _sum_pairs(self, term: Callable[..., Any], *arguments: Any, columns: HostArray) -> Any:
        """Add up a term over all pairs of blocks; ``columns`` are those that it reads."""
        columns = np.unique(columns)
        block_rows = self._block_rows(columns.size)
        whole = self._whole
        if whole is not None and whole.n_rows <= block_rows:
            return term(whole, whole, *arguments)
        parts = self._parts(columns, block_rows)
        return parts.sum_pairs(pair_terms.add_pairs, block_rows, term, arguments, columns=columns)

    def _sum_rows(self, term: Callable[..., Any], *arguments: Any, columns: HostArray) -> Any:
        """Add up a term over all blocks."""
        columns = np.unique(columns)
        block_rows = self._block_rows(columns.size)
        whole = self._whole
        if whole is not None and whole.n_rows <= block_rows:
            return term(whole, *arguments)
        parts = self._parts(columns, block_rows)
        return parts.sum(pair_terms.add_rows, block_rows, term, arguments, columns=columns)

    # -- medians, from a sample ----------------------------------------------------------------

    @cached_property
    def _sample(self) -> Table:
        """Rows that medians are taken over, in memory."""
        table = self.table
        if isinstance(table, Table) and table.n_rows <= MEDIAN_ROWS:
            return table
        return table.rows_of(some_rows(np.arange(table.n_rows)))

    def _some_values(self, columns: HostArray) -> tuple[HostArray, Array]:
        """Medians of standardised columns, and the columns less these; those asked for last are kept.

        Far rows must not cost the near ones their digits.
        """
        seen = self._seen
        if seen is None or not np.array_equal(seen[0], columns):
            z = self._take_sample(columns)
            centre = np.median(to_numpy(in_float64(z)), axis=0)
            if self.table.means.precision == "float64":
                z -= like(centre, z)
            else:
                z = seen_from(*self._sample_rows(), columns, centre)
            seen = self._seen = (columns.copy(), centre, z)
            if self.table.n_rows <= MEDIAN_ROWS and self._whole is not None:
                self._whole.hold(columns, z)
        return seen[1], seen[2]

    def _take_sample(self, columns: HostArray) -> Array:
        table, rows = self._sample_rows()
        return table.take(rows, columns)

    def _sample_rows(self) -> tuple[Table, HostArray]:
        """A table that has the rows of the sample, and their numbers there."""
        if isinstance(self.table, Table):
            return self.table, some_rows(np.arange(self.table.n_rows))
        return self._sample, np.arange(self._sample.n_rows)

    def _centre(self, columns: HostArray) -> HostArray:
        return self._some_values(columns)[0]

    def median_distance(self, weights: HostArray, columns: HostArray) -> float:
        """Median weighted distance between pairs of rows."""
        if columns.size == 1:
            return abs(float(weights[0])) * median_gap(to_numpy(in_float64(self._take_sample(columns)))[:, 0])
        return math.sqrt(2) * median_root(self._half_distances(weights, columns))

    def _half_distances(self, weights: HostArray, columns: HostArray) -> HostArray:
        """Half the squared distances of all pairs of the sample's rows, each pair once."""
        z = self._some_values(columns)[1]
        return _listed(exponents(z, z, weights**2, strips(z.shape[0])), z.shape[0])

    def _width(self, weights: HostArray, columns: HostArray) -> float:
        return self.median_distance(weights, columns) if self.sigma is None else self.sigma

    # -- values ----------------------------------------------------------------------------

    def value(self, weights: HostArray, columns: HostArray, sigma: float) -> float:
        """HSIC of weighted columns under a given width."""
        squares = (weights / sigma) ** 2
        total = self._sum_pairs(pair_terms.value, squares, columns, self._centre(columns), columns=columns)
        return float(total)

    def score_set(self, columns: HostArray) -> float:
        """HSIC of a set of columns, all with weight 1, under its own width."""
        if columns.size == 1:
            return float(self.score_each(columns)[0])
        weights = np.ones(columns.size)
        whole = self._whole
        if (
            self.sigma is not None
            or whole is None
            or not whole.keep
            or self.table.n_rows > min(MEDIAN_ROWS, self._block_rows(columns.size))
        ):
            return self.value(weights, columns, self._width(weights, columns))
        # Distances are worked out once, for the median and for the kernel.
        z = self._some_values(columns)[1]
        pairs = list(exponents(z, z, weights, whole.strips(whole)))
        sigma = math.sqrt(2) * median_root(_listed(pairs, whole.n_rows))
        return sum(
            strip_value(whole, whole, strip, exponent * sigma**-2)
            for strip, exponent in zip(whole.strips(whole), pairs, strict=True)
        )

    def score_neighbours(self, columns: HostArray, others: HostArray, sign: float) -> HostArray:
        """HSIC of the set with (sign 1) or without (sign -1) each of the other columns."""
        widths = self._neighbour_widths(columns, others, sign)
        return np.asarray(
            self._sum_pairs(
                pair_terms.neighbours,
                columns,
                self._centre(columns),
                others,
                sign,
                widths,
                columns=np.concatenate([columns, others]),
            )
        )

    def _neighbour_widths(self, columns: HostArray, others: HostArray, sign: float) -> HostArray:
        if self.sigma is not None:
            return np.full(others.size, self.sigma)
        within = self._half_distances(np.ones(columns.size), columns)
        z = to_numpy(in_float64(self._take_sample(others)))
        widths = np.empty(others.size)
        for i in range(others.size):
            x = z[:, i]
            gaps = _listed((x[s.rows, None] - x[s.others] for s in strips(x.size)), x.size)
            gaps *= gaps
            halves = within + 0.5 * sign * gaps
            # What is left of equal points when a column is taken away is a rounding error too.
            halves[halves <= ROUNDING[self.table.means.precision] * (within + gaps)] = 0.0
            widths[i] = math.sqrt(2) * median_root(halves)
        return widths

    def score_each(self, columns: HostArray) -> HostArray:
        """HSIC of every column by itself, without visiting all pairs where it can be avoided."""
        most = max(1, self._kept_bytes() // (8 * ALIVE * FEWEST_ROWS))
        pieces = [columns[start : start + most] for start in range(0, columns.size, most)]
        return np.concatenate([self._score_some(some) for some in pieces])

    def _score_some(self, columns: HostArray) -> HostArray:
        """HSIC of each of some columns, from two visits of the rows for all of them."""
        one = np.ones(1)
        widths = np.array([self._width(one, columns[j : j + 1]) for j in range(columns.size)])
        found: Ranges = self._sum_rows(pair_terms.ranges, columns, columns=columns)
        half_lengths = 0.5 * (found.high - found.low) / widths
        series = [None if self._factor is None else chebyshev_series(float(h)) for h in half_lengths]
        short = np.array([j for j, some in enumerate(series) if some is not None], dtype=np.intp)
        scores = np.empty(columns.size)
        if short.size:
            scores[short] = self._by_series(
                columns[short],
                Ranges(found.low[short], found.high[short]),
                [some for some in series if some is not None],
            )
        for j in np.setdiff1d(np.arange(columns.size), short):
            scores[j] = self.value(one, columns[j : j + 1], float(widths[j]))
        return scores

    def _by_series(self, columns: HostArray, found: Ranges, series: list[HostArray]) -> HostArray:
        factor = self._factor
        assert factor is not None
        sizes = np.array([len(some) for some in series])
        flat = self._sum_rows(pair_terms.moments, columns, found, sizes, factor, columns=columns)
        ends = np.cumsum(sizes) * factor.means.size
        scores = np.empty(columns.size)
        for j, (some, sums) in enumerate(zip(series, np.split(flat, ends[:-1]), strict=True)):
            moments = sums.reshape(len(some), -1)
            scores[j] = np.sum(some * (moments @ factor.series @ moments.T))
        return np.asarray(scores / (self.table.n_rows - 1) ** 2)

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
        total, gaps = self._sum_pairs(
            pair_terms.slopes,
            (weights / sigma) ** 2,
            columns,
            self._centre(columns),
            candidates,
            columns=np.concatenate([columns, candidates]),
        )
        return float(total), np.asarray(-gaps / sigma**2)

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


def _listed(pairs: Iterable[Array], n_rows: int) -> HostArray:
    """Minus the values of the pairs of a block, each pair once, from its strips."""
    found, start = np.empty(n_rows * (n_rows - 1) // 2), 0
    for strip in pairs:
        some = above(to_numpy(strip))
        np.negative(some, out=found[start : start + some.size])
        start += some.size
    return found
