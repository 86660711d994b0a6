"""Many features: real datasets with thousands of them where L1LSMI_DATA has them, and 100,000 random ones.

L1LSMI_DATA=directory python benchmarks/wide.py
"""

from __future__ import annotations

import time

import numpy as np

from l1lsmi import L1LSMI
from machine import describe
from problems import local_copies


def timed(title: str, X: np.ndarray, y: np.ndarray, k: int) -> None:
    started = time.perf_counter()
    selector = L1LSMI(k, random_state=0, n_jobs=2).fit(X, y)
    seconds = time.perf_counter() - started
    shape = f"{X.shape[0]} x {X.shape[1]}"
    print(f"{title:<10} {shape:>13}  {k} features in {seconds:6.2f} s; {selector.stop_reason_}", flush=True)


def main() -> None:
    print(describe())
    for name, X, y in local_copies("TOX_171", "arcene"):
        timed(name, X, y, 20)
    rng = np.random.default_rng(0)
    for n, m in ((500, 10_000), (500, 100_000)):
        X = rng.normal(size=(n, m))
        timed("made", X, X[:, 0] * X[:, 1] + X[:, 2] > 0, 20)


if __name__ == "__main__":
    main()
