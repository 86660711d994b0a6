"""Everything that is refused, in one place: one sentence that says what, and what to do."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from l1lsmi.arrays import Array, HostArray, is_foreign, namespace, to_numpy
from l1lsmi.numerics.target import Target
from l1lsmi.rows import column_statistics

__all__ = [
    "TASKS",
    "check_all_positive",
    "check_folds",
    "check_n_features",
    "check_target",
    "check_xy",
    "seed_of",
]

TASKS = ("auto", "classification", "regression")
#: More different whole numbers than this are taken for a quantity rather than for classes.
MOST_CLASSES = 20


def check_all_positive(owner: object, name: str) -> None:
    """Check that a parameter is a sequence of positive numbers."""
    value = getattr(owner, name)
    numbers = np.asarray(value)
    good = numbers.ndim == 1 and numbers.size > 0 and numbers.dtype.kind in "fiu"
    if not good or not (np.isfinite(numbers) & (numbers > 0)).all():
        raise ValueError(
            f"The {name!r} parameter of {type(owner).__name__} must be a sequence of positive numbers. "
            f"Got {value!r} instead."
        )


def seed_of(random_state: Any) -> int:
    """One seed from whatever scikit-learn takes for a random state."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def check_xy(X: Any, y: Any, task: str, estimator: Any = None) -> tuple[Array, Target]:
    """Check features and target; the features stay in their own array library.

    Parameters
    ----------
    X, y : array-like
    task : str
    estimator : estimator or None
        Is told the number and the names of the features.

    Returns
    -------
    X : array of shape (n, m), floating point
    target : Target
    """
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__ if estimator is not None else 'The measure'} requires y to be "
            "passed, but the target y is None: pass what the features should predict."
        )
    if is_foreign(X):
        X, y = _check_foreign(X, y)
        if estimator is not None:
            estimator.n_features_in_ = int(X.shape[1])
    else:
        X, y = _check_host(X, y, estimator)
    return X, check_target(y, task)


def _check_host(X: Any, y: Any, estimator: Any) -> tuple[HostArray, HostArray]:
    rules: dict[str, Any] = {
        "dtype": [np.float64, np.float32],
        "ensure_all_finite": False,
        "ensure_min_samples": 2,
    }
    names = None
    if estimator is None:
        X = check_array(X, input_name="X", **rules)
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
    else:
        X, y = validate_data(estimator, X, y, **rules)
        names = getattr(estimator, "feature_names_in_", None)
    if not np.isfinite(X.sum()) and not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0]
        label = repr(str(names[column])) if names is not None else str(column)
        what = "NaN" if np.isnan(X[row, column]) else "infinity"
        raise ValueError(
            f"Input X contains {what}, first in row {row} of column {label}: "
            "drop or impute such values before fitting."
        )
    return X, y


def _check_foreign(X: Array, y: Any) -> tuple[Array, HostArray]:
    xp = namespace(X)
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got X with shape {tuple(X.shape)}: one row per sample.")
    if xp.isdtype(X.dtype, "complex floating"):
        raise ValueError("Complex data not supported: X has complex values, pass real ones.")
    if not xp.isdtype(X.dtype, "real floating"):
        X = xp.astype(X, xp.float64)
    if X.shape[0] < 2:
        raise ValueError(f"Found array X with n_samples={X.shape[0]}: at least 2 rows are required.")
    if not bool(xp.all(xp.isfinite(X))):
        raise ValueError("Input X contains NaN or infinity: drop or impute such values before fitting.")
    y = column_or_1d(to_numpy(y) if is_foreign(y) else np.asarray(y), warn=True)
    if y.shape[0] != X.shape[0]:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {X.shape[0]} rows, "
            f"y has {y.shape[0]}."
        )
    return X, y


