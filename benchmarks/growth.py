"""How time and memory grow with rows and with features, over three decades of each.

Time is that of a whole default selection with a fixed number of restarts, so that only the size of
the problem changes. Memory is the most that was allocated beyond X, counted in arrays of n x b.
"""

from __future__ import annotations

import time
import tracemalloc

import numpy as np

from l1lsmi import L1LSMI
from machine import describe

N_BASIS = 100


def problem(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m))
    return X, ((X[:, 0] * X[:, 1] > 0) ^ (X[:, 2] > 1)).astype(int)


def measure(n: int, m: int) -> tuple[float, float]:
    X, y = problem(n, m)
    selector = L1LSMI(5, n_restarts=2, n_basis=N_BASIS, random_state=0)
    started = time.perf_counter()
    selector.fit(X, y)
    seconds = time.perf_counter() - started
    tracemalloc.start()
    selector.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return seconds, peak


def table(title: str, sizes: list[tuple[int, int]], axis: int) -> None:
    print(f"\n{title}")
    print(f"{'n':>8} {'m':>7} {'seconds':>8} {'beyond X':>10} {'in arrays of n x b':>19} {'over X':>7}")
    seconds = []
    for n, m in sizes:
        took, peak = measure(n, m)
        seconds.append(took)
        arrays = peak / (8 * n * N_BASIS)
        print(
            f"{n:>8} {m:>7} {took:8.2f} {peak / 2**20:7.1f} MB {arrays:19.2f} {peak / (8 * n * m):7.2f}",
            flush=True,
        )
    logs = np.log([size[axis] for size in sizes]), np.log(seconds)
    steepest = (np.diff(logs[1]) / np.diff(logs[0])).max()
    print(f"fitted exponent {np.polyfit(*logs, 1)[0]:.2f}, steepest between two sizes {steepest:.2f}")


def main() -> None:
    print(describe())
    table("rows, m = 20", [(n, 20) for n in (1_000, 10_000, 100_000, 1_000_000)], 0)
    table("features, n = 200", [(200, m) for m in (100, 1_000, 10_000, 100_000)], 1)


if __name__ == "__main__":
    main()
