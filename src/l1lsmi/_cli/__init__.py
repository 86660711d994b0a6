"""The command line: ``l1lsmi select``, ``apply``, ``compare``, ``measure`` and ``schema``."""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from importlib.util import find_spec
from types import FrameType

INTERRUPTED = 130
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
    words = list(sys.argv[1:] if args is None else args)
    _open_streams()
    # What a console has no letters for is spelled out rather than refused.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if find_spec("click") is None:
        sys.exit("The command line needs click: install it with pip install 'l1lsmi[cli]'.")
    # Not an exception: it would have to find its way out of whichever library is being loaded, and some make
    # another error of it. An interruption that was to be ignored stays ignored.
    can_answer = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if can_answer:
        signal.signal(signal.SIGINT, lambda number, frame: _leave(words, frame))
    from l1lsmi._cli.app import run

    if can_answer:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # By then everything is said: a Ctrl-C that comes while the interpreter ends changes nothing.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    try:
        code = run(words)
    except KeyboardInterrupt:  # a second one, while the first was answered
        code = INTERRUPTED
    sys.exit(code)


def seconds_so_far() -> float:
    """Time since the command began, the loading of libraries included.

    Examples
    --------
    >>> from l1lsmi._cli import seconds_so_far
    >>> seconds_so_far() > 0
    True
    """
    return time.perf_counter() - _started


def _leave(words: Sequence[str], frame: FrameType | None) -> None:
    """Answer Ctrl-C before there is anything to clean up."""
    sentence = "Interrupted before there was a result."
    document = {"format": "l1lsmi-error", "version": 1, "kind": "interrupted", "message": sentence}
    try:
        if "--json" in words:
            os.write(1, f"{json.dumps(document)}\n".encode())
        os.write(2, f"Error: {sentence}\n".encode())
    finally:
        os._exit(INTERRUPTED)


def _open_streams() -> None:
    """Something in the place of standard streams that are closed.

    Else the next file that is opened would get their number, and be written into. Nothing is read from what
    stands in for standard input, nothing is seen of standard error, and a result for standard output is
    refused, as it would be lost.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is not None:
            continue
        # The lowest number that is free is the one that is missing.
        flags = os.O_WRONLY if name == "stderr" else os.O_RDONLY
        opened = os.open(os.devnull, flags)
        if opened == number:
            setattr(sys, name, os.fdopen(opened, mode, encoding="utf-8", closefd=False))
        else:
            os.close(opened)
