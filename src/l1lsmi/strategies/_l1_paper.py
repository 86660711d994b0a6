"""Algorithm 1 of the paper: gradient ascent on the estimate inside an l1 ball of searched radius."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.optimization.ascent import ascend, diminishing_step
from l1lsmi._numerics.optimization.l1_ball import project_to_simplex_ball
from l1lsmi._numerics.optimization.radius_search import PathPoint, double_then_halve
from l1lsmi._numerics.sampling import random_weights
from l1lsmi.strategies._base import in_order
from l1lsmi.strategies._search import Draw, Outcome, Problem, SearchState
from l1lsmi.strategies.selection import Budget, StopReason


@dataclass(frozen=True)
class PaperSettings:
    """The constants of the paper's experiments; see `L1Weighting` for what each means."""

    n_restarts: int
    max_iter: int
    step_size: float
    tolerance: float
    window: int
    initial_radius: float
    max_doublings: int
    max_halvings: int
    first_model_selections: int
    model_selection_every: int
    zero: float


def search(
    problem: Problem,
    k: int,
    settings: PaperSettings,
    budget: Budget,
    n_jobs: int | None,
    state: SearchState,
    progress: Any,
) -> None:
    """Run the restarts and leave the best set by the three sort keys in ``state``."""
    values: dict[tuple[int, ...], float] = {}
    common = problem.draw(0)

    def set_value(support: tuple[int, ...]) -> float:
        if not support:
            return 0.0  # no features say nothing
        if support not in values:
            columns, ones = np.array(support), np.ones(len(support))
            model = common.choose_model(ones, columns).model
            values[support] = common.fit(ones, columns, model).value
        return values[support]

    def sizes_first(support: tuple[int, ...]) -> tuple[int, int]:  # the first two keys of line 24
        excess = len(support) - k
        return abs(excess), excess

    restart = partial(_restart, k=k, settings=settings, budget=budget, state=state)
    state.reason = StopReason.RESTARTS
    for visited in in_order(restart, problem, range(settings.n_restarts), n_jobs):
        nearest = min(sizes_first(outcome.support) for outcome in visited)
        equal = [outcome for outcome in visited if sizes_first(outcome.support) == nearest]
        best = equal[0] if len(equal) == 1 else max(equal, key=lambda outcome: set_value(outcome.support))
        state.outcomes.append(best)
        keys = (nearest, -set_value(best.support))
        if state.best is None or keys < (sizes_first(state.best), -set_value(state.best)):
            state.best = best.support
        progress.advance(set_value(state.best), f"{len(state.points)} radii")
        if budget.spent():
            state.reason = StopReason.TIME_LIMIT
            break
    assert state.best is not None
    found = state.outcome_of(state.best)
    state.weights = found.weights if found is not None else None
    state.best = _exactly(k, state.best, state, common, problem)


def _restart(
    problem: Problem, index: int, k: int, settings: PaperSettings, budget: Budget, state: SearchState
) -> list[Outcome]:
    """Every set on the way of one radius search; all share its points and its count of steps."""
    rng = problem.rng(2, index)
    draw = problem.draw(1, index)
    columns = problem.columns
    points: list[PathPoint] = []
    found: list[HostArray] = []
    n_iter = 0

    def size_at(radius: float) -> int:
        nonlocal n_iter
        weights, n_steps, value, score = _solve(draw, columns, radius, settings, budget, rng)
        n_iter += n_steps
        support, positive = columns[weights > 0], weights[weights > 0]
        points.append(PathPoint(index, radius, support.size, support, positive, value, score))
        found.append(_spread(weights, columns, problem.n_features))
        state.latest = found[-1]
        return int(support.size)

    radii = double_then_halve(
        size_at,
        k,
        initial_radius=settings.initial_radius,
        max_doublings=settings.max_doublings,
        max_halvings=settings.max_halvings,
    )
    for _ in radii:
        if budget.spent():
            break
    survival = np.zeros(problem.n_features)
    for point, weights in zip(points, found, strict=True):
        survival += (weights > 0) + 0.5 * weights / point.radius
    return [
        Outcome(tuple(int(j) for j in np.flatnonzero(weights)), weights, survival, tuple(points), n_iter)
        for weights in found
    ]


def _solve(
    draw: Draw,
    columns: HostArray,
    radius: float,
    settings: PaperSettings,
    budget: Budget,
    rng: np.random.Generator,
) -> tuple[HostArray, int, float, float]:
    """Ascend inside one ball; returns weights, steps, and objective and score at those weights."""
    judgement: Any = None

    def evaluate(weights: HostArray, t: int) -> tuple[float, HostArray]:
        nonlocal judgement
        active = np.flatnonzero(weights)  # the gradient of a zero weight is zero
        selecting = t <= settings.first_model_selections or t % settings.model_selection_every == 0
        if judgement is None or selecting:
            judgement = draw.choose_model(weights[active], columns[active])
        gradient = np.zeros_like(weights)
        value, gradient[active] = draw.value_and_gradient(weights[active], columns[active], judgement.model)
        return value, gradient

    def project(weights: HostArray) -> HostArray:
        inside = project_to_simplex_ball(weights, radius)
        return np.where(inside > settings.zero, inside, 0.0)

    ascent = ascend(
        random_weights(columns.size, rng) * radius,
        evaluate,
        diminishing_step(settings.step_size),
        project,
        max_iter=settings.max_iter,
        tolerance=settings.tolerance,
        window=settings.window,
        out_of_time=budget.spent,
    )
    active = np.flatnonzero(ascent.weights)
    if active.size == 0:
        return ascent.weights, ascent.n_steps, 0.0, 0.0
    final = draw.fit(ascent.weights[active], columns[active], judgement.model)
    return ascent.weights, ascent.n_steps, final.value, final.cv_score


def _spread(weights: HostArray, columns: HostArray, n_features: int) -> HostArray:
    everywhere = np.zeros(n_features)
    everywhere[columns] = weights
    return everywhere


def _exactly(
    k: int, support: tuple[int, ...], state: SearchState, draw: Draw, problem: Problem
) -> tuple[int, ...]:
    """Cut the smallest weights, or add the steepest absent features, to make it ``k``."""
    outcome = state.outcome_of(support)
    assert outcome is not None
    if len(support) >= k:
        order = sorted(support, key=lambda j: -outcome.weights[j])
        return tuple(sorted(order[:k]))
    columns = np.array(support, dtype=np.intp)
    if support:
        slopes = draw.set_slopes(columns, draw.judge(columns).model, problem.columns)
    else:  # the first step left the ball at the origin: go by what lasted longest elsewhere
        slopes = outcome.survival[problem.columns]
    slopes = np.where(np.isin(problem.columns, columns), -np.inf, slopes)
    added = problem.columns[np.argsort(-slopes, kind="stable")[: k - columns.size]]
    return tuple(sorted([*support, *(int(j) for j in added)]))
