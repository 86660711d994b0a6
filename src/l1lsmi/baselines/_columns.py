"""Standardised columns of a table: all of them, or a few of a sparse one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._rows.table import Table, is_sparse_table

#: Values of a sparse table that are made dense at a time.
PIECE_VALUES = 2**22


def all_columns(table: Table) -> HostArray:
    """All columns that vary, standardised, (n, m)."""
    return to_numpy(table.take(np.arange(table.n_rows), table.varying))


def column_pieces(table: Table) -> Iterator[HostArray]:
    """The same in order, all at once, or a few columns of a sparse table at a time."""
    rows, columns = np.arange(table.n_rows), table.varying
    n_pieces = -(-columns.size * table.n_rows // PIECE_VALUES) if is_sparse_table(table) else 1
    for some in np.array_split(columns, max(1, min(n_pieces, columns.size // 2))):
        yield to_numpy(table.take(rows, some))


def score_columns(
    table: Table, score: Callable[[HostArray], HostArray], whole: HostArray | None = None
) -> HostArray:
    """A score of every column that varies; ``whole`` are all of them, where they are at hand."""
    pieces = column_pieces(table) if whole is None else [whole]
    return np.concatenate([score(piece) for piece in pieces])
