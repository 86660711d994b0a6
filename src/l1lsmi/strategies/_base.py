"""What every strategy shares: what it needs of a measure, and the one interruptible loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils._param_validation import Interval

from l1lsmi._blas import single_threaded_blas
from l1lsmi._clock import Budget, OutOfTimeError, limited
from l1lsmi._numerics.constraints import Constraints
from l1lsmi._numerics.ranking import best_first, rank
from l1lsmi._progress import Progress
from l1lsmi._rows.table import Resources, is_large_sparse
from l1lsmi._validation.parameters import CheckedParameters, check_count, check_measure, check_needs
from l1lsmi._validation.rows import read_rows_for
from l1lsmi.strategies._listening import tell
from l1lsmi.strategies._unscored import correlations
from l1lsmi.strategies.protocols import Features, missing_members
from l1lsmi.strategies.selection import Selection, StopReason

COUNT = Interval(Integral, 1, None, closed="left")
COUNT_OR_ZERO = Interval(Integral, 0, None, closed="left")
#: Up to so many rows, what can be drawn the same way every time is: another seed is not another answer.
UNSEEDED_ROWS = 2_000
POSITIVE = Interval(Real, 0, None, closed="neither")


@dataclass
class SearchState:
    """What a search has found so far: picklable, and sufficient to continue the search.

    Attributes
    ----------
    reason : str
        Why the search ends, if nothing stops it.
    finished : bool
        Whether nothing is left to do.
    """

    reason: str
    finished: bool = False

    @property
    def has_answer(self) -> bool:
        """Whether an interrupted search can return something."""
        raise NotImplementedError


class Advance(NamedTuple):
    """Progress of a search: the best score so far, how many steps were made, and the best set."""

    score: float
    n_steps: int = 1
    best: Any = ()


class Begin(NamedTuple):
    """A task of unknown duration that follows the steps of a search, for the progress bar."""

    task: str


class Strategy(CheckedParameters):
    """Base of all strategies: how sets of features are searched.

    A subclass names in ``needs`` the protocol that a bound measure must have. Its search is in ``_steps``,
    which continues from any state, and yields after every piece of work that is stored in the state;
    ``_result`` makes the selection.
    """

    #: The protocol that a bound measure must have for this strategy.
    needs: ClassVar[type] = Features
    #: Whether a p-value from unseen rows belongs to every search, and pools of columns may be compared.
    has_p_value: ClassVar[bool] = False
    compares_pools: ClassVar[bool] = True
    #: Numbers of features that are searched for where their number is chosen; sets of sizes in between come
    #: from the order of the next larger set, and beyond from a search for the largest.
    searched_sizes: ClassVar[tuple[int, ...]] = ()
    #: Whether the selected features are ordered, where that takes time.
    orders_features: bool = True
    #: Sets of fewer features than this are not needed of the order.
    orders_down_to: int = 1
    #: Up to so many rows a search draws nothing from a seed.
    n_rows_unseeded: ClassVar[int] = 0
    #: Whether few rows are put in the order of their contents first, as places of rows decide what is drawn.
    orders_rows: ClassVar[bool] = False
    #: What a step is called in the progress bar.
    step_name: ClassVar[str] = "step"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "time_limit": [POSITIVE, None],
        "n_jobs": [COUNT, Interval(Integral, None, -1, closed="right"), None],
        "verbose": ["verbose"],
    }
    time_limit: float | None
    n_jobs: int | None
    verbose: int

    def select(
        self, measure: Any, X: Any, y: Any, k: int, *, sample_weight: Any = None, random_state: Any = None
    ) -> Any:
        """Choose ``k`` features of X.

        Parameters
        ----------
        measure : Measure
            For instance `SquaredMutualInformation`.
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        k : int
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows: a row of weight 2 counts as two copies of it. None is 1.
        random_state : int, RandomState instance or None, default=None
            None takes that of the measure.

        Returns
        -------
        selection : Selection
        """
        self._validate_params()
        check_measure(measure)
        budget = Budget(self.time_limit)
        resources = Resources(n_jobs=effective_n_jobs(self.n_jobs))
        measure, rows = read_rows_for(measure, X, y, sample_weight, resources)
        table = rows.table
        if is_large_sparse(table):
            raise ValueError(
                f"X is sparse with {table.n_rows:,} rows and {table.n_columns:,} columns, too many to search "
                "all columns: use FeatureSelector, which first chooses the columns with the largest effects."
            )
        random_state = measure.random_state if random_state is None else random_state
        problem = measure.bind(rows.table, rows.target, random_state)
        self.check(measure, problem)
        return self.search(problem, k, budget)

    def check(self, measure: Any, problem: Any) -> None:
        """Check that a bound measure has what this strategy needs.

        Parameters
        ----------
        measure : Measure
        problem : MeasureProblem
        """
        check_needs(self, measure, missing_members(self.needs, problem))

    def search(
        self, problem: Any, k: int, budget: Budget | None = None, constraints: Constraints | None = None
    ) -> Any:
        """Choose ``k`` features of a measure that is bound to data.

        Parameters
        ----------
        problem : MeasureProblem
            The result of the measure's ``bind``.
        k : int
            Between 1 and the number of features.
        budget : Budget or None
            The clock, where it runs already.
        constraints : Constraints or None
            Which sets are allowed; ``k`` then counts their units.

        Returns
        -------
        selection : Selection
        """
        self._validate_params()
        k = check_count("k", k, problem.n_features)
        budget = budget or Budget(self.time_limit)
        run: Any = self if constraints is None else self._within(constraints)
        with (
            limited(budget),
            single_threaded_blas(),
            Progress(run._n_steps(problem, k), self.verbose, self.step_name) as progress,
        ):
            state: Any = run._start(problem, k)
            data: Any = None
            try:
                data = run._prepare(self._load(problem))
                # The one interruptible loop of all strategies.
                for done in run._steps(data, k, state, budget):
                    if isinstance(done, Begin):
                        progress.begin(done.task)
                        continue
                    progress.advance(done.score, steps=done.n_steps)
                    if budget.spent() and not state.finished:
                        state.reason = StopReason.TIME_LIMIT
                        break
                    if tell(done.best, done.score) and not state.finished:
                        state.reason, budget.cancelled = StopReason.CALLBACK, True
                        break
                progress.begin("ordering the features")
                return self._answer(run, problem, data, k, state, budget, ended=True)
            except OutOfTimeError:
                state.reason = StopReason.TIME_LIMIT
            except KeyboardInterrupt:
                if data is None or not state.has_answer:
                    raise
                budget.cancelled = True
                state.reason = StopReason.INTERRUPTED
            return self._answer(run, problem, data, k, state, budget)

    def _answer(
        self, run: Any, problem: Any, data: Any, k: int, state: Any, budget: Budget, *, ended: bool = False
    ) -> Any:
        """The selection that a state stands for, or one by correlation where there is no time for that."""
        found = None
        # A search that has nothing to compare ends without an answer of its own.
        if data is not None and (ended or state.has_answer):
            try:
                with limited(budget.with_grace()):
                    found = run._result(data, k, state, budget)
            except OutOfTimeError:
                found = None
        budget.check_outer()
        if found is not None:
            return found
        reason = StopReason.INTERRUPTED if budget.cancelled else StopReason.UNSCORED
        if state.reason == StopReason.CALLBACK:
            reason = state.reason
        return run._unscored(problem, k, reason)

    def _unscored(self, problem: Any, k: int, reason: str) -> Selection:
        """The features that are most correlated with the target."""
        priority = correlations(problem)
        order = best_first(priority)
        support = np.zeros(problem.n_features, dtype=bool)
        support[order[:k]] = True
        return self._without_scores(reason, support=support, ranking=rank(support, priority), order=order)

    def _without_scores(self, reason: str, **chosen: Any) -> Selection:
        """A selection whose scores there was no time for: NaN."""
        return Selection(score=np.nan, path=(), stop_reason=reason, **chosen)

    def _within(self, constraints: Constraints) -> Any:
        """The same search among the sets that constraints allow: has the methods of its steps."""
        raise ValueError(
            f"{type(self).__name__} does not support must_include, must_exclude, feature_groups, costs or "
            "covariates: leave them out, or use another strategy such as L1Path."
        )

    def size_for_order(self, most: int) -> int:
        """How many features to search for, in order to have sets of all sizes up to ``most``.

        Parameters
        ----------
        most : int

        Returns
        -------
        k : int
        """
        return most

    def quick(self) -> Any:
        """The same strategy for a search on a part of the rows: silent, in one thread, without a clock.

        Returns
        -------
        strategy : Strategy
        """
        given = {"verbose": 0, "n_jobs": None, "time_limit": None}
        return clone(self).set_params(**{name: given[name] for name in given if hasattr(self, name)})

    def _load(self, problem: Any) -> Any:
        """Read out-of-core rows into memory if they can be cached: many sets will be scored."""
        table = problem.table
        if table.in_memory or 8 * table.n_rows * table.n_columns > table.cache_bytes():
            return problem
        return problem.on_rows(np.arange(table.n_rows))

    def _prepare(self, problem: Any) -> Any:
        """What the search works with: the problem, unless a strategy needs more."""
        return problem

    def _start(self, problem: Any, k: int) -> Any:
        """The state of a search that has not begun."""
        raise NotImplementedError

    def _n_steps(self, problem: Any, k: int) -> int:
        """Steps of the whole search."""
        raise NotImplementedError

    def _steps(self, problem: Any, k: int, state: Any, budget: Budget) -> Iterator[Advance | Begin]:
        """Go on from a state, and yield after every step."""
        raise NotImplementedError

    def _result(self, problem: Any, k: int, state: Any, budget: Budget) -> Selection:
        """The selection that a state stands for."""
        raise NotImplementedError
