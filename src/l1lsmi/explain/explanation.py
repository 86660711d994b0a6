"""All explanations of a selection in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from l1lsmi.explain._subset_scorer import SubsetScorer
from l1lsmi.explain.contributions import Contributions, measure_contributions
from l1lsmi.explain.interactions import Interactions, score_pairs
from l1lsmi.explain.path import PathTable, path_table
from l1lsmi.explain.redundancy import Redundancy, score_rejected
from l1lsmi.explain.sample import MAX_ROWS
from l1lsmi.explain.score_by_size import ScoreBySize, score_sizes


@dataclass(frozen=True, eq=False)
class Explanation:
    """All explanations of a selection.

    Attributes
    ----------
    path : PathTable
    score_by_size : ScoreBySize
    contributions : Contributions
    redundancy : Redundancy
    interactions : Interactions
    """

    path: PathTable
    score_by_size: ScoreBySize
    contributions: Contributions
    redundancy: Redundancy
    interactions: Interactions


def explain_selection(
    selector: Any,
    X: Any,
    y: Any,
    *,
    max_size: int | None = None,
    n_rejected: int = 15,
    max_features: int = 20,
    max_rows: int = MAX_ROWS,
    random_state: Any = 0,
    feature_names: Sequence[str] | None = None,
    contributions: Contributions | None = None,
) -> Explanation:
    """Compute all explanations of a selection.

    The numbers are the same as from the single functions, but each set is scored only once.

    Parameters
    ----------
    selector : fitted selector
    X : array-like of shape (n, n_features_in_)
        All features, selected or not.
    y : array-like of shape (n,) or (n, t)
    max_size : int or None, default=None
        See `score_by_size`.
    n_rejected : int, default=15
        See `redundancy`.
    max_features : int, default=20
        See `redundancy` and `interactions`.
    max_rows : int, default=500
        Number of rows to sample, stratified by y.
    random_state : int, RandomState instance or None, default=0
    feature_names : sequence of str or None, default=None
        Names of all features; None takes those of the selector, or x0, x1, ...
    contributions : Contributions or None, default=None
        Contributions that are already known; None measures them, on up to twice ``max_rows`` rows.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.explain import explain_selection
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 1] * X[:, 4] > 0
    >>> explained = explain_selection(L1LSMI(2, random_state=0).fit(X, y), X, y)
    >>> explained.score_by_size.sizes, explained.contributions.names
    (array([1, 2, 3, 4]), ('x1', 'x4'))
    """
    scorer = SubsetScorer(
        selector, X, y, max_rows=max_rows, random_state=random_state, feature_names=feature_names
    )
    return Explanation(
        path=path_table(selector),
        score_by_size=score_sizes(scorer, max_size),
        contributions=contributions or measure_contributions(scorer, 2 * max_rows),
        redundancy=score_rejected(scorer, n_rejected, max_features),
        interactions=score_pairs(scorer, max_features),
    )
