"""Backward search: start with all features, and remove the least useful one in each step."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._clock import Budget
from l1lsmi._numerics.constraints import Constraints
from l1lsmi.strategies._base import Advance
from l1lsmi.strategies._constrained import ConstrainedBackward
from l1lsmi.strategies._greedy import GreedySearch, GreedyState
from l1lsmi.strategies._pieces import recall_set
from l1lsmi.strategies.protocols import ScoresRemovals
from l1lsmi.strategies.selection import Step, StopReason


class Backward(GreedySearch):
    """Remove one feature at a time, always the one without which the set scores highest.

    It detects interactions; the time grows with the square of the number of features. The path has every set
    that the search visits. Groups of features are removed as a whole. With a budget, each step removes the
    feature whose removal loses the least score per unit of cost, and the best allowed set that was visited is
    selected.

    Parameters
    ----------
    shortlist : int or None, default=4
        Number of candidates that a step scores in full, with measures that choose a model by
        cross-validation: all candidates are first compared under the model of the current set, and the best
        are scored in full. If a step has at most five times this number of candidates, all are scored in
        full. With None, all are always scored in full.
    time_limit : float or None, default=None
        Seconds after which the set so far is returned; surplus features are removed by the scores of the last
        step.
    n_jobs : int or None, default=None
        Number of jobs that score candidates in parallel; the result does not depend on it.
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

    needs = ScoresRemovals

    def size_for_order(self, most: int) -> int:
        """How many features to search for: one, because the search then visits sets of all sizes.

        Parameters
        ----------
        most : int

        Returns
        -------
        k : int
        """
        return 1

    def _within(self, constraints: Constraints) -> ConstrainedBackward:
        return ConstrainedBackward(self, constraints)

    def _n_steps(self, problem: ScoresRemovals, k: int) -> int:
        return max(problem.columns.size - k, 0) + 1

    def _steps(
        self, problem: ScoresRemovals, k: int, state: GreedyState, budget: Budget
    ) -> Iterator[Advance]:
        if not state.path:
            state.inside = problem.columns
            score = recall_set(problem, problem.columns)
            state.path.append(Step(problem.columns.size, None, problem.columns, score))
            if k >= problem.columns.size:
                state.priority[problem.columns] = 0.0
                state.finished = True
                yield Advance(score, best=state.inside)
        for size in range(state.inside.size - 1, k - 1, -1):
            inside = state.inside
            removals = partial(_score_removals, inside=inside)
            drop = partial(_without, inside)
            worst, score, complete = self._best(problem, inside, removals, drop, budget, state, -1.0)
            state.inside = _without(inside, worst)
            state.priority[worst] = -np.inf
            state.path.append(Step(size, worst, state.inside, score))
            state.finished = size == k or not complete
            if not complete:
                state.reason = StopReason.TIME_LIMIT
            yield Advance(score, n_steps=2 if len(state.path) == 2 else 1, best=state.inside)
            if not complete:
                return

    def _survival(self, problem: ScoresRemovals, state: GreedyState) -> HostArray:
        """The later a feature was removed, the nearer it came."""
        survival = np.full(problem.n_features, -np.inf)
        survival[problem.columns] = np.inf
        for time, step in enumerate(state.path):
            if step.feature is not None:
                survival[step.feature] = time
        return survival


def _score_removals(problem: ScoresRemovals, members: HostArray, inside: HostArray) -> HostArray:
    return problem.score_removals(inside, members)


def _without(columns: HostArray, column: int) -> HostArray:
    return np.asarray(columns[columns != column])
