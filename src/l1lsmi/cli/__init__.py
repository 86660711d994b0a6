"""The command line: ``l1lsmi select``, ``apply``, ``compare``, ``measure`` and ``schema``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    Parameters
    ----------
    args : sequence of str or None, default=None
        Arguments; None takes those of the process.

    Examples
    --------
    >>> from l1lsmi.cli import main
    >>> main(["--version"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    if find_spec("click") is None:
        sys.exit("The command line needs click: install it with pip install 'l1lsmi[cli]'.")
    from l1lsmi.cli.app import run

    sys.exit(run(args))
