"""Which selected features say more together than one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray, steady_blas
from l1lsmi._validation.parameters import check_count
from l1lsmi.explain._study import Study
from l1lsmi.explain.sample import MAX_ROWS


@dataclass(frozen=True, eq=False)
class Interactions:
    """Pairs of selected features.

    Attributes
    ----------
    columns : numpy.ndarray of int, shape (f,)
        The features.
    names : tuple of str
    matrix : numpy.ndarray of float, shape (f, f)
        What two features say together minus what each says alone: above 0 where they need each other,
        below 0 where they say the same. Symmetric, 0 on the diagonal.
    joint : numpy.ndarray of float, shape (f, f)
        What two features say together; on the diagonal what one says alone.
    alone : numpy.ndarray of float, shape (f,)
        What each says alone.
    n_rows, n_rows_in : int
        Rows that were used, and rows that were given.
    """

    columns: HostArray
    names: tuple[str, ...]
    matrix: HostArray
    joint: HostArray
    alone: HostArray
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
    r"""Squared-loss mutual information of pairs, minus that of their features by themselves.

    Parameters
    ----------
    selector : fitted selector
    X : array-like of shape (n, n_features_in_)
        All features, selected or not.
    y : array-like of shape (n,)
    max_features : int, default=20
        Of more selected features the heaviest are taken, or those that say most alone where there are no
        weights.
    max_rows : int, default=500
        So many rows at most are drawn, in proportion to the classes or ranges of y.
    random_state : int, RandomState instance or None, default=0
    feature_names : sequence of str or None, default=None
        Names of all features; None takes those that the selector knows, or x0, x1, ...

    Returns
    -------
    Interactions

    Notes
    -----
    For classes the information is a share of variance explained, so that independent features that add
    up come out near 0. A numeric target has no such ceiling: where two features explain the share
    :math:`r` of its variance, the information is about :math:`r / 2(1 - r)`, and features that merely add
    up come out above 0 once together they explain most of it.

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
    study = Study(selector, X, y, max_rows=max_rows, random_state=random_state, feature_names=feature_names)
    return score_pairs(study, max_features)


@steady_blas()
def score_pairs(study: Study, max_features: int = 20) -> Interactions:
    """The same for a selection that is under study already."""
    check_count("max_features", min(max_features, len(study.names)), len(study.names))
    columns = study.strongest(max_features)
    alone = study.alone(columns)
    joint = np.diag(alone)
    for a, b in zip(*np.triu_indices(columns.size, 1), strict=True):
        joint[a, b] = joint[b, a] = study.score((columns[a], columns[b]))
    matrix = joint - alone[:, None] - alone
    np.fill_diagonal(matrix, 0.0)
    return Interactions(
        columns=columns,
        names=tuple(study.names[j] for j in columns),
        matrix=matrix,
        joint=joint,
        alone=alone,
        n_rows=study.n_rows,
        n_rows_in=study.n_rows_in,
    )
