"""What every strategy shares: what it needs of a measure, and how it is run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from numbers import Integral, Real
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval

from l1lsmi._arrays import HostArray, steadily, steady_blas
from l1lsmi._rows.table import Means, Table
from l1lsmi._validation.features import check_varying, check_xy
from l1lsmi._validation.parameters import check_count, check_measure, check_needs
from l1lsmi.strategies.selection import Budget, Selection

COUNT = Interval(Integral, 1, None, closed="left")

T = TypeVar("T")


class Features(Protocol):
    """What all strategies need of a measure that is bound to data.

    ``columns`` are the features that vary.
    """

    @property
    def n_features(self) -> int: ...
    @property
    def columns(self) -> HostArray: ...


class Strategy(BaseEstimator):
    """Base of all strategies: a subclass says in ``needs`` what it asks of a bound measure.

    Its search is in ``_search``.
    """

    #: Names of what a bound measure must have for this strategy.
    needs: ClassVar[tuple[str, ...]] = ()
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "n_jobs": [COUNT, Interval(Integral, None, -1, closed="right"), None],
        "verbose": ["verbose"],
    }
    time_limit: float | None
    n_jobs: int | None
    verbose: int

    def select(self, measure: Any, X: Any, y: Any, k: int, *, random_state: Any = None) -> Any:
        """Choose ``k`` features of X.

        Parameters
        ----------
        measure : Measure
            For instance `SquaredMutualInformation`.
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        k : int
        random_state : int, RandomState instance or None, default=None
            None takes that of the measure.

        Returns
        -------
        selection : Selection
        """
        self._validate_params()
        check_measure(measure)
        X, target = check_xy(X, y, measure.task)
        table = Table.of(X, Means(n_jobs=effective_n_jobs(self.n_jobs)))
        check_varying(table)
        random_state = measure.random_state if random_state is None else random_state
        problem = measure.bind(table, target, random_state)
        check_needs(self, measure, problem)
        return self.search(problem, k)

    def search(self, problem: Any, k: int, budget: Budget | None = None) -> Any:
        """Choose ``k`` features of a measure that is bound to data.

        Parameters
        ----------
        problem : MeasureProblem
            What the measure's ``bind`` gives.
        k : int
            Between 1 and the number of features.
        budget : Budget or None
            The clock, where it runs already.

        Returns
        -------
        selection : Selection
        """
        self._validate_params()
        k = check_count("k", k, problem.n_features)
        budget = budget or Budget(self.time_limit)
        with steady_blas():
            return self._search(self._at_hand(problem), k, budget)

    def _at_hand(self, problem: Any) -> Any:
        """Take rows into memory that are elsewhere and small enough to be kept: many sets will be scored."""
        table = getattr(problem, "table", None)
        if table is None or isinstance(table, Table) or not hasattr(problem, "on_rows"):
            return problem
        if 8 * table.n_rows * table.n_columns > table.means.kept_bytes():
            return problem
        return problem.on_rows(np.arange(table.n_rows))

    def _search(self, problem: Any, k: int, budget: Budget) -> Selection:
        raise NotImplementedError


def cluster_of(problem: Any) -> Any:
    """Where tasks of a problem can run: the cluster that its rows came from, if they are at hand now."""
    table = getattr(problem, "table", None)
    return table.means.cluster if isinstance(table, Table) else None


def n_at_a_time(problem: Any, n_jobs: int | None) -> int:
    """How many tasks `in_order` runs side by side."""
    cluster = cluster_of(problem)
    return int(effective_n_jobs(n_jobs) if cluster is None else cluster.width())


def in_order(
    function: Callable[[Any, Any], T], problem: Any, items: Iterable[Any], n_jobs: int | None
) -> Iterator[T]:
    """Run a function on a problem and each item, and yield the results in order.

    They run side by side in threads, by whatever backend of joblib is set, or on the cluster that the
    rows of the problem came from: the function must be one that can travel. Whoever stops early gets the
    same results wherever they ran: each depends on its item alone.
    """
    workers = effective_n_jobs(n_jobs)
    cluster = cluster_of(problem)
    items = iter(items)
    if cluster is not None:
        yield from cluster.in_order(function, problem, items)
    elif workers == 1:
        yield from (function(problem, item) for item in items)
    else:
        # Rows that are elsewhere are asked for from here: a task on a worker would wait for that worker.
        table = getattr(problem, "table", None)
        here = table is not None and not isinstance(table, Table)
        where = {"require": "sharedmem"} if here else {"prefer": "threads"}
        # One pool for all of them: some backends start processes for each.
        with Parallel(n_jobs=workers, **where) as parallel:
            while some := list(islice(items, workers)):
                yield from parallel(delayed(steadily)(function, problem, item) for item in some)
