"""How far fits overrun their time limits: selectors by limit and size, with wall time and process time.

``python benchmarks/limits.py > benchmarks/results/limits.txt``
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from itertools import product

import numpy as np

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi.measures import HSIC, MutualInformation, SquaredMutualInformation
from l1lsmi.strategies import Backward, Exhaustive, Forward, L1Paper, L1Path, Ranking
from machine import describe

MEASURES = (SquaredMutualInformation, MutualInformation, HSIC)
STRATEGIES = (Ranking, Forward, Backward, Exhaustive, L1Path, L1Paper)
SIZES = ((2_000, 200), (200, 20_000))
K = 5


def selectors(limit: float) -> dict[str, FeatureSelector | L1LSMI | L1HSIC]:
    """Selectors by name."""
    found: dict[str, FeatureSelector | L1LSMI | L1HSIC] = {}
    for strategy, measure in product(STRATEGIES, MEASURES):
        options = {"max_subsets": None} if strategy is Exhaustive else {}
        made = FeatureSelector(measure(), strategy(time_limit=limit, **options), K, random_state=0)
        found[f"{strategy.__name__} x {measure.__name__}"] = made
    found["L1LSMI"] = L1LSMI(K, time_limit=limit, random_state=0)
    found["L1HSIC"] = L1HSIC(K, time_limit=limit, random_state=0)
    return found


def data(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m))
    return X, X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * rng.normal(size=n)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--limits", type=float, nargs="+", default=[1e-6, 1.0])
    limits = parser.parse_args().limits
    print(describe())
    print(f"load of the machine at the beginning: {os.getloadavg()[0]:.1f}\n")
    header = ("selector", "rows", "columns", "limit", "seconds", "over", "process", "stop reason")
    print("{:38} {:>6} {:>7} {:>7} {:>8} {:>6} {:>8}  {}".format(*header))
    warnings.simplefilter("ignore")
    worst = 0.0
    for limit, (n, m) in product(limits, SIZES):
        X, y = data(n, m)
        for name, selector in selectors(limit).items():
            started, process = time.perf_counter(), time.process_time()
            selector.fit(X, y)
            seconds, process = time.perf_counter() - started, time.process_time() - process
            assert selector.support_.sum() == K
            worst = max(worst, seconds - limit)
            print(
                f"{name:38} {n:6} {m:7} {limit:7g} {seconds:8.2f} {seconds - limit:6.2f} {process:8.2f}  "
                f"{selector.stop_reason_.split(';')[0]}",
                flush=True,
            )
    print(f"\nlargest overrun: {worst:.2f} s; load at the end: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
