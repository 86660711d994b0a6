"""The one ascent loop, and the two step rules that the algorithms use in it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from l1lsmi._arrays import HostArray

#: Where doubling a weight would change the objective by less, slopes are rounding errors.
NEGLIGIBLE = 1e-8

Evaluate = Callable[[HostArray, int], tuple[float, HostArray]]
Step = Callable[[HostArray, HostArray, int], HostArray]
Project = Callable[[HostArray], HostArray]


@dataclass(frozen=True)
class Ascent:
    """Where an ascent ended.

    Attributes
    ----------
    weights : numpy.ndarray of shape (m,)
    values : tuple of float
        The objective at the start of every step.
    reason : str
        Why it ended.
    """

    weights: HostArray
    values: tuple[float, ...]
    reason: str

    @property
    def n_steps(self) -> int:
        return len(self.values)


def ascend(
    weights: HostArray,
    evaluate: Evaluate,
    step: Step,
    project: Project,
    *,
    max_iter: int,
    tolerance: float = 0.0,
    window: int = 3,
    min_features: int = 1,
    out_of_time: Callable[[], bool] = lambda: False,
) -> Ascent:
    """Climb: evaluate, step, project, until the objective settles.

    Parameters
    ----------
    weights : numpy.ndarray of shape (m,)
        A feasible start.
    evaluate : callable
        ``evaluate(weights, t) -> (value, gradient)`` in iteration ``t``, from 1.
    step : callable
        ``step(weights, gradient, t) -> change``.
    project : callable
        Takes any point to the nearest feasible one.
    max_iter : int
    tolerance : float
        Ends when the mean change of the objective over the last ``window`` iterations, or the
        length of the gradient, is no larger; 0 climbs to ``max_iter``.
    window : int
    min_features : int
        Ends when no more than so many weights are positive.
    out_of_time : callable
        Asked before every iteration but the first.
    """
    values: list[float] = []
    reason = "the iteration limit was reached"
    for t in range(1, max_iter + 1):
        if t > 1 and out_of_time():
            reason = "the time limit was reached"
            break
        value, gradient = evaluate(weights, t)
        values.append(value)
        weights = project(weights + step(weights, gradient, t))
        if np.count_nonzero(weights) <= min_features:
            reason = f"{min_features} feature(s) left"
            break
        if tolerance > 0 and np.linalg.norm(gradient) <= tolerance:
            reason = "the gradient vanished"
            break
        settled = np.abs(np.diff(values[-1 - window :])).mean() if len(values) > window else np.inf
        if tolerance > 0 and settled <= tolerance:
            reason = "the objective settled"
            break
    return Ascent(weights, tuple(values), reason)


def diminishing_step(step_size: float) -> Step:
    """The paper's rule: the gradient times ``step_size`` over the square root of t."""

    def step(weights: HostArray, gradient: HostArray, t: int) -> HostArray:
        return step_size / math.sqrt(t) * gradient

    return step


def relative_step(step_size: float) -> Step:
    """Move the weight with the steepest slope by a fraction of the largest weight.

    The fraction falls with the square root of t. Independent of the scale of the weights and of
    the objective, so that one setting serves every problem.
    """

    def step(weights: HostArray, gradient: HostArray, t: int) -> HostArray:
        steepest = np.abs(gradient).max()
        if steepest * weights.max() <= NEGLIGIBLE:
            return np.zeros_like(weights)
        length: float = step_size / math.sqrt(t) * weights.max() / steepest
        return length * gradient

    return step
