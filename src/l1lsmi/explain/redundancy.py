"""Why features were not selected: they are redundant, uninformative, or would add information."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._blas import single_threaded_blas
from l1lsmi._numerics.ranking import best_first
from l1lsmi._validation.parameters import check_count
from l1lsmi.explain._noise_level import by_dependence
from l1lsmi.explain._pairwise import PairwiseSMI
from l1lsmi.explain._reasons import Reasons
from l1lsmi.explain._subset_scorer import SubsetScorer
from l1lsmi.explain.sample import MAX_ROWS


@dataclass(frozen=True)
class Rejected:
    """A feature that was not selected, with the reason.

    Attributes
    ----------
    column : int
    name : str
    alone : float
        Its score alone.
    gain : float
        Score of the selected features with it, minus their score without it: see `Redundancy`.
    nearest : int
        The selected feature that depends most on it.
    nearest_name : str
    smi : float
        Squared-loss mutual information between the two.
    correlation : float
        Absolute correlation of the two in the rows in which both have a value; the correlation ratio for a
        category and a number, and Cramer's V for two categories.
    kind : {"redundant", "silent", "adds"}
        Why it was not selected: see `Redundancy`.
    reason : str
        The reason as a sentence.
    """

    column: int
    name: str
    alone: float
    gain: float
    nearest: int
    nearest_name: str
    smi: float
    correlation: float
    kind: str
    reason: str


@dataclass(frozen=True, eq=False)
class Redundancy:
    """Reasons why features were not selected, and the redundancy of the selected ones.

    Attributes
    ----------
    rejected : tuple of Rejected
        In decreasing order of their score alone.
    n_rejected_in : int
        Number of features that were not selected.
    columns : numpy.ndarray of int, shape (f,)
        Selected features; if there are more than ``max_features``, those with the largest weights.
    names : tuple of str
    smi : numpy.ndarray of float, shape (f, f)
        Squared-loss mutual information between each pair of these features; nan on the diagonal.
    correlation : numpy.ndarray of float, shape (f, f)
        Absolute correlation of each pair; nan on the diagonal.
    noise : float
        Noise level of the score of a single feature: a lower score is not distinguishable from noise.
    gain_noise : float
        Noise level of a gain.
    n_rows, n_rows_in : int
        Number of rows used, and number of rows given.

    Notes
    -----
    Gains are measured for the best set in a backward elimination of the selected features. This is the
    selected set itself, unless it has many uninformative features.

    Both noise levels are measured on the data. The rows of all features are permuted against the target
    five times, and the two strongest features of each permutation are scored. ``noise`` is 1.5 times the
    highest score that one of these ten features has alone. ``gain_noise`` is 1.5 times the largest gain by
    one of them, or by a copy of a selected feature, which adds no information either. It is at least 5 % of
    the score, because a function of the selected features can improve the estimate without adding
    information. A feature

    - "adds" where its gain is above ``gain_noise``;
    - is "redundant" where its gain is not above ``gain_noise``, but its score alone is above ``noise``.
      It is also "redundant" where its score alone is not above ``noise``, its SMI with the nearest
      selected feature is at least 0.1, and it adds more than ``gain_noise`` to the set without this nearest
      feature;
    - is "silent" otherwise: neither its gain nor its score alone exceeds the noise level.
    """

    rejected: tuple[Rejected, ...]
    n_rejected_in: int
    columns: HostArray
    names: tuple[str, ...]
    smi: HostArray
    correlation: HostArray
    noise: float
    gain_noise: float
    n_rows: int
    n_rows_in: int


def redundancy(
    selector: Any,
    X: Any,
    y: Any,
    *,
    n_rejected: int = 15,
    max_features: int = 20,
    max_rows: int = MAX_ROWS,
    random_state: Any = 0,
    feature_names: Sequence[str] | None = None,
) -> Redundancy:
    """Explain why features were not selected, and measure the redundancy of the selected ones.

    The features to explain are taken alternately from two lists: the features with the highest HSIC with the
    target, and the next features of the selector's ``ranking_``, if it has this attribute. If more than 40
    features were not selected, HSIC is computed only for the 40 whose values or squared values have the
    highest correlation with the target.

    Parameters
    ----------
    selector : fitted selector
    X : array-like of shape (n, n_features_in_)
        All features, selected or not.
    y : array-like of shape (n,) or (n, t)
    n_rejected : int, default=15
        Number of features to explain.
    max_features : int, default=20
        Number of selected features to compare in pairs.
    max_rows : int, default=500
        Number of rows to sample, stratified by y.
    random_state : int, RandomState instance or None, default=0
    feature_names : sequence of str or None, default=None
        Names of all features; None takes those of the selector, or x0, x1, ...

    Returns
    -------
    Redundancy

    Notes
    -----
    `Redundancy` defines the three kinds and the noise levels.

    The reason for a redundant feature names the nearest selected feature if the redundant feature adds little
    to the score of the nearest one: no more than the noise level, or no more than a tenth of its own score
    alone. Otherwise the reason names the selected features together. Two features "carry the same
    information" if their squared-loss mutual information is at least 1/2 or their absolute correlation is at
    least 0.71: two normal features then explain half of each other's variance.

    If a selected feature is a copy, it is the nearest feature. Otherwise the feature nearest by correlation
    and the feature nearest by HSIC are compared, and the one with the larger squared-loss mutual information
    is taken. To estimate this information, one of two features is the target. If only one of them is discrete
    (a category, or at most 10 values), it is the target. Otherwise each is the target once, and the estimate
    is the mean of both, unless the first is below 0.01. A category is a target with classes; rows in which
    the target is missing are left out, unless "missing" is a value of its own: then it is one more class.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.explain import redundancy
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> X[:, 3] = X[:, 0] + 0.1 * rng.normal(size=200)
    >>> y = X[:, 0] + X[:, 1] > 0
    >>> why = redundancy(L1LSMI(2, random_state=0).fit(X, y), X, y)
    >>> [(feature.name, feature.kind) for feature in why.rejected]
    [('x3', 'redundant'), ('x2', 'silent'), ('x4', 'silent')]
    """
    scorer = SubsetScorer(
        selector, X, y, max_rows=max_rows, random_state=random_state, feature_names=feature_names
    )
    return score_rejected(scorer, n_rejected, max_features)


@single_threaded_blas()
def score_rejected(scorer: SubsetScorer, n_rejected: int = 15, max_features: int = 20) -> Redundancy:
    """`redundancy` for an existing scorer."""
    m = len(scorer.names)
    check_count("n_rejected", min(n_rejected, m), m)
    check_count("max_features", min(max_features, m), m)
    pairwise = PairwiseSMI(scorer)
    columns = scorer.top_selected(max_features)
    others = _strongest(scorer, np.setdiff1d(scorer.table.varying, scorer.selected), n_rejected)
    reasons = Reasons.measure(scorer) if others.size else None
    correlation = pairwise.correlations(columns, columns)
    np.fill_diagonal(correlation, np.nan)
    return Redundancy(
        rejected=() if reasons is None else tuple(_rejected(scorer, pairwise, reasons, others)),
        n_rejected_in=m - scorer.selected.size,
        columns=columns,
        names=tuple(scorer.names[j] for j in columns),
        smi=pairwise.matrix(columns),
        correlation=correlation,
        noise=0.0 if reasons is None else reasons.noise,
        gain_noise=0.0 if reasons is None else reasons.gain_noise,
        n_rows=scorer.n_rows,
        n_rows_in=scorer.n_rows_in,
    )


def _strongest(scorer: SubsetScorer, others: HostArray, limit: int) -> HostArray:
    """Features that are not selected: alternately the most dependent ones and the next of the ranking."""
    if others.size == 0:
        return others
    dependent = by_dependence(scorer, others).tolist()
    ranking = getattr(scorer.selector, "ranking_", None)
    ranked = [] if ranking is None else others[np.argsort(ranking[others], kind="stable")][:limit].tolist()
    alternating = chain.from_iterable(zip_longest(dependent, ranked))
    candidates = list(dict.fromkeys(j for j in alternating if j is not None))[:limit]
    columns = np.array(candidates, dtype=np.intp)
    return columns[best_first(scorer.score_each(columns))]


def _rejected(
    scorer: SubsetScorer, pairwise: PairwiseSMI, reasons: Reasons, columns: HostArray
) -> Iterator[Rejected]:
    selected = scorer.selected
    correlations = pairwise.correlations(columns, selected)
    for column, correlated in zip(columns.tolist(), correlations, strict=True):
        nearest, smi = pairwise.nearest(column, selected, correlated)
        correlation = float(correlated[selected == nearest][0])
        gain = reasons.gain(column)
        kind, reason = reasons.explain(column, nearest, smi, correlation)
        yield Rejected(
            column=column,
            name=scorer.names[column],
            alone=scorer.score((column,)),
            gain=gain,
            nearest=nearest,
            nearest_name=scorer.names[nearest],
            smi=smi,
            correlation=correlation,
            kind=kind,
            reason=reason,
        )
