"""From a chosen set to a selection: final weights, an order of its features, a ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from l1lsmi._arrays import Array, HostArray, namespace, to_numpy
from l1lsmi._clock import Budget, check_time, while_time_is_left
from l1lsmi._numerics.model import Evaluation, Fit, Model, ModelBatch, ScoredModel
from l1lsmi._numerics.optimization.ascent import ascend, relative_step
from l1lsmi._numerics.optimization.exchanges import FeatureSet
from l1lsmi._numerics.ranking import rank
from l1lsmi.strategies._pieces import recall
from l1lsmi.strategies._scores import ScoreCache
from l1lsmi.strategies.protocols import Draws, SetScorer, Weightable
from l1lsmi.strategies.selection import StopReason, WeightedSelection

if TYPE_CHECKING:
    from l1lsmi.strategies._weighting import WeightingState

#: Sets beside the best of a sample that are compared on all rows.
N_ALTERNATIVES = 2
#: Of larger sets than this several features are eliminated at a time, so that this share of them is left.
ONE_BY_ONE = 12
KEPT = 0.85
#: Of at most so many features each is tried, of more only the weakest by the gradient.
TRY_EACH = 8
N_WEAKEST = 4
#: What stands for a fit that there was no time for.
NOT_FITTED = Fit(np.empty(0), np.nan, np.nan)
NO_MODEL = Model(np.nan, np.nan)


def weighted_selection(
    whole: Weightable,
    explored: Weightable,
    draw: Draws,
    k: int,
    state: WeightingState,
    scores: ScoreCache,
    budget: Budget,
    down_to: int = 1,
) -> WeightedSelection:
    """Weight and order the chosen features, and fill up with constant columns.

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
    down_to : int
        The smallest set that is needed of the order of the chosen features.
    """
    assert state.best is not None
    if explored is not whole and not budget.spent():
        with while_time_is_left(budget):
            state.best = _best_on_all_rows(whole, state, scores, budget)
    columns = np.array(state.best, dtype=np.intp)
    weights, model, fit, _ = fitted_best(whole, explored, draw, state, budget)
    support = np.zeros(whole.n_features, dtype=bool)
    support[columns] = True
    constant = np.setdiff1d(np.arange(whole.n_features), whole.columns)
    support[constant[: k - columns.size]] = True
    ranking = rank(support, state.survival())
    ordered = columns.size > down_to
    inside = _elimination_order(scores, state.best, weights, budget, down_to) if ordered else columns
    if ordered and budget.spent():
        _end_early(state)
    others = np.setdiff1d(np.arange(whole.n_features), columns)
    return WeightedSelection(
        support=support,
        weights=weights,
        ranking=ranking,
        score=whole.score_of(fit),
        estimate=fit.value,
        cv_score=fit.cv_score,
        sigma=model.sigma,
        regularization=model.regularization,
        radius=float(weights.sum()),
        path=state.points,
        n_iter=max(1, state.n_iter),  # the final weights take one, too
        stop_reason=_told_reason(state),
        order=np.concatenate([inside, others[np.argsort(ranking[others], kind="stable")]]),
    )


def fitted_best(
    whole: Weightable, explored: Weightable, draw: Draws, state: WeightingState, budget: Budget
) -> tuple[HostArray, Model, Fit, Draws]:
    """Weights of the best set, its model, the fit to all rows and the draw that it was made on.

    Where there is no time for a model or a fit, these are NaN, and the time limit ended the search.
    """
    columns = np.array(state.best, dtype=np.intp)
    weights, model = np.zeros(whole.n_features), NO_MODEL
    weights[columns] = 1.0
    with while_time_is_left(budget.with_grace()):
        of_all_rows = draw if explored is whole else whole.draws([(0, 0)])

        def compute() -> tuple[HostArray, Model, Fit]:
            found, near = _final_weights(state, draw, budget)
            if explored is not whole:
                near = of_all_rows.select_model_near(found, columns, near).model
            return found, near, of_all_rows.fit(found, columns, near)

        weights[columns], model, fit = recall("weights", [columns, state.weights], compute, budget)
        return weights, model, fit, of_all_rows
    _end_early(state)
    return weights, model, NOT_FITTED, draw


def _told_reason(state: WeightingState) -> str:
    """Why the search ended; where restarts agreed, how many of them ended with the set that is returned."""
    if state.reason != StopReason.AGREED:
        return state.reason
    n, n_same = len(state.outcomes), sum(outcome.support == state.best for outcome in state.outcomes)
    if n_same == 0:
        return StopReason.EXCHANGED
    which = "the set that the effects of single features, pairs and triples had suggested"
    restarts = "The only restart of the search" if n == 1 else f"{n_same} of {n} restarts of the search"
    return StopReason.SAME.format(restarts, which if state.best == state.start else "this set")


def _end_early(state: WeightingState) -> None:
    if state.reason not in (StopReason.INTERRUPTED, StopReason.CALLBACK):
        state.reason = StopReason.TIME_LIMIT


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
    score_near = on_all_rows(whole)
    losses: dict[FeatureSet, float] = {}
    for support in (best, *alternatives):
        if losses and budget.spent():
            break
        scored = score_near(support, scores.score(support).model)
        losses[support] = scores.mean_with_terms(support, scored).loss
    return min(losses, key=lambda support: losses[support])


def on_all_rows(whole: Weightable) -> Callable[[FeatureSet, Model], ScoredModel]:
    """Scores of sets on all rows, at the width of a model; what is needed for that is made when it is."""
    made: list[SetScorer] = []

    def compute(support: FeatureSet, model: Model) -> ScoredModel:
        made.extend([] if made else [whole.set_scorer(0)])
        return made[0].score_sets([support], model)[0]

    return lambda support, model: recall(
        "score on all rows", [support, model], partial(compute, support, model)
    )


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
    with while_time_is_left(budget):
        check_time()
        moved = _short_ascent(draw, columns, model)
        better = draw.fit(moved, columns, model).cv_score < loss - 1e-6 * abs(loss)
        return moved if better else equal, model
    # Half an ascent ends wherever the clock says: equal weights are the same in every run.
    _end_early(state)
    return equal, model


def _short_ascent(draw: Draws, columns: HostArray, model: Model) -> HostArray:
    """A few steps from equal weights, under one model, in which no weight reaches zero."""
    models = ModelBatch(draw.asarray(np.array([model.sigma])), draw.asarray(np.array([model.regularization])))

    def evaluate(weights: Array, _: Evaluation | None) -> Evaluation:
        return draw.evaluate(weights, None, columns[None], models)

    def project(weights: Array) -> Array:
        xp = namespace(weights)
        least = 1e-3 * xp.max(weights, axis=1, keepdims=True) + xp.zeros_like(weights)
        return xp.where(weights > least, weights, least)

    start: Any = draw.asarray(np.ones((1, columns.size)))
    ascent = ascend(start, evaluate, relative_step(0.1), project, max_iter=5)
    return np.asarray(to_numpy(ascent.weights)[0])


def _elimination_order(
    scores: ScoreCache, best: FeatureSet, weights: HostArray, budget: Budget, down_to: int
) -> HostArray:
    """The features of a set, those first that stay longest while the others are eliminated.

    The loss decides between sets without one of the features that the gradient calls weakest.
    """
    present, eliminated = np.array(best, dtype=np.intp), list[int]()
    with while_time_is_left(budget):
        while present.size > down_to and not budget.spent():
            support = tuple(int(j) for j in present)
            gradient = scores.gradient(support, present)
            weakest = present[np.argsort(gradient, kind="stable")]
            n_out = 1 if present.size <= ONE_BY_ONE else present.size - ceil(KEPT * present.size)
            out = weakest[:n_out]
            if n_out == 1:
                tried = weakest if present.size <= TRY_EACH else weakest[:N_WEAKEST]
                smaller = [tuple(j for j in support if j != int(w)) for w in tried]
                out = weakest[[int(np.argmin(_losses_near(scores, support, smaller)))]]
            eliminated += [int(j) for j in out]
            present = np.setdiff1d(present, out)
    first = present[np.argsort(-weights[present], kind="stable")]
    return np.array([*first, *eliminated[::-1]], dtype=np.intp)


def _losses_near(scores: ScoreCache, support: FeatureSet, smaller: Sequence[FeatureSet]) -> list[float]:
    """Losses of smaller sets at the width of a set."""
    found = scores.score_near(smaller, scores.score(support).model)
    return [scores.with_terms(s, scored).loss for s, scored in zip(smaller, found, strict=True)]
