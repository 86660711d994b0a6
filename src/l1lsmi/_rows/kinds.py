r"""Columns that are more than complete numbers: categories, and columns with missing values.

Distances between rows are Euclidean in *coordinates* of the columns. A number has one coordinate, its
standardised value. A category of L levels with shares :math:`p_l` has L, which are
:math:`(1[x = l] - p_l) / \sqrt{1 - \sum_l p_l^2}`: two rows are at the same distance wherever their levels
differ, and the mean squared distance between rows is 2, as it is for a standardised number. A category that
mostly has one level is scaled down as numbers are that mostly have one value (`tails`): rows with other
levels would be far from all others. All coordinates of a column share its weight, so that a Gaussian kernel
has one factor for it: equal or not.

A missing value says nothing: it is at the mean of the column, and to its squared distance from any other row
the variance of the column is added, which is what the mean squared distance would be if the value were drawn
at random (``spread``). Where missingness itself informs, "missing" is a value: one more coordinate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from l1lsmi._arrays import Array, HostArray, asarray_like, empty, in_float64, namespace, to_numpy

#: Standard units that a rare value may lie away from a common one.
RARE_DISTANCE = 3.0


class Coordinates(NamedTuple):
    """Coordinates of some columns at some rows.

    Attributes
    ----------
    values : array of shape (..., rows, coordinates)
    spread : array of the same shape, or None
        What missing values add to squared distances; None where none are missing.
    """

    values: Array
    spread: Array | None = None

    @property
    def squares(self) -> Array:
        """Squares of the values, with what missing values add."""
        squares = self.values * self.values
        return squares if self.spread is None else squares + self.spread


@dataclass(frozen=True, eq=False)
class Kinds:
    """What the columns of a table are.

    Attributes
    ----------
    shares : tuple of numpy.ndarray or None, one for each column
        Of a category, the shares of its levels among the values that are not missing; a value is the number
        of its level. None for numbers.
    missing_share : numpy.ndarray of shape (m,)
        Share of the rows without a value, which have NaN.
    as_value : numpy.ndarray of bool, shape (m,)
        Whether "missing" is a value of its own.
    """

    shares: tuple[HostArray | None, ...]
    missing_share: HostArray
    as_value: HostArray

    @classmethod
    def numbers(cls, missing_share: HostArray) -> Kinds:
        """Columns of numbers, with missing values."""
        m = missing_share.size
        return cls((None,) * m, missing_share, np.zeros(m, dtype=bool))

    @cached_property
    def n_levels(self) -> HostArray:
        """Levels of each category, 0 for numbers."""
        return np.array([0 if some is None else some.size for some in self.shares], dtype=np.intp)

    @cached_property
    def is_category(self) -> HostArray:
        return np.asarray(self.n_levels > 0)

    @cached_property
    def is_plain(self) -> HostArray:
        """Which columns are complete numbers."""
        return np.asarray(~self.is_category & (self.missing_share == 0))

    @cached_property
    def widths(self) -> HostArray:
        """Coordinates of each column."""
        return np.asarray(np.maximum(self.n_levels, 1) + self.as_value)

    def with_numbers(self, n_columns: int) -> Kinds:
        """The same, and further columns that are complete numbers."""
        missing = np.append(self.missing_share, np.zeros(n_columns))
        as_value = np.append(self.as_value, np.zeros(n_columns, dtype=bool))
        return Kinds((*self.shares, *(None,) * n_columns), missing, as_value)

    def with_missing_as_value(self, as_value: HostArray) -> Kinds:
        """The same, with "missing" a value of its own in some columns."""
        some = (self.missing_share > 0) & (self.missing_share < 1)
        return replace(self, as_value=np.asarray(as_value & some))

    def renumbered(self, numbers: HostArray) -> Kinds:
        """The same with other numbers of the levels of categories, given as an array (categories, L)."""
        shares = list(self.shares)
        for j, number_of in zip(np.flatnonzero(self.is_category).tolist(), numbers, strict=True):
            old = shares[j]
            assert old is not None
            shares[j] = old[np.argsort(number_of[: old.size])]
        return replace(self, shares=tuple(shares))

    def recounted(self, level_weights: HostArray, missing_share: HostArray) -> Kinds:
        """The same columns in other rows, given the weights of the levels of categories (categories, L).

        The last levels are left out where no row has them.
        """
        shares = list(self.shares)
        for j, some in zip(np.flatnonzero(self.is_category).tolist(), level_weights, strict=True):
            there = np.flatnonzero(some)
            shares[j] = some[: there[-1] + 1] / some.sum() if there.size else None
        return Kinds(tuple(shares), missing_share, np.zeros(missing_share.size, dtype=bool))

    def columns_of(self, columns: HostArray) -> Kinds:
        """What some columns are, in any order and repeated or not."""
        shares = tuple(self.shares[j] for j in columns.tolist())
        return Kinds(shares, self.missing_share[columns], self.as_value[columns])

    def rows_of(self, x: HostArray) -> Kinds:
        """The same columns in some rows, whose values are given: shares are those of these rows."""
        shares = tuple(
            None if some is None else shares_of(x[:, j], some.size) for j, some in enumerate(self.shares)
        )
        missing = missing_shares(x)
        return Kinds(shares, missing, self.as_value & (missing > 0) & (missing < 1))

    def widths_of(self, columns: HostArray) -> HostArray:
        """Coordinates of some columns; of a batch (r, w) so many that those of every member fit."""
        return np.asarray(self.widths[columns].reshape(-1, columns.shape[-1]).max(axis=0))

    # -- coordinates -----------------------------------------------------------------------

    def coordinates(
        self, raw: Array, standardized: Array, columns: HostArray, widths: HostArray
    ) -> Coordinates:
        """Coordinates of some columns, from their values.

        Parameters
        ----------
        raw, standardized : array of shape (rows, w)
            In float64, NaN where a value is missing.
        columns : numpy.ndarray of int, shape (w,)
        widths : numpy.ndarray of int, shape (w,)
            Coordinates that each is given; those beyond its own are 0.
        """
        xp = namespace(raw)
        starts = np.cumsum(widths) - widths
        shape = (int(raw.shape[0]), int(widths.sum()))
        values = empty(shape, raw, raw.dtype)
        values[...] = 0.0
        has_missing = bool((self.missing_share[columns] > 0).any())
        spread = None
        if has_missing:
            spread = empty(shape, raw, raw.dtype)
            spread[...] = 0.0
        numbers = np.flatnonzero(~self.is_category[columns])
        if numbers.size:
            z = xp.take(standardized, asarray_like(numbers, raw), axis=1)
            gone = xp.isnan(z)
            _write(values, starts[numbers], xp.where(gone, xp.zeros_like(z), z))
            if spread is not None:
                said = asarray_like(self.as_value[columns[numbers]].astype(np.float64), raw)
                _write(spread, starts[numbers], xp.astype(gone, raw.dtype) * (1.0 - said))
        for i in np.flatnonzero(self.is_category[columns]):
            self._of_category(raw[:, int(i)], int(columns[i]), int(starts[i]), values, spread)
        for i in np.flatnonzero(self.as_value[columns]):
            share = float(self.missing_share[columns[i]])
            gone = xp.astype(xp.isnan(raw[:, int(i)]), raw.dtype)
            last = int(starts[i] + self.widths[columns[i]] - 1)
            values[:, last] = (gone - share) / math.sqrt(share * (1 - share))
        return Coordinates(values, spread)

    def _of_category(
        self, codes: Array, column: int, start: int, values: Array, spread: Array | None
    ) -> None:
        """Write the coordinates of one category."""
        shares = self.shares[column]
        assert shares is not None
        xp = namespace(codes)
        unit = _unit(shares)
        present = xp.astype(~xp.isnan(codes), values.dtype)
        for level, share in enumerate(shares.tolist()):
            equal = xp.astype(codes == float(level), values.dtype)
            values[:, start + level] = (equal - share * present) / unit
            if spread is not None and not self.as_value[column]:
                spread[:, start + level] = (1.0 - present) * (share * (1 - share) / unit**2)


def _unit(shares: HostArray) -> float:
    """What the coordinates of a category are divided by, given the shares of its levels."""
    rare = 1 - float(shares.max())
    odds = math.sqrt(float(shares.max()) / max(rare, 1e-300))
    return math.sqrt(max(1 - float((shares**2).sum()), 1e-300)) * max(1.0, odds / RARE_DISTANCE)


def _write(into: Array, places: HostArray, values: Array) -> None:
    """Write columns to their places, those that follow each other at once: all libraries assign to slices."""
    ends = np.append(np.flatnonzero(np.diff(places) != 1) + 1, places.size)
    start = 0
    for end in ends.tolist():
        first = int(places[start])
        into[:, first : first + end - start] = values[:, start:end]
        start = end


def repeated(values: Array, widths: HostArray) -> Array:
    """Values of columns, (..., w), for each of their coordinates."""
    if (widths == 1).all():
        return values
    index = np.repeat(np.arange(widths.size), widths)
    return namespace(values).take(values, asarray_like(index, values), axis=-1)


def summed(values: Array, widths: HostArray) -> Array:
    """Sums over the coordinates of each column, (..., w)."""
    if (widths == 1).all():
        return values
    across = np.repeat(np.eye(widths.size), widths, axis=0)
    return values @ asarray_like(across, values, dtype=values.dtype)


def shares_of(codes: HostArray, n_levels: int, row_weights: HostArray | None = None) -> HostArray:
    """Shares of the levels of a category among its values; NaN is missing."""
    present = ~np.isnan(codes)
    weights = None if row_weights is None else row_weights[present]
    counts = np.bincount(codes[present].astype(np.intp), weights, minlength=n_levels).astype(np.float64)
    return np.asarray(counts / max(counts.sum(), 1e-300))


def missing_shares(x: Array, row_weights: HostArray | None = None) -> HostArray:
    """Share of the rows without a value, for each column."""
    xp = namespace(x)
    gone = in_float64(xp.astype(xp.isnan(x), xp.float64))
    if row_weights is None:
        return np.asarray(to_numpy(xp.mean(gone, axis=0)))
    weights = asarray_like(row_weights / row_weights.sum(), gone)
    # Exactly 1 where all are missing, whatever the order of sums.
    always = to_numpy(xp.min(gone, axis=0)) == 1
    return np.where(always, 1.0, to_numpy(weights @ gone))
