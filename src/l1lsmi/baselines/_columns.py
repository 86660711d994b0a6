"""Columns of a table as baselines use them: all of them, or a few of a sparse one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._rows.table import Table, is_sparse_table

#: Values of a sparse table that are made dense at a time.
PIECE_VALUES = 2**22

#: Scores of columns from their coordinates, (n, c), and from how many each has; None for one each.
Scorer: TypeAlias = Callable[[HostArray, HostArray | None], HostArray]


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


def columns_of_any_kind(table: Table) -> tuple[HostArray, HostArray]:
    """Columns that vary of a table with `kinds`, (n, m), and the numbers of their levels, 0 for numbers.

    Numbers are standardised, categories are numbers of levels, and missing values NaN.
    """
    assert table.kinds is not None
    columns = table.varying
    x, n_levels = all_columns(table), table.kinds.n_levels[columns]
    for j in np.flatnonzero(n_levels):
        x[:, j] = to_numpy(table.x[:, int(columns[j])])
    return x, n_levels


def column_coordinates(table: Table) -> tuple[HostArray, HostArray | None]:
    """Coordinates of the columns that vary, (n, c), and how many each has; None for one each.

    A category has several, whose quadratic forms are added up; a missing value is at the mean.
    """
    if table.kinds is None:
        return all_columns(table), None
    columns = table.varying
    return to_numpy(table.points(np.arange(table.n_rows), columns).values), table.kinds.widths[columns]


def score_coordinates(table: Table, score: Scorer) -> HostArray:
    """A score of every column that varies, from its coordinates."""
    if table.kinds is None:
        return score_columns(table, lambda z: score(z, None))
    return score(*column_coordinates(table))
