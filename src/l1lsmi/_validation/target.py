"""What is to be predicted."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from enum import Enum
from numbers import Integral, Number
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from l1lsmi._arrays import (
    HostArray,
    is_non_numpy,
    to_numpy,
)
from l1lsmi._numerics.target import Target
from l1lsmi._rows.statistics import column_statistics
from l1lsmi._validation.digits import EXACT, are_rounded, in_float64, is_exact
from l1lsmi._validation.several_targets import (
    TargetColumns,
    checked_survival,
    is_structured,
    joined_columns,
    structured_survival,
    survival_columns,
    target_columns,
)

TASKS = ("auto", "classification", "regression", "survival")
#: More different whole numbers than this are taken for a quantity rather than for classes.
MOST_CLASSES = 20
BEYOND_RANGE = "{} has values beyond the range of float64: rescale it before fitting."
MISSING_TARGET = "Input {} contains NaN or None: drop those rows before fitting."


def check_target(
    y: Any, task: str, row_weights: HostArray | None = None, names: Sequence[str] | None = None
) -> Target:
    """Decide what kind of target ``y`` is and encode it, with the weights of its rows.

    Under "auto", numbers with fractions are regression, labels and few whole numbers are classes;
    more than 20 different whole numbers are regression, with a warning where they are integers. Each of
    several columns, which may get other ``names``, is decided by itself; a structured array of one bool and
    one number is survival.
    """
    if task == "survival" or is_structured(y):
        return _survival(y, task, row_weights)
    columns = target_columns(y)
    if columns is None:
        return _one_target(y, task, row_weights)
    if len(columns.values) == 1:
        return _one_target(columns.values[0], task, row_weights)
    if names is not None:
        columns = TargetColumns.named(names, columns.values)
    several = [
        _one_target(values, task, row_weights, f"column {label} of y")
        for values, label in zip(columns.values, columns.labels, strict=True)
    ]
    return Target.joined(several, columns.names)


def plain_target(y: Any, task: str = "auto") -> HostArray:
    """A target as an array whose rows can be taken: (n,), (n, t), or structured for survival.

    It is encoded like ``y``, up to whole numbers that were categories.
    """
    if is_structured(y):
        return np.asarray(y).ravel()
    if task == "survival":
        return structured_survival(*checked_survival(*survival_columns(y)))
    columns = target_columns(y)
    if columns is None:
        return _plain_target(y)
    if len(columns.values) == 1:
        return _plain_target(columns.values[0])
    each = zip(columns.values, columns.labels, strict=True)
    return joined_columns([_plain_target(values, f"column {label} of y") for values, label in each])


def target_names(y: Any, task: str = "auto") -> list[str] | None:
    """Names of the columns of a target that has several with names; None for others."""
    columns = None if task == "survival" or is_structured(y) else target_columns(y)
    if columns is None or len(columns.values) == 1 or columns.labels == columns.names:
        return None
    return columns.names


def target_rows(y: HostArray, rows: HostArray | slice) -> HostArray:
    """Some rows of a `plain_target`, without targets that are constant there."""
    some = y[rows]
    if some.ndim < 2:
        return np.asarray(some)
    varies = [j for j in range(some.shape[1]) if any(value != some[0, j] for value in some[:, j])]
    return np.asarray(some[:, varies or [0]])


def _survival(y: Any, task: str, row_weights: HostArray | None = None) -> Target:
    if task not in ("auto", "survival"):
        raise ValueError(
            f"y is a structured array, which is for survival times, but task={task!r}: pass task='survival', "
            "or a table with one column for each target."
        )
    time, event = checked_survival(*survival_columns(y))
    if not event.any():
        raise ValueError("y has no event, all rows are censored: pass rows with at least one event.")
    target = Target.of_survival(time, event, row_weights)
    if np.ptp(target.columns) == 0:
        raise ValueError(
            "y has the same martingale residual in every row: pass rows with at least 2 different times."
        )
    return target


def _one_target(y: Any, task: str, row_weights: HostArray | None = None, what: str = "y") -> Target:
    """Encode one target, which is called so in messages."""
    values = _plain_target(y, what)
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {what} has complex values, pass real ones.")
    if values.dtype.kind in "mM":
        raise ValueError(_start(f"{what} has dates or times: pass numbers or labels."))
    are_numbers = values.dtype.kind == "O" and all(isinstance(v, Number) for v in values)
    if task == "auto" and are_numbers and len(set(values.tolist())) > MOST_CLASSES:
        task = "regression"
    if values.dtype.kind == "O" and task == "regression":
        _check_digits(values, what)
        values = _as_numbers(values, what)
    numeric = values.dtype.kind in "fiu"
    if numeric and not np.isfinite(values).all():
        raise ValueError(f"Input {what} contains NaN or infinity: drop those rows before fitting.")
    if task == "auto":
        task = _guess_task(values, numeric, what)
    return (_classes if task == "classification" else _values)(values, row_weights, what)


def _start(sentence: str) -> str:
    """A sentence that begins with "y", or with a capital where it names a column of y."""
    return f"C{sentence[1:]}" if sentence.startswith("column ") else sentence


def _plain_target(y: Any, what: str = "y") -> HostArray:
    """One value per row as a NumPy array; objects that are all numbers become numbers."""
    if isinstance(y, (dict, set, str)) or np.ma.is_masked(y):
        found = "has masked values" if np.ma.is_masked(y) else f"is a {type(y).__name__}"
        raise ValueError(_start(f"{what} {found}: pass one label or number per row."))
    if is_non_numpy(y):
        values = to_numpy(y)
    elif isinstance(y, (list, tuple)):
        values = _of_list(y, what)
    elif type(y).__module__.startswith("pyarrow"):
        values = y.to_numpy(zero_copy_only=False)
    else:
        values = y.to_numpy() if hasattr(y, "to_numpy") else y
    try:
        values = column_or_1d(np.asarray(values))
    except ValueError as error:
        words = str(error).splitlines()[0].rstrip(":. ")
        raise ValueError(_start(f"{what} must be one label or number per row: {words}.")) from None
    if values.size == 0:
        raise ValueError(_start(f"{what} is empty: pass one label or number per row."))
    if values.dtype.kind == "O":
        if any(is_missing(v) for v in values):
            raise ValueError(MISSING_TARGET.format(what))
        if all(isinstance(v, Number) and not isinstance(v, bool) for v in values):
            return _exact_numbers(values, what)
        if len({type(v) for v in values}) == 1 and isinstance(values[0], Enum):
            return np.array([v.name for v in values])
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        numbers = in_float64(values)
        if not np.array_equal(np.isinf(numbers), np.isinf(values)):
            raise ValueError(_start(BEYOND_RANGE.format(what)))
        return numbers
    return np.asarray(values)


def _of_list(y: Sequence[Any], what: str) -> Any:
    """A list as an array in which values that differ in the list still do."""
    if any(is_missing(v) for v in y):
        raise ValueError(MISSING_TARGET.format(what))
    values = np.asarray(y)
    kinds = {str if isinstance(v, str) else bytes if isinstance(v, bytes) else None for v in y}
    large = values.dtype.kind == "f" and any(isinstance(v, int) and abs(v) > EXACT for v in y)
    if large or len(kinds) > 1:
        # NumPy would round whole numbers, or turn numbers into text.
        values = np.empty(len(y), dtype=object)
        values[:] = y
    return values


def _exact_numbers(values: HostArray, what: str) -> HostArray:
    """Objects that are all numbers, in a type that tells them apart; as they are where there is none."""
    if all(isinstance(v, Integral) for v in values):
        low, high = int(min(values)), int(max(values))
        for kind in (np.int64, np.uint64):
            if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
                return values.astype(kind)
    return values if any(_is_rounded(v) for v in values) else _as_numbers(values, what)


def _is_rounded(value: Any) -> bool:
    return isinstance(value, Integral) and not is_exact(int(value))


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for none."""
    if value is None or value is np.ma.masked:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA refuses to be compared
        return type(value).__name__ in ("NAType", "NaTType")


