"""What forward and backward search share: steps from a set to the best of its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._clock import Budget, OutOfTimeError, while_time_is_left
from l1lsmi._numerics.ranking import best_first, first_best, rank, scatter
from l1lsmi.strategies._base import COUNT, SearchState, Strategy
from l1lsmi.strategies._parallel import Piece, in_order, n_workers
from l1lsmi.strategies._pieces import recall_set
from l1lsmi.strategies.selection import Selection, Step, StopReason

#: Scores of sets are compared up to this share of the largest of them.
FINEST = 1e-13
#: So many times the short list are scored in full where there are no more candidates.
FEW = 5


@dataclass
class GreedyState(SearchState):
    """The set so far, the steps to it, and the priority of every feature by the last step."""

    inside: HostArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    priority: HostArray = field(default_factory=lambda: np.empty(0))
    path: list[Step] = field(default_factory=list)

    @property
    def has_answer(self) -> bool:
        return not bool(np.isneginf(self.priority).all())


class GreedySearch(Strategy):
    """Base of forward and backward search."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Strategy._parameter_constraints,
        "shortlist": [COUNT, None],
    }

    def __init__(
        self,
        *,
        shortlist: int | None = 4,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.shortlist = shortlist
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _start(self, problem: Any, k: int) -> GreedyState:
        return GreedyState(StopReason.ALL_STEPS, priority=np.full(problem.n_features, -np.inf))

    def _best(
        self,
        problem: Any,
        candidates: HostArray,
        quick: Callable[[Any, HostArray], HostArray],
        neighbour: Callable[[int], HostArray],
        budget: Budget,
        state: GreedyState,
        sign: float,
    ) -> tuple[int, float, bool]:
        """The candidate whose neighbouring set scores highest, that score, and whether all were scored.

        Many candidates are compared quickly first, and only a short list is scored in full. Of
        equal ones the first is taken. ``sign`` is 1 where a high score speaks for a candidate in the set
        and -1 where it speaks against it. ``quick`` must be picklable.
        """
        few = self.shortlist is None or candidates.size <= FEW * self.shortlist
        complete = True
        # With a time limit there must be a priority before the first full score is known.
        if problem.neighbours_are_exact or not few or budget.time_limit is not None:
            scores, complete = self._in_parts(problem, quick, candidates, budget)
            known = ~np.isneginf(scores)
            state.priority[candidates[known]] = sign * scores[known]
            if not known.any():
                raise OutOfTimeError
            if problem.neighbours_are_exact:
                best = first_best(scores)
                return int(candidates[best]), float(scores[best]), complete
            candidates = candidates[best_first(scores, FINEST)[: None if few else self.shortlist]]
        full: list[float] = []
        sets = [neighbour(j) for j in candidates.tolist()]
        with while_time_is_left(budget):
            for score in in_order(_score_set, problem, sets, self.n_jobs, Piece("set")):
                full.append(score)
                if few:
                    state.priority[candidates[len(full) - 1]] = sign * score
                if budget.spent():
                    break
        if not full:
            raise OutOfTimeError
        # Of equal scores the lowest column, whatever the order of the candidates.
        best = first_best(np.array(full), candidates[: len(full)])
        return int(candidates[best]), full[best], complete and len(full) == candidates.size

    def _in_parts(
        self,
        problem: Any,
        score: Callable[[Any, HostArray], HostArray],
        candidates: HostArray,
        budget: Budget,
    ) -> tuple[HostArray, bool]:
        """Scores of candidates, minus infinity for NaN and where time ran out; whether it did not."""
        per_worker = 1 if budget.time_limit is None else 50
        n_parts = min(candidates.size, per_worker * n_workers(problem, self.n_jobs))
        parts = np.array_split(np.arange(candidates.size), n_parts)
        scores = np.full(candidates.size, -np.inf)
        some = [candidates[part] for part in parts]
        # The function has what it depends on beside the candidates: the set that they join or leave.
        inside = score.keywords if isinstance(score, partial) else {}
        found = in_order(score, problem, some, self.n_jobs, Piece("candidates", inside))
        n_done = 0
        with while_time_is_left(budget):
            for part, values in zip(parts, found, strict=False):
                scores[part] = np.where(np.isnan(values), -np.inf, values)
                n_done += 1
                if budget.spent():
                    break
        return scores, n_done == len(parts)

    def _result(self, problem: Any, k: int, state: GreedyState, budget: Budget) -> Selection:
        """Fill up or cut an unfinished set by priority, and add constant columns where all else is in."""
        inside = np.zeros(problem.n_features, dtype=bool)
        inside[state.inside] = True
        varying = scatter(np.zeros(problem.columns.size), problem.columns, problem.n_features)
        order = np.lexsort((-state.priority, -varying, ~inside))
        support = np.zeros(problem.n_features, dtype=bool)
        support[order[:k]] = True
        chosen = np.flatnonzero(support & np.isin(np.arange(problem.n_features), problem.columns))
        same = state.path and np.array_equal(np.sort(state.path[-1].support), chosen)
        ranking = rank(support, self._survival(problem, state))
        score = state.path[-1].score if same else np.nan
        if not same:
            with while_time_is_left(budget.with_grace()):
                score = recall_set(problem, chosen)
        return Selection(
            support=support,
            ranking=ranking,
            score=score,
            path=tuple(state.path),
            stop_reason=state.reason,
            order=np.lexsort((ranking, -state.priority, -self._n_sets_with(problem, state), ~support)),
        )

    def _n_sets_with(self, problem: Any, state: GreedyState) -> HostArray:
        """How many sets of the path have each feature."""
        counts = np.zeros(problem.n_features)
        for step in state.path:
            counts[step.support] += 1
        return counts

    def _survival(self, problem: Any, state: GreedyState) -> HostArray:
        """How near every feature came to being chosen."""
        raise NotImplementedError


def _score_set(problem: Any, columns: HostArray) -> float:
    score: float = problem.score_set(columns)
    return score
