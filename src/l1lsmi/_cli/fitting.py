"""What a selector is given: features, and weights, groups, covariates and constraints where it takes them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import click
import numpy as np

from l1lsmi._cli.data import Data
from l1lsmi.files._stream import StreamedFeatures

#: Options, the arguments of ``fit`` that they become, and the attributes of `Prepared` that hold them.
ARGUMENTS = {"groups": "groups", "weights": "sample_weight", "covariates": "covariates"}


def features_for(X: Any, rows: Any = None) -> Any:
    """The features of some rows, as selectors, measures, comparisons and reports take them.

    Parameters
    ----------
    X : pyarrow.Table, numpy.ndarray or StreamedFeatures
    rows : ndarray of int or None
        Rows to take; None is all.
    """
    if isinstance(X, StreamedFeatures):
        return X.dataset if rows is None else X[rows]
    if rows is None:
        return X
    return X[rows] if isinstance(X, np.ndarray) else X.take(rows)


def fit_arguments(selector: Any, data: Data, method: str) -> dict[str, Any]:
    """Arguments of ``fit`` beside X and y, of those columns that were given.

    Parameters
    ----------
    selector : selector
    data : Data
    method : str
        Its name, for messages.
    """
    known = inspect.signature(selector.fit).parameters
    given = {}
    for option, argument in ARGUMENTS.items():
        value = getattr(data.prepared, argument)
        if value is None:
            continue
        if argument not in known:
            raise click.UsageError(f"--{option} is not supported by the method {method}: leave it out.")
        given[argument] = features_for(value) if argument == "covariates" else value
    return given


def configured(selector: Any, data: Data, method: str, options: dict[str, Any]) -> Any:
    """A selector with the parameters of --include, --exclude, --jobs and --resume, where they are given.

    Parameters
    ----------
    selector : selector
    data : Data
    method : str
        Its name, for messages.
    options : dict
        Options of the command.
    """
    parameters = selector.get_params(deep=True)
    for option, name in (("include", "must_include"), ("exclude", "must_exclude")):
        if options.get(option):
            if name not in parameters:
                raise click.UsageError(f"--{option} is not supported by the method {method}: leave it out.")
            selector.set_params(**{name: _places(option, data.names(options[option]), data)})
    if options.get("jobs") is not None:
        able = [name for name in parameters if name.split("__")[-1] == "n_jobs"]
        if not able:
            raise click.UsageError(f"--jobs is not supported by the method {method}: leave it out.")
        selector.set_params(**dict.fromkeys(able, options["jobs"]))
    if options.get("resume") is not None:
        if "checkpoint" not in parameters:
            raise click.UsageError(f"--resume is not supported by the method {method}: leave it out.")
        selector.set_params(checkpoint=options["resume"])
    return selector


def _places(option: str, names: Sequence[str], data: Data) -> list[int]:
    """Numbers of features."""
    place_of = {name: place for place, name in enumerate(data.prepared.feature_names)}
    uses = {use.name: use.used_as for use in data.prepared.columns}
    for name in names:
        if name not in place_of:
            data.table.column(name)  # raises if the file has no such column
            raise click.UsageError(f"--{option} {name!r} is not a feature: it is {uses[name]}.")
    return [place_of[name] for name in names]
