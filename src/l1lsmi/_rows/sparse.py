"""Columns of a sparse matrix: statistics from the non-zeros, and standardised columns made when needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._sparse import SparseMatrix

#: Values of a standardised piece at most, where products are with many columns at a time.
WIDE_VALUES = 2**24


def ranges_of(x: SparseMatrix) -> tuple[HostArray, HostArray]:
    """Smallest and largest value of every column, zeros included."""
    n_rows, n_columns = x.shape
    low, high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
    n_entries = np.zeros(n_columns, dtype=np.intp)
    for columns in x.chunks():
        _, across, values = x.entries(columns)
        np.minimum.at(low, columns[across], values)
        np.maximum.at(high, columns[across], values)
        n_entries[columns] = np.bincount(across, minlength=columns.size)
    with_zeros = n_entries < n_rows
    low[with_zeros] = np.minimum(low[with_zeros], 0.0)
    high[with_zeros] = np.maximum(high[with_zeros], 0.0)
    return low, high


def moments_of(
    x: SparseMatrix, row_weights: HostArray | None, limits: HostArray | None = None
) -> tuple[HostArray, HostArray]:
    """Mean and standard deviation of every column, clipped to limits, (2, m), from its non-zeros."""
    mean, deviation = np.empty(x.shape[1]), np.empty(x.shape[1])
    for columns in x.chunks():
        of_chunk = None if limits is None else limits[:, columns]
        mean[columns], deviation[columns] = _moments(x, columns, row_weights, of_chunk)
    return mean, deviation


def _moments(
    x: SparseMatrix, columns: HostArray, row_weights: HostArray | None, limits: HostArray | None
) -> tuple[HostArray, HostArray]:
    rows, across, values = x.entries(columns)
    values, zero = values.astype(np.float64), np.zeros(columns.size)
    if limits is not None:
        values = np.clip(values, limits[0, across], limits[1, across])
        zero = np.clip(zero, limits[0], limits[1])
    # Divided by the largest one of a column first, so that nothing overflows.
    largest = np.abs(zero)
    np.maximum.at(largest, across, np.abs(values))
    unit = np.where(largest > 0, largest, 1.0)
    values, zero = values / unit[across], zero / unit
    weights = None if row_weights is None else row_weights[rows]
    size = float(x.shape[0]) if row_weights is None else float(row_weights.sum())

    def sums(of_entries: HostArray) -> HostArray:
        weighted = of_entries if weights is None else weights * of_entries
        return np.bincount(across, weighted, minlength=columns.size)

    n_zero = size - sums(np.ones(values.size))
    mean = (sums(values) + n_zero * zero) / size
    squares = sums((values - mean[across]) ** 2) + n_zero * (zero - mean) ** 2
    return unit * mean, unit * np.sqrt(squares / size)


class StandardizedColumns:
    """Standardised rows of a sparse table that are made when columns are asked for, and not kept.

    It stands for a dense array where products are with some columns at a time: ``points[:, some]``.

    Parameters
    ----------
    take : callable
        ``take(rows, columns)`` gives standardised values.
    rows : numpy.ndarray of int
    columns : numpy.ndarray of int
    dtype : data type
    """

    def __init__(self, take: Callable[..., Any], rows: HostArray, columns: HostArray, dtype: Any) -> None:
        self._take = take
        self._rows = rows
        self._columns = columns
        self.dtype = np.dtype(dtype)

    @property
    def shape(self) -> tuple[int, int]:
        return self._rows.size, self._columns.size

    def __getitem__(self, key: Any) -> Any:
        """Some rows, not made yet; or some rows and columns as an array."""
        if not isinstance(key, tuple):
            return StandardizedColumns(self._take, self._rows[key], self._columns, self.dtype)
        rows, columns = key
        return self._take(self._rows[rows], self._columns[columns])

    def take(self, columns: HostArray, axis: int) -> StandardizedColumns:
        """Some columns, not made yet."""
        return StandardizedColumns(self._take, self._rows, self._columns[columns], self.dtype)
