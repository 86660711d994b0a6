"""Algorithm 1 of the paper: gradient ascent on the estimate inside an l1 ball, and search for its radius."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from l1lsmi._arrays import HostArray
from l1lsmi._clock import Budget
from l1lsmi._numerics.constraints import Constraints
from l1lsmi._numerics.model import Evaluation, ScoredModel
from l1lsmi._numerics.optimization.ascent import ascend, diminishing_step
from l1lsmi._numerics.optimization.exchanges import FeatureSet
from l1lsmi._numerics.optimization.l1_ball import project_to_simplex_ball
from l1lsmi._numerics.optimization.radius import PathPoint, double_then_halve
from l1lsmi._numerics.ranking import scatter
from l1lsmi._numerics.sampling import random_weights
from l1lsmi._rows.content import ranks_by_content
from l1lsmi.strategies._base import COUNT, COUNT_OR_ZERO, POSITIVE, Advance
from l1lsmi.strategies._constrained_weighting import ConstrainedPaper
from l1lsmi.strategies._parallel import Piece, in_order
from l1lsmi.strategies._pieces import recall
from l1lsmi.strategies._weighting import L1Weighting, Outcome, WeightingSearch, WeightingState
from l1lsmi.strategies.protocols import Draws, Weightable

NOT_NEGATIVE = Interval(Real, 0, None, closed="left")


class L1Paper(L1Weighting):
    """Choose features by Algorithm 1 of the paper.

    Gradient ascent on the estimate of the measure inside an l1 ball. The radius is doubled, and then found by
    bisection, until k features are left. Models are chosen from the candidates of the measure.

    Parameters
    ----------
    n_restarts : int, default=20
    max_iter : int, default=100
        Largest number of ascent steps per radius.
    step_size : float, default=1.0
        Step t is the gradient times this value, divided by the square root of t.
    tolerance : float, default=1e-5
        The ascent ends when the mean change of the objective over ``window`` steps, or the norm of the
        gradient, is at most this value.
    window : int, default=3
        See ``tolerance``.
    initial_radius : float, default=0.1
        Doubled before its first use.
    max_doublings, max_halvings : int, default=20 and 12
        Largest number of radii while the radius is doubled, and in the binary search.
    first_model_selections : int, default=3
        The model is selected in every one of the first steps, up to this number.
    model_selection_every : int, default=5
        After these steps, the model is selected in every step whose number is a multiple of this value.
    zero : float, default=1e-8
        Weights up to this value count as zero.
    explore_rows : int or None, default=10_000
        With more rows than this, the search uses a random sample of this size, stratified by class or range
        of the target; the model is chosen and the scores are computed on all rows. None searches on all rows.
    time_limit : float or None, default=None
        Seconds after which the best set so far is returned.
    n_jobs : int or None, default=None
        Number of jobs that run restarts in parallel; the result does not depend on it.
    verbose : int, default=0
        1 shows progress.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.measures import SquaredMutualInformation
    >>> from l1lsmi.strategies import L1Paper
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = X[:, 1] ** 2 + X[:, 3]
    >>> selection = L1Paper(n_restarts=2).select(SquaredMutualInformation(), X, y, 2, random_state=0)
    >>> np.flatnonzero(selection.support)
    array([1, 3])
    """

    compares_pools = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **L1Weighting._parameter_constraints,
        "step_size": [POSITIVE],
        "tolerance": [NOT_NEGATIVE],
        "window": [COUNT],
        "initial_radius": [Interval(Real, 1e-12, 1e12, closed="both")],
        "max_doublings": [COUNT],
        "max_halvings": [COUNT_OR_ZERO],
        "first_model_selections": [COUNT_OR_ZERO],
        "model_selection_every": [COUNT],
        "zero": [NOT_NEGATIVE],
    }

    def __init__(
        self,
        *,
        n_restarts: int = 20,
        max_iter: int = 100,
        step_size: float = 1.0,
        tolerance: float = 1e-5,
        window: int = 3,
        initial_radius: float = 0.1,
        max_doublings: int = 20,
        max_halvings: int = 12,
        first_model_selections: int = 3,
        model_selection_every: int = 5,
        zero: float = 1e-8,
        explore_rows: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.step_size = step_size
        self.tolerance = tolerance
        self.window = window
        self.initial_radius = initial_radius
        self.max_doublings = max_doublings
        self.max_halvings = max_halvings
        self.first_model_selections = first_model_selections
        self.model_selection_every = model_selection_every
        self.zero = zero
        self.explore_rows = explore_rows
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _steps(
        self, search: WeightingSearch, k: int, state: WeightingState, budget: Budget
    ) -> Iterator[Advance]:
        """Run the restarts and keep the best set by the three sort keys."""
        if self._takes_all(search, k, state):
            return
        problem = search.explored
        values = SetValues(problem.draws([(0,)]))

        def sizes_first(support: FeatureSet) -> tuple[int, int]:  # the first two keys of line 24
            excess = len(support) - k
            return abs(excess), excess

        restart = partial(run_paper_restart, k=k, strategy=self, budget=budget, state=state)
        indices = range(len(state.outcomes), self.n_restarts)
        piece = Piece("restart", [k, problem.table.n_rows, problem.columns], budget)
        for number, visited in zip(
            indices, in_order(restart, problem, indices, self.n_jobs, piece), strict=True
        ):
            nearest = min(sizes_first(outcome.support) for outcome in visited)
            equal = [outcome for outcome in visited if sizes_first(outcome.support) == nearest]
            best = equal[0] if len(equal) == 1 else max(equal, key=lambda outcome: values(outcome.support))
            state.outcomes.append(best)
            keys = (nearest, -values(best.support))
            if state.best is None or keys < (sizes_first(state.best), -values(state.best)):
                state.best = best.support
            state.finished = number == self.n_restarts - 1
            yield Advance(values(state.best), best=state.best)

    def _within(self, constraints: Constraints) -> ConstrainedPaper:
        return ConstrainedPaper(self, constraints)

    def run_restart(self, problem: Weightable, index: int, **given: Any) -> list[Outcome]:
        """Every set that one radius search visits."""
        return run_paper_restart(problem, index, strategy=self, **given)

    def set_values(self, problem: Weightable) -> SetValues:
        """Estimates of the measure for sets of features."""
        return SetValues(problem.draws([(0,)]))

    def _result(self, search: WeightingSearch, k: int, state: WeightingState, budget: Budget) -> Any:
        found = state.outcome_of(state.best or ())
        if state.weights is None and found is not None:
            assert state.best is not None
            state.weights = found.weights
            state.best = _exactly(k, state.best, found, search.explored)
        return super()._result(search, k, state, budget)


class SetValues:
    """Estimates of the measure for sets of features with equal weights, on one draw, each computed once."""

    def __init__(self, draw: Draws) -> None:
        self._draw = draw
        self._values: dict[FeatureSet, float] = {(): 0.0}  # no features have no information

    def __call__(self, support: FeatureSet) -> float:
        if support not in self._values:
            self._values[support] = recall("value", support, partial(self._computed, support))
        return self._values[support]

    def _computed(self, support: FeatureSet) -> float:
        columns, ones = np.array(support), np.ones(len(support))
        model = self._draw.select_model(ones, columns).model
        return self._draw.fit(ones, columns, model).value


def run_paper_restart(
    problem: Weightable,
    index: int,
    k: int,
    strategy: L1Paper,
    budget: Budget,
    state: WeightingState,
    held: HostArray | None = None,
) -> list[Outcome]:
    """Every set that one radius search visits, each with all points and the number of steps of the search.

    Features in ``held`` have weight 1 and are outside the l1 ball, but count among the ``k``.
    """
    rng = problem.rng(2, index)
    draw = problem.draws([(1, index)])
    columns = problem.columns
    ranks = ranks_by_content(problem.table, columns)
    points: list[PathPoint] = []
    found: list[HostArray] = []
    n_iter = 0

    def size_at(radius: float) -> int:
        nonlocal n_iter
        start = random_weights(ranks, rng) * radius
        weights, n_steps, value, score = _solve(draw, columns, radius, strategy, budget, start, held)
        n_iter += n_steps
        support, positive = columns[weights > 0], weights[weights > 0]
        points.append(PathPoint(index, radius, support.size, support, positive, value, score))
        found.append(scatter(weights, columns, problem.n_features, fill=0.0))
        state.latest = found[-1]
        return int(support.size)

    radii = double_then_halve(
        size_at,
        k,
        initial_radius=strategy.initial_radius,
        max_doublings=strategy.max_doublings,
        max_halvings=strategy.max_halvings,
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
    draw: Draws,
    columns: HostArray,
    radius: float,
    strategy: L1Paper,
    budget: Budget,
    start: HostArray,
    held: HostArray | None = None,
) -> tuple[HostArray, int, float, float]:
    """Ascend inside one ball; returns weights, steps, and objective and score at those weights."""
    selected: ScoredModel | None = None
    t = 0

    def evaluate(weights: HostArray, _: Evaluation | None) -> Evaluation:
        nonlocal selected, t
        t += 1
        active = np.flatnonzero(weights[0])  # the gradient of a zero weight is zero
        of_active = weights[0, active], columns[active]
        if (
            selected is None
            or t <= strategy.first_model_selections
            or t % strategy.model_selection_every == 0
        ):
            selected = draw.select_model(*of_active)
        gradient = np.zeros_like(weights)
        value, gradient[0, active] = draw.value_and_gradient(*of_active, selected.model)
        return Evaluation(weights, np.array([value]), gradient, np.array([selected.model.regularization]))

    free = np.ones(columns.size, dtype=bool) if held is None else ~np.isin(columns, held)

    def project(weights: HostArray) -> HostArray:
        inside = np.ones(columns.size)
        inside[free] = project_to_simplex_ball(weights[0, free], radius)
        return np.where(inside > strategy.zero, inside, 0.0)[None]

    ascent = ascend(
        np.where(free, start, 1.0)[None],
        evaluate,
        diminishing_step(strategy.step_size),
        project,
        max_iter=strategy.max_iter,
        tolerance=strategy.tolerance,
        window=strategy.window,
        out_of_time=budget.spent,
    )
    weights, n_steps = ascent.weights[0], int(ascent.n_steps[0])
    active = np.flatnonzero(weights)
    if active.size == 0 or selected is None:
        return weights, n_steps, 0.0, 0.0
    final = draw.fit(weights[active], columns[active], selected.model)
    return weights, n_steps, final.value, final.cv_score


def _exactly(k: int, support: FeatureSet, outcome: Outcome, problem: Weightable) -> FeatureSet:
    """Cut the smallest weights, or add the absent features with the steepest gradients, to make it ``k``."""
    if len(support) >= k:
        order = sorted(support, key=lambda j: -outcome.weights[j])
        return tuple(sorted(order[:k]))
    columns = np.array(support, dtype=np.intp)
    if support:
        draw = problem.draws([(0,)])
        gradient = draw.set_gradient(columns, draw.score_set(columns).model, problem.columns)
    else:  # the first step ended at the origin: go by what survived longest at other radii
        gradient = outcome.survival[problem.columns]
    gradient = np.where(np.isin(problem.columns, columns), -np.inf, gradient)
    added = problem.columns[np.argsort(-gradient, kind="stable")[: k - columns.size]]
    return tuple(sorted([*support, *(int(j) for j in added)]))
