"""A feature matrix that hands out standardised pieces of itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from l1lsmi._arrays import (
    Array,
    HostArray,
    empty,
    free_device_bytes,
    gather,
    gather_each,
    in_float64,
    is_foreign,
    like,
    matching,
    namespace,
    to_numpy,
)

#: Bytes that are kept of the rows unless told otherwise.
DEFAULT_KEPT = 2**28
#: The same on a device, as a share of its free memory.
DEVICE_SHARE = 0.3
#: Bytes that a standardised copy of a wide table may take unless told otherwise.
DEFAULT_SHARED = 2**29
#: What rows are worked on in.
PRECISIONS = ("float64", "float32")
#: Numbers that are on their way from float64 to float32 at a time.
ON_THE_WAY = 2**18
#: The same on a device, where many small steps cost more than memory.
DEVICE_ON_THE_WAY = 2**25


def column_statistics(x: Array) -> tuple[HostArray, HostArray]:
    """Mean and standard deviation of every column, safe from overflow.

    Columns are first mapped to [-1, 1] by their own range, so that neither
    values of 1e150 nor offsets of 1e8 cost accuracy. A column whose range is
    within rounding error of zero gets a standard deviation of exactly 0.

    Parameters
    ----------
    x : array of shape (n, m)

    Returns
    -------
    mean, scale : numpy.ndarray of shape (m,)
    """
    xp = namespace(x)
    low = to_numpy(xp.min(x, axis=0)).astype(np.float64)
    high = to_numpy(xp.max(x, axis=0)).astype(np.float64)
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    constant = is_constant(low, high)
    half = np.where(constant, 1.0, half)
    shift, unit = like(middle, x), like(half, x)
    total, squares = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for some in _row_slices(x, 100_000_000 if is_foreign(x) else 250_000):
        z = (xp.astype(x[some, :], xp.float64) - shift) / unit
        total += to_numpy(xp.sum(z, axis=0))
        squares += to_numpy(xp.sum(z * z, axis=0))
    mean = total / x.shape[0]
    deviation = np.sqrt(np.maximum(squares / x.shape[0] - mean**2, 0.0))
    return middle + half * mean, np.where(constant, 0.0, half * deviation)


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
        values *= like(power, values)
        mean, scale = mean * power, scale * power
    values -= like(mean, values)
    values /= like(scale, values)
    return values


@dataclass(frozen=True)
class Means:
    """What may be spent on working with rows.

    Attributes
    ----------
    memory_limit : int or None
        Bytes for everything beside the feature matrix itself; None is a quarter of a gigabyte for what
        is kept of the rows, and on a device a share of its free memory.
    n_jobs : int
        Threads that parts of the rows are spread over.
    cluster : object or None
        Where tasks can run: ``in_order(function, problem, items)`` yields the results of
        ``function(problem, item)``. Stays behind when a table travels.
    precision : {"float64", "float32"}
        What standardised values, distances and kernels are in; sums over rows are in float64 either way.
    """

    memory_limit: int | None = None
    n_jobs: int = 1
    cluster: Any = None
    precision: str = "float64"

    def __reduce__(self) -> tuple[Any, ...]:
        return Means, (self.memory_limit, self.n_jobs, None, self.precision)

    @property
    def number_bytes(self) -> int:
        """What a number takes."""
        return int(np.dtype(self.precision).itemsize)

    def shared_bytes(self) -> int:
        """What a standardised copy of all rows, which every step shares, may take."""
        return DEFAULT_SHARED if self.memory_limit is None else self.memory_limit // 4

    def kept_bytes(self, x: Array = None) -> int:
        """What may be kept of the rows from one step to the next; of a device, a share of what is free."""
        # A step needs as much again, and threads have draws of their own.
        if self.memory_limit is not None:
            return self.memory_limit // (2 * self.n_jobs)
        free = None if x is None else free_device_bytes(x)
        return DEFAULT_KEPT if free is None else int(DEVICE_SHARE * free)


class _Once:
    """A value that is worked out once, by whichever thread is first; it stays behind when it travels."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._found: tuple[Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _Once, ()

    def get(self, work_out: Callable[[], Any]) -> Any:
        """The value; others wait while it is worked out."""
        if self._found is None:
            with self._lock:
                if self._found is None:
                    self._found = (work_out(),)
        return self._found[0]