def _check_digits(y: HostArray, what: str) -> None:
    if are_rounded(y):
        raise ValueError(
            _start(
                f"{what} has whole numbers whose differences are lost in float64, from {y.min()} to "
                f"{y.max()}: subtract {y.min()} from them before fitting, or pass task='classification'."
            )
        )


def _as_numbers(y: HostArray, what: str = "y") -> HostArray:
    try:
        return y.astype(np.float64)
    except OverflowError:
        raise ValueError(_start(BEYOND_RANGE.format(what))) from None
    except (TypeError, ValueError):
        raise ValueError(
            _start(
                f"{what} has values that are not numbers, but task='regression': pass numbers, or "
                "task='classification'."
            )
        ) from None


def _guess_task(y: HostArray, numeric: bool, what: str = "y") -> str:
    if not numeric:
        n_values = len(set(y.tolist()))
        if n_values > max(MOST_CLASSES, y.size / 2):
            warnings.warn(
                _start(
                    f"{what} has {n_values} different labels in {y.size} rows, which are treated as classes: "
                    "convert text to numbers if the labels are numbers, or pass task='classification' to "
                    "silence this."
                ),
                UserWarning,
                stacklevel=7,
            )
        return "classification"
    if y.dtype.kind == "f" and not np.array_equal(y, np.round(y)):
        return "regression"
    n_values = np.unique(y).size
    if n_values <= MOST_CLASSES:
        return "classification"
    if y.dtype.kind in "iu":
        warnings.warn(
            _start(
                f"{what} has {n_values} different whole numbers and is treated as a quantity (regression): "
                "pass task='classification' if they are labels, task='regression' to silence this."
            ),
            UserWarning,
            stacklevel=7,
        )
    return "regression"


def _classes(y: HostArray, row_weights: HostArray | None = None, what: str = "y") -> Target:
    if y.dtype.kind == "f" and not np.array_equal(y, np.round(y)):
        raise ValueError(
            f"Unknown label type: {what} has numbers with fractions, but task='classification': pass class "
            "labels, or task='regression'."
        )
    try:
        target = Target.of_classes(y, row_weights)
    except TypeError:
        kinds = " and ".join(sorted({type(v).__name__ for v in y}))
        sentence = f"{what} mixes labels of different kinds, {kinds}: pass labels of one kind."
        raise ValueError(_start(sentence)) from None
    assert target.classes is not None
    if target.classes.size < 2:
        raise ValueError(
            _start(f"{what} has one class only, {str(target.classes[0])!r}: pass rows of at least 2 classes.")
        )
    return target


def _values(y: HostArray, row_weights: HostArray | None = None, what: str = "y") -> Target:
    if y.dtype.kind not in "fiub":
        y = _as_numbers(y, what)
    _check_digits(y, what)
    y = np.asarray(y, dtype=np.float64)
    if not np.isfinite(y).all():
        raise ValueError(_start(BEYOND_RANGE.format(what)))
    mean, scale = column_statistics(y[:, None], row_weights)
    if scale[0] == 0:
        raise ValueError(
            _start(
                f"{what} is constant, {float(y[0])!r} in every row: pass a target with at least 2 "
                "different values."
            )
        )
    return Target.of_values(y, float(mean[0]), float(scale[0]), row_weights)
