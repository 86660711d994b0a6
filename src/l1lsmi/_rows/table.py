"""A feature matrix that hands out standardised pieces of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any, ClassVar, Protocol

import numpy as np

from l1lsmi._arrays import (
    Array,
    HostArray,
    asarray_like,
    astype_like,
    empty,
    free_device_bytes,
    gather,
    gather_batch,
    in_float64,
    is_non_numpy,
    namespace,
    take_rows,
)
from l1lsmi._rows.kinds import Coordinates, Kinds, repeated, summed
from l1lsmi._rows.parts import ArrayParts, Parts
from l1lsmi._rows.sparse import WIDE_VALUES, StandardizedColumns
from l1lsmi._rows.statistics import BUFFER, DEVICE_BUFFER, _row_slices, column_statistics, standardize
from l1lsmi._rows.wide import PART_COLUMNS
from l1lsmi._sparse import SparseMatrix

#: Rows per block: a block of distances to 100 centres then stays in cache, and memory is small.
BLOCK_ROWS = 500
#: The same for other libraries, where a product costs a launch, however small it is.
DEVICE_BLOCK_ROWS = 100_000
#: Rows in a part of an array that is read in parts: enough that the overhead of a part is small.
PART_ROWS = 1_000
#: Standardised columns and their squares are cached up to so many bytes; in float32 the same number of
#: columns takes half of it.
COLUMN_CACHE_BYTES = 2**24
#: Bytes that are cached of the rows by default.
DEFAULT_CACHED = 2**28
#: The same on a device, as a share of its free memory.
DEVICE_SHARE = 0.3
#: Bytes that a standardised copy of a wide table may take by default.
DEFAULT_SHARED = 2**29
#: Values, and rows, by which the distribution of columns is judged.
SAMPLED_VALUES = 2**19
SAMPLED_ROWS = (1_000, 10_000)
#: Data types that rows are worked on in.
PRECISIONS = ("float64", "float32")


def sampled_rows(table: RowTable) -> HostArray | None:
    """Numbers of the rows of `sample_of`, in order; None for all."""
    n_rows = table.n_rows
    most = int(np.clip(SAMPLED_VALUES // max(1, table.n_columns), *SAMPLED_ROWS))
    if n_rows <= most:
        return None
    return np.sort(np.random.default_rng(0).choice(n_rows, most, replace=False))


def sample_of(table: RowTable) -> Table:
    """Rows that the distribution of columns is judged by, the same ones wherever a table is.

    So many that their values take a few megabytes at most, or a thousand.
    """
    rows = sampled_rows(table)
    if rows is not None:
        return table.rows_of(rows)
    return table if isinstance(table, Table) else table.rows_of(np.arange(table.n_rows))


def clip_to(values: Array, limits: HostArray) -> Array:
    """Clip every column to its limits, (2, columns), in place where the library allows."""
    low, high = asarray_like(limits[0], values), asarray_like(limits[1], values)
    if isinstance(values, np.ndarray):
        return np.clip(values, low, high, out=values)
    xp = namespace(values)
    values = xp.where(values < low, low, values)
    return xp.where(values > high, high, values)


@dataclass(frozen=True)
class Resources:
    """Memory, threads, precision and cluster for the work with rows.

    Attributes
    ----------
    memory_limit : int or None
        Bytes for everything beside the feature matrix itself; None is a quarter of a gigabyte for what
        is cached of the rows, and on a device a share of its free memory.
    n_jobs : int
        Threads that parts of the rows are spread over.
    cluster : object or None
        Where tasks can run: ``in_order(function, problem, items)`` yields the results of
        ``function(problem, item)``. It is not pickled.
    precision : {"float64", "float32"}
        Of standardised values, distances and kernels; sums over rows are in float64 either way.
    """

    memory_limit: int | None = None
    n_jobs: int = 1
    cluster: Any = None
    precision: str = "float64"

    def __reduce__(self) -> tuple[Any, ...]:
        return Resources, (self.memory_limit, self.n_jobs, None, self.precision)

    @property
    def number_bytes(self) -> int:
        """Bytes of a number."""
        return int(np.dtype(self.precision).itemsize)

    def shared_bytes(self) -> int:
        """Bytes that a standardised copy of all rows, shared by every step, may take."""
        return DEFAULT_SHARED if self.memory_limit is None else self.memory_limit // 4

    def cache_bytes(self, x: Array = None) -> int:
        """Bytes that may be cached of the rows between steps; on a device, a share of its free memory."""
        # A step needs as much again, and every thread has its own draw.
        if self.memory_limit is not None:
            return self.memory_limit // (2 * self.n_jobs)
        free = None if x is None else free_device_bytes(x)
        return DEFAULT_CACHED if free is None else int(DEVICE_SHARE * free)


class RowTable(Protocol):
    """A feature matrix, in memory or out-of-core: what the numerics need of it.

    ``read_columns`` reads some columns, in order, of all rows into memory; it gives None where they do not
    fit or the work is done where the rows are. ``locate`` finds a table in memory that has some rows, and
    their row numbers in it. ``batch_size`` is how many members of so many bytes each are worth working on
    at once: 1 for NumPy arrays.
    """

    @property
    def in_memory(self) -> bool: ...
    @property
    def mean(self) -> HostArray: ...
    @property
    def scale(self) -> HostArray: ...
    @property
    def kinds(self) -> Kinds | None: ...
    @property
    def resources(self) -> Resources: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_columns(self) -> int: ...
    @property
    def varying(self) -> HostArray: ...
    @property
    def max_part_rows(self) -> int: ...
    def cache_bytes(self) -> int: ...
    def max_cached_columns(self, least: int) -> int: ...
    def batch_size(self, bytes_each: int) -> int: ...
    def rows_of(self, rows: HostArray) -> Table: ...
    def locate(self, rows: HostArray) -> tuple[Table, HostArray]: ...
    def read_columns(self, columns: HostArray) -> Table | None: ...
    def parts(self, target: Any, fold_of_row: HostArray, part_rows: int) -> Parts: ...


class _Once:
    """A value that is computed once, by whichever thread is first; it is not pickled."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._found: tuple[Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _Once, ()

    def get(self, compute: Callable[[], Any]) -> Any:
        """The value; other threads wait while it is computed."""
        if self._found is None:
            with self._lock:
                if self._found is None:
                    self._found = (compute(),)
        return self._found[0]


