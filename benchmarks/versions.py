"""Two versions of the package, timed in turn in one run: seconds, their ratio, and both answers.

    python benchmarks/versions.py OLD/src NEW/src [--repeats 5] [--only TEXT]

Each version runs in a process of its own, on one thread; a row is the median over draws.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time

import numpy as np

#: Rows, columns, restarts, and how many draws at most.
CASES = {
    "and_or": (400, 0, None, 20),
    "quad": (400, 0, None, 20),
    "xor": (400, 0, None, 20),
    "1,000 x 20": (1_000, 20, 4, 5),
    "10,000 x 20": (10_000, 20, 4, 3),
    "100,000 x 20": (100_000, 20, 4, 3),
    "200 x 100": (200, 100, 4, 5),
    "200 x 1,000": (200, 1_000, 4, 5),
    "200 x 10,000": (200, 10_000, 4, 5),
    "200 x 100,000": (200, 100_000, 4, 3),
    "400 x 30, paper": (400, 30, 2, 3),
}


def problem(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    from l1lsmi import datasets
    from l1lsmi.datasets.toys import TRUE_FEATURES

    if name in TRUE_FEATURES:
        X, y = getattr(datasets, f"make_{name}")(400, random_state=seed)
        return X, y, len(TRUE_FEATURES[name])
    rng = np.random.default_rng(seed)
    n, m, *_ = CASES[name]
    X = rng.normal(size=(n, m))
    return X, X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n), 3


def worker() -> None:
    """Fit what is asked for on standard input, and print seconds, features and score."""
    from l1lsmi import L1LSMI

    for line in sys.stdin:
        name, seed = json.loads(line)
        X, y, k = problem(name, seed)
        algorithm = "paper" if "paper" in name else "path"
        selector = L1LSMI(k, algorithm=algorithm, n_restarts=CASES[name][2], random_state=seed)
        started = time.perf_counter()
        selector.fit(X, y)
        seconds = time.perf_counter() - started
        features = selector.get_support(indices=True).tolist()
        print(json.dumps([seconds, features, selector.cv_score_]), flush=True)


def start(source: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--worker"]
    return subprocess.Popen(
        command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def ask(process: subprocess.Popen[str], name: str, seed: int) -> tuple[float, list[int], float]:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps([name, seed]) + "\n")
    process.stdin.flush()
    return tuple(json.loads(process.stdout.readline()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="*")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--only", default="", help="rows whose name has this text")
    parser.add_argument("--worker", action="store_true")
    options = parser.parse_args()
    if options.worker:
        worker()
        return
    from machine import describe

    print(describe())
    processes = [start(source) for source in options.sources]
    print(f"{'':<18}{'old, s':>9}{'new, s':>9}{'ratio':>8}   same set, score off by")
    for name in [name for name in CASES if options.only in name]:
        most = CASES[name][-1]
        seconds, same, off = [], 0, 0.0
        repeats = min(most, options.repeats)
        for seed in range(-1, repeats):
            found = [ask(process, name, max(seed, 0)) for process in processes]
            if seed >= 0:  # the first draw only warms up
                seconds.append([one[0] for one in found])
                same += found[0][1] == found[1][1]
                off = max(off, abs(found[0][2] - found[1][2]))
        old, new = np.median(seconds, axis=0)
        ratio = float(np.median([b / a for a, b in seconds]))
        print(f"{name:<18}{old:>9.3f}{new:>9.3f}{ratio:>8.2f}   {same}/{repeats}, {off:.0e}", flush=True)
    for process in processes:
        process.stdin.close()


if __name__ == "__main__":
    main()
