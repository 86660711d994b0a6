"""Columns that are copies of each other, monotone functions of each other, or copies with noise.

Pairs are not gone through one by one. Every column has a sketch of a few numbers, random combinations of its
values, and another of the order of its values; copies have the same one, and near copies are neighbours. Only
pairs whose sketches are close are compared on the rows of the sample.

A copy with noise has a correlation near 1 with its original, and so have some columns of real tables: spectra
at neighbouring frequencies, a radius and a perimeter. They differ in that the difference between two real
columns depends on other columns or on the target, while noise depends on nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import ndtri

from l1lsmi._arrays import HostArray
from l1lsmi._clock import check_time
from l1lsmi._numerics.leaks.of_target import same_without_few
from l1lsmi._numerics.leaks.sample import (
    CHANCE,
    Sample,
    chance_of_correlation,
    largest_tie,
    log_chance_of_order,
    ranks,
    to_unit,
)

#: Of the random combinations.
SEED = 6_902_417_733
#: Numbers in a sketch.
N_NUMBERS = 8
#: The largest distance of the sketches of columns at distance 1, but for one pair in ten thousand.
SKETCH_DISTANCE = 5.6
#: The same of one number.
SIGN_DISTANCE = 4.0
#: Sketches of copies differ by rounding errors.
ROUNDING = 1e-4
#: Neighbours of a sketch that are compared.
N_NEIGHBOURS = 3
#: A correlation of 0.999 leaves so much of the variance unexplained; an estimate of it has a standard
#: deviation of sqrt(2 / rows) of it, and may be this many above.
UNEXPLAINED = 0.002
N_DEVIATIONS = 4.0
#: Unexplained share of a copy, by rounding errors; share of rows that rounding may level in a function.
COPY = 2e-7
LEVEL = 0.005
#: `CHANCE` for copies: they are copies in any case, but columns that are not 0 in one row need no mention.
EQUAL_CHANCE = 1e-2
#: Rows off the most frequent value that a monotone function needs.
LEAST_ROWS = 20
#: Columns that noise must be independent of at first, before all others.
FIRST_COLUMNS = 128
#: A table has near copies by nature where more columns than this have one, and more than this share; the
#: same share before the difference between two columns is looked at.
FEW_COLUMNS = 10
FEW_COPIES = 0.01
CANDIDATES = 0.1
#: How two columns are alike.
EQUAL, MONOTONE, NEAR, NONE = 0, 1, 2, 3


class Pairs(NamedTuple):
    """Pairs of columns and how they are alike.

    Attributes
    ----------
    one, other : numpy.ndarray of int, shape (p,)
    kind : numpy.ndarray of int, shape (p,)
        EQUAL, MONOTONE or NEAR.
    """

    one: HostArray
    other: HostArray
    kind: HostArray

    def where(self, kept: HostArray) -> Pairs:
        """Some of the pairs."""
        return Pairs(self.one[kept], self.other[kept], self.kind[kept])


def most_unexplained(n_rows: int) -> float:
    """Share of variance that a copy with noise, of correlation 0.999, leaves unexplained at most."""
    return float(UNEXPLAINED * (1 + N_DEVIATIONS * np.sqrt(2 / n_rows)))


def copies_in(sample: Sample, columns: HostArray) -> Pairs:
    """Pairs of columns of a sample that are alike."""
    values, order = _sketches(sample, columns)
    same = _compared(sample, columns, np.concatenate([_same(values), _same(order)]))
    exact = same.where(same.kind != NEAR)
    # One column of several that are the same stands for all of them.
    stands = np.flatnonzero(groups_of(columns.size, exact) == np.arange(columns.size))
    near = _neighbours(values[stands], most_unexplained(sample.n_rows))
    close = _compared(sample, columns, stands[near])
    curved, close = close.where(close.kind != NEAR), close.where(close.kind == NEAR)
    if not _is_usual(close, CANDIDATES * columns.size):
        close = close.where(_is_noise(sample, columns, stands, close))
        close = close.where(_robust(sample, columns, close))
    kept = (exact, curved) if _is_usual(close, FEW_COPIES * columns.size) else (exact, curved, close)
    one, other, kind = (np.concatenate(each) for each in zip(*kept, strict=True))
    return Pairs(columns[one], columns[other], kind)


def _is_usual(near: Pairs, most: float) -> bool:
    """Whether so many columns are near copies that the columns of the table are like that by nature."""
    return np.unique(np.concatenate([near.one, near.other])).size > max(FEW_COLUMNS, most)


def groups_of(n: int, pairs: Pairs) -> HostArray:
    """The first member of the group of every place, where the places of pairs are joined."""
    first = np.arange(n)

    def root(place: int) -> int:
        while first[place] != place:
            first[place] = first[first[place]]
            place = int(first[place])
        return place

    for a, b in zip(pairs.one.tolist(), pairs.other.tolist(), strict=True):
        low, high = sorted((root(a), root(b)))
        first[high] = low
    for place in np.unique(np.concatenate([pairs.one, pairs.other])).tolist():
        first[place] = root(place)
    return first


def _sketches(sample: Sample, columns: HostArray) -> tuple[HostArray, HostArray]:
    """Sketches of the values of every column and of their order, (m, N_NUMBERS), up to sign."""
    # Not a usual seed: noise that was drawn with the same one would be such a combination itself.
    rng = np.random.default_rng(SEED)
    n = sample.n_rows
    directions = rng.normal(size=(N_NUMBERS, n)).astype(np.float32)
    shuffled = np.roll(np.arange(n), max(1, n // 3))
    values = np.empty((columns.size, N_NUMBERS), dtype=np.float32)
    order = np.empty_like(values)
    start = 0
    for some, z in sample.chunks(columns):
        here = slice(start, start + some.size)
        start += some.size
        values[here] = (directions @ z.astype(np.float32)).T
        against = z[shuffled]
        signs = (z > against).astype(np.float32)
        signs -= z < against
        length = np.sqrt(np.maximum(np.einsum("ij,ij->j", signs, signs), 1.0))
        order[here] = ((directions @ signs) / length).T
    return _signed(values), _signed(order)


def _signed(sketch: HostArray) -> HostArray:
    """Sketches whose first number is positive: a column and its negative have the same one."""
    return np.asarray(sketch * np.where(sketch[:, :1] < 0, -1, 1))


def _same(sketch: HostArray) -> HostArray:
    """Pairs of places with the same sketch, each with the next one, (p, 2)."""
    order = np.argsort(sketch[:, 1], kind="stable")
    close = np.abs(np.diff(sketch[order], axis=0)).max(axis=1, initial=0.0) <= ROUNDING
    close &= np.abs(sketch[order[1:]]).max(axis=1, initial=0.0) > 0
    return np.stack([order[:-1][close], order[1:][close]], axis=1)


def _neighbours(sketch: HostArray, unexplained: float) -> HostArray:
    """Pairs of places whose sketches are close, (p, 2)."""
    if len(sketch) < 2:
        return np.empty((0, 2), dtype=np.intp)
    distance = np.sqrt(unexplained)
    # A first number near 0 may have the other sign in a copy with noise.
    doubtful = np.flatnonzero(np.abs(sketch[:, 0]) < SIGN_DISTANCE * distance)
    points = np.concatenate([sketch, -sketch[doubtful]])
    places = np.concatenate([np.arange(len(sketch)), doubtful])
    n_neighbours = min(N_NEIGHBOURS + 1, len(points))
    _, found = cKDTree(points, leafsize=16).query(
        sketch, n_neighbours, distance_upper_bound=SKETCH_DISTANCE * distance
    )
    a, b = np.repeat(np.arange(len(sketch)), n_neighbours), found.ravel()
    there = b < len(points)
    a, b = a[there], places[b[there]]
    return np.asarray(np.stack([a, b], axis=1)[a != b])


def _compared(sample: Sample, columns: HostArray, places: HostArray) -> Pairs:
    """Pairs of places that are alike on the rows of the sample."""
    places = np.unique(np.sort(places, axis=1), axis=0)
    kinds = np.full(len(places), NONE)
    limit = most_unexplained(sample.n_rows)
    log_pairs = np.log(max(columns.size, 2) ** 2 / 2)
    step = max(1, 2**19 // sample.n_rows)
    for start in range(0, len(places), step):
        check_time()
        some = places[start : start + step]
        one, other = (sample.unit(columns[some[:, side]]) for side in (0, 1))
        product = np.einsum("ij,ij->j", one, other)
        unexplained = 1 - product**2
        by_chance = chance_of_correlation(product**2, sample.n_rows) * columns.size**2 / 2 >= CHANCE
        kind = np.where((unexplained <= limit) & ~by_chance, NEAR, NONE)
        n_level = _level_steps(one, other * np.where(product < 0, -1, 1))
        # The order is looked at too: one value that is far out leaves nothing unexplained either.
        kind[(unexplained <= COPY) & np.isfinite(n_level)] = EQUAL
        curved = np.flatnonzero((unexplained > COPY) & (n_level <= LEVEL * sample.n_rows))
        n_off = sample.n_rows - np.maximum(largest_tie(one[:, curved]), largest_tie(other[:, curved]))
        curved = curved[(n_off >= LEAST_ROWS) & (n_level[curved] <= LEVEL * n_off)]
        kind[curved] = MONOTONE
        exact = np.flatnonzero((kind == EQUAL) | (kind == MONOTONE))
        limit_of = np.log(np.where(kind[exact] == EQUAL, EQUAL_CHANCE, CHANCE))
        by_chance = log_chance_of_order(one[:, exact]) + log_pairs >= limit_of
        kind[exact[by_chance]] = NONE
        kinds[start : start + step] = kind
    kept = kinds != NONE
    return Pairs(places[kept, 0], places[kept, 1], kinds[kept])


def _level_steps(one: HostArray, other: HostArray) -> HostArray:
    """Steps between neighbouring values at which one of two columns is level; infinite if one goes back."""
    order = np.argsort(one, axis=0, kind="stable")
    up = np.diff(np.take_along_axis(one, order, axis=0), axis=0) > 0
    step = np.diff(np.take_along_axis(other, order, axis=0), axis=0)
    n_level = np.where(up, step == 0, step != 0).sum(axis=0)
    return np.where((up & (step < 0)).any(axis=0), np.inf, n_level)


def _robust(sample: Sample, columns: HostArray, pairs: Pairs) -> HostArray:
    """Which pairs are near copies for more reasons than a few outlying rows."""
    found = np.zeros(pairs.one.size, dtype=bool)
    for i, (a, b) in enumerate(zip(pairs.one.tolist(), pairs.other.tolist(), strict=True)):
        check_time()
        z = sample.unit(columns[[a, b]])
        by_rank = to_unit(ranks(z))
        found[i] = same_without_few(z[:, 0], z[:, 1], float(by_rank[:, 0] @ by_rank[:, 1]) ** 2)
    return found


def _is_noise(sample: Sample, columns: HostArray, stands: HostArray, pairs: Pairs) -> HostArray:
    """Which pairs differ by nothing but noise."""
    left = np.arange(pairs.one.size)
    rng = np.random.default_rng(SEED)
    few = np.sort(rng.choice(stands, min(FIRST_COLUMNS, stands.size), replace=False))
    for others in (few, stands) if few.size < stands.size else (stands,):
        some = pairs.where(left)
        left = left[
            _independent(sample, columns, some.one, some.other, others, stands.size)
            | _independent(sample, columns, some.other, some.one, others, stands.size)
        ]
    return left


def _independent(
    sample: Sample,
    columns: HostArray,
    originals: HostArray,
    copies: HostArray,
    others: HostArray,
    n_others: int,
) -> HostArray:
    """Whether what a column leaves of its copy is correlated with no other column, given that column."""
    found = np.empty(originals.size, dtype=bool)
    # A normal quantile: by chance not one of all these correlations is larger in a hundred pairs.
    limit = -ndtri(0.005 / max(n_others, 1)) / np.sqrt(sample.n_rows)
    step = max(1, 2**19 // sample.n_rows)
    for start in range(0, originals.size, step):
        check_time()
        here = slice(start, start + step)
        z, copy = (sample.unit(columns[some[here]]) for some in (originals, copies))
        noise = to_unit(copy - np.einsum("ij,ij->j", z, copy) * z)
        largest = np.abs(_target_columns(sample) @ noise).max(axis=0, initial=0.0)
        for some, x in sample.chunks(columns[others]):
            explained = np.minimum(np.abs(z.T @ x), 1.0)
            rest = np.sqrt(1 - explained**2)
            # Of a column that is a copy of the original too, nothing is left to compare with.
            partial = np.abs(noise.T @ x) / np.where(rest > np.sqrt(COPY), rest, np.inf)
            partial[some[None, :] == columns[copies[here]][:, None]] = 0.0
            largest = np.maximum(largest, partial.max(axis=1, initial=0.0))
        found[here] = largest <= limit
    return found


def _target_columns(sample: Sample) -> HostArray:
    """The target as rows of length 1: its values, or an indicator of each class."""
    target = sample.target
    if target.values is not None:
        return to_unit(target.columns.astype(np.float64)).T
    classes = np.flatnonzero(np.bincount(target.codes))
    return to_unit((target.codes[:, None] == classes).astype(np.float64)).T
