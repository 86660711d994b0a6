"""Run the unfinished part of an experiment in several processes, the most expensive units first."""

from __future__ import annotations

import os
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path

from experiments import processes, workers
from experiments.config import Config
from experiments.progress import Progress
from experiments.record import Record
from experiments.registry import all_problems
from experiments.store import Cell, Row, Store, cell_of
from experiments.unit import Evaluations, Unit

KILLED = "WorkerKilled: the process that ran it was killed, perhaps for lack of memory"


@dataclass(frozen=True)
class Outcome:
    """Result of a run.

    Attributes
    ----------
    rows : list of dict
        All results, old and new.
    n_left : int
        Cells of the configuration that are not finished; failed ones are not counted.
    n_run : int
        Cells that this run finished.
    """

    rows: list[Row]
    n_left: int
    n_run: int


@dataclass
class _Session:
    config: Config
    store: Store
    jobs: int
    deadline: float
    record: Record
    stopping: workers.StopRequest
    verbose: bool
    data: str | None
    tried: set[Cell] = field(default_factory=set)


def run(
    config: Config,
    out: Path,
    *,
    jobs: int = 2,
    time_limit: float | None = None,
    data: str | None = None,
    command: str = "",
    verbose: bool = True,
) -> Outcome:
    """Run the unfinished part of an experiment.

    Parameters
    ----------
    config : Config
    out : Path
        Directory of the results.
    jobs : int
        Number of processes.
    time_limit : float or None
        Seconds after which no further method is started.
    data : str or None
        Directory with the files of real datasets.
    command : str
        The command to record.
    verbose : bool
        Whether to show progress.
    """
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, not {jobs}.")
    store = Store(out, config.experiment)
    with store.lock(), workers.StopRequest() as stopping:
        processes.prepare()
        rows = store.compact()
        record = Record(store, config, command, jobs)
        deadline = time.time() + (float("inf") if time_limit is None else time_limit)
        units = plan(config, rows)
        if not units:  # nothing to do: the files are not changed
            return Outcome(rows, 0, 0)
        record.begin()
        n_before = len(store.finished())
        session = _Session(config, store, jobs, deadline, record, stopping, verbose, _data_directory(data))
        try:
            _run_all(session, units)
        finally:
            rows = store.compact()
        record.finish(rows)
        n_left = sum(len(unit.methods) for unit in plan(config, rows, given_up=session.tried))
        return Outcome(rows, n_left, len(store.finished()) - n_before)


def _data_directory(data: str | None) -> str | None:
    """Directory of local copies; the fork server may have an older environment than this process."""
    data = os.environ.get("L1LSMI_DATA") if data is None else data
    return None if data is None else os.path.abspath(data)


def plan(config: Config, rows: list[Row], given_up: set[Cell] = frozenset()) -> list[Unit]:
    """Units with the methods that are not finished, trial by trial.

    Failed cells are run again, and so are skipped ones if the reason is gone.
    """
    cells: dict[Cell, list[Row]] = {}
    for row in rows:
        cells.setdefault(cell_of(row), []).append(row)
    problems = all_problems()
    units = []
    for trial in range(config.trials):
        for dataset in sorted(config.datasets, key=lambda name: (-problems[name].cost, name)):
            left = [
                method
                for method in config.methods
                if (dataset, trial, method) not in given_up
                and not _is_finished(cells.get((dataset, trial, method), []), config, dataset, method)
            ]
            if left:
                units.append(Unit(config, dataset, trial, tuple(left), _known(cells, config, dataset, trial)))
    # Trial by trial, so that intermediate results are complete; in a trial the most expensive first.
    return sorted(units, key=lambda unit: (unit.trial, -_cost(unit)))


def _is_finished(rows: list[Row], config: Config, dataset: str, method: str) -> bool:
    return bool(rows) and all(
        row["status"] == "done"
        or (row["status"] == "skipped" and config.reason_to_skip(method, dataset, row["protocol"]))
        for row in rows
    )


def _known(cells: dict[Cell, list[Row]], config: Config, dataset: str, trial: int) -> Evaluations:
    """Values of the sets that finished methods of a trial selected."""
    return {
        (row["protocol"], tuple(sorted(row["selected"]))): {
            name: row[name] for name in ("value", "redundancy", "C", "sigma_factor")
        }
        for method in config.methods
        for row in cells.get((dataset, trial, method), [])
        if row["status"] == "done"
    }


def _cost(unit: Unit) -> float:
    # The square root, because much of the time does not grow with the number of columns or classes.
    return all_problems()[unit.dataset].cost ** 0.5 * len(unit.methods)


def _run_all(session: _Session, units: list[Unit]) -> None:
    with Progress(len(units), sum(map(_cost, units)), session.verbose) as progress:
        while units and _run_pool(session, units, session.jobs, progress):
            if session.stopping.requested:
                break
            progress.print("A process died; the methods that were running are run again, one at a time.")
            for dataset, trial, method in session.store.running():
                alone = Unit(session.config, dataset, trial, (method,), {})
                if _run_pool(session, [alone], 1, Progress(1, 1.0, verbose=False)):
                    session.store.write_part(workers.failed_rows(alone, method, KILLED))
                    session.tried.add((dataset, trial, method))
            units = plan(session.config, session.store.rows(), given_up=session.tried)
        if session.stopping.requested:
            progress.print("Stopped. All finished results are stored.")


def _run_pool(session: _Session, units: list[Unit], jobs: int, progress: Progress) -> bool:
    """Run units in processes; returns whether one of the processes died."""
    session.store.log(f"session of {jobs} processes, {len(units)} trials")
    stop = processes.CONTEXT.Event()
    executor = ProcessPoolExecutor(
        min(jobs, max(len(units), 1)),
        mp_context=processes.CONTEXT,
        initializer=workers.begin,
        initargs=(session.store, stop, session.deadline, session.data),
    )
    try:
        futures = {executor.submit(workers.work, unit): unit for unit in units}
        pending = set(futures)
        while pending:
            finished, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in finished:
                session.tried.update(future.result())
                progress.advance(_cost(futures[future]))
            if session.stopping.requested and not stop.is_set():
                stop.set()
                progress.print("Waiting for the running methods; interrupt again to stop at once.")
            session.record.keep_time()
    except BrokenProcessPool:
        return True
    finally:
        executor.shutdown(wait=True, cancel_futures=True)
    return False


def summary(outcome: Outcome) -> list[str]:
    """Lines to print at the end of a run."""
    counts: dict[str, int] = {}
    failures: dict[tuple[str, str], set[str]] = {}
    for row in outcome.rows:
        counts[row["status"]] = counts.get(row["status"], 0) + 1
        if row["status"] == "failed":
            failures.setdefault((row["dataset"], row["reason"]), set()).add(row["method"])
    lines = [
        f"{outcome.n_run} selections run; rows: " + ", ".join(f"{n} {s}" for s, n in sorted(counts.items()))
    ]
    lines += [
        f"failed on {dataset}: {', '.join(sorted(methods))}: {reason}"
        for (dataset, reason), methods in failures.items()
    ]
    if failures:
        lines.append("Failed selections are run again by the same command.")
    if outcome.n_left:
        lines.append(f"{outcome.n_left} selections are left: the same command continues the run.")
    return lines
