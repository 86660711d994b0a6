"""What each selected feature says alone, and what is lost without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray, steady_blas
from l1lsmi.explain._study import Study
from l1lsmi.explain.sample import MAX_ROWS
from l1lsmi.measures import Measure


@dataclass(frozen=True, eq=False)
class Contributions:
    """What the selected features are worth.

    Attributes
    ----------
    columns : numpy.ndarray of int, shape (k,)
        The selected features.
    names : tuple of str
    alone : numpy.ndarray of float, shape (k,)
        What each says of the target by itself.
    lost : numpy.ndarray of float, shape (k,)
        Score of the set minus its score without the feature. Near 0 where the others say the same, below 0
        where the set is better off without it.
    score : float
        What all of them say together.
    n_rows, n_rows_in : int
        Rows that were used, and rows that were given.
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
    """Say of every selected feature what it says alone and what is lost without it.

    A feature that says nothing alone and much is lost without belongs to an interaction. One that says
    much alone and little is lost without has a double among the others.

    Parameters
    ----------
    selector : fitted selector
    X : array-like of shape (n, n_features_in_)
        All features, selected or not.
    y : array-like of shape (n,)
    measure : Measure or None, default=None
        As in `score_by_size`.
    max_rows : int, default=500
        So many rows at most are drawn, in proportion to the classes or ranges of y.
    random_state : int, RandomState instance or None, default=0
    feature_names : sequence of str or None, default=None
        Names of all features; None takes those that the selector knows, or x0, x1, ...

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
    >>> worth = contributions(L1LSMI(2, random_state=0).fit(X, y), X, y)
    >>> worth.names, worth.alone.round(1), worth.lost.round(1)
    (('x1', 'x4'), array([0., 0.]), array([0.5, 0.5]))
    """
    study = Study(
        selector,
        X,
        y,
        measure=measure,
        max_rows=max_rows,
        random_state=random_state,
        feature_names=feature_names,
    )
    return score_members(study)


@steady_blas()
def score_members(study: Study) -> Contributions:
    """The same for a selection that is under study already."""
    columns = study.selected
    together = study.score(columns)
    return Contributions(
        columns=columns,
        names=tuple(study.names[j] for j in columns),
        alone=study.alone(columns),
        lost=np.array([together - study.score(columns[columns != j]) for j in columns]),
        score=together,
        n_rows=study.n_rows,
        n_rows_in=study.n_rows_in,
    )
