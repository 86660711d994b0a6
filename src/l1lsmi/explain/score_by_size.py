"""How much fewer features would say, and how much more features would add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray, steady_blas
from l1lsmi._validation.parameters import check_count
from l1lsmi.explain._study import Study
from l1lsmi.explain.sample import MAX_ROWS
from l1lsmi.measures import Measure

#: Up to so many features are taken away one at a time, all candidates scored in full; of more, several.
FEW = 12
#: Share of the features that is left when some are taken away at a time.
KEEP = 0.8


@dataclass(frozen=True, eq=False)
class ScoreBySize:
    """Scores of sets of growing size.

    Attributes
    ----------
    sizes : numpy.ndarray of int
        Rising; the number of selected features is one of them.
    sets : tuple of numpy.ndarray of int
        The features of each set.
    scores : numpy.ndarray of float
        What each set says of the target.
    knee : int
        The size beyond which more features add little.
    n_selected : int
        Number of selected features.
    n_rows, n_rows_in : int
        Rows that were used, and rows that were given.
    """

    sizes: HostArray
    sets: tuple[HostArray, ...]
    scores: HostArray
    knee: int
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
    """Score smaller and larger sets than the one selected.

    Smaller sets are made by backward elimination inside the selected features: one at a time, or a fifth
    at a time while there are more than 12. Larger ones add the rejected features in the order of the
    selector's ``ranking_``; a selector that has none gets no larger sets.

    Parameters
    ----------
    selector : fitted selector
    X : array-like of shape (n, n_features_in_)
        All features, selected or not.
    y : array-like of shape (n,)
    measure : Measure or None, default=None
        What scores a set. None is squared-loss mutual information with 70 kernels and few candidates for
        their width, which gives the same order as the defaults in a fraction of the time.
    max_size : int or None, default=None
        Largest set; None is twice the number of selected features, at most 10 more than these.
    max_rows : int, default=500
        So many rows at most are drawn, in proportion to the classes or ranges of y.
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    ScoreBySize
        The knee is where the running maximum of the scores is farthest above the straight line from no
        features, which say 0, to the largest set (Satopaa et al. 2011).

    References
    ----------
    V. Satopaa, J. Albrecht, D. Irwin and B. Raghavan, "Finding a kneedle in a haystack: detecting knee
    points in system behavior", ICDCS Workshops 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.explain import score_by_size
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 1] * X[:, 4] > 0
    >>> curve = score_by_size(L1LSMI(3, random_state=0).fit(X, y), X, y)
    >>> curve.sizes, curve.sets[1], curve.knee
    (array([1, 2, 3, 4, 5, 6]), array([1, 4]), 2)
    """
    study = Study(selector, X, y, measure=measure, max_rows=max_rows, random_state=random_state)
    return score_sizes(study, max_size)


@steady_blas()
def score_sizes(study: Study, max_size: int | None = None) -> ScoreBySize:
    """The same for a selection that is under study already."""
    k, m = study.selected.size, len(study.names)
    largest = min(m, 2 * k, k + 10) if max_size is None else check_count("max_size", max_size, m)
    sets = [*_smaller(study), study.selected, *_larger(study, largest)]
    sets = [columns for columns in sets if columns.size <= largest]
    scores = np.array([study.score(columns) for columns in sets])
    sizes = np.array([columns.size for columns in sets])
    knee = knee_of(sizes, scores)
    return ScoreBySize(sizes, tuple(sets), scores, knee, k, study.n_rows, study.n_rows_in)


def knee_of(sizes: Sequence[int] | HostArray, scores: Sequence[float] | HostArray) -> int:
    """The size at which the running maximum of the scores is farthest above its chord.

    The chord runs from no features, which say 0, to the largest size. Of equal distances the smallest
    size is taken.
    """
    x = np.concatenate([[0.0], np.asarray(sizes, dtype=np.float64)])
    highest = np.maximum.accumulate(np.concatenate([[0.0], np.asarray(scores, dtype=np.float64)]))
    if highest[-1] <= 0:
        return int(np.asarray(sizes)[0])
    above = highest / highest[-1] - x / x[-1]
    return int(np.asarray(sizes)[int(np.argmax(np.round(above[1:], 12)))])


def best_inside(study: Study) -> HostArray:
    """The best of the selected set and those on the way of its elimination, without constant features.

    More features cannot say less, but an estimate from few rows can: where there are many that mean
    little, a smaller set shows better what the selected features say together.
    """
    sets = [*_smaller(study), study.selected]
    scores = [study.score(columns) for columns in sets]
    return study.varying(sets[len(sets) - 1 - int(np.argmax(scores[::-1]))])


def _smaller(study: Study) -> list[HostArray]:
    """Sets below the selected one, smallest first."""
    inside, sets = study.selected, []
    while inside.size > 1:
        size = inside.size - 1 if inside.size <= FEW else min(inside.size - 1, ceil(KEEP * inside.size))
        inside = _without_least(study, inside, size)
        sets.append(inside)
    return sets[::-1]


def _without_least(study: Study, inside: HostArray, size: int) -> HostArray:
    """Take away the features that are missed least; those that do not vary first."""
    if inside.size <= FEW or not hasattr(study.problem, "score_removals"):
        left = np.array([study.score(inside[inside != j]) for j in inside])
    else:
        left = np.full(inside.size, np.inf)
        varying = study.table.scale[inside] > 0
        left[varying] = study.problem.score_removals(inside[varying], inside[varying])
    return np.sort(inside[np.argsort(left, kind="stable")[:size]])


def _larger(study: Study, largest: int) -> list[HostArray]:
    ranking = getattr(study.selector, "ranking_", None)
    if ranking is None:
        return []
    others = np.argsort(ranking, kind="stable")
    others = others[~np.isin(others, study.selected)]
    sizes = range(study.selected.size + 1, largest + 1)
    return [np.sort(np.append(study.selected, others[: size - study.selected.size])) for size in sizes]
