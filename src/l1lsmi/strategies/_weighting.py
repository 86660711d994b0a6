"""What `L1Path` and `L1Paper` share: restarts, the state of their search, and a sample of the rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval

from l1lsmi._arrays import HostArray
from l1lsmi._clock import Budget
from l1lsmi._numerics.optimization.exchanges import FeatureSet
from l1lsmi._numerics.optimization.radius import PathPoint
from l1lsmi._numerics.terms.search import TermSearch
from l1lsmi._validation.parameters import check_members
from l1lsmi.strategies._base import COUNT, SearchState, Strategy
from l1lsmi.strategies._final_weights import weighted_selection
from l1lsmi.strategies._pieces import CODEC
from l1lsmi.strategies._scores import ScoreCache
from l1lsmi.strategies.protocols import Draws, SetScorer, Weightable, missing_members
from l1lsmi.strategies.selection import StopReason, WeightedSelection


@CODEC.record
class Outcome(NamedTuple):
    """The result of one restart: a set, its weights, and how long every feature survived."""

    support: FeatureSet
    weights: HostArray
    survival: HostArray
    points: tuple[PathPoint, ...]
    n_iter: int


@dataclass
class WeightingState(SearchState):
    """Outcomes of the restarts so far, and the best set.

    Attributes
    ----------
    outcomes : list of Outcome
    best : tuple of int or None
    latest : numpy.ndarray or None
        Weights that were evaluated last, for a search that is interrupted in its first restart.
    weights : numpy.ndarray or None
        Weights of the best set, where the search has them.
    start : tuple of int or None
        The set that terms gave, before any restart.
    strength : numpy.ndarray or None
        How large the terms of every feature are, for a ranking without a restart.
    """

    n_features: int = 0
    start: FeatureSet | None = None
    strength: HostArray | None = None
    outcomes: list[Outcome] = field(default_factory=list)
    best: FeatureSet | None = None
    latest: HostArray | None = None
    weights: HostArray | None = None

    @property
    def has_answer(self) -> bool:
        return self.best is not None or self.latest is not None

    @property
    def points(self) -> tuple[PathPoint, ...]:
        return tuple(point for outcome in self.outcomes for point in outcome.points)

    @property
    def n_iter(self) -> int:
        return sum(outcome.n_iter for outcome in self.outcomes)

    def since_best(self) -> int:
        """How many restarts were made since the best set was found."""
        supports = [outcome.support for outcome in self.outcomes]
        return len(supports) - supports.index(self.best) - 1 if self.best in supports else len(supports)

    def outcome_of(self, support: FeatureSet) -> Outcome | None:
        """The restart whose set is closest to ``support``."""
        wanted = set(support)
        return min(self.outcomes, key=lambda o: len(wanted ^ set(o.support)), default=None)

    def survival(self) -> HostArray:
        """How long every feature survived, in the restart closest to the best set, or what its terms are."""
        outcome = self.outcome_of(self.best or ())
        if outcome is not None:
            return outcome.survival
        return np.zeros(self.n_features) if self.strength is None else self.strength

    def complete(self, columns: HostArray, k: int) -> FeatureSet:
        """The best set so far, filled up to ``k`` features by the latest weights."""
        best = self.best or ()
        if len(best) < min(k, columns.size) and self.latest is not None:
            heaviest = columns[np.argsort(-self.latest[columns], kind="stable")]
            best = (*best, *(int(j) for j in heaviest if int(j) not in best))
        return tuple(sorted(best[:k]))


@dataclass
class WeightingSearch:
    """What a search works with: the problem on the rows that are searched, and on all rows.

    Attributes
    ----------
    explored : Weightable
        On the rows that are searched: all of them, or a sample.
    whole : Weightable
        On all rows; the same as ``explored`` unless that is a sample.
    draw : Draws
        The draw that final weights are chosen on.
    scores : ScoreCache
        Of sets of features, on the rows that are searched.
    terms : TermSearch or None
        Effects of single features, pairs and triples, on all rows.
    """

    explored: Weightable
    whole: Weightable
    draw: Draws
    scores: ScoreCache
    terms: TermSearch | None


class L1Weighting(Strategy):
    """Base of the strategies that weight features inside an l1 ball."""

    needs = Weightable
    orders_rows = True
    step_name = "restart"
    searched_sizes = (2, 5, 12)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Strategy._parameter_constraints,
        "n_restarts": [COUNT],
        "max_iter": [COUNT],
        "explore_rows": [Interval(Integral, 100, None, closed="left"), None],
    }
    #: Scorers whose mean loss a set must lower to be preferred.
    n_scorers = 1
    n_restarts: int
    explore_rows: int | None

    def _load(self, problem: Weightable) -> Weightable:
        """Read rows into memory that are few enough to be searched all."""
        few = self.explore_rows is not None and problem.table.n_rows <= self.explore_rows
        if problem.table.in_memory or not few:
            return problem
        loaded: Weightable = problem.on_rows(np.arange(problem.table.n_rows))
        return loaded

    def _start(self, problem: Weightable, k: int) -> WeightingState:
        return WeightingState(StopReason.RESTARTS, n_features=problem.n_features)

    def _n_steps(self, search: Any, k: int) -> int:
        return self.n_restarts

    def _prepare(self, problem: Weightable) -> WeightingSearch:
        """Draw a sample where there are many rows, and check what the problem returns."""
        explored = whole = problem
        if self.explore_rows is not None and problem.table.n_rows > self.explore_rows:
            explored, whole = problem.on_sample(self.explore_rows)
        draw = explored.draws([(0, 0)])
        check_members(self, "draws()", draw, missing_members(Draws, draw))
        terms = self._terms(whole)
        scores = ScoreCache(explored, self.n_scorers, None if terms is None else terms.loss_of)
        check_members(self, "set_scorer()", scores.scorer(), missing_members(SetScorer, scores.scorer()))
        return WeightingSearch(explored, whole, draw, scores, terms)

    def _terms(self, problem: Weightable) -> TermSearch | None:
        """Terms of all rows, for a strategy that starts from them."""
        return None

    def _takes_all(self, search: WeightingSearch, k: int, state: WeightingState) -> bool:
        """Whether every feature that varies is asked for: then they are the answer."""
        columns = search.explored.columns
        if k < columns.size:
            return False
        state.best = tuple(int(j) for j in columns)
        state.reason, state.finished = StopReason.NOTHING_TO_CHOOSE, True
        return True

    def _without_scores(self, reason: str, **chosen: Any) -> WeightedSelection:
        """Weights of 1, and no model."""
        unknown: dict[str, Any] = dict.fromkeys(
            ("score", "estimate", "cv_score", "sigma", "regularization"), np.nan
        )
        weights = chosen["support"].astype(np.float64)
        return WeightedSelection(
            **unknown,
            **chosen,
            weights=weights,
            radius=float(weights.sum()),
            n_iter=1,
            path=(),
            stop_reason=reason,
        )

    def _result(self, search: WeightingSearch, k: int, state: Any, budget: Budget) -> WeightedSelection:
        state.best = state.complete(search.explored.columns, k)
        problems = (search.whole, search.explored, search.draw)
        down_to = self.orders_down_to if self.orders_features else k
        found = weighted_selection(*problems, k, state, search.scores, budget, down_to)
        return found if search.terms is None else replace(found, p_value=search.terms.p_value)
