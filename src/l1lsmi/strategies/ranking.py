"""Features one by one: the fastest strategy, which ignores redundancy and interactions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._clock import Budget
from l1lsmi._numerics.constraints import Constraints
from l1lsmi._numerics.ranking import best_first, rank, scatter, take_best
from l1lsmi.strategies._base import Advance, SearchState, Strategy
from l1lsmi.strategies._constrained import ConstrainedRanking
from l1lsmi.strategies._parallel import Piece, in_order
from l1lsmi.strategies.protocols import ScoresEach
from l1lsmi.strategies.selection import RankedSelection, StopReason


class Ranking(Strategy):
    """Take the features with the highest single scores.

    This is fast, and suitable if features are neither redundant nor interacting. Groups of features that are
    selected as a whole are ranked by the mean of their scores. With costs and a budget, features are taken in
    the order of their score per unit of cost: each one with a positive score that still fits into the budget.
    With covariates, the score of a feature is what it adds to the score of the covariates.

    Parameters
    ----------
    time_limit : float or None, default=None
        Seconds after which the best features so far are returned.
    n_jobs : int or None, default=None
        Number of jobs that score features in parallel; the result does not depend on it.
    verbose : int, default=0
        1 shows progress.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.measures import HSIC
    >>> from l1lsmi.strategies import Ranking
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> y = X[:, 1] ** 2 + X[:, 3]
    >>> np.flatnonzero(Ranking().select(HSIC(), X, y, 2).support)
    array([1, 3])
    """

    needs = ScoresEach
    step_name = "part"
    compares_pools = False

    def __init__(
        self, *, time_limit: float | None = None, n_jobs: int | None = None, verbose: int = 0
    ) -> None:
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _within(self, constraints: Constraints) -> ConstrainedRanking:
        return ConstrainedRanking(self, constraints)

    def _start(self, problem: ScoresEach, k: int) -> RankingState:
        return RankingState(StopReason.ALL_SCORED, scores=np.full(problem.columns.size, -np.inf))

    def _n_steps(self, problem: ScoresEach, k: int) -> int:
        # Few enough parts to cost nothing, many enough to show progress; what is known of a part when time is
        # out is lost.
        return min(problem.columns.size, 50 if self.time_limit is None else 1000)

    def _steps(self, problem: ScoresEach, k: int, state: RankingState, budget: Budget) -> Iterator[Advance]:
        columns = problem.columns
        parts = np.array_split(np.arange(columns.size), self._n_steps(problem, k))
        to_do = parts[state.n_parts :]
        found = in_order(
            _score_each, problem, (columns[part] for part in to_do), self.n_jobs, Piece("columns")
        )
        for part, values in zip(to_do, found, strict=True):
            state.scores[part] = values
            state.n_parts += 1
            state.finished = state.n_parts == len(parts)
            yield Advance(float(state.scores.max()), best=columns[best_first(state.scores)[:k]])

    def _without_scores(self, reason: str, **chosen: Any) -> RankedSelection:
        unknown = np.full(chosen["support"].size, -np.inf)
        return RankedSelection(score=np.nan, path=(), stop_reason=reason, scores=unknown, **chosen)

    def _result(self, problem: ScoresEach, k: int, state: RankingState, budget: Budget) -> RankedSelection:
        everywhere = scatter(state.scores, problem.columns, problem.n_features)
        support = take_best(everywhere, k)
        known = everywhere[support & np.isfinite(everywhere)]
        return RankedSelection(
            support=support,
            ranking=rank(support, everywhere),
            score=float(known.mean()) if known.size else 0.0,
            path=(),
            stop_reason=state.reason,
            scores=everywhere,
            order=best_first(everywhere),
        )


@dataclass
class RankingState(SearchState):
    """Scores of the features so far, and how many parts of them are done."""

    scores: HostArray = field(default_factory=lambda: np.empty(0))
    n_parts: int = 0

    @property
    def has_answer(self) -> bool:
        return self.n_parts > 0


def _score_each(problem: ScoresEach, columns: HostArray) -> HostArray:
    return problem.score_each(columns)
