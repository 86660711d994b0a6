"""What both algorithms of l1 weighting stand on: the problem they are handed, and restarts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.optimization.radius_search import PathPoint
from l1lsmi._rows.parted import RowsElsewhere
from l1lsmi._rows.table import Table
from l1lsmi.strategies._base import Features


class Draw(Protocol):
    """One random view of a problem; what l1 weighting needs of a measure."""

    def choose_model(self, weights: HostArray, columns: HostArray) -> Any: ...
    def start_model(self, weights: HostArray, columns: HostArray, narrowness: float) -> Any: ...
    def value_and_gradient(
        self, weights: HostArray, columns: HostArray, model: Any
    ) -> tuple[float, HostArray]: ...
    def climb(self, weights: HostArray, columns: HostArray, model: Any) -> Any: ...
    def choose_near(self, weights: HostArray, columns: HostArray, model: Any) -> Any: ...
    def judge(self, columns: HostArray, near: Any = None) -> Any: ...
    def set_slopes(self, columns: HostArray, model: Any, candidates: HostArray) -> HostArray: ...
    def fit(self, weights: HostArray, columns: HostArray, model: Any) -> Any: ...


class Problem(Features, Protocol):
    """What l1 weighting needs of a measure.

    ``juror(i)`` compares sets: it has `judge` and `set_slopes`, as a draw does; ``best_cv_score`` bounds
    what it says of any set from below. A problem with ``on_sample(n_rows)``, the same problem on some rows,
    is searched on a sample where there are many.
    """

    @property
    def table(self) -> Table | RowsElsewhere: ...
    @property
    def best_cv_score(self) -> float: ...
    def rng(self, *key: int) -> np.random.Generator: ...
    def draw(self, *key: int) -> Draw: ...
    def juror(self, i: int) -> Any: ...
    def score_of(self, fit: Any) -> float: ...


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
