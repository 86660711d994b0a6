"""Errors on held-out rows, computed by a second process during the search."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from contextlib import suppress
from types import TracebackType
from typing import Any

from l1lsmi._cli.data import Data
from l1lsmi._cli.fitting import features_for
from l1lsmi._processes import exit_with_parent, start_python
from l1lsmi.explain import sample_rows
from l1lsmi.report import held_out_errors

#: Rows that the errors are computed from, at most.
MAX_ROWS = 300


class HeldOutProcess:
    """Computes errors on held-out rows in another process, where there is more than one core.

    Parameters
    ----------
    selector : selector
        Not fitted.
    data : Data
    seed : int
    """

    def __init__(self, selector: Any, data: Data, seed: int) -> None:
        prepared = data.prepared
        rows = sample_rows(prepared.y, prepared.task, MAX_ROWS, seed)
        groups = None if prepared.groups is None else prepared.groups[rows]
        X = features_for(prepared.X, rows)
        self._arguments = (selector, X, prepared.y[rows], prepared.task, groups, seed)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> HeldOutProcess:
        if (os.cpu_count() or 1) > 1 and sys.executable:
            with suppress(OSError):  # no process can be started: this one computes the errors
                self._process = start_python(__name__)
                # In a thread, as sending blocks until the process has imported its libraries.
                threading.Thread(target=self._send, args=(self._process.stdin,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                with suppress(OSError, ValueError):  # of what could not be sent
                    assert stream is not None
                    stream.close()

    def _send(self, stream: Any) -> None:
        with suppress(OSError, ValueError):  # of a process that ended before it received
            # Not closed, as the process ends when its standard input is closed.
            pickle.dump(self._arguments, stream)
            stream.flush()

    def errors(self) -> dict[str, Any]:
        """The result of `l1lsmi.report.held_out_errors`."""
        if self._process is not None:
            assert self._process.stdout is not None
            try:
                found: dict[str, Any] | Exception = pickle.load(self._process.stdout)
            except (EOFError, OSError, pickle.UnpicklingError):  # the process was killed
                return _errors(*self._arguments)
            if isinstance(found, Exception):
                raise found
            return found
        return _errors(*self._arguments)


def serve() -> None:
    """Receive arguments, compute the errors and send them: what the second process runs."""
    with suppress(EOFError, OSError, pickle.UnpicklingError):  # the parent has ended
        arguments = pickle.load(sys.stdin.buffer)
        exit_with_parent()
        # What is printed goes to /dev/null rather than into the answer.
        answer = os.fdopen(os.dup(1), "wb")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        try:
            found: Any = _errors(*arguments)
        except Exception as error:
            found = error
        pickle.dump(found, answer)
        answer.flush()
        os._exit(0)  # a thread still waits for the parent


def _errors(selector: Any, X: Any, y: Any, task: str, groups: Any, seed: int) -> dict[str, Any]:
    return held_out_errors(selector, X, y, task=task, groups=groups, max_rows=MAX_ROWS, random_state=seed)
