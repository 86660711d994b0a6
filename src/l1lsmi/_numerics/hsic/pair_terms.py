"""Terms of one pair of blocks of rows in the Hilbert-Schmidt criterion and in its gradient.

All pairs of rows are those within each block and those between every two blocks. A pair of blocks is computed
in strips, so that there is never an array of all its pairs. Every term is a number or a small array: terms of
different pairs of blocks are added up whether the blocks are in memory or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from l1lsmi._arrays import (
    Array,
    HostArray,
    asarray_like,
    clip_in_place,
    exp_in_place,
    in_float64,
    namespace,
    to_numpy,
)
from l1lsmi._clock import check_time
from l1lsmi._numerics.hsic.line import chebyshev_values, to_interval
from l1lsmi._numerics.hsic.paired_target import PairedTarget, TargetFactor
from l1lsmi._rows.kinds import Coordinates
from l1lsmi._rows.parts import Part, add_up
from l1lsmi._rows.table import Table

#: Pairs in a strip: few enough to stay in cache.
STRIP_PAIRS = 100_000
#: Of two points, the part of their squared lengths up to which a squared distance is a rounding error.
ROUNDING = {"float64": 1e-12, "float32": 4e-6}


class Strip(NamedTuple):
    """Rows ``start`` to ``stop``, each paired with the other rows from ``first`` on."""

    start: int
    stop: int
    first: int

    @property
    def rows(self) -> slice:
        return slice(self.start, self.stop)

    @property
    def others(self) -> slice:
        return slice(self.first, None)


def strips(n_rows: int, n_others: int | None = None) -> Iterator[Strip]:
    """Cut the pairs between two blocks; without ``n_others`` those within one, above the diagonal."""
    start = 0
    while start < n_rows:
        width = n_rows - start if n_others is None else n_others
        stop = min(n_rows, start + max(1, STRIP_PAIRS // width))
        yield Strip(start, stop, start if n_others is None else 0)
        start = stop


class PairBlock:
    """Some rows, ready to be paired.

    Parameters
    ----------
    table : Table
    target : PairedTarget
        Of the same rows.
    keep : bool
        Whether the target's kernel within the block is cached: half an n x n array.
    """

    def __init__(self, table: Table, target: PairedTarget, *, keep: bool = False) -> None:
        self.table = table
        self.target = target
        self.keep = keep
        self._cached: tuple[HostArray, Coordinates] | None = None
        self._kernel_cache: dict[Strip, Array] = {}

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    def take(self, columns: HostArray) -> Coordinates:
        """Coordinates of columns."""
        return self.table.points(np.arange(self.n_rows), columns)

    def cache(self, columns: HostArray, points: Coordinates) -> None:
        """Cache the result of `points` for these columns, where it is known."""
        self._cached = (columns.copy(), points)

    def points(self, columns: HostArray, centre: HostArray) -> Coordinates:
        """Coordinates of columns less a centre; those of the last call are cached."""
        cached = self._cached  # threads may share a block
        if cached is None or not np.array_equal(cached[0], columns):
            points = centred_points(self.table, np.arange(self.n_rows), columns, centre)
            cached = self._cached = (columns.copy(), points)
        return cached[1]

    def strips(self, other: PairBlock) -> Iterator[Strip]:
        """Cut the pairs with another block, or within this one."""
        return strips(self.n_rows, None if other is self else other.n_rows)

    def centred(self, other: PairBlock, strip: Strip) -> Array:
        """The target's centred kernel in a strip; pairs off the diagonal count twice."""
        if other is self and strip in self._kernel_cache:
            return self._kernel_cache[strip]
        found = self.target.centred(other.target, strip.rows, strip.others)
        # Within a block, a strip has both halves of the square on the diagonal.
        found[:, strip.stop - strip.start if other is self else 0 :] *= 2
        centred = self.table.asarray(found)
        if other is self and self.keep:
            self._kernel_cache[strip] = centred
        return centred


def centred_points(table: Table, rows: HostArray, columns: HostArray, centre: HostArray) -> Coordinates:
    """Coordinates of columns less a centre: far rows must not cost the near ones their digits.

    Those of columns that are more than complete numbers are not centred.
    """
    if table.kinds is not None:
        return table.points(rows, columns)
    if table.resources.precision == "float64":
        z = table.take(rows, columns)
        z -= asarray_like(centre, z)
        return Coordinates(z)
    # Converted to float32 last.
    mean = table.mean.copy()
    mean[columns] += centre * table.scale[columns]
    return Coordinates(replace(table, mean=mean).take(rows, columns))


