"""Comparison of methods: on one dataset by a paired test over trials, on several by their mean ranks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2, rankdata, studentized_range, ttest_rel

from l1lsmi._arrays import HostArray


@dataclass(frozen=True)
class Comparison:
    """Comparison of methods on one dataset.

    Attributes
    ----------
    best : int
        The method with the lowest mean error.
    tied : numpy.ndarray of bool, shape (methods,)
        The best method, and those that are not significantly worse. They are in bold in the tables of the
        paper.
    p_values : numpy.ndarray of shape (methods,)
        One-sided p-values of the difference from the best: 1 for the best itself, nan for methods without
        results.
    """

    best: int
    tied: HostArray
    p_values: HostArray


@dataclass(frozen=True)
class CriticalDifference:
    """Comparison of methods on several datasets.

    Attributes
    ----------
    ranks : numpy.ndarray of shape (methods,)
        Mean rank, 1 for a method that is best on all datasets.
    friedman_p : float
        p-value of the Friedman test that all methods perform equally well.
    critical_difference : float
        Mean ranks differ significantly if their difference is larger than this (Nemenyi).
    groups : tuple of tuple of int
        Maximal sets of at least two methods that do not differ significantly, best first, each in order of
        rank.
    """

    ranks: HostArray
    friedman_p: float
    critical_difference: float
    groups: tuple[tuple[int, ...], ...]


def compare_methods(errors: Any, *, alpha: float = 0.05) -> Comparison:
    """Compare methods by their errors in the same trials, as in the paper.

    The best method has the lowest mean error. Another method is tied with it unless its errors are
    significantly larger, by the one-sided paired t-test at level ``alpha``.

    Parameters
    ----------
    errors : array-like of shape (trials, methods)
        Lower is better; a column of nan is a method without results.
    alpha : float, default=0.05

    Returns
    -------
    Comparison
        If the difference from the best is the same in all trials, or there is a single trial, no test is
        possible: the method is tied if the difference is 0, and worse otherwise.

    Examples
    --------
    >>> from l1lsmi.evaluation import compare_methods
    >>> compare_methods([[0.10, 0.20, 0.11], [0.12, 0.25, 0.11], [0.11, 0.20, 0.12]]).tied.tolist()
    [True, False, True]
    """
    _check_alpha(alpha)
    values = _check_table("errors", errors, "trials, methods")
    missing = np.isnan(values)
    partly = np.flatnonzero(missing.any(axis=0) & ~missing.all(axis=0))
    if partly.size:
        raise ValueError(
            f"errors has nan in {missing[:, partly[0]].sum()} of {values.shape[0]} trials of method "
            f"{partly[0]}: drop those trials of all methods, or make the whole column nan."
        )
    if missing.all():
        raise ValueError("errors has only nan: pass the errors of at least one method.")
    best = int(np.where(missing, np.inf, values).mean(axis=0).argmin())
    p_values = np.array([_p_value(column, values[:, best]) for column in values.T])
    return Comparison(best, p_values >= alpha, p_values)


def top_counts(comparisons: Iterable[Comparison]) -> HostArray:
    """Number of datasets on which each method is best or tied with the best.

    Parameters
    ----------
    comparisons : iterable of Comparison
        One comparison for each dataset, all of the same methods.

    Returns
    -------
    ndarray of int, shape (methods,)

    Examples
    --------
    >>> from l1lsmi.evaluation import compare_methods, top_counts
    >>> one = compare_methods([[1.0, 2.0], [1.1, 2.0]])
    >>> top_counts([one, one]).tolist()
    [2, 0]
    """
    tied = [comparison.tied for comparison in comparisons]
    if not tied or len({row.size for row in tied}) > 1:
        raise ValueError(
            f"comparisons has {len(tied)} entries of {sorted({row.size for row in tied})} methods: pass at "
            "least one comparison, all of the same methods."
        )
    return np.asarray(np.sum(tied, axis=0, dtype=np.intp))


def critical_difference(mean_errors: Any, *, alpha: float = 0.05) -> CriticalDifference:
    r"""Compare methods over datasets by their mean ranks.

    Methods are ranked on each dataset; tied methods get the mean of their ranks. The Friedman test asks
    whether any methods differ. By the Nemenyi test, two methods differ at level ``alpha`` if the difference
    of their mean ranks exceeds :math:`q_\alpha \sqrt{k (k + 1) / 6 N}` for :math:`k` methods on :math:`N`
    datasets, where :math:`q_\alpha` is the quantile of the studentised range divided by :math:`\sqrt 2`.

    Parameters
    ----------
    mean_errors : array-like of shape (datasets, methods)
        Lower is better; nan is not allowed, so that all methods are ranked on the same datasets.
    alpha : float, default=0.05

    Returns
    -------
    CriticalDifference

    References
    ----------
    Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.evaluation import critical_difference
    >>> errors = np.arange(3.0) + np.zeros((10, 1))  # the first method wins on all of ten datasets
    >>> result = critical_difference(errors)
    >>> result.ranks.tolist(), round(result.critical_difference, 3), result.groups
    ([1.0, 2.0, 3.0], 1.048, ((0, 1), (1, 2)))
    """
    _check_alpha(alpha)
    values = _check_table("mean_errors", mean_errors, "datasets, methods")
    n_datasets, n_methods = values.shape
    if n_methods < 2 or n_datasets < 2:
        raise ValueError(f"mean_errors has shape {values.shape}: pass at least 2 datasets and 2 methods.")
    if np.isnan(values).any():
        row, column = np.argwhere(np.isnan(values))[0]
        raise ValueError(
            f"mean_errors has nan, first for method {column} on dataset {row}: drop the method or the "
            "dataset."
        )
    ranks = rankdata(values, axis=1)
    distance = float(
        studentized_range.ppf(1 - alpha, n_methods, np.inf)
        / np.sqrt(2)
        * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets))
    )
    mean_ranks = ranks.mean(axis=0)
    return CriticalDifference(mean_ranks, _friedman(ranks), distance, _groups(mean_ranks, distance))


def _p_value(errors: HostArray, best: HostArray) -> float:
    """p-value of the one-sided paired t-test of whether errors are larger than those of the best."""
    if np.isnan(errors).any():
        return float("nan")
    rounding = 1e-12 * np.maximum(np.abs(errors), np.abs(best)).max()
    differences = errors - best
    if np.ptp(differences) <= rounding:  # the variance is 0
        return 1.0 if np.abs(differences).max() <= rounding else 0.0
    return float(ttest_rel(errors, best, alternative="greater").pvalue)


def _friedman(ranks: HostArray) -> float:
    """p-value of the Friedman test, corrected for ties; that of SciPy requires three methods."""
    centred = ranks - ranks.mean()
    total = float((centred**2).sum())
    if total == 0:  # all methods tie on all datasets
        return 1.0
    degrees = ranks.shape[1] - 1
    return float(chi2.sf(degrees * float((centred.sum(axis=0) ** 2).sum()) / total, degrees))


def _groups(mean_ranks: HostArray, distance: float) -> tuple[tuple[int, ...], ...]:
    order = np.argsort(mean_ranks, kind="stable")
    spans: list[tuple[int, int]] = []
    for start in range(order.size):
        near = mean_ranks[order] <= mean_ranks[order[start]] + distance
        stop = int(np.flatnonzero(near)[-1]) + 1
        if stop - start > 1 and (not spans or stop > spans[-1][1]):
            spans.append((start, stop))
    return tuple(tuple(int(method) for method in order[start:stop]) for start, stop in spans)


def _check_alpha(alpha: Any) -> None:
    if not isinstance(alpha, (float, np.floating)) or not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha!r} must be a level between 0 and 1, such as 0.05.")


def _check_table(name: str, values: Any, axes: str) -> HostArray:
    try:
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 2 or table.size == 0 or np.isinf(table).any():
        raise ValueError(f"{name} must be an array of finite numbers of shape ({axes}).")
    return table
