"""A batch of restarts on the path of shrinking l1 balls: a state machine for each, one ascent for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from l1lsmi._arrays import Array, HostArray, asarray_like, namespace, to_numpy
from l1lsmi._clock import Budget
from l1lsmi._numerics.model import Model, ModelBatch
from l1lsmi._numerics.optimization.ascent import ascend, relative_step
from l1lsmi._numerics.optimization.radius import PathPoint, shrink
from l1lsmi._numerics.sampling import random_weights
from l1lsmi._rows.content import ranks_by_content
from l1lsmi.strategies._scores import TimedScore, timed_score
from l1lsmi.strategies._weighting import Outcome, WeightingState
from l1lsmi.strategies.protocols import Draws, Weightable


class PathSettings(NamedTuple):
    """Parameters of `L1Path` that a restart needs."""

    max_iter: int
    step_size: float
    keep: float
    narrowness: tuple[float, ...]


class AscentResult(NamedTuple):
    """Where the ascent at one radius led.

    ``weights`` come after the last step; ``evaluated``, ``value`` and ``estimate`` are those of the last
    evaluation, before it; ``model`` is the one for the next step.
    """

    weights: HostArray
    evaluated: HostArray
    value: float
    estimate: float
    model: Model
    n_steps: int


@dataclass
class PathState:
    """Where a restart is on its path: the features that are left, their weights and the model."""

    restart: int
    columns: HostArray
    weights: HostArray
    model: Model
    survival: HostArray
    held: HostArray | None = None
    points: list[PathPoint] = field(default_factory=list)
    n_iter: int = 0
    finished: bool = False

    def outcome(self, k: int) -> Outcome:
        """The ``k`` features with the largest weights."""
        best = np.argsort(-self.weights, kind="stable")[:k]
        everywhere = np.zeros(self.survival.size)
        everywhere[self.columns[best]] = self.weights[best]
        support = tuple(sorted(int(j) for j in self.columns[best]))
        return Outcome(support, everywhere, self.survival, tuple(self.points), self.n_iter)


def next_radius(state: PathState, result: AscentResult, k: int, keep: float, stop: bool) -> None:
    """Take in the result at one radius, and go on to the next smaller one.

    Parameters
    ----------
    state : PathState
    result : AscentResult
    k : int
        The path ends with so many features.
    keep : float
        Share of the features that is left.
    stop : bool
        Whether it ends here.
    """
    radius = float(state.weights.sum())
    state.n_iter += result.n_steps
    state.points.append(_point(state.restart, radius, state.columns, result))
    weights = _kept(result.weights, state.columns, state.held)
    state.survival[state.columns] = len(state.points) + 0.5 * weights / weights.max()
    # Weights and width enter the kernels as one: back to the radius, the width takes the factor.
    factor = radius / weights.sum()
    weights, model = weights * factor, result.model.rescaled(factor)
    columns, weights = state.columns[weights > 0], weights[weights > 0]
    state.finished = state.points[-1].size <= k or stop
    if columns.size > k and not state.finished:
        smaller = _shrunk(weights, columns, k, keep, state.held)
        model = model.rescaled(float(np.linalg.norm(smaller) / np.linalg.norm(weights)))
        columns, weights = columns[smaller > 0], smaller[smaller > 0]
    state.columns, state.weights, state.model = columns, weights, model


def _kept(weights: HostArray, columns: HostArray, held: HostArray | None) -> HostArray:
    """The same weights, those of the features that are held no smaller than the mean of all that are left."""
    if held is None:
        return weights
    left = weights[weights > 0]
    return np.where(np.isin(columns, held), np.maximum(weights, left.mean() if left.size else 1.0), weights)


def _shrunk(weights: HostArray, columns: HostArray, k: int, keep: float, held: HostArray | None) -> HostArray:
    """Weights on the next smaller ball, without the features that are held."""
    if held is None:
        return shrink(weights, k, keep)
    free = ~np.isin(columns, held)
    smaller = weights.copy()
    smaller[free] = shrink(weights[free], max(0, k - int((~free).sum())), keep)
    return smaller


def run_restarts(
    problem: Weightable,
    indices: Sequence[int],
    k: int,
    settings: PathSettings,
    budget: Budget,
    state: WeightingState,
    scored: bool = False,
    held: HostArray | None = None,
) -> tuple[list[Outcome], TimedScore | None]:
    """Follow the paths of a batch of restarts to their ends; ``scored`` also scores the set of the first.

    Features that are held keep their weights, and count among the ``k`` that are left.
    """
    columns = problem.columns
    draws = problem.draws([(1, index) for index in indices])
    ranks = ranks_by_content(problem.table, columns)
    weights = np.stack([random_weights(ranks, problem.rng(2, index)) for index in indices])
    narrowness = [settings.narrowness[index % len(settings.narrowness)] for index in indices]
    models = draws.start_models(draws.asarray(weights), np.tile(columns, (len(indices), 1)), narrowness)
    paths = [
        PathState(index, columns, w, model, np.zeros(problem.n_features), held)
        for index, w, model in zip(indices, weights, models, strict=True)
    ]
    while active := [i for i, path in enumerate(paths) if not path.finished]:
        some = [paths[i] for i in active]
        results = _ascend(draws.take(active), some, k, settings, budget)
        for path, result in zip(some, results, strict=True):
            state.latest = np.zeros(problem.n_features)
            state.latest[path.columns] = result.weights
            next_radius(path, result, k, settings.keep, budget.spent())
    outcomes = [path.outcome(k) for path in paths]
    return outcomes, timed_score(problem, outcomes[0].support) if scored and not budget.spent() else None


def _ascend(
    draws: Draws, paths: Sequence[PathState], k: int, settings: PathSettings, budget: Budget
) -> list[AscentResult]:
    """A few steps at one radius for every path of a batch, each with its own model, which follows."""
    sizes = np.array([path.columns.size for path in paths])
    columns = _padded([path.columns for path in paths], np.intp)
    weights = draws.asarray(_padded([path.weights for path in paths], np.float64))
    present = asarray_like(np.arange(columns.shape[1]) < sizes[:, None], weights)
    models = ModelBatch(
        draws.asarray(np.array([path.model.sigma for path in paths])),
        draws.asarray(np.array([path.model.regularization for path in paths])),
    )

    ascent = ascend(
        weights,
        partial(draws.evaluate, columns=columns, models=models),
        relative_step(settings.step_size),
        lambda moved: _keep_largest(moved, present, k),
        # With k features left there is nothing to decide: one step, to evaluate them.
        max_iter=[settings.max_iter if size > k else 1 for size in sizes],
        out_of_time=budget.spent,
    )
    estimates = draws.estimate(ascent.last, columns, models)
    moved, evaluated = to_numpy(ascent.weights), to_numpy(ascent.last.weights)
    values, regularizations = to_numpy(ascent.last.value), to_numpy(ascent.last.regularization)
    return [
        AscentResult(
            moved[i, : sizes[i]].copy(),
            evaluated[i, : sizes[i]].copy(),
            float(values[i]),
            float(estimates[i]),
            Model(path.model.sigma, float(regularizations[i])),
            int(ascent.n_steps[i]),
        )
        for i, path in enumerate(paths)
    ]


def _padded(arrays: Sequence[HostArray], dtype: Any) -> HostArray:
    padded = np.zeros((len(arrays), max(a.size for a in arrays)), dtype=dtype)
    for row, values in zip(padded, arrays, strict=True):
        row[: values.size] = values
    return padded


def _point(restart: int, radius: float, columns: HostArray, result: AscentResult) -> PathPoint:
    """What was found at a radius, where it was last evaluated."""
    positive = result.evaluated > 0
    # A path may visit millions of features: short numbers.
    inside = columns[positive].astype(np.int32)
    weights = result.evaluated[positive]
    scaled = (weights * (radius / weights.sum())).astype(np.float32)
    return PathPoint(restart, radius, inside.size, inside, scaled, result.estimate, -result.value)


def _keep_largest(moved: Array, present: Array, k: int) -> Array:
    """Cut at zero, but leave the ``k`` largest of each member a thousandth of its largest weight."""
    xp = namespace(moved)
    nothing = xp.zeros_like(moved)
    positive = xp.where(present & (moved > 0), moved, nothing)
    n_positive = xp.sum(xp.astype(positive > 0, xp.int64), axis=1, keepdims=True)
    if bool(xp.all(n_positive >= k)):
        return positive
    # 1e300 stands for infinity, which some libraries do not sort. Of equal weights, and all that reached
    # zero are equal, the first are taken.
    order = xp.argsort(xp.where(present, -moved, nothing + 1e300), axis=1)
    largest = present & (xp.argsort(order, axis=1) < k)
    trace = 1e-3 * xp.max(positive, axis=1, keepdims=True) + nothing
    return xp.where((n_positive < k) & largest & (positive < trace), trace, positive)
