"""Folds from a number or from a splitter."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import PredefinedSplit, check_cv

from l1lsmi._arrays import HostArray, is_non_numpy, to_numpy
from l1lsmi._numerics.target import Target
from l1lsmi._validation.target import check_target, is_missing


def most_folds(n_rows: int) -> int:
    """Folds that so many rows can be split into, of two rows each."""
    return max(2, n_rows // 2)


def check_folds(cv: Any, n_rows: int, target: Target) -> tuple[HostArray | None, int]:
    """Turn ``cv`` into folds: None and a number where they are to be drawn.

    The score of a fold is made of pairs of its rows, so that a fold needs at least two.
    """
    if isinstance(cv, Integral):
        n_folds = min(int(cv), most_folds(n_rows))
        if n_folds < int(cv):
            warnings.warn(
                f"X has {n_rows} rows, too few for cv={cv} folds of at least 2 rows: "
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
            f"{name} cannot split these rows: pass a splitter that needs only X and y, or the groups as "
            f"PredefinedSplit. ({error})"
        ) from None
    if (fold_of_row < 0).any() or sum(test.size for test in tests) != n_rows:
        raise ValueError(
            f"{name} does not test every row exactly once: pass a splitter that tests each row once."
        )
    if len(tests) < 2 or min(test.size for test in tests) < 2:
        raise ValueError(
            f"{name} makes {len(tests)} folds, the smallest of {min(test.size for test in tests)} rows, but "
            "the score needs at least 2 folds, each of at least 2 rows: pass such folds."
        )
    return fold_of_row, len(tests)


def given_folds(cv: Any, n_rows: int, y: HostArray, task: str) -> HostArray | None:
    """Folds of rows, if a splitter or a list of splits is given; None for a number of folds."""
    if isinstance(cv, Integral):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is to be said of y is said where it is checked
        target = check_target(y, task)
    return check_folds(cv, n_rows, target)[0]


def check_groups(groups: Any, n_rows: int, at_least: int = 2) -> HostArray | None:
    """Check groups of rows, and number them from 0; None stays None."""
    if groups is None:
        return None
    labels = np.asarray(to_numpy(groups) if is_non_numpy(groups) else groups)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"groups has shape {labels.shape}, but there are {n_rows} rows: pass one label per row."
        )
    values = labels.tolist() if labels.dtype.kind in "Of" else []
    row = next((row for row, value in enumerate(values) if is_missing(value)), None)
    if row is not None:
        raise ValueError(f"groups has a missing value, first in row {row}: give every row a group.")
    try:
        numbers = np.unique(labels, return_inverse=True)[1].ravel()
    except TypeError:
        kinds = sorted({type(value).__name__ for value in values})
        raise ValueError(
            f"groups mixes labels of different kinds, {' and '.join(kinds)}: pass labels of one kind."
        ) from None
    if numbers.max() + 1 < at_least:
        raise ValueError("groups has one group only, which cannot be split: pass at least 2 groups, or None.")
    return np.asarray(numbers)


def group_folds(cv: Any, groups: HostArray) -> Any:
    """A splitter that keeps groups together: that which was given, or folds of similar size."""
    if not isinstance(cv, Integral):
        return cv
    sizes = np.bincount(groups)
    n_folds = min(int(cv), sizes.size)
    fold_of_group, filled = np.zeros(sizes.size, dtype=np.intp), np.zeros(n_folds)
    for group in np.argsort(-sizes, kind="stable"):
        fold_of_group[group] = filled.argmin()
        filled[fold_of_group[group]] += sizes[group]
    return PredefinedSplit(fold_of_group[groups])
