"""Clipping of columns with heavy tails, before they are standardised.

Well-behaved columns stay as they are. A column is heavy if its farthest value is many times as far from the
median as most others, or if its fourth moment is large; of a column that mostly has one value, such as a
count of a rare word, only the other values are looked at. Heavy columns are clipped at three standard
deviations of what is left of them. A rare value of a column that mostly has another one would still lie far
away in standard deviations: such a column is scaled down, so that it neither dominates distances nor
disappears. All of it is invariant to shift and scale.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from l1lsmi._arrays import Array, HostArray, asarray_like, in_float64, namespace, take_columns, to_numpy
from l1lsmi._clock import check_time
from l1lsmi._rows.kinds import RARE_DISTANCE
from l1lsmi._rows.parts import Part
from l1lsmi._rows.sparse import moments_of
from l1lsmi._rows.table import RowTable, Table, clip_to, is_large_sparse, sample_of
from l1lsmi._sparse import SparseMatrix

#: Columns that are judged at a time.
CHUNK_COLUMNS = 256
#: Heavy: the farthest value over the 90 % quantile of distances from the median.
FARTHEST = 8.0
#: Heavy: the fourth moment in standard units, and the same of a column that mostly has one value.
FOURTH_MOMENT = 20.0
TIED_FOURTH_MOMENT = 9.0
#: Columns with less in standard units are not heavy by either rule.
LEAST_FOURTH_MOMENT = 6.0
LEAST_FARTHEST = 5.0
#: Standard deviations at which heavy columns are clipped.
CLIP = 3.0
#: Clipping changes the standard deviation: so often both are computed.
N_ROUNDS = 20


class Tails(NamedTuple):
    """Limits of heavy columns, and factors by which they are scaled down."""

    columns: HostArray
    low: HostArray
    high: HostArray
    shrunk: HostArray


def clip_tails(table: RowTable, target: Any) -> RowTable:
    """The same table with columns clipped whose tails are heavy.

    Parameters
    ----------
    table : RowTable
    target : Target
        Has the weights of the rows.
    """
    sample = sample_of(table)
    suspects = table.varying
    if table.kinds is not None:
        suspects = suspects[~table.kinds.is_category[suspects]]
    if isinstance(sample.x, SparseMatrix):
        # A column that is 0 in all rows of the sample is not heavy there.
        suspects = suspects[sample.x.occupied()[suspects]]
    if not suspects.size:
        return table
    each = []
    for some in np.array_split(suspects, -(-suspects.size // CHUNK_COLUMNS)):
        check_time()
        values = to_numpy(take_columns(sample.x, some))
        tails = find_tails(_without_missing(np.array(values, dtype=np.float64)))
        each.append(tails._replace(columns=some[tails.columns]))
    found = Tails(*(np.concatenate(of_each) for of_each in zip(*each, strict=True)))
    columns = found.columns
    if not columns.size:
        return table
    limits = np.stack([np.full(table.n_columns, -np.inf), np.full(table.n_columns, np.inf)])
    limits[:, columns] = found.low, found.high
    if isinstance(table, Table) and is_large_sparse(table):
        mean, scale = moments_of(table.x, target.row_weights, limits)
        mean, scale = np.where(table.scale > 0, mean, table.mean), np.where(table.scale > 0, scale, 0.0)
        scale[columns] *= found.shrunk
        return replace(table, mean=mean, scale=scale, limits=limits)
    fold_of_row = np.zeros((1, table.n_rows), dtype=np.intp)
    parts = table.parts(target, fold_of_row, table.max_part_rows)
    middle, half = found.low / 2 + found.high / 2, found.high / 2 - found.low / 2
    arguments = (columns, limits[:, columns], middle, half)
    weight, total, squares = parts.sum(_clipped_sums, *arguments, columns=columns)
    weight = np.maximum(weight, 1e-300)
    mean_of_units = total / weight
    spread = np.sqrt(np.maximum(squares / weight - mean_of_units**2, 0.0))
    mean, scale = table.mean.copy(), table.scale.copy()
    mean[columns] = middle + half * mean_of_units
    scale[columns] = np.where(spread > 0, half * spread * found.shrunk, 0.0)
    return replace(table, mean=mean, scale=scale, limits=limits)  # type: ignore[type-var]


def _clipped_sums(
    part: Part, columns: HostArray, limits: HostArray, middle: HostArray, half: HostArray
) -> tuple[HostArray, HostArray, HostArray]:
    """Weights, sums and sums of squares of clipped columns, mapped to [-1, 1] by their limits."""
    table = part.table
    places = columns if table.columns is None else np.searchsorted(table.columns, columns)
    x: Array = clip_to(in_float64(take_columns(table.x, places)), limits)
    z = (x - asarray_like(middle, x)) / asarray_like(half, x)
    xp, weights = namespace(z), part.target.row_weights
    n_rows = np.array(float(table.n_rows) if weights is None else float(weights.sum()))
    if table.kinds is not None:
        present = ~xp.isnan(z)
        z = xp.where(present, z, xp.zeros_like(z))
        counted = xp.astype(present, z.dtype)
        if weights is not None:
            counted = counted * asarray_like(weights, z)[:, None]
        n_rows = np.asarray(to_numpy(xp.sum(counted, axis=0)))
    weighted = z if weights is None else z * asarray_like(weights, z)[:, None]
    sums = to_numpy(xp.sum(weighted, axis=0)), to_numpy(xp.sum(weighted * z, axis=0))
    return n_rows, np.asarray(sums[0]), np.asarray(sums[1])


def _without_missing(sample: HostArray) -> HostArray:
    """Missing values replaced by the median of the column, in place: whether it is heavy is then the same."""
    missing = np.isnan(sample)
    for j in np.flatnonzero(missing.any(axis=0)):
        present = sample[~missing[:, j], j]
        sample[missing[:, j], j] = np.median(present) if present.size else 0.0
    return sample


def find_tails(sample: HostArray) -> Tails:
    """Columns of a sample with heavy tails, none of which is constant in the whole table.

    Parameters
    ----------
    sample : numpy.ndarray of shape (n, m)
    """
    suspects = np.flatnonzero(_may_be_heavy(sample))
    # Half of everything: the difference of two large numbers must not overflow.
    x = sample[:, suspects] / 2
    median = np.median(x, axis=0)
    distance = np.sort(np.abs(x - median), axis=0)
    n_tied = (distance == 0).sum(axis=0)
    share = 1 - n_tied / len(x)
    unit = np.where(share > 0, _quantile(distance, n_tied, 0.5), 1.0)
    # Beyond a million units it does not matter how far a value is.
    most = 1e6 * np.minimum(unit, 1e300)
    u = np.clip(x - median, -most, most) / unit
    tied = (share < 0.5) & (share > 0)
    far = distance[-1:].max(axis=0, initial=0.0) / FARTHEST > _quantile(distance, n_tied, 0.9)
    far |= _fourth_moment(u) > np.where(tied, TIED_FOURTH_MOMENT, FOURTH_MOMENT)
    heavy = np.flatnonzero(far & (share > 0))
    u, tied, share = u[:, heavy], tied[heavy], share[heavy]
    low, high = _clip_limits(u, FARTHEST * (_quantile(distance, n_tied, 0.9) / unit)[heavy])
    # Half of the values off the common one are never clipped.
    low, high = np.where(tied, np.minimum(low, -1.0), low), np.where(tied, np.maximum(high, 1.0), high)
    odds = np.sqrt((1 - share) / share)
    shrunk = np.where(tied, np.maximum(1.0, odds / RARE_DISTANCE), 1.0)
    middle, back = median[heavy], unit[heavy]
    return Tails(suspects[heavy], 2 * (middle + back * low), 2 * (middle + back * high), shrunk)


def _may_be_heavy(x: HostArray) -> HostArray:
    """Quick rules that every heavy column passes."""
    z = _in_standard_units(x)
    farthest = np.abs(z).max(axis=0, initial=0.0)
    return np.asarray((((z * z) ** 2).mean(axis=0) > LEAST_FOURTH_MOMENT) | (farthest > LEAST_FARTHEST))


def _fourth_moment(x: HostArray) -> HostArray:
    return np.asarray((_in_standard_units(x) ** 4).mean(axis=0))


def _in_standard_units(x: HostArray) -> HostArray:
    # A power of 2 that brings a column to order 1 is exact, and nothing overflows.
    powers = np.frexp(np.abs(x).max(axis=0, initial=0.0))[1]
    z = x * np.ldexp(1.0, -np.clip(powers, -1000, 1000))
    z -= z.mean(axis=0)
    deviation = z.std(axis=0)
    z /= np.where(deviation > 0, deviation, 1.0)
    return np.asarray(z)


def _quantile(distance: HostArray, n_tied: HostArray, share: float) -> HostArray:
    """Quantile of the distances that are not 0, which are sorted."""
    n = len(distance)
    places = np.clip(np.floor(n_tied + share * np.maximum(n - n_tied - 1, 0)).astype(np.intp), 0, n - 1)
    return np.asarray(np.take_along_axis(distance, places[None], axis=0)[0])


def _clip_limits(u: HostArray, start: HostArray) -> tuple[HostArray, HostArray]:
    """Limits at three standard deviations of what is left between them, no wider than at the start."""
    low, high = -start, start
    w = np.clip(u, low, high)
    for _ in range(N_ROUNDS):
        mean, deviation = w.mean(axis=0), w.std(axis=0)
        low, high = np.maximum(low, mean - CLIP * deviation), np.minimum(high, mean + CLIP * deviation)
        w = np.clip(u, low, high)
    return low, high
