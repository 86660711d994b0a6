"""Means and standard deviations of columns, and columns standardised by them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from l1lsmi._arrays import (
    Array,
    HostArray,
    asarray_like,
    is_non_numpy,
    namespace,
    to_numpy,
)
from l1lsmi._rows.sparse import moments_of, ranges_of
from l1lsmi._sparse import SparseMatrix

#: Numbers that are converted from float64 to float32 at a time.
BUFFER = 2**18


#: The same on a device, where many small steps cost more than memory.
DEVICE_BUFFER = 2**25


def column_statistics(x: Array, row_weights: HostArray | None = None) -> tuple[HostArray, HostArray]:
    """Mean and standard deviation of every column, safe from overflow.

    Columns are first mapped to [-1, 1] by their own range, so that neither
    values near the largest float64 nor offsets of 1e8 cost accuracy. A column whose range is
    within rounding error of zero gets a standard deviation of exactly 0. NaN is missing, and not counted.

    Parameters
    ----------
    x : array of shape (n, m)
    row_weights : numpy.ndarray of shape (n,) or None
        None counts every row once.

    Returns
    -------
    mean, scale : numpy.ndarray of shape (m,)
    """
    if isinstance(x, SparseMatrix):
        return _sparse_statistics(x, row_weights)
    return _dense_statistics(x, row_weights, int(x.shape[1]))


def _sparse_statistics(x: SparseMatrix, row_weights: HostArray | None) -> tuple[HostArray, HostArray]:
    if x.is_large:
        mean, scale = moments_of(x, row_weights)
        return mean, np.where(is_constant(*ranges_of(x)), 0.0, scale)
    # Sums in the order of those of a dense array, so that they are the same.
    found = [_dense_statistics(piece, row_weights, x.shape[1]) for _, piece in x.pieces()]
    return np.concatenate([mean for mean, _ in found]), np.concatenate([scale for _, scale in found])


def _dense_statistics(x: Array, row_weights: HostArray | None, n_columns: int) -> tuple[HostArray, HostArray]:
    """Of some columns, with sums over as many rows at a time as for all of the ``n_columns``."""
    xp = namespace(x)
    weights = None if row_weights is None else asarray_like(row_weights, x, dtype=xp.float64)[:, None]
    low, high = (to_numpy(edge(x, axis=0)).astype(np.float64) for edge in (xp.min, xp.max))
    has_missing = bool(np.isnan(low).any())
    if has_missing:
        low, high = _ranges_without_missing(x)
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    constant = is_constant(low, high)
    half = np.where(constant, 1.0, half)
    shift, unit = asarray_like(middle, x), asarray_like(half, x)
    total, squares, counts = np.zeros(x.shape[1]), np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for some in _row_slices(x, 100_000_000 if is_non_numpy(x) else 250_000, n_columns):
        z = (xp.astype(x[some, :], xp.float64) - shift) / unit
        if has_missing:
            present = ~xp.isnan(z)
            z = xp.where(present, z, xp.zeros_like(z))
            present = xp.astype(present, xp.float64)
            counts += to_numpy(xp.sum(present if weights is None else weights[some, :] * present, axis=0))
        weighted = z if weights is None else weights[some, :] * z
        total += to_numpy(xp.sum(weighted, axis=0))
        squares += to_numpy(xp.sum(weighted * z, axis=0))
    n_rows = x.shape[0] if row_weights is None else float(row_weights.sum())
    size = np.maximum(counts, 1e-300) if has_missing else n_rows
    mean = total / size
    deviation = np.sqrt(np.maximum(squares / size - mean**2, 0.0))
    return middle + half * mean, np.where(constant, 0.0, half * deviation)


def _ranges_without_missing(x: Array) -> tuple[HostArray, HostArray]:
    """Smallest and largest value of every column; 0 where all are missing."""
    xp = namespace(x)
    gone = xp.isnan(x)
    ends = []
    for edge, fill in ((xp.min, np.inf), (xp.max, -np.inf)):
        filled = xp.where(gone, xp.full_like(x, fill), x)
        ends.append(to_numpy(edge(filled, axis=0)).astype(np.float64))
    empty_columns = ends[0] > ends[1]
    return np.where(empty_columns, 0.0, ends[0]), np.where(empty_columns, 0.0, ends[1])


def is_constant(low: HostArray, high: HostArray) -> HostArray:
    """Tell columns whose range is within rounding error of zero."""
    half = high / 2 - low / 2
    return np.asarray(half <= 4 * np.finfo(np.float64).eps * np.maximum(np.abs(low), np.abs(high)))


def standardize(values: Array, mean: HostArray, scale: HostArray) -> Array:
    """Subtract the mean and divide by the scale, column by column, in place; a scale of 0 is 1.

    Columns near the limits of floating point are brought to order 1 first, by a power of 2, which
    is exact: the difference of two large numbers must not overflow.
    """
    scale = np.where(scale > 0, scale, 1.0)
    exponents = np.frexp(scale)[1]
    if np.abs(exponents).max(initial=0) > 900:
        power = np.ldexp(1.0, -np.clip(exponents, -1000, 1000))
        values *= asarray_like(power, values)
        mean, scale = mean * power, scale * power
    values -= asarray_like(mean, values)
    values /= asarray_like(scale, values)
    return values


def merged_statistics(
    size: float | HostArray,
    one: tuple[HostArray, HostArray],
    other_size: float | HostArray,
    other: tuple[HostArray, HostArray],
) -> tuple[HostArray, HostArray]:
    """Mean and standard deviation of the columns of two tables stacked, from those of each.

    By lengths of vectors instead of squares, so that large values do not overflow. Sizes are the weights of
    the rows, or of those in which each column has a value.
    """
    share = other_size / np.maximum(size + other_size, 1e-300)
    gap = other[0] / 2 - one[0] / 2  # half: the difference of two large numbers may overflow
    mean = one[0] + 2 * share * gap
    spread = np.hypot(np.sqrt(1 - share) * one[1], np.sqrt(share) * other[1])
    return mean, np.hypot(spread, 2 * np.sqrt(share * (1 - share)) * gap)


def _row_slices(x: Array, elements: int, n_columns: int) -> Iterator[slice]:
    """Cut the rows so that a temporary copy of each piece of so many columns stays small."""
    step = max(1, elements // max(1, n_columns))
    for start in range(0, int(x.shape[0]), step):
        yield slice(start, min(start + step, int(x.shape[0])))
