"""What both algorithms of l1 weighting stand on: the problem they are handed, and restarts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from l1lsmi.arrays import HostArray
from l1lsmi.numerics.radius_search import PathPoint

__all__ = ["Draw", "Outcome", "Problem", "SearchState", "in_order"]


T = TypeVar("T")


class Draw(Protocol):
    """One random view of a problem; what l1 weighting needs of a measure."""

    def choose_model(self, weights: HostArray, columns: HostArray) -> Any: ...
    def start_model(self, weights: HostArray, columns: HostArray, narrowness: float) -> Any: ...
    def value_and_gradient(
        self, weights: HostArray, columns: HostArray, model: Any
    ) -> tuple[float, HostArray]: ...
    def climb(self, weights: HostArray, columns: HostArray, model: Any) -> Any: ...
    def judge(self, columns: HostArray) -> Any: ...
    def set_slopes(self, columns: HostArray, model: Any, candidates: HostArray) -> HostArray: ...
    def fit(self, weights: HostArray, columns: HostArray, model: Any) -> Any: ...


class Problem(Protocol):
    """A measure bound to data.

    ``columns`` are the features that vary; ``best_cv_score`` bounds the score of any set from below.
    """

    @property
    def n_features(self) -> int: ...
    @property
    def columns(self) -> HostArray: ...
    @property
    def best_cv_score(self) -> float: ...
    def rng(self, *key: int) -> np.random.Generator: ...
    def draw(self, *key: int) -> Draw: ...


class Outcome(NamedTuple):
    """What one restart found: a set, its weights, and how long every feature held out."""

    support: tuple[int, ...]
    weights: HostArray
    survival: HostArray
    points: tuple[PathPoint, ...]
    n_iter: int


@dataclass
class SearchState:
    """What is known so far, so that an interrupted search can still answer."""

    n_features: int
    outcomes: list[Outcome] = field(default_factory=list)
    best: tuple[int, ...] | None = None
    latest: HostArray | None = None
    weights: HostArray | None = None
    reason: str | None = None

    @property
    def points(self) -> tuple[PathPoint, ...]:
        return tuple(point for outcome in self.outcomes for point in outcome.points)

    @property
    def n_iter(self) -> int:
        return sum(outcome.n_iter for outcome in self.outcomes)

    def outcome_of(self, support: tuple[int, ...]) -> Outcome | None:
        """The restart whose set comes closest to ``support``."""
        wanted = set(support)
        return min(self.outcomes, key=lambda o: len(wanted ^ set(o.support)), default=None)

    def survival(self) -> HostArray:
        """How long every feature held out, in the restart closest to the best set."""
        outcome = self.outcome_of(self.best or ())
        return np.zeros(self.n_features) if outcome is None else outcome.survival


def in_order(function: Callable[[int], T], count: int, n_jobs: int | None) -> Iterator[T]:
    """Run ``function(0), function(1), ...`` and yield the results in order.

    Whoever stops early gets the same results whatever ``n_jobs`` is: each result depends on its
    number alone.
    """
    workers = effective_n_jobs(n_jobs)
    if workers == 1:
        yield from (function(i) for i in range(count))
        return
    for start in range(0, count, workers):
        numbers = range(start, min(start + workers, count))
        yield from Parallel(n_jobs=workers, prefer="threads")(delayed(function)(i) for i in numbers)