@dataclass(frozen=True)
class Table:
    """A feature matrix that hands out standardised pieces of itself.

    Attributes
    ----------
    x : array of shape (n, m)
        The raw values, in any array API library.
    mean, scale : numpy.ndarray of shape (m,)
        Column means and standard deviations; a scale of 0 marks a constant column.
    means : Means
        What may be spent on working with it.
    held : numpy.ndarray of int or None
        The columns that ``x`` has, in order; None is all.
    rough : Table or None
        The table that this one is in float64, whose standardised copy it shares.
    """

    x: Array
    mean: HostArray
    scale: HostArray
    means: Means = Means()
    held: HostArray | None = None
    rough: Table | None = None
    _standardized: _Once = field(default_factory=_Once, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, x: Array, means: Means | None = None) -> Table:
        """Measure the columns of ``x`` and wrap it."""
        mean, scale = column_statistics(x)
        return cls(x, mean, scale, means or Means())

    def rows_of(self, rows: HostArray) -> Table:
        """Some rows as a table of their own, standardised like the whole."""
        return replace(self, x=gather(self.x, rows, None), rough=None)

    def slice_of(self, start: int, stop: int) -> Table:
        """Consecutive rows, not copied."""
        return replace(self, x=self.x[start:stop, :], rough=None)

    @cached_property
    def exact(self) -> Table:
        """The same table for what cannot do with less than float64."""
        if self.means.precision == "float64":
            return self
        return replace(self, means=replace(self.means, precision="float64"), rough=self)

    def copied_standardized(self) -> Table:
        """The same table made of a standardised copy in the precision of the work, for another memory."""
        z = self.take(np.arange(self.n_rows), np.arange(self.n_columns))
        return replace(self, x=z, mean=np.zeros_like(self.mean), scale=np.where(self.scale > 0, 1.0, 0.0))

    @property
    def dtype(self) -> Any:
        """What standardised values are in, in the words of the library."""
        return getattr(namespace(self.x), self.means.precision)

    def place(self, values: HostArray) -> Array:
        """Numbers for work with standardised values: in their library, on their device, as precise."""
        return like(values, self.x, dtype=self.dtype)

    @property
    def n_rows(self) -> int:
        return int(self.x.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.mean.size)

    @property
    def varying(self) -> HostArray:
        """Indices of the columns that are not constant."""
        return np.flatnonzero(self.scale > 0)

    @property
    def standardized(self) -> HostArray | None:
        """All rows and columns, standardised once for everybody, of a NumPy array that is not too large."""
        if self.rough is not None:
            return self.rough.standardized
        found: HostArray | None = self._standardized.get(self._standardize)
        return found

    def _standardize(self) -> HostArray | None:
        if is_foreign(self.x) or self.held is not None:
            return None
        if self.n_rows * self.n_columns > self.means.shared_bytes() // self.means.number_bytes:
            return None
        if self.means.precision == "float64":
            z = np.array(self.x, dtype=np.float64, order="C")
            for some in _row_slices(z, 250_000):
                standardize(z[some], self.mean, self.scale)
            return z
        return np.asarray(self.take(np.arange(self.n_rows), np.arange(self.n_columns)))

    def take(self, rows: HostArray, columns: HostArray) -> Array:
        """Standardised values of some rows and columns, as a new array in the precision of the table."""
        places = columns if self.held is None else np.searchsorted(self.held, columns)
        whole = places.size == self.x.shape[1] and np.array_equal(places, np.arange(places.size))
        picked = None if whole else places
        mean, scale = self.mean[columns], self.scale[columns]
        if self.means.precision == "float64":
            return standardize(in_float64(gather(self.x, rows, picked)), mean, scale)
        # The mean leaves in float64, a few rows at a time: an offset must not cost digits, nor much memory.
        z = empty((rows.size, places.size), self.x, self.dtype)
        step = max(1, (DEVICE_ON_THE_WAY if is_foreign(self.x) else ON_THE_WAY) // max(1, places.size))
        for start in range(0, rows.size, step):
            stop = min(start + step, rows.size)
            some = in_float64(gather(self.x, rows[start:stop], picked))
            z[start:stop, :] = matching(standardize(some, mean, scale), z)
        return z

    def take_each(self, rows: HostArray, columns: HostArray) -> Array:
        """The same several times: rows (r, n) and columns (r, w) give an array (r, n, w)."""
        z = in_float64(gather_each(self.x, rows, columns))
        z -= like(self.mean[columns], z)[:, None, :]
        z /= like(np.where(self.scale > 0, self.scale, 1.0)[columns], z)[:, None, :]
        return namespace(z).astype(z, self.dtype, copy=False)


def merged_statistics(
    size: int, one: tuple[HostArray, HostArray], other_size: int, other: tuple[HostArray, HostArray]
) -> tuple[HostArray, HostArray]:
    """Mean and standard deviation of the columns of two tables together, from those of each.

    By lengths of vectors instead of squares, so that large values do not overflow.
    """
    share = other_size / (size + other_size)
    gap = other[0] / 2 - one[0] / 2  # half: the difference of two large numbers may overflow
    mean = one[0] + 2 * share * gap
    spread = np.hypot(np.sqrt(1 - share) * one[1], np.sqrt(share) * other[1])
    return mean, np.hypot(spread, 2 * np.sqrt(share * (1 - share)) * gap)


def _row_slices(x: Array, elements: int) -> Iterator[slice]:
    """Cut the rows so that a temporary copy of each piece stays small."""
    step = max(1, elements // max(1, int(x.shape[1])))
    for start in range(0, int(x.shape[0]), step):
        yield slice(start, min(start + step, int(x.shape[0])))
