"""What tables share whose rows are not in memory."""

from __future__ import annotations

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._rows.table import Table


class RemoteTable:
    """A table that can fetch rows: a subclass says in ``_read`` how.

    Attributes
    ----------
    mean, scale : numpy.ndarray of shape (m,)
        Column means and standard deviations; a scale of 0 marks a constant column.
    """

    mean: HostArray
    scale: HostArray
    _known: tuple[HostArray, Table] | None = None

    @property
    def n_columns(self) -> int:
        return int(self.mean.size)

    @property
    def varying(self) -> HostArray:
        """Indices of the columns that are not constant."""
        return np.flatnonzero(self.scale > 0)

    def rows_of(self, rows: HostArray) -> Table:
        """Some rows, in memory; those asked for last are remembered, for whoever asks for some of them."""
        wanted = np.unique(rows)
        if self._known is None or not np.isin(wanted, self._known[0], assume_unique=True).all():
            self._known = wanted, self._read(wanted)
        known, table = self._known
        return table.rows_of(np.searchsorted(known, rows))

    def _read(self, rows: HostArray) -> Table:
        """Fetch rows, given in order."""
        raise NotImplementedError
