"""Forward search: from nothing, always the feature that adds most."""

from __future__ import annotations

from functools import partial

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.ranking import best_first
from l1lsmi._progress import Progress
from l1lsmi.strategies._greedy import GreedySearch, Problem, Station
from l1lsmi.strategies.selection import Budget, Step


class Forward(GreedySearch):
    """Add one feature at a time, always the one with which the set says most.

    It leaves out copies of what is in the set already, and misses features that say something only
    together. The path holds every set on the way: one run answers for all smaller numbers of features.

    Parameters
    ----------
    shortlist : int or None, default=4
        With measures that choose a model by cross-validation, candidates are first compared under the
        model of the present set, and the best so many are scored in full. Steps with at most five
        times as many candidates score all of them in full; None always does.
    time_limit : float or None, default=None
        Seconds after which the set so far is returned, filled up by what the last step knew.
    n_jobs : int or None, default=None
        Candidates are scored side by side; the answer does not depend on it.
    verbose : int, default=0
        1 shows progress.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.measures import SquaredMutualInformation
    >>> from l1lsmi.strategies import Forward
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> X[:, 4] = X[:, 1] + 0.3 * rng.normal(size=200)  # a copy with noise
    >>> y = 2 * X[:, 1] + X[:, 3]
    >>> selection = Forward().select(SquaredMutualInformation(), X, y, 2, random_state=0)
    >>> [step.feature for step in selection.path]
    [1, 3]
    """

    needs = ("score_each", "score_set", "score_additions")

    def _n_steps(self, problem: Problem, k: int) -> int:
        return min(k, problem.columns.size)

    def _walk(self, problem: Problem, k: int, budget: Budget, station: Station, progress: Progress) -> bool:
        for size in range(1, self._n_steps(problem, k) + 1):
            if budget.spent() and size > 1:
                return False
            inside = station.inside
            others = np.setdiff1d(problem.columns, inside)
            if k == 1:  # a search for one feature is a ranking
                scores, complete = self._in_parts(problem, _score_each, others, budget)
                station.promise[others] = scores
                first = best_first(scores)[0]
                best, score = int(others[first]), float(scores[first])
            else:
                additions = partial(_score_additions, inside=inside)
                join = partial(_with, inside)
                best, score, complete = self._best(problem, others, additions, join, budget, station, 1.0)
            station.inside = _with(inside, best)
            station.path.append(Step(size, best, np.sort(station.inside), score))
            progress.advance(score)
            if not complete:
                return False
        return True

    def _survival(self, problem: Problem, station: Station) -> HostArray:
        return station.promise


def _score_each(problem: Problem, columns: HostArray) -> HostArray:
    return problem.score_each(columns)


def _score_additions(problem: Problem, others: HostArray, inside: HostArray) -> HostArray:
    return problem.score_additions(inside, others)


def _with(columns: HostArray, column: int) -> HostArray:
    return np.append(columns, column)
