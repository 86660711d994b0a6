"""Supervised feature selection that detects interactions, redundancy and non-linear dependence."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from l1lsmi.selectors import L1HSIC, L1LSMI, FeatureSelector

__all__ = ["L1LSMI", "L1HSIC", "FeatureSelector", "__version__"]
__version__ = "0.1.0"

SELECTORS = ("L1LSMI", "L1HSIC", "FeatureSelector")
ROOMS = ("baselines", "evaluation", "measures", "methods", "preparation", "selectors", "strategies")


def __getattr__(name: str) -> Any:
    # Imported when they are used: the command line prints its help, and handles Ctrl-C, without scikit-learn,
    # and the process that reads HDF5 does not need it.
    if name in SELECTORS:
        return getattr(importlib.import_module("l1lsmi.selectors"), name)
    if name in ROOMS:
        return importlib.import_module(f"l1lsmi.{name}")
    raise AttributeError(f"module 'l1lsmi' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *SELECTORS, *ROOMS})
