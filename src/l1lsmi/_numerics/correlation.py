"""Absolute Pearson correlation, between columns and with a target of either kind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target
from l1lsmi._rows.kinds import shares_of
from l1lsmi._rows.statistics import column_statistics, standardize

#: Products of functions of columns of any kind that are held at a time.
PRODUCTS = 2**23


def correlation_between(left: HostArray, right: HostArray, row_weights: HostArray | None = None) -> HostArray:
    """Absolute correlation of every column of ``left`` with every one of ``right``.

    Parameters
    ----------
    left, right : numpy.ndarray of shape (n, m), (n, p)
        Standardised columns.
    row_weights : numpy.ndarray of shape (n,) or None

    Returns
    -------
    numpy.ndarray of shape (m, p)
    """
    if row_weights is not None:
        right = right * row_weights[:, None]
    products: HostArray = left.T @ right
    np.abs(products, out=products)
    products /= left.shape[0] if row_weights is None else row_weights.sum()
    return np.minimum(products, 1.0, out=products)


def correlation_with_target(x: HostArray, target: Target) -> HostArray:
    r"""Absolute correlation of every column with the target.

    For classes it is the mean of the correlations with the class indicators, weighted by how frequent
    the classes are (Hall, 2000): :math:`\sum_c p_c |\rho(x, 1[y = c])|`. For several targets it is the mean
    of the correlations with each.

    Parameters
    ----------
    x : numpy.ndarray of shape (n, m)
        Standardised columns.
    target : Target

    Returns
    -------
    numpy.ndarray of shape (m,)
    """
    if target.parts:
        return np.asarray(np.mean([correlation_with_target(x, one) for one in target.each()], axis=0))
    if target.values is not None:
        return np.asarray(correlation_between(x, target.columns, target.row_weights).mean(axis=1))
    sums, counts = class_sums(x, target)
    share = counts / target.weight
    # The columns have mean 0 and deviation 1, an indicator has deviation sqrt(p (1 - p)).
    each = np.abs(sums) / (target.weight * np.sqrt(share * (1 - share)))[:, None]
    return np.asarray(share @ np.minimum(each, 1.0))


def correlation_of_values(x: HostArray, n_levels: int, target: Target) -> float:
    """The same of one column of any kind, in the rows in which it has a value.

    Of a category it is the correlation ratio: the correlation with the means of the target in its levels.

    Parameters
    ----------
    x : numpy.ndarray of shape (n,)
        Numbers, or numbers of levels; NaN where missing.
    n_levels : int
        0 for numbers.
    target : Target
    """
    rows = np.flatnonzero(~np.isnan(x))
    some, x = target.rows_of(rows), x[rows]
    weights = np.ones(rows.size) if some.row_weights is None else some.row_weights
    if rows.size < 2:
        return 0.0
    of_target = some.columns if some.values is not None else np.eye(int(target.codes.max()) + 1)[some.codes]
    weights = weights / weights.sum()
    means = weights @ of_target
    gaps = of_target - means
    total = weights @ gaps**2
    if n_levels:
        shares = np.bincount(x.astype(np.intp), weights, minlength=n_levels)
        sums = np.stack([np.bincount(x.astype(np.intp), weights * gap, minlength=n_levels) for gap in gaps.T])
        between = (sums**2 / np.maximum(shares, 1e-300)).sum(axis=1)
    else:
        z = x - weights @ x
        between = (weights * z @ gaps) ** 2 / max(float(weights @ z**2), 1e-300)
    each = np.sqrt(np.minimum(between / np.maximum(total, 1e-300), 1.0))
    return float(each.mean() if some.values is not None else means @ each)


def correlation_of_columns(
    one: HostArray, n_levels: int, other: HostArray, other_levels: int, at_least: int = 2
) -> float:
    """Absolute correlation of two columns of any kind, in the rows in which both have a value.

    Of a category with a number it is the correlation ratio, of two categories Cramer's V.

    Parameters
    ----------
    one, other : numpy.ndarray of shape (n,)
        Numbers, or numbers of levels; NaN where missing.
    n_levels, other_levels : int
        0 for numbers.
    at_least : int
        The correlation is 0 where fewer rows have both values.
    """
    rows = ~(np.isnan(one) | np.isnan(other))
    if np.count_nonzero(rows) < at_least:
        return 0.0
    one, other = one[rows], other[rows]
    if n_levels and other_levels:
        return cramers_v(one.astype(np.intp), other.astype(np.intp))
    if other_levels:
        one, other, n_levels = other, one, other_levels
    scale = float(other.std())
    if scale == 0:
        return 0.0
    return correlation_of_values(one, n_levels, Target.of_values(other, float(other.mean()), scale))


@dataclass(frozen=True)
class Whitened:
    """Columns of any kind as functions of mean 0: one of a number, one for each level of a category.

    The function of a number has variance 1. That of a level with share p is its indicator less p, over the
    root of p: the squared correlations of the functions of two categories then add up to their chi-squared
    statistic over the number of rows. Where a value is missing, functions are 0.

    Attributes
    ----------
    functions : numpy.ndarray of shape (n, c)
    widths : numpy.ndarray of int, shape (m,)
        Functions of each column.
    row_weights : numpy.ndarray of shape (n,) or None
    """

    functions: HostArray
    widths: HostArray
    row_weights: HostArray | None = None

    @classmethod
    def of(cls, x: HostArray, n_levels: HostArray, row_weights: HostArray | None = None) -> Whitened:
        """Functions of columns that vary.

        Parameters
        ----------
        x : numpy.ndarray of shape (n, m)
            Numbers, or numbers of levels; NaN where missing.
        n_levels : numpy.ndarray of int, shape (m,)
            0 for numbers.
        row_weights : numpy.ndarray of shape (n,) or None
        """
        parts = [
            _of_levels(column, levels, row_weights) if levels else _of_numbers(column, row_weights)
            for column, levels in zip(x.T, n_levels.tolist(), strict=True)
        ]
        return cls(np.hstack(parts), np.array([part.shape[1] for part in parts]), row_weights)

    @property
    def n_columns(self) -> int:
        return int(self.widths.size)

    def correlations(self, some: HostArray | None = None) -> HostArray:
        """Absolute correlations of all columns with some of them, or all, (m, p); 1 with themselves.

        Of a category with a number it is the correlation ratio, of two categories Cramer's V: the norm of
        the correlations of their functions, over the root of the degrees of freedom of the one that has
        fewer.
        """
        some = np.arange(self.n_columns) if some is None else some
        found = np.empty((self.n_columns, some.size))
        step = max(1, PRODUCTS // (self.functions.shape[1] * int(self.widths.max())))
        for start in range(0, some.size, step):
            found[:, start : start + step] = self._correlations(some[start : start + step])
        np.minimum(found, 1.0, out=found)
        found[some, np.arange(some.size)] = 1.0
        return found

    def correlations_with(self, j: int) -> HostArray:
        """Absolute correlations of all columns with one, (m,)."""
        return self.correlations(np.array([j]))[:, 0]

    def _correlations(self, some: HostArray) -> HostArray:
        starts, widths = np.cumsum(self.widths) - self.widths, self.widths[some]
        right = self.functions[
            :, np.concatenate([np.arange(starts[j], starts[j] + self.widths[j]) for j in some])
        ]
        if self.row_weights is None:
            products = self.functions.T @ right / right.shape[0]
        else:
            products = self.functions.T @ (right * self.row_weights[:, None]) / self.row_weights.sum()
        squares = np.add.reduceat(products**2, starts, axis=0)
        totals = np.add.reduceat(squares, np.cumsum(widths) - widths, axis=1)
        degrees = np.maximum(self.widths - 1, 1)
        return np.asarray(np.sqrt(totals / np.minimum(degrees[:, None], degrees[some])))


def _of_numbers(column: HostArray, row_weights: HostArray | None) -> HostArray:
    values = np.array(column)[:, None]
    z = standardize(values, *column_statistics(values, row_weights))
    return np.asarray(np.where(np.isnan(z), 0.0, z))


def _of_levels(column: HostArray, n_levels: int, row_weights: HostArray | None) -> HostArray:
    shares = shares_of(column, n_levels, row_weights)
    levels = np.flatnonzero(shares)
    shares = shares[levels]
    found = ((column[:, None] == levels) - shares) / np.sqrt(shares)
    found[np.isnan(column)] = 0.0
    return np.asarray(found)


def cramers_v(one: HostArray, other: HostArray) -> float:
    """Cramer's V of two categories: 1 where the one with fewer levels is a function of the other."""
    counts = np.zeros((int(one.max()) + 1, int(other.max()) + 1))
    np.add.at(counts, (one, other), 1.0)
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    least = min(counts.shape) - 1
    if least == 0:
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / one.size
    return float(min(1.0, np.sqrt(((counts - expected) ** 2 / expected).sum() / (one.size * least))))


def class_sums(x: HostArray, target: Target) -> tuple[HostArray, HostArray]:
    """Sums of every column over the rows of each class, (C, m), and the weight of these rows, (C,)."""
    assert target.classes is not None
    n, n_classes = target.n_rows, target.classes.size
    weights = np.ones(n) if target.row_weights is None else target.row_weights
    members = csr_array((weights, target.codes, np.arange(n + 1)), shape=(n, n_classes))
    return members.T @ x, np.bincount(target.codes, target.row_weights, minlength=n_classes)


def f_statistic(x: HostArray, target: Target) -> HostArray:
    """F statistic of every standardised column: analysis of variance for classes, else regression.

    It is kept finite where the target determines a column; for several targets it is the mean over them.
    """
    if target.parts:
        return np.asarray(np.mean([f_statistic(x, one) for one in target.each()], axis=0))
    n = target.weight
    if target.values is None:
        sums, counts = class_sums(x, target)
        between, groups = (sums**2 / counts[:, None]).sum(axis=0) / n, counts.size
    else:
        between, groups = correlation_between(x, target.columns, target.row_weights)[:, 0] ** 2, 2
    within = np.maximum(1 - between, 1e-12)
    return np.asarray((between / (groups - 1)) / (within / max(n - groups, 1)))
