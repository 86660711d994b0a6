"""Errors on rows not seen, counted by a second process while the first one searches."""

from __future__ import annotations

import multiprocessing
import os
import threading
from contextlib import suppress
from multiprocessing import resource_tracker
from types import TracebackType
from typing import Any

from l1lsmi._cli.options import Data
from l1lsmi._processes import sigint_blocked
from l1lsmi.explain import sample_rows
from l1lsmi.report import held_out_errors

#: Rows that errors are counted on at most.
MOST_ROWS = 300


class HeldOutAside:
    """Begins to count errors at once; whoever waits for them has less to wait for.

    Parameters
    ----------
    selector : selector
        Not fitted.
    data : Data
    seed : int
    """

    def __init__(self, selector: Any, data: Data, seed: int) -> None:
        prepared = data.prepared
        rows = sample_rows(prepared.y, prepared.task, MOST_ROWS, seed)
        self._work = (selector, prepared.X[rows], prepared.y[rows], prepared.task, seed)
        self._process: Any = None
        self._pipe: Any = None

    def __enter__(self) -> HeldOutAside:
        if (os.cpu_count() or 1) > 1:
            # Not a fork: libraries that read files keep threads. And no pool: its locks would have to be
            # cleaned up after a process that is killed.
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            process = context.Process(target=_count, args=(theirs,), daemon=True)
            try:
                if os.name == "posix":
                    # Python starts this helper along with the first process, and then lets signals through.
                    resource_tracker.ensure_running()
                with sigint_blocked():
                    process.start()
                self._process = process
                # From a thread, as it takes until the process has loaded its libraries.
                threading.Thread(target=self._hand_over, daemon=True).start()
            except OSError:  # where no process can be had, this one counts
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

    def _hand_over(self) -> None:
        with suppress(OSError, ValueError):  # of a process that is ended before it began
            self._pipe.send(self._work)

    def errors(self) -> dict[str, Any]:
        """What `l1lsmi.report.held_out_errors` gives."""
        if self._process is not None:
            try:
                found: dict[str, Any] | Exception = self._pipe.recv()
            except (EOFError, OSError):  # something ended the process
                return _errors(*self._work)
            if isinstance(found, Exception):
                raise found
            return found
        return _errors(*self._work)


def _count(pipe: Any) -> None:
    """What the second process does."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):  # where nobody is at the other end any more
        work = pipe.recv()
        try:
            found: Any = _errors(*work)
        except Exception as error:
            found = error
        pipe.send(found)


def _end_with_parent() -> None:
    """Nobody waits for an answer any more once the process that asked is gone, however it ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _errors(selector: Any, X: Any, y: Any, task: str, seed: int) -> dict[str, Any]:
    return held_out_errors(selector, X, y, task=task, max_rows=MOST_ROWS, random_state=seed)
