"""Columns that only number the rows, where the target depends on their order."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.leaks.sample import CHANCE, Sample, chance_of_correlation, ranks, to_unit
from l1lsmi._numerics.target import Target

#: Share of steps from row to row that must go up, the others being level: two rows may have one time.
STRICT = 0.9
#: Share of the target that neighbouring rows must explain at least, and the same in standard deviations of
#: what chance explains.
LEAST_EXPLAINED = 0.1
LEAST_Z = 3.5
#: Share that the number of the row must explain, and how likely it may be to do so by chance.
LEAST_TREND = 0.03
TREND_CHANCE = 1e-4
#: Rows of a sample that are looked at first.
FIRST_ROWS = 16


def monotone_in(sample: Sample) -> HostArray:
    """Columns that go up, or down, from row to row of a sample: +1 or -1 of every column, 0 of others."""
    found = np.zeros(int(sample.columns.max(initial=-1)) + 1, dtype=int)
    n = sample.n_rows
    if np.log(2 * sample.columns.size) - gammaln(n + 1) >= np.log(CHANCE):
        return found
    first = sample.table.slice_of(0, min(FIRST_ROWS, n))
    head = Sample(first, sample.target.rows_of(slice(0, first.n_rows)), sample.columns, False)
    for columns, z in head.chunks(sample.columns):
        up, down = steps(z)
        left = columns[(up == 0) | (down == 0)]
        if left.size:
            found[left] = direction(*steps(sample.unit(left)), n)
    return found


def steps(z: HostArray) -> tuple[HostArray, HostArray]:
    """Number of steps up, and down, from row to row of every column."""
    return (z[1:] > z[:-1]).sum(axis=0), (z[1:] < z[:-1]).sum(axis=0)


def direction(up: HostArray, down: HostArray, n_rows: int) -> HostArray:
    """+1 for columns that go up from row to row, -1 for those that go down, 0 for others."""
    enough = STRICT * (n_rows - 1)
    return np.where((down == 0) & (up >= enough), 1, np.where((up == 0) & (down >= enough), -1, 0))


def depends_on_order(target: Target) -> bool:
    """Whether the number of a row tells something about its target.

    Neighbouring rows are more alike than any two, or the target goes up or down with the number of the row.
    """
    numbers = to_unit(np.arange(target.n_rows, dtype=np.float64)[:, None])[:, 0]
    return any(
        _classes_depend(one, numbers)
        if one.values is None
        else any(_values_depend(y, numbers) for y in one.columns.T)
        for one in target.each()
    )


def _values_depend(y: HostArray, numbers: HostArray) -> bool:
    n = y.size
    v = to_unit(ranks(y[:, None]))[:, 0]
    # Of independent rows the mean square of differences is twice the variance (von Neumann).
    alike = 1 - float((np.diff(v) ** 2).sum()) * n / (n - 1) / 2
    trend = float(v @ numbers) ** 2
    return _is_much(alike, float(1 / np.sqrt(n))) or _is_a_trend(trend, n, 2)


def _is_much(explained: float, deviation: float) -> bool:
    return explained >= max(LEAST_EXPLAINED, LEAST_Z * deviation)


def _is_a_trend(explained: float, n_rows: int, n_groups: int) -> bool:
    chance = float(chance_of_correlation(np.array(explained), n_rows, n_groups))
    return explained >= LEAST_TREND and chance < TREND_CHANCE


def _classes_depend(target: Target, numbers: HostArray) -> bool:
    n, counts = target.n_rows, np.bincount(target.codes)
    share = counts / n
    second, third = float((share**2).sum()), float((share**3).sum())
    if second >= 1:
        return False
    # Joins of equal classes, and their variance when rows are shuffled.
    alike = 1 - float(np.mean(np.diff(target.codes) != 0)) / (1 - second)
    deviation = float(np.sqrt((second - 2 * third + second**2) / n)) / (1 - second)
    if _is_much(alike, deviation):
        return True
    there = counts > 0
    sums = np.bincount(target.codes, numbers)
    trend = float((sums[there] ** 2 / counts[there]).sum())
    return _is_a_trend(trend, n, int(there.sum()))
