"""Supervised feature selection that sees interactions, redundancy and non-linear dependence."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from l1lsmi.selectors import L1HSIC, L1LSMI, FeatureSelector

__all__ = ["L1LSMI", "L1HSIC", "FeatureSelector", "__version__"]
__version__ = "0.1.0"

SELECTORS = ("L1LSMI", "L1HSIC", "FeatureSelector")
ROOMS = ("baselines", "evaluation", "measures", "methods", "selectors", "strategies")


def __getattr__(name: str) -> Any:
    # Loaded when they are asked for: the command line has to be able to answer Ctrl-C while scikit-learn
    # loads, and the process that reads HDF5 does not need it at all.
    if name in SELECTORS:
        return getattr(importlib.import_module("l1lsmi.selectors"), name)
    if name in ROOMS:
        return importlib.import_module(f"l1lsmi.{name}")
    raise AttributeError(f"module 'l1lsmi' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *SELECTORS, *ROOMS})
