"""Searches among the sets that constraints allow: what they share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._clock import Budget, while_time_is_left
from l1lsmi._numerics.constraints import Constraints
from l1lsmi._numerics.ranking import first_best, rank
from l1lsmi.strategies._base import SearchState
from l1lsmi.strategies._parallel import Piece, in_order
from l1lsmi.strategies._pieces import recall_set
from l1lsmi.strategies.selection import Step


class Units:
    """Units of columns of a problem, as a search among allowed sets sees them.

    Parameters
    ----------
    problem : Features
    constraints : Constraints
    n_jobs : int or None

    Attributes
    ----------
    columns : list of numpy.ndarray of int
        The columns of every unit that vary.
    given : numpy.ndarray of int
        Columns of every set that is scored.
    alive : numpy.ndarray of bool, shape (units,)
        Units to choose from that have columns which vary.
    """

    def __init__(self, problem: Any, constraints: Constraints, n_jobs: int | None = None) -> None:
        usable = np.zeros(problem.n_features, dtype=bool)
        usable[problem.columns] = True
        self.problem = problem
        self.constraints = constraints
        self.n_jobs = n_jobs
        self.columns = [unit[usable[unit]] for unit in constraints.units]
        self.given = constraints.given[usable[constraints.given]]
        self.alive = constraints.usable & np.array([some.size > 0 for some in self.columns])
        self._base: float | None = None

    def columns_of(self, inside: Collection[int]) -> HostArray:
        """The columns of a set of units that vary, and those of every set, in order."""
        return np.sort(np.concatenate([self.given, *(self.columns[u] for u in inside)]))

    def all_columns(self) -> HostArray:
        """The columns of all units to choose from, and those of every set."""
        return self.columns_of(np.flatnonzero(self.alive))

    @property
    def max_size(self) -> int:
        """The largest number of units of an allowed set, without those that do not vary."""
        return self.constraints.restricted_to(self.alive).max_size

    @property
    def held(self) -> HostArray:
        """Columns of every set: those of forced units, and covariates."""
        return self.columns_of(self.constraints.forced)

    @property
    def base(self) -> float:
        """Score of the columns of every set alone, 0 where there are none."""
        if self._base is None:
            self._base = recall_set(self.problem, self.given) if self.given.size else 0.0
        return self._base

    def scores(self, sets: Iterable[Collection[int]], budget: Budget | None = None) -> list[float]:
        """Scores of sets of units, less that of the covariates alone; fewer where time ran out."""
        found: list[float] = []
        columns = (self.columns_of(inside) for inside in sets)
        with nullcontext() if budget is None else while_time_is_left(budget):
            for score in in_order(_score_set, self.problem, columns, self.n_jobs, Piece("set")):
                found.append(score - self.base)
                if budget is not None and budget.spent():
                    break
        return found

    # -- answers ---------------------------------------------------------------------------

    def filled(self, inside: Collection[int], priority: HostArray, k: int) -> list[int]:
        """A set with units added by priority, up to ``k``; constant ones where nothing else is left.

        With a budget, a set that is not empty stays as it is.
        """
        if self.constraints.has_budget and inside:
            return self.constraints.fill(priority, len(inside), inside)
        alive = np.where(self.alive, priority, -np.inf)
        # Below every score, but above units that do not vary.
        lowest = np.min(alive, where=np.isfinite(alive), initial=0.0) - 1
        order = np.where(self.alive & np.isneginf(alive), lowest, alive)
        wanted = max(1, len(self.constraints.forced)) if self.constraints.has_budget else k
        return self.constraints.fill(order, wanted, inside)

    def answer(self, ordered: Sequence[int], priority: HostArray) -> dict[str, Any]:
        """Support, ranking and order of columns, for the units of a set in their order.

        Forced units come first in the order, and after the set others for as long as the limits allow it.
        """
        constraints = self.constraints.everywhere()
        support = np.zeros(constraints.n_columns, dtype=bool)
        for unit in ordered:
            support[constraints.units[unit]] = True
        of_columns = np.append(priority, -np.inf)[constraints.unit_of]
        order = constraints.fill(priority, constraints.n_units, ordered)
        return {
            "support": support,
            "ranking": rank(support, of_columns),
            "order": np.concatenate([constraints.units[unit] for unit in order]),
        }

    def elimination_order(
        self,
        inside: Collection[int],
        losses: Callable[[list[tuple[int, ...]]], Sequence[float]],
        budget: Budget,
        weakest: Callable[[list[int], list[int]], list[int]] = lambda present, free: free,
    ) -> list[int]:
        """The units of a set, those first without which smaller sets lose most; forced units stay longest.

        ``weakest(present, free)`` are those that are tried.
        """
        present, eliminated = sorted(inside), list[int]()
        with while_time_is_left(budget):
            while len(present) > 1 and not budget.spent():
                free = [u for u in present if u not in self.constraints.forced]
                if not free:
                    break
                free = weakest(present, free)
                smaller = [tuple(v for v in present if v != u) for u in free]
                out = free[first_best(-np.array(losses(smaller)))]
                eliminated.append(out)
                present.remove(out)
        forced = [u for u in present if u in self.constraints.forced]
        return [*forced, *(u for u in present if u not in forced), *eliminated[::-1]]


@dataclass
class UnitState(SearchState):
    """The set of units so far, the sets on the way, and the priority of every unit."""

    inside: list[int] = field(default_factory=list)
    priority: HostArray = field(default_factory=lambda: np.empty(0))
    path: list[Step] = field(default_factory=list)
    #: Allowed sets with their scores, the first being the best of equal ones.
    visited: dict[tuple[int, ...], float] = field(default_factory=dict)

    @property
    def has_answer(self) -> bool:
        return bool(self.visited) or not bool(np.isneginf(self.priority).all())

    def best(self) -> tuple[int, ...] | None:
        """The allowed set with the highest score."""
        sets = list(self.visited)
        return sets[first_best(np.array([self.visited[s] for s in sets]))] if sets else None


def _score_set(problem: Any, columns: HostArray) -> float:
    score: float = problem.score_set(columns) if columns.size else 0.0
    return score
