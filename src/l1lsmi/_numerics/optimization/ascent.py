"""The one ascent loop, for a batch of starts, and the two step rules that the algorithms use in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from l1lsmi._arrays import Array, HostArray, asarray_like, namespace, to_numpy
from l1lsmi._clock import check_time

#: Where doubling a weight would change the objective by less, the gradient is a rounding error.
NEGLIGIBLE = 1e-8

ITERATION_LIMIT = "the iteration limit was reached"
TIME_LIMIT = "the time limit was reached"
GRADIENT_VANISHED = "the gradient vanished"
OBJECTIVE_CONVERGED = "the objective converged"

Evaluate = Callable[[Array, Any], Any]
Step = Callable[[Array, Array, int], Array]
Project = Callable[[Array], Array]


@dataclass(frozen=True)
class Ascent:
    """Where a batch of ascents ended.

    Attributes
    ----------
    weights : array of shape (r, m)
    values : numpy.ndarray of shape (steps, r)
        The objective at the start of every step; only the first ``n_steps`` of a member are its own.
    n_steps : numpy.ndarray of int, shape (r,)
    reasons : list of str
        Why each ended.
    last : object
        The last evaluation of each member.
    """

    weights: Array
    values: HostArray
    n_steps: HostArray
    reasons: list[str]
    last: Any


def ascend(
    weights: Array,
    evaluate: Evaluate,
    step: Step,
    project: Project,
    *,
    max_iter: int | Sequence[int],
    tolerance: float = 0.0,
    window: int = 3,
    min_features: int = 1,
    out_of_time: Callable[[], bool] = lambda: False,
) -> Ascent:
    """Evaluate, step, project, until the objective of every member of the batch converges.

    Parameters
    ----------
    weights : array of shape (r, m)
        Feasible starts.
    evaluate : callable
        ``evaluate(weights, last)``, where ``last`` is the last evaluation of each member or None, gives a
        named tuple of arrays with a leading batch axis, among them ``value`` (r,) and ``gradient`` (r, m).
    step : callable
        ``step(weights, gradient, t) -> change``.
    project : callable
        Takes any points to feasible ones.
    max_iter : int or sequence of int
        Iterations at most, for all members or for each.
    tolerance : float
        Ends when the mean change of the objective over the last ``window`` iterations, or the norm of the
        gradient, is no larger; 0 ascends to ``max_iter``.
    window : int
    min_features : int
        Ends when no more than so many weights are positive.
    out_of_time : callable
        Called before every iteration but the first.
    """
    xp = namespace(weights)
    limits = np.broadcast_to(max_iter, (weights.shape[0],))
    reasons = np.full(limits.shape, ITERATION_LIMIT, dtype=object)
    n_steps = np.zeros(limits.shape, dtype=np.intp)
    moving = limits > 0
    values: list[Any] = []
    last: Any = None

    def end(members: HostArray, reason: str) -> None:
        reasons[moving & members] = reason
        moving[members] = False

    for t in range(1, int(limits.max()) + 1):
        check_time()
        if t > 1 and out_of_time():
            end(moving.copy(), TIME_LIMIT)
        if not moving.any():
            break
        evaluation = evaluate(weights, last)
        moved = project(weights + step(weights, evaluation.gradient, t))
        last = _updated(last, evaluation, moving)
        weights = _where(moving, moved, weights)
        values.append(evaluation.value)
        n_steps += moving
        n_positive = to_numpy(xp.sum(xp.astype(weights > 0, xp.int64), axis=1))
        end(n_positive <= min_features, f"{min_features} feature(s) left")
        if tolerance > 0:
            norms = to_numpy(xp.linalg.vector_norm(evaluation.gradient, axis=1))
            end(norms <= tolerance, GRADIENT_VANISHED)
            end(_mean_change(values, window) <= tolerance, OBJECTIVE_CONVERGED)
        moving &= limits > t
    history = np.array([to_numpy(value) for value in values]).reshape(len(values), limits.size)
    return Ascent(weights, history, n_steps, reasons.tolist(), last)


def _where(moving: HostArray, new: Array, old: Array) -> Array:
    """New values of the members that move."""
    if moving.all():
        return new
    mask = asarray_like(moving.reshape(-1, *(1,) * (new.ndim - 1)), new)
    return namespace(new).where(mask, new, old)


def _updated(old: Any, new: Any, moving: HostArray) -> Any:
    """The same for a named tuple of arrays, tuples of arrays, or None."""
    if old is None or moving.all():
        return new
    if isinstance(new, tuple):
        parts = [_updated(a, b, moving) for a, b in zip(old, new, strict=True)]
        return type(new)(*parts) if type(new) is not tuple else tuple(parts)
    return _where(moving, new, old)


def _mean_change(values: list[Any], window: int) -> HostArray:
    """Mean absolute change of the objective over the last iterations; infinite before there are enough."""
    if len(values) <= window:
        return np.full(values[0].shape[0], np.inf)
    recent = np.array([to_numpy(value) for value in values[-1 - window :]])
    return np.asarray(np.abs(np.diff(recent, axis=0)).mean(axis=0))


def diminishing_step(step_size: float) -> Step:
    """The paper's rule: the gradient times ``step_size`` over the square root of t."""

    def step(weights: Array, gradient: Array, t: int) -> Array:
        return step_size / math.sqrt(t) * gradient

    return step


def relative_step(step_size: float) -> Step:
    """Move the weight with the steepest gradient by a fraction of the largest weight.

    The fraction falls with the square root of t. Independent of the scale of the weights and of
    the objective, so that one setting serves every problem.
    """

    def step(weights: Array, gradient: Array, t: int) -> Array:
        xp = namespace(weights)
        steepest, largest = xp.max(xp.abs(gradient), axis=1), xp.max(weights, axis=1)
        moves = steepest * largest > NEGLIGIBLE
        safe = xp.where(moves, steepest, xp.ones_like(steepest))
        length = step_size / math.sqrt(t) * largest / safe
        return xp.where(moves, length, xp.zeros_like(length))[:, None] * gradient

    return step
