"""Radii of the l1 ball: doubling and bisection (the paper), or decreasing with warm starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.optimization.l1_ball import project_to_simplex_ball


@dataclass(frozen=True)
class PathPoint:
    """One radius visited.

    Attributes
    ----------
    restart : int
        Which restart visited it.
    radius : float
        Bound on the sum of the weights.
    size : int
        Number of features with a positive weight.
    support : numpy.ndarray of int
        Those features.
    weights : numpy.ndarray of float
        Their weights, in the same order; they add up to the radius, or to less where the search did not
        use all of it.
    objective : float
        Estimate of the measure there.
    cv_score : float
        Its cross-validation score, lower is better; for a measure without one, minus the objective.
    """

    restart: int
    radius: float
    size: int
    support: HostArray
    weights: HostArray
    objective: float
    cv_score: float


def double_then_halve(
    size_at: Callable[[float], int],
    k: int,
    *,
    initial_radius: float,
    max_doublings: int,
    max_halvings: int,
) -> Iterator[float]:
    """Visit radii as in Algorithm 1 until one gives ``k`` features.

    Parameters
    ----------
    size_at : callable
        Solves the problem at a radius and returns the number of features left.
    k : int
    initial_radius : float
        Doubled before its first use.
    max_doublings, max_halvings : int

    Yields
    ------
    radius : float
        Each radius, after ``size_at`` was called for it.
    """
    high = initial_radius
    for _ in range(max_doublings):  # lines 2-9: find an upper bound
        high *= 2
        size = size_at(high)
        yield high
        if size == k:
            return
        if size > k:
            break
    else:
        return
    low = high / 2
    for _ in range(max_halvings):  # lines 12-22: binary search below it
        middle = (low + high) / 2
        size = size_at(middle)
        yield middle
        if size == k:
            return
        low, high = (middle, high) if size < k else (low, middle)


def shrink(weights: HostArray, k: int, keep: float) -> HostArray:
    """Project onto the ball on which only about the share ``keep`` of the features is left.

    Of more than 100 features a smaller share is left, ``keep`` to the power of log10(size / 10):
    one of thousands matters little. The radius is that at which the next features reach zero. Never
    fewer than ``k`` are left: where ties would take more, the largest weights stay as they are.
    """
    size = int(np.count_nonzero(weights))
    share = keep ** max(1.0, np.log10(size / 10))
    n_left = max(k, min(size - 1, int(np.ceil(share * size))))
    order = np.argsort(-weights, kind="stable")
    threshold = weights[order[n_left]]
    radius = float(np.maximum(weights - threshold, 0.0).sum())
    smaller = np.zeros_like(weights)
    if radius > 0:
        smaller = project_to_simplex_ball(weights, radius)
    if np.count_nonzero(smaller) < n_left:
        smaller = np.zeros_like(weights)
        smaller[order[:n_left]] = weights[order[:n_left]]
    smaller[order[n_left:]] = 0.0
    return smaller
