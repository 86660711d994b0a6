"""A plan for more rows than one machine has: what a selection would take on a cluster, by simulation.

Calibrates itself here: every visit of all rows that a default selection makes is timed, with what goes out to
the workers and what comes back; so is the search on the sample. A simulation then lets each worker go through
its blocks, whose times vary as measured, and adds what travels. Its visits are checked against those of
selections of other sizes that are run here (the search is of a sample, whose size is always the same, but not
its difficulty); then it is asked for sizes that cannot be run.
"""

from __future__ import annotations

import pickle
import time
from dataclasses import dataclass, field

import numpy as np
from l1lsmi._rows.parted import UncachedRows

from l1lsmi import L1LSMI
from l1lsmi._rows import parted as parted_module
from l1lsmi._rows.stream import ColumnStatistics
from machine import describe

CALIBRATED = 200_000
CHECKED = (100_000, 400_000)
#: What is assumed of a cluster: bytes per second into one machine, and seconds for a message.
BANDWIDTH, LATENCY = 1e9, 2e-3
BLOCK_ROWS = 50_000


def problem(n: int, m: int):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m))
    return X, X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n)


@dataclass
class Visit:
    """One visit of all rows."""

    name: str
    seconds: float
    out_bytes: int
    back_bytes: int
    block_seconds: list[float] = field(default_factory=list)


@dataclass
class Calibration:
    """What was measured of one selection."""

    n_rows: int
    visits: list[Visit]
    statistics: float
    search: float


def calibrate(n: int, m: int, k: int) -> tuple[Calibration, float]:
    """Run a selection and take down its visits; also how long it took in all."""
    visits: list[Visit] = []
    whole, of_part = UncachedRows.sum, parted_module._sum_part

    def timed_part(*arguments):
        started = time.perf_counter()
        result = of_part(*arguments)
        visits[-1].block_seconds.append(time.perf_counter() - started)
        return result

    def timed(self, term, *arguments, columns=None):
        # The centres travel as rows of their own.
        out = len(pickle.dumps(arguments)) + 8 * self.centers.size * self.centers.table.n_columns
        visits.append(Visit(term.__name__, 0.0, out, 0))
        started = time.perf_counter()
        result = whole(self, term, *arguments, columns=columns)
        visits[-1].seconds = time.perf_counter() - started
        visits[-1].back_bytes = len(pickle.dumps(result))
        return result

    X, y = problem(n, m)
    UncachedRows.sum, parted_module._sum_part = timed, timed_part
    try:
        started = time.perf_counter()
        # So little memory that all rows are visited in parts, as on a cluster.
        L1LSMI(k, random_state=0, memory_limit=400_000_000).fit(X, y)
        total = time.perf_counter() - started
    finally:
        UncachedRows.sum, parted_module._sum_part = whole, of_part
    started = time.perf_counter()
    for start in range(0, n, BLOCK_ROWS):
        ColumnStatistics.of(X[start : start + BLOCK_ROWS])
    statistics = time.perf_counter() - started
    visiting = sum(visit.seconds for visit in visits)
    return Calibration(n, visits, statistics, total - visiting - statistics), total


def simulate(calibration: Calibration, n: int, n_workers: int, width: float, network: bool) -> float:
    """Seconds of a selection: blocks one after the other on each worker, all workers side by side."""
    rng = np.random.default_rng(0)
    rows_each = n / n_workers
    seconds = calibration.search + width * calibration.statistics * rows_each / calibration.n_rows
    for visit in calibration.visits:
        per_row = visit.seconds / calibration.n_rows
        spread = np.std(visit.block_seconds) / np.mean(visit.block_seconds)
        n_blocks = max(1, round(rows_each / BLOCK_ROWS))
        # The sum of many blocks varies by less than one: the slowest worker decides.
        factors = 1 + spread / np.sqrt(n_blocks) * rng.normal(size=n_workers)
        seconds += per_row * rows_each * max(1.0, float(factors.max()))
        if network:
            moved = n_workers * (visit.out_bytes + visit.back_bytes)
            seconds += moved / BANDWIDTH + 2 * n_workers * LATENCY
    return seconds


def main() -> None:
    print(describe())
    k = 10
    calibration, total = calibrate(CALIBRATED, 100, k)
    print(f"\ncalibrated with {CALIBRATED} x 100, k = {k}: {total:.1f} s in all, one thread")
    print(f"search on the sample {calibration.search:.1f} s, statistics {calibration.statistics:.2f} s")
    print(f"{'visit':<16} {'times':>5} {'ns per row':>10} {'MB out':>7} {'MB back':>8}")
    for name in dict.fromkeys(visit.name for visit in calibration.visits):
        some = [visit for visit in calibration.visits if visit.name == name]
        per_row = np.mean([v.seconds for v in some]) / CALIBRATED * 1e9
        out, back = (np.mean([getattr(v, what) for v in some]) / 1e6 for what in ("out_bytes", "back_bytes"))
        print(f"{name:<16} {len(some):>5} {per_row:10.0f} {out:7.2f} {back:8.2f}")
    print("\nvisits of all rows and statistics, checked against selections that are run here, one thread")
    print(f"{'rows':>10} {'simulated':>10} {'measured':>9} {'search, of another sample':>26}")
    for n in CHECKED:
        found, total = calibrate(n, 100, k)
        expected = simulate(calibration, n, 1, 1.0, False) - calibration.search
        print(f"{n:>10} {expected:9.2f}s {total - found.search:8.2f}s {found.search:25.1f}s", flush=True)
    wide, _ = calibrate(CALIBRATED // 10, 1_000, k)
    print(f"\nsearch on a sample of 10000 x 1000: {wide.search:.1f} s")
    wide = Calibration(CALIBRATED, calibration.visits, calibration.statistics, wide.search)
    print("\nplans: one thread for each worker, 1 GB/s and 2 ms for a message")
    print(f"{'rows':>12} {'columns':>8} {'workers':>8} {'GB each':>8} {'seconds':>8}")
    for n, m, n_workers in ((10**8, 100, 10), (10**9, 100, 100), (10**9, 1_000, 100), (10**9, 1_000, 400)):
        of = wide if m == 1_000 else calibration
        seconds = simulate(of, n, n_workers, m / 100, True)
        print(f"{n:>12} {m:>8} {n_workers:>8} {n * m * 8 / n_workers / 1e9:8.0f} {seconds:8.0f}")


if __name__ == "__main__":
    main()
