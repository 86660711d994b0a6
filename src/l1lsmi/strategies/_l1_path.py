"""A descending, warm-started path, judged by rows left out.

Each restart begins with all features and a narrow kernel: wide kernels see every feature on its
own, narrow ones see all interactions at once. It climbs on the cross-validation score itself,
whose gradient costs no more than that of the estimate, then lets the radius shrink until the
weakest features reach zero, and goes on from there. No width has to be searched: weights and width
enter the kernel as one, so that the weights stay on their ball and the width follows. The sets that
the restarts end with are judged on common ground, by how well they predict rows left out where the
measure has a judge for that, and the best ones are refined by one-for-one swaps.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.model import Climbed, Stretch
from l1lsmi._numerics.optimization.ascent import ascend, relative_step
from l1lsmi._numerics.optimization.radius_search import PathPoint, shrink
from l1lsmi._numerics.optimization.swaps import refine_by_swaps
from l1lsmi._numerics.sampling import random_weights
from l1lsmi.strategies._base import cluster_of, in_order
from l1lsmi.strategies._jury import Jury, Verdict, judged
from l1lsmi.strategies._search import Draw, Outcome, Problem, SearchState
from l1lsmi.strategies.selection import Budget, StopReason

#: A score this close to the best that any set could have cannot be improved noticeably.
NEARLY = 1e-3
#: So many neighbours of a set are judged before it is taken for the best of them.
SHORTLIST = 4


@dataclass(frozen=True)
class PathSettings:
    """Constants of the path; see `L1Weighting` for what each means."""

    n_restarts: int
    max_iter: int
    relative_step_size: float
    keep: float
    narrowness: tuple[float, ...]
    n_judges: int
    agreement: int
    swap_width: int
    max_swaps: int
    n_refined: int

    def start_narrowness(self, index: int) -> float:
        """Where a restart begins."""
        return self.narrowness[index % len(self.narrowness)]


def search(
    problem: Problem,
    k: int,
    settings: PathSettings,
    budget: Budget,
    n_jobs: int | None,
    state: SearchState,
    progress: Any,
    jury: Jury,
) -> None:
    """Run restarts until they agree, refine the best set and leave it in ``state``."""
    together = getattr(problem, "n_together", lambda: 1)() > 1
    outcomes: Iterable[Outcome] = _outcomes(problem, k, settings, budget, n_jobs, state, jury)
    if together:
        outcomes = list(outcomes)
        jury.judge_all([outcome.support for outcome in outcomes])
    votes: dict[tuple[int, ...], int] = {}
    state.reason = StopReason.RESTARTS
    for outcome in outcomes:
        state.outcomes.append(outcome)
        votes[outcome.support] = votes.get(outcome.support, 0) + 1
        if budget.spent():
            state.reason = StopReason.TIME_LIMIT
            state.best = state.best or outcome.support
            return
        if state.best is None or jury.prefers(outcome.support, state.best):
            state.best = outcome.support
        score = jury.judge(state.best).cv_score
        progress.advance(-score, f"{len(state.points)} radii")
        if score < problem.best_cv_score + NEARLY:
            state.reason = StopReason.PERFECT
            return
        if votes[state.best] >= settings.agreement:
            state.reason = StopReason.AGREED
            break
    assert state.best is not None
    if state.reason == StopReason.RESTARTS and len(votes) == settings.n_restarts > 1:
        state.reason = StopReason.DISAGREED

    def neighbours(supports: Sequence[tuple[int, ...]]) -> list[list[tuple[int, ...]]]:
        found = jury.neighbours(supports, problem.columns, settings.swap_width)
        shortlists = [near[:SHORTLIST] for near in found]
        # The first of every shortlist is asked about for certain, the others if those before do not help.
        jury.expect([s for some in zip_longest(*shortlists) for s in some if s is not None])
        if together:
            jury.judge_all([support for near in shortlists for support in near])
        return shortlists

    starts = sorted(votes, key=lambda support: jury.judge(support).cv_score)[: settings.n_refined]
    for refined in refine_by_swaps(starts, neighbours, jury.prefers, budget.spent, settings.max_swaps):
        if jury.prefers(refined, state.best):
            state.best = refined
    if budget.spent():
        state.reason = StopReason.TIME_LIMIT


def _outcomes(
    problem: Problem,
    k: int,
    settings: PathSettings,
    budget: Budget,
    n_jobs: int | None,
    state: SearchState,
    jury: Jury,
) -> Iterator[Outcome]:
    """What restarts find, in order: as many together as a device holds, or each by itself."""
    options: dict[str, Any] = {"k": k, "settings": settings, "budget": budget, "state": state}
    at_a_time = getattr(problem, "n_together", lambda: 1)()
    if cluster_of(problem) is not None:
        indices = range(settings.n_restarts)
        for outcome, verdict in in_order(partial(_judged_restart, **options), problem, indices, n_jobs):
            if verdict is not None:
                jury.remember(outcome.support, verdict)
            yield outcome
        return
    if at_a_time == 1:
        yield from in_order(partial(_restart, **options), problem, range(settings.n_restarts), n_jobs)
        return
    for start in range(0, settings.n_restarts, at_a_time):
        members = range(start, min(start + at_a_time, settings.n_restarts))
        yield from _together(problem, members, **options)


def _restart(
    problem: Problem, index: int, k: int, settings: PathSettings, budget: Budget, state: SearchState
) -> Outcome:
    """One restart by itself."""
    draw = problem.draw(1, index)
    weights = random_weights(problem.columns.size, problem.rng(2, index))
    model = draw.start_model(weights, problem.columns, settings.start_narrowness(index))
    path = _descend(problem, index, Stretch(weights, problem.columns, model, 0), k, settings, budget, state)
    stretch = next(path)
    while True:
        try:
            stretch = path.send(_climb(draw, stretch, k, settings, budget))
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome


def _judged_restart(
    problem: Problem, index: int, budget: Budget, **options: Any
) -> tuple[Outcome, Verdict | None]:
    """One restart, and what the first judge says of its set, unless there is no time for that."""
    outcome = _restart(problem, index, budget=budget, **options)
    return outcome, None if budget.spent() else judged(problem, outcome.support)


def _together(
    problem: Problem,
    members: Sequence[int],
    k: int,
    settings: PathSettings,
    budget: Budget,
    state: SearchState,
) -> list[Outcome]:
    """Several restarts, each stretch of all of them climbed as one."""
    columns = problem.columns
    draws = problem.draws_together([(1, index) for index in members])  # type: ignore[attr-defined]
    weights = [random_weights(columns.size, problem.rng(2, index)) for index in members]
    narrowness = [settings.start_narrowness(index) for index in members]
    models = draws.start_models(weights, columns, narrowness)
    paths = [
        _descend(problem, index, Stretch(w, columns, model, 0), k, settings, budget, state)
        for index, w, model in zip(members, weights, models, strict=True)
    ]
    stretches = {place: next(path) for place, path in enumerate(paths)}
    outcomes: dict[int, Outcome] = {}
    while stretches:
        places = sorted(stretches)
        climbed = draws.climb(places, [stretches[p] for p in places], k, settings.relative_step_size)
        for place, found in zip(places, climbed, strict=True):
            try:
                stretches[place] = paths[place].send(found)
            except StopIteration as end:
                outcomes[place] = end.value
                del stretches[place]
    return [outcomes[place] for place in range(len(members))]


def _descend(
    problem: Problem,
    index: int,
    start: Stretch,
    k: int,
    settings: PathSettings,
    budget: Budget,
    state: SearchState,
) -> Generator[Stretch, Climbed, Outcome]:
    """Shrink the radius until ``k`` features are left; whoever runs it climbs at each radius."""
    weights, columns, model, _ = start
    points: list[PathPoint] = []
    survival = np.zeros(problem.n_features)
    n_iter = 0

    while True:
        radius = float(weights.sum())
        # With k features left there is nothing to decide: one step, to see what they are worth.
        climbed = yield Stretch(weights, columns, model, settings.max_iter if columns.size > k else 1)
        weights = climbed.weights
        n_iter += climbed.n_steps
        points.append(_point(index, radius, columns, climbed))
        survival[columns] = len(points) + 0.5 * weights / weights.max()
        state.latest = np.zeros(problem.n_features)
        state.latest[columns] = weights
        # Weights and width enter the kernels as one: back to the radius, the width takes the rest.
        weights, model = _rescaled(weights, climbed.model, radius / weights.sum())
        columns, weights = columns[weights > 0], weights[weights > 0]
        if points[-1].size <= k or budget.spent():
            break
        if columns.size > k:
            smaller = shrink(weights, k, settings.keep)
            model = model.rescaled(float(np.linalg.norm(smaller) / np.linalg.norm(weights)))
            columns, weights = columns[smaller > 0], smaller[smaller > 0]
    best = np.argsort(-weights, kind="stable")[:k]
    everywhere = np.zeros(problem.n_features)
    everywhere[columns[best]] = weights[best]
    support = tuple(sorted(int(j) for j in columns[best]))
    return Outcome(support, everywhere, survival, tuple(points), n_iter)


def _rescaled(weights: HostArray, model: Any, factor: float) -> tuple[HostArray, Any]:
    """Other weights and model with the same kernels."""
    return weights * factor, model.rescaled(factor)


def _climb(draw: Draw, stretch: Stretch, k: int, settings: PathSettings, budget: Budget) -> Climbed:
    """A few steps up at one radius, each with its evaluation; the model follows."""
    climbs: list[Any] = []

    def evaluate(weights: HostArray, _: int) -> tuple[float, HostArray]:
        climb = draw.climb(weights, stretch.columns, climbs[-1].model if climbs else stretch.model)
        climbs.append(climb)
        return climb.value, climb.gradient

    ascent = ascend(
        stretch.weights,
        evaluate,
        relative_step(settings.relative_step_size),
        lambda moved: _keep_largest(moved, k),
        max_iter=stretch.max_iter,
        out_of_time=budget.spent,
    )
    last = climbs[-1]
    return Climbed(ascent.weights, last.weights, last.value, last.estimate(), last.model, len(climbs))


def _point(restart: int, radius: float, columns: HostArray, climbed: Climbed) -> PathPoint:
    """What was found at a radius, where it was last evaluated."""
    positive = climbed.evaluated > 0
    # A path may visit millions of features: short numbers.
    inside = columns[positive].astype(np.int32)
    weights = climbed.evaluated[positive]
    scaled = (weights * (radius / weights.sum())).astype(np.float32)
    return PathPoint(restart, radius, inside.size, inside, scaled, climbed.estimate, -climbed.value)


def _keep_largest(weights: HostArray, k: int) -> HostArray:
    """Cut at zero, but leave the ``k`` largest a trace of weight."""
    positive = np.maximum(weights, 0.0)
    if np.count_nonzero(positive) < k:
        largest = np.argsort(-weights, kind="stable")[:k]
        positive[largest] = np.maximum(positive[largest], 1e-3 * positive.max())
    return positive
