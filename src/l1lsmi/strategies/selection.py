"""What a strategy hands back, and the clock it runs against."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from l1lsmi.arrays import HostArray
from l1lsmi.numerics.radius_search import PathPoint

__all__ = ["Budget", "Selection", "StopReason", "rank_by_survival"]


class StopReason:
    """Why a search ended: sentences that are stored as they are."""

    AGREED = "Restarts agreed on the set."
    PERFECT = "The set explains the classes as well as any set could."
    RESTARTS = "All restarts were used."
    NOTHING_TO_CHOOSE = "Every feature that varies was asked for."
    TIME_LIMIT = "The time limit was reached; the best set found until then is returned."
    INTERRUPTED = "The search was interrupted; the best set found until then is returned."


class Budget:
    """A deadline that can also be brought forward from outside.

    Parameters
    ----------
    time_limit : float or None
        Seconds from now.
    """

    def __init__(self, time_limit: float | None) -> None:
        self.started = time.monotonic()
        self.time_limit = time_limit
        self.cancelled = False

    def spent(self) -> bool:
        """Tell whether it is time to stop."""
        if self.cancelled:
            return True
        return self.time_limit is not None and time.monotonic() - self.started >= self.time_limit


@dataclass(frozen=True)
class Selection:
    """A set of exactly k features and how it was found.

    Attributes
    ----------
    support : numpy.ndarray of bool, shape (m,)
    weights : numpy.ndarray of float, shape (m,)
        Zero outside the support.
    ranking : numpy.ndarray of int, shape (m,)
        1 for chosen features, then 2, 3, ... for those that held out longest.
    value : float
        Estimate of the measure for the weighted features.
    cv_score : float
        Cross-validation score, lower is better.
    sigma, regularization : float
        The model behind the two numbers above.
    radius : float
        Sum of the weights.
    n_useful : int
        How many of the chosen features earn their place; fewer than k where the data cannot give k.
    path : tuple of PathPoint
        Every radius visited.
    n_iter : int
        Ascent steps taken.
    stop_reason : str
    """

    support: HostArray
    weights: HostArray
    ranking: HostArray
    value: float
    cv_score: float
    sigma: float
    regularization: float
    radius: float
    n_useful: int
    path: tuple[PathPoint, ...]
    n_iter: int
    stop_reason: str


def rank_by_survival(support: HostArray, survival: HostArray) -> HostArray:
    """Rank chosen features 1 and the others from 2 on by how long they held out."""
    ranking = np.ones(support.size, dtype=np.intp)
    others = np.flatnonzero(~support)
    others = others[np.argsort(-survival[others], kind="stable")]
    ranking[others] = np.arange(2, others.size + 2)
    return ranking
