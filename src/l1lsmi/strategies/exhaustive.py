"""Exhaustive search: every set of the wanted size."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import Any, ClassVar, Protocol

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.ranking import best_first, rank
from l1lsmi._progress import Progress
from l1lsmi._validation.parameters import check_subsets
from l1lsmi.strategies._base import COUNT, Features, Strategy, in_order
from l1lsmi.strategies.selection import Budget, Selection, Step, StopReason

#: So many sets at most are scored between two looks at the clock.
FAMILY = 16


class Problem(Features, Protocol):
    """What exhaustive search needs of a measure."""

    neighbours_are_exact: bool

    def score_set(self, columns: HostArray) -> float: ...
    def score_additions(self, columns: HostArray, others: HostArray) -> HostArray: ...


class Exhaustive(Strategy):
    """Score every set of k features and take the best.

    The yardstick for all other strategies, where there are few enough sets.

    Parameters
    ----------
    max_subsets : int or None, default=10000
        More sets than this are refused, with their number; None takes on any number.
    time_limit : float or None, default=None
        Seconds after which the best set so far is returned.
    n_jobs : int or None, default=None
        Sets are scored side by side; the answer does not depend on it.
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

    needs = ("score_set", "score_additions")
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

    def _search(self, problem: Problem, k: int, budget: Budget) -> Selection:
        size = min(k, problem.columns.size)
        n_subsets = comb(problem.columns.size, size)
        check_subsets(problem.columns.size, size, n_subsets, self.max_subsets)
        path: list[Step] = []
        reason = StopReason.ALL_SCORED
        families = _families(problem.columns, size)
        best = -np.inf
        try:
            with Progress(n_subsets, self.verbose, "set") as progress:
                for steps in in_order(_score, problem, families, self.n_jobs):
                    path.extend(steps)
                    best = max(best, *(step.score for step in steps))
                    progress.advance(best, steps=len(steps))
                    if budget.spent() and len(path) < n_subsets:
                        reason = StopReason.TIME_LIMIT
                        break
        except KeyboardInterrupt:
            if not path:
                raise
            reason = StopReason.INTERRUPTED
        return _conclude(problem, k, path, reason)


def _families(columns: HostArray, size: int) -> Iterator[tuple[HostArray, HostArray]]:
    """All sets of a size, as those that share all members but the last: stem and last members."""
    for stem in combinations(range(columns.size), size - 1):
        last = columns[(stem[-1] + 1 if stem else 0) :]
        for start in range(0, last.size, FAMILY):
            yield columns[list(stem)], last[start : start + FAMILY]


def _score(problem: Problem, family: tuple[HostArray, HostArray]) -> list[Step]:
    stem, last = family
    sets = [np.append(stem, j) for j in last]
    if problem.neighbours_are_exact:
        scores = problem.score_additions(stem, last).tolist()
    else:
        scores = [problem.score_set(columns) for columns in sets]
    return [Step(len(columns), None, columns, score) for columns, score in zip(sets, scores, strict=True)]


def _conclude(problem: Problem, k: int, path: list[Step], reason: str) -> Selection:
    best = path[best_first(np.array([step.score for step in path]))[0]]
    promise = np.full(problem.n_features, -np.inf)
    for step in path:
        promise[step.support] = np.maximum(promise[step.support], step.score)
    support = np.zeros(problem.n_features, dtype=bool)
    support[best.support] = True
    constant = np.setdiff1d(np.arange(problem.n_features), problem.columns)
    support[constant[: k - best.size]] = True
    return Selection(support, rank(support, promise), best.score, tuple(path), reason)
