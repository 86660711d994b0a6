"""The command line: ``l1lsmi select``, ``apply``, ``compare``, ``measure`` and ``schema``."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec

from l1lsmi._cli.interrupt import INTERRUPTED, can_handle_interrupt, exit_on_interrupt

_started = time.perf_counter()


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    Parameters
    ----------
    args : sequence of str or None, default=None
        Arguments; None takes those of the process.

    Examples
    --------
    >>> from l1lsmi._cli import main
    >>> main(["--version"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    global _started
    _started = time.perf_counter()
    exits = _Exit()
    if args is None:
        # The first that is registered is the last that is called.
        atexit.register(exits)
    args = list(sys.argv[1:] if args is None else args)
    _open_streams()
    # Characters that the terminal's encoding lacks are escaped.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if find_spec("click") is None:
        sys.exit("The command line needs click: install it with pip install 'l1lsmi[cli]'.")
    with exit_on_interrupt("--json" in args):
        from l1lsmi._cli.app import run
    if can_handle_interrupt():
        # All output is written by then: Ctrl-C during the shutdown of the interpreter changes nothing.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    try:
        code = run(args)
    except KeyboardInterrupt:  # a second one, while the first was handled
        code = INTERRUPTED
    exits.code = code
    sys.exit(code)


class _Exit:
    """Ends the process once Python is done with it.

    Libraries may have threads that still start or wait; their destructors at the end of a process abort it.
    """

    code = 1

    def __call__(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):  # closed, full, or none
                stream.flush()
        os._exit(self.code)


def elapsed_seconds() -> float:
    """Time since the command began, imports included.

    Examples
    --------
    >>> from l1lsmi._cli import elapsed_seconds
    >>> elapsed_seconds() > 0
    True
    """
    return time.perf_counter() - _started


def _open_streams() -> None:
    """Replace standard streams that are closed.

    Otherwise the next file that is opened would get the descriptor of a closed stream, and be written to.
    Standard input reads as empty, standard error is discarded, and writing to standard output fails, as the
    result would be lost.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is not None:
            continue
        # The lowest free descriptor is the one that is closed.
        opened = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
        if opened == number:
            setattr(sys, name, os.fdopen(opened, mode, encoding="utf-8", closefd=False))
        else:
            os.close(opened)
