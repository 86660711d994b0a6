"""Standardised columns of a sample of the rows, and statistics of single columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import betainc, gammaln

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._clock import check_time
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import RowTable, Table, is_large_sparse, sample_of, sampled_rows

#: Values that are worked on at a time.
CHUNK_VALUES = 2**16
#: Values that are kept.
KEPT_VALUES = 2**23
#: What is found must be less likely than this by chance, over all columns or pairs of columns.
CHANCE = 1e-6


@dataclass(frozen=True)
class Sample:
    """Some rows of a table with their targets, in order.

    Attributes
    ----------
    table : Table
        Has these rows.
    target : Target
    columns : numpy.ndarray of int
        The columns that are not constant.
    complete : bool
        Whether these are all rows.
    """

    table: Table
    target: Target
    columns: HostArray
    complete: bool

    @classmethod
    def of(cls, table: RowTable, target: Target) -> Sample:
        """Draw the rows that the distribution of columns is judged by."""
        rows = sampled_rows(table)
        drawn = target if rows is None else target.rows_of(rows)
        sample, columns = sample_of(table), table.varying
        if is_large_sparse(sample):
            # Nothing can be said of a column that is 0 in all rows of the sample.
            columns = columns[sample.x.occupied()[columns]]
        return cls(sample, drawn, columns, rows is None)

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    @cached_property
    def _all(self) -> HostArray | None:
        """All columns, where they are few enough to keep."""
        if self.n_rows * self.columns.size > KEPT_VALUES:
            return None
        return self._read(self.columns)

    def unit(self, columns: HostArray) -> HostArray:
        """Columns with mean 0 and length 1, (rows, columns); all 0 where one is constant in the sample."""
        if self._all is None:
            return self._read(columns)
        return self._all.take(np.searchsorted(self.columns, columns), axis=1)

    def _read(self, columns: HostArray) -> HostArray:
        return to_unit(standardized_values(self.table, columns))

    def chunks(self, columns: HostArray) -> Iterator[tuple[HostArray, HostArray]]:
        """Columns, some at a time, with their `unit` values."""
        step = max(1, CHUNK_VALUES // self.n_rows)
        whole = self._all if columns.size == self.columns.size else None
        for start in range(0, columns.size, step):
            check_time()
            some = columns[start : start + step]
            yield some, self.unit(some) if whole is None else whole[:, start : start + step]


def standardized_values(table: Table, columns: HostArray) -> HostArray:
    """Standardised columns of all rows of a table; missing values are at the mean."""
    z = np.asarray(to_numpy(table.take(np.arange(table.n_rows), columns)), dtype=np.float64)
    if table.kinds is not None:
        z[np.isnan(z)] = 0.0
    return z


def to_unit(z: HostArray) -> HostArray:
    """Columns with mean 0 and length 1, in place; all 0 for constant ones."""
    constant = (z == z[:1]).all(axis=0)
    z -= z.mean(axis=0)
    length = np.sqrt(np.einsum("ij,ij->j", z, z))
    z /= np.where(length > 0, length, 1.0)
    z[:, constant] = 0.0
    return z


def ranks(x: HostArray) -> HostArray:
    """Ranks of the values of every column, (rows, columns); ties have their mean rank."""
    found = np.empty(x.shape)
    for j in range(x.shape[1]):
        inverse, counts = np.unique(x[:, j], return_inverse=True, return_counts=True)[1:]
        found[:, j] = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return found


def chance_of_correlation(squared: HostArray, n_rows: int, n_groups: int = 2) -> HostArray:
    """Probability of a squared correlation, or share of variance between groups, without dependence."""
    if n_rows <= n_groups:
        return np.ones_like(squared)
    inside = np.clip(1 - squared, 0.0, 1.0)
    return np.asarray(betainc((n_rows - n_groups) / 2, (n_groups - 1) / 2, inside))


def log_chance_of_order(x: HostArray) -> HostArray:
    """Logarithm of the probability that the values of a column, shuffled, come out in the same order."""
    n_rows = len(x)
    found = np.empty(x.shape[1])
    for j in range(x.shape[1]):
        counts = np.unique(x[:, j], return_counts=True)[1]
        found[j] = gammaln(counts + 1).sum() - gammaln(n_rows + 1)
    return found


def largest_tie(x: HostArray) -> HostArray:
    """Number of rows with the most frequent value of every column."""
    return np.array([np.unique(x[:, j], return_counts=True)[1].max() for j in range(x.shape[1])], dtype=int)
