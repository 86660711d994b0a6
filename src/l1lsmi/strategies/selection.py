"""The result of a strategy, and why it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from l1lsmi._arrays import HostArray


class StopReason:
    """Why a search ended: sentences that are stored as they are."""

    AGREED = "Restarts proposed the same set again, which ended the search."
    SAME = "{} ended with {}."
    EXCHANGED = "Exchanges of features improved on the set that restarts ended with."
    PERFECT = "The set explains the classes as well as any set could."
    TERMS = "Restarts did not improve on the set that effects of single features, pairs and triples gave."
    IN_VAIN = "Further restarts did not improve on the best set."
    RESTARTS = "All restarts of the search were made; the best set is returned."
    DISAGREED = "All restarts of the search were made, no two ended with the same set; the best is returned."
    ALL_STEPS = "Every step was taken."
    ALL_SCORED = "Everything was scored."
    NOTHING_TO_CHOOSE = "Every feature that varies was asked for."
    NO_EVIDENCE = "No set predicts rows that the search has not seen clearly better than no features do."
    TIME_LIMIT = "The time limit was reached; the best set found until then is returned."
    UNSCORED = (
        "The time limit was reached before any set was scored; the features that are most correlated with "
        "the target are returned."
    )
    INTERRUPTED = "The search was interrupted; the best set found until then is returned."
    CALLBACK = "A callback ended the search; the best set found until then is returned."


#: Reasons for which a search ended early.
STOPPED = (StopReason.TIME_LIMIT, StopReason.UNSCORED, StopReason.INTERRUPTED, StopReason.CALLBACK)


class Step(NamedTuple):
    """A set of features that a search visited, with its score.

    Attributes
    ----------
    size : int
    feature : int or None
        The feature that was added or taken away to get there, if there was one.
    support : numpy.ndarray of int
        The features of the set.
    score : float
        Its score.
    """

    size: int
    feature: int | None
    support: HostArray
    score: float


@dataclass(frozen=True)
class Selection:
    """A set of exactly k features and how it was found.

    Attributes
    ----------
    support : numpy.ndarray of bool, shape (m,)
    ranking : numpy.ndarray of int, shape (m,)
        1 for chosen features, then 2, 3, ... for the others, the most promising first.
    score : float
        Score of the chosen set.
    path : tuple
        The steps of the search, in order.
    stop_reason : str
    order : numpy.ndarray of int, shape (m,)
        All features, those first that a smaller set keeps longest: the first k are the support, and the first
        j the set of j features. Where a strategy has no such order, that of the columns, and of the ranking.
    p_value : float
        Upper bound on the probability of effects as large without dependence; 1 where none is known.
    """

    support: HostArray
    ranking: HostArray
    score: float
    path: tuple[Any, ...]
    stop_reason: str
    order: HostArray = field(default_factory=lambda: np.empty(0, dtype=np.intp), kw_only=True)
    p_value: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        if not self.order.size:
            object.__setattr__(self, "order", np.lexsort((self.ranking, ~self.support)))


@dataclass(frozen=True)
class RankedSelection(Selection):
    """The features with the highest scores.

    The score is the mean of theirs, and there is no path.

    Attributes
    ----------
    scores : numpy.ndarray of float, shape (m,)
        Score of every feature alone; minus infinity for constant ones, and for those that the time limit
        left out.
    """

    scores: HostArray


@dataclass(frozen=True)
class WeightedSelection(Selection):
    """A set of features with weights.

    The score is that of the weighted features; the steps of the path are the radii visited.

    Attributes
    ----------
    estimate : float
        Estimate of the measure for the weighted features from all rows.
    weights : numpy.ndarray of float, shape (m,)
        Zero outside the support.
    cv_score : float
        Cross-validation score, lower is better.
    sigma, regularization : float
        The model behind the two scores.
    radius : float
        Sum of the weights.
    n_iter : int
        Ascent steps taken.
    """

    estimate: float
    weights: HostArray
    cv_score: float
    sigma: float
    regularization: float
    radius: float
    n_iter: int
