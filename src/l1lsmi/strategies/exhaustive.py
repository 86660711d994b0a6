"""Exhaustive search: every set of the wanted size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, islice, tee
from math import comb
from typing import Any, ClassVar

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._clock import Budget, while_time_is_left
from l1lsmi._numerics.constraints import Constraints
from l1lsmi._numerics.ranking import first_best, rank
from l1lsmi._validation.parameters import check_subsets
from l1lsmi.strategies._base import COUNT, Advance, SearchState, Strategy
from l1lsmi.strategies._constrained import ConstrainedExhaustive
from l1lsmi.strategies._parallel import Piece, in_order
from l1lsmi.strategies._pieces import recall_set
from l1lsmi.strategies.protocols import ScoresAdditions
from l1lsmi.strategies.selection import Selection, Step, StopReason

#: So many sets at most are scored between two looks at the clock.
FAMILY = 16


class Exhaustive(Strategy):
    """Score every set of k features and take the best.

    The reference for all other strategies, if the number of sets is small enough. With constraints, every
    allowed set is scored; with a budget, sets of any size.

    Parameters
    ----------
    max_subsets : int or None, default=10000
        If there are more sets than this, an error states their number. None sets no limit.
    time_limit : float or None, default=None
        Seconds after which the best set so far is returned.
    n_jobs : int or None, default=None
        Number of jobs that score sets in parallel; the result does not depend on it.
    verbose : int, default=0
        1 shows progress.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.measures import HSIC
    >>> from l1lsmi.strategies import Exhaustive
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 1] * X[:, 3] > 0
    >>> selection = Exhaustive().select(HSIC(), X, y, 2)
    >>> np.flatnonzero(selection.support), len(selection.path)
    (array([1, 3]), 15)
    """

    needs = ScoresAdditions
    step_name = "set"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Strategy._parameter_constraints,
        "max_subsets": [COUNT, None],
    }

    def __init__(
        self,
        *,
        max_subsets: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_subsets = max_subsets
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _within(self, constraints: Constraints) -> ConstrainedExhaustive:
        return ConstrainedExhaustive(self, constraints)

    def _start(self, problem: ScoresAdditions, k: int) -> ExhaustiveState:
        size = min(k, problem.columns.size)
        check_subsets(problem.columns.size, size, self._n_steps(problem, k), self.max_subsets)
        return ExhaustiveState(StopReason.ALL_SCORED)

    def _n_steps(self, problem: ScoresAdditions, k: int) -> int:
        return comb(problem.columns.size, min(k, problem.columns.size))

    def _steps(
        self, problem: ScoresAdditions, k: int, state: ExhaustiveState, budget: Budget
    ) -> Iterator[Advance]:
        families = _families(problem.columns, min(k, problem.columns.size))
        to_do, stems = tee(islice(families, state.n_families, None))
        best = max(state.path, key=lambda step: step.score, default=None)
        found = in_order(_score, problem, to_do, self.n_jobs, Piece("sets"))
        for (stem, last), scores in zip(stems, found, strict=True):
            steps = [
                Step(stem.size + 1, None, np.append(stem, j), score)
                for j, score in zip(last, scores, strict=True)
            ]
            state.path.extend(steps)
            state.n_families += 1
            state.finished = len(state.path) == self._n_steps(problem, k)
            best = max(steps if best is None else [best, *steps], key=lambda step: step.score)
            yield Advance(best.score, n_steps=len(steps), best=best.support)

    def _result(self, problem: ScoresAdditions, k: int, state: ExhaustiveState, budget: Budget) -> Selection:
        path = state.path
        best = path[first_best(np.array([step.score for step in path]))]
        best_with = np.full(problem.n_features, -np.inf)
        for step in path:
            best_with[step.support] = np.maximum(best_with[step.support], step.score)
        support = np.zeros(problem.n_features, dtype=bool)
        support[best.support] = True
        constant = np.setdiff1d(np.arange(problem.n_features), problem.columns)
        support[constant[: k - best.size]] = True
        ranking = rank(support, best_with)
        order = np.concatenate([_elimination_order(problem, best.support, budget), np.argsort(ranking)])
        return Selection(
            support=support,
            ranking=ranking,
            score=best.score,
            path=tuple(path),
            stop_reason=state.reason,
            order=order[np.sort(np.unique(order, return_index=True)[1])],
        )


@dataclass
class ExhaustiveState(SearchState):
    """The sets scored so far."""

    path: list[Step] = field(default_factory=list)
    n_families: int = 0

    @property
    def has_answer(self) -> bool:
        return bool(self.path)


def _elimination_order(problem: ScoresAdditions, columns: HostArray, budget: Budget) -> HostArray:
    """The features of a set, those first without which smaller sets score lowest."""
    eliminated: list[int] = []
    with while_time_is_left(budget):
        while columns.size > 1 and not budget.spent():
            smaller = [recall_set(problem, columns[columns != j]) for j in columns]
            out = int(columns[first_best(np.array(smaller))])
            eliminated.append(out)
            columns = columns[columns != out]
    return np.array([*columns, *eliminated[::-1]], dtype=np.intp)


def _families(columns: HostArray, size: int) -> Iterator[tuple[HostArray, HostArray]]:
    """All sets of a size, as those that share all members but the last: stem and last members."""
    for stem in combinations(range(columns.size), size - 1):
        last = columns[(stem[-1] + 1 if stem else 0) :]
        for start in range(0, last.size, FAMILY):
            yield columns[list(stem)], last[start : start + FAMILY]


def _score(problem: ScoresAdditions, family: tuple[HostArray, HostArray]) -> list[float]:
    stem, last = family
    if problem.neighbours_are_exact:
        return [float(score) for score in problem.score_additions(stem, last)]
    return [problem.score_set(np.append(stem, j)) for j in last]
