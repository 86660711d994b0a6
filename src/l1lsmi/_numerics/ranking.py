"""From scores to a set of features and a ranking."""

from __future__ import annotations

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.constraints import Constraints

#: Scores of sets that differ by a smaller share of the largest are equal, and so are those of sets without
#: any dependence, which are all near 0.
EQUAL, NEAR_0 = 1e-9, 1e-3


def rounded(scores: HostArray, finest: float = 0.0) -> HostArray:
    """Scores to eleven digits: what differs by rounding errors is equal, whatever the order of summation.

    No digit is finer than the share ``finest`` of the largest score: where scores are differences of numbers
    that nearly cancel, those near 0 have fewer digits.
    """
    finite = np.isfinite(scores) & (scores != 0)
    unit = 10.0 ** (np.floor(np.log10(np.abs(scores), where=finite, out=np.zeros(scores.shape))) - 10)
    unit = np.maximum(unit, finest * np.abs(scores).max(where=finite, initial=0.0))
    safe = np.where(finite & (unit > 0), unit, 1.0)
    return np.where(finite & (unit > 0), np.round(np.where(finite, scores, 0.0) / safe) * safe, scores)


def best_first(scores: HostArray, finest: float = 0.0) -> HostArray:
    """Positions by falling score, rounded; of equal scores the first comes first."""
    return np.argsort(-rounded(scores, finest), kind="stable")


def first_best(scores: HostArray, order: HostArray | None = None) -> int:
    """Position of the highest score; of scores that are equal to it, the first.

    Scores are equal where they differ by less than a share ``EQUAL`` of the largest, or of ``NEAR_0``: an
    iterative fit ends with such differences, which depend on the order of summation.

    Parameters
    ----------
    scores : numpy.ndarray of shape (n,)
        NaN is lower than any score.
    order : numpy.ndarray of shape (n,) or None
        Of equal scores, the one with the smallest value is the first; None is the order of the scores.
    """
    known = np.where(np.isnan(scores), -np.inf, scores)
    slack = EQUAL * np.abs(known).max(where=np.isfinite(known), initial=NEAR_0)
    equal = np.flatnonzero(known >= known.max() - slack)
    return int(equal[0] if order is None else equal[np.argmin(order[equal])])


def scatter(scores: HostArray, columns: HostArray, n_features: int, fill: float = -np.inf) -> HostArray:
    """Scores of some columns as an array over all features; the others get ``fill``."""
    everywhere = np.full(n_features, fill)
    everywhere[columns] = scores
    return everywhere


def take_best(scores: HostArray, k: int, constraints: Constraints | None = None) -> HostArray:
    """Mark the ``k`` features with the highest scores, or the units with the highest means that fit."""
    support = np.zeros(scores.size, dtype=bool)
    if constraints is None:
        support[best_first(scores)[:k]] = True
        return support
    for unit in constraints.fill(rounded(constraints.of_columns(scores)), k):
        support[constraints.units[unit]] = True
    return support


def rank(support: HostArray, scores: HostArray) -> HostArray:
    """Rank chosen features 1 and the others from 2 on by falling score."""
    ranking = np.ones(support.size, dtype=np.intp)
    others = np.flatnonzero(~support)
    ranking[others[best_first(scores[others])]] = np.arange(2, others.size + 2)
    return ranking


def learned_from_scores(
    scores: HostArray, columns: HostArray, n_features: int, k: int, constraints: Constraints | None = None
) -> dict[str, HostArray]:
    """The ``k`` features with the highest scores: support, ranking and scores, by name."""
    everywhere = scatter(scores, columns, n_features)
    support = take_best(everywhere, k, constraints)
    return {"support": support, "ranking": rank(support, everywhere), "scores": everywhere}
