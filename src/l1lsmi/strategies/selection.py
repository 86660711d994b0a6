"""The result of a strategy, and why it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from l1lsmi._arrays import HostArray


class StopReason:
    """Why a search ended: the sentences of ``stop_reason_``; braces are filled in."""

    AGREED = "Restarts found the same set again, which ended the search."
    SAME = "{} found {}."
    EXCHANGED = "Exchanges of features improved the set that the restarts had found."
    PERFECT = "The set explains the classes as well as any set could."
    TERMS = (
        "Restarts found no better set than the effects of single features, pairs and triples had suggested."
    )
    IN_VAIN = "Further restarts found no better set."
    RESTARTS = "All restarts of the search were made; the best set is returned."
    DISAGREED = (
        "All restarts of the search were made, and no two found the same set; the best set is returned."
    )
    ALL_STEPS = "All steps of the search were made."
    ALL_SCORED = "All candidates were scored."
    NOTHING_TO_CHOOSE = "All features that vary are selected: there was nothing to choose."
    ALL_CHOSEN = (
        "All features that vary are selected: no smaller number that was tried predicts unseen rows nearly "
        "as well."
    )
    WHOLE_POOL = (
        "The search was limited to the features with the strongest rising or falling trends, just as many as "
        "were to be selected."
    )
    NO_EVIDENCE = (
        "In rows that the search has not seen, no set of features predicts clearly better than a constant "
        "does."
    )
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
        The feature whose addition or removal gave this set, if there was one.
    support : numpy.ndarray of int
        The features of the set.
    score : float
        Score of the set.
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
        All features: the first k are the support, and the first j are the set of j features. If a strategy
        has no such order, the support comes first, and then the others by ranking.
    p_value : float
        Upper bound on the probability of effects at least as large as those found, if the target does not
        depend on the features; 1 if no bound is known.
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

    The score of the set is the mean of their scores, and there is no path.

    Attributes
    ----------
    scores : numpy.ndarray of float, shape (m,)
        Score of every feature alone; minus infinity for constant features, and for features that were not
        scored within the time limit.
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
        Kernel width and regularization of the model that gives the estimate and the cross-validation score.
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
