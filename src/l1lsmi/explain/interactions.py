"""Interactions between pairs of selected features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._blas import single_threaded_blas
from l1lsmi._validation.parameters import check_count
from l1lsmi.explain._subset_scorer import SubsetScorer
from l1lsmi.explain.sample import MAX_ROWS


@dataclass(frozen=True, eq=False)
class Interactions:
    """Interactions between pairs of selected features.

    Attributes
    ----------
    columns : numpy.ndarray of int, shape (f,)
        The features.
    names : tuple of str
    matrix : numpy.ndarray of float, shape (f, f)
        Score of two features minus the scores of each alone: positive for interactions, negative for
        redundant features. Symmetric, 0 on the diagonal.
    joint : numpy.ndarray of float, shape (f, f)
        Score of two features; on the diagonal the score of one.
    alone : numpy.ndarray of float, shape (f,)
        Score of each feature alone.
    z : numpy.ndarray of float, shape (f, f)
        z-scores of the effect of two features together beyond their single effects, from all rows that were
        given (see `pair_terms`). Without an interaction they are standard normal.
    n_rows, n_rows_in : int
        Number of rows used for the scores, and number of rows given.
    """

    columns: HostArray
    names: tuple[str, ...]
    matrix: HostArray
    joint: HostArray
    alone: HostArray
    z: HostArray
    n_rows: int
    n_rows_in: int


def interactions(
    selector: Any,
    X: Any,
    y: Any,
    *,
    max_features: int = 20,
    max_rows: int = MAX_ROWS,
    random_state: Any = 0,
    feature_names: Sequence[str] | None = None,
) -> Interactions:
    r"""Squared-loss mutual information of pairs, minus that of each feature alone.

    Parameters
    ----------
    selector : fitted selector
    X : array-like of shape (n, n_features_in_)
        All features, selected or not.
    y : array-like of shape (n,) or (n, t)
    max_features : int, default=20
        Largest number of features. The features with the largest weights are taken, or, if the selector has
        no weights, the features with the highest scores of single features.
    max_rows : int, default=500
        Number of rows to sample, stratified by y.
    random_state : int, RandomState instance or None, default=0
    feature_names : sequence of str or None, default=None
        Names of all features; None takes those of the selector, or x0, x1, ...

    Returns
    -------
    Interactions

    Notes
    -----
    For classes, squared-loss mutual information is proportional to a share of explained variance, so that
    independent features with additive effects have an interaction near 0. For a numeric target,
    squared-loss mutual information has no upper bound: it is about :math:`r / 2(1 - r)` for two features
    that explain the share :math:`r` of the variance of the target. Additive effects then give an interaction
    above 0 if the features explain most of the variance.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.explain import interactions
    >>> X = np.random.default_rng(0).integers(0, 2, size=(300, 6))
    >>> y = X[:, 1] ^ X[:, 4]
    >>> interactions(L1LSMI(2, random_state=0).fit(X, y), X, y).matrix.round(1)
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    scorer = SubsetScorer(
        selector, X, y, max_rows=max_rows, random_state=random_state, feature_names=feature_names
    )
    return score_pairs(scorer, max_features)


@single_threaded_blas()
def score_pairs(scorer: SubsetScorer, max_features: int = 20) -> Interactions:
    """`interactions` for an existing scorer."""
    check_count("max_features", min(max_features, len(scorer.names)), len(scorer.names))
    columns = scorer.top_selected(max_features)
    alone = scorer.score_each(columns)
    joint = np.diag(alone)
    for a, b in zip(*np.triu_indices(columns.size, 1), strict=True):
        joint[a, b] = joint[b, a] = scorer.score((columns[a], columns[b]))
    matrix = joint - alone[:, None] - alone
    np.fill_diagonal(matrix, 0.0)
    return Interactions(
        columns=columns,
        names=tuple(scorer.names[j] for j in columns),
        matrix=matrix,
        joint=joint,
        alone=alone,
        z=scorer.pair_z(columns),
        n_rows=scorer.n_rows,
        n_rows_in=scorer.n_rows_in,
    )
