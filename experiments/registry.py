"""Methods and datasets, found by their files."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

from experiments import datasets as dataset_files
from experiments import methods as method_files
from experiments.method import Method
from experiments.problem import Problem


@cache
def all_methods() -> dict[str, Method]:
    """Every method, by name."""
    return _collect(method_files, "METHOD")


@cache
def all_problems() -> dict[str, Problem]:
    """Every dataset, by name."""
    return _collect(dataset_files, "DATASET")


def pick(known: dict[str, Any], names: tuple[str, ...], what: str) -> dict[str, Any]:
    """Those with the given names, in their order."""
    for name in names:
        if name not in known:
            raise ValueError(f"There is no {what} {name!r}: choose from {', '.join(sorted(known))}.")
    return {name: known[name] for name in names}


def _collect(package: Any, variable: str) -> dict[str, Any]:
    found = {}
    # Files with a leading underscore are helpers.
    names = [info.name for info in pkgutil.iter_modules(package.__path__) if not info.name.startswith("_")]
    for name in names:
        thing = getattr(importlib.import_module(f"{package.__name__}.{name}"), variable, None)
        if thing is None or thing.name != name:
            raise ValueError(f"{package.__name__}/{name}.py must define {variable} with name={name!r}.")
        found[name] = thing
    return found
