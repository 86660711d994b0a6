"""Score of each selected feature alone, and the loss of score without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray, single_threaded_blas
from l1lsmi.explain._subset_scorer import SubsetScorer
from l1lsmi.explain.sample import MAX_ROWS
from l1lsmi.measures import Measure


@dataclass(frozen=True, eq=False)
class Contributions:
    """Contributions of the selected features.

    Attributes
    ----------
    columns : numpy.ndarray of int, shape (k,)
        The selected features.
    names : tuple of str
    alone : numpy.ndarray of float, shape (k,)
        Score of each feature alone.
    lost : numpy.ndarray of float, shape (k,)
        Score of the set minus its score without the feature. Near 0 where the feature is redundant, below 0
        where the set scores higher without it.
    score : float
        Score of the selected set.
    n_rows, n_rows_in : int
        Number of rows used, and number of rows given.
    """

    columns: HostArray
    names: tuple[str, ...]
    alone: HostArray
    lost: HostArray
    score: float
    n_rows: int
    n_rows_in: int


def contributions(
    selector: Any,
    X: Any,
    y: Any,
    *,
    measure: Measure | None = None,
    max_rows: int = MAX_ROWS,
    random_state: Any = 0,
    feature_names: Sequence[str] | None = None,
) -> Contributions:
    """Score each selected feature alone, and the set without it.

    A feature with a low score alone and a high loss is part of an interaction. A feature with a high score
    alone and a low loss is redundant given the others.

    Parameters
    ----------
    selector : fitted selector
    X : array-like of shape (n, n_features_in_)
        All features, selected or not.
    y : array-like of shape (n,) or (n, t)
    measure : Measure or None, default=None
        As in `score_by_size`.
    max_rows : int, default=500
        Number of rows to sample, stratified by y.
    random_state : int, RandomState instance or None, default=0
    feature_names : sequence of str or None, default=None
        Names of all features; None takes those of the selector, or x0, x1, ...

    Returns
    -------
    Contributions

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.explain import contributions
    >>> X = np.random.default_rng(0).integers(0, 2, size=(300, 6))
    >>> y = X[:, 1] ^ X[:, 4]
    >>> result = contributions(L1LSMI(2, random_state=0).fit(X, y), X, y)
    >>> result.names, result.alone.round(1), result.lost.round(1)
    (('x1', 'x4'), array([0., 0.]), array([0.5, 0.5]))
    """
    scorer = SubsetScorer(
        selector,
        X,
        y,
        measure=measure,
        max_rows=max_rows,
        random_state=random_state,
        feature_names=feature_names,
    )
    return score_members(scorer)


@single_threaded_blas()
def score_members(scorer: SubsetScorer) -> Contributions:
    """The same for an existing scorer."""
    columns = scorer.selected
    score = scorer.score(columns)
    return Contributions(
        columns=columns,
        names=tuple(scorer.names[j] for j in columns),
        alone=scorer.score_each(columns),
        lost=np.array([score - scorer.score(columns[columns != j]) for j in columns]),
        score=score,
        n_rows=scorer.n_rows,
        n_rows_in=scorer.n_rows_in,
    )
