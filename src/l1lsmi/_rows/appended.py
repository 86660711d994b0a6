"""Further columns at the end of a table, wherever its rows are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray, asarray_like, namespace
from l1lsmi._rows.statistics import column_statistics
from l1lsmi._rows.stream import BlockSource, StreamTable
from l1lsmi._rows.table import Table, is_sparse_table


def append_columns(table: Any, values: HostArray, row_weights: HostArray | None = None) -> Any:
    """A table with further columns; those of a table in memory are copied with it.

    Parameters
    ----------
    table : RowTable
        Without limits of its columns.
    values : numpy.ndarray of shape (n, q)
    row_weights : numpy.ndarray of shape (n,) or None

    Returns
    -------
    RowTable
    """
    if is_sparse_table(table):
        raise ValueError("covariates are given, but X is sparse: pass X.toarray(), or leave covariates out.")
    mean, scale = column_statistics(values, row_weights)
    scales: dict[str, Any] = {"mean": np.append(table.mean, mean), "scale": np.append(table.scale, scale)}
    if table.kinds is not None:
        scales["kinds"] = table.kinds.with_numbers(values.shape[1])
    if isinstance(table, Table):
        xp = namespace(table.x)
        beside = asarray_like(values, table.x, dtype=table.x.dtype)
        return replace(table, x=xp.concat([table.x, beside], axis=1), **scales)
    if table.order is not None:
        values = values[np.argsort(table.order)]  # in the order of reading
    if isinstance(table, StreamTable):
        return replace(table, source=AppendedSource(table.source, table.n_columns, values), **scales)
    return table.appended(values, **scales)


@dataclass(frozen=True)
class AppendedSource:
    """Blocks of a source with further columns.

    Attributes
    ----------
    source : BlockSource
    n_columns : int
        Columns of the source.
    values : numpy.ndarray of shape (n, q)
        The further columns of all rows.
    """

    source: BlockSource
    n_columns: int
    values: HostArray

    def blocks(self, columns: HostArray | None) -> Iterator[HostArray]:
        """Blocks of the columns asked for, None for all."""
        wanted = np.arange(self.n_columns + self.values.shape[1]) if columns is None else columns
        further = wanted >= self.n_columns
        # A block without columns may have lost its number of rows.
        read = wanted[~further] if (~further).any() else np.zeros(1, dtype=np.intp)
        start = 0
        for block in self.source.blocks(None if columns is None else read):
            stop = start + len(block)
            joined = np.empty((len(block), wanted.size), dtype=block.dtype)
            joined[:, ~further] = block[:, : int((~further).sum())]
            # More rows than before are refused by the table.
            known = self.values[start:stop][:, wanted[further] - self.n_columns]
            joined[: len(known), further] = known
            start = stop
            yield joined
