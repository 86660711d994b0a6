"""Ranking, forward, backward and exhaustive search among the sets that constraints allow."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._clock import Budget, OutOfTimeError, while_time_is_left
from l1lsmi._numerics.constraints import Constraints
from l1lsmi._numerics.ranking import best_first, first_best, scatter
from l1lsmi._validation.parameters import check_allowed_sets, check_scores_sets
from l1lsmi.strategies._base import Advance, Begin
from l1lsmi.strategies._greedy import FEW
from l1lsmi.strategies._units import Units, UnitState
from l1lsmi.strategies._unscored import correlations
from l1lsmi.strategies.selection import RankedSelection, Selection, Step, StopReason

#: So many allowed sets at most are scored between two looks at the clock.
FAMILY = 16


@dataclass
class Constrained:
    """A strategy among allowed sets: the methods that `Strategy.search` calls."""

    strategy: Any
    constraints: Constraints

    def _n_steps(self, problem: Any, k: int) -> int:
        return max(1, k - len(self.constraints.forced))

    def _start(self, problem: Any, k: int) -> Any:
        return UnitState(StopReason.ALL_STEPS, priority=np.full(self.constraints.n_units, -np.inf))

    def _prepare(self, problem: Any) -> Units:
        return Units(problem, self.constraints, self.strategy.n_jobs)

    def _unscored(self, problem: Any, k: int, reason: str) -> Any:
        """The allowed set whose units are most correlated with the target."""
        units = Units(problem, self.constraints)
        priority = self.constraints.of_columns(correlations(problem))
        return self.strategy._without_scores(reason, **units.answer(units.filled((), priority, k), priority))

    def _result(self, units: Any, k: int, state: Any, budget: Budget) -> Any:
        """The best of the allowed sets, or the set so far filled up by priority."""
        best = state.best()
        inside = units.filled(state.inside if best is None else best, state.priority, k)
        order = [u for u in state.inside if u in inside]
        order = [*order, *(u for u in inside if u not in order)]
        key = tuple(sorted(inside))
        score = state.visited.get(key, np.nan)
        if key not in state.visited:
            with while_time_is_left(budget.with_grace()):
                score = units.scores([inside])[0]
        return Selection(
            score=score,
            path=tuple(state.path),
            stop_reason=state.reason,
            **units.answer(order, state.priority),
        )


class ConstrainedRanking(Constrained):
    """Units by falling mean score of their columns, with a budget by score for each unit of cost.

    Every unit that still fits is taken; with a budget, those whose score is positive.
    """

    def _n_steps(self, problem: Any, k: int) -> int:
        return int(self.strategy._n_steps(problem, k))

    def _start(self, problem: Any, k: int) -> Any:
        return self.strategy._start(_Beside.of(Units(problem, self.constraints)), k)

    def _prepare(self, problem: Any) -> Any:
        units = super()._prepare(problem)
        if units.given.size:
            check_scores_sets(problem)
        return _Beside.of(units)

    def _steps(self, view: _Beside, k: int, state: Any, budget: Budget) -> Iterator[Advance | Begin]:
        yield from self.strategy._steps(view, k, state, budget)

    def _result(self, view: _Beside, k: int, state: Any, budget: Budget) -> Any:
        units, constraints = view.units, self.constraints
        scores = scatter(state.scores, view.columns, view.n_features)
        of_units = constraints.of_columns(scores)
        priority = of_units
        if constraints.has_budget:
            priority = np.where(of_units > 0, of_units / constraints.costs, of_units)
        inside = units.filled((), priority, k)
        if constraints.has_budget:
            useful = constraints.restricted_to((of_units > 0) | np.isin(np.arange(of_units.size), inside))
            inside = useful.fill(priority, k, inside)
        chosen = scores[np.isin(constraints.unit_of, inside)]
        known = chosen[np.isfinite(chosen)]
        return RankedSelection(
            score=float(known.mean()) if known.size else 0.0,
            path=(),
            stop_reason=state.reason,
            scores=scores,
            **units.answer(_by_priority(inside, priority), priority),
        )


class _Beside:
    """A problem whose single columns are scored beside covariates."""

    units: Units
    columns: HostArray

    @classmethod
    def of(cls, units: Units) -> _Beside:
        made = cls()
        made.units = units
        made.columns = np.setdiff1d(units.all_columns(), units.given)
        return made

    @property
    def n_features(self) -> int:
        return int(self.units.problem.n_features)

    @property
    def table(self) -> Any:
        return self.units.problem.table

    def score_each(self, columns: HostArray) -> HostArray:
        units, problem = self.units, self.units.problem
        if not units.given.size:
            return np.asarray(problem.score_each(columns))
        if problem.neighbours_are_exact:
            return np.asarray(problem.score_additions(units.given, columns)) - units.base
        beside = [problem.score_set(np.append(units.given, j)) for j in columns]
        return np.array(beside) - units.base


class ConstrainedGreedy(Constrained):
    """Steps from a set of units to the best of its neighbours."""

    sign: int

    def _neighbours(
        self, units: Units, inside: list[int], candidates: HostArray, budget: Budget
    ) -> tuple[HostArray, bool]:
        """Scores of the sets with or without each candidate, and whether time did not run out.

        Minus infinity for those that were not scored in full.
        """
        problem, shortlist = units.problem, self.strategy.shortlist
        columns, few = units.columns_of(inside), shortlist is None or candidates.size <= FEW * shortlist
        singles = all(units.columns[u].size == 1 for u in candidates)
        exact = problem.neighbours_are_exact and singles and (self.sign > 0 or columns.size > 1)
        quick = partial(_quick, inside=columns, sign=self.sign)
        if exact:
            others = np.array([units.columns[u][0] for u in candidates])
            scores, complete = self.strategy._in_parts(problem, quick, others, budget)
            return scores - units.base, complete
        if not few:
            others = np.concatenate([units.columns[u] for u in candidates])
            rough, complete = self.strategy._in_parts(problem, quick, others, budget)
            means = self.constraints.of_columns(scatter(rough, others, problem.n_features))[candidates]
            if not complete:
                return means, False
            places = best_first(means)[:shortlist]
        else:
            places = np.arange(candidates.size)
        found = units.scores((self._moved(inside, int(u)) for u in candidates[places]), budget)
        scores = np.full(candidates.size, -np.inf)
        scores[places[: len(found)]] = found
        return scores, len(found) == places.size

    def _moved(self, inside: list[int], unit: int) -> list[int]:
        return [*inside, unit] if self.sign > 0 else [u for u in inside if u != unit]

    def _worth(self, gains: HostArray, candidates: HostArray, per_cost: bool) -> HostArray:
        """Gains, or gains for each unit of cost."""
        costs = self.constraints.costs[candidates]
        helps = gains > 0 if self.sign > 0 else gains < 0
        return np.where(helps, gains / costs, gains) if per_cost else gains

    def _walk(
        self, units: Units, k: int, state: UnitState, budget: Budget, per_cost: bool
    ) -> Iterator[Advance]:
        """One step after another until there is no further one."""
        score = units.scores([state.inside])[0] if state.inside else 0.0
        self._visit(units, k, state, None, score)
        while (candidates := self._candidates(units, k, state.inside)).size:
            scores, complete = self._neighbours(units, state.inside, candidates, budget)
            known = np.isfinite(scores)
            if not known.any() and not complete:
                raise OutOfTimeError
            state.priority[candidates[known]] = self.sign * scores[known]
            worth = self._worth(scores - score, candidates, per_cost)
            place = first_best(worth)
            state.inside = self._moved(state.inside, int(candidates[place]))
            score = float(scores[place])
            self._visit(units, k, state, int(candidates[place]), score)
            if not complete:
                state.reason, state.finished = StopReason.TIME_LIMIT, True
            yield Advance(score, best=units.columns_of(state.inside))
            if not complete or budget.spent():
                return

    def _visit(self, units: Units, k: int, state: UnitState, unit: int | None, score: float) -> None:
        columns = units.columns_of(state.inside)
        if not state.inside:
            return
        feature = int(units.columns[unit][0]) if unit is not None and len(units.columns[unit]) else None
        state.path.append(Step(columns.size - units.given.size, feature, columns, score))
        if self.constraints.allows(state.inside, k):
            state.visited.setdefault(tuple(sorted(state.inside)), score)

    def _candidates(self, units: Units, k: int, inside: list[int]) -> HostArray:
        raise NotImplementedError


class ConstrainedForward(ConstrainedGreedy):
    """Add the unit with which the set scores highest; with a budget, also try the largest gain per cost.

    With a budget the best of all sets on the way is the answer.
    """

    sign = 1

    def _candidates(self, units: Units, k: int, inside: list[int]) -> HostArray:
        if len(inside) >= k:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(self.constraints.room(inside) & units.alive)

    def _steps(self, units: Units, k: int, state: UnitState, budget: Budget) -> Iterator[Advance]:
        for per_cost in (True, False) if self.constraints.has_budget else (False,):
            state.inside = list(self.constraints.forced)
            yield from self._walk(units, k, state, budget, per_cost)
            if budget.spent():
                return
        state.finished = True


class ConstrainedBackward(ConstrainedGreedy):
    """Take away the unit without which the set scores highest, for as long as an allowed set is left.

    With a budget, that without which least is lost for its cost; the best allowed set on the way is the
    answer.
    """

    sign = -1

    def _n_steps(self, problem: Any, k: int) -> int:
        return max(1, self.constraints.n_units - k)

    def _candidates(self, units: Units, k: int, inside: list[int]) -> HostArray:
        least = min(k, units.max_size)
        if self.constraints.has_budget:
            least = max(1, len(self.constraints.forced))
        if len(inside) <= least:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(self.constraints.removable(inside, k) & units.alive)

    def _steps(self, units: Units, k: int, state: UnitState, budget: Budget) -> Iterator[Advance]:
        everything = units.alive.copy()
        everything[list(self.constraints.forced)] = True
        state.inside = np.flatnonzero(everything).tolist()
        yield from self._walk(units, k, state, budget, self.constraints.has_budget)
        state.finished = not budget.spent()

    def _result(self, units: Any, k: int, state: Any, budget: Budget) -> Any:
        # The later a unit was taken away, the nearer it came; those that are left come first.
        survival = np.where(units.alive, -1.0, -np.inf)
        left = state.inside
        survival[left] = len(state.path) + np.argsort(np.argsort(state.priority[left])) / (len(left) + 1)
        for time, step in enumerate(state.path):
            if step.feature is not None:
                survival[self.constraints.unit_of[step.feature]] = time
        kept = copy(state)
        kept.priority = survival
        kept.inside = _by_priority(self.constraints.fill(survival, k), survival)
        if state.best() is not None and not self.constraints.has_budget:
            kept.inside = _by_priority(state.inside, survival)
        return super()._result(units, k, kept, budget)


class ConstrainedExhaustive(Constrained):
    """Every allowed set."""

    def _sets(self, units: Units, k: int) -> Iterator[tuple[int, ...]]:
        return self.constraints.allowed_sets(min(k, units.max_size), units.alive)

    def _n_steps(self, problem: Any, k: int) -> int:
        most = self.strategy.max_subsets
        units = self._prepare(problem)
        n_sets = sum(1 for _ in islice(self._sets(units, k), None if most is None else most + 1))
        check_allowed_sets(n_sets, most)
        return n_sets

    def _steps(self, units: Units, k: int, state: UnitState, budget: Budget) -> Iterator[Advance]:
        sets = self._sets(units, k)
        while some := list(islice(sets, FAMILY)):
            found = units.scores(some, budget)
            for inside, score in zip(some, found, strict=False):
                columns = units.columns_of(inside)
                state.visited[inside] = score
                state.path.append(Step(columns.size - units.given.size, None, columns, score))
                members = list(inside)
                state.priority[members] = np.maximum(state.priority[members], score)
            if not state.visited:
                raise OutOfTimeError
            best = max(state.visited, key=state.visited.__getitem__)
            yield Advance(state.visited[best], n_steps=len(found), best=units.columns_of(best))
            if budget.spent():
                return
        state.reason, state.finished = StopReason.ALL_SCORED, True

    def _result(self, units: Any, k: int, state: Any, budget: Budget) -> Any:
        best = state.best()
        if best is not None:

            def losses(sets: list[tuple[int, ...]]) -> list[float]:
                return [-score for score in units.scores(sets)]

            state.inside = units.elimination_order(best, losses, budget)
        return super()._result(units, k, state, budget)


def _by_priority(inside: list[int], priority: HostArray) -> list[int]:
    return sorted(inside, key=lambda u: (-priority[u], u))


def _quick(problem: Any, others: HostArray, inside: HostArray, sign: int) -> HostArray:
    score = problem.score_additions if sign > 0 else problem.score_removals
    return np.asarray(score(inside, others))
