"""How well a model predicts held-out rows, measured by a second process during the search."""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from types import TracebackType
from typing import Any

from threadpoolctl import threadpool_limits

from l1lsmi._cli.data import Data
from l1lsmi._cli.fitting import features_for, fit_arguments
from l1lsmi._clock import Budget, budget_in_force, while_time_is_left
from l1lsmi._processes import exit_with_parent, start_python
from l1lsmi.evaluation import SelectionScores, selection_scores
from l1lsmi.report.content import default_rivals


class HeldOutProcess:
    """Measures `selection_scores` in another process, where there is more than one core.

    The process imports its libraries as soon as it is entered, and measures from `begin` on.

    Parameters
    ----------
    data : Data
    method : str
        Name of the method, for messages.
    model : estimator or None
    seed : int
    """

    def __init__(self, data: Data, method: str, model: Any, seed: int) -> None:
        self._data, self._method = data, method
        self._options = {
            "model": model,
            "task": data.prepared.task,
            "groups": data.prepared.groups,
            "random_state": seed,
        }
        self._arguments: tuple[Any, ...] = ()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> HeldOutProcess:
        self._start()
        return self

    def _start(self) -> None:
        if (os.cpu_count() or 1) > 1 and sys.executable:
            with suppress(OSError):  # no process can be started: this one measures the scores
                self._process = start_python(__name__)

    def begin(self, selector: Any, k: int) -> None:
        """Let the process measure; what it measures so far is given up.

        Parameters
        ----------
        selector : selector
            Fitted, or not fitted and with a number of features.
        k : int
            Number of features.
        """
        if self._arguments:
            self._end()
            self._start()
        given = fit_arguments(selector, self._data, self._method)
        options = {**self._options, "rivals": default_rivals(k), "fit_params": given}
        self._arguments = (selector, features_for(self._data.features), self._data.prepared.y, options)
        if self._process is not None:
            # In a thread, as sending blocks until the process has imported its libraries.
            threading.Thread(target=self._send, args=(self._process.stdin,), daemon=True).start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                with suppress(OSError, ValueError):  # of what could not be sent
                    assert stream is not None
                    stream.close()
            self._process = None

    def _send(self, stream: Any) -> None:
        try:
            # Not closed, as the process ends when its standard input is closed.
            pickle.dump(self._arguments, stream)
            stream.flush()
        except Exception:
            # The process ended before it received, or something cannot be sent: this one measures the scores.
            with suppress(OSError, ValueError):
                stream.close()

    def scores(self) -> SelectionScores | None:
        """The result of `l1lsmi.evaluation.selection_scores`; None if the time is out first."""
        budget = budget_in_force() or Budget(None)
        if self._process is None:
            return self._scores_here(budget)
        answer: queue.SimpleQueue[Any] = queue.SimpleQueue()
        # In a thread, as what is read from a process cannot be waited for with a limit everywhere.
        threading.Thread(target=_receive, args=(self._process.stdout, answer), daemon=True).start()
        left = budget.left()
        try:
            found = answer.get(timeout=None if left is None else max(0.0, left))
        except queue.Empty:
            return None
        if isinstance(found, Exception):
            raise found
        return self._scores_here(budget) if found is None else found

    def _scores_here(self, budget: Budget) -> SelectionScores | None:
        with while_time_is_left(budget):
            return _scores(*self._arguments)
        return None


def _receive(stream: Any, answer: queue.SimpleQueue[Any]) -> None:
    """Put what a process sends into a queue; None if the process was killed."""
    found = None
    with suppress(EOFError, OSError, ValueError, pickle.UnpicklingError):
        found = pickle.load(stream)
    answer.put(found)


def serve() -> None:
    """Receive arguments, measure the scores and send them: what the second process runs."""
    with suppress(EOFError, OSError, pickle.UnpicklingError):  # the parent has ended
        arguments = pickle.load(sys.stdin.buffer)
        exit_with_parent()
        # What is printed goes to /dev/null rather than into the answer.
        answer = os.fdopen(os.dup(1), "wb")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        try:
            # The other process works at the same time, and OpenMP threads without a core wait for each other.
            with threadpool_limits(max(1, (os.cpu_count() or 1) // 2)):
                found: Any = _scores(*arguments)
        except Exception as error:
            found = error
        pickle.dump(found, answer)
        answer.flush()
        os._exit(0)  # a thread still waits for the parent


def _scores(selector: Any, X: Any, y: Any, options: dict[str, Any]) -> SelectionScores:
    return selection_scores(selector, X, y, **options)
