"""What every selector shares: checks before, learned attributes after, and the scikit-learn contract."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import Interval, RealNotInt
from sklearn.utils.validation import check_is_fitted

from l1lsmi._arrays import HostArray, asarray_like, is_non_numpy, namespace
from l1lsmi._numerics.constraints import Constraints
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Resources, Table
from l1lsmi._validation.constraints import check_constraints, check_n_units, check_selectable
from l1lsmi._validation.features import (
    check_features,
    check_supports_out_of_core,
    check_target_of,
    check_varying,
    check_xy,
    tell_features,
)
from l1lsmi._validation.parameters import check_share
from l1lsmi._warnings import DataWarning, data_warnings
from l1lsmi.sources import computed_targets, is_out_of_core, open_rows, select_columns


class Selector(SelectorMixin, BaseEstimator):
    """Base of all selectors: a subclass learns from checked data in `_learn`.

    Nothing is kept of a fit that fails, and arrays stay in their library and on their device.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            None,
        ],
    }
    n_features_to_select: int | float | str | None
    support_: HostArray
    warnings_: list[str]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Select the features of X that are most informative about y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NumPy, pandas, polars, or any array API library such as torch. Selectors that support
            out-of-core data also take rows that are not in memory: see `l1lsmi.sources.open_rows`.
        y : array-like of shape (n_samples,)
            The target; of a file or dataframe that is not in memory, the name of its column.

        Returns
        -------
        self : object
        """
        return self._fit(X, y)

    def _fit(self, X: Any, y: Any, **given: Any) -> Self:
        """Check X and y, and learn from them and from what else a selector takes."""
        self._validate_params()
        # A copy gets the names of the features first: nothing is kept of a fit that fails.
        checked = clone(self)
        table, target = self._read(X, y, checked)
        names = getattr(checked, "feature_names_in_", None)
        constraints = check_constraints(self, table.n_columns, names)
        k = self._n_selected(table.n_columns) if constraints is None else self._n_units(constraints)
        if constraints is not None:
            check_selectable(constraints, table.varying)
            given["constraints"] = constraints
        check_varying(table)
        # First: the rows of the sample that is read for it are used again in the search.
        found = self._find_warnings(table, target, names)
        learned = self._learn(table, target, k, **given)
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        self.n_features_in_ = checked.n_features_in_
        if hasattr(checked, "feature_names_in_"):
            self.feature_names_in_ = checked.feature_names_in_
        for name, value in learned.items():
            setattr(self, f"{name}_", value)
        self.warnings_ = [*found, *self._evidence_warnings()]
        if self.warnings_:
            warnings.warn(" ".join(self.warnings_), DataWarning, stacklevel=3)
        self._after_fit()
        return self

    def _n_selected(self, n_features: int) -> Any:
        """The number of features to select."""
        return check_share("n_features_to_select", self.n_features_to_select, n_features)

    def _n_units(self, constraints: Constraints) -> int | None:
        """The number of units to select, where constraints are given."""
        return check_n_units(self.n_features_to_select, constraints)

    def _find_warnings(self, table: Any, target: Target | None, names: Any) -> list[str]:
        """What has to be said about the data, one sentence each."""
        return [] if target is None else data_warnings(table, target, names)

    def _evidence_warnings(self) -> list[str]:
        """What has to be said about the selection once everything is stored, one sentence each."""
        return []

    def _read(self, X: Any, y: Any, checked: Selector) -> tuple[Any, Target | None]:
        """Check X and y: a table of features, and what is to be predicted."""
        if is_out_of_core(X):
            check_supports_out_of_core(self, X, self._supports_out_of_core())
            opened = open_rows(X, y, self._resources())
            tell_features(checked, opened.table.n_columns, opened.names)
            return opened.table, check_target_of(opened.table.n_rows, opened.y, self._task())
        if isinstance(X, Iterator):
            raise ValueError(
                f"X is a {type(X).__name__}, which can be read only once: pass a function that returns "
                "a new iterator of blocks each time."
            )
        target: Target | None = None
        y = computed_targets(y)
        if self._uses_target():
            X, target = check_xy(X, y, self._task(), checked)
        else:
            X = check_features(X, checked)
        return Table.of(X, self._resources()), target

    def _supports_out_of_core(self) -> bool:
        """Whether rows that are not in memory will do."""
        return False

    def _resources(self) -> Resources:
        """What may be spent on working with rows."""
        return Resources()

    def _uses_target(self) -> bool:
        return True

    def _task(self) -> str:
        return str(getattr(self, "task", "auto"))

    def _learn(self, table: Table, target: Any, k: Any) -> Mapping[str, Any]:
        """Learned attributes by name, without the trailing underscore; one is ``support``."""
        raise NotImplementedError

    def _after_fit(self) -> None:
        """Say what has to be said once everything is stored."""

    def transform(self, X: Any) -> Any:
        """Keep the selected features of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Also a dask array or dataframe, which stays one.

        Returns
        -------
        X_selected : array of shape (n_samples, n_selected)
        """
        if is_out_of_core(X):
            check_is_fitted(self)
            return select_columns(
                X,
                np.flatnonzero(self.support_),
                self.n_features_in_,
                getattr(self, "feature_names_in_", None),
            )
        if not is_non_numpy(X):
            return super().transform(X)
        check_is_fitted(self)
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got X with shape {tuple(X.shape)}: one row per sample.")
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has shape {tuple(X.shape)}, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return namespace(X).take(X, asarray_like(np.flatnonzero(self.support_), X), axis=1)

    def _get_support_mask(self) -> HostArray:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._uses_target()
        return tags
