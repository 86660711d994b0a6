"""Errors of a model with the selected features on held-out rows, as a section of a report."""

from __future__ import annotations

from typing import Any

from l1lsmi.evaluation import SelectionScores
from l1lsmi.evaluation._words import SHARES, how_tested, model_sentences, shown
from l1lsmi.evaluation.selection_scores import ALL, NONE, SELECTED
from l1lsmi.evaluation.selectors import ALL_FEATURES
from l1lsmi.report._comparison import MAX_METHOD_NAME, errors_of, metric_of
from l1lsmi.report._names import printable
from l1lsmi.report._numbers import number

ROLES = {SELECTED: "selection", ALL: "all", NONE: "none"}


def model_section(scores: SelectionScores, n_features: int) -> dict[str, Any]:
    """The section with the scores of a model.

    Parameters
    ----------
    scores : SelectionScores
    n_features : int
        Number of all features.
    """
    return {
        "model": printable(scores.model, MAX_METHOD_NAME),
        "sentences": [printable(sentence, 1000) for sentence in model_sentences(scores, n_features)],
        "how": how_tested(scores),
        "metric": {"name": scores.metric, "percent": scores.metric in SHARES},
        "rows": [_row(one, scores) for one in scores.sets.values()],
        "compared_as": None,
    }


def _row(one: Any, scores: SelectionScores) -> dict[str, Any]:
    found = one.metrics.get(scores.metric)
    names = {
        SELECTED: f"{one.n_features:,} selected",
        ALL: f"all {one.n_features:,}",
        NONE: "no features",
    }
    return {
        "name": names.get(one.name, printable(one.name, MAX_METHOD_NAME)),
        "role": ROLES.get(one.name, "rival"),
        "n_features": int(one.n_features),
        "error": None if found is None else number(found.value),
        "standard_error": None if found is None else number(found.standard_error),
        "metrics": [{"name": name, "text": shown(value, name)} for name, value in one.metrics.items()],
        "failure": None if one.failure is None else printable(one.failure, 300),
    }


def errors_in(comparison: Any, name: str) -> dict[str, Any] | None:
    """The section with the errors of a selector in a comparison.

    Parameters
    ----------
    comparison : SelectorComparison
    name : str
        Name of the selector in the comparison.

    Returns
    -------
    part : dict or None
        None if the comparison was stopped before this selector was finished.
    """
    found = {result.name: result for result in comparison}
    if name not in found and not comparison.stopped:
        raise ValueError(
            f"held_out={name!r} is not a method of the comparison: pass one of {', '.join(found)}."
        )
    if name not in found:
        return None
    metric = metric_of(comparison.task)
    rows = [_compared(f"{found[name].n_features:,} selected", "selection", found[name])]
    if ALL_FEATURES in found:
        everything = found[ALL_FEATURES]
        rows.append(_compared(f"all {everything.n_features:,}", "all", everything))
    return {
        "model": "support vector machine",
        "sentences": [],
        "how": f"Means of {comparison.n_splits} random splits into {comparison.n_train:,} training rows and "
        f"{comparison.n_test:,} held-out rows.",
        "metric": metric,
        "rows": rows,
        "compared_as": printable(name, MAX_METHOD_NAME),
    }


def _compared(title: str, role: str, result: Any) -> dict[str, Any]:
    errors = errors_of(result)
    return {
        "name": title,
        "role": role,
        "n_features": int(result.n_features),
        "error": errors["error"],
        "standard_error": errors["standard_error"],
        "metrics": [],
        "failure": errors["failure"],
    }
