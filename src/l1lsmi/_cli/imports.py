"""Models and selectors of scikit-learn, or of another library that works like it, by import path."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import click

from l1lsmi._cli.text import printable
from l1lsmi.methods import METHODS, Method

#: Parameters that are a number of features, in selectors of scikit-learn and of other libraries.
SIZES = ("n_features_to_select", "k", "n_features", "max_features")


def import_model(path: str | None) -> Any:
    """An estimator with default parameters.

    Parameters
    ----------
    path : str or None
        Such as "sklearn.ensemble.RandomForestClassifier"; None gives None.
    """
    if path is None:
        return None
    found = _imported(path)
    if not isinstance(found, type) or not all(hasattr(found, method) for method in ("fit", "predict")):
        raise click.UsageError(
            f"--model {path!r} is not a model: give the import path of a class with fit and predict, such "
            "as sklearn.ensemble.RandomForestClassifier."
        )
    try:
        return found()
    except TypeError:
        raise click.UsageError(
            f"--model {path!r} cannot be created without arguments: give another model."
        ) from None


def find_methods(text: str) -> dict[str, Method]:
    """Methods by name, from a list that is separated by commas.

    Parameters
    ----------
    text : str
        Names of `METHODS`, and import paths of selectors.
    """
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise click.UsageError(f"--methods {printable(text)!r} names no method: use {', '.join(METHODS)}.")
    return {method.name: method for method in map(find_method, names)}


def find_method(name: str) -> Method:
    """A method by its name, or by the import path of a selector."""
    if name.lower() in METHODS:
        return METHODS[name.lower()]
    found = _imported(name) if "." in name else None
    if not isinstance(found, type) or not all(hasattr(found, method) for method in ("fit", "get_support")):
        raise click.UsageError(
            f"--methods has {printable(name)!r}, which is neither the import path of a selector, such as "
            f"sklearn.feature_selection.SelectKBest, nor one of: {', '.join(METHODS)}."
        )
    known = inspect.signature(found).parameters
    size = next((name for name in SIZES if name in known), None)
    needed = [
        p.name
        for p in known.values()
        if p.default is p.empty and p.name != size and p.kind == p.POSITIONAL_OR_KEYWORD
    ]
    if size is None or needed:
        lacks = f"needs the argument {needed[0]}" if needed else "has no parameter for the number of features"
        raise click.UsageError(
            f"--methods has {printable(name)!r}, which {lacks}: compare it in Python, with "
            "l1lsmi.evaluation.compare_selectors."
        )

    def build(k: int | None, **settings: Any) -> Any:
        given = {key: value for key, value in settings.items() if key in known and key != "task"}
        return found(**{size: k}, **given)

    summary = inspect.getdoc(found) or ""
    return Method(found.__name__, found.__name__, summary.split("\n")[0], False, build)


def _imported(path: str) -> Any:
    module, _, name = path.rpartition(".")
    try:
        return getattr(import_module(module), name, None) if module else None
    except (ImportError, ValueError):
        return None
