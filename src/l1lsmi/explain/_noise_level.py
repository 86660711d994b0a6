"""Scores that uninformative features reach by chance."""

from __future__ import annotations

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.correlation import correlation_of_values, correlation_with_target
from l1lsmi._numerics.ranking import best_first
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Table
from l1lsmi.explain._subset_scorer import SubsetScorer
from l1lsmi.measures import HSIC

#: Features that HSIC scores; more are reduced to those with the highest correlation, linear or of the square.
MAX_BY_HSIC = 40
#: Columns that are standardised at a time.
BLOCK = 1000
#: Permutations of the rows, and features taken from each.
N_PERMUTATIONS = 5
N_TAKEN = 2
#: Selected features that are duplicated to measure the apparent gain of a copy.
N_DUPLICATED = 10


def by_dependence(scorer: SubsetScorer, columns: HostArray, target: Target | None = None) -> HostArray:
    """The columns that depend most on the target, strongest first: by correlation, then by HSIC."""
    target = scorer.target if target is None else target
    if columns.size > MAX_BY_HSIC:
        blocks = [columns[start : start + BLOCK] for start in range(0, columns.size, BLOCK)]
        strength = np.concatenate([_correlation(scorer, block, target) for block in blocks])
        columns = columns[best_first(strength)[:MAX_BY_HSIC]]
    return columns[best_first(np.asarray(scorer.bind(target, HSIC()).score_each(columns)))]


def noise_levels(scorer: SubsetScorer, core: HostArray) -> tuple[float, float]:
    """Highest score alone, and highest gain of a set, of features without information.

    The rows of the features are permuted against the target, and the strongest features of each
    permutation are scored, because the best of many uninformative features scores above 0. Gains are also
    measured for copies of features of the set: they add no information, but change the kernels.

    Parameters
    ----------
    scorer : SubsetScorer
    core : numpy.ndarray of int
        The set.

    Returns
    -------
    alone, gain : float
        At least 0.
    """
    x = np.asarray(scorer.table.x)
    strongest, permuted = _permuted_columns(scorer, x)
    copies = core[best_first(scorer.score_each(core))[:N_DUPLICATED]]
    stacked = np.hstack([x[:, core], permuted, x[:, copies]])
    kinds = scorer.table.kinds
    if kinds is not None:
        # A column that is permuted has the same levels and missing values, in other rows.
        kinds = kinds.columns_of(np.concatenate([core, strongest, copies]))
    problem = scorer.bind(scorer.target, table=Table.of(stacked, kinds=kinds))
    inside, added = np.arange(core.size), core.size + np.arange(permuted.shape[1] + copies.size)
    score = scorer.score(core)
    gains = [float(problem.score_set(np.append(inside, j))) - score for j in added]
    alone = [float(problem.score_set(np.array([j]))) for j in added[: permuted.shape[1]]]
    return max(0.0, *alone), max(0.0, *gains)


def _permuted_columns(scorer: SubsetScorer, x: HostArray) -> tuple[HostArray, HostArray]:
    """The strongest columns of each permutation, and their values, permuted to fit the original target."""
    rng = np.random.default_rng(scorer.seed)
    columns, permuted = [], []
    for _ in range(N_PERMUTATIONS):
        rows = rng.permutation(scorer.n_rows)
        strongest = by_dependence(scorer, scorer.table.varying, scorer.target.rows_of(rows))
        for column in strongest[:N_TAKEN]:
            values = np.empty(scorer.n_rows)
            values[rows] = x[:, column]
            columns.append(int(column))
            permuted.append(values)
    return np.array(columns), np.column_stack(permuted)


def _correlation(scorer: SubsetScorer, columns: HostArray, target: Target) -> HostArray:
    """Absolute correlation of the target with each column or its square, whichever is higher.

    Of a category it is the correlation ratio.
    """
    kinds = scorer.table.kinds
    if kinds is None:
        return _of_numbers(scorer, columns, target)
    found = np.empty(columns.size)
    plain = kinds.is_plain[columns]
    if plain.any():
        found[plain] = _of_numbers(scorer, columns[plain], target)
    x = np.asarray(scorer.table.x)
    for i in np.flatnonzero(~plain):
        values, n_levels = x[:, columns[i]], int(kinds.n_levels[columns[i]])
        found[i] = correlation_of_values(values, n_levels, target)
        if not n_levels:
            squares = (values - scorer.table.mean[columns[i]]) ** 2
            found[i] = max(found[i], correlation_of_values(squares, 0, target))
    return found


def _of_numbers(scorer: SubsetScorer, columns: HostArray, target: Target) -> HostArray:
    rows = np.arange(scorer.n_rows)
    z = np.asarray(scorer.table.take(rows, columns))
    squares = Table.of(z * z).take(rows, np.arange(columns.size))
    return np.maximum(correlation_with_target(z, target), correlation_with_target(squares, target))
