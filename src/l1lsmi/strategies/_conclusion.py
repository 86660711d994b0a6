"""From a chosen set to a selection: weights, a count of the useful ones, a ranking."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.optimization.ascent import ascend, relative_step
from l1lsmi._numerics.ranking import rank
from l1lsmi.strategies._jury import Jury
from l1lsmi.strategies._search import Draw, Problem, SearchState
from l1lsmi.strategies.selection import Budget, StopReason, WeightedSelection

#: Sets beside the best of a sample that all rows are asked about.
N_RIVALS = 2


def conclude(
    problem: Problem, explored: Problem, k: int, state: SearchState, jury: Jury, budget: Budget
) -> WeightedSelection:
    """Weigh the chosen features, count the useful ones and fill up with constant columns.

    Parameters
    ----------
    problem : Problem
        All rows.
    explored : Problem
        The rows that the search saw: the same problem, or a sample of it. What is chosen and how it is
        weighed is looked for there; among the best sets and for the model, all rows decide.
    k : int
    state : SearchState
    jury : Jury
        Of the explored rows.
    budget : Budget
    """
    assert state.best is not None and state.reason is not None
    if explored is not problem and not budget.spent():
        state.best = _best_of_all_rows(problem, state.best, jury, budget)
    columns = np.array(state.best, dtype=np.intp)
    weights = np.zeros(problem.n_features)
    draw = explored.draw(0, 0)
    weights[columns], model = _weigh(state, draw, budget)
    if explored is not problem:
        draw = problem.draw(0, 0)
        model = draw.choose_near(weights[columns], columns, model).model
    fit = draw.fit(weights[columns], columns, model)
    support = np.zeros(problem.n_features, dtype=bool)
    support[columns] = True
    constant = np.setdiff1d(np.arange(problem.n_features), problem.columns)
    support[constant[: k - columns.size]] = True
    return WeightedSelection(
        support=support,
        weights=weights,
        ranking=rank(support, state.survival()),
        score=problem.score_of(fit),
        estimate=fit.value,
        cv_score=fit.cv_score,
        sigma=model.sigma,
        regularization=model.regularization,
        radius=float(weights.sum()),
        n_useful_features=_count_useful(jury, state.best, weights, budget),
        path=state.points,
        n_iter=state.n_iter,
        stop_reason=state.reason,
    )


def _best_of_all_rows(problem: Problem, best: tuple[int, ...], jury: Jury, budget: Budget) -> tuple[int, ...]:
    """Let all rows decide between the sets that came out best of a sample."""
    rivals = [support for support in jury.best_first(len(best)) if support != best][:N_RIVALS]
    if not rivals:
        return best
    juror = problem.juror(0)
    scores: dict[tuple[int, ...], float] = {}
    for support in (best, *rivals):
        if scores and budget.spent():
            break
        scores[support] = juror.judge(np.array(support), jury.judge(support).model).cv_score
    return min(scores, key=lambda support: scores[support])


def _weigh(state: SearchState, draw: Draw, budget: Budget) -> tuple[HostArray, Any]:
    """Weights within the set, and the model that goes with them.

    Weights that the search stands by are taken; else the set climbs a little from equal weights,
    and goes back to them if that does not help. Where there is no time for that, it is what ended the search.
    """
    assert state.best is not None
    columns = np.array(state.best)
    if state.weights is not None and (state.weights[columns] > 0).all():
        weights = state.weights[columns]
        return weights, draw.choose_model(weights, columns).model
    judgement = draw.judge(columns)
    equal = np.ones(columns.size)
    if budget.spent():
        if state.reason != StopReason.INTERRUPTED:
            state.reason = StopReason.TIME_LIMIT
        return equal, judgement.model
    climbed = _climb(draw, columns, judgement.model, budget)
    helped = draw.fit(climbed, columns, judgement.model).cv_score
    if helped < judgement.cv_score - 1e-6 * abs(judgement.cv_score):
        return climbed, judgement.model
    return equal, judgement.model


def _climb(draw: Draw, columns: HostArray, model: Any, budget: Budget) -> HostArray:
    def evaluate(weights: HostArray, _: int) -> tuple[float, HostArray]:
        climb = draw.climb(weights, columns, model)
        return climb.value, climb.gradient

    def project(weights: HostArray) -> HostArray:
        return np.asarray(np.maximum(weights, 1e-3 * weights.max()))

    start = np.ones(columns.size)
    return ascend(start, evaluate, relative_step(0.1), project, max_iter=5, out_of_time=budget.spent).weights


def _count_useful(jury: Jury, best: tuple[int, ...], weights: HostArray, budget: Budget) -> int:
    """Leave features out, least useful first, and see where the score is best.

    Many features are left out several at a time; the walk ends where the score has clearly turned.
    """
    columns = np.array(best)
    slopes = jury.slopes(best, columns)
    order = columns[np.lexsort((-slopes, -weights[columns]))]
    lowest, size_there = jury.judge(best).cv_score, columns.size
    smaller: list[tuple[int, ...]] = []
    size = columns.size
    while size > 1:
        size = min(size - 1, ceil(0.85 * size))
        smaller.append(tuple(sorted(int(j) for j in order[:size])))
    jury.expect(smaller)
    for support in smaller:
        if budget.spent():
            break
        score = jury.judge(support).cv_score
        if score <= lowest:
            lowest, size_there = score, len(support)
        elif score > lowest + 0.05 * abs(lowest):
            break
    return int(size_there)
