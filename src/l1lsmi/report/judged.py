"""Errors on rows not seen: of this selection, and of several methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from l1lsmi._arrays import to_numpy
from l1lsmi._validation.features import check_features
from l1lsmi._validation.target import check_target
from l1lsmi.evaluation import compare_selectors
from l1lsmi.evaluation.selectors import ALL_FEATURES
from l1lsmi.explain import sample_rows
from l1lsmi.report.names import plain_target, shown
from l1lsmi.report.numbers import number, numbers

#: Share of the rows that a split trains on.
TRAIN_SHARE = 0.7
#: Starts of a search that is made anew for a split; more seldom change the error and always take longer.
MOST_RESTARTS = 1
MOST_METHODS = 30
#: Characters of the name of a method.
LONGEST_METHOD = 80


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
    comparison = compare_selectors(
        {"chosen": quick},
        X,
        values,
        task=kind,
        n_splits=n_splits,
        n_train=n_train,
        on_all_rows=False,
        random_state=random_state,
    )
    chosen, everything = comparison
    return {**_judged(comparison, chosen, everything), "n_restarts": n_restarts, "compared_as": None}


def errors_in(comparison: Any, name: str) -> dict[str, Any] | None:
    """What `held_out_errors` gives, taken from a comparison that has the selector in it.

    Parameters
    ----------
    comparison : SelectorComparison
    name : str
        What the selector is called there.

    Returns
    -------
    part : dict or None
        None where the comparison was stopped before the selector was done.
    """
    found = {result.name: result for result in comparison}
    if name not in found and not comparison.stopped:
        raise ValueError(
            f"held_out={name!r} is none of the methods that were compared: pass one of {', '.join(found)}."
        )
    if name not in found:
        return None
    part = _judged(comparison, found[name], found.get(ALL_FEATURES))
    return {**part, "n_restarts": None, "compared_as": shown(name, LONGEST_METHOD)}


def _judged(comparison: Any, chosen: Any, everything: Any) -> dict[str, Any]:
    rows = [(f"{chosen.n_features:,} chosen", "selection", chosen)]
    if everything is not None:
        rows.append((f"all {everything.n_features:,}", "all", everything))
    return {
        "rows": [
            {"name": name, "role": role, "n_features": int(result.n_features), **_errors(result)}
            for name, role, result in rows
        ],
        "metric": _metric(comparison.task),
        "guess": number(comparison.guess),
        "n_rows": comparison.n_rows,
        "n_train": comparison.n_train,
        "n_test": comparison.n_test,
        "n_splits": comparison.n_splits,
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
    """Errors of several methods, the best first, and how far their sets agree.

    Parameters
    ----------
    comparison : SelectorComparison or None

    Returns
    -------
    part : dict or None
    """
    if comparison is None:
        return None
    places = sorted(range(len(comparison.results)), key=lambda i: _place(comparison.results[i]))
    places = places[:MOST_METHODS]
    results = [comparison.results[i] for i in places]
    methods = [
        {
            "name": shown(result.name, LONGEST_METHOD),
            "seconds": number(result.seconds),
            "n_features": None if result.failure else int(result.n_features),
            **_errors(result),
        }
        for result in results
    ]
    # The set of all features agrees with others by its size only.
    told = [i for i in places if _place(comparison.results[i])[0] == 0]
    return {
        "methods": methods,
        "metric": _metric(comparison.task),
        "guess": number(comparison.guess),
        "n_rows": comparison.n_rows,
        "n_splits": comparison.n_splits,
        "stopped": comparison.stopped,
        "agreement": _agreement_part(comparison, told) if len(told) > 1 else None,
    }


def _place(result: Any) -> tuple[int, float]:
    """Methods by their error, then all features, then what failed: the order of the command line."""
    if result.failure:
        return 2, 0.0
    return int(result.name == ALL_FEATURES), float(result.error)


def _agreement_part(comparison: Any, told: list[int]) -> dict[str, Any]:
    sets = [set(comparison.results[i].support.tolist()) for i in told]
    return {
        "names": [shown(comparison.results[i].name, LONGEST_METHOD) for i in told],
        "sizes": [len(features) for features in sets],
        "shared": [[len(one & other) for other in sets] for one in sets],
        "matrix": numbers(comparison.agreement[np.ix_(told, told)], 4),
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
