"""A descending, warm-started path of l1 balls. With squared-loss mutual information this is l1-LSMI.

Each restart begins with all features and a narrow kernel: wide kernels see every feature alone, narrow ones
see all interactions at once. It ascends on the cross-validation score itself, whose gradient costs no more
than that of the estimate, then the radius shrinks until the weakest features reach zero, and it goes on from
there. No width has to be searched: weights and width enter the kernel as one, so that the weights stay on
their ball and the width follows. The sets that the restarts end with are compared by their leave-one-out
loss, where the measure has one, and the best ones are refined by exchanges of features.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval

from l1lsmi._arrays import Array, HostArray, asarray_like, namespace, to_numpy
from l1lsmi._numerics.grids import START_NARROWNESS
from l1lsmi._numerics.model import Evaluation, Model, ModelBatch
from l1lsmi._numerics.optimization.ascent import ascend, relative_step
from l1lsmi._numerics.optimization.exchanges import FeatureSet, refine_by_exchanges
from l1lsmi._numerics.optimization.radius import PathPoint, shrink
from l1lsmi._numerics.sampling import random_weights
from l1lsmi._validation.parameters import check_all_positive
from l1lsmi.strategies._base import COUNT, COUNT_OR_ZERO, Advance, cluster_of, in_order
from l1lsmi.strategies._scores import TimedScore, timed_score
from l1lsmi.strategies._weighting import L1Weighting, Outcome, WeightingSearch, WeightingState
from l1lsmi.strategies.protocols import Draws, Weightable
from l1lsmi.strategies.selection import Budget, StopReason

#: A loss this close to the best that any set could have cannot be improved noticeably.
NEARLY = 1e-3
#: So many neighbours of a set are scored before it is taken for the best of them.
SHORTLIST = 4
FRACTION = Interval(Real, 0, 1, closed="neither")


class L1Path(L1Weighting):
    """Choose features by weights on a path of shrinking l1 balls.

    It descends from all features with a shrinking radius, ascending on the cross-validation score, and
    compares and refines the sets that it ends with. Its candidates for the model are its own (see the user
    guide), whatever the measure's are.

    Parameters
    ----------
    n_restarts : int, default=8
        Restarts at most; it stops as soon as restarts agree.
    max_iter : int, default=4
        Ascent steps per radius at most.
    step_size : float, default=0.15
        Length of the first step at a radius, as a fraction of the largest weight.
    keep : float, default=0.85
        Share of the features that is left when the radius shrinks; less of many features.
    narrowness : sequence of float, default=(8, 4, 16, 2)
        Squared median distance over squared kernel width where restarts begin, in turn.
    agreement : int, default=2
        Restarts that must end with the best set for the search to stop.
    n_scorers : int, default=1
        Draws of kernel centres that sets are compared on.
    n_refined : int, default=3
        How many of the sets that restarts end with are refined by exchanges.
    exchange_width : int, default=3
        How many features may leave in an exchange; up to four times as many may enter.
    max_exchanges : int, default=50
        Exchanges at most, from each set that is refined.
    explore_rows : int or None, default=10_000
        Of more rows than this a sample of so many is searched, each class or range of the target in
        proportion; all rows decide between the best three sets, choose the model and give the scores.
        None searches all rows.
    time_limit : float or None, default=None
        Seconds after which the best set so far is returned.
    n_jobs : int or None, default=None
        Restarts run in parallel; the answer does not depend on it.
    verbose : int, default=0
        1 shows progress.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.measures import SquaredMutualInformation
    >>> from l1lsmi.strategies import L1Path
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 1] * X[:, 4] > 0
    >>> selection = L1Path().select(SquaredMutualInformation(), X, y, 2, random_state=0)
    >>> np.flatnonzero(selection.support)
    array([1, 4])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **L1Weighting._parameter_constraints,
        "step_size": [FRACTION],
        "keep": [FRACTION],
        "narrowness": ["array-like"],
        "agreement": [COUNT],
        "n_scorers": [COUNT],
        "n_refined": [COUNT],
        "exchange_width": [COUNT],
        "max_exchanges": [COUNT_OR_ZERO],
    }

    def __init__(
        self,
        *,
        n_restarts: int = 8,
        max_iter: int = 4,
        step_size: float = 0.15,
        keep: float = 0.85,
        narrowness: Sequence[float] = START_NARROWNESS,
        agreement: int = 2,
        n_scorers: int = 1,
        n_refined: int = 3,
        exchange_width: int = 3,
        max_exchanges: int = 50,
        explore_rows: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.step_size = step_size
        self.keep = keep
        self.narrowness = narrowness
        self.agreement = agreement
        self.n_scorers = n_scorers
        self.n_refined = n_refined
        self.exchange_width = exchange_width
        self.max_exchanges = max_exchanges
        self.explore_rows = explore_rows
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _validate_params(self) -> None:
        super()._validate_params()
        check_all_positive(self, "narrowness")

    def start_narrowness(self, index: int) -> float:
        """Where a restart begins.

        Parameters
        ----------
        index : int

        Returns
        -------
        float
        """
        return float(self.narrowness[index % len(self.narrowness)])

    # -- the search ------------------------------------------------------------------------

    def _restarts(
        self, search: WeightingSearch, k: int, state: WeightingState, budget: Budget
    ) -> Iterator[Advance]:
        """Run restarts until they agree, and refine the best sets."""
        problem, scores = search.explored, search.scores
        votes: dict[FeatureSet, int] = {}
        for outcome in state.outcomes:
            votes[outcome.support] = votes.get(outcome.support, 0) + 1
        for outcome in self._outcomes(search, k, state, budget):
            state.outcomes.append(outcome)
            votes[outcome.support] = votes.get(outcome.support, 0) + 1
            if budget.spent():
                state.best = state.best or outcome.support
                state.reason, state.finished = StopReason.TIME_LIMIT, True
                return
            if state.best is None or scores.prefers(outcome.support, state.best):
                state.best = outcome.support
            loss = scores.score(state.best).loss
            if loss < problem.best_loss + NEARLY:
                state.reason, state.finished = StopReason.PERFECT, True
            yield Advance(-loss, f"{len(state.points)} radii")
            if state.finished:
                return
            if votes[state.best] >= self.agreement:
                state.reason = StopReason.AGREED
                break
        if state.reason == StopReason.RESTARTS and len(votes) == self.n_restarts > 1:
            state.reason = StopReason.DISAGREED
        self._refine(search, state, list(votes), budget)

    def _refine(
        self, search: WeightingSearch, state: WeightingState, found: list[FeatureSet], budget: Budget
    ) -> None:
        """Exchange features of the best sets for as long as it helps."""
        scores = search.scores

        def neighbours(supports: Sequence[FeatureSet]) -> list[list[FeatureSet]]:
            near = scores.neighbours(supports, search.explored.columns, self.exchange_width)
            shortlists = [some[:SHORTLIST] for some in near]
            # The first of every shortlist is certainly requested, the others if those before do not help.
            scores.expect([s for some in zip_longest(*shortlists) for s in some if s is not None])
            scores.score_ahead([support for some in shortlists for support in some])
            return shortlists

        starts = sorted(found, key=lambda support: scores.score(support).loss)[: self.n_refined]
        limits = (budget.spent, self.max_exchanges)
        for refined in refine_by_exchanges(starts, neighbours, scores.prefers, *limits):
            assert state.best is not None
            if scores.prefers(refined, state.best):
                state.best = refined
        if budget.spent():
            state.reason = StopReason.TIME_LIMIT

    def _outcomes(
        self, search: WeightingSearch, k: int, state: WeightingState, budget: Budget
    ) -> Iterator[Outcome]:
        """Outcomes of the restarts that are left, in order: in batches, in parallel, or on a cluster."""
        problem, indices = search.explored, range(len(state.outcomes), self.n_restarts)
        options: dict[str, Any] = {"k": k, "strategy": self, "budget": budget, "state": state}
        size = problem.batch_size()
        batches = [indices[i : i + size] for i in range(0, len(indices), size)]
        if cluster_of(problem) is not None:
            found = in_order(partial(_scored_restart, **options), problem, indices, self.n_jobs)
            for outcome, timed in found:
                if timed is not None:
                    search.scores.remember(outcome.support, timed)
                yield outcome
            return
        restarts = partial(run_restarts, **options)
        # A device works on one batch at a time.
        n_jobs = self.n_jobs if size == 1 else 1
        for outcomes in in_order(restarts, problem, batches, n_jobs):
            search.scores.score_ahead([outcome.support for outcome in outcomes])
            yield from outcomes


# -- one batch of restarts -------------------------------------------------------------------------


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
    weights = result.weights
    state.survival[state.columns] = len(state.points) + 0.5 * weights / weights.max()
    # Weights and width enter the kernels as one: back to the radius, the width takes the factor.
    factor = radius / weights.sum()
    weights, model = weights * factor, result.model.rescaled(factor)
    columns, weights = state.columns[weights > 0], weights[weights > 0]
    state.finished = state.points[-1].size <= k or stop
    if columns.size > k and not state.finished:
        smaller = shrink(weights, k, keep)
        model = model.rescaled(float(np.linalg.norm(smaller) / np.linalg.norm(weights)))
        columns, weights = columns[smaller > 0], smaller[smaller > 0]
    state.columns, state.weights, state.model = columns, weights, model


def run_restarts(
    problem: Weightable,
    indices: Sequence[int],
    k: int,
    strategy: L1Path,
    budget: Budget,
    state: WeightingState,
) -> list[Outcome]:
    """Follow the paths of a batch of restarts to their ends."""
    columns = problem.columns
    draws = problem.draws([(1, index) for index in indices])
    weights = np.stack([random_weights(columns.size, problem.rng(2, index)) for index in indices])
    narrowness = [strategy.start_narrowness(index) for index in indices]
    models = draws.start_models(draws.asarray(weights), np.tile(columns, (len(indices), 1)), narrowness)
    paths = [
        PathState(index, columns, w, model, np.zeros(problem.n_features))
        for index, w, model in zip(indices, weights, models, strict=True)
    ]
    while active := [i for i, path in enumerate(paths) if not path.finished]:
        some = [paths[i] for i in active]
        results = _ascend(draws.take(active), some, k, strategy, budget)
        for path, result in zip(some, results, strict=True):
            state.latest = np.zeros(problem.n_features)
            state.latest[path.columns] = result.weights
            next_radius(path, result, k, strategy.keep, budget.spent())
    return [path.outcome(k) for path in paths]


def _scored_restart(
    problem: Weightable, index: int, budget: Budget, **options: Any
) -> tuple[Outcome, TimedScore | None]:
    """One restart, and the score of its set, unless there is no time for that."""
    (outcome,) = run_restarts(problem, [index], budget=budget, **options)
    return outcome, None if budget.spent() else timed_score(problem, outcome.support)


def _ascend(
    draws: Draws, paths: Sequence[PathState], k: int, strategy: L1Path, budget: Budget
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

    def evaluate(weights: Array, _: int) -> Evaluation:
        nonlocal models
        evaluation = draws.evaluate(weights, columns, models)
        models = models._replace(regularization=evaluation.regularization)
        return evaluation

    ascent = ascend(
        weights,
        evaluate,
        relative_step(strategy.step_size),
        lambda moved: _keep_largest(moved, present, k),
        # With k features left there is nothing to decide: one step, to evaluate them.
        max_iter=[strategy.max_iter if size > k else 1 for size in sizes],
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
