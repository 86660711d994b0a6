"""A model of scikit-learn, or of another library that works like it, by its import path."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click


def import_model(path: str | None) -> Any:
    """An estimator with default parameters.

    Parameters
    ----------
    path : str or None
        Such as "sklearn.ensemble.RandomForestClassifier"; None gives None.
    """
    if path is None:
        return None
    module, _, name = path.rpartition(".")
    try:
        found = getattr(import_module(module), name) if module else None
    except (ImportError, AttributeError):
        found = None
    if not isinstance(found, type) or not all(hasattr(found, method) for method in ("fit", "predict")):
        raise click.UsageError(
            f"--model {path!r} is no model: give the import path of a class with fit and predict, such as "
            "sklearn.ensemble.RandomForestClassifier."
        )
    try:
        return found()
    except TypeError:
        raise click.UsageError(f"--model {path!r} cannot be made without arguments: give another.") from None
