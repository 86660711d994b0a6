"""Scores of smaller and larger sets than the selected one."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._blas import single_threaded_blas
from l1lsmi._validation.parameters import check_count
from l1lsmi.explain._subset_scorer import SubsetScorer
from l1lsmi.explain.sample import MAX_ROWS
from l1lsmi.measures import Measure

#: Up to this size, features are removed one at a time and every candidate set is scored in full.
MAX_FULL = 12
#: Share of the features that stays in larger sets, from which several are removed at a time.
KEEP = 0.8


@dataclass(frozen=True, eq=False)
class ScoreBySize:
    """Scores of sets of growing size.

    Attributes
    ----------
    sizes : numpy.ndarray of int
        Increasing; includes the number of selected features.
    sets : tuple of numpy.ndarray of int
        The features of each set.
    scores : numpy.ndarray of float
        Score of each set.
    n_selected : int
        Number of selected features.
    n_rows, n_rows_in : int
        Number of rows used, and number of rows given.
    """

    sizes: HostArray
    sets: tuple[HostArray, ...]
    scores: HostArray
    n_selected: int
    n_rows: int
    n_rows_in: int


def score_by_size(
    selector: Any,
    X: Any,
    y: Any,
    *,
    measure: Measure | None = None,
    max_size: int | None = None,
    max_rows: int = MAX_ROWS,
    random_state: Any = 0,
) -> ScoreBySize:
    """Score sets that are smaller and larger than the selected one.

    Smaller sets come from backward elimination of the selected features: one at a time, or a fifth at a
    time while there are more than 12. Larger sets add the other features in the order of the selector's
    ``ranking_``; without this attribute there are no larger sets.

    Parameters
    ----------
    selector : fitted selector
    X : array-like of shape (n, n_features_in_)
        All features, selected or not.
    y : array-like of shape (n,) or (n, t)
    measure : Measure or None, default=None
        Scores the sets. None is squared-loss mutual information with 70 kernels and few candidate widths,
        which takes a fraction of the time of the default settings, and is meant to order sets in the same
        way.
    max_size : int or None, default=None
        Size of the largest set; None is twice the number of selected features, but at most 10 more.
    max_rows : int, default=500
        Number of rows to sample, stratified by y.
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    ScoreBySize

    Notes
    -----
    The scores do not say how many features to select: they are computed on the rows that the sets were
    selected on, where features that fit by chance raise the score, too. ``n_features_to_select="auto"`` uses
    rows that the search has not seen to choose the number.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.explain import score_by_size
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 1] * X[:, 4] > 0
    >>> curve = score_by_size(L1LSMI(3, random_state=0).fit(X, y), X, y)
    >>> curve.sizes, curve.sets[1]
    (array([1, 2, 3, 4, 5, 6]), array([1, 4]))
    """
    scorer = SubsetScorer(selector, X, y, measure=measure, max_rows=max_rows, random_state=random_state)
    return score_sizes(scorer, max_size)


@single_threaded_blas()
def score_sizes(scorer: SubsetScorer, max_size: int | None = None) -> ScoreBySize:
    """`score_by_size` for an existing scorer."""
    k, m = scorer.selected.size, len(scorer.names)
    largest = min(m, 2 * k, k + 10) if max_size is None else check_count("max_size", max_size, m)
    sets = [*_smaller(scorer), scorer.selected, *_larger(scorer, largest)]
    sets = [columns for columns in sets if columns.size <= largest]
    scores = np.array([scorer.score(columns) for columns in sets])
    sizes = np.array([columns.size for columns in sets])
    return ScoreBySize(sizes, tuple(sets), scores, k, scorer.n_rows, scorer.n_rows_in)


def best_subset(scorer: SubsetScorer) -> HostArray:
    """The set with the highest score in the backward elimination of the selected features.

    Information cannot decrease with more features, but its estimate from few rows can: with many
    uninformative features, a smaller set gives the better estimate. Constant features are left out.
    """
    sets = [*_smaller(scorer), scorer.selected]
    scores = [scorer.score(columns) for columns in sets]
    return scorer.varying(sets[len(sets) - 1 - int(np.argmax(scores[::-1]))])


def _smaller(scorer: SubsetScorer) -> list[HostArray]:
    """Backward elimination of the selected features; the smallest set comes first."""
    inside, sets = scorer.selected, []
    while inside.size > 1:
        size = inside.size - 1 if inside.size <= MAX_FULL else min(inside.size - 1, ceil(KEEP * inside.size))
        inside = _remove_weakest(scorer, inside, size)
        sets.append(inside)
    return sets[::-1]


def _remove_weakest(scorer: SubsetScorer, inside: HostArray, size: int) -> HostArray:
    """Remove the features whose removal costs the least score; constant features first."""
    if inside.size <= MAX_FULL or not hasattr(scorer.problem, "score_removals"):
        left = np.array([scorer.score(inside[inside != j]) for j in inside])
    else:
        left = np.full(inside.size, np.inf)
        varying = scorer.table.scale[inside] > 0
        left[varying] = scorer.problem.score_removals(inside[varying], inside[varying])
    return np.sort(inside[np.argsort(left, kind="stable")[:size]])


def _larger(scorer: SubsetScorer, largest: int) -> list[HostArray]:
    ranking = getattr(scorer.selector, "ranking_", None)
    if ranking is None:
        return []
    others = np.argsort(ranking, kind="stable")
    others = others[~np.isin(others, scorer.selected)]
    sizes = range(scorer.selected.size + 1, largest + 1)
    return [np.sort(np.append(scorer.selected, others[: size - scorer.selected.size])) for size in sizes]
