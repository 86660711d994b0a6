"""Columns that alone give away the target.

Of a numeric target by their correlation or rank correlation with it; of classes by the share of their
variance that is between the classes, or because no two classes share a range of values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.correlation import class_sums
from l1lsmi._numerics.leaks.sample import (
    CHANCE,
    Sample,
    chance_of_correlation,
    log_chance_of_order,
    ranks,
    to_unit,
)

#: Squared correlation with the target, or share of variance between classes. Of 34 real tables no column
#: has more than 0.95; a copy with noise, of correlation 0.999, has 0.998 (benchmarks/leaks.py).
NEAR = 0.99
#: The same in a sample, before it is computed on all rows.
NEAR_IN_SAMPLE = 0.985
#: A column with less of its variance unexplained is a function of the target.
EXACT = 1e-7
#: Rows that may not be the cause: without them the correlation still has to be this high.
N_LEFT_OUT = 5
WITHOUT_FEW = 0.9
#: Rank correlation that a column needs beside its correlation.
LEAST_RANK = 0.5


class TargetLeak(NamedTuple):
    """A column that gives away the target.

    Attributes
    ----------
    column : int
    kind : {"copy", "function", "near", "ranges"}
        "ranges" where the ranges of values of the classes do not overlap.
    value : float
        Absolute correlation with a numeric target, or share of the variance between classes.
    target : int
        Which one of several targets.
    """

    column: int
    kind: str
    value: float
    target: int = 0


def classify(linear: float, monotone: float) -> tuple[str, float]:
    """Kind and value of a leak from squared correlations with the values and with their ranks."""
    if 1 - linear <= EXACT:
        return "copy", 1.0
    if 1 - monotone <= EXACT:
        return "function", 1.0
    return "near", float(np.sqrt(max(linear, monotone)))


def leaks_in(sample: Sample) -> list[TargetLeak]:
    """Columns of a sample that give away its target, or one of its targets."""
    limit = NEAR if sample.complete else NEAR_IN_SAMPLE
    found: list[TargetLeak] = []
    samples = [replace(sample, target=one) for one in sample.target.each()]
    for columns, z in sample.chunks(sample.columns):
        for number, one in enumerate(samples):
            leaks = (_of_classes if one.target.is_classification else _of_values)(one, columns, z, limit)
            found += [leak._replace(target=number) for leak in leaks]
    return found


def _of_classes(sample: Sample, columns: HostArray, z: HostArray, limit: float) -> list[TargetLeak]:
    between, n_classes = between_classes(z, sample)
    n = sample.n_rows
    # Classes with single rows explain some of any column.
    fair = 1 - (1 - between) * (n - 1) / max(n - n_classes, 1)
    found = []
    for place in np.flatnonzero(fair >= limit):
        likely = chance_of_correlation(between[place], n, n_classes) * sample.columns.size >= CHANCE
        if likely or _may_be_by_chance(z[:, place], sample, n_classes):
            continue
        exact = 1 - between[place] <= EXACT
        if exact or _between_without_few(z[:, place], sample) >= WITHOUT_FEW:
            found.append(
                TargetLeak(int(columns[place]), "function" if exact else "near", float(between[place]))
            )
    known = {leak.column for leak in found}
    counts = np.bincount(sample.target.codes)
    if _are_likely_apart(counts[counts > 0], sample.columns.size):
        return found
    apart = are_apart(*ranges_of_classes(z, sample.target.codes, counts.size))
    return found + [
        TargetLeak(int(columns[place]), "ranges", float(between[place]))
        for place in np.flatnonzero(apart)
        if int(columns[place]) not in known
    ]


def _are_likely_apart(counts: HostArray, n_columns: int) -> bool:
    """Whether the values of classes with so many rows could be apart by chance, in one of all columns."""
    log_chance = gammaln(counts + 1).sum() + gammaln(counts.size + 1) - gammaln(counts.sum() + 1)
    return bool(log_chance + np.log(n_columns) >= np.log(CHANCE))


def ranges_of_classes(z: HostArray, codes: HostArray, n_classes: int) -> tuple[HostArray, HostArray]:
    """Lowest and highest values of every class, (classes, columns) each; infinite of classes without rows."""
    low, high = np.full((n_classes, z.shape[1]), np.inf), np.full((n_classes, z.shape[1]), -np.inf)
    for code in np.unique(codes).tolist():
        some = z[codes == code]
        low[code], high[code] = some.min(axis=0), some.max(axis=0)
    return low, high


def are_apart(low: HostArray, high: HostArray) -> HostArray:
    """Columns in which no two classes share a range of values."""
    order = np.argsort(low, axis=0, kind="stable")
    low, high = np.take_along_axis(low, order, axis=0), np.take_along_axis(high, order, axis=0)
    return np.asarray((high[:-1] < low[1:]).all(axis=0))


def _may_be_by_chance(z: HostArray, sample: Sample, n_classes: int) -> bool:
    """Whether the values of one of all columns, shuffled, could be so ordered by chance: it has few rows."""
    # Which class has which value does not matter.
    log_chance = log_chance_of_order(z[:, None])[0] + gammaln(n_classes + 1)
    return bool(log_chance + np.log(sample.columns.size) >= np.log(CHANCE))


def between_classes(z: HostArray, sample: Sample) -> tuple[HostArray, int]:
    """Share of the variance of columns of length 1 that is between the classes, and the number of classes."""
    sums, counts = class_sums(z, sample.target)
    there = counts > 0
    return np.asarray((sums[there] ** 2 / counts[there, None]).sum(axis=0)), int(there.sum())


def _between_without_few(z: HostArray, sample: Sample) -> float:
    kept = np.sort(np.argsort(-np.abs(z), kind="stable")[N_LEFT_OUT:])
    left = to_unit(z[kept, None].copy())
    codes = sample.target.codes[kept]
    sums, counts = np.bincount(codes, left[:, 0]), np.bincount(codes)
    return float((sums[counts > 0] ** 2 / counts[counts > 0]).sum())


def _of_values(sample: Sample, columns: HostArray, z: HostArray, limit: float) -> list[TargetLeak]:
    targets = to_unit(sample.target.columns.astype(np.float64))
    n, found = sample.n_rows, {}
    for y in targets.T:
        squared = (y @ z) ** 2
        suspects = np.flatnonzero((squared >= limit) | (_concordance(z, y) >= 0.9))
        if not suspects.size:
            continue
        by_rank = (to_unit(ranks(y[:, None]))[:, 0] @ to_unit(ranks(z[:, suspects]))) ** 2
        for place, monotone in zip(suspects.tolist(), by_rank.tolist(), strict=True):
            linear = float(squared[place])
            if not same_without_few(z[:, place], y, monotone):
                linear = 0.0
            best = max(linear, monotone)
            likely = float(chance_of_correlation(np.array(best), n)) * sample.columns.size >= CHANCE
            if best >= limit and not likely and not _may_be_by_chance(z[:, place], sample, 2):
                kind, value = classify(linear, monotone)
                found[int(columns[place])] = TargetLeak(int(columns[place]), kind, value)
    return list(found.values())


def _concordance(z: HostArray, y: HostArray) -> HostArray:
    """How far columns are ordered like a target, between -1 and 1 and without sign: a quick look."""
    order = np.argsort(y, kind="stable")
    lag = max(1, y.size // 4)
    differ = y[order[lag:]] > y[order[:-lag]]
    above, below = order[lag:][differ], order[:-lag][differ]
    if not above.size:
        return np.zeros(z.shape[1])
    high, low = z[above], z[below]
    return np.asarray(np.abs(np.mean(high > low, axis=0) - np.mean(high < low, axis=0)))


def same_without_few(one: HostArray, other: HostArray, by_rank: float) -> bool:
    """Whether two columns of length 1 are correlated for more reasons than a few outlying rows."""
    if one.size < 2 * N_LEFT_OUT:
        return False
    kept = np.argsort(-(one**2 + other**2), kind="stable")[N_LEFT_OUT:]
    left = to_unit(np.stack([one[kept], other[kept]], axis=1))
    if abs(float(left[:, 0] @ left[:, 1])) < WITHOUT_FEW:
        return False
    if by_rank >= LEAST_RANK**2:
        return True
    # Where most rows have one value, noise leaves nothing of the ranks.
    ties = max(np.unique(column, return_counts=True)[1].max() for column in (one, other))
    return bool(ties > one.size / 2)
