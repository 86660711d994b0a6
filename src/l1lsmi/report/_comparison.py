"""Comparison of selectors as a section of a report."""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi.evaluation.selectors import ALL_FEATURES
from l1lsmi.report._names import printable
from l1lsmi.report._numbers import number, numbers

MAX_METHODS = 30
#: Longest name of a method, in characters.
MAX_METHOD_NAME = 80


def comparison_section(comparison: Any) -> dict[str, Any] | None:
    """Errors of the methods, best first, and the overlap of their selected sets.

    Parameters
    ----------
    comparison : SelectorComparison or None

    Returns
    -------
    part : dict or None
    """
    if comparison is None:
        return None
    order = sorted(range(len(comparison.results)), key=lambda i: _sort_key(comparison.results[i]))
    order = order[:MAX_METHODS]
    results = [comparison.results[i] for i in order]
    methods = [
        {
            "name": printable(result.name, MAX_METHOD_NAME),
            "seconds": number(result.seconds),
            "n_features": None if result.failure else int(result.n_features),
            **errors_of(result),
        }
        for result in results
    ]
    # Overlap with the set of all features is only a matter of size.
    selecting = [i for i in order if _sort_key(comparison.results[i])[0] == 0]
    return {
        "methods": methods,
        "metric": metric_of(comparison.task),
        "guess": number(comparison.guess),
        "n_rows": comparison.n_rows,
        "n_splits": comparison.n_splits,
        "stopped": comparison.stopped,
        "agreement": _agreement(comparison, selecting) if len(selecting) > 1 else None,
    }


def _sort_key(result: Any) -> tuple[int, float]:
    """Methods by error, then all features, then failures, as on the command line."""
    if result.failure:
        return 2, 0.0
    return int(result.name == ALL_FEATURES), float(result.error)


def _agreement(comparison: Any, methods: list[int]) -> dict[str, Any]:
    sets = [set(comparison.results[i].support.tolist()) for i in methods]
    return {
        "names": [printable(comparison.results[i].name, MAX_METHOD_NAME) for i in methods],
        "sizes": [len(features) for features in sets],
        "shared": [[len(one & other) for other in sets] for one in sets],
        "matrix": numbers(comparison.agreement[np.ix_(methods, methods)], 4),
    }


def metric_of(task: str) -> dict[str, Any]:
    """Name of the error of a task, and whether it is shown in percent."""
    if task == "classification":
        return {"name": "error rate", "percent": True}
    if task in ("several", "survival"):
        return {"name": "standardised error", "percent": False}
    return {"name": "root mean squared error", "percent": False}


def errors_of(result: Any) -> dict[str, Any]:
    """Mean error, its standard error, the error of each split, and the failure of a method."""
    failed = result.failure is not None
    return {
        "error": number(result.error),
        "standard_error": number(result.standard_error),
        "errors": [] if failed else numbers(result.errors),
        "failure": printable(result.failure, 300) if failed else None,
    }
