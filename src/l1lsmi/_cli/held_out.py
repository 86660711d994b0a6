"""Errors on held-out rows, computed by a second process during the search."""

from __future__ import annotations

import multiprocessing
import os
import threading
from contextlib import suppress
from multiprocessing import resource_tracker
from types import TracebackType
from typing import Any

from l1lsmi._cli.data import Data
from l1lsmi._processes import sigint_blocked
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
        self._arguments = (selector, prepared.X[rows], prepared.y[rows], prepared.task, seed)
        self._process: Any = None
        self._pipe: Any = None

    def __enter__(self) -> HeldOutProcess:
        if (os.cpu_count() or 1) > 1:
            # Not a fork: libraries that read files keep threads. Not a pool: the locks of one that is killed
            # would have to be cleaned up.
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs,), daemon=True)
            try:
                if os.name == "posix":
                    # Python starts it with the first process otherwise, and unblocks signals after that.
                    resource_tracker.ensure_running()
                with sigint_blocked():
                    process.start()
                    self._process = process
                # In a thread, as sending blocks until the process has imported its libraries.
                threading.Thread(target=self._send, daemon=True).start()
            except OSError:  # no process can be started: this one computes the errors
                self._pipe.close()
            finally:
                theirs.close()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()

    def _send(self) -> None:
        with suppress(OSError, ValueError):  # of a process that ended before it received
            self._pipe.send(self._arguments)

    def errors(self) -> dict[str, Any]:
        """The result of `l1lsmi.report.held_out_errors`."""
        if self._process is not None:
            try:
                found: dict[str, Any] | Exception = self._pipe.recv()
            except (EOFError, OSError):  # the process was killed
                return _errors(*self._arguments)
            if isinstance(found, Exception):
                raise found
            return found
        return _errors(*self._arguments)


def _serve(pipe: Any) -> None:
    """Receive arguments, compute the errors and send them: what the second process runs."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):  # the other end is closed
        arguments = pipe.recv()
        try:
            found: Any = _errors(*arguments)
        except Exception as error:
            found = error
        pipe.send(found)


def _end_with_parent() -> None:
    """End this process with its parent, however that ends."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _errors(selector: Any, X: Any, y: Any, task: str, seed: int) -> dict[str, Any]:
    return held_out_errors(selector, X, y, task=task, max_rows=MAX_ROWS, random_state=seed)
