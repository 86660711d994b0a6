"""Matrices most of whose values are 0: columns of values and row numbers, of which dense pieces are made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

HostArray: TypeAlias = np.ndarray[Any, np.dtype[Any]]

#: Values, zeros included, up to which all columns are worked on as those of a dense array are, a few at a
#: time; of more, what the non-zeros tell chooses some columns.
FEW_VALUES = 2**26
#: Non-zeros up to which they are also kept in the order of rows.
ORDERED_ENTRIES = 2**22
#: Values of a dense piece where pieces can be of any size, and non-zeros that are worked on at a time.
PIECE_VALUES = 2**20
CHUNK_ENTRIES = 2**20


@dataclass(frozen=True)
class SparseMatrix:
    """Compressed columns, or consecutive rows of them.

    Attributes
    ----------
    values : numpy.ndarray of float64 or float32, shape (z,)
        The non-zeros, column after column.
    rows : numpy.ndarray of int, shape (z,)
        Their rows, each once in a column.
    starts : numpy.ndarray of int, shape (m + 1,)
        Where each column begins.
    n_stored : int
        Rows of the matrix that the entries come from.
    first, stop : int
        Those of them that this matrix has.
    is_large : bool
        Whether the matrix that these rows come from has too many values to be worked on as a dense one is.
    """

    values: HostArray
    rows: HostArray
    starts: HostArray
    n_stored: int
    first: int
    stop: int
    is_large: bool = False
    #: The entries in the order of rows, once they were needed; slices of rows share it.
    _by_row: list[Any] = field(default_factory=list, repr=False, compare=False)

    @classmethod
    def of(cls, matrix: Any) -> SparseMatrix:
        """Wrap a matrix in the compressed sparse column format of SciPy, without duplicates."""
        n_rows, n_columns = matrix.shape
        large = n_rows * n_columns > FEW_VALUES
        return cls(matrix.data, matrix.indices, matrix.indptr, n_rows, 0, n_rows, large)

    # -- as an array -----------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        return self.stop - self.first, self.starts.size - 1

    @property
    def ndim(self) -> int:
        return 2

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.values.dtype

    def __getitem__(self, key: tuple[slice, slice]) -> SparseMatrix:
        """Consecutive rows, of which nothing is copied."""
        some, every = key
        if some.step not in (None, 1) or every != slice(None):
            raise IndexError(f"only consecutive rows can be sliced, got {key}")
        start, stop, _ = some.indices(self.shape[0])
        return replace(self, first=self.first + start, stop=self.first + max(start, stop))

    # -- non-zeros -------------------------------------------------------------------------

    def entries(self, columns: HostArray | None = None) -> tuple[HostArray, HostArray, HostArray]:
        """Rows, columns (as places among those asked for) and values of the non-zeros, in any order."""
        if columns is None:
            columns = np.arange(self.shape[1])
        starts = self.starts[columns].astype(np.intp)
        sizes = self.starts[columns + 1].astype(np.intp) - starts
        share = self.shape[0] / max(1, self.n_stored)
        if self.values.size <= ORDERED_ENTRIES and sizes.sum() > share * self.values.size + self.shape[1] / 8:
            return self._entries_of_rows(columns)
        ends = np.cumsum(sizes)
        places: Any = np.arange(int(sizes.sum())) + np.repeat(starts - (ends - sizes), sizes)
        rows, values = self.rows[places].astype(np.intp), self.values[places]
        across = np.repeat(np.arange(columns.size), sizes)
        if share == 1:
            return rows, across, values
        inside = (rows >= self.first) & (rows < self.stop)
        return rows[inside] - self.first, across[inside], values[inside]

    def _entries_of_rows(self, columns: HostArray) -> tuple[HostArray, HostArray, HostArray]:
        """The same from the order of rows, for a few of them."""
        if not self._by_row:
            order = np.argsort(self.rows, kind="stable")
            across = np.repeat(np.arange(self.shape[1], dtype=np.int32), np.diff(self.starts))
            sizes = np.bincount(self.rows, minlength=self.n_stored)
            ordered = self.rows[order], across[order], self.values[order]
            self._by_row.append((np.concatenate([[0], np.cumsum(sizes)]), *ordered))
        begins, rows, across, values = self._by_row[0]
        some = slice(int(begins[self.first]), int(begins[self.stop]))
        rows, across, values = rows[some].astype(np.intp) - self.first, across[some], values[some]
        place = np.full(self.shape[1], -1)
        place[columns] = np.arange(columns.size)
        places = place[across]
        inside = places >= 0
        return rows[inside], places[inside], values[inside]

    def _in_order_of_columns(self, columns: HostArray) -> tuple[HostArray, HostArray, HostArray]:
        rows, across, values = self.entries(columns)
        order = np.argsort(across, kind="stable")
        return rows[order], across[order], values[order]

    def columns_of(self, columns: HostArray) -> SparseMatrix:
        """All rows of some columns, copied."""
        rows, across, values = self._in_order_of_columns(columns)
        sizes = np.bincount(across, minlength=columns.size)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return SparseMatrix(
            values, rows.astype(self.rows.dtype), starts, self.shape[0], 0, self.shape[0], self.is_large
        )

    def chunks(self) -> Iterator[HostArray]:
        """All columns in order, as many at a time as have about a million non-zeros together."""
        n_columns, start = self.shape[1], 0
        while start < n_columns:
            most = int(np.searchsorted(self.starts, self.starts[start] + CHUNK_ENTRIES, side="right")) - 1
            stop = min(n_columns, max(most, start + 1))
            yield np.arange(start, stop)
            start = stop

    def occupied(self) -> HostArray:
        """Which columns are not 0 everywhere."""
        found = np.zeros(self.shape[1], dtype=bool)
        for columns in self.chunks():
            _, across, values = self.entries(columns)
            found[columns[across[values != 0]]] = True
        return found

    def rows_of(self, rows: HostArray) -> SparseMatrix:
        """Some rows, copied, in the given order; a row may come more than once."""
        counts = np.bincount(rows, minlength=self.shape[0])
        order = np.argsort(rows, kind="stable")
        begins = np.cumsum(counts) - counts
        each: list[tuple[HostArray, HostArray, HostArray]] = []
        for columns in self.chunks():
            old_rows, across, values = self._in_order_of_columns(columns)
            # Every non-zero comes as often as its row.
            times = counts[old_rows]
            which = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
            new_rows = order[np.repeat(begins[old_rows], times) + which].astype(self.rows.dtype)
            sizes = np.bincount(across, times, minlength=columns.size).astype(np.intp)
            each.append((np.repeat(values, times), new_rows, sizes))
        values, new_rows, sizes = (np.concatenate(of_all) for of_all in zip(*each, strict=True))
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return SparseMatrix(values, new_rows, starts, rows.size, 0, rows.size, self.is_large)

    # -- dense pieces ----------------------------------------------------------------------

    def dense(self, rows: HostArray | None = None, columns: HostArray | None = None) -> HostArray:
        """Some rows and columns, all of them for None, as a new dense array."""
        n_columns = self.shape[1] if columns is None else columns.size
        old_rows, across, values = self.entries(columns)
        if rows is None:
            found = np.zeros((self.shape[0], n_columns), dtype=self.dtype)
            found[old_rows, across] = values
            return found
        place = np.full(self.shape[0], -1)
        place[rows] = np.arange(rows.size)
        inside = place[old_rows] >= 0
        found = np.zeros((rows.size, n_columns), dtype=self.dtype)
        found[place[old_rows[inside]], across[inside]] = values[inside]
        again = place[rows]
        # Of a row that is asked for more than once, the last place has been filled.
        return found if np.array_equal(again, np.arange(rows.size)) else found[again]

    def pieces(self, n_values: int = PIECE_VALUES) -> Iterator[tuple[slice, HostArray]]:
        """All rows of a few columns at a time, dense."""
        n_rows, n_columns = self.shape
        step = max(2, n_values // max(1, n_rows))
        for start in range(0, n_columns, step):
            # One column alone would be summed in another order.
            some = slice(start, n_columns if n_columns - start <= step + 1 else start + step)
            yield some, self.dense(None, np.arange(some.start, some.stop))
            if some.stop == n_columns:
                return
