"""What runs in the processes of a run, and how they are told to stop."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from multiprocessing import forkserver
from types import TracebackType
from typing import Any

from threadpoolctl import threadpool_limits

from experiments.store import Cell, Row, Store
from experiments.unit import Desk, Unit

#: A fork server imports everything once; where there is none (Windows), every process does.
START = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
CONTEXT = multiprocessing.get_context(START)
#: One thread per process: the trials are what is run side by side.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")

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


def prepare() -> None:
    """Start the fork server early: it imports while this process does other things."""
    for name in THREADS:
        os.environ[name] = "1"
    if START == "forkserver":
        CONTEXT.set_forkserver_preload(["experiments.workers", "experiments.registry"])
        forkserver.ensure_running()


def begin(store: Store, stop: Any, deadline: float) -> None:
    """First thing in a process."""
    # Both come to every process of a terminal; the first process tells the others what to do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, daemon=True).start()
    os.environ |= dict.fromkeys(THREADS, "1")
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
