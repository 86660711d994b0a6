"""The worker processes of a run, and how they are stopped."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from types import TracebackType
from typing import Any

from threadpoolctl import threadpool_limits

from experiments.processes import ONE_THREAD
from experiments.store import Cell, Row, Store
from experiments.unit import Unit, UnitRunner

_state: dict[str, Any] = {}


class StopRequest:
    """Stops a run at the first interrupt once the running methods are finished, at the second at once.

    Selectors must not be interrupted: they would return the best set so far, which is not their result.
    """

    def __init__(self) -> None:
        self.requested = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopRequest:
        if threading.current_thread() is threading.main_thread():
            self._before = {
                number: signal.signal(number, self._on) for number in (signal.SIGINT, signal.SIGTERM)
            }
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _on(self, number: int, frame: Any) -> None:
        if self.requested:
            for child in multiprocessing.active_children():
                child.kill()
            os._exit(128 + number)
        self.requested = True


def begin(store: Store, stop: Any, deadline: float, data: str | None) -> None:
    """Initialise a worker process."""
    # A terminal interrupts all processes; the main process stops the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, daemon=True).start()
    os.environ.update(ONE_THREAD)
    if data is not None:
        os.environ["L1LSMI_DATA"] = data
    _state.update(store=store, stop=stop, deadline=deadline, threads=threadpool_limits(1))


def work(unit: Unit) -> list[Cell]:
    """Run the methods of a unit one after another; returns the finished cells."""
    store: Store = _state["store"]
    runner = UnitRunner(unit, store.log)
    finished: list[Cell] = []
    for name in unit.methods:
        if _state["stop"].is_set() or time.time() > _state["deadline"]:
            break
        store.log(f"started {unit.dataset} {unit.trial} {name}")
        store.write_part(runner.rows_of(name))
        finished.append((unit.dataset, unit.trial, name))
    return finished


def failed_rows(unit: Unit, name: str, reason: str) -> list[Row]:
    """Rows of a cell that failed as a whole."""
    return UnitRunner(unit).failed_rows(name, reason)


def _follow_parent() -> None:
    """End this process when its parent process ends, even if the parent is killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        sys.stderr.flush()
        os._exit(1)
