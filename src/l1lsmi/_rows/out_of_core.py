"""What out-of-core tables share."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._rows.table import PART_ROWS, ColumnScales, Resources, Table


class OutOfCoreTable(ColumnScales):
    """A table whose rows are on disk or on a cluster: a subclass reads rows in ``_read``.

    Attributes
    ----------
    mean, scale : numpy.ndarray of shape (m,)
        Column means and standard deviations; a scale of 0 marks a constant column.
    resources : Resources
    limits : numpy.ndarray of shape (2, m) or None
        Values of a column below the first and above the second are clipped.
    """

    in_memory: ClassVar[bool] = False
    resources: Resources
    _last: tuple[HostArray, Table] | None = None

    @property
    def max_part_rows(self) -> int:
        """Rows in a part."""
        return PART_ROWS

    def cache_bytes(self) -> int:
        """Bytes that may be cached of the rows between steps."""
        return self.resources.cache_bytes()

    def max_cached_columns(self, least: int) -> int:
        """Standardised columns of a block that are cached at most."""
        return least

    def batch_size(self, bytes_each: int) -> int:
        """Rows are read for one restart or set at a time."""
        return 1

    def table_of(self, x: HostArray, columns: HostArray | None = None) -> Table:
        """Some rows that were read, with all columns or some."""
        return Table(x, self.mean, self.scale, self.resources, columns, limits=self.limits, kinds=self.kinds)

    def locate(self, rows: HostArray) -> tuple[Table, HostArray]:
        """A table in memory that has some rows, and their row numbers in it."""
        return self.rows_of(rows.ravel()), np.arange(rows.size).reshape(rows.shape)

    def rows_of(self, rows: HostArray) -> Table:
        """Some rows, in memory; the rows of the last call are cached."""
        wanted = np.unique(rows)
        if self._last is None or not np.isin(wanted, self._last[0], assume_unique=True).all():
            self._last = wanted, self._read(wanted)
        known, table = self._last
        if np.array_equal(known, rows):
            return table
        return table.rows_of(np.searchsorted(known, rows))

    def _read(self, rows: HostArray) -> Table:
        """Read rows, given in order."""
        raise NotImplementedError
