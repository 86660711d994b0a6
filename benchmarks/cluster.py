"""A Dask cluster of one and of two workers, each with one thread, on this machine.

    python benchmarks/cluster.py [ROWS COLUMNS]

Time of a default selection of 10 features, what a worker costs that is killed at three moments, and what
travels in a step of the ascent on all rows.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

from l1lsmi import L1LSMI
from l1lsmi._numerics.model import ModelBatch
from l1lsmi._validation.target import check_target
from l1lsmi.measures import SquaredMutualInformation
from l1lsmi.sources import open_rows
from machine import describe


def data(n: int, m: int):
    """Rows that every worker can make again, in chunks of 50,000."""
    generator = da.random.default_rng(0)
    X = generator.normal(size=(n, m), chunks=(50_000, m))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * generator.normal(size=n, chunks=50_000)
    return X, y


def selector() -> L1LSMI:
    return L1LSMI(10, random_state=0)


def timed(n_workers: int, n: int, m: int, kill_after: float | None = None):
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None, memory_limit=0) as c,
        Client(c) as client,
    ):
        X, y = data(n, m)
        X = X.persist()
        y = y.compute()
        wait(X)
        client.gather(client.map(lambda _: __import__("l1lsmi.selectors"), range(n_workers), pure=False))
        killer = None
        if kill_after is not None:
            victim = min(client.run(os.getpid).values())
            killer = threading.Timer(kill_after, os.kill, (victim, signal.SIGKILL))
            killer.start()
        started = time.perf_counter()
        fitted = selector().fit(X, y)
        seconds = time.perf_counter() - started
        if killer is not None:
            killer.cancel()
        return seconds, fitted


def bytes_moved() -> int:
    """Bytes that all processes of this machine have sent each other through the network, as Linux counts."""
    with open("/proc/net/dev") as lines:
        return next(int(line.split()[1]) for line in lines if line.lstrip().startswith("lo:"))


def bytes_of_a_step(n: int, m: int) -> float:
    """Bytes that travel in one step on all rows, between client, scheduler and workers."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0) as c,
        Client(c),
    ):
        X, y = data(n, m)
        y = y.compute()
        problem = SquaredMutualInformation().bind(open_rows(X, y).table, check_target(y, "regression"), 0)
        _, whole = problem.on_sample(1_000)
        draw, columns, weights = whole.draws([(0,)]), np.arange(10), np.ones((1, 10))
        model = draw.score_set(columns).model
        models = ModelBatch(np.array([model.sigma]), np.array([model.regularization]))

        draw.evaluate(weights, None, columns[None], models)
        before = bytes_moved()
        for _ in range(5):
            draw.evaluate(weights, None, columns[None], models)
        return (bytes_moved() - before) / 5


def main(n: int, m: int) -> None:
    print(describe())
    print(f"\n{n} x {m}, chunks of 50000 rows")
    alone, expected = timed(1, n, m)
    print(f"one worker   {alone:7.1f} s", flush=True)
    both, found = timed(2, n, m)
    same = np.array_equal(found.support_, expected.support_)
    gap = abs(found.cv_score_ / expected.cv_score_ - 1)
    print(
        f"two workers  {both:7.1f} s, {alone / both:.2f} times as fast; same set: {same}, score {gap:.0e} off"
    )
    print("\na worker killed after a share of the fit")
    for share in (0.15, 0.5, 0.85):
        seconds, found = timed(2, n, m, share * both)
        same = np.array_equal(found.support_, expected.support_)
        gap = abs(found.cv_score_ / expected.cv_score_ - 1)
        print(f"{share:5.0%}        {seconds:7.1f} s; same set: {same}, score {gap:.0e} off", flush=True)
    print("\nbytes that travel in a step on all rows, between client, scheduler and workers")
    for rows in (n // 10, n):
        print(f"{rows:>9} rows {bytes_of_a_step(rows, m) / 2**20:7.2f} MiB", flush=True)


if __name__ == "__main__":
    given = [int(a) for a in sys.argv[1:]]
    main(*(given or (1_000_000, 100)))
