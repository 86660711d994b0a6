"""What is to be predicted."""

from __future__ import annotations

import warnings
from numbers import Number
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from l1lsmi._arrays import (
    HostArray,
    is_non_numpy,
    to_numpy,
)
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import column_statistics

TASKS = ("auto", "classification", "regression")
#: More different whole numbers than this are taken for a quantity rather than for classes.
MOST_CLASSES = 20
BEYOND_RANGE = "y has values beyond the range of float64: rescale it before fitting."
MISSING_TARGET = "Input y contains NaN or None: drop those rows before fitting."


def check_target(y: Any, task: str, row_weights: HostArray | None = None) -> Target:
    """Decide what kind of target ``y`` is and encode it, with the weights of its rows.

    Under "auto", numbers with fractions are regression, labels and few whole numbers are classes;
    more than 20 different whole numbers are regression, with a warning where they are integers.
    """
    values = plain_target(y)
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
    return (_classes if task == "classification" else _values)(values, row_weights)


def plain_target(y: Any) -> HostArray:
    """One value per row as a NumPy array; objects that are all numbers become numbers."""
    if isinstance(y, (dict, set, str)) or np.ma.is_masked(y):
        what = "has masked values" if np.ma.is_masked(y) else f"is a {type(y).__name__}"
        raise ValueError(f"y {what}: pass one label or number per row.")
    if is_non_numpy(y):
        values = to_numpy(y)
    elif isinstance(y, (list, tuple)) and any(is_missing(v) for v in y):
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
        if any(is_missing(v) for v in values):
            raise ValueError(MISSING_TARGET)
        if all(isinstance(v, Number) and not isinstance(v, bool) for v in values):
            return _as_numbers(values)
    return np.asarray(values)


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for none."""
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


def _classes(y: HostArray, row_weights: HostArray | None) -> Target:
    if y.dtype.kind == "f" and not np.array_equal(y, np.round(y)):
        raise ValueError(
            "Unknown label type: y has numbers with fractions, but task='classification': pass class "
            "labels, or task='regression'."
        )
    try:
        target = Target.of_classes(y, row_weights)
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


def _values(y: HostArray, row_weights: HostArray | None) -> Target:
    if y.dtype.kind not in "fiub":
        y = _as_numbers(y)
    y = np.asarray(y, dtype=np.float64)
    if not np.isfinite(y).all():
        raise ValueError(BEYOND_RANGE)
    mean, scale = column_statistics(y[:, None], row_weights)
    if scale[0] == 0:
        raise ValueError(
            f"y is constant, {float(y[0])!r} in every row: at least 2 values are needed to tell features "
            "apart."
        )
    return Target.of_values(y, float(mean[0]), float(scale[0]), row_weights)
