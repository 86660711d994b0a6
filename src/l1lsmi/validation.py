"""Everything that is refused, in one place: one sentence that says what, and what to do."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Number
from os import PathLike
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from l1lsmi.arrays import (
    Array,
    HostArray,
    dense_values,
    device_of,
    is_foreign,
    namespace,
    to_device,
    to_numpy,
)
from l1lsmi.numerics.target import Target
from l1lsmi.rows import RowsElsewhere, Table, column_statistics

__all__ = [
    "TASKS",
    "check_all_positive",
    "check_count",
    "check_device",
    "check_features",
    "check_finite",
    "check_folds",
    "check_measure",
    "check_needs",
    "check_pairs",
    "check_share",
    "check_subsets",
    "check_target",
    "check_target_of",
    "check_varying",
    "check_visits_rows",
    "check_xy",
    "seed_of",
    "tell_features",
]

TASKS = ("auto", "classification", "regression")
#: More different whole numbers than this are taken for a quantity rather than for classes.
MOST_CLASSES = 20
BEYOND_RANGE = "y has values beyond the range of float64: rescale it before fitting."
MISSING_TARGET = "Input y contains NaN or None: drop those rows before fitting."


# -- parameters -------------------------------------------------------------------------------


def check_all_positive(owner: object, name: str) -> None:
    """Check that a parameter is a sequence of positive numbers of sensible size."""
    value = getattr(owner, name)
    try:
        numbers = np.asarray([np.nan if isinstance(v, str) else float(v) for v in value])
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.size == 0 or not ((numbers >= 1e-12) & (numbers <= 1e12)).all():
        raise ValueError(
            f"The {name!r} parameter of {type(owner).__name__} must be a sequence of positive numbers "
            f"between 1e-12 and 1e12. Got {value!r} instead."
        )


def check_count(name: str, value: Any, n_features: int) -> int:
    """Check a number of features."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not 1 <= int(value) <= n_features:
        raise ValueError(
            f"{name}={value!r} must be a whole number between 1 and the {n_features} features of X."
        )
    return int(value)


def check_share(name: str, value: Any, n_features: int) -> int:
    """The number of features that an int, a share of them or None (half) asks for."""
    if value is None:
        return max(1, n_features // 2)
    if isinstance(value, Integral):
        return check_count(name, value, n_features)
    return max(1, int(n_features * value + 1e-9))


def check_measure(measure: Any) -> None:
    """Check that what a strategy is handed is a measure, and that its parameters are in order."""
    if isinstance(measure, type) or not (hasattr(measure, "bind") and hasattr(measure, "task")):
        what = f"the class {measure.__name__}" if isinstance(measure, type) else repr(measure)
        raise ValueError(f"measure is {what}: pass an instance of a measure, such as HSIC().")
    measure._validate_params()


def check_needs(strategy: Any, measure: Any, problem: Any) -> None:
    """Check that a bound measure has what a strategy needs of it."""
    missing = [name for name in strategy.needs if not hasattr(problem, name)]
    if missing:
        raise ValueError(
            f"{type(strategy).__name__} needs {' and '.join(missing)} of its measure, which "
            f"{type(measure).__name__} does not have: {measure.limits}."
        )


def check_subsets(n_features: int, size: int, n_subsets: int, max_subsets: int | None) -> None:
    """Refuse to go through too many sets."""
    if max_subsets is not None and n_subsets > max_subsets:
        raise ValueError(
            f"There are {n_subsets} sets of {size} out of {n_features} features, more than "
            f"max_subsets={max_subsets}: select fewer features, raise max_subsets (None takes on any "
            "number), or use another strategy such as L1Weighting."
        )


def seed_of(random_state: Any) -> int:
    """One seed from whatever scikit-learn takes for a random state."""
    try:
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    except ValueError:
        raise ValueError(
            f"random_state={random_state!r} cannot be used: pass a whole number from 0 to 2**32 - 1, a "
            "RandomState instance or None."
        ) from None


# -- features ---------------------------------------------------------------------------------


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
        who = type(estimator).__name__ if estimator is not None else "The measure"
        raise ValueError(
            f"{who} requires y to be passed, but the target y is None: pass what the features should predict."
        )
    X = check_features(X, estimator)
    target = check_target(y, task)
    if target.n_rows != X.shape[0]:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {X.shape[0]} rows, "
            f"y has {target.n_rows}."
        )
    return X, target


