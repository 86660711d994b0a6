"""Tasks of a search in parallel: in threads, by joblib, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from joblib._parallel_backends import ThreadingBackend
from joblib.parallel import get_active_backend

from l1lsmi._blas import call_single_threaded
from l1lsmi._clock import LEAST_GRACE, Budget, OutOfTimeError, limited
from l1lsmi.strategies._pieces import is_kept, recall_each
from l1lsmi.strategies.protocols import Features

T = TypeVar("T")


def cluster_of(problem: Features) -> Any:
    """The cluster that the rows of a problem came from, if they are in memory now: tasks can run there."""
    return problem.table.resources.cluster if problem.table.in_memory else None


def n_workers(problem: Features, n_jobs: int | None) -> int:
    """How many tasks `in_order` runs at the same time."""
    cluster = cluster_of(problem)
    return int(effective_n_jobs(n_jobs) if cluster is None else cluster.width())


class Piece(NamedTuple):
    """What the results of a function are kept as: see `recall_each`."""

    name: str
    content: Any = None
    budget: Budget | None = None


def in_order(
    function: Callable[[Any, Any], T], problem: Any, items: Iterable[Any], n_jobs: int | None, piece: Piece
) -> Iterator[T]:
    """Run a function on a problem and each item, and yield the results in order.

    They run in parallel in threads, by whatever backend of joblib is set, or on the cluster that the
    rows of the problem came from: the function must be picklable. Each result depends on its item alone, so
    that the results are the same wherever they are computed and whenever the caller stops. Each is a piece
    that a checkpoint keeps.
    """
    if not is_kept():
        return computed(function, problem, iter(items), n_jobs)

    def compute(some: Iterator[Any]) -> Iterator[T]:
        return computed(function, problem, some, n_jobs)

    return recall_each(piece.name, piece.content, items, compute, piece.budget)


def computed(
    function: Callable[[Any, Any], T], problem: Any, items: Iterator[Any], n_jobs: int | None
) -> Iterator[T]:
    """The same, whatever is known of it."""
    workers = effective_n_jobs(n_jobs)
    cluster = cluster_of(problem)
    if cluster is None and workers == 1:
        for item in items:
            yield function(problem, item)
        return
    # Out-of-core rows are read from this process: a task on a worker would wait for that worker.
    where = {"prefer": "threads"} if problem.table.in_memory else {"require": "sharedmem"}
    task = _Task(function, Budget(None))
    try:
        if cluster is not None:
            found = cluster.in_order(task, problem, items)
        elif type(get_active_backend(**where)[0]) is ThreadingBackend:
            found = _in_threads(task, problem, items, workers)
        else:
            found = _by_joblib(task, problem, items, workers, where)
        for one in found:
            if isinstance(one, _OutOfTime):
                raise OutOfTimeError
            yield one
    finally:
        # Tasks that still run end when they next look at the clock.
        task.budget.cancelled = True


class _OutOfTime:
    """What a task returns when its time is out: not every backend passes on what is no `Exception`."""


class _Task:
    """A function that runs in a budget, wherever it is called."""

    def __init__(self, function: Callable[[Any, Any], Any], budget: Budget) -> None:
        self.function = function
        self.budget = budget

    def __call__(self, problem: Any, item: Any) -> Any:
        try:
            with limited(self.budget):
                return call_single_threaded(self.function, problem, item)
        except OutOfTimeError:
            return _OutOfTime()


def _in_threads(task: _Task, problem: Any, items: Iterator[Any], workers: int) -> Iterator[Any]:
    pool = ThreadPoolExecutor(workers)
    running: list[Any] = []
    try:
        while some := list(islice(items, workers)):
            running = [pool.submit(task, problem, item) for item in some]
            for future in running:
                yield future.result()
    finally:
        task.budget.cancelled = True
        pool.shutdown(wait=False, cancel_futures=True)
        wait(running, timeout=LEAST_GRACE)


def _by_joblib(
    task: _Task, problem: Any, items: Iterator[Any], workers: int, where: dict[str, Any]
) -> Iterator[Any]:
    # One pool for all of them: some backends start processes for each.
    with Parallel(n_jobs=workers, **where) as parallel:
        while some := list(islice(items, workers)):
            yield from parallel(delayed(task)(problem, item) for item in some)
