"""Errors on rows not seen: of this selection, and of several methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from l1lsmi.arrays import HostArray
from l1lsmi.evaluation import held_out_error, split_rows
from l1lsmi.explain import sample_rows
from l1lsmi.numerics.target import Target
from l1lsmi.report.names import plain_target, shown
from l1lsmi.report.numbers import number, numbers

__all__ = ["comparison_part", "held_out_part", "metric_of"]


def metric_of(is_classification: bool) -> dict[str, Any]:
    """What errors are counted in."""
    if is_classification:
        return {"name": "error rate", "percent": True}
    return {"name": "root mean squared error", "percent": False}


def held_out_part(
    selector: Any,
    X: HostArray,
    target: Target,
    *,
    n_splits: int,
    most_rows: int,
    random_state: Any,
) -> dict[str, Any]:
    """Errors of a predictor on rows not seen, with features that are chosen anew and with all features.

    Parameters
    ----------
    selector : selector
        A copy of it chooses on the training rows of each split.
    X : numpy.ndarray of float, shape (n, m)
    target : Target
    n_splits : int
    most_rows : int
        More rows than this are not used.
    random_state : int, RandomState instance or None

    Returns
    -------
    part : dict
    """
    task = "classification" if target.is_classification else "regression"
    y = plain_target(target)
    rows = sample_rows(y, task, most_rows, random_state)
    X, y = X[rows], y[rows]
    errors = {"selection": [], "all": []}
    for s in range(n_splits):
        train, test = split_rows(y, task=task, random_state=s)
        inside = clone(selector).fit(X[train], y[train]).get_support()
        for role, columns in (("selection", inside), ("all", slice(None))):
            errors[role].append(held_out_error(X[train][:, columns], y[train], X[test][:, columns], y[test], task=task).error)
    k = int(np.count_nonzero(selector.get_support()))
    return {
        "rows": [
            {"name": f"the chosen {k:,}", "role": "selection", "n_features": k, "error": number(np.mean(errors["selection"])), "errors": numbers(errors["selection"]), "failure": None},
            {"name": f"all {X.shape[1]:,}", "role": "all", "n_features": int(X.shape[1]), "error": number(np.mean(errors["all"])), "errors": numbers(errors["all"]), "failure": None},
        ],
        "metric": metric_of(target.is_classification),
        "guess": number(_guess(y, target.is_classification)),
        "n_rows": int(rows.size),
        "n_train": int(train.size),
        "n_test": int(test.size),
        "n_splits": n_splits,
    }


def _guess(y: HostArray, is_classification: bool) -> float:
    """Error of always saying the same: the most frequent class, or the mean."""
    if not is_classification:
        return float(y.std())
    return 1.0 - float(np.unique(y, return_counts=True)[1].max()) / y.size


def comparison_part(comparison, target):
    return None
