"""What a report says, as a plain dict: everything is worked out here, the page only shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._numerics.target import Target
from l1lsmi._validation.features import check_features
from l1lsmi._validation.target import check_target
from l1lsmi.explain import Explanation, explain_selection
from l1lsmi.explain._fitted import fitted_weights
from l1lsmi.report.judged import comparison_part, errors_in, held_out_errors
from l1lsmi.report.mentions import Mentions
from l1lsmi.report.names import feature_names_of, shown
from l1lsmi.report.parts import (
    chosen_part,
    columns_part,
    interactions_part,
    ranking_part,
    redundancy_part,
    sizes_part,
)
from l1lsmi.report.pictures import feature_plots
from l1lsmi.report.reproduce import again_part
from l1lsmi.report.search_path import path_part

VERSION = 1
#: What `asked` may say.
ASKED = ("command", "source", "format", "sha256", "seconds", "prepare")
#: Characters of a name inside a sentence.
LONGEST_IN_SENTENCE = 60
LONGEST_METHOD = 90
MOST_NOTES = 50


def collect(
    selector: Any,
    X: Any,
    y: Any,
    *,
    feature_names: Sequence[str] | None = None,
    target: str = "target",
    task: str = "auto",
    method: Any = None,
    asked: Mapping[str, Any] | None = None,
    table: Any = None,
    comparison: Any = None,
    held_out: bool | str | Mapping[str, Any] = True,
    n_splits: int = 3,
    held_out_rows: int = 300,
    max_rows: int = 500,
    random_state: Any = 0,
    made: datetime | None = None,
) -> dict[str, Any]:
    """Work out everything that a report says.

    Parameters
    ----------
    selector : fitted selector
    X : array-like of shape (n, m)
        What it was fitted to.
    y : array-like of shape (n,)
    feature_names : sequence of str or None, default=None
        None takes the names that the selector knows, or x0, x1, ...
    target : str, default="target"
        What y is called.
    task : {"auto", "classification", "regression"}, default="auto"
    method : str, object with ``title`` and ``summary``, or None, default=None
        What the method is called, such as an entry of `l1lsmi.methods.METHODS`; None takes the class of the
        selector.
    asked : mapping or None, default=None
        Where the data came from: "command", "source", "format", "sha256", "seconds" of the search, and in
        "prepare" the options given to `l1lsmi.files.prepare`. All may be left out.
    table : object with ``columns`` and ``notes``, or None, default=None
        What became of each column of a file, such as the result of `l1lsmi.files.prepare`.
    comparison : result of `l1lsmi.evaluation.compare_selectors`, or None, default=None
    held_out : bool, str or result of `held_out_errors`, default=True
        Whether to choose anew on part of the rows, with one start of the search, and count errors on the
        others; or what came out where that was done already. Most of the time of a report is spent on this.
        Where ``comparison`` has the selector in it, pass the name that it has there: the errors are those of
        the comparison then.
    n_splits : int, default=3
        How often.
    held_out_rows : int, default=300
        Rows that are used for it at most, drawn in proportion to the classes.
    max_rows : int, default=500
        Rows that explanations are worked out from at most.
    random_state : int, RandomState instance or None, default=0
        Draws rows and splits.
    made : datetime or None, default=None
        The time on the report; None is now.

    Returns
    -------
    report : dict
        Lists, dicts, text and numbers only; the layout is in ``schema.json``, see `schema`.

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
    said = _checked_asked(asked)
    names = feature_names_of(selector, X, feature_names)
    values = np.asarray(to_numpy(check_features(X)), dtype=np.float64)
    known = check_target(y, task)
    in_sentences = [shown(name, LONGEST_IN_SENTENCE) for name in names]
    explained = explain_selection(
        selector, X, y, max_rows=max_rows, random_state=random_state, feature_names=in_sentences
    )
    selected = np.flatnonzero(selector.get_support())
    mentions = Mentions(names, selected, fitted_weights(selector))
    if held_out is True:
        rules = {"n_splits": n_splits, "max_rows": held_out_rows, "random_state": random_state}
        held_out = held_out_errors(selector, X, y, task=task, **rules)
    judged = _errors_of(held_out, comparison)
    report = {
        "version": VERSION,
        "made": (made or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "asked": _asked_part(selector, said, method, target, known, values),
        **_explained_parts(selector, explained, mentions),
        "plots": feature_plots(values, known, mentions.selected, np.random.default_rng(0)),
        "held_out": judged,
        "comparison": comparison_part(comparison),
        "columns": columns_part(table, mentions),
        "notes": [shown(note, 1000) for note in tuple(getattr(table, "notes", ()))[:MOST_NOTES]],
        "ranking": ranking_part(selector, mentions),
        "reproduce": again_part(selector, said, target, table is not None),
    }
    return {**report, "features": mentions.listed()}


def _errors_of(held_out: bool | str | Mapping[str, Any], comparison: Any) -> dict[str, Any] | None:
    """Errors on rows not seen that were counted already."""
    if not isinstance(held_out, str):
        return dict(held_out) if isinstance(held_out, Mapping) else None
    if comparison is None:
        raise ValueError(f"held_out={held_out!r} needs a comparison that has this method: pass it too.")
    return errors_in(comparison, held_out)


def _explained_parts(selector: Any, explained: Explanation, mentions: Mentions) -> dict[str, Any]:
    return {
        "chosen": chosen_part(selector, explained.contributions, mentions),
        "sizes": sizes_part(explained.score_by_size, mentions),
        "redundancy": redundancy_part(explained.redundancy, mentions),
        "interactions": interactions_part(explained.interactions, mentions),
        "path": path_part(explained.path, mentions),
    }


def _checked_asked(asked: Mapping[str, Any] | None) -> dict[str, Any]:
    said = dict(asked or {})
    unknown = sorted(set(said) - set(ASKED))
    if unknown:
        raise ValueError(
            f"asked has {unknown[0]!r}, which a report has no place for: use {', '.join(ASKED)}."
        )
    return said


def _asked_part(
    selector: Any, asked: Mapping[str, Any], method: Any, target: str, known: Target, X: HostArray
) -> dict[str, Any]:
    summary = getattr(method, "summary", None)
    source = asked.get("source")
    return {
        "target": shown(target),
        "task": "classification" if known.is_classification else "regression",
        "k": int(np.count_nonzero(selector.get_support())),
        "method": shown(getattr(method, "title", method) or _described(selector)),
        "summary": None if summary is None else _inside_sentence(shown(summary, 1000)),
        "n_rows": int(X.shape[0]),
        "n_features": int(X.shape[1]),
        "n_classes": None if known.classes is None else int(known.classes.size),
        "source": None if source is None else shown(source),
    }


def _described(selector: Any) -> str:
    """A selector as it is written in Python, where that is short."""
    text = " ".join(repr(selector).split())
    return text if len(text) <= LONGEST_METHOD else type(selector).__name__


def _inside_sentence(text: str) -> str:
    """A sentence that goes on after a colon; names in capitals stay as they are."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
