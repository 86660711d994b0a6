"""Callbacks: functions that are told of every step of a search, and may end it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

import numpy as np

from l1lsmi._arrays import HostArray

#: Called with the number of the step, the best set so far, its score, and the seconds since the fit began.
Callback: TypeAlias = Callable[[int, HostArray, float, float], Any]


class StoppedByCallback(Exception):
    """A callback ends searches on parts of the rows."""


class Listeners:
    """Callbacks of a fit, and how many steps they were told of."""

    def __init__(self, callbacks: Sequence[Callback]) -> None:
        self._callbacks = callbacks
        self._started = time.monotonic()
        self._n_steps = 0

    def tell(self, best: Sequence[int] | HostArray, score: float) -> bool:
        """Tell all of a step; whether one of them returns True."""
        self._n_steps += 1
        told = np.sort(np.asarray(best, dtype=np.intp)), float(score), time.monotonic() - self._started
        answers = [callback(self._n_steps, *told) for callback in self._callbacks]
        return any(isinstance(answer, bool | np.bool_) and bool(answer) for answer in answers)


# Searches on parts of the rows, in this thread or in others, are told as one step each.
_listeners: ContextVar[Listeners | None] = ContextVar("listeners", default=None)


@contextmanager
def heard_by(listeners: Listeners | None) -> Iterator[None]:
    """Tell listeners of every step from here on; None tells nobody."""
    token = _listeners.set(listeners)
    try:
        yield
    finally:
        _listeners.reset(token)


def tell(best: Sequence[int] | HostArray, score: float) -> bool:
    """Tell of a step; whether the search is to end."""
    listeners = _listeners.get()
    return listeners is not None and listeners.tell(best, score)
