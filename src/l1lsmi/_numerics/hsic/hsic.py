r"""The Hilbert-Schmidt independence criterion: value, gradient in the weights, neighbouring sets.

.. math:: \frac{1}{(n-1)^2} \mathrm{tr}(K H L H) = \frac{1}{(n-1)^2}\sum_{ik} K_{ik}\tilde L_{ik}

with :math:`\tilde L = H L H`, which depends on the target alone. Everything is a sum over pairs of blocks of
rows (`pair_terms`): a single block where few rows are in memory, else blocks that keep the memory small, or
those of an out-of-core table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from l1lsmi._arrays import Array, HostArray, in_float64, to_numpy
from l1lsmi._clock import check_time
from l1lsmi._numerics.fixed_model import FixedModelDraws
from l1lsmi._numerics.hsic import pair_terms
from l1lsmi._numerics.hsic.line import SMALLEST_GAP, chebyshev_series, median_gap
from l1lsmi._numerics.hsic.pair_terms import (
    ROUNDING,
    PairBlock,
    Ranges,
    above,
    centred_points,
    exponents,
    spans_of,
    squared_gaps,
    strip_value,
    strips,
)
from l1lsmi._numerics.hsic.paired_target import PairedTarget, TargetFactor
from l1lsmi._numerics.model import Model, ScoredModel
from l1lsmi._numerics.target import Target
from l1lsmi._rows.kinds import Coordinates
from l1lsmi._rows.medians import median_root, weighted_median_of_pairs
from l1lsmi._rows.parts import FEWEST_ROWS, Parts, add_up
from l1lsmi._rows.table import RowTable, Table

#: The median distance is that of all pairs of at most so many rows, evenly spaced.
MEDIAN_ROWS = 2_000
#: Up to so many rows are one block, whose values and target kernel are cached; more rows are blocks of so
#: many.
BLOCK_ROWS = 4_000
#: Arrays of rows by columns that are in memory at a time in a pair of blocks.
ARRAYS_PER_PAIR = 6


def some_rows(values: HostArray) -> HostArray:
    """Values of the rows that medians are taken over."""
    if len(values) <= MEDIAN_ROWS:
        return values
    return np.asarray(values[np.linspace(0, len(values) - 1, MEDIAN_ROWS).astype(np.intp)])


class PairedRows(FixedModelDraws):
    """A target and a table seen through all pairs of rows.

    Parameters
    ----------
    table : RowTable
    target : Target
    sigma : float or None
        Kernel width of the standardised features; None takes the median distance.
    target_sigma : float
        Kernel width of the standardised target; not used for classes.
    """

    def __init__(self, table: RowTable, target: Target, *, sigma: float | None, target_sigma: float) -> None:
        self.table = table
        self.target = target
        self.sigma = sigma
        self.target_sigma = target_sigma
        self._last_sample: tuple[HostArray, HostArray, Coordinates] | None = None
        self._last_columns: Table | None = None

    # -- sums over rows and over pairs of them -----------------------------------------------

    @cached_property
    def _factor(self) -> TargetFactor | None:
        return TargetFactor.find(self.target, self.target_sigma)

    @cached_property
    def _paired_target(self) -> PairedTarget:
        return PairedTarget.whole(self.target, self.target_sigma, self._factor)

    @cached_property
    def _one_fold(self) -> HostArray:
        return np.zeros((1, self.table.n_rows), dtype=np.int8)

    @cached_property
    def _whole(self) -> PairBlock | None:
        """All rows as one block, where they are few and in memory."""
        table = self._sample if self.table.n_rows <= MEDIAN_ROWS else self.table
        if not table.in_memory or table.n_rows > BLOCK_ROWS:
            return None
        source, _ = table.locate(np.empty(0, dtype=np.intp))
        keep = 4 * table.n_rows**2 <= table.cache_bytes() // 2
        return PairBlock(source, self._paired_target, keep=keep)

    def _block_rows(self, n_columns: int) -> int:
        """Rows of so many columns that are worked on at a time."""
        most = self.table.cache_bytes() // (8 * ARRAYS_PER_PAIR * n_columns)
        return max(FEWEST_ROWS, min(BLOCK_ROWS, most))

    def _with_columns(self, columns: HostArray) -> RowTable:
        """A table in memory that has these columns, read where they fit; else the table itself."""
        table, last = self.table, self._last_columns
        if table.in_memory:
            return table
        if last is not None and last.columns is not None and np.isin(columns, last.columns).all():
            return last
        if 8 * table.n_rows * columns.size > table.cache_bytes():
            return table
        found = table.read_columns(columns)
        if found is None:
            return table
        self._last_columns = found
        return found

    @cached_property
    def _out_of_core_parts(self) -> Parts:
        """The parts of an out-of-core table: workers of a cluster keep what they were sent."""
        return self.table.parts(self._paired_target, self._one_fold, BLOCK_ROWS)

    def _parts(self, columns: HostArray, block_rows: int) -> Parts:
        table = self._with_columns(columns)
        if not table.in_memory:
            return self._out_of_core_parts
        return table.parts(self._paired_target, self._one_fold, block_rows)

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
        if table.in_memory and table.n_rows <= MEDIAN_ROWS:
            return table.locate(np.empty(0, dtype=np.intp))[0]
        return table.rows_of(some_rows(np.arange(table.n_rows)))

    @cached_property
    def _sample_weights(self) -> HostArray | None:
        weights = self.target.row_weights
        return None if weights is None else some_rows(weights)

    def _some_points(self, columns: HostArray) -> tuple[HostArray, Coordinates]:
        """Medians of standardised columns, and coordinates less these; those of the last call are cached.

        Far rows must not cost the near ones their digits.
        """
        last = self._last_sample
        if last is None or not np.array_equal(last[0], columns):
            centre = np.zeros(columns.size)
            if self.table.kinds is None:
                centre = np.median(to_numpy(in_float64(self._take_sample(columns))), axis=0)
            points = centred_points(*self._sample_rows(), columns, centre)
            last = self._last_sample = (columns.copy(), centre, points)
            if self.table.n_rows <= MEDIAN_ROWS and self._whole is not None:
                self._whole.cache(columns, points)
        return last[1], last[2]

    def _take_sample(self, columns: HostArray) -> Array:
        table, rows = self._sample_rows()
        return table.take(rows, columns)

    def _is_plain(self, columns: HostArray) -> HostArray:
        """Which columns are complete numbers."""
        kinds = self.table.kinds
        return np.ones(columns.size, dtype=bool) if kinds is None else kinds.is_plain[columns]

    def _sample_rows(self) -> tuple[Table, HostArray]:
        """A table in memory that has the rows of the sample, and their row numbers in it."""
        if self.table.in_memory:
            return self.table.locate(some_rows(np.arange(self.table.n_rows)))
        return self._sample, np.arange(self._sample.n_rows)

    def _centre(self, columns: HostArray) -> HostArray:
        return self._some_points(columns)[0]

    def median_distance(self, weights: HostArray, columns: HostArray) -> float:
        """Median weighted distance between pairs of rows."""
        if columns.size == 1 and self._sample_weights is None and self._is_plain(columns).all():
            return abs(float(weights[0])) * median_gap(to_numpy(in_float64(self._take_sample(columns)))[:, 0])
        return self._median_of(self._half_distances(weights, columns))

    def _median_of(self, half_distances: HostArray) -> float:
        """Median distance from half the squared distances of all pairs of the sample."""
        found = self._plain_median_of(half_distances)
        if found >= SMALLEST_GAP:
            return found
        return self._plain_median_of(np.where(2 * half_distances < SMALLEST_GAP**2, 0.0, half_distances))

    def _plain_median_of(self, half_distances: HostArray) -> float:
        if self._sample_weights is None:
            return math.sqrt(2) * median_root(half_distances)
        return weighted_median_of_pairs(np.sqrt(2 * half_distances), self._sample_weights)

    def _half_distances(self, weights: HostArray, columns: HostArray) -> HostArray:
        """Half the squared distances of all pairs of the sample's rows, each pair once."""
        points = self._some_points(columns)[1]
        n_rows = points.values.shape[0]
        squares = self._sample.for_coordinates(weights**2, columns)
        return _listed(exponents(points, points, squares, strips(n_rows)), n_rows)

    def scale_of(self, weights: HostArray, columns: HostArray) -> float:
        """The median distance, unless the width is given."""
        return self.median_distance(weights, columns) if self.sigma is None else self.sigma

    # -- values ----------------------------------------------------------------------------

    def value(self, weights: HostArray, columns: HostArray, sigma: float) -> float:
        """HSIC of weighted columns under a given width."""
        squares = (weights / sigma) ** 2
        total = self._sum_pairs(pair_terms.value, squares, columns, self._centre(columns), columns=columns)
        return float(total)

    def value_of_set(self, columns: HostArray) -> float:
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
            return self.value(weights, columns, self.scale_of(weights, columns))
        # Distances are computed once, for the median and for the kernel.
        points = self._some_points(columns)[1]
        squares = self._sample.for_coordinates(weights, columns)
        pairs = list(exponents(points, points, squares, whole.strips(whole)))
        sigma = self._median_of(_listed(pairs, whole.n_rows))
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
        table, rows = self._sample_rows()
        lines = Coordinates(
            *(None if some is None else to_numpy(in_float64(some)) for some in table.points(rows, others))
        )
        spans = spans_of(table, others)
        widths = np.empty(others.size)
        for i in range(others.size):
            check_time()
            pairs = (add_up(squared_gaps(lines, lines, s, j) for j in spans[i]) for s in strips(rows.size))
            gaps = -_listed(pairs, rows.size)
            halves = within + 0.5 * sign * gaps
            # What is left of equal points when a column is taken away is a rounding error too.
            halves[halves <= ROUNDING[self.table.resources.precision] * (within + gaps)] = 0.0
            widths[i] = self._median_of(halves)
        return widths

    def score_each(self, columns: HostArray) -> HostArray:
        """HSIC of every column by itself, without a sum over all pairs where it can be avoided."""
        most = max(1, self.table.cache_bytes() // (8 * ARRAYS_PER_PAIR * FEWEST_ROWS))
        pieces = [columns[start : start + most] for start in range(0, columns.size, most)]
        return np.concatenate([self._score_some(some) for some in pieces])

    def _score_some(self, columns: HostArray) -> HostArray:
        """HSIC of each of some columns, from two passes over the rows for all of them."""
        one = np.ones(1)
        widths = np.empty(columns.size)
        for place in range(columns.size):
            check_time()
            widths[place] = self.scale_of(one, columns[place : place + 1])
        scores, left = np.empty(columns.size), np.ones(columns.size, dtype=bool)
        plain = np.flatnonzero(self._is_plain(columns))
        if plain.size and self._factor is not None:
            found: Ranges = self._sum_rows(pair_terms.ranges, columns[plain], columns=columns[plain])
            half_lengths = 0.5 * (found.high - found.low) / widths[plain]
            series = []
            for half_length in half_lengths:
                check_time()
                series.append(chebyshev_series(float(half_length)))
            short = np.array([j for j, some in enumerate(series) if some is not None], dtype=np.intp)
            left[plain[short]] = False
            if short.size:
                scores[plain[short]] = self._by_series(
                    columns[plain[short]],
                    Ranges(found.low[short], found.high[short]),
                    [some for some in series if some is not None],
                )
        for j in np.flatnonzero(left):
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
        return np.asarray(scores / (self.target.weight - 1) ** 2)

    # -- gradients -------------------------------------------------------------------------

    def gradient(
        self, weights: HostArray, columns: HostArray, candidates: HostArray, sigma: float
    ) -> tuple[float, HostArray]:
        """HSIC and its gradient in the squared weights of ``candidates``."""
        total, gaps = self._sum_pairs(
            pair_terms.gradient,
            (weights / sigma) ** 2,
            columns,
            self._centre(columns),
            candidates,
            columns=np.concatenate([columns, candidates]),
        )
        return float(total), np.asarray(-gaps / sigma**2)

    def start_scale(self, weights: HostArray, columns: HostArray) -> float:
        """The median distance, also where the width is given."""
        return self.median_distance(weights, columns)

    def score_set(self, columns: HostArray, near: Model | None = None) -> ScoredModel:
        """Minus HSIC of a set of columns, all with weight 1, and the width that goes with it."""
        model = Model(self.scale_of(np.ones(columns.size), columns))
        return ScoredModel(-self.value_of_set(columns), model)


def _listed(pairs: Iterable[Array], n_rows: int) -> HostArray:
    """Minus the values of the pairs of a block, each pair once, from its strips."""
    found, start = np.empty(n_rows * (n_rows - 1) // 2), 0
    for strip in pairs:
        some = above(to_numpy(strip))
        np.negative(some, out=found[start : start + some.size])
        start += some.size
    return found
