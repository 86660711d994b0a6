"""Levels of categories: their weights in some rows, and numbers that do not depend on how rows are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._rows.distinct import row_hashes

#: Larger weights are not numbers of copies: from here on float64 has not all whole numbers.
MOST_COPIES = 2.0**53


class LevelTotals(NamedTuple):
    """Levels of some categories in rows so far; further rows can be merged.

    Attributes
    ----------
    weights : numpy.ndarray of shape (categories, levels)
        Weight of the rows that have each level.
    marks : numpy.ndarray of uint64, same shape
        Sums of numbers of these rows that depend neither on their order nor on how levels are named or
        numbered: two levels of equal weight are told apart by them.
    first : numpy.ndarray of int, same shape
        Number of the first row that has it, very large where there is none.
    n_rows : int
    """

    weights: HostArray
    marks: HostArray
    first: HostArray
    n_rows: int

    @classmethod
    def of(
        cls,
        codes: HostArray,
        n_levels: HostArray,
        row_weights: HostArray | None = None,
        row_marks: HostArray | None = None,
    ) -> LevelTotals:
        """Of one block.

        Parameters
        ----------
        codes : numpy.ndarray of shape (n, categories)
            Numbers of levels, NaN where missing.
        n_levels : numpy.ndarray of int, shape (categories,)
        row_weights : numpy.ndarray of shape (n,) or None
            None counts every row once. Rows of weight 0 are not there.
        row_marks : numpy.ndarray of uint64, shape (n,) or None
            None is 0.
        """
        shape = (n_levels.size, int(n_levels.max(initial=1)))
        weights, first = np.zeros(shape), np.full(shape, np.iinfo(np.int64).max // 2)
        counted = np.ones(len(codes), dtype=bool) if row_weights is None else row_weights > 0
        marks, of_rows_marked = np.zeros(shape, dtype=np.uint64), _marked(row_marks, row_weights)
        for i in range(n_levels.size):
            rows = np.flatnonzero(~np.isnan(codes[:, i]) & counted)
            levels = codes[rows, i].astype(np.intp)
            of_rows = None if row_weights is None else row_weights[rows]
            weights[i] = np.bincount(levels, of_rows, minlength=shape[1])
            if of_rows_marked is not None:
                np.add.at(marks[i], levels, of_rows_marked[rows])
            found, places = np.unique(levels, return_index=True)
            first[i, found] = rows[places]
        return cls(weights, marks, first, len(codes))

    def merged(self, other: LevelTotals) -> LevelTotals:
        """Of these rows and others that follow them."""
        first = np.minimum(self.first, other.first + self.n_rows)
        n_rows = self.n_rows + other.n_rows
        return LevelTotals(self.weights + other.weights, self.marks + other.marks, first, n_rows)

    def numbers(self) -> HostArray:
        """Numbers of the levels by falling weight, of equal weights in the order of their marks."""
        order = np.lexsort((self.first, self.marks, -self.weights), axis=-1)
        numbers = np.empty(order.shape)
        np.put_along_axis(numbers, order, np.arange(order.shape[1], dtype=np.float64)[None], axis=1)
        return numbers


def _marked(row_marks: HostArray | None, row_weights: HostArray | None) -> HostArray | None:
    """Marks of rows, of a row of a whole weight those of so many copies."""
    if row_marks is None or row_weights is None:
        return row_marks
    if (row_weights != np.floor(row_weights)).any() or (row_weights > MOST_COPIES).any():
        return row_marks
    return np.asarray(row_marks * row_weights.astype(np.uint64))


def level_totals(
    block: HostArray,
    categories: HostArray,
    n_levels: HostArray,
    row_weights: HostArray | None,
    key_hashes: HostArray,
) -> LevelTotals:
    """Levels of the categories of a block, which other columns and targets tell apart.

    Parameters
    ----------
    block : numpy.ndarray of shape (n, m)
    categories : numpy.ndarray of int
        Those of its columns that are categories.
    n_levels : numpy.ndarray of int
        How many each has.
    row_weights : numpy.ndarray of shape (n,) or None
    key_hashes : numpy.ndarray of uint64, shape (n,)
        Of targets and other numbers of the rows.
    """
    numbers = np.delete(block, categories, axis=1)
    return LevelTotals.of(block[:, categories], n_levels, row_weights, row_hashes(numbers) + key_hashes)


def code_moments(shares: HostArray) -> tuple[float, float]:
    """Mean and standard deviation of the numbers of levels that have given shares."""
    codes = np.arange(shares.size)
    mean = float(shares @ codes)
    return mean, float(np.sqrt(shares @ (codes - mean) ** 2))


def in_order_of(numbers: HostArray, levels: Sequence[Any]) -> list[Any]:
    """Levels, or what belongs to each, in the order of their new numbers."""
    return [levels[old] for old in np.argsort(numbers[: len(levels)])]


def renumbered(x: HostArray, columns: HostArray, numbers: HostArray) -> HostArray:
    """Rows with other numbers of the levels of some columns, given as an array (columns, levels)."""
    x = np.array(x, dtype=np.float64)
    for j, number_of in zip(columns.tolist(), numbers, strict=True):
        present = ~np.isnan(x[:, j])
        x[present, j] = number_of[x[present, j].astype(np.intp)]
    return x
