"""What runs in the processes of a run, and how they are told to stop."""

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
from experiments.unit import Desk, Unit

_state: dict[str, Any] = {}


class StopRequest:
    """Takes interrupts as a request to stop in good order; a second one ends the run at once.

    A selector that is interrupted would return the best set so far, which must not pass for its answer.
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
    """First thing in a process."""
    # An interrupt comes to every process of a terminal; the first one tells the others what to do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, daemon=True).start()
    os.environ.update(ONE_THREAD)
    if data is not None:
        os.environ["L1LSMI_DATA"] = data
    _state.update(store=store, stop=stop, deadline=deadline, threads=threadpool_limits(1))


def work(unit: Unit) -> list[Cell]:
    """Run the methods of a unit one after another; returns those it finished."""
    store: Store = _state["store"]
    desk = Desk(unit, store.note)
    finished: list[Cell] = []
    for name in unit.methods:
        if _state["stop"].is_set() or time.time() > _state["deadline"]:
            break
        store.note(f"started {unit.dataset} {unit.trial} {name}")
        store.write_part(desk.rows_of(name))
        finished.append((unit.dataset, unit.trial, name))
    return finished


def failed_rows(unit: Unit, name: str, reason: str) -> list[Row]:
    """Rows that say why a cell has no values."""
    return Desk(unit).failed_rows(name, reason)


def _follow_parent() -> None:
    """End with the process that started this one, however it ends: nobody else would."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        sys.stderr.flush()
        os._exit(1)