def check_device(table: Any, device: str) -> Table:
    """Take a table that is in memory to a device."""
    if not isinstance(table, Table):
        raise ValueError(
            f"device={device!r} is given, but the rows of X are not in memory: leave it out or pass an array."
        )
    if is_foreign(table.x):
        raise ValueError(
            f"device={device!r} is given, but X is on a device already ({device_of(table.x)}): leave it out."
        )
    try:
        return replace(table, x=to_device(table.x, device))
    except ValueError as error:
        raise ValueError(f"device={device!r} {error}: pass another one, or None.") from None


def check_visits_rows(selector: Any, X: Any, visits: bool) -> None:
    """Check that a selector can do with rows that are not in memory."""
    if not visits:
        what = f"the path {str(X)!r}" if isinstance(X, (str, PathLike)) else f"a {type(X).__name__}"
        raise ValueError(
            f"X is {what}, but {type(selector).__name__} needs all rows in memory: pass a table of numbers, "
            "for instance a sample drawn by l1lsmi.sources.read_sample, or use L1LSMI."
        )


def check_target_of(n_rows: int, y: Any, task: str) -> Target:
    """Check the target of rows that are not in memory."""
    if y is None:
        raise ValueError("The target y is None: pass what the features should predict, or its column's name.")
    target = check_target(y, task)
    if target.n_rows != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, "
            f"y has {target.n_rows}."
        )
    return target


def tell_features(estimator: Any, n_features: int, names: list[str] | None) -> None:
    """Tell an estimator the number and the names of the features."""
    estimator.n_features_in_ = n_features
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def check_pairs(X: Any, y: Any, n_features: int) -> Array:
    """Check rows and targets that go together, of a known number of features."""
    try:
        X = X if is_foreign(X) else np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X cannot be read as a table of numbers: {error}.") from None
    if X.ndim != 2 or X.shape[1] != n_features:
        raise ValueError(f"X has shape {tuple(X.shape)}, but {n_features} features are expected in each row.")
    shape = tuple(y.shape) if hasattr(y, "shape") else np.shape(y)
    if shape != (X.shape[0],):
        raise ValueError(f"y has shape {shape}, but X has {X.shape[0]} rows: pass one target per row.")
    if not np.isfinite(to_numpy(X)).all():
        raise ValueError("Input X contains NaN or infinity: drop those rows.")
    return X


