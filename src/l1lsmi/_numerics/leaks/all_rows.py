"""What was found in a sample of the rows, checked on all of them in one pass."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._numerics.leaks.copies import COPY, EQUAL, MONOTONE, NEAR, Pairs, most_unexplained
from l1lsmi._numerics.leaks.of_order import direction, steps
from l1lsmi._numerics.leaks.of_target import EXACT, TargetLeak, are_apart, classify, ranges_of_classes
from l1lsmi._numerics.leaks.of_target import NEAR as NEAR_TARGET
from l1lsmi._numerics.leaks.sample import standardized_values
from l1lsmi._numerics.target import Target
from l1lsmi._rows.parts import Part
from l1lsmi._rows.table import RowTable, sample_of, sampled_rows

#: Pairs that are checked at most.
MAX_PAIRS = 2_000
#: Unexplained share of the ranks of a monotone function; rounding makes ties.
RANKS = 1e-5


class Found(NamedTuple):
    """What was found in a sample.

    Attributes
    ----------
    of_target : list of TargetLeak
    numberings : list of (int, int)
        Columns, and 1 or -1 for up or down.
    pairs : Pairs
    """

    of_target: list[TargetLeak]
    numberings: list[tuple[int, int]]
    pairs: Pairs


class _Wanted(NamedTuple):
    """Columns to look at: places among all of them of what was found, and values of the sample."""

    columns: HostArray
    leaks: HostArray
    numbers: HostArray
    one: HostArray
    other: HostArray
    signs: HostArray
    monotone: HostArray
    values: HostArray
    targets: HostArray
    means: HostArray


def check_on_all_rows(table: RowTable, target: Target, found: Found) -> Found:
    """Keep what holds on all rows.

    The rank of a value is the share of the rows of the sample below it, which is the same for a column and
    its monotone functions.
    """
    most = np.arange(min(found.pairs.one.size, MAX_PAIRS))
    found = found._replace(pairs=found.pairs.where(most))
    wanted = _wanted(table, target, found)
    n = table.n_rows
    # The rows carry their numbers in the place of folds.
    parts = table.parts(target, np.arange(n)[None, :], table.max_part_rows)
    sums = parts.sum(_sums_of, wanted, columns=wanted.columns)
    return Found(
        _leaks(found.of_target, target, sums),
        _numberings(found.numberings, sums[5], sums[6], sums[7], n),
        _pairs(found.pairs, wanted.monotone, sums[3] / n, sums[4] / n, n),
    )


def _wanted(table: RowTable, target: Target, found: Found) -> _Wanted:
    leaks = np.array([leak.column for leak in found.of_target], dtype=np.intp)
    numbers = np.array([j for j, _ in found.numberings], dtype=np.intp)
    one, other, kind = found.pairs
    columns = np.unique(np.concatenate([leaks, numbers, one, other]))
    at = [np.searchsorted(columns, some) for some in (leaks, numbers, one, other)]
    sample, rows = sample_of(table), sampled_rows(table)
    drawn = target if rows is None else target.rows_of(rows)
    z = np.asarray(to_numpy(sample.take(np.arange(sample.n_rows), columns)), dtype=np.float64)
    signs = np.where(np.einsum("ij,ij->j", z[:, at[2]], z[:, at[3]]) < 0, -1.0, 1.0)
    if target.values is None:
        counts = np.bincount(drawn.codes, minlength=int(target.codes.max()) + 1)
        sums = np.zeros((counts.size, leaks.size))
        np.add.at(sums, drawn.codes, z[:, at[0]])
        means, targets = sums / np.maximum(counts, 1)[:, None], np.empty((0, 0))
    else:
        means, targets = np.empty((0, 0)), np.sort(drawn.columns, axis=0)
    monotone = np.flatnonzero(kind == MONOTONE)
    ordered = np.sort(z, axis=0)
    return _Wanted(columns, at[0], at[1], at[2], at[3], signs, monotone, ordered, targets, means)


def _sums_of(part: Part, wanted: _Wanted) -> tuple[Any, ...]:
    """Sums over the rows of a part, and the first and last values of columns that may number the rows."""
    z = standardized_values(part.table, wanted.columns)
    first, second, products = _with_target(part.target, z[:, wanted.leaks], wanted)
    one, other = z[:, wanted.one], wanted.signs * z[:, wanted.other]
    some = wanted.monotone
    ranks = [
        _ranks(z[:, places[some]], wanted.values[:, places[some]]) for places in (wanted.one, wanted.other)
    ]
    ranks[1] = np.where(wanted.signs[some] < 0, 1 - ranks[1], ranks[1])
    numbers = z[:, wanted.numbers]
    ends = [(int(part.fold_of_row[0, 0]), numbers[0], numbers[-1])]
    differences = ((one - other) ** 2).sum(axis=0), ((ranks[0] - ranks[1]) ** 2).sum(axis=0)
    ranges = []
    if part.target.values is None:
        ranges = [ranges_of_classes(z[:, wanted.leaks], part.target.codes, len(wanted.means))]
    return first, second, products, *differences, *steps(numbers), ends, ranges


def _with_target(target: Target, z: HostArray, wanted: _Wanted) -> tuple[HostArray, HostArray, HostArray]:
    """Sums and squares by class, or products with numeric targets and sums of their ranks."""
    if target.values is None:
        n_classes = len(wanted.means)
        away = z - wanted.means[target.codes]
        sums = np.zeros((n_classes, z.shape[1]))
        np.add.at(sums, target.codes, away)
        counts = np.bincount(target.codes, minlength=n_classes).astype(np.float64)
        return sums, (away**2).sum(axis=0), counts
    y = target.columns
    u, v = _ranks(z, wanted.values[:, wanted.leaks]), _ranks(y, wanted.targets)
    moments = np.stack([u.sum(axis=0), (u**2).sum(axis=0)])
    of_targets = np.stack([v.sum(axis=0), (v**2).sum(axis=0)])
    return np.concatenate([moments, y.T @ z, v.T @ u]), np.array(float(len(z))), of_targets


def _ranks(x: HostArray, ordered: HostArray) -> HostArray:
    """Shares of the ordered values of every column below some values; equal ones count half."""
    found = np.empty(x.shape)
    for j in range(x.shape[1]):
        below, most = (np.searchsorted(ordered[:, j], x[:, j], side=side) for side in ("left", "right"))
        found[:, j] = (below + most) / (2 * len(ordered))
    return found


def _leaks(of_target: list[TargetLeak], target: Target, sums: tuple[Any, ...]) -> list[TargetLeak]:
    kept = []
    apart = np.zeros(len(of_target), dtype=bool)
    if target.values is None:
        low, high = zip(*sums[8], strict=True)
        apart = are_apart(np.min(low, axis=0), np.max(high, axis=0))
    for i, leak in enumerate(of_target):
        kind, value = (_of_classes if target.values is None else _of_values)(sums, i, target)
        if leak.kind == "ranges":
            kept += [leak._replace(value=value)] if apart[i] else []
        elif value >= NEAR_TARGET:
            kept.append(TargetLeak(leak.column, kind, value if target.values is None else value**0.5))
    return kept


def _of_classes(sums: tuple[Any, ...], i: int, target: Target) -> tuple[str, float]:
    by_class, squares, counts = sums[:3]
    within = squares[i] - float((by_class[:, i] ** 2 / np.maximum(counts, 1)).sum())
    between = 1 - within / target.n_rows
    return "function" if 1 - between <= EXACT else "near", float(between)


def _of_values(sums: tuple[Any, ...], i: int, target: Target) -> tuple[str, float]:
    of_column, n, of_targets = sums[0][:, i], float(sums[1]), sums[2]
    n_targets = of_targets.shape[1]
    linear = float(((of_column[2 : 2 + n_targets] / n) ** 2).max())
    u, v = of_column[0] / n, of_targets[0] / n
    covariance = of_column[2 + n_targets :] / n - u * v
    spread = (of_column[1] / n - u**2) * (of_targets[1] / n - v**2)
    by_rank = float((covariance**2 / np.maximum(spread, 1e-300)).max())
    kind, value = classify(linear, 1.0 if 1 - by_rank <= EXACT else by_rank)
    return kind, value**2


def _numberings(
    numberings: list[tuple[int, int]], up: HostArray, down: HostArray, ends: list[Any], n: int
) -> list[tuple[int, int]]:
    ends = sorted(ends, key=lambda end: int(end[0]))
    for (_, _, last), (_, first, _) in pairwise(ends):
        up, down = up + (first > last), down + (first < last)
    kept = direction(up, down, n)
    return [(j, sign) for (j, sign), found in zip(numberings, kept, strict=True) if found == sign]


def _pairs(pairs: Pairs, monotone: HostArray, distance: HostArray, rank_distance: HostArray, n: int) -> Pairs:
    # Of standardised columns the mean square of differences is 2 - 2 r.
    unexplained = 1 - (1 - distance / 2) ** 2
    kind = np.where(unexplained <= COPY, EQUAL, NEAR)
    kept = unexplained <= most_unexplained(n)
    # Ranks between 0 and 1 have the variance 1 / 12.
    same = np.zeros(kind.size, dtype=bool)
    same[monotone] = 12 * rank_distance / 2 <= RANKS
    kind[same & (kind != EQUAL)] = MONOTONE
    # A function that is none in all rows may still be a near copy, but its difference was not looked at.
    kept[monotone] = same[monotone] | (kind[monotone] == EQUAL)
    return Pairs(pairs.one, pairs.other, kind).where(kept)