def exponents(
    points: Coordinates, others: Coordinates, squares: HostArray, cut: Iterator[Strip]
) -> Iterator[Array]:
    """Minus half the weighted squared distances of the pairs of each strip; a weight for each coordinate."""
    z = points.values
    xp = namespace(z)
    v = asarray_like(squares, z, dtype=z.dtype)
    rounding = ROUNDING["float32" if z.dtype == xp.float32 else "float64"]
    halves = 0.5 * (points.squares @ v)
    other_halves = halves if others is points else 0.5 * (others.squares @ v)
    for strip in cut:
        check_time()
        products = (z[strip.rows, :] * v) @ xp.matrix_transpose(others.values[strip.others, :])
        norms = halves[strip.rows, None] + other_halves[None, strip.others]
        products -= norms
        norms *= -rounding
        # Equal points come out at rounding errors instead of 0, which would pass for distances.
        yield xp.where(products > norms, xp.zeros_like(products), products)


def above(pairs: HostArray) -> HostArray:
    """Values of a strip within a block for pairs whose second row comes after the first."""
    return np.concatenate([row[i + 1 :] for i, row in enumerate(pairs)])


def _weighed(one: PairBlock, other: PairBlock, strip: Strip, pairs: Array) -> Array:
    """Kernels from exponents, times the target's."""
    kernel = exp_in_place(pairs)
    kernel *= one.centred(other, strip)
    return kernel


def strip_value(one: PairBlock, other: PairBlock, strip: Strip, pairs: Array) -> float:
    """What the pairs of a strip add to the criterion, from the exponents of their kernels."""
    return _sum(_weighed(one, other, strip, pairs))


def _sum(values: Array) -> float:
    xp = namespace(values)
    return float(xp.sum(values, dtype=xp.float64))


# -- terms of pairs --------------------------------------------------------------------------------


def _both(
    one: PairBlock, other: PairBlock, columns: HostArray, centre: HostArray | None
) -> tuple[Coordinates, Coordinates]:
    """Coordinates of columns of two blocks, once where they are one."""
    if centre is None:
        points = one.take(columns)
        return points, points if other is one else other.take(columns)
    points = one.points(columns, centre)
    return points, points if other is one else other.points(columns, centre)


def value(
    one: PairBlock, other: PairBlock, squares: HostArray, columns: HostArray, centre: HostArray
) -> float:
    """What the pairs add to the criterion, for given squared weights over the squared width."""
    points, others = _both(one, other, columns, centre)
    found = exponents(points, others, one.table.for_coordinates(squares, columns), one.strips(other))
    return sum(
        strip_value(one, other, strip, pairs) for strip, pairs in zip(one.strips(other), found, strict=True)
    )


def gradient(
    one: PairBlock,
    other: PairBlock,
    squares: HostArray,
    columns: HostArray,
    centre: HostArray,
    candidates: HostArray,
) -> tuple[float, HostArray]:
    r"""The same, and :math:`\frac12\sum_{ik} M_{ik}(x_{ij}-x_{kj})^2` for every candidate j.

    M is the product of both kernels; the second is minus the gradient in the squared weights.
    """
    points, others = _both(one, other, columns, centre)
    alike = np.array_equal(candidates, columns)
    wanted, wanted_others = (points, others) if alike else _both(one, other, candidates, None)
    xp = namespace(points.values)
    row_sums, column_sums = (xp.zeros_like(some.values[:, 0]) for some in (points, others))
    total, cross = 0.0, in_float64(xp.zeros_like(wanted.values[0, :]))
    found = exponents(points, others, one.table.for_coordinates(squares, columns), one.strips(other))
    for strip, pairs in zip(one.strips(other), found, strict=True):
        kernel = _weighed(one, other, strip, pairs)
        total += _sum(kernel)
        row_sums[strip.rows] += xp.sum(kernel, axis=1)
        column_sums[strip.others] += xp.sum(kernel, axis=0)
        products = wanted.values[strip.rows, :] * (kernel @ wanted_others.values[strip.others, :])
        cross += xp.sum(products, axis=0, dtype=xp.float64)
    if other is one:
        gaps = (row_sums + column_sums) @ wanted.squares
    else:
        gaps = row_sums @ wanted.squares + column_sums @ wanted_others.squares
    gaps = one.table.over_coordinates(0.5 * in_float64(gaps) - cross, candidates)
    return total, to_numpy(gaps)


