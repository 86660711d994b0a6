"""The data of a report as a dict for JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np

from l1lsmi._clock import Budget, check_time, while_time_is_left
from l1lsmi._numerics.target import Target
from l1lsmi._validation.parameters import check_seconds
from l1lsmi._validation.target import check_target
from l1lsmi._warnings import renamed
from l1lsmi.baselines import MRMR, LassoK
from l1lsmi.evaluation import SelectionScores, selection_scores
from l1lsmi.explain import Contributions, Explanation, explain_selection
from l1lsmi.explain._evidence import WARNINGS, has_evidence, is_automatic, told_left_out
from l1lsmi.explain._fitted import column_names, fitted_weights, given_names, read_columns, selected_columns
from l1lsmi.report._comparison import comparison_section
from l1lsmi.report._feature_index import FeatureIndex
from l1lsmi.report._feature_plots import feature_plots
from l1lsmi.report._names import printable
from l1lsmi.report._path import path_section
from l1lsmi.report._reproduce import reproduce_section
from l1lsmi.report._sections import (
    columns_section,
    interactions_section,
    ranking_section,
    redundancy_section,
    selected_section,
    sizes_section,
    unseen_section,
)
from l1lsmi.report._values import ShownColumn, shown_column
from l1lsmi.report.held_out import errors_in, model_section

VERSION = 1
#: Keys of `asked`.
ASKED = ("command", "source", "format", "sha256", "seconds", "prepare", "transformed")
#: Longest name of a feature in a sentence, and of a method, in characters.
MAX_IN_SENTENCE = 60
MAX_METHOD = 90
MAX_NOTES = 50
#: Rows at most that explanations are computed from.
MAX_ROWS = 500
#: Share of a time limit that explanations may take, before the test of a model.
SHARE_OF_EXPLANATIONS = 0.5


def collect(
    selector: Any,
    X: Any,
    y: Any,
    *,
    feature_names: Sequence[str] | None = None,
    target: str | Sequence[str] | None = None,
    task: str = "auto",
    method: Any = None,
    asked: Mapping[str, Any] | None = None,
    table: Any = None,
    comparison: Any = None,
    held_out: bool | str | SelectionScores = True,
    model: Any = None,
    contributions: Contributions | None = None,
    explanation: Explanation | None = None,
    groups: Any = None,
    max_rows: int = MAX_ROWS,
    random_state: Any = 0,
    made: datetime | None = None,
    time_limit: float | None = None,
) -> dict[str, Any]:
    """Compute the data of a report.

    Parameters
    ----------
    selector : fitted selector
    X : array-like or dataframe of shape (n, m)
        The data that the selector was fitted to. Categories are shown by the names of their levels, and
        missing values as missing.
    y : array-like of shape (n,) or (n, t)
    feature_names : sequence of str or None, default=None
        None takes the names of the selector, or x0, x1, ...
    target : str, sequence of str or None, default=None
        Name of the target, or names of all targets; None takes the name of y, or "target".
    task : {"auto", "classification", "regression", "survival"}, default="auto"
    method : str, object with ``title`` and ``summary``, or None, default=None
        Name and description of the method, such as an entry of `l1lsmi.methods.METHODS`; None takes the
        ``repr`` of the selector.
    asked : mapping or None, default=None
        Origin of the data. All keys are optional: "command" (the command line), "source" (the file), "format"
        and "sha256" (of the file), "seconds" (time of the search), "prepare" (options of
        `l1lsmi.files.prepare`) and "transformed" (whether X is the output of other steps of a pipeline).
    table : object with ``columns`` and ``notes``, or None, default=None
        How each column of a file was used, such as the result of `l1lsmi.files.prepare`.
    comparison : result of `l1lsmi.evaluation.compare_selectors`, or None, default=None
    held_out : bool, str or SelectionScores, default=True
        Whether to compute `l1lsmi.evaluation.selection_scores`, which takes most of the time of a report; or
        the result of that function. A str is the name of the selector in ``comparison`` whose errors are
        used.
    model : estimator or None, default=None
        As in `l1lsmi.evaluation.selection_scores`.
    contributions : result of `l1lsmi.explain.contributions`, or None, default=None
        None computes them.
    explanation : result of `l1lsmi.explain.explain_selection`, or None, default=None
        None computes it.
    groups : array-like of shape (n,) or None, default=None
        Rows with the same label are in the same fold of a cross-validation.
    max_rows : int, default=500
        Number of rows to sample for the explanations.
    random_state : int, RandomState instance or None, default=0
        Determines samples and splits.
    made : datetime or None, default=None
        Date of the report; None takes the current time.
    time_limit : float or None, default=None
        Seconds after which unfinished explanations, and an unfinished test of a model, are left out; a note
        in the report says so.

    Returns
    -------
    report : dict
        Can be written as JSON; see `schema` for its structure.

    Examples
    --------
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.datasets import make_xor
    >>> from l1lsmi.report import collect
    >>> X, y = make_xor(100, random_state=0)
    >>> selector = L1LSMI(2, random_state=0).fit(X, y)
    >>> report = collect(selector, X, y, target="either", held_out=False)
    >>> [feature["name"] for feature in report["features"] if feature["selected"]]
    ['x0', 'x1']
    """
    budget = Budget(check_seconds("time_limit", time_limit))
    left_out: list[str] = []
    origin = _checked_asked(asked)
    selected = selected_columns(selector)
    names = column_names(selector, feature_names)
    values, columns = read_columns(selector, X)
    encoded = check_target(y, task)
    target = _name_of(y, encoded) if target is None else target
    if selected.size and explanation is None:
        with while_time_is_left(budget.part(SHARE_OF_EXPLANATIONS if held_out is True else 1.0)):
            check_time()
            options = {"max_rows": max_rows, "random_state": random_state, "contributions": contributions}
            explanation = explain_in_short(selector, X, y, names, **options)
        if explanation is None:
            left_out.append("explanations")
    if explanation is not None:
        selected = explanation.contributions.columns
    index = FeatureIndex(names, selected, fitted_weights(selector))
    if not selected.size:
        held_out = False
    if held_out is True:
        tested: SelectionScores | None = None
        categorical = getattr(selector, "categorical_features", "from_dtype")
        with while_time_is_left(budget):
            check_time()
            tested = selection_scores(
                selector,
                X,
                y,
                model=model,
                rivals=default_rivals(selected.size),
                task=task,
                groups=groups,
                categorical_features=categorical,
                random_state=random_state,
            )
        if tested is None:
            left_out.append("the test of a model on held-out rows")
        held_out = tested or False
    notes = (*told_left_out(left_out), *getattr(table, "notes", ()))
    kinds = {use.name: use.kind for use in getattr(table, "columns", ())}
    dates = {j for j, name in enumerate(names) if kinds.get(name) == "date"}
    column_of = partial(shown_column, X, values, columns, dates)
    report = {
        "version": VERSION,
        "made": (made or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "asked": _asked_section(selector, origin, method, _label(target), encoded, values.shape),
        "warnings": [printable(each, 1000) for each in _data_warnings(selector, names)],
        **_explained_sections(selector, explanation, contributions, index, column_of, encoded),
        "plots": feature_plots(column_of, encoded, index.selected, np.random.default_rng(0)),
        "held_out": _given_errors(held_out, comparison, values.shape[1]),
        "comparison": comparison_section(comparison),
        "columns": columns_section(table, index),
        "notes": [printable(note, 1000) for note in notes[:MAX_NOTES]],
        "ranking": ranking_section(selector, index),
        "reproduce": reproduce_section(selector, origin, target, table is not None),
    }
    return {**report, "features": index.entries()}


def default_rivals(k: int) -> dict[str, Any]:
    """Quick selectors of k features, with which a selection is compared."""
    return {"mRMR": MRMR(k), "Lasso": LassoK(k)}


def _given_errors(
    held_out: bool | str | SelectionScores, comparison: Any, n_features: int
) -> dict[str, Any] | None:
    """Errors of a model that are computed already, or part of a comparison."""
    if isinstance(held_out, SelectionScores):
        return model_section(held_out, n_features)
    if not isinstance(held_out, str):
        return None
    if comparison is None:
        raise ValueError(
            f"held_out={held_out!r} is the name of a method in a comparison, but comparison is None: pass "
            "comparison as well."
        )
    return errors_in(comparison, held_out)


def _explained_sections(
    selector: Any,
    explained: Explanation | None,
    contributions: Contributions | None,
    index: FeatureIndex,
    column_of: Callable[[int], ShownColumn],
    target: Target,
) -> dict[str, Any]:
    """Sections on the selected features; without explanations, what is known already."""
    n_rows = target.n_rows
    contributions = contributions if explained is None else explained.contributions
    chosen = selected_section(selector, contributions, index, n_rows)
    unseen = unseen_section(selector, index, n_rows)
    if explained is None:
        nothing = dict.fromkeys(("redundancy", "interactions", "path"))
        return {"chosen": chosen, "sizes": unseen, **nothing}
    return {
        "chosen": chosen,
        "sizes": unseen or sizes_section(explained.score_by_size, index),
        "redundancy": redundancy_section(explained.redundancy, index),
        "interactions": interactions_section(
            explained.interactions, index, column_of, target, plotted=has_evidence(selector) is not False
        ),
        "path": path_section(explained.path, index, chosen=is_automatic(selector)),
    }


def explain_in_short(
    selector: Any, X: Any, y: Any, names: Sequence[str], *, max_rows: int = MAX_ROWS, **options: Any
) -> Explanation:
    """Explain a selection for a report, in which long names are shortened."""
    short_names = [printable(name, MAX_IN_SENTENCE) for name in names]
    return explain_selection(selector, X, y, max_rows=max_rows, feature_names=short_names, **options)


def _name_of(y: Any, target: Target) -> str | list[str]:
    """The name of a column of a dataframe, or the names of several targets; "target" for arrays."""
    if target.parts:
        return [part.name for part in target.parts]
    names = given_names(y)
    name = getattr(y, "name", None) if names is None else next(iter(names), None)
    return "target" if name is None or callable(name) else str(name)


def _label(target: str | Sequence[str]) -> str:
    return target if isinstance(target, str) else ", ".join(target)


def _checked_asked(asked: Mapping[str, Any] | None) -> dict[str, Any]:
    origin = dict(asked or {})
    unknown = sorted(set(origin) - set(ASKED))
    if unknown:
        raise ValueError(f"asked has the unknown key {unknown[0]!r}: use {', '.join(ASKED)}.")
    return origin


def _asked_section(
    selector: Any, origin: Mapping[str, Any], method: Any, target: str, encoded: Target, shape: Sequence[int]
) -> dict[str, Any]:
    summary = getattr(method, "summary", None)
    source = origin.get("source")
    return {
        "target": printable(target),
        "task": encoded.task,
        "k": int(np.count_nonzero(selector.get_support())),
        "method": printable(getattr(method, "title", method) or _described(selector)),
        "summary": None if summary is None else _inside_sentence(printable(summary, 1000)),
        "n_rows": int(shape[0]),
        "n_features": int(shape[1]),
        "n_classes": None if encoded.classes is None else int(encoded.classes.size),
        "source": None if source is None else printable(source),
    }


def _described(selector: Any) -> str:
    """The ``repr`` of a selector where it is short, else its class name."""
    text = " ".join(repr(selector).split())
    return text if len(text) <= MAX_METHOD else type(selector).__name__


def _inside_sentence(text: str) -> str:
    """A sentence with a lower-case first letter, unless its first word is in capitals."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def _data_warnings(selector: Any, names: Sequence[str]) -> list[str]:
    """What to check about the data; the sentence on evidence is said elsewhere."""
    found = renamed(getattr(selector, "warnings_", ()), names)
    return [each for each in found if not each.startswith(WARNINGS)]
