"""Errors on rows not seen: of this selection, and of several methods."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from l1lsmi.arrays import HostArray
from l1lsmi.evaluation import compare_selectors
from l1lsmi.evaluation.selectors import ALL_FEATURES
from l1lsmi.explain import sample_rows
from l1lsmi.numerics.target import Target
from l1lsmi.report.names import plain_target, shown
from l1lsmi.report.numbers import number, numbers

__all__ = ["comparison_part", "held_out_part"]

#: Share of the rows that a split trains on.
TRAIN_SHARE = 0.7
#: Starts of a search that is made anew for a split; more seldom change the error and always take longer.
MOST_RESTARTS = 2
MOST_METHODS = 30


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
        A copy of it, with at most two restarts, chooses on the training rows of each split.
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
    n_train = max(1, round(TRAIN_SHARE * rows.size))
    k = int(np.count_nonzero(selector.get_support()))
    quick, n_restarts = _quick(selector)
    anew = _Anew(quick, selector.get_support(), rows.size)
    chosen, everything = compare_selectors(
        {"chosen": anew}, X, y, task=task, n_splits=n_splits, n_train=n_train, random_state=random_state
    )
    judged = (
        (f"{k:,} chosen", "selection", k, chosen),
        (f"all {X.shape[1]:,}", "all", int(X.shape[1]), everything),
    )
    return {
        "rows": [
            {"name": name, "role": role, "n_features": size, **_errors(result)}
            for name, role, size, result in judged
        ],
        "metric": _metric(task),
        "guess": number(_guess(y, task)),
        "n_rows": int(rows.size),
        "n_train": n_train,
        "n_test": int(rows.size) - n_train,
        "n_splits": n_splits,
        "n_restarts": n_restarts,
    }


class _Anew(BaseEstimator):
    """Chooses anew from some rows; what it chooses from all of them is known already."""

    def __init__(self, selector: Any, support: HostArray, n_rows: int) -> None:
        self.selector = selector
        self.support = support
        self.n_rows = n_rows

    def fit(self, X: HostArray, y: HostArray) -> Self:
        whole = X.shape[0] == self.n_rows
        self.support_ = self.support if whole else clone(self.selector).fit(X, y).get_support()
        return self

    def get_support(self) -> HostArray:
        return self.support_


def _quick(selector: Any) -> tuple[Any, int | None]:
    """A copy that starts its search a few times only; and how often, where that is less than it was."""
    quick = clone(selector)
    slow = {
        name: MOST_RESTARTS
        for name, value in quick.get_params().items()
        if name.split("__")[-1] == "n_restarts" and (value is None or value > MOST_RESTARTS)
    }
    return quick.set_params(**slow), MOST_RESTARTS if slow else None


def comparison_part(comparison: Any) -> dict[str, Any] | None:
    """Errors of several methods, and how far their sets agree.

    Parameters
    ----------
    comparison : SelectorComparison or None

    Returns
    -------
    part : dict or None
    """
    if comparison is None:
        return None
    results = list(comparison)[:MOST_METHODS]
    methods = [
        {
            "name": shown(result.name, 80),
            "seconds": number(result.seconds),
            "n_features": None if result.failure else int(result.n_features),
            **_errors(result),
        }
        for result in results
    ]
    # The set of all features agrees with others by its size only.
    told = [i for i, result in enumerate(results) if not result.failure and result.name != ALL_FEATURES]
    agreement = {
        "names": [methods[i]["name"] for i in told],
        "matrix": numbers(comparison.agreement[np.ix_(told, told)], 4),
    }
    return {
        "methods": methods,
        "metric": _metric(comparison.task),
        "agreement": agreement if len(told) > 1 else None,
    }


def _metric(task: str) -> dict[str, Any]:
    """What errors are counted in."""
    if task == "classification":
        return {"name": "error rate", "percent": True}
    return {"name": "root mean squared error", "percent": False}


def _errors(result: Any) -> dict[str, Any]:
    failed = result.failure is not None
    return {
        "error": number(result.error),
        "errors": [] if failed else numbers(result.errors),
        "failure": shown(result.failure, 300) if failed else None,
    }


def _guess(y: HostArray, task: str) -> float:
    """Error of always saying the same: the most frequent class, or the mean."""
    if task == "regression":
        return float(y.std())
    return 1.0 - float(np.unique(y, return_counts=True)[1].max()) / y.size
