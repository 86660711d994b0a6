"""Rows that are read a part at a time, and not cached."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from l1lsmi._arrays import HostArray
from l1lsmi._clock import Budget, budget_in_force, check_time, limited

if TYPE_CHECKING:
    from l1lsmi._rows.table import Table

#: A part has at least so many rows, however little memory there is.
FEWEST_ROWS = 100


class Part(NamedTuple):
    """Consecutive rows, their targets, and their folds, (r, rows)."""

    table: Table
    target: Any
    fold_of_row: HostArray


class Parts(Protocol):
    """Rows in parts, in memory or out-of-core.

    ``sum`` adds up ``function(part, *arguments)`` over the parts; ``columns`` are those that it reads,
    None for none. ``sum_pairs`` adds up ``function(one, other, *arguments)`` over each part with itself,
    where both are the same object, and over every two parts once, in either order; ``columns`` are in order.
    """

    def sum(self, function: Callable[..., Any], *arguments: Any, columns: HostArray | None) -> Any: ...
    def sum_pairs(self, function: Callable[..., Any], *arguments: Any, columns: HostArray) -> Any: ...


def sum_in_order(function: Callable[[Any], Any], items: Iterable[Any], n_jobs: int) -> Any:
    """Add up a function of every item, spread over threads, in order whatever their number.

    Items are taken from the iterable as they are needed, so that few are in memory at a time.
    """
    if n_jobs == 1:
        return add_up(map(function, items))
    total: Any = None
    waiting: deque[Future[Any]] = deque()
    pool = ThreadPoolExecutor(n_jobs)
    function = partial(_in_budget, budget_in_force(), function)
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * n_jobs:
                total = add_up([total, waiting.popleft().result()])
        while waiting:
            total = add_up([total, waiting.popleft().result()])
    finally:
        pool.shutdown(cancel_futures=True)
    return total


def _in_budget(budget: Budget | None, function: Callable[[Any], Any], item: Any) -> Any:
    with limited(budget):
        return function(item)


def add_up(terms: Iterable[Any]) -> Any:
    """The sum of arrays, or of tuples of arrays entry by entry; None terms are skipped."""
    total: Any = None
    for value in terms:
        check_time()
        total = added(total, value)
    return total


def added(total: Any, value: Any) -> Any:
    """One more term of `add_up`."""
    if total is None or value is None:  # no rows, no term
        return value if total is None else total
    if isinstance(value, tuple):
        parts = [a + b for a, b in zip(total, value, strict=True)]
        return tuple(parts) if type(value) is tuple else type(value)(*parts)
    return total + value


class ArrayParts:
    """Slices of an array in memory, or memory-mapped, spread over threads."""

    def __init__(self, table: Table, target: Any, fold_of_row: HostArray, part_rows: int) -> None:
        self._whole = Part(table, target, fold_of_row)
        self._part_rows = part_rows

    def _part(self, start: int) -> Part:
        table, target, fold_of_row = self._whole
        stop = min(start + self._part_rows, table.n_rows)
        return Part(table.slice_of(start, stop), target.slice_of(start, stop), fold_of_row[..., start:stop])

    def sum(self, function: Callable[..., Any], *arguments: Any, columns: HostArray | None) -> Any:
        """Add up over the slices."""
        table = self._whole.table
        starts = range(0, table.n_rows, self._part_rows)
        n_jobs = table.resources.n_jobs
        return sum_in_order(lambda start: function(self._part(start), *arguments), starts, n_jobs)

    def sum_pairs(self, function: Callable[..., Any], *arguments: Any, columns: HostArray) -> Any:
        """Add up over pairs of slices, from which the function takes the columns itself."""
        n_jobs = self._whole.table.resources.n_jobs
        return sum_in_order(lambda pair: function(*pair, *arguments), self._pairs(), n_jobs)

    def _pairs(self) -> Iterator[tuple[Part, Part]]:
        n_rows = self._whole.table.n_rows
        for start in range(0, n_rows, self._part_rows):
            one = self._part(start)
            yield one, one
            for later in range(start + self._part_rows, n_rows, self._part_rows):
                yield one, self._part(later)
