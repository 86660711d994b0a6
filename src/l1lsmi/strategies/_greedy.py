"""What forward and backward search share: steps from a set to the best of its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from joblib import effective_n_jobs

from l1lsmi.arrays import HostArray
from l1lsmi.numerics.ranking import best_first, rank, spread
from l1lsmi.progress import Progress
from l1lsmi.strategies._base import COUNT, Features, Strategy, in_order
from l1lsmi.strategies.selection import Budget, Selection, Step, StopReason

__all__ = ["GreedySearch", "Station"]

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
    shortlist: int | None

    def _search(self, problem: Problem, k: int, budget: Budget) -> Selection:
        station = Station(np.empty(0, dtype=np.intp), np.full(problem.n_features, -np.inf))
        reason = StopReason.ALL_STEPS
        try:
            with Progress(self._n_steps(problem, k), self.verbose, "step") as progress:
                if not self._walk(problem, k, budget, station, progress):
                    reason = StopReason.TIME_LIMIT
        except KeyboardInterrupt:
            if np.isneginf(station.promise).all():
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
        quick: Callable[[HostArray], HostArray],
        neighbour: Callable[[int], HostArray],
        budget: Budget,
        station: Station,
        turn: float,
    ) -> tuple[int, float]:
        """The candidate whose neighbouring set scores highest, and that score.

        Many candidates are compared quickly first, and only a short list is scored in full. Of
        equal ones the first is taken. ``turn`` is 1 where a high score makes a candidate wanted in
        the set and -1 where it makes it dispensable.
        """
        exact = problem.neighbours_are_exact
        everything = self.shortlist is None or candidates.size <= FEW * self.shortlist
        if exact or not everything:
            scores = self._in_parts(quick, candidates)
            station.promise[candidates] = turn * scores
            if exact:
                best = int(np.argmax(scores))
                return int(candidates[best]), float(scores[best])
            candidates = candidates[np.sort(best_first(scores)[: self.shortlist])]
        full: list[float] = []
        for score in in_order(lambda j: problem.score_set(neighbour(j)), candidates.tolist(), self.n_jobs):
            full.append(score)
            if budget.spent():
                break
        best = int(np.argmax(full))
        if everything:
            station.promise[candidates[: len(full)]] = turn * np.array(full)
        return int(candidates[best]), full[best]

    def _in_parts(self, quick: Callable[[HostArray], HostArray], candidates: HostArray) -> HostArray:
        parts = np.array_split(candidates, min(candidates.size, effective_n_jobs(self.n_jobs)))
        return np.concatenate(list(in_order(quick, parts, self.n_jobs)))

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
