"""What a fitted selector knows: its selected columns, weights, task and feature names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from l1lsmi._arrays import Array, HostArray
from l1lsmi._validation.columns import Columns, check_same_names
from l1lsmi._validation.tables import check_columns
from l1lsmi.strategies.selection import STOPPED

#: How messages begin that say what cannot be made of an empty set.
NO_FEATURES = "selector has selected no features"


def selected_columns(selector: Any) -> HostArray:
    """Column indices of the selected features."""
    if isinstance(selector, type) or not hasattr(selector, "get_support"):
        what = f"the class {selector.__name__}" if isinstance(selector, type) else repr(selector)[:60]
        raise ValueError(f"selector is {what}: pass a fitted selector, such as L1LSMI(5).fit(X, y).")
    check_is_fitted(selector)
    return np.flatnonzero(selector.get_support())


def fitted_weights(selector: Any) -> HostArray | None:
    """Weights of all features; None for selectors without weights.

    A search that is stopped early may return a set before its weights are fitted. All weights of the set
    are 1 then, and None is returned.
    """
    weights = getattr(selector, "weights_", None)
    if weights is None:
        return None
    weights = np.asarray(weights)
    stopped = getattr(selector, "stop_reason_", None) in STOPPED
    return None if stopped and bool((weights[weights > 0] == 1.0).all()) else weights


def task_of(selector: Any) -> str:
    """The task of a selector; "auto" where it has none."""
    return str(selector._task() if hasattr(selector, "_task") else getattr(selector, "task", "auto"))


def read_columns(selector: Any, X: Any) -> tuple[Array, Columns | None]:
    """Features of any kind, read as the fitted selector reads them: see `check_columns`."""
    checked, columns = check_columns(X, categorical=getattr(selector, "categorical_features", "from_dtype"))
    if checked.shape[1] != selector.n_features_in_:
        raise ValueError(
            f"X has {checked.shape[1]} features, but the selector was fitted to {selector.n_features_in_}: "
            "pass all features, selected or not."
        )
    known, given = getattr(selector, "feature_names_in_", None), given_names(X)
    if known is not None and given is not None:
        check_same_names(given, known)
    return checked, columns


def given_names(X: Any) -> list[str] | None:
    """Names of the columns of a dataframe; None for arrays."""
    names = getattr(X, "column_names", getattr(X, "columns", None))  # pyarrow, others
    return None if names is None else [str(name) for name in names]


def column_names(selector: Any, feature_names: Sequence[Any] | None = None) -> tuple[str, ...]:
    """Names of all features: those given, else those the selector was fitted to, else x0, x1, ..."""
    if feature_names is None:
        feature_names = getattr(selector, "feature_names_in_", None)
    return checked_names(feature_names, int(selector.n_features_in_))


def checked_names(feature_names: Sequence[Any] | None, m: int) -> tuple[str, ...]:
    """One name for each of ``m`` features; x0, x1, ... for None."""
    if feature_names is None:
        return tuple(f"x{j}" for j in range(m))
    if len(feature_names) != m:
        raise ValueError(
            f"feature_names has {len(feature_names)} names, but there are {m} features: pass one name per "
            "feature."
        )
    return tuple(map(str, feature_names))
