"""Levels of categories: their weights in some rows, and numbers that do not depend on how rows are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from l1lsmi._arrays import HostArray


class LevelTotals(NamedTuple):
    """Levels of some categories in rows so far; further rows can be merged.

    Attributes
    ----------
    weights : numpy.ndarray of shape (categories, levels)
        Weight of the rows that have each level.
    first : numpy.ndarray of int, same shape
        Number of the first row that has it, very large where there is none.
    n_rows : int
    """

    weights: HostArray
    first: HostArray
    n_rows: int

    @classmethod
    def of(cls, codes: HostArray, n_levels: HostArray, row_weights: HostArray | None = None) -> LevelTotals:
        """Of one block.

        Parameters
        ----------
        codes : numpy.ndarray of shape (n, categories)
            Numbers of levels, NaN where missing.
        n_levels : numpy.ndarray of int, shape (categories,)
        row_weights : numpy.ndarray of shape (n,) or None
            None counts every row once. Rows of weight 0 are not there.
        """
        shape = (n_levels.size, int(n_levels.max(initial=1)))
        weights, first = np.zeros(shape), np.full(shape, np.iinfo(np.int64).max // 2)
        counted = np.ones(len(codes), dtype=bool) if row_weights is None else row_weights > 0
        for i in range(n_levels.size):
            rows = np.flatnonzero(~np.isnan(codes[:, i]) & counted)
            levels = codes[rows, i].astype(np.intp)
            of_rows = None if row_weights is None else row_weights[rows]
            weights[i] = np.bincount(levels, of_rows, minlength=shape[1])
            found, places = np.unique(levels, return_index=True)
            first[i, found] = rows[places]
        return cls(weights, first, len(codes))

    def merged(self, other: LevelTotals) -> LevelTotals:
        """Of these rows and others that follow them."""
        first = np.minimum(self.first, other.first + self.n_rows)
        return LevelTotals(self.weights + other.weights, first, self.n_rows + other.n_rows)

    def numbers(self) -> HostArray:
        """Numbers of the levels by falling weight, of equal weights in the order of the first rows."""
        order = np.lexsort((self.first, -self.weights), axis=-1)
        numbers = np.empty(order.shape)
        np.put_along_axis(numbers, order, np.arange(order.shape[1], dtype=np.float64)[None], axis=1)
        return numbers


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
