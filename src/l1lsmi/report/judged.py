"""Errors on rows not seen: of this selection, and of several methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from l1lsmi.arrays import HostArray, to_numpy
from l1lsmi.evaluation import compare_selectors
from l1lsmi.evaluation.selectors import ALL_FEATURES
from l1lsmi.explain import sample_rows
from l1lsmi.report.names import plain_target, shown
from l1lsmi.report.numbers import number, numbers
from l1lsmi.validation import check_features, check_target

__all__ = ["comparison_part", "held_out_errors"]

#: Share of the rows that a split trains on.
TRAIN_SHARE = 0.7
#: Starts of a search that is made anew for a split; more seldom change the error and always take longer.
MOST_RESTARTS = 1
MOST_METHODS = 30


def held_out_errors(
    selector: Any,
    X: Any,
    y: Any,
    *,
    task: str = "auto",
    n_splits: int = 3,
    max_rows: int = 300,
    random_state: Any = 0,
) -> dict[str, Any]:
    """Errors of a predictor on rows not seen, with features that are chosen anew and with all features.

    Parameters
    ----------
    selector : selector, fitted or not
        A copy of it, with at most one start of its search, chooses on the training rows of each split.
    X : array-like of shape (n, m)
    y : array-like of shape (n,)
    task : {"auto", "classification", "regression"}, default="auto"
    n_splits : int, default=3
    max_rows : int, default=300
        Rows that are used at most, drawn in proportion to the classes.
    random_state : int, RandomState instance or None, default=0
        Draws rows and splits.

    Returns
    -------
    part : dict
        What `collect` takes as ``held_out``.

    Examples
    --------
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.datasets import make_xor
    >>> from l1lsmi.report import held_out_errors
    >>> X, y = make_xor(200, random_state=0)
    >>> part = held_out_errors(L1LSMI(2, random_state=0), X, y)
    >>> [(row["n_features"], row["error"] < 0.1) for row in part["rows"]]
    [(2, True), (10, True)]
    """
    known = check_target(y, task)
    kind = "classification" if known.is_classification else "regression"
    values = plain_target(known)
    rows = sample_rows(values, kind, max_rows, random_state)
    X, values = np.asarray(to_numpy(check_features(X)), dtype=np.float64)[rows], values[rows]
    n_train = max(1, round(TRAIN_SHARE * rows.size))
    quick, n_restarts = _quick(selector)
    chosen, everything = compare_selectors(
        {"chosen": quick},
        X,
        values,
        task=kind,
        n_splits=n_splits,
        n_train=n_train,
        on_all_rows=False,
        random_state=random_state,
    )
    judged = (
        (f"{chosen.n_features:,} chosen", "selection", chosen),
        (f"all {X.shape[1]:,}", "all", everything),
    )
    return {
        "rows": [
            {"name": name, "role": role, "n_features": int(result.n_features), **_errors(result)}
            for name, role, result in judged
        ],
        "metric": _metric(kind),
        "guess": number(_guess(values, kind)),
        "n_rows": int(rows.size),
        "n_train": n_train,
        "n_test": int(rows.size) - n_train,
        "n_splits": n_splits,
        "n_restarts": n_restarts,
    }


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