def check_features(X: Any, estimator: Any = None) -> Array:
    """Check a table of finite real numbers with at least two rows."""
    if is_foreign(X):
        return _check_foreign(X, estimator)
    if issparse(X):
        raise ValueError("X is a sparse matrix, which is not supported: pass X.toarray().")
    if X is None or isinstance(X, (dict, set, str)) or np.ma.is_masked(X):
        what = "has masked values" if np.ma.is_masked(X) else f"is a {type(X).__name__}"
        raise ValueError(f"X {what}: pass a table of numbers of shape (n_samples, n_features).")
    names = _column_names(X)
    _refuse_dates(X, names)
    rules: dict[str, Any] = {
        "dtype": [np.float64, np.float32],
        "ensure_all_finite": False,
        "ensure_min_samples": 2,
    }
    try:
        checked = (
            check_array(X, input_name="X", **rules)
            if estimator is None
            else validate_data(estimator, X, **rules)
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise _explained(X, names, error) from None
    check_finite(checked, names)
    return checked


def check_finite(values: HostArray, names: Sequence[Any] | None, start: int = 0) -> None:
    """Check that numbers are neither missing nor infinite; ``start`` is the number of the first row."""
    with np.errstate(over="ignore", invalid="ignore"):
        finite = bool(np.isfinite(values.sum()))
    if finite or np.isfinite(values).all():
        return
    row, column = np.argwhere(~np.isfinite(values))[0]
    what = "NaN" if np.isnan(values[row, column]) else "infinity"
    raise _not_finite(what, start + row, _label(names, column))


def check_varying(table: Table | RowsElsewhere) -> None:
    """Check that there is a feature to select."""
    if table.varying.size == 0:
        raise ValueError(
            f"X has only constant columns ({table.n_columns} of them): there is nothing to select from."
        )


def _check_foreign(X: Array, estimator: Any) -> Array:
    try:
        X = dense_values(X)
    except ValueError as error:
        raise ValueError(f"X {error}.") from None
    xp = namespace(X)
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got X with shape {tuple(X.shape)}: one row per sample.")
    if X.shape[0] < 2 or X.shape[1] < 1:
        raise ValueError(
            f"Found array X with n_samples={X.shape[0]} and {X.shape[1]} features: at least 2 rows and 1 "
            "feature are required."
        )
    if not bool(xp.all(xp.isfinite(X))):
        row, column = np.argwhere(~np.isfinite(to_numpy(X)))[0]
        raise _not_finite("NaN or infinity", row, str(column))
    if estimator is not None:
        estimator.n_features_in_ = int(X.shape[1])
    return X


def _not_finite(what: str, row: int, column: str) -> ValueError:
    return ValueError(
        f"Input X contains {what}, first in row {row} of column {column}: drop or impute such values "
        "before fitting."
    )


def _column_names(X: Any) -> list[Any] | None:
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    names = list(columns)
    name, count = Counter(map(str, names)).most_common(1)[0] if names else ("", 0)
    if count > 1:
        raise ValueError(f"X has {count} columns named {name!r}: rename or drop all but one.")
    return names


def _label(names: Sequence[Any] | None, column: int) -> str:
    return str(column) if names is None else repr(str(names[column]))


def _refuse_dates(X: Any, names: list[Any] | None) -> None:
    kinds = list(X.dtypes) if names is not None and hasattr(X, "dtypes") else [getattr(X, "dtype", "")]
    for column, kind in enumerate(kinds):
        if str(kind).lower().startswith(("date", "time", "duration")):
            where = f" in column {_label(names, column)}" if names is not None else ""
            raise ValueError(f"X has dates or times{where}: turn them into numbers before fitting.")


def _explained(X: Any, names: list[Any] | None, error: Exception) -> ValueError | TypeError:
    """Name the column that could not be made numbers of; other errors keep their words."""
    words = str(error)
    if "could not convert" not in words and "float()" not in words:
        first_line = words.splitlines()[0].rstrip(":. ")
        return ValueError(f"X cannot be used, pass a table of shape (n_samples, n_features): {first_line}.")
    try:
        table = np.asarray(X, dtype=object)
        columns = range(table.shape[1])
    except (TypeError, ValueError, IndexError):
        return ValueError(f"X has values that are not numbers: encode or drop them before fitting. ({words})")
    for column in columns:
        for row, value in enumerate(table[:, column]):
            if _is_missing(value):
                return _not_finite("NaN", row, _label(names, column))
            try:
                float(value)
            except ValueError:
                return ValueError(
                    f"X has text in column {_label(names, column)}, first {str(value)[:60]!r} in row {row}: "
                    "encode or drop it before fitting."
                )
            except TypeError:
                return TypeError(
                    f"X has a {type(value).__name__} in row {row} of column {_label(names, column)}, where "
                    "the argument must be a string or a real number: encode or drop it before fitting."
                )
    return ValueError(f"X has values that are not numbers: encode or drop them before fitting. ({words})")


# -- target -----------------------------------------------------------------------------------


def check_target(y: Any, task: str) -> Target:
    """Decide what kind of target ``y`` is and encode it.

    Under "auto", numbers with fractions are regression, labels and few whole numbers are classes;
    more than 20 different whole numbers are regression, with a warning where they are integers.
    """
    values = _plain_target(y)
    if values.dtype.kind == "c":
        raise ValueError("Complex data not supported: y has complex values, pass real ones.")
    if values.dtype.kind in "mM":
        raise ValueError("y has dates or times: pass numbers or labels.")
    if values.dtype.kind == "O" and task == "regression":
        values = _as_numbers(values)
    numeric = values.dtype.kind in "fiu"
    if numeric and not np.isfinite(values).all():
        raise ValueError("Input y contains NaN or infinity: drop those rows before fitting.")
    if task == "auto":
        task = _guess_task(values, numeric)
    return _classes(values) if task == "classification" else _values(values)


def _plain_target(y: Any) -> HostArray:
    """One value per row as a NumPy array; objects that are all numbers become numbers."""
    if isinstance(y, (dict, set, str)) or np.ma.is_masked(y):
        what = "has masked values" if np.ma.is_masked(y) else f"is a {type(y).__name__}"
        raise ValueError(f"y {what}: pass one label or number per row.")
    if is_foreign(y):
        values = to_numpy(y)
    elif isinstance(y, (list, tuple)) and any(_is_missing(v) for v in y):
        raise ValueError(MISSING_TARGET)
    else:
        values = y.to_numpy() if hasattr(y, "to_numpy") else y
    try:
        values = column_or_1d(np.asarray(values), warn=True)
    except ValueError as error:
        words = str(error).splitlines()[0].rstrip(":. ")
        raise ValueError(f"y must be one label or number per row: {words}.") from None
    if values.size == 0:
        raise ValueError("y is empty: pass one label or number per row.")
    if values.dtype.kind == "O":
        if any(_is_missing(v) for v in values):
            raise ValueError(MISSING_TARGET)
        if all(isinstance(v, Number) and not isinstance(v, bool) for v in values):
            return _as_numbers(values)
    return np.asarray(values)


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA refuses to be compared
        return type(value).__name__ in ("NAType", "NaTType")


def _as_numbers(y: HostArray) -> HostArray:
    try:
        return y.astype(np.float64)
    except OverflowError:
        raise ValueError(BEYOND_RANGE) from None
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
    try:
        target = Target.of_classes(y)
    except TypeError:
        kinds = " and ".join(sorted({type(v).__name__ for v in y}))
        raise ValueError(f"y mixes labels of different kinds, {kinds}: pass labels of one kind.") from None
    assert target.classes is not None
    if target.classes.size < 2:
        raise ValueError(
            f"y has one class only, {str(target.classes[0])!r}: at least 2 classes are needed to tell "
            "features apart."
        )
    return target


def _values(y: HostArray) -> Target:
    if y.dtype.kind not in "fiub":
        y = _as_numbers(y)
    y = np.asarray(y, dtype=np.float64)
    if not np.isfinite(y).all():
        raise ValueError(BEYOND_RANGE)
    mean, scale = column_statistics(y[:, None])
    if scale[0] == 0:
        raise ValueError(
            f"y is constant, {float(y[0])!r} in every row: at least 2 values are needed to tell features "
            "apart."
        )
    return Target.of_values(y, float(mean[0]), float(scale[0]))


# -- folds ------------------------------------------------------------------------------------


def check_folds(cv: Any, n_rows: int, target: Target) -> tuple[HostArray | None, int]:
    """Turn ``cv`` into folds: None and a number where they are to be drawn.

    The score of a fold is made of pairs of its rows, so that a fold needs at least two.
    """
    if isinstance(cv, Integral):
        n_folds = min(int(cv), max(2, n_rows // 2))
        if n_folds < int(cv):
            warnings.warn(
                f"X has {n_rows} rows, too few for the cv={cv} folds of at least 2 rows asked for: "
                f"{n_folds} folds are used.",
                UserWarning,
                stacklevel=5,
            )
        return None, n_folds
    name = f"cv={cv!r}"
    name = name if len(name) <= 80 else f"{name[:77]}..."
    y = target.codes if target.is_classification else target.values
    try:
        splitter = check_cv(cv, y, classifier=target.is_classification)
        tests = [np.asarray(test) for _, test in splitter.split(np.zeros((n_rows, 1)), y)]
        fold_of_row = np.full(n_rows, -1)
        for fold, test in enumerate(tests):
            fold_of_row[test] = fold
    except Exception as error:
        raise ValueError(
            f"{name} cannot split these rows; groups are given as PredefinedSplit. ({error})"
        ) from None
    if (fold_of_row < 0).any() or sum(test.size for test in tests) != n_rows:
        raise ValueError(
            f"{name} does not test every row exactly once: pass a splitter that tests each row once."
        )
    if len(tests) < 2 or min(test.size for test in tests) < 2:
        raise ValueError(
            f"{name} makes {len(tests)} folds, the smallest of {min(test.size for test in tests)} rows, but "
            "the score needs 2 folds of at least 2 rows: pass fewer folds."
        )
    return fold_of_row, len(tests)
