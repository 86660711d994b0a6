"""Forward search: start without features, and add the most useful one in each step."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._clock import Budget, OutOfTimeError
from l1lsmi._numerics.constraints import Constraints
from l1lsmi._numerics.ranking import first_best
from l1lsmi.strategies._base import Advance
from l1lsmi.strategies._constrained import ConstrainedForward
from l1lsmi.strategies._greedy import GreedySearch, GreedyState
from l1lsmi.strategies.protocols import ScoresAdditions
from l1lsmi.strategies.selection import Step, StopReason


class Forward(GreedySearch):
    """Add one feature at a time, always the one with which the set scores highest.

    It leaves out redundant features, and misses features that are informative only in interactions. The path
    has every set that the search visits: one run gives the sets of all smaller sizes. Groups of features are
    added as a whole. With a budget, the search runs twice, by gain and by gain per unit of cost, and the best
    set that was visited is selected.

    Parameters
    ----------
    shortlist : int or None, default=4
        Number of candidates that a step scores in full, with measures that choose a model by
        cross-validation: all candidates are first compared under the model of the current set, and the best
        are scored in full. If a step has at most five times this number of candidates, all are scored in
        full. With None, all are always scored in full.
    time_limit : float or None, default=None
        Seconds after which the set so far is returned; missing features are added by the scores of the last
        step.
    n_jobs : int or None, default=None
        Number of jobs that score candidates in parallel; the result does not depend on it.
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

    needs = ScoresAdditions

    def _within(self, constraints: Constraints) -> ConstrainedForward:
        return ConstrainedForward(self, constraints)

    def _n_steps(self, problem: ScoresAdditions, k: int) -> int:
        return min(k, problem.columns.size)

    def _steps(
        self, problem: ScoresAdditions, k: int, state: GreedyState, budget: Budget
    ) -> Iterator[Advance]:
        n_steps = self._n_steps(problem, k)
        for size in range(len(state.path) + 1, n_steps + 1):
            inside = state.inside
            others = np.setdiff1d(problem.columns, inside)
            if k == 1:  # a search for one feature is a ranking
                scores, complete = self._in_parts(problem, _score_each, others, budget)
                if np.isneginf(scores).all():
                    raise OutOfTimeError
                state.priority[others] = scores
                first = first_best(scores)
                best, score = int(others[first]), float(scores[first])
            else:
                additions = partial(_score_additions, inside=inside)
                join = partial(_with, inside)
                best, score, complete = self._best(problem, others, additions, join, budget, state, 1.0)
            state.inside = _with(inside, best)
            state.path.append(Step(size, best, np.sort(state.inside), score))
            state.finished = size == n_steps or not complete
            if not complete:
                state.reason = StopReason.TIME_LIMIT
            yield Advance(score, best=state.inside)
            if not complete:
                return

    def _survival(self, problem: ScoresAdditions, state: GreedyState) -> HostArray:
        return state.priority


def _score_each(problem: ScoresAdditions, columns: HostArray) -> HostArray:
    return problem.score_each(columns)


def _score_additions(problem: ScoresAdditions, others: HostArray, inside: HostArray) -> HostArray:
    return problem.score_additions(inside, others)


def _with(columns: HostArray, column: int) -> HostArray:
    return np.append(columns, column)
