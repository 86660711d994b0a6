"""Ctrl-C: while libraries are imported, and during a search that returns its best set when interrupted."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

INTERRUPTED = 130
MESSAGE = "Interrupted before there was a result."


def can_handle_interrupt() -> bool:
    """Whether Ctrl-C has its default handler here; one that is ignored stays ignored."""
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler


@contextmanager
def exit_on_interrupt(as_json: bool) -> Iterator[None]:
    """Inside, Ctrl-C ends the process at once.

    For imports: a library that catches the exception while it is imported may turn it into another error.

    Parameters
    ----------
    as_json : bool
        Whether to print the error as JSON too.
    """
    if not can_handle_interrupt():
        yield
        return
    signal.signal(signal.SIGINT, lambda number, frame: _exit(as_json))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _exit(as_json: bool) -> None:
    document = {"format": "l1lsmi-error", "version": 1, "kind": "interrupted", "message": MESSAGE}
    try:
        if as_json:
            os.write(1, f"{json.dumps(document)}\n".encode())
        os.write(2, f"Error: {MESSAGE}\n".encode())
    finally:
        os._exit(INTERRUPTED)


class Interruption:
    """Inside, Ctrl-C raises KeyboardInterrupt as usual and is recorded.

    Attributes
    ----------
    happened : bool
    """

    def __init__(self) -> None:
        self.happened = False
        self._before: Any = None

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._record)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _record(self, number: int, frame: FrameType | None) -> None:
        self.happened = True
        raise KeyboardInterrupt
