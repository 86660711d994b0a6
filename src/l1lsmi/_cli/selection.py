"""A selection as a JSON document, which `select` prints and saves, and `apply` reads."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from l1lsmi._cli.data import Data
from l1lsmi._cli.text import printable
from l1lsmi._columns.rules import Rule
from l1lsmi._columns.saved import saved_rule
from l1lsmi._versions import versions
from l1lsmi._warnings import renamed
from l1lsmi.evaluation import SelectionScores
from l1lsmi.explain import Contributions
from l1lsmi.explain._evidence import told_dispensable
from l1lsmi.explain._fitted import fitted_weights
from l1lsmi.files import FileProblem

FORMAT, VERSION = "l1lsmi-selection", 1
#: A selection has only names: a larger file is something else.
MAX_BYTES = 100_000_000
#: Attributes of selectors that hold their score, and its name.
SCORES = {"smi_": "smi", "hsic_": "hsic", "score_": "score"}


def order(selector: Any, contributions: Contributions | None) -> np.ndarray:
    """The selected features, largest contribution first, or as the method orders them."""
    if contributions is not None:
        return contributions.columns
    chosen = np.flatnonzero(selector.get_support())
    for name in ("weights_", "scores_", "relevance_"):
        values = getattr(selector, name, None)
        if values is not None and np.shape(values) == (selector.n_features_in_,):
            return chosen[np.argsort(-np.asarray(values)[chosen], kind="stable")]
    added = [
        step.feature for step in getattr(selector, "path_", []) if getattr(step, "feature", None) in chosen
    ]
    sizes = [step.size for step in getattr(selector, "path_", [])]
    if len(added) == chosen.size and sizes == sorted(sizes):  # a forward search
        return np.asarray(added)
    return chosen


def score_of(selector: Any) -> dict[str, Any] | None:
    """The score of the selected set, with its name; None if the selector has none."""
    for attribute, name in SCORES.items():
        if hasattr(selector, attribute):
            return {"name": name, "value": float(getattr(selector, attribute))}
    return None


def document(
    selector: Any,
    data: Data,
    asked: dict[str, Any],
    seconds: float,
    notes: list[str],
    contributions: Contributions | None = None,
    scores: SelectionScores | None = None,
) -> dict[str, Any]:
    """The JSON document of a selection.

    Parameters
    ----------
    selector : fitted selector
    data : Data
    asked : dict
        Method, k (a number or "auto"), seed and time_limit, and names of columns.
    seconds : float
        Duration of the search.
    notes : list of str
    contributions : Contributions or None
    scores : SelectionScores or None
    """
    prepared, table = data.prepared, data.table
    weights = fitted_weights(selector)
    uses = {use.name: use.used_as for use in prepared.columns}
    features = [
        {
            "name": prepared.feature_names[j],
            "column": prepared.feature_names[j],
            "used_as": uses[prepared.feature_names[j]],
            "read_as": _read_as(prepared, prepared.feature_names[j]),
            "weight": None if weights is None else float(weights[j]),
            **_contribution(contributions, place),
        }
        for place, j in enumerate(order(selector, contributions))
    ]
    used = {feature["column"] for feature in features}
    return {
        "format": FORMAT,
        "version": VERSION,
        "versions": versions(),
        "file": {
            "source": table.source,
            "format": table.format,
            "sha256": table.sha256,
            "rows": table.n_rows,
            "columns": len(table.columns),
        },
        "target": prepared.target,
        "targets": data.targets,
        "task": data.task,
        "classes": data.classes,
        "rows_used": data.shape[0],
        "features_considered": data.shape[1],
        **asked,
        "features": features,
        "columns": [column.name for column in table.columns if column.name in used],
        "score": score_of(selector),
        "p_value": getattr(selector, "p_value_", None),
        "validation": _validation(selector),
        "dispensable": _dispensable(selector, contributions),
        "scores": None if scores is None else _scores(scores),
        "stop_reason": getattr(selector, "stop_reason_", None),
        "left_out": [
            {"name": use.name, "why": use.used_as.removeprefix("left out: ")}
            for use in prepared.columns
            if use.used_as.startswith("left out")
        ],
        "warnings": renamed(selector.warnings_, prepared.feature_names),
        "notes": [*data.notes, *notes],
        "seconds": {"read": round(data.seconds, 4), "select": round(seconds, 4)},
    }


def _read_as(prepared: Any, name: str) -> dict[str, Any]:
    """How the cells of a feature are read."""
    if prepared.preparation is None:  # numbers on disk
        kind = next(use.kind for use in prepared.columns if use.name == name)
        return saved_rule(Rule(kind, kind))
    return saved_rule(prepared.preparation._rules[name])


def _contribution(contributions: Contributions | None, place: int) -> dict[str, float | None]:
    """What the feature at a place contributes."""
    if contributions is None:
        return dict.fromkeys(("contribution", "standard_error", "frequency"))
    frequency = contributions.frequency
    return {
        "contribution": float(contributions.lost[place]),
        "standard_error": float(contributions.standard_error[place]),
        "frequency": None if frequency is None else float(frequency[place]),
    }


def _dispensable(selector: Any, contributions: Contributions | None) -> dict[str, Any] | None:
    """Features that are not needed, and the sentence about them."""
    sentence = told_dispensable(selector, contributions)
    found = None if contributions is None else contributions.dispensable
    if sentence is None or found is None:
        return None
    return {
        "features": list(found.names),
        "contribution": found.lost,
        "standard_error": found.standard_error,
        "sentence": sentence,
    }


def _scores(scores: SelectionScores) -> dict[str, Any]:
    """How well a model predicts held-out rows."""
    return {
        "model": scores.model,
        "metric": scores.metric,
        "best_rival": scores.best_rival,
        "sets": [
            {
                "name": one.name,
                "n_features": one.n_features,
                "metrics": {
                    name: {"value": found.value, "standard_error": found.standard_error}
                    for name, found in one.metrics.items()
                },
                "failure": None if one.failure is None else printable(one.failure),
            }
            for one in scores.sets.values()
        ],
        "rows_trained": scores.n_train,
        "rows_tested": scores.n_tested,
        "folds": scores.n_folds,
    }


def _validation(selector: Any) -> dict[str, Any] | None:
    """How well sets of each size predict unseen rows; None where these had nothing to decide."""
    found = getattr(selector, "validation_", None)
    if found is None:
        return None
    curves = {name: getattr(found, name).tolist() for name in ("k", "mean", "standard_error", "per_split")}
    return {**curves, "best_k": int(found.best_k)}


def load_selection(path: str) -> dict[str, Any]:
    """A saved selection, checked.

    Parameters
    ----------
    path : str

    Returns
    -------
    document : dict
    """
    shown = printable(path)
    with open(path, "rb") as stream:
        # No more than this, as a device may have no end.
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise FileProblem(
            f"{shown} is too large for a selection: pass a file written by l1lsmi select --save."
        )
    try:
        found = json.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise FileProblem(f"{shown} is not JSON: pass a file written by l1lsmi select --save.") from None
    except ValueError:  # of numbers with thousands of digits
        found = None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise FileProblem(f"{shown} is not a selection: pass a file written by l1lsmi select --save.")
    if found.get("version") != VERSION:
        raise FileProblem(
            f"{shown} has version {str(found.get('version'))[:20]!r} of the format, and this program reads "
            f"version {VERSION}: select again, or install the version of l1lsmi that wrote it."
        )
    columns = found.get("columns")
    if columns == []:
        raise FileProblem(f"{shown} has no selected columns: there is nothing to take from other files.")
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        raise FileProblem(f"{shown} has no list of columns: select again with l1lsmi select --save.")
    return found
