"""From a chosen set to a selection: final weights, a count of the useful features, a ranking."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from l1lsmi._arrays import Array, HostArray, namespace, to_numpy
from l1lsmi._numerics.model import Evaluation, Model, ModelBatch
from l1lsmi._numerics.optimization.ascent import ascend, relative_step
from l1lsmi._numerics.optimization.exchanges import FeatureSet
from l1lsmi._numerics.ranking import rank
from l1lsmi.strategies._scores import ScoreCache
from l1lsmi.strategies.protocols import Draws, Weightable
from l1lsmi.strategies.selection import Budget, StopReason, WeightedSelection

if TYPE_CHECKING:
    from l1lsmi.strategies._weighting import WeightingState

#: Sets beside the best of a sample that are compared on all rows.
N_ALTERNATIVES = 2


def weighted_selection(
    whole: Weightable,
    explored: Weightable,
    draw: Draws,
    k: int,
    state: WeightingState,
    scores: ScoreCache,
    budget: Budget,
) -> WeightedSelection:
    """Weight the chosen features, count the useful ones and fill up with constant columns.

    Parameters
    ----------
    whole : Weightable
        On all rows: they decide between the best sets, and choose the model.
    explored : Weightable
        On the rows that were searched, the same or a sample: sets and weights come from these.
    draw : Draws
        Of the explored rows.
    k : int
    state : WeightingState
    scores : ScoreCache
        Of the explored rows.
    budget : Budget
    """
    assert state.best is not None
    if explored is not whole and not budget.spent():
        state.best = _best_on_all_rows(whole, state, scores, budget)
    columns = np.array(state.best, dtype=np.intp)
    weights = np.zeros(whole.n_features)
    weights[columns], model = _final_weights(state, draw, budget)
    if explored is not whole:
        draw = whole.draws([(0, 0)])
        model = draw.select_model_near(weights[columns], columns, model).model
    fit = draw.fit(weights[columns], columns, model)
    support = np.zeros(whole.n_features, dtype=bool)
    support[columns] = True
    constant = np.setdiff1d(np.arange(whole.n_features), whole.columns)
    support[constant[: k - columns.size]] = True
    return WeightedSelection(
        support=support,
        weights=weights,
        ranking=rank(support, state.survival()),
        score=whole.score_of(fit),
        estimate=fit.value,
        cv_score=fit.cv_score,
        sigma=model.sigma,
        regularization=model.regularization,
        radius=float(weights.sum()),
        n_useful_features=_count_useful(scores, state.best, weights, budget),
        path=state.points,
        n_iter=max(1, state.n_iter),  # the final weights take one, too
        stop_reason=state.reason,
    )


def _best_on_all_rows(
    whole: Weightable, state: WeightingState, scores: ScoreCache, budget: Budget
) -> FeatureSet:
    """Compare the best sets of a sample and that of the terms on all rows: by kernels and by terms."""
    best = state.best
    assert best is not None
    others = [support for support in scores.best_first(len(best)) if support != best][:N_ALTERNATIVES]
    alternatives = dict.fromkeys(others)
    if state.start is not None and state.start != best and len(state.start) == len(best):
        alternatives[state.start] = None
    if not alternatives:
        return best
    scorer = whole.set_scorer(0)
    losses: dict[FeatureSet, float] = {}
    for support in (best, *alternatives):
        if losses and budget.spent():
            break
        (scored,) = scorer.score_sets([support], scores.score(support).model)
        losses[support] = scores.mean_with_terms(support, scored).loss
    return min(losses, key=lambda support: losses[support])


def _final_weights(state: WeightingState, draw: Draws, budget: Budget) -> tuple[HostArray, Model]:
    """Weights within the set, and the model that goes with them.

    Weights that the search has found for the whole set are taken; else a short ascent from equal weights is,
    if it lowers the cross-validation score. If there is no time for that, the time limit ended the search.
    """
    assert state.best is not None
    columns = np.array(state.best)
    if state.weights is not None and (state.weights[columns] > 0).all():
        weights = state.weights[columns]
        return weights, draw.select_model(weights, columns).model
    loss, model = draw.score_set(columns)
    equal = np.ones(columns.size)
    if budget.spent():
        if state.reason != StopReason.INTERRUPTED:
            state.reason = StopReason.TIME_LIMIT
        return equal, model
    moved = _short_ascent(draw, columns, model, budget)
    if draw.fit(moved, columns, model).cv_score < loss - 1e-6 * abs(loss):
        return moved, model
    return equal, model


def _short_ascent(draw: Draws, columns: HostArray, model: Model, budget: Budget) -> HostArray:
    """A few steps from equal weights, under one model, in which no weight reaches zero."""
    models = ModelBatch(draw.asarray(np.array([model.sigma])), draw.asarray(np.array([model.regularization])))

    def evaluate(weights: Array, _: Evaluation | None) -> Evaluation:
        return draw.evaluate(weights, None, columns[None], models)

    def project(weights: Array) -> Array:
        xp = namespace(weights)
        least = 1e-3 * xp.max(weights, axis=1, keepdims=True) + xp.zeros_like(weights)
        return xp.where(weights > least, weights, least)

    start: Any = draw.asarray(np.ones((1, columns.size)))
    ascent = ascend(start, evaluate, relative_step(0.1), project, max_iter=5, out_of_time=budget.spent)
    return np.asarray(to_numpy(ascent.weights)[0])


def _count_useful(scores: ScoreCache, best: FeatureSet, weights: HostArray, budget: Budget) -> int:
    """Leave features out, the least useful first, and return the size at which the loss is lowest.

    Of many features several are left out at a time; it ends where the loss has clearly risen.
    """
    columns = np.array(best)
    gradient = scores.gradient(best, columns)
    order = columns[np.lexsort((-gradient, -weights[columns]))]
    lowest, best_size = scores.score(best).loss, columns.size
    smaller: list[FeatureSet] = []
    size = columns.size
    while size > 1:
        size = min(size - 1, ceil(0.85 * size))
        smaller.append(tuple(sorted(int(j) for j in order[:size])))
    scores.expect(smaller)
    for support in smaller:
        if budget.spent():
            break
        loss = scores.score(support).loss
        if loss <= lowest:
            lowest, best_size = loss, len(support)
        elif loss > lowest + 0.05 * abs(lowest):
            break
    return int(best_size)
