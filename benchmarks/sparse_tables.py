"""Sparse X: memory, seconds and the features found, against a dense X where there can be one.

    python benchmarks/sparse_tables.py --data FOLDER [--methods L1LSMI ...] [--large ROWS COLUMNS DENSITY]

FOLDER has BASEHOCK.npz and PCMAC.npz (X, y): ten features of each, from compressed rows and an array. The
large table (default 100000 100000 0.0001) has five columns that the target is made of, by a sum and noise
or as whether one of them is not 0. Each fit is measured in a process of its own: the peak is what the system
counts as resident, the interpreter and its libraries included.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

from machine import describe

TABLES = ("BASEHOCK", "PCMAC")
MATTER = (3, 77, 1234, 50_000, 99_995)


def make(method: str, k: int):
    from l1lsmi import L1HSIC, L1LSMI, baselines

    if method in ("L1LSMI", "L1HSIC"):
        return {"L1LSMI": L1LSMI, "L1HSIC": L1HSIC}[method](k, random_state=0)
    return getattr(baselines, method)(k)


def fit(method: str, k: int, X, y) -> None:
    warnings.simplefilter("ignore")
    selector = make(method, k)
    started = time.perf_counter()
    selector.fit(X, y)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    chosen = np.flatnonzero(selector.support_)
    score = next(
        (getattr(selector, name) for name in ("cv_score_", "hsic_") if hasattr(selector, name)),
        None if not hasattr(selector, "scores_") else selector.scores_[chosen].sum(),
    )
    print(f"{seconds:6.0f} s {peak:6.0f} MiB  {score:.12f}  {' '.join(map(str, chosen))}", flush=True)


def size_of(X) -> float:
    """MiB of compressed rows."""
    return (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20


def fit_table(path: str, kind: str, method: str) -> None:
    with np.load(path) as stored:
        X, y = stored["X"], stored["y"]
    fit(method, 10, X if kind == "dense" else sparse.csr_array(X), y)


def large_table(n: int, m: int, density: float, kind: str):
    rng = np.random.default_rng(0)
    size = int(n * m * density)
    places = rng.integers(0, n, size), rng.integers(0, m, size)
    X = sparse.coo_array((rng.random(size) + 0.5, places), shape=(n, m)).tocsr()
    effect = np.asarray(X[:, [j % m for j in MATTER]].sum(axis=1)).ravel()
    return X, effect + 0.1 * rng.normal(size=n) if kind == "sum" else (effect > 0).astype(int)


def in_a_process(*arguments: object) -> None:
    subprocess.run([sys.executable, __file__, *map(str, arguments)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--methods", nargs="*", default=["L1LSMI", "L1HSIC"])
    parser.add_argument("--large", nargs=3, type=float, default=[1e5, 1e5, 1e-4])
    options = parser.parse_args()
    n, m, density = int(options.large[0]), int(options.large[1]), options.large[2]
    print(describe(), flush=True)
    for name in TABLES if options.data else ():
        path = options.data / f"{name}.npz"
        with np.load(path) as stored:
            print(f"\n{name}, {size_of(sparse.csr_array(stored['X'])):.1f} MiB sparse")
        for method in options.methods:
            for kind in ("dense", "sparse"):
                print(f"{method:15}{kind:8}", end="", flush=True)
                in_a_process("--table", path, kind, method)
    print(f"\n{n} x {m}, density {density:g}, {size_of(large_table(n, m, density, 'sum')[0]):.1f} MiB sparse")
    for kind in ("sum", "class"):
        print(f"{'L1LSMI':15}{kind:8}", end="", flush=True)
        in_a_process("--one", n, m, density, kind)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--table"]:
        fit_table(*sys.argv[2:5])
    elif sys.argv[1:2] == ["--one"]:
        fit(
            "L1LSMI",
            len(MATTER),
            *large_table(*(int(a) for a in sys.argv[2:4]), *(float(sys.argv[4]), sys.argv[5])),
        )
    else:
        main()
