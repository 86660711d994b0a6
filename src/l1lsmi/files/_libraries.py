"""Optional libraries, with an error that names the extra to install."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

from l1lsmi.files.problem import FileProblem


def import_optional(name: str, extra: str, purpose: str) -> Any:
    """Import an optional library.

    Parameters
    ----------
    name : str
        Of the module.
    extra : str
        The extra of this package that installs it.
    purpose : str
        What needs it, for the message.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError:
        library = name.split(".")[0]
        raise FileProblem(
            f"{purpose} needs {library}, which is not installed: pip install 'l1lsmi[{extra}]'."
        ) from None


def require_pyarrow() -> None:
    """Check for pyarrow before a module is imported that needs it."""
    import_optional("pyarrow", "cli", "A table in a file")