class ColumnScales:
    """What follows from the means, standard deviations and limits of columns."""

    mean: HostArray
    scale: HostArray
    limits: HostArray | None
    kinds: Kinds | None

    @property
    def n_columns(self) -> int:
        return int(self.mean.size)

    @property
    def varying(self) -> HostArray:
        """Indices of the columns that are not constant."""
        return np.flatnonzero(self.scale > 0)


@dataclass(frozen=True)
class Table(ColumnScales):
    """A feature matrix in memory that gives standardised pieces of itself.

    Attributes
    ----------
    x : array of shape (n, m)
        The raw values, in any array API library.
    mean, scale : numpy.ndarray of shape (m,)
        Column means and standard deviations; a scale of 0 marks a constant column.
    resources : Resources
    columns : numpy.ndarray of int or None
        The columns that ``x`` has, in order; None is all.
    single : Table or None
        Of a table in float64, the same one in float32, whose standardised copy it shares.
    limits : numpy.ndarray of shape (2, m) or None
        Values of a column below the first and above the second are clipped.
    kinds : Kinds or None
        What the columns are, where some are categories or have missing values; None for complete numbers.
    """

    x: Array
    mean: HostArray
    scale: HostArray
    resources: Resources = Resources()
    columns: HostArray | None = None
    single: Table | None = None
    limits: HostArray | None = None
    kinds: Kinds | None = None
    _standardized: _Once = field(default_factory=_Once, init=False, repr=False, compare=False)
    in_memory: ClassVar[bool] = True

    @classmethod
    def of(
        cls,
        x: Array,
        resources: Resources | None = None,
        row_weights: HostArray | None = None,
        kinds: Kinds | None = None,
    ) -> Table:
        """Compute the column statistics of ``x`` and wrap it."""
        mean, scale = column_statistics(x, row_weights)
        if kinds is not None:
            # A value that is always the same, or missing, tells two rows apart.
            scale = np.where((scale == 0) & kinds.as_value, 1.0, scale)
        return cls(x, mean, scale, resources or Resources(), kinds=kinds)

    # -- parts of the table ----------------------------------------------------------------

    def rows_of(self, rows: HostArray) -> Table:
        """Some rows as a table of their own, with the column statistics of the whole."""
        return replace(self, x=take_rows(self.x, rows), single=None)

    def slice_of(self, start: int, stop: int) -> Table:
        """Consecutive rows, not copied."""
        return replace(self, x=self.x[start:stop, :], single=None)

    def locate(self, rows: HostArray) -> tuple[Table, HostArray]:
        """A table in memory that has some rows, and their row numbers in it: the table itself."""
        return self, rows

    def read_columns(self, columns: HostArray) -> Table:
        """A table in memory that has some columns: the table itself, or those of a large sparse one."""
        if not is_large_sparse(self):
            return self
        places = columns if self.columns is None else np.searchsorted(self.columns, columns)
        return replace(self, x=self.x.columns_of(places), columns=columns, single=None)

    def parts(self, target: Any, fold_of_row: HostArray, part_rows: int) -> Parts:
        """The rows with their targets and folds, so many at a time."""
        return ArrayParts(self, target, fold_of_row, part_rows)

    @cached_property
    def exact(self) -> Table:
        """The same table in float64."""
        if self.resources.precision == "float64":
            return self
        return replace(self, resources=replace(self.resources, precision="float64"), single=self)

    def copied_standardized(self) -> Table:
        """The same table made of a standardised copy in its precision, to be moved to a device."""
        z = self.take(np.arange(self.n_rows), np.arange(self.n_columns))
        ones = np.where(self.scale > 0, 1.0, 0.0)
        return replace(self, x=z, mean=np.zeros_like(self.mean), scale=ones, limits=None)

    # -- sizes -----------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        return int(self.x.shape[0])

    @property
    def max_block_rows(self) -> int:
        """Rows in a block that is worked on at once."""
        return DEVICE_BLOCK_ROWS if is_non_numpy(self.x) else BLOCK_ROWS

    @property
    def max_part_rows(self) -> int:
        """Rows in a part."""
        return DEVICE_BLOCK_ROWS if is_non_numpy(self.x) else PART_ROWS

    def cache_bytes(self) -> int:
        """Bytes that may be cached of the rows between steps."""
        return self.resources.cache_bytes(self.x)

    def max_cached_columns(self, least: int) -> int:
        """Standardised columns of a block that are cached at most."""
        if is_non_numpy(self.x):
            # A device has memory for all columns, and working through them in pieces is slower.
            return max(self.n_columns, 1)
        return max(least, COLUMN_CACHE_BYTES // (16 * self.n_rows))

    def batch_size(self, bytes_each: int) -> int:
        """How many restarts or sets, which need so many bytes each, are worth working on at once.

        On a device a batch costs little more than one of its members; with NumPy, or with more rows than a
        block has, it gains nothing.
        """
        if not is_non_numpy(self.x) or self.n_rows > DEVICE_BLOCK_ROWS:
            return 1
        return max(1, self.cache_bytes() // max(1, bytes_each))

    # -- standardised values ---------------------------------------------------------------

    @property
    def dtype(self) -> Any:
        """Data type of standardised values in the array library."""
        return getattr(namespace(self.x), self.resources.precision)

    def asarray(self, values: Any) -> Array:
        """Numbers in the library, on the device and in the precision of standardised values."""
        if isinstance(values, np.ndarray):
            return asarray_like(values, self.x, dtype=self.dtype)
        return namespace(values).astype(values, self.dtype, copy=False)

    @property
    def standardized(self) -> HostArray | None:
        """All rows and columns, standardised once for all threads, of a NumPy array that is not too large."""
        if self.single is not None:
            return self.single.standardized
        found: HostArray | None = self._standardized.get(self._standardize)
        return found

    def _standardize(self) -> HostArray | None:
        if is_non_numpy(self.x) or self.columns is not None or self.kinds is not None:
            return None
        if self.n_rows * self.n_columns > self.resources.shared_bytes() // self.resources.number_bytes:
            return None
        if isinstance(self.x, SparseMatrix):
            made: HostArray | None = self._columns_when_needed()
            return made
        if self.resources.precision == "float64":
            z = np.array(self.x, dtype=np.float64, order="C")
            for some in _row_slices(z, 250_000, z.shape[1]):
                self.standardize(z[some])
            return z
        return np.asarray(self.take(np.arange(self.n_rows), np.arange(self.n_columns)))

    def _columns_when_needed(self) -> Any:
        """What stands for a standardised copy of a sparse table, unless pieces of it are too large."""
        if self.n_rows * min(PART_COLUMNS, self.n_columns) > WIDE_VALUES:
            return None
        everywhere = np.arange(self.n_rows), np.arange(self.n_columns)
        return StandardizedColumns(self.take, *everywhere, self.resources.precision)

    def standardize(self, values: Array, columns: HostArray | None = None) -> Array:
        """Clip and standardise values of some columns, (..., columns) or all, in place where possible."""
        picked: Any = slice(None) if columns is None else columns
        if self.limits is not None:
            values = clip_to(values, self.limits[:, picked])
        return standardize(values, self.mean[picked], self.scale[picked])

    def take(self, rows: HostArray, columns: HostArray) -> Array:
        """Standardised values of some rows and columns, as a new array in the precision of the table.

        Missing values are NaN, and levels of categories are numbers: see `coordinates`.
        """
        places = columns if self.columns is None else np.searchsorted(self.columns, columns)
        whole = places.size == self.x.shape[1] and np.array_equal(places, np.arange(places.size))
        picked = None if whole else places
        if self.resources.precision == "float64":
            return self.standardize(in_float64(gather(self.x, rows, picked)), columns)
        # The mean is subtracted in float64, a few rows at a time: an offset must not cost digits.
        z = empty((rows.size, places.size), self.x, self.dtype)
        step = max(1, (DEVICE_BUFFER if is_non_numpy(self.x) else BUFFER) // max(1, places.size))
        for start in range(0, rows.size, step):
            stop = min(start + step, rows.size)
            some = in_float64(gather(self.x, rows[start:stop], picked))
            z[start:stop, :] = astype_like(self.standardize(some, columns), z)
        return z

    def take_batch(self, rows: HostArray, columns: HostArray) -> Array:
        """The same for a batch: rows (r or 1, n) and columns (r or 1, w) give an array (r, n, w)."""
        if len(rows) == len(columns) == 1:
            return self.take(rows[0], columns[0])[None, ...]
        places = columns if self.columns is None else np.searchsorted(self.columns, columns)
        z = in_float64(gather_batch(self.x, rows, places))
        if self.limits is not None:
            z = clip_to(z, self.limits[:, columns][:, :, None, :])
        z = standardize(z, self.mean[columns][:, None, :], self.scale[columns][:, None, :])
        return namespace(z).astype(z, self.dtype, copy=False)

    # -- coordinates -----------------------------------------------------------------------

    def coordinates(self, rows: HostArray, columns: HostArray) -> Coordinates:
        """Coordinates of a batch, rows (r or 1, n) and columns (r or 1, w), in the precision of the table."""
        if self.kinds is None:
            return Coordinates(self.take_batch(rows, columns))
        n_batch, widths = max(len(rows), len(columns)), self.kinds.widths_of(columns)
        rows, columns = (np.repeat(some, n_batch // len(some), axis=0) for some in (rows, columns))
        xp = namespace(self.x)
        found = []
        for of_rows, of_columns in zip(rows, columns, strict=True):
            places = of_columns if self.columns is None else np.searchsorted(self.columns, of_columns)
            raw = in_float64(gather(self.x, of_rows, places))
            z = self.standardize(xp.asarray(raw, copy=True), of_columns)
            found.append(self.kinds.coordinates(raw, z, of_columns, widths))
        values = xp.stack([xp.astype(one.values, self.dtype, copy=False) for one in found])
        if all(one.spread is None for one in found):
            return Coordinates(values)
        spread = [xp.zeros_like(one.values) if one.spread is None else one.spread for one in found]
        return Coordinates(values, xp.stack([xp.astype(one, self.dtype, copy=False) for one in spread]))

    def points(self, rows: HostArray, columns: HostArray) -> Coordinates:
        """Coordinates of some rows, (n,), and columns, (w,)."""
        if self.kinds is None:
            return Coordinates(self.take(rows, columns))
        values, spread = self.coordinates(rows[None], columns[None])
        return Coordinates(values[0, ...], None if spread is None else spread[0, ...])

    def places_of(self, columns: HostArray, some: HostArray) -> HostArray:
        """Places of the coordinates of some of the columns, which are in order, in their `points`."""
        places = np.searchsorted(columns, some)
        if self.kinds is None:
            return places
        widths = self.kinds.widths_of(columns)
        starts = np.cumsum(widths) - widths
        each = [np.arange(starts[j], starts[j] + widths[j]) for j in places]
        return np.concatenate(each) if each else places

    def for_coordinates(self, values: Array, columns: HostArray) -> Array:
        """Values of columns, (r, w), repeated for their coordinates."""
        return values if self.kinds is None else repeated(values, self.kinds.widths_of(columns))

    def over_coordinates(self, values: Array, columns: HostArray) -> Array:
        """Values of coordinates summed over those of each column, (..., w)."""
        return values if self.kinds is None else summed(values, self.kinds.widths_of(columns))


def is_sparse_table(table: Any) -> bool:
    """Whether the values of a table are a sparse matrix."""
    return isinstance(table, Table) and isinstance(table.x, SparseMatrix)


def is_large_sparse(table: Any) -> bool:
    """Whether a table is sparse, and too large for all columns to be worked on as dense ones are."""
    return is_sparse_table(table) and table.x.is_large
