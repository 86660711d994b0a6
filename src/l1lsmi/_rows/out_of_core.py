"""What out-of-core tables share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._rows.distinct import Arrangement
from l1lsmi._rows.levels import code_moments
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
    order : numpy.ndarray of int or None
        Where row 0, row 1, ... of the table come when rows are read in order; None is the same order.
    hashes : numpy.ndarray of uint64 or None
        Of the features of every row, by which equal rows are recognised.
    """

    in_memory: ClassVar[bool] = False
    resources: Resources
    order: HostArray | None = None
    hashes: HostArray | None = None
    _last: tuple[HostArray, Table] | None = None

    def arranged(self, arrangement: Arrangement) -> tuple[OutOfCoreTable, OutOfCoreTable]:
        """The rows of an arrangement, with weighted column statistics; and the same rows as given."""
        raise NotImplementedError

    def numbered_by_weight(
        self, row_weights: HostArray | None, key_hashes: HostArray
    ) -> tuple[OutOfCoreTable, HostArray]:
        """The same rows with levels numbered by the weights of the rows that have them, and the numbers."""
        raise NotImplementedError

    @property
    def has_categories(self) -> bool:
        """Whether a column is a category."""
        return self.kinds is not None and bool(self.kinds.is_category.any())

    def scales_renumbered(self, numbers: HostArray) -> dict[str, Any]:
        """Means, scales and kinds of the columns, with other numbers of the levels of categories."""
        assert self.kinds is not None
        kinds, mean, scale = self.kinds.renumbered(numbers), self.mean.copy(), self.scale.copy()
        for j in np.flatnonzero(kinds.is_category):
            shares = kinds.shares[j]
            assert shares is not None
            mean[j], scale[j] = code_moments(shares)
        return {"mean": mean, "scale": scale, "kinds": kinds}

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
            self._last = wanted, self._read_numbered(wanted)
        known, table = self._last
        if np.array_equal(known, rows):
            return table
        return table.rows_of(np.searchsorted(known, rows))

    def _read_numbered(self, rows: HostArray) -> Table:
        if self.order is None:
            return self._read(rows)
        places = self.order[rows]
        by_place = np.argsort(places)
        return self._read(places[by_place]).rows_of(np.argsort(by_place))

    def in_order_of_reading(self, target: Any, fold_of_row: HostArray) -> tuple[Any, HostArray]:
        """Targets and folds of the rows in the order in which they are read."""
        if self.order is None:
            return target, fold_of_row
        rows = np.argsort(self.order)
        return target.rows_of(rows), fold_of_row[..., rows]

    def _read(self, rows: HostArray) -> Table:
        """Read rows, given by their places in increasing order."""
        raise NotImplementedError
