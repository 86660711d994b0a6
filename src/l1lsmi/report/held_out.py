"""Errors of a predictor with the selected features on held-out rows."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from l1lsmi._arrays import to_numpy
from l1lsmi._validation.columns import is_frame, take_rows
from l1lsmi._validation.features import check_features
from l1lsmi._validation.target import check_target, plain_target, target_rows
from l1lsmi.evaluation import compare_selectors
from l1lsmi.evaluation.selectors import ALL_FEATURES
from l1lsmi.explain import sample_rows
from l1lsmi.explain._evidence import WARNINGS, is_automatic
from l1lsmi.report._comparison import MAX_METHOD_NAME, errors_of, metric_of
from l1lsmi.report._names import decoded_target, printable
from l1lsmi.report._numbers import number

#: Share of training rows in a split.
TRAIN_SHARE = 0.7
#: Restarts of the search in each split; more restarts rarely change the error.
MAX_RESTARTS = 1


def held_out_errors(
    selector: Any,
    X: Any,
    y: Any,
    *,
    task: str = "auto",
    groups: Any = None,
    n_splits: int = 3,
    max_rows: int = 300,
    random_state: Any = 0,
) -> dict[str, Any]:
    """Held-out errors of a predictor, with selected features and with all features.

    In each split, a copy of the selector is fitted to the training rows, with at most one restart of its
    search; where a fitted selector has chosen the number of features, its copies select as many. A support
    vector machine is fitted to the same rows and evaluated on the others.

    Parameters
    ----------
    selector : selector, fitted or not
    X : array-like or dataframe of shape (n, m)
        The support vector machine gets categories and missing values as in
        `l1lsmi.evaluation.held_out_error`.
    y : array-like of shape (n,) or (n, t)
    task : {"auto", "classification", "regression", "survival"}, default="auto"
    groups : array-like of shape (n,) or None, default=None
        Rows with the same label are either all training or all test rows of a split.
    n_splits : int, default=3
    max_rows : int, default=300
        Number of rows to sample, stratified by y.
    random_state : int, RandomState instance or None, default=0
        Determines the sample and the splits.

    Returns
    -------
    part : dict
        A value of the parameter ``held_out`` of `collect`.

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
    kind, values = known.task, decoded_target(known)
    if kind in ("several", "survival"):
        # Encoded as they were given: labels that are numbers stay labels.
        kind, values = task, plain_target(y, task)
    rows = sample_rows(values, kind, max_rows, random_state)
    if not is_frame(X):
        X = np.asarray(to_numpy(check_features(X, allow_missing=True)), dtype=np.float64)
    X, values = take_rows(X, rows), target_rows(values, rows)
    n_train = max(1, round(TRAIN_SHARE * rows.size)) if groups is None else None
    quick, n_restarts = _quick(selector)
    with warnings.catch_warnings():
        for beginning in WARNINGS:  # of parts of the rows
            warnings.filterwarnings("ignore", message=re.escape(beginning))
        comparison = compare_selectors(
            {"selected": quick},
            X,
            values,
            task=kind,
            n_splits=n_splits,
            n_train=n_train,
            groups=None if groups is None else np.asarray(groups)[rows],
            on_all_rows=False,
            random_state=random_state,
            categorical_features=getattr(selector, "categorical_features", "from_dtype"),
        )
    selection, all_features = comparison
    section = _section(comparison, selection, all_features)
    return {**section, "n_restarts": n_restarts, "compared_as": None}


def errors_in(comparison: Any, name: str) -> dict[str, Any] | None:
    """The result of `held_out_errors`, taken from a comparison that includes the selector.

    Parameters
    ----------
    comparison : SelectorComparison
    name : str
        Name of the selector in the comparison.

    Returns
    -------
    part : dict or None
        None where the comparison was stopped before this selector.
    """
    found = {result.name: result for result in comparison}
    if name not in found and not comparison.stopped:
        raise ValueError(
            f"held_out={name!r} is not a method of the comparison: pass one of {', '.join(found)}."
        )
    if name not in found:
        return None
    section = _section(comparison, found[name], found.get(ALL_FEATURES))
    return {**section, "n_restarts": None, "compared_as": printable(name, MAX_METHOD_NAME)}


def _section(comparison: Any, selection: Any, all_features: Any) -> dict[str, Any]:
    rows = [(f"{selection.n_features:,} selected", "selection", selection)]
    if all_features is not None:
        rows.append((f"all {all_features.n_features:,}", "all", all_features))
    return {
        "rows": [
            {"name": name, "role": role, "n_features": int(result.n_features), **errors_of(result)}
            for name, role, result in rows
        ],
        "metric": metric_of(comparison.task),
        "guess": number(comparison.guess),
        "n_rows": comparison.n_rows,
        "n_train": comparison.n_train,
        "n_test": comparison.n_test,
        "n_splits": comparison.n_splits,
    }


def _quick(selector: Any) -> tuple[Any, int | None]:
    """A copy with fewer restarts, and their number where it was reduced."""
    quick = clone(selector)
    if is_automatic(selector) and hasattr(selector, "support_") and selector.support_.any():
        quick.set_params(n_features_to_select=int(selector.support_.sum()))
    reduced = {
        name: MAX_RESTARTS
        for name, value in quick.get_params().items()
        if name.split("__")[-1] == "n_restarts" and (value is None or value > MAX_RESTARTS)
    }
    return quick.set_params(**reduced), MAX_RESTARTS if reduced else None
