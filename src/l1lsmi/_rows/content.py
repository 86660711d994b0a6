"""An order of rows that follows from their contents, and not from how they are written down.

A fit draws folds, centres and samples by the places of rows. In an order that other places of the rows and
columns, other units and other names of classes do not change, draws do not change with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray, gather, to_numpy
from l1lsmi._rows.table import RowTable

#: Rows, and values, at most of a table whose rows are put in order. The draws of larger ones depend on seeds.
ORDERED_ROWS = 2_000
ORDERED_VALUES = 2**23
#: Values that are worked on at a time.
CHUNK_VALUES = 2**21
#: Keys that differ by less are equal but for rounding.
DIGITS = 10
#: Rows by which columns are ranked.
RANKED_BY = 64


def has_order(n_rows: int, n_columns: int) -> bool:
    """Whether the rows of a table are few enough to be put in the order of their contents."""
    return n_rows <= ORDERED_ROWS and n_rows * n_columns <= ORDERED_VALUES


def order_by_content(table: RowTable, target: Any, hashes: HostArray) -> HostArray:
    r"""Numbers of the rows in an order that is random, and the same however the data are written down.

    Rows are sorted by sums over columns of functions of standardised values, so that neither the order of the
    columns nor their units matter, and then shuffled. With values :math:`u_{ij}` of row i in column j, the
    first sums are :math:`r_i = \sum_j u_{ij}`, which give every column a number :math:`c_j` and the rows the
    keys :math:`\sum_j \cos(c_j) u_{ij}`. The target decides only between rows of equal keys: what is drawn
    by the places of rows, such as the rows that judge a search, must not depend on it. Classes are told apart
    by the keys of their rows.

    Parameters
    ----------
    table : RowTable
    target : Target
    hashes : numpy.ndarray of uint64, shape (n,)
        Of the contents of rows. Rows with equal keys and targets, as in tables of yes and no, are sorted
        by these, which depend on the order of the columns.

    Returns
    -------
    numpy.ndarray of int, shape (n,)
    """
    chunks = _Chunks(table)
    first = chunks.sums(np.ones(table.n_columns))
    keys = chunks.sums(np.cos(chunks.totals(np.sin(first))))
    if target.values is None:
        of_target = np.bincount(target.codes, np.sin(keys))[target.codes]
    else:
        of_target = np.arctan(target.columns).sum(axis=1)
    order = np.lexsort((hashes, np.round(of_target, DIGITS), np.round(keys, DIGITS)))
    return order[np.random.default_rng(0).permutation(table.n_rows)]


def ranks_by_content(table: RowTable, columns: HostArray) -> HostArray:
    """Ranks of columns that follow from their values in the first rows, and not from their places."""
    if not has_order(table.n_rows, table.n_columns):
        return np.arange(columns.size)
    rows = np.arange(min(RANKED_BY, table.n_rows))
    found, places = table.locate(rows)
    values = np.abs(to_numpy(found.exact.take(places, columns)))
    return np.argsort(np.lexsort(values[::-1]))


class _Chunks:
    """Functions of the values of a table that do not depend on units, some rows at a time."""

    def __init__(self, table: RowTable) -> None:
        self.table = table
        n_rows = max(1, CHUNK_VALUES // max(1, table.n_columns))
        starts = range(0, table.n_rows, n_rows)
        self.slices = [slice(start, min(start + n_rows, table.n_rows)) for start in starts]
        self._only = self._read(self.slices[0]) if len(self.slices) == 1 else None
        ends = [(np.fmin.reduce(z), np.fmax.reduce(z)) for _, z, _ in self._standardized()]
        low, high = np.fmin.reduce([one for one, _ in ends]), np.fmax.reduce([one for _, one in ends])
        # Yes and no may be numbers or a category, and either may be the larger number.
        self._two_valued = np.ones(table.n_columns, dtype=bool)
        for _, z, _ in self._standardized():
            self._two_valued &= ((z == low) | (z == high) | np.isnan(z)).all(axis=0)

    def sums(self, factors: HostArray) -> HostArray:
        """Sums over columns, each multiplied by its factor, (n,)."""
        return np.concatenate([values @ factors for _, values in self._values()])

    def totals(self, factors: HostArray) -> HostArray:
        """Sums over rows, each multiplied by its factor, (m,)."""
        return np.asarray(sum(factors[some] @ values for some, values in self._values()))

    def _values(self) -> Iterator[tuple[slice, HostArray]]:
        """Numbers between -1 and 2."""
        for some, z, shares in self._standardized():
            size = np.abs(z)
            share = size / (1.0 + size)
            values = np.where(self._two_valued, 0.0, np.copysign(share, z)) + share**2
            for j, of_rows in shares.items():
                if not self._two_valued[j]:
                    values[:, j] = of_rows
            yield some, np.where(np.isnan(z), 1.5, values)

    def _standardized(self) -> Iterator[tuple[slice, HostArray, dict[int, HostArray]]]:
        for some in self.slices:
            yield some, *(self._read(some) if self._only is None else self._only)

    def _read(self, some: slice) -> tuple[HostArray, dict[int, HostArray]]:
        """Standardised values, and for every category the shares of the levels that rows have."""
        table, rows = self.table.locate(np.arange(some.start, some.stop))
        columns = np.arange(table.n_columns)
        z = np.array(to_numpy(table.exact.take(rows, columns)), dtype=np.float64)
        shares = {}
        if table.kinds is not None:
            for j in np.flatnonzero(table.kinds.is_category).tolist():
                codes = to_numpy(gather(table.x, rows, columns[j : j + 1]))[:, 0]
                of_levels = table.kinds.shares[j]
                assert of_levels is not None
                shares[j] = of_levels[np.where(np.isnan(codes), 0, codes).astype(np.intp)]
        return z, shares
