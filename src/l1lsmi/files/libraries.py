"""Optional libraries: imported when a file needs them, with a sentence where they are missing."""

from __future__ import annotations

import importlib
import warnings
from functools import cache
from typing import Any

from l1lsmi.files.problem import FileProblem


def library(name: str, extra: str, purpose: str) -> Any:
    """Import an optional library.

    Parameters
    ----------
    name : str
        Of the module.
    extra : str
        The extra of this package that brings it.
    purpose : str
        What needs it, for the message.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError:
        raise FileProblem(
            f"{purpose} needs {name.split('.')[0]}, which is not installed: pip install 'l1lsmi[{extra}]'."
        ) from None


@cache
def arrow() -> Any:
    """What most formats are read with."""
    return library("pyarrow", "cli", "A table in a file")


@cache
def compute() -> Any:
    """Functions on arrays of Arrow."""
    return library("pyarrow.compute", "cli", "A table in a file")
