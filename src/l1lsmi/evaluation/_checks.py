"""Validation of arguments that only the evaluation has."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray, is_non_numpy, to_numpy
from l1lsmi._numerics.target import Target
from l1lsmi._sparse import SparseMatrix
from l1lsmi._validation.columns import Columns, is_frame, read_like
from l1lsmi._validation.features import check_features, check_same_rows
from l1lsmi._validation.tables import check_columns
from l1lsmi._validation.target import TASKS, check_target


def required(name: str, y: Any) -> Any:
    """Check that a target is not None."""
    if y is None:
        raise ValueError(f"{name} is None: pass one label or number per row.")
    return y


def check_task(task: Any) -> None:
    """Check the name of a task."""
    if task not in TASKS:
        raise ValueError(f"task={task!r} is not known: pass one of {', '.join(map(repr, TASKS))}.")


def check_one_target(target: Target, name: str, function: str) -> None:
    """Check that a target is one column of classes or numbers."""
    if target.parts or target.hazard is not None:
        what = f"{len(target.parts)} targets" if target.parts else "times and events"
        raise ValueError(
            f"{name} has {what}, but {function} measures the error of one column of classes or numbers: pass "
            "one column, or use compare_selectors."
        )


def check_cv(cv: Any, n_rows: int) -> int:
    """Check a number of folds."""
    if not isinstance(cv, Integral) or isinstance(cv, bool) or not 2 <= int(cv) <= n_rows:
        raise ValueError(f"cv={cv!r} must be an integer from 2 to {n_rows}, the number of rows.")
    return int(cv)


def check_any_kind(X: Any, y: Any, task: str, categorical: Any) -> tuple[Columns, Target]:
    """Check features of any kind, which are then in memory, and the target."""
    x, columns = check_columns(X, categorical=categorical)
    if isinstance(x, SparseMatrix):
        raise ValueError(
            "X is a sparse matrix, but models are fitted to dense arrays only: pass X.toarray()."
        )
    target = check_target(y, task)
    check_same_rows(int(x.shape[0]), target.n_rows)
    return columns or Columns(to_numpy(x), [None] * int(x.shape[1]), None), target


def check_test(X: Any, y: Any, known: Columns, target: Target) -> tuple[HostArray, HostArray]:
    """Check held-out rows, and encode them and their target like the training rows."""
    y = required("y_test", y)
    n_features = known.x.shape[1]
    if is_frame(X) and any(known.levels):
        given: Any = X
    else:
        rows = to_numpy(X) if is_non_numpy(X) else np.asarray(X)
        # One test row is enough, but `check_features` requires two rows.
        double = rows.ndim == 2 and rows.shape[0] == 1
        checked = check_features(np.repeat(rows, 2, axis=0) if double else X, allow_missing=True)
        given = to_numpy(checked)[: 1 if double else None]
    shape = np.shape(np.asarray(to_numpy(y) if is_non_numpy(y) else y))
    if given.shape[1] != n_features or shape != (given.shape[0],):
        raise ValueError(
            f"X_test has shape {tuple(given.shape)} and y_test {shape}: pass {n_features} features in each "
            "row, as in X_train, and one target per row."
        )
    return read_like(given, known) if any(known.levels) else given, encoded_test(y, target)


def encoded_test(y: Any, target: Target) -> HostArray:
    """The target of held-out rows: codes of the classes of the training rows, or numbers."""
    if target.is_classification:
        return target.encode(np.asarray(to_numpy(y) if is_non_numpy(y) else y))
    numbers = numbers_of(y)
    if not np.isfinite(numbers).all():
        raise ValueError("y_test contains NaN or infinity: drop those rows.")
    return numbers


def numbers_of(y: Any) -> HostArray:
    """A target as floats, not standardised."""
    return np.asarray(to_numpy(y) if is_non_numpy(y) else y, dtype=np.float64).ravel()
