"""Features one by one: the fastest strategy, blind to redundancy and interaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.ranking import rank, spread, take_best
from l1lsmi._progress import Progress
from l1lsmi.strategies._base import Features, Strategy, in_order
from l1lsmi.strategies.selection import Budget, Selection, StopReason


class Problem(Features, Protocol):
    """What ranking needs of a measure."""

    def score_each(self, columns: HostArray) -> HostArray: ...


@dataclass(frozen=True)
class RankedSelection(Selection):
    """The features with the highest scores.

    The score is the mean of theirs, and there is no path.

    Attributes
    ----------
    scores : numpy.ndarray of float, shape (m,)
        What every feature says by itself; minus infinity for constant ones, and for those that the
        time limit left out.
    """

    scores: HostArray


class Ranking(Strategy):
    """Take the features that say most by themselves.

    Cheap, and right where features neither repeat each other nor need each other.

    Parameters
    ----------
    time_limit : float or None, default=None
        Seconds after which the best features so far are returned.
    n_jobs : int or None, default=None
        Features are scored side by side; the answer does not depend on it.
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

    needs = ("score_each",)

    def __init__(
        self, *, time_limit: float | None = None, n_jobs: int | None = None, verbose: int = 0
    ) -> None:
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _search(self, problem: Problem, k: int, budget: Budget) -> RankedSelection:
        columns = problem.columns
        scores = np.full(columns.size, -np.inf)
        reason = StopReason.ALL_SCORED
        # Few enough parts to cost nothing, many enough to show progress and to stop in time.
        parts = np.array_split(np.arange(columns.size), min(columns.size, 50))
        of_parts = (columns[part] for part in parts)
        try:
            with Progress(len(parts), self.verbose, "part") as progress:
                found = in_order(_score_each, problem, of_parts, self.n_jobs)
                for part, values in zip(parts, found, strict=True):
                    scores[part] = values
                    progress.advance(float(scores.max()))
                    if budget.spent() and part is not parts[-1]:
                        reason = StopReason.TIME_LIMIT
                        break
        except KeyboardInterrupt:
            if np.isneginf(scores).all():
                raise
            reason = StopReason.INTERRUPTED
        return self._conclude(problem, k, scores, reason)

    def _conclude(self, problem: Any, k: int, scores: HostArray, reason: str) -> RankedSelection:
        everywhere = spread(scores, problem.columns, problem.n_features)
        support = take_best(everywhere, k)
        known = everywhere[support & np.isfinite(everywhere)]
        return RankedSelection(
            support=support,
            ranking=rank(support, everywhere),
            score=float(known.mean()) if known.size else 0.0,
            path=(),
            stop_reason=reason,
            scores=everywhere,
        )


def _score_each(problem: Problem, columns: HostArray) -> HostArray:
    return problem.score_each(columns)
