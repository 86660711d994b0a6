"""Errors on rows not seen, counted by a second process while the first one searches."""

from __future__ import annotations

import multiprocessing
import os
import signal
from concurrent.futures import Future, ProcessPoolExecutor
from types import TracebackType
from typing import Any

from l1lsmi.cli.options import Data
from l1lsmi.explain import sample_rows
from l1lsmi.report import held_out_errors

__all__ = ["HeldOutAside"]

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
        self._pool: ProcessPoolExecutor | None = None
        self._future: Future[dict[str, Any]] | None = None

    def __enter__(self) -> HeldOutAside:
        if (os.cpu_count() or 1) > 1:
            # Not a fork: libraries that read files keep threads.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(1, mp_context=context, initializer=_ignore_interruptions)
            self._future = self._pool.submit(_errors, *self._work)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is None:
            return
        for process in list((self._pool._processes or {}).values()):
            process.terminate()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def errors(self) -> dict[str, Any]:
        """What `l1lsmi.report.held_out_errors` gives."""
        return _errors(*self._work) if self._future is None else self._future.result()


def _ignore_interruptions() -> None:
    """Ctrl-C is for the process that a person sees."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _errors(selector: Any, X: Any, y: Any, task: str, seed: int) -> dict[str, Any]:
    return held_out_errors(selector, X, y, task=task, max_rows=MOST_ROWS, random_state=seed)