def check_target(y: HostArray, task: str) -> Target:
    """Decide what kind of target ``y`` is and encode it.

    Under "auto", numbers with fractions are regression, labels and few whole numbers are classes;
    more than 20 different whole numbers are regression, with a warning where they are integers.
    """
    numeric = y.dtype.kind in "fiu"
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: y has complex values, pass real ones.")
    if y.dtype.kind == "O" and task == "regression":
        y, numeric = _as_numbers(y), True
    if numeric and not np.isfinite(y).all():
        raise ValueError("Input y contains NaN or infinity: drop those rows before fitting.")
    if y.dtype.kind == "O" and any(v is None or v != v for v in y):
        raise ValueError("Input y contains NaN or None: drop those rows before fitting.")
    if task == "auto":
        task = _guess_task(y, numeric)
    return _classes(y) if task == "classification" else _values(y)


def _as_numbers(y: HostArray) -> HostArray:
    try:
        return y.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "y has values that are not numbers, but task='regression': pass numbers, or "
            "task='classification'."
        ) from None


def _guess_task(y: HostArray, numeric: bool) -> str:
    if not numeric:
        return "classification"
    if y.dtype.kind == "f" and not np.array_equal(y, np.round(y)):
        return "regression"
    n_values = np.unique(y).size
    if n_values <= MOST_CLASSES:
        return "classification"
    if y.dtype.kind in "iu":
        warnings.warn(
            f"y has {n_values} different whole numbers and is taken for a quantity (regression): "
            "pass task='classification' if they are labels, task='regression' to silence this.",
            UserWarning,
            stacklevel=6,
        )
    return "regression"


def _classes(y: HostArray) -> Target:
    if y.dtype.kind == "f" and not np.array_equal(y, np.round(y)):
        raise ValueError(
            "Unknown label type: y has numbers with fractions, but task='classification': pass class "
            "labels, or task='regression'."
        )
    if y.dtype.kind == "O":
        y = y.astype(str)
    target = Target.of_classes(y)
    assert target.classes is not None
    if target.classes.size < 2:
        raise ValueError(
            f"y has one class only, {target.classes[0]!r}: at least 2 classes are needed to tell "
            "features apart."
        )
    return target


def _values(y: HostArray) -> Target:
    if y.dtype.kind not in "fiub":
        y = _as_numbers(y)
    mean, scale = column_statistics(np.asarray(y, dtype=np.float64)[:, None])
    if scale[0] == 0:
        raise ValueError(
            f"y is constant, {y[0]!r} in every row: at least 2 values are needed to tell features apart."
        )
    return Target.of_values(y, float(mean[0]), float(scale[0]))


def check_folds(cv: Any, n_rows: int, target: Target) -> tuple[HostArray | None, int]:
    """Turn ``cv`` into folds: None and a number where they are to be drawn."""
    if isinstance(cv, Integral):
        if n_rows < int(cv):
            warnings.warn(
                f"X has {n_rows} rows, fewer than the cv={cv} folds asked for: {n_rows} folds are used.",
                UserWarning,
                stacklevel=5,
            )
        return None, min(int(cv), n_rows)
    y = target.codes if target.is_classification else target.values
    splitter = check_cv(cv, y, classifier=target.is_classification)
    fold_of_row = np.full(n_rows, -1)
    n_folds = 0
    for n_folds, (_, test) in enumerate(splitter.split(np.zeros((n_rows, 1)), y), start=1):
        if (fold_of_row[test] >= 0).any():
            raise ValueError(f"cv={cv!r} tests some rows twice: pass a splitter that tests each row once.")
        fold_of_row[test] = n_folds - 1
    if n_folds < 2 or (fold_of_row < 0).any():
        raise ValueError(f"cv={cv!r} never tests some rows: pass a splitter that tests each row once.")
    return fold_of_row, n_folds


def check_n_features(value: Any, n_features: int) -> int:
    """The number of features that an int, a share or None asks for."""
    if value is None:
        return max(1, n_features // 2)
    if not isinstance(value, Integral):
        return max(1, int(n_features * value))
    if int(value) > n_features:
        raise ValueError(
            f"n_features_to_select={value} is more than the {n_features} features of X: pass {n_features} "
            "or fewer."
        )
    return int(value)
