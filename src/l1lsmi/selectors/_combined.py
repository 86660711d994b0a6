"""What selectors made of a measure and a strategy share."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from numbers import Integral
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from joblib import cpu_count, effective_n_jobs
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import PredefinedSplit
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from l1lsmi._arrays import HostArray
from l1lsmi._base import Selector
from l1lsmi._clock import Budget, OutOfTimeError, budget_in_force, limited
from l1lsmi._numerics.constraints import Constraints
from l1lsmi._rows.appended import append_columns
from l1lsmi._rows.table import PRECISIONS, Resources, is_large_sparse
from l1lsmi._validation.constraints import CONSTRAINT_PARAMETERS, check_covariates
from l1lsmi._validation.features import check_device
from l1lsmi._validation.folds import check_groups, given_folds, group_folds
from l1lsmi._validation.parameters import check_count, check_pool_of_sparse, check_prefix, seed_of
from l1lsmi._validation.rows import Rows
from l1lsmi._validation.tables import MISSING
from l1lsmi._validation.weights import CLASS_WEIGHTS
from l1lsmi.measures import Measure
from l1lsmi.measures._base import MeasureProblem
from l1lsmi.selectors._callbacks import CallbackSupportMixin, telling
from l1lsmi.selectors._resuming import check_same_fit, counts_of, remember_answer, resuming
from l1lsmi.strategies import L1Paper, L1Path, Strategy
from l1lsmi.strategies._base import COUNT, UNSEEDED_ROWS
from l1lsmi.strategies._pieces import known, recall
from l1lsmi.strategies._pools import selectable, without_covariates
from l1lsmi.strategies.judged import Validation
from l1lsmi.strategies.selection import STOPPED, StopReason
from l1lsmi.strategies.validation import CLEAR, search_validated

#: p-values above this are not evidence.
EVIDENCE = 0.05
NO_EVIDENCE = (
    "There is no evidence that the selected features predict y: in rows that the search has not seen, the "
    "p-value is {:.2g}."
)
NO_FEATURES = (
    "No features are selected: in rows that the search has not seen, the evidence that any predict y is too "
    "weak (the p-value is {:.2g})."
)


def pick(part: Any, *names: str) -> dict[str, list[Any]]:
    """Constraints that a part already puts on parameters which are handed through to it."""
    return {name: part._parameter_constraints[name] for name in names}


class PartsSelector(CallbackSupportMixin, Selector):
    """A selector made of a measure and a strategy, with a memory limit, a device and a precision."""

    #: Whether the selected features are ordered, which takes about a third of the time of a search.
    _orders_features = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [
            *Selector._parameter_constraints["n_features_to_select"],
            StrOptions({"auto"}),
        ],
        "pool": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "p_value": ["boolean"],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "missing": [StrOptions(set(MISSING))],
        "class_weight": CLASS_WEIGHTS,
        "memory_limit": [Interval(Integral, 1, None, closed="left"), None],
        "device": [str, None],
        "precision": [StrOptions(set(PRECISIONS))],
        "random_state": ["random_state"],
        "checkpoint": [str, PathLike, None],
        "warm_start": ["boolean"],
        "callbacks": [callable, list, tuple, None],
        **CONSTRAINT_PARAMETERS,
    }
    pool: int | str | None
    p_value: bool
    class_weight: Any
    memory_limit: int | None
    device: str | None
    precision: str
    random_state: Any
    checkpoint: str | PathLike[str] | None
    warm_start: bool
    callbacks: Any
    stop_reason_: str
    p_value_: float | None
    order_: HostArray
    order_sizes_: HostArray | None
    n_covariates_: int
    ranking_: HostArray
    validation_: Validation | None
    frequency_: HostArray | None
    pool_size_: int
    path_: list[Any]

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None, covariates: Any = None
    ) -> Self:
        """Select the features of X that are most informative about y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NumPy, pandas, polars, a sparse matrix of SciPy, or any array API library such as torch.
            Selectors that support out-of-core data also take rows that are not in memory: see
            `l1lsmi.sources.open_rows`.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The target, or several: numbers, classes, or a dataframe of both. A structured array of events
            (bool) and times is a survival target. For a file or dataframe that is not in memory, the name of
            the column, or a list of names.
        sample_weight : array-like of shape (n_samples,), str or None, default=None
            Weights of the rows: a row of weight 2 counts as two copies of it, one of weight 0 is left out.
            For a file or dataframe that is not in memory, the name of the column of weights. None is 1.
        groups : array-like of shape (n_samples,) or None, default=None
            Rows with the same value belong together, such as the samples of a patient: they are never split
            between folds, or between rows that a search uses and rows that test its result.
        covariates : array-like of shape (n_samples,) or (n_samples, n_covariates), or None, default=None
            Numbers such as batch, age and sex that the target may depend on: features are selected for what
            they add to the covariates. Covariates are part of every set that is compared, but are neither
            selected nor counted; their own score is subtracted from scores.

        Returns
        -------
        self : object
        """
        self._validate_params()
        with resuming(self), telling(self, X, y):
            return self._fit(X, y, sample_weight, groups=groups, covariates=covariates)

    def support_for(self, k: int) -> HostArray:
        """The set of another number of features, from the same fit.

        Parameters
        ----------
        k : int
            Between 0 and the number of features. With constraints, between the number of features in
            ``must_include`` and the largest number that the constraints allow; k counts groups if these are
            selected as a whole.

        Returns
        -------
        support : numpy.ndarray of bool, shape (n_features,)
            Each set contains all smaller ones.
        """
        check_is_fitted(self, "order_")
        if self.order_sizes_ is None:
            k = 0 if k == 0 else check_count("k", k, self.order_.size)
        else:
            k = check_prefix(k, self.order_sizes_)
        support = np.zeros(self.support_.size, dtype=bool)
        support[self.order_[:k]] = True
        return support

    def _n_selected(self, n_features: int) -> Any:
        return None if self.n_features_to_select == "auto" else super()._n_selected(n_features)

    def _choose_columns(self, table: Any, target: Any, k: Any) -> tuple[Any, list[str]]:
        # The search is restricted to a pool.
        return table, []

    def _read(
        self,
        X: Any,
        y: Any,
        checked: Selector,
        sample_weight: Any = None,
        given: Mapping[str, Any] | None = None,
    ) -> Rows:
        rows = super()._read(X, y, checked, sample_weight, given)
        return rows if self.device is None else rows._replace(table=check_device(rows.table, self.device))

    def _beside(self, given: Mapping[str, Any], n_rows: int, y: HostArray | None) -> Mapping[str, HostArray]:
        groups = check_groups(given.get("groups"), n_rows)
        folds, cv = None, getattr(self._make_measure(), "cv", None)
        if cv is not None and y is not None:
            folds = given_folds(cv, n_rows, y, self._task())
        covariates = given.get("covariates")
        if covariates is not None:
            covariates = check_covariates(covariates, n_rows)
        found = {"groups": groups, "folds": folds, "covariates": covariates}
        return {name: value for name, value in found.items() if value is not None}

    def _takes_any_kind(self) -> bool:
        return True

    def _orders_rows(self) -> bool:
        return bool(self._make_strategy().orders_rows)

    def _resources(self) -> Resources:
        # A cluster may have more workers; threads share the rows of this process.
        n_threads = min(effective_n_jobs(self._n_jobs()), cpu_count())
        return Resources(self.memory_limit, n_threads, precision=self.precision)

    def _n_jobs(self) -> int | None:
        """Number of threads."""
        raise NotImplementedError

    def _learn(
        self,
        table: Any,
        target: Any,
        k: Any,
        groups: Any = None,
        folds: Any = None,
        covariates: Any = None,
        constraints: Constraints | None = None,
    ) -> dict[str, Any]:
        measure, strategy = self._make_measure(), self._make_strategy()
        if not self._orders_features:
            strategy = clone(strategy)
            strategy.orders_features = False
        groups = check_groups(groups, table.n_rows)
        check_same_fit(self, table, target, {"groups": groups, "cv": folds, "covariates": covariates})
        n_features = table.n_columns
        if covariates is not None:
            table = append_columns(table, covariates, target.row_weights)
            constraints = (constraints or Constraints.of(n_features)).beside(covariates.shape[1])
        if folds is not None:
            measure = clone(measure).set_params(cv=PredefinedSplit(folds))
        elif groups is not None and "cv" in measure.get_params():
            measure = clone(measure).set_params(cv=group_folds(measure.cv, groups))
        pool = check_pool_of_sparse(self.pool, k, table) if is_large_sparse(table) else self.pool
        if folds is not None and pool == "auto" and table.n_columns <= table.n_rows:
            pool = None  # unseen rows know nothing of folds that are given
        exactly = k is not None and (constraints is None or not constraints.has_budget)
        if isinstance(self.pool, Integral) and exactly and self.pool < k:
            raise ValueError(
                f"pool={self.pool} has fewer columns than the {k} features to select: pass a larger number, "
                '"auto" or None.'
            )
        random_state = measure.random_state if self.random_state is None else self.random_state
        if table.n_rows <= strategy.n_rows_unseeded:
            seed_of(random_state)  # checks it
            random_state = 0
        elif not isinstance(random_state, Integral):
            # One that a search which goes on has, too.
            random_state = recall("seed", None, partial(seed_of, random_state))
        budget = budget_in_force() or Budget(self._time_limit())
        try:
            with limited(budget):
                problem = measure.bind(table, target, random_state)
                problem = problem if covariates is None else problem.beside(covariates)
        except OutOfTimeError:
            # The search, which ends at once, needs no more than columns as they are.
            with limited(budget.outer):
                measure = clone(measure)
                measure.set_params(**({"tails": "keep"} if "tails" in measure.get_params() else {}))
                problem = measure.bind(table, target, random_state)
        strategy.check(measure, problem)
        bind = partial(_bound_to, measure, random_state)
        seed = 0 if table.n_rows <= UNSEEDED_ROWS else seed_of(random_state)
        options: dict[str, Any] = {
            "p_value": self.p_value,
            "groups": groups,
            "seed": seed,
            "constraints": constraints,
        }
        asked = [k, counts_of(self), self._orders_features]
        learned = known("answer", asked)
        if learned is None:
            found = search_validated(bind, strategy, problem, k, pool, budget=budget, **options)
            learned = self._learned(*found, problem, pool, n_features, constraints)
            if learned["stop_reason"] not in STOPPED:
                remember_answer(asked, learned)
        return self._rename(learned)

    def _learned(
        self,
        selection: Any,
        validation: Validation | None,
        problem: Any,
        pool: Any,
        n_features: int,
        constraints: Constraints | None,
    ) -> dict[str, Any]:
        """Learned attributes by name."""
        n_columns = problem.table.n_columns
        if n_columns > n_features:
            selection, validation = without_covariates(selection, validation, n_features)
        learned = {field.name: getattr(selection, field.name) for field in fields(selection)}
        learned["path"] = list(selection.path)
        learned["n_covariates"] = n_columns - n_features
        learned["validation"] = validation
        learned["frequency"] = None if validation is None else validation.frequency
        n_selectable = selectable(problem, constraints).size
        learned["order_sizes"] = None if constraints is None else constraints.prefix_sizes(selection.order)
        learned["pool_size"] = n_selectable if validation is None else validation.best_pool
        if isinstance(pool, Integral):
            learned["pool_size"] = min(int(pool), n_selectable)
        learned["p_value"] = selection.p_value if validation is None else validation.p_value
        if validation is None and selection.p_value >= CLEAR:
            learned["p_value"] = None
        return learned

    def _time_limit(self) -> float | None:
        limit: float | None = getattr(self._make_strategy(), "time_limit", None)
        return limit

    def _make_measure(self) -> Measure:
        raise NotImplementedError

    def _make_strategy(self) -> Strategy:
        raise NotImplementedError

    def _rename(self, learned: dict[str, Any]) -> dict[str, Any]:
        """Learned attributes under the names that this selector has for them."""
        return learned

    def _evidence_warnings(self) -> list[str]:
        if self.p_value_ is None:
            return []
        found = NO_EVIDENCE if self.support_.any() else NO_FEATURES
        if self.support_.any() and self.p_value_ <= EVIDENCE:
            return []
        told = found.format(self.p_value_)
        return [told if self.n_covariates_ == 0 else told.replace("predict y", "predict y beyond covariates")]

    def _after_fit(self) -> None:
        if self.stop_reason_ in STOPPED and self.stop_reason_ != StopReason.CALLBACK:
            warnings.warn(self.stop_reason_, ConvergenceWarning, stacklevel=4)


def _bound_to(measure: Measure, random_state: Any, problem: Any, rows: HostArray) -> Any:
    """The measure bound to some rows."""
    if type(problem).on_rows is not MeasureProblem.on_rows:
        return problem.on_rows(rows)
    return measure.bind(problem.table.rows_of(rows), problem.target.rows_of(rows), random_state)


#: Strategies by the name of their algorithm.
_ALGORITHMS: dict[str, type[Strategy]] = {"path": L1Path, "paper": L1Paper}
#: Parameters that a selector hands on to its strategy; of the first two, None is the strategy's default.
_HANDED = ("n_restarts", "max_iter", "time_limit", "explore_rows", "n_jobs", "verbose")


class L1Selector(PartsSelector):
    """A selector that weights features: hands its parameters on to `L1Path` or `L1Paper`."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PartsSelector._parameter_constraints,
        **pick(L1Path, "time_limit", "explore_rows", "n_jobs", "verbose"),
        "algorithm": [StrOptions(set(_ALGORITHMS))],
        "n_restarts": [COUNT, None],
        "max_iter": [COUNT, None],
    }
    algorithm: str
    n_jobs: int | None
    weights_: HostArray
    sigma_: float
    radius_: float
    n_iter_: int

    def _make_strategy(self) -> Strategy:
        handed = {name: getattr(self, name) for name in _HANDED}
        given = {k: v for k, v in handed.items() if v is not None or k not in ("n_restarts", "max_iter")}
        return _ALGORITHMS[self.algorithm](**given)

    def _supports_out_of_core(self) -> bool:
        return True

    def _n_jobs(self) -> int | None:
        return self.n_jobs
