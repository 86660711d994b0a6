"""What forward and backward search share: steps from a set to the best of its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.ranking import best_first, rank, spread, steady
from l1lsmi._progress import Progress
from l1lsmi.strategies._base import COUNT, Features, Strategy, in_order, n_at_a_time
from l1lsmi.strategies.selection import Budget, Selection, Step, StopReason

#: So many times the short list are scored in full where that is all there is.
FEW = 5


class Problem(Features, Protocol):
    """What a greedy search needs of a measure.

    Scores of neighbouring sets may be approximate, unless ``neighbours_are_exact``.
    """

    neighbours_are_exact: bool

    def score_set(self, columns: HostArray) -> float: ...
    def score_each(self, columns: HostArray) -> HostArray: ...
    def score_additions(self, columns: HostArray, others: HostArray) -> HostArray: ...
    def score_removals(self, columns: HostArray, members: HostArray) -> HostArray: ...


@dataclass
class Station:
    """Where a greedy search stands, so that an interrupted one can still answer.

    ``promise`` says of every feature how much it is wanted, as far as the last step knows.
    """

    inside: HostArray
    promise: HostArray
    path: list[Step] = field(default_factory=list)


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

    def _search(self, problem: Problem, k: int, budget: Budget) -> Selection:
        station = Station(np.empty(0, dtype=np.intp), np.full(problem.n_features, -np.inf))
        reason = StopReason.ALL_STEPS
        try:
            with Progress(self._n_steps(problem, k), self.verbose, "step") as progress:
                if not self._walk(problem, k, budget, station, progress):
                    reason = StopReason.TIME_LIMIT
        except KeyboardInterrupt:
            if np.isneginf(station.promise).all():  # nothing is known yet
                raise
            reason = StopReason.INTERRUPTED
        return self._conclude(problem, k, station, reason)

    def _n_steps(self, problem: Problem, k: int) -> int:
        raise NotImplementedError

    def _walk(self, problem: Problem, k: int, budget: Budget, station: Station, progress: Progress) -> bool:
        """Take the steps; returns whether all were taken."""
        raise NotImplementedError

    def _best(
        self,
        problem: Problem,
        candidates: HostArray,
        quick: Callable[[Problem, HostArray], HostArray],
        neighbour: Callable[[int], HostArray],
        budget: Budget,
        station: Station,
        turn: float,
    ) -> tuple[int, float, bool]:
        """The candidate whose neighbouring set scores highest, that score, and whether all were heard.

        Many candidates are compared quickly first, and only a short list is scored in full. Of
        equal ones the first is taken. ``turn`` is 1 where a high score makes a candidate wanted in
        the set and -1 where it makes it dispensable. ``quick`` goes to wherever scores are worked
        out, so that it must be a function that can travel.
        """
        few = self.shortlist is None or candidates.size <= FEW * self.shortlist
        complete = True
        # With a time limit there must be something to go by before the first full score is in.
        if problem.neighbours_are_exact or not few or budget.time_limit is not None:
            first_step = bool(np.isneginf(station.promise).all())
            scores, complete = self._in_parts(problem, quick, candidates, budget, first_step)
            heard = ~np.isneginf(scores)
            station.promise[candidates[heard]] = turn * scores[heard]
            if problem.neighbours_are_exact:
                best = int(best_first(scores)[0])
                return int(candidates[best]), float(scores[best]), complete
            candidates = candidates[best_first(scores)[: None if few else self.shortlist]]
        full: list[float] = []
        sets = [neighbour(j) for j in candidates.tolist()]
        for score in in_order(_score_set, problem, sets, self.n_jobs):
            full.append(score)
            if few:
                station.promise[candidates[len(full) - 1]] = turn * score
            if budget.spent():
                break
        # Of equal scores the lowest column, in whatever order they were asked.
        best = int(np.lexsort((candidates[: len(full)], -steady(np.array(full))))[0])
        return int(candidates[best]), full[best], complete and len(full) == candidates.size

    def _in_parts(
        self,
        problem: Problem,
        score: Callable[[Problem, HostArray], HostArray],
        candidates: HostArray,
        budget: Budget,
        to_the_end: bool = False,
    ) -> tuple[HostArray, bool]:
        """Scores of candidates, minus infinity for NaN and where the clock ran out; whether it did not."""
        per_worker = 1 if budget.time_limit is None else 20
        n_parts = min(candidates.size, per_worker * n_at_a_time(problem, self.n_jobs))
        parts = np.array_split(np.arange(candidates.size), n_parts)
        scores = np.full(candidates.size, -np.inf)
        found = in_order(score, problem, [candidates[part] for part in parts], self.n_jobs)
        for part, values in zip(parts, found, strict=False):
            scores[part] = np.where(np.isnan(values), -np.inf, values)
            if budget.spent() and not to_the_end and part is not parts[-1]:
                return scores, False
        return scores, True

    def _conclude(self, problem: Any, k: int, station: Station, reason: str) -> Selection:
        """Fill up or cut an unfinished set by promise, and add constant columns where all else is in."""
        inside = np.zeros(problem.n_features, dtype=bool)
        inside[station.inside] = True
        varying = spread(np.zeros(problem.columns.size), problem.columns, problem.n_features)
        wanted = np.lexsort((-station.promise, -varying, ~inside))
        support = np.zeros(problem.n_features, dtype=bool)
        support[wanted[:k]] = True
        chosen = np.flatnonzero(support & np.isin(np.arange(problem.n_features), problem.columns))
        same = station.path and np.array_equal(np.sort(station.path[-1].support), chosen)
        return Selection(
            support=support,
            ranking=rank(support, self._survival(problem, station)),
            score=station.path[-1].score if same else problem.score_set(chosen),
            path=tuple(station.path),
            stop_reason=reason,
        )

    def _survival(self, problem: Any, station: Station) -> HostArray:
        """How near every feature came to being chosen."""
        raise NotImplementedError


def _score_set(problem: Problem, columns: HostArray) -> float:
    return problem.score_set(columns)