def neighbours(
    one: PairBlock,
    other: PairBlock,
    columns: HostArray,
    centre: HostArray,
    moved: HostArray,
    sign: float,
    widths: HostArray,
) -> HostArray:
    """What the pairs add to the criterion of the set with (sign 1) or without (-1) each of ``moved``.

    Distances within the set are computed once for each strip; a neighbour costs one update of them.
    """
    points, others = _both(one, other, columns, centre)
    lines, other_lines = _both(one, other, moved, None)
    spans = spans_of(one.table, moved)
    totals = np.zeros(moved.size)
    equal = one.table.for_coordinates(np.ones(columns.size), columns)
    found = exponents(points, others, equal, one.strips(other))
    for strip, within in zip(one.strips(other), found, strict=True):
        for i in range(moved.size):
            check_time()
            gaps = add_up(squared_gaps(lines, other_lines, strip, j) for j in spans[i])
            gaps *= -0.5 * sign
            gaps += within
            gaps *= float(widths[i]) ** -2
            totals[i] += strip_value(one, other, strip, clip_in_place(gaps, 0.0))
    return totals


def spans_of(table: Table, columns: HostArray) -> list[range]:
    """Places of the coordinates of each of some columns."""
    if table.kinds is None:
        return [range(j, j + 1) for j in range(columns.size)]
    widths = table.kinds.widths_of(columns)
    return [range(int(end - width), int(end)) for end, width in zip(np.cumsum(widths), widths, strict=True)]


def squared_gaps(points: Coordinates, others: Coordinates, strip: Strip, j: int) -> Array:
    """Squared differences of the pairs of a strip in one coordinate."""
    gaps = points.values[strip.rows, j][:, None] - others.values[strip.others, j][None, :]
    gaps *= gaps
    if points.spread is not None:
        gaps += points.spread[strip.rows, j][:, None]
    if others.spread is not None:
        gaps += others.spread[strip.others, j][None, :]
    return gaps


def add_pairs(
    one: Part, other: Part, block_rows: int, term: Callable[..., Any], arguments: tuple[Any, ...]
) -> Any:
    """Add up a term over the pairs of blocks of two parts, or within one, few rows at a time."""
    starts = range(0, one.table.n_rows, block_rows)

    def terms() -> Iterator[Any]:
        for start in starts:
            block = _block(one, start, block_rows)
            if other is one:
                yield term(block, block, *arguments)
            first = start + block_rows if other is one else 0
            for later in range(first, other.table.n_rows, block_rows):
                yield term(block, _block(other, later, block_rows), *arguments)

    return add_up(terms())


def _block(part: Part, start: int, n_rows: int) -> PairBlock:
    stop = min(start + n_rows, part.table.n_rows)
    return PairBlock(part.table.slice_of(start, stop), part.target.slice_of(start, stop))


# -- terms of rows ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ranges:
    """Lowest and highest value of each column; those of further rows can be added."""

    low: HostArray
    high: HostArray

    def __add__(self, other: Ranges) -> Ranges:
        return Ranges(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


def ranges(block: PairBlock, columns: HostArray) -> Ranges:
    """Ranges of standardised columns, which are complete numbers."""
    z = to_numpy(in_float64(block.take(columns).values))
    return Ranges(z.min(axis=0), z.max(axis=0))


def moments(
    block: PairBlock, columns: HostArray, found: Ranges, sizes: HostArray, factor: TargetFactor
) -> HostArray:
    """Sums over rows of polynomials of each column times the target's factors; one after the other.

    Column j has polynomials of degrees 0 to ``sizes[j] - 1`` on its range.
    """
    z = to_numpy(in_float64(block.take(columns).values))
    target = factor.weighted(block.target.target, factor.means)
    parts = []
    for j, size in enumerate(sizes):
        check_time()
        points = to_interval(z[:, j], found.low[j], found.high[j])
        parts.append((chebyshev_values(points, int(size)) @ target).ravel())
    return np.concatenate(parts)


def add_rows(part: Part, block_rows: int, term: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Add up a term over the blocks of a part, few rows at a time."""
    starts = range(0, part.table.n_rows, block_rows)
    return add_up(term(_block(part, start, block_rows), *arguments) for start in starts)
