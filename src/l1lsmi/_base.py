"""What every selector shares: checks before, learned attributes after, and the scikit-learn contract."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import Interval, RealNotInt
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_array, check_is_fitted

from l1lsmi._arrays import HostArray, asarray_like, is_non_numpy, namespace, with_zeros
from l1lsmi._clock import Budget, limited, while_time_is_left
from l1lsmi._numerics.constraints import Constraints
from l1lsmi._numerics.target import Target
from l1lsmi._numerics.terms.pool import by_single_effect
from l1lsmi._rows.table import DEFAULT_CACHED, Resources, Table, is_sparse_table
from l1lsmi._validation.columns import (
    has_complete_numbers_only,
    has_numbers_only,
    in_library,
    insert_columns,
    is_frame,
    take_columns,
)
from l1lsmi._validation.constraints import check_constraints, check_n_units, check_selectable
from l1lsmi._validation.features import (
    check_names,
    check_supports_out_of_core,
    check_varying,
    refuse_masked,
    refuse_not_finite,
    tell_features,
)
from l1lsmi._validation.lazy_frames import refuse_lazy
from l1lsmi._validation.parameters import CheckedParameters, check_share
from l1lsmi._validation.rows import Rows, read_rows
from l1lsmi._validation.sparse import frame_to_rows, is_sparse_frame, keeps_frames
from l1lsmi._warnings import DataWarning, data_warnings
from l1lsmi.sources import computed_targets, is_out_of_core, open_rows, select_columns
from l1lsmi.sources._first_pass import named_columns
from l1lsmi.sources.lazy import insert_zeros
from l1lsmi.sources.opening import as_table, split_named
from l1lsmi.sources.weighted import arrange_out_of_core

#: Values of a sparse table that may all be dense at a time, several times over.
MAX_DENSE_VALUES = 2**24
#: Of a sparse table with too many values: values of the columns to choose from, their number at least, and
#: how many features can be selected.
POOL_VALUES = 2**23
LEAST_POOL = 50
MOST_SELECTED = 500
#: Share of a time limit that the search for such columns may take, and what is said where that is too little.
SHARE_OF_WARNINGS = 0.5
NOT_LOOKED_FOR = (
    "The time limit left no time to look for columns that give away the target or are copies of others."
)


class Selector(SelectorMixin, CheckedParameters):
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
    #: Whether X may be sparse.
    _supports_sparse: ClassVar[bool] = True
    n_features_to_select: int | float | str | None
    #: Of selectors that have no such parameters.
    categorical_features: Any = "from_dtype"
    missing: str = "ignore"
    n_features_in_: int
    support_: HostArray
    categories_: list[Any] | None
    warnings_: list[str]

    if TYPE_CHECKING:
        # scikit-learn has no types: what it adds would be Any to a user's type checker.
        def get_support(self, indices: bool = False) -> HostArray: ...

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
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
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows: a row of weight 2 counts as two copies of it, one of weight 0 is left out.
            None is 1.

        Returns
        -------
        self : object
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any = None, **given: Any) -> Self:
        """Check X and y, and learn from them and from what else a selector takes."""
        self._validate_params()
        budget = Budget(self._time_limit())
        # A copy gets the names of the features first: nothing is kept of a fit that fails.
        checked = clone(self)
        rows = self._read(X, y, checked, sample_weight, given)
        table, target = rows.table, rows.target
        names = getattr(checked, "feature_names_in_", None)
        constraints = check_constraints(self, table.n_columns, names)
        k = self._n_selected(table.n_columns) if constraints is None else self._n_units(constraints)
        check_varying(table)
        # First: the rows of the sample that is read for it are used again in the search.
        found = [NOT_LOOKED_FOR]
        with while_time_is_left(budget.part(SHARE_OF_WARNINGS)):
            found = self._find_warnings(*rows.as_given(), names)
        table, said = self._choose_columns(table, target, k)
        beside: dict[str, Any] = dict(rows.beside)
        if target is None:
            beside["row_weights"] = rows.weights
        if constraints is not None:
            check_selectable(constraints, table.varying)
            beside["constraints"] = constraints
        with limited(budget):
            learned = self._learn(table, target, k, **beside)
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        self.n_features_in_ = checked.n_features_in_
        for name in ("feature_names_in_", "categories_"):
            if hasattr(checked, name):
                setattr(self, name, getattr(checked, name))
        for name, value in learned.items():
            setattr(self, f"{name}_", value)
        self.warnings_ = [*found, *said, *self._evidence_warnings()]
        if self.warnings_:
            warnings.warn(" ".join(self.warnings_), DataWarning, stacklevel=3)
        self._after_fit()
        return self

    def _time_limit(self) -> float | None:
        """Seconds that a fit may take, reading included; None is no limit."""
        return None

    def _n_selected(self, n_features: int) -> Any:
        """The number of features to select."""
        return check_share("n_features_to_select", self.n_features_to_select, n_features)

    def _max_dense_values(self, n_rows: int) -> int:
        """Values of a sparse table of so many rows, zeros included, from all of which it can be learned."""
        return MAX_DENSE_VALUES

    def _choose_columns(self, table: Any, target: Target | None, k: Any) -> tuple[Any, list[str]]:
        """The table that is learned from, and what has to be said about it.

        Of a sparse table that is too large to be made dense, the columns with the largest single effects;
        the others are left out as constant ones are.
        """
        n_values, most = table.n_rows * table.varying.size, self._max_dense_values(table.n_rows)
        if not is_sparse_table(table) or n_values <= most:
            return table, []
        what = f"X is sparse with {table.n_rows:,} rows and {table.varying.size:,} columns that vary"
        if target is None:
            raise ValueError(
                f"{what}, but without a target {type(self).__name__} takes at most {most:,} values (rows "
                "times columns): pass fewer columns, or X.toarray() if several copies of it fit into memory."
            )
        n_kept = min(table.varying.size, max(POOL_VALUES // table.n_rows, LEAST_POOL, 2 * k))
        if k > MOST_SELECTED:
            raise ValueError(
                f"{what}, from which {type(self).__name__} selects {MOST_SELECTED:,} features at most, but "
                f"{k:,} are asked for: pass a smaller n_features_to_select, or X.toarray() if it fits into "
                "memory."
            )
        kept = by_single_effect(table, target, table.varying)[:n_kept]
        scale = np.zeros_like(table.scale)
        scale[kept] = table.scale[kept]
        said = (
            f"{what}: {type(self).__name__} considers only the {n_kept:,} columns with the largest effects "
            "of their own."
        )
        return replace(table, scale=scale), [said]

    def _n_units(self, constraints: Constraints) -> int | None:
        """The number of units to select, where constraints are given."""
        return check_n_units(self.n_features_to_select, constraints)

    def _find_warnings(self, table: Any, target: Target | None, names: Any) -> list[str]:
        """What has to be said about the data, one sentence each."""
        return [] if target is None else data_warnings(table, target, names)

    def _evidence_warnings(self) -> list[str]:
        """What has to be said about the selection once everything is stored, one sentence each."""
        return []

    def _read(
        self,
        X: Any,
        y: Any,
        checked: Selector,
        sample_weight: Any = None,
        given: Mapping[str, Any] | None = None,
    ) -> Rows:
        """Check X, y and weights: a table of features, what is to be predicted, and what else rows have."""
        X = as_table(X)
        if self._names_columns(X, y, sample_weight) and not self._supports_out_of_core():
            X, y, sample_weight = split_named(X, y, sample_weight)
        beside = partial(self._beside, given or {})
        options: dict[str, Any] = {
            "class_weight": getattr(self, "class_weight", None),
            "beside": beside,
            "by_content": self._orders_rows(),
        }
        if is_out_of_core(X) and not self._reads_frame(X, y, sample_weight):
            check_supports_out_of_core(self, X, self._supports_out_of_core())
            kinds_given: Any = self.categorical_features if self._takes_any_kind() else "from_dtype"
            opened = open_rows(X, y, self._resources(), sample_weight, kinds_given)
            tell_features(checked, opened.table.n_columns, opened.names)
            rows, levels = arrange_out_of_core(opened, self._task(), missing=self.missing, **options)
            if self._takes_any_kind():
                checked.categories_ = levels
            return rows
        if isinstance(X, Iterator):
            raise ValueError(
                f"X is a {type(X).__name__}, which can be read only once: pass a function that returns "
                "a new iterator of blocks each time."
            )
        any_kind: dict[str, Any] = {}
        if self._takes_any_kind():
            any_kind = {"categorical": self.categorical_features, "missing": self.missing}
        return read_rows(
            X,
            computed_targets(y),
            self._task(),
            estimator=checked,
            resources=self._resources(),
            sample_weight=computed_targets(sample_weight),
            uses_target=self._uses_target(),
            any_kind=self._takes_any_kind(),
            **any_kind,
            **options,
        )

    def _beside(self, given: Mapping[str, Any], n_rows: int, y: HostArray | None) -> Mapping[str, HostArray]:
        """Numbers of every row, by name, that `_learn` gets beside the features and the target.

        Parameters
        ----------
        given : mapping of str to object
            What was given to `fit` beside X, y and weights.
        n_rows : int
        y : numpy.ndarray or None
            The target of all rows.
        """
        return {}

    def _names_columns(self, X: Any, y: Any, sample_weight: Any) -> bool:
        """Whether X is a table of pyarrow some of whose columns are the target or weights."""
        if type(X).__module__.startswith("pyarrow") and hasattr(X, "column_names"):
            check_names(X)
        if not is_out_of_core(X) or not is_frame(X):
            return False
        return isinstance(sample_weight, str) or named_columns(y, X.column_names) is not None

    def _reads_frame(self, X: Any, y: Any, sample_weight: Any) -> bool:
        """Whether a table of pyarrow is taken as it is in memory, rather than a batch of rows at a time."""
        if not is_frame(X) or self._names_columns(X, y, sample_weight):
            return False
        if X.num_rows * X.num_columns * 8 <= DEFAULT_CACHED and self._resources().memory_limit is None:
            return True
        return not (self._supports_out_of_core() and has_complete_numbers_only(X))

    def _takes_any_kind(self) -> bool:
        """Whether columns may be categories and have missing values."""
        return False

    def _orders_rows(self) -> bool:
        """Whether few rows are put in the order of their contents: no draw then depends on their places."""
        return False

    def _supports_out_of_core(self) -> bool:
        """Whether rows that are not in memory will do."""
        return False

    def _resources(self) -> Resources:
        """What may be spent on working with rows."""
        return Resources()

    def _uses_target(self) -> bool:
        return True

    def _takes_several_targets(self) -> bool:
        return self._uses_target()

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
            Also a sparse matrix, and a dask array or dataframe, which stays one unless `set_output` asks for
            a dataframe of another library.

        Returns
        -------
        X_selected : array of shape (n_samples, n_selected)
            Of a sparse matrix, or of a frame with sparse columns, compressed sparse rows.
        """
        X = as_table(X)
        if is_out_of_core(X) and not is_frame(X):
            check_is_fitted(self)
            found = select_columns(
                X,
                np.flatnonzero(self.support_),
                self.n_features_in_,
                getattr(self, "feature_names_in_", None),
                finite=not self._takes_any_kind(),
            )
            # Dataframes of pandas and polars are in memory.
            return found.compute() if keeps_frames(self) else found
        if is_sparse_frame(X) and not keeps_frames(self):
            check_is_fitted(self)
            return self._transform(frame_to_rows(self, X))
        if is_frame(X) and not has_numbers_only(X):
            check_is_fitted(self)
            return in_library(take_columns(X, self), _get_output_config("transform", self)["dense"])
        if not is_non_numpy(X):
            refuse_masked(X)
            refuse_lazy(X)
            # The sum by which values are checked may overflow.
            with np.errstate(over="ignore", invalid="ignore"):
                return super().transform(X)
        check_is_fitted(self)
        if X.ndim != 2:
            raise ValueError(
                f"Expected 2D array, got X with shape {tuple(X.shape)}: pass one row per sample."
            )
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has shape {tuple(X.shape)}, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        if not self._takes_any_kind():
            refuse_not_finite(X)
        return namespace(X).take(X, asarray_like(np.flatnonzero(self.support_), X), axis=1)

    def inverse_transform(self, X: Any) -> Any:
        """Put the selected features back in their places among all features.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_selected)
            What `transform` returns.

        Returns
        -------
        X_original : array or dataframe of shape (n_samples, n_features)
            The other features are 0 in an array of numbers, and missing in a dataframe with columns of other
            kinds. Of a sparse matrix, one of the same kind.
        """
        X = as_table(X)
        if issparse(X):
            return self._sparse_inverse(X)
        refuse_masked(X)
        if is_frame(X) and not has_numbers_only(X):
            check_is_fitted(self)
            return insert_columns(X, self)
        if is_out_of_core(X) and not is_frame(X):
            check_is_fitted(self)
            return insert_zeros(X, self.support_, allow_missing=self._takes_any_kind())
        if is_non_numpy(X):
            return self._inverse_in_library(X)
        if not self._takes_any_kind():
            with np.errstate(over="ignore", invalid="ignore"):
                return super().inverse_transform(X)
        # Missing values stay missing.
        support = self.get_support()
        if not support.any() and getattr(X, "shape", (0, 1))[1:] == (0,):
            return np.zeros((X.shape[0], support.size))
        with np.errstate(over="ignore", invalid="ignore"):
            values = check_array(X, dtype=None, ensure_all_finite="allow-nan")
        if support.sum() != values.shape[1]:
            raise ValueError(
                f"X has shape {values.shape}, but {support.sum()} features are selected: pass the output of "
                "transform."
            )
        found = np.zeros((values.shape[0], support.size), dtype=values.dtype)
        found[:, support] = values
        return found

    def _inverse_in_library(self, X: Any) -> Any:
        """Put features back in an array of another library than NumPy, in which they stay."""
        support = self.get_support()
        if X.ndim != 2 or X.shape[1] != support.sum():
            raise ValueError(
                f"X has shape {tuple(X.shape)}, but {support.sum()} features are selected: pass the "
                "output of transform."
            )
        refuse_not_finite(X, allow_missing=self._takes_any_kind())
        return with_zeros(X, support)

    def report(self, X: Any, y: Any, **options: Any) -> Any:
        """Compute the report of the fitted selector, which a notebook shows.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The data that the selector was fitted to.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        **options
            See `l1lsmi.report.collect`; ``model`` is an estimator to test, for instance.

        Returns
        -------
        report : l1lsmi.report.Report
            Its ``save`` writes the page to a file.
        """
        # Reports know all selectors, and selectors nothing of reports: theirs is found when it is asked for.
        return import_module("l1lsmi.report").make_report(self, X, y, **options)

    def _sparse_inverse(self, X: Any) -> Any:
        columns = np.flatnonzero(self._get_support_mask())
        if X.shape[1:] != (columns.size,):
            raise ValueError(
                f"X has shape {X.shape}, but {columns.size} features are selected: pass the output of "
                "transform."
            )
        entries = X.tocoo()
        places = (entries.row, columns[entries.col])
        shape = (X.shape[0], self.support_.size)
        return type(entries)((entries.data, places), shape=shape).asformat(X.format)

    def _get_support_mask(self) -> HostArray:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._uses_target()
        tags.input_tags.allow_nan = tags.input_tags.categorical = self._takes_any_kind()
        # Not two_d_labels, by which scikit-learn means transformers of targets alone.
        tags.target_tags.multi_output = self._takes_several_targets()
        tags.input_tags.sparse = self._supports_sparse
        return tags
