"""Backward search: from everything, always without the feature that is missed least."""

from __future__ import annotations

from functools import partial

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._progress import Progress
from l1lsmi.strategies._greedy import GreedySearch, Problem, Station
from l1lsmi.strategies.selection import Budget, Step


class Backward(GreedySearch):
    """Take one feature away at a time, always the one without which the set says most.

    Features that say something only together are seen together; the cost grows with the square of
    their number. The path holds every set on the way.

    Parameters
    ----------
    shortlist : int or None, default=4
        With measures that choose a model by cross-validation, candidates are first compared under the
        model of the present set, and the best so many are scored in full. Steps with at most five
        times as many candidates score all of them in full; None always does.
    time_limit : float or None, default=None
        Seconds after which the set so far is returned, cut by what the last step knew.
    n_jobs : int or None, default=None
        Candidates are scored side by side; the answer does not depend on it.
    verbose : int, default=0
        1 shows progress.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.measures import HSIC
    >>> from l1lsmi.strategies import Backward
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = X[:, 1] * X[:, 3] > 0
    >>> selection = Backward().select(HSIC(), X, y, 2)
    >>> [step.size for step in selection.path], np.flatnonzero(selection.support)
    ([4, 3, 2], array([1, 3]))
    """

    needs = ("score_set", "score_removals")

    def _n_steps(self, problem: Problem, k: int) -> int:
        return max(problem.columns.size - k, 0) + 1

    def _walk(self, problem: Problem, k: int, budget: Budget, station: Station, progress: Progress) -> bool:
        station.inside = problem.columns
        score = problem.score_set(problem.columns)
        station.path.append(Step(problem.columns.size, None, problem.columns, score))
        progress.advance(score)
        for size in range(problem.columns.size - 1, k - 1, -1):
            if budget.spent() and len(station.path) > 1:
                return False
            inside = station.inside
            removals = partial(_score_removals, inside=inside)
            drop = partial(_without, inside)
            worst, score, complete = self._best(problem, inside, removals, drop, budget, station, -1.0)
            station.inside = _without(inside, worst)
            station.promise[worst] = -np.inf
            station.path.append(Step(size, worst, station.inside, score))
            progress.advance(score)
            if not complete:
                return False
        return True

    def _survival(self, problem: Problem, station: Station) -> HostArray:
        """The later a feature left, the nearer it came."""
        survival = np.full(problem.n_features, -np.inf)
        survival[problem.columns] = np.inf
        for time, step in enumerate(station.path):
            if step.feature is not None:
                survival[step.feature] = time
        return survival


def _score_removals(problem: Problem, members: HostArray, inside: HostArray) -> HostArray:
    return problem.score_removals(inside, members)


def _without(columns: HostArray, column: int) -> HostArray:
    return np.asarray(columns[columns != column])
