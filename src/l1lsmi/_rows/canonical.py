"""An order of rows that depends on what the rows are, and not on the order in which they are given.

Folds, kernel centres and samples are drawn over the numbers of rows. For a selection to be the same however
the rows are given, rows are numbered by keys. A key depends neither on the order of rows or columns, nor on
units (columns enter by the ranks of their values), nor on the names of classes (they enter by which rows they
have):

- the first key of a row is the sum of numbers made of its ranks;
- each column, and each class, then gets a key: the sum of numbers made of its ranks and of the keys of its
  rows;
- the next key of a row is made of its ranks and of the keys of its columns and classes.

Keys are whole numbers of 64 bits, whose sums are exact in any order. The columns with the least skewness, in
which rows differ most, come first; further columns are read where these do not tell all rows apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from l1lsmi._arrays import Array, HostArray, take_columns, take_rows, to_numpy
from l1lsmi._rows.statistics import column_statistics

#: Columns that are read first, and the factor by which they become more.
FIRST_READ = 8
MORE_READ = 8
#: Columns whose skewness differs by less may change places when values are rescaled.
SAME_SKEWNESS = 1e-6
#: Columns whose skewness is computed at a time.
CHUNK_COLUMNS = 64
#: How often keys of columns and classes are made of those of rows.
N_ROUNDS = 2

#: Reads some columns of the rows, (n, s).
ReadColumns: TypeAlias = Callable[[HostArray], HostArray]


def order_in_memory(
    x: Array, rows: HostArray, is_category: HostArray, targets: HostArray, ties: HostArray
) -> HostArray:
    """`canonical_order` of some rows of an array, with their targets."""
    some = x if np.array_equal(rows, np.arange(int(x.shape[0]))) else take_rows(x, rows)
    found = []
    for start in range(0, int(x.shape[1]), CHUNK_COLUMNS):
        columns = np.arange(start, min(start + CHUNK_COLUMNS, int(x.shape[1])))
        values = to_numpy(take_columns(some, columns))
        found.append(Moments.of(values, *column_statistics(values)).skewness())
    skewness = np.concatenate(found)
    return canonical_order(
        lambda columns: to_numpy(take_columns(some, columns)), skewness, is_category, targets, ties
    )


class Moments(NamedTuple):
    """Sums of powers of the values of every column, less a mean and over a scale; further rows can be merged.

    Attributes
    ----------
    present, first, second, third : numpy.ndarray of shape (m,)
    """

    present: HostArray
    first: HostArray
    second: HostArray
    third: HostArray

    @classmethod
    def of(cls, block: HostArray, mean: HostArray, scale: HostArray) -> Moments:
        """Of the rows of a block; missing values do not count."""
        with np.errstate(all="ignore"):
            z = (np.asarray(block, dtype=np.float64) - mean) / np.where(scale > 0, scale, 1.0)
            gone = np.isnan(z)
            z[gone] = 0.0
            square = z * z
            present = len(z) - np.count_nonzero(gone, axis=0)
            return cls(present, z.sum(axis=0), square.sum(axis=0), (square * z).sum(axis=0))

    def merged(self, other: Moments) -> Moments:
        """Of the rows of both."""
        return Moments(*(one + two for one, two in zip(self, other, strict=True)))

    def skewness(self) -> HostArray:
        """Absolute skewness of every column, infinite where there is none."""
        with np.errstate(all="ignore"):
            mean = self.first / self.present
            variance = self.second / self.present - mean**2
            cube = self.third / self.present - 3 * mean * variance - mean**3
            found = np.abs(cube) / variance**1.5
        return np.where(np.isfinite(found), found, np.inf)


def canonical_order(
    read: ReadColumns, skewness: HostArray, is_category: HostArray, targets: HostArray, ties: HostArray
) -> HostArray:
    """Numbers of rows, all different, in the order of their keys.

    Parameters
    ----------
    read : callable
    skewness : numpy.ndarray of shape (m,)
    is_category : numpy.ndarray of bool, shape (m,)
        Columns whose values are numbers of levels.
    targets : numpy.ndarray of shape (n, t)
        A column with fractions has values, others have classes.
    ties : numpy.ndarray of shape (n,)
        Order of rows with the same key, which are the same up to an exchange of columns.

    Returns
    -------
    numpy.ndarray of int, shape (n,)
    """
    skewness = np.where(is_category, np.inf, skewness)
    by_skewness = np.argsort(skewness, kind="stable")
    ordered = skewness[by_skewness]
    with np.errstate(invalid="ignore"):
        are_apart = ordered[1:] - ordered[:-1] > SAME_SKEWNESS * (1 + ordered[:-1])
    ends = np.append(np.flatnonzero(are_apart) + 1, skewness.size)
    values, classes = _values_and_classes(targets)
    most = FIRST_READ
    while True:
        n_read = int(ends[min(int(np.searchsorted(ends, most)), ends.size - 1)])
        columns = np.sort(by_skewness[:n_read])
        keys = _keys(_ranks(read(columns), is_category[columns]), values, classes)
        if n_read == skewness.size or np.unique(keys).size == keys.size:
            return np.lexsort((ties, keys))
        most *= MORE_READ


def column_order(values: HostArray) -> HostArray:
    """An order of columns that depends on the ranks of their values alone: their places, first to last.

    Parameters
    ----------
    values : numpy.ndarray of shape (n, m)
        Rows in an order of their own.

    Returns
    -------
    numpy.ndarray of int, shape (m,)
    """
    ranks = _ranks(values, np.zeros(values.shape[1], dtype=bool))
    numbers = np.arange(len(values), dtype=np.uint64)[:, None] * _SALTS[1]
    return np.argsort(_mixed(ranks + numbers).sum(axis=0, dtype=np.uint64), kind="stable")


def _values_and_classes(targets: HostArray) -> tuple[HostArray, HostArray]:
    """Ranks of targets that have fractions, and numbers of the classes of the others."""
    have_fractions = (targets != np.floor(targets)).any(axis=0)
    ranks = _ranks(targets, np.zeros(targets.shape[1], dtype=bool))
    return ranks[:, have_fractions], ranks[:, ~have_fractions].astype(np.intp)


def _ranks(x: HostArray, is_category: HostArray) -> HostArray:
    """Numbers of the different values of every column in their order; of levels, how many rows have them."""
    found = np.empty(x.shape, dtype=np.uint64)
    for j in range(x.shape[1]):
        _, ranks, counts = np.unique(x[:, j], return_inverse=True, return_counts=True)
        found[:, j] = counts[ranks.ravel()] if is_category[j] else ranks.ravel()
    return found


def _keys(ranks: HostArray, values: HostArray, classes: HostArray) -> HostArray:
    of_values = _mixed(values + _SALTS[0]) @ (2 * np.arange(values.shape[1], dtype=np.uint64) + 1)
    keys = _mixed(ranks).sum(axis=1, dtype=np.uint64) + of_values
    for _ in range(N_ROUNDS):
        of_columns = _mixed(ranks * _SALTS[1] + keys[:, None]).sum(axis=0, dtype=np.uint64)
        of_rows = _mixed(ranks * _SALTS[1] + of_columns).sum(axis=1, dtype=np.uint64) + of_values
        marks = _mixed(keys + _SALTS[2])
        for each in classes.T:
            of_classes = np.zeros(int(each.max()) + 1, dtype=np.uint64)
            np.add.at(of_classes, each, marks)
            of_rows += _mixed(of_classes)[each]
        keys = _mixed(of_rows)
    return np.asarray(keys)


#: Odd numbers of 64 bits, drawn once.
_SALTS = np.random.default_rng(2025).integers(0, 2**63, size=5, dtype=np.uint64) * 2 + 1


def _mixed(numbers: HostArray) -> HostArray:
    """Whole numbers of 64 bits, every bit of which depends on every bit of those given."""
    mixed = (numbers ^ (numbers >> np.uint64(32))) * _SALTS[3]
    mixed = (mixed ^ (mixed >> np.uint64(29))) * _SALTS[4]
    return np.asarray(mixed ^ (mixed >> np.uint64(32)))
