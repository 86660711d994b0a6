"""The one clock of a fit or a command: made where it begins, and asked between pieces of bounded work.

Whoever has a time limit makes a `Budget` and works inside `limited`. Loops over blocks of rows, columns, sets
and steps of a solver call `check_time`, which raises `OutOfTimeError` when the time is out: no piece of work
between two calls may take long. Whoever made the budget catches the error and answers with what it has.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, cast

T = TypeVar("T")

#: Seconds, and share of the time limit, that an answer may take when the time is out.
LEAST_GRACE = 0.4
GRACE = 0.02
#: Seconds between two looks at the clock while a thread is waited for.
WAIT = 0.1


class OutOfTimeError(BaseException):
    """The time limit was reached in the middle of a computation.

    Like Ctrl-C it is no error of the computation: code that survives errors must not survive it.
    """


class Budget:
    """A deadline that can also be brought forward from outside.

    Parameters
    ----------
    time_limit : float or None
        Seconds from now.
    outer : Budget or None
        When its time is out, so is that of this one; None takes the one that is in force.
    """

    def __init__(self, time_limit: float | None, outer: Budget | None = None) -> None:
        self.started = time.monotonic()
        self.time_limit = time_limit
        self.cancelled = False
        self.outer = _in_force.get() if outer is None else outer

    def __getstate__(self) -> dict[str, Any]:
        """What is left of the time: clocks of different machines do not agree."""
        return {"time_limit": self.left(), "cancelled": self.cancelled, "outer": self.outer}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.started = time.monotonic()
        self.time_limit, self.cancelled, self.outer = state["time_limit"], state["cancelled"], state["outer"]

    def left(self) -> float | None:
        """Seconds that are left, below 0 when the time is out; None without a limit."""
        own = None if self.time_limit is None else self.time_limit - (time.monotonic() - self.started)
        other = None if self.outer is None else self.outer.left()
        return min((left for left in (own, other) if left is not None), default=None)

    def part(self, share: float) -> Budget:
        """A share of the time that is left."""
        left = self.left()
        return Budget(None if left is None else share * max(left, 0.0), self)

    def with_grace(self) -> Budget:
        """The time that is left and a little more, for an answer from what is known.

        After Ctrl-C the little is all, and it does not end with this budget, but with the one around it.
        """
        if self.cancelled:
            return Budget(LEAST_GRACE, self.outer)
        left = None if self.time_limit is None else self.time_limit - (time.monotonic() - self.started)
        more = max(LEAST_GRACE, GRACE * (self.time_limit or 0.0))
        return Budget(None if left is None else max(left, 0.0) + more, self.outer)

    def spent(self) -> bool:
        """Tell whether it is time to stop."""
        if self.cancelled or (self.outer is not None and self.outer.spent()):
            return True
        return self.time_limit is not None and time.monotonic() - self.started >= self.time_limit

    def check_outer(self) -> None:
        """Raise `OutOfTimeError` if the time of the budget around this one is out: its maker will answer."""
        if self.outer is not None and self.outer.spent():
            raise OutOfTimeError


_in_force: ContextVar[Budget | None] = ContextVar("_in_force", default=None)


def budget_in_force() -> Budget | None:
    """The innermost budget that the caller works in; None where there is none."""
    return _in_force.get()


@contextmanager
def limited(budget: Budget | None) -> Iterator[None]:
    """Work in a budget: inside, `check_time` asks this one. Threads begin without any."""
    before = _in_force.set(budget)
    try:
        yield
    finally:
        _in_force.reset(before)


@contextmanager
def while_time_is_left(budget: Budget) -> Iterator[None]:
    """Work in a budget, and leave the context without an error when its time is out."""
    try:
        with limited(budget):
            yield
    except OutOfTimeError:
        pass


def call_in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Call a function that nothing can interrupt, such as a decomposition of a large matrix.

    It runs in a thread of its own: Ctrl-C and the time limit do not wait for it. The thread then ends when it
    next looks at the clock, and what it found is dropped.
    """
    answer: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
    budget = Budget(None)

    def run() -> None:
        try:
            with limited(budget):
                answer.put((function(*arguments), None))
        except BaseException as error:
            answer.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        while True:
            check_time()
            with suppress(Empty):
                found, error = answer.get(timeout=WAIT)
                if error is not None:
                    raise error
                return cast(T, found)
    finally:
        budget.cancelled = True


def check_time() -> None:
    """Raise `OutOfTimeError` if the time of the budget in force is out."""
    budget = _in_force.get()
    if budget is not None and budget.spent():
        raise OutOfTimeError
