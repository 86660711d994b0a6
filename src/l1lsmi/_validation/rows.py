"""Rows with their targets and weights, in the form in which a fit uses them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit

from l1lsmi._arrays import Array, HostArray, take_rows
from l1lsmi._numerics.target import Target
from l1lsmi._rows.content import has_order, order_by_content
from l1lsmi._rows.distinct import (
    Arrangement,
    are_continuous,
    arrange,
    arranged,
    hashes_in_memory,
    key_hashes,
    key_numbers,
    row_hashes,
)
from l1lsmi._rows.levels import in_order_of, level_totals, renumbered
from l1lsmi._rows.table import Resources, RowTable, Table
from l1lsmi._validation.columns import Columns, numbers_of_frame
from l1lsmi._validation.constraints import check_covariates
from l1lsmi._validation.features import (
    check_features,
    check_same_rows,
    check_varying,
    require_target,
    tell_features,
)
from l1lsmi._validation.folds import given_folds
from l1lsmi._validation.tables import check_columns, make_table
from l1lsmi._validation.target import check_target, plain_target, target_names
from l1lsmi._validation.weights import check_enough_rows, check_sample_weight, class_factors

#: Numbers of every row by name, from the number of rows and their targets.
Beside: TypeAlias = Callable[[int, HostArray | None], Mapping[str, HostArray]]


class Rows(NamedTuple):
    """What a fit works with.

    Attributes
    ----------
    table : RowTable
    target : Target or None
    beside : dict of str to numpy.ndarray
        Further numbers of every row.
    as_given : callable
        Gives the same rows without weights, in the order in which they were given, and their target.
    arrangement : Arrangement or None
        None where rows are as they were given.
    """

    table: Any
    target: Target | None
    beside: dict[str, HostArray]
    as_given: Callable[[], tuple[RowTable, Target | None]]
    arrangement: Arrangement | None

    @property
    def weights(self) -> HostArray | None:
        """Weights of the rows; None if they are equal."""
        return None if self.arrangement is None else self.arrangement.weights


class GivenRows(NamedTuple):
    """Targets and weights of rows as they were given, checked.

    Attributes
    ----------
    n_rows : int
    y : numpy.ndarray or None
    names : list of str or None
        Of several targets.
    weights : numpy.ndarray of float or None
    factors : numpy.ndarray of float or None
        Weights of the classes of the rows.
    beside : dict of str to numpy.ndarray
    """

    n_rows: int
    y: HostArray | None
    names: list[str] | None
    weights: HostArray | None
    factors: HostArray | None
    beside: dict[str, HostArray]

    @classmethod
    def of(
        cls,
        n_rows: int,
        target: Any,
        task: str,
        sample_weight: Any,
        class_weight: Any,
        beside: Beside,
    ) -> GivenRows:
        """Check target and weights; ``target`` is None where none is used."""
        y = None if target is None else plain_target(target, task)
        names = None if target is None else target_names(target, task)
        if y is not None:
            check_same_rows(n_rows, len(y))
        weights = check_sample_weight(sample_weight, n_rows)
        if weights is not None:
            check_enough_rows(int(np.count_nonzero(weights)))
        factors = None
        if class_weight is not None and y is not None:
            counted = y if weights is None else y[weights > 0]
            numeric = not check_target(counted, task).is_classification
            factors = class_factors(class_weight, y, weights, numeric)
        return cls(n_rows, y, names, weights, factors, dict(beside(n_rows, y)))

    def keys(self) -> HostArray:
        """Numbers that two equal rows have in common beside their features, (n, e)."""
        parts = [np.empty((self.n_rows, 0))]
        if self.y is not None:
            counted = slice(None) if self.weights is None else self.weights > 0
            numbers = key_numbers(self.y[counted])
            of_rows = np.zeros((self.n_rows, numbers.shape[1]))
            of_rows[counted] = numbers
            parts.append(of_rows)
        parts += [
            np.asarray(values, dtype=np.float64).reshape(self.n_rows, -1) for values in self.beside.values()
        ]
        return np.hstack(parts)

    def arranged(
        self, arrangement: Arrangement | None, task: str
    ) -> tuple[Target | None, dict[str, HostArray]]:
        """Target and numbers of the rows of an arrangement."""
        weights = None if arrangement is None else arrangement.weights
        target: Target | None = None
        if self.y is not None:
            target = check_target(arranged(self.y, arrangement), task, weights, self.names)
        return target, {name: arranged(values, arrangement) for name, values in self.beside.items()}

    def arranged_by_content(
        self, arrangement: Arrangement, task: str
    ) -> tuple[Target | None, dict[str, HostArray]]:
        """The same where the names of classes do not matter either."""
        target, numbers = self.arranged(arrangement, task)
        return None if target is None else target.with_classes_as_met(), numbers

    def as_given(self, arrangement: Arrangement, target: Target | None, task: str) -> Target | None:
        """The target of the rows of an arrangement, without weights and in the order given."""
        if target is None or self.y is None:
            return None
        known = "classification" if target.is_classification else "regression"
        if target.parts or target.hazard is not None:
            known = task
        return check_target(self.y[np.sort(arrangement.rows)], known, names=self.names)


def nothing_beside(n_rows: int, y: HostArray | None) -> Mapping[str, HostArray]:
    """No further numbers of rows."""
    return {}


def read_rows(
    X: Any,
    y: Any,
    task: str,
    *,
    estimator: Any = None,
    resources: Resources | None = None,
    sample_weight: Any = None,
    class_weight: Any = None,
    beside: Beside = nothing_beside,
    uses_target: bool = True,
    any_kind: bool = True,
    categorical: Any = "from_dtype",
    missing: str = "auto",
    by_content: bool = False,
) -> Rows:
    """Check features, target and weights of rows in memory.

    Parameters
    ----------
    X, y : array-like
    task : str
    estimator : estimator or None
        Gets the number and the names of the features.
    resources : Resources or None
    sample_weight : array-like of shape (n,) or None
    class_weight : dict, "balanced" or None
    beside : callable
        Further numbers of every row: rows are equal if these are equal too.
    uses_target : bool
    any_kind : bool
        Whether columns may be categories and have missing values.
    categorical : "from_dtype", None, or columns
        Which are categories.
    missing : {"auto", "ignore", "value"}
    by_content : bool
        Whether few rows are put in the order of their contents.

    Returns
    -------
    Rows
    """
    if uses_target:
        require_target(y, estimator)
    columns: Columns | None = None
    if any_kind:
        x, columns = check_columns(X, estimator, categorical)
    elif type(X).__module__.startswith("pyarrow"):
        found = numbers_of_frame(X)
        x = check_features(found.x)
        if estimator is not None:
            tell_features(estimator, x.shape[1], found.names)
    else:
        x = check_features(X, estimator, sparse=True)
    n_rows, used = int(x.shape[0]), y if uses_target else None
    given = GivenRows.of(n_rows, used, task, sample_weight, class_weight, beside)
    if columns is not None and any(columns.levels) and _may_be_merged(x, given):
        columns = _numbered_by_weight(columns, given)
        x = columns.x
        if estimator is not None:
            estimator.categories_ = columns.levels if any(columns.levels) else None
    arrangement = _arrangement(x, given)
    target, numbers = given.arranged(arrangement, task)
    make = partial(make_table, resources=resources or Resources(), missing=missing)
    if arrangement is None:
        table = make(x, columns, target, None)
    else:
        table = make(*_rows_of(x, columns, arrangement.rows), target, arrangement.weights)
    if by_content and target is not None and has_order(table.n_rows, table.n_columns):
        arrangement = in_order_of_content(table, target, arrangement, row_hashes(x, given.keys()))
        target, numbers = given.arranged_by_content(arrangement, task)
        table = make(*_rows_of(x, columns, arrangement.rows), target, arrangement.weights)
    if arrangement is None:
        return Rows(table, target, numbers, lambda: (table, target), None)

    def as_given() -> tuple[Table, Target | None]:
        unweighted = given.as_given(arrangement, target, task)
        return make(*_rows_of(x, columns, np.sort(arrangement.rows)), unweighted, None), unweighted

    return Rows(table, target, numbers, as_given, arrangement)


def in_order_of_content(
    table: RowTable, target: Target, arrangement: Arrangement | None, hashes: HostArray
) -> Arrangement:
    """The rows of an arrangement, of which table and target are given, in the order of their contents.

    ``hashes`` are those of the rows that were given.
    """
    found = arrangement or Arrangement(np.arange(table.n_rows), None)
    return found.taken(order_by_content(table, target, hashes[found.rows]))


def read_rows_for(
    measure: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    resources: Resources | None = None,
    covariates: Any = None,
) -> tuple[Any, Rows]:
    """Rows in memory as a measure uses them, and the measure with folds of these rows.

    Parameters
    ----------
    measure : Measure
    X, y : array-like
    sample_weight : array-like of shape (n,) or None
    resources : Resources or None
    covariates : array-like or None

    Returns
    -------
    measure : Measure
    rows : Rows
    """
    beside = partial(_beside_measure, getattr(measure, "cv", 1), measure.task, covariates)
    rows = read_rows(X, y, measure.task, resources=resources, sample_weight=sample_weight, beside=beside)
    check_varying(rows.table)
    if rows.arrangement is not None and "folds" in rows.beside:
        measure = clone(measure).set_params(cv=PredefinedSplit(rows.beside["folds"]))
    return measure, rows


def _beside_measure(
    cv: Any, task: str, covariates: Any, n_rows: int, y: HostArray | None
) -> dict[str, HostArray]:
    folds = None if y is None else given_folds(cv, n_rows, y, task)
    values = None if covariates is None else check_covariates(covariates, n_rows)
    found = {"folds": folds, "covariates": values}
    return {name: value for name, value in found.items() if value is not None}


def _arrangement(x: Array, given: GivenRows) -> Arrangement | None:
    keys = given.keys()
    if given.weights is None or (given.weights == 1).all():
        hashes = hashes_in_memory(x, keys)
    else:
        hashes = row_hashes(x, keys)
    return arrangement_of(hashes, given, int(x.shape[1]), lambda rows: are_continuous(x, rows, keys))


def _may_be_merged(x: Array, given: GivenRows) -> bool:
    """Whether rows have weights, or some are equal."""
    return given.weights is not None or hashes_in_memory(x, given.keys()) is not None


def _numbered_by_weight(columns: Columns, given: GivenRows) -> Columns:
    """Levels numbered by falling weight, as those of copies of the rows are by their frequency."""
    categories = [j for j, some in enumerate(columns.levels) if some]
    n_levels = np.array([len(columns.levels[j] or []) for j in categories], dtype=np.intp)
    of_keys = key_hashes(given.keys())
    totals = level_totals(columns.x, np.array(categories, dtype=np.intp), n_levels, given.weights, of_keys)
    numbers, levels = totals.numbers(), list(columns.levels)
    for i, j in enumerate(categories):
        # Levels of rows that do not count are last, and not there.
        n_used = np.count_nonzero(totals.weights[i])
        levels[j] = in_order_of(numbers[i], levels[j] or [])[:n_used]
    return replace(
        columns, x=renumbered(columns.x, np.array(categories, dtype=np.intp), numbers), levels=levels
    )


def arrangement_of(
    hashes: HostArray | None, given: GivenRows, n_columns: int, judge: Callable[[HostArray], bool]
) -> Arrangement | None:
    """The arrangement of rows with given hashes, None if they all differ; None where nothing changes."""
    found = None if hashes is None else arrange(hashes, given.weights, n_columns, judge)
    if given.factors is not None:
        found = (found or Arrangement(np.arange(given.n_rows), None)).times(given.factors)
    if found is not None:
        check_enough_rows(found.rows.size)
    return found


def _rows_of(x: Array, columns: Columns | None, rows: HostArray) -> tuple[Array, Columns | None]:
    if np.array_equal(rows, np.arange(x.shape[0])):
        return x, columns
    some = take_rows(x, rows)
    return some, None if columns is None else replace(columns, x=some)
