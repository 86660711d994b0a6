"""Which method finds what in which kind of data: the tables behind ``docs/how_to_choose.md``.

``python benchmarks/choose.py --draws 10 --jobs 2``
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi.baselines import MRMR, QPFS, LassoK, ReliefF
from l1lsmi.measures import HSIC, Pearson, SquaredMutualInformation
from l1lsmi.strategies import Backward, Forward, Ranking
from machine import describe

Data = tuple[np.ndarray, np.ndarray, int]


def linear(rng: np.random.Generator) -> Data:
    """A straight line in four columns."""
    X = rng.normal(size=(300, 30))
    return X, X[:, :4].sum(axis=1) + rng.normal(size=300), 4


def bends(rng: np.random.Generator) -> Data:
    """Three columns that act by bends."""
    X = rng.normal(size=(300, 30))
    return X, X[:, 0] ** 2 + np.sin(3 * X[:, 1]) + 2 * np.abs(X[:, 2]) + 0.3 * rng.normal(size=300), 3


def interaction(rng: np.random.Generator) -> Data:
    """Two columns whose product decides the class, and neither alone."""
    X = rng.normal(size=(300, 30))
    return X, (X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=300) > 0).astype(int), 2


def copies(rng: np.random.Generator) -> Data:
    """Three columns, and six noisy copies of each of the first two."""
    X = rng.normal(size=(300, 30))
    X[:, 3:15] = np.repeat(X[:, :2], 6, axis=1) + 0.3 * rng.normal(size=(300, 12))
    return X, (2 * X[:, 0] + 2 * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=300) > 0).astype(int), 3


def classes(rng: np.random.Generator) -> Data:
    """Five classes around points of a space of three columns."""
    y = rng.integers(0, 5, size=300)
    X = rng.normal(size=(300, 30))
    X[:, :3] += 2 * rng.normal(size=(5, 3))[y]
    return X, y, 3


def wide(rng: np.random.Generator) -> Data:
    """Four columns of a thousand, 200 rows, two classes."""
    X = rng.normal(size=(200, 1000))
    return X, (X[:, :4].sum(axis=1) + 0.3 * rng.normal(size=200) > 0).astype(int), 4


KINDS: dict[str, Callable[[np.random.Generator], Data]] = {
    "linear": linear,
    "bends": bends,
    "interaction": interaction,
    "copies": copies,
    "classes": classes,
    "wide": wide,
}
SMI = SquaredMutualInformation()
SMI = SquaredMutualInformation()
METHODS: dict[str, Callable[[int, int], object]] = {
    "L1LSMI": lambda k, seed: L1LSMI(k, random_state=seed),
    "L1HSIC": lambda k, seed: L1HSIC(k, random_state=seed),
    "SMI, Forward": lambda k, seed: FeatureSelector(SMI, Forward(), k, random_state=seed),
    "SMI, Backward": lambda k, seed: FeatureSelector(SMI, Backward(), k, random_state=seed),
    "HSIC, Ranking": lambda k, seed: FeatureSelector(HSIC(), Ranking(), k),
    "HSIC, Forward": lambda k, seed: FeatureSelector(HSIC(), Forward(), k),
    "HSIC, Backward": lambda k, seed: FeatureSelector(HSIC(), Backward(), k),
    "Pearson, Ranking": lambda k, seed: FeatureSelector(Pearson(), Ranking(), k),
    "MRMR": lambda k, seed: MRMR(k),
    "QPFS": lambda k, seed: QPFS(k),
    "LassoK": lambda k, seed: LassoK(k),
    "ReliefF": lambda k, seed: ReliefF(k),
}
#: Backward search through a thousand columns takes hours.
TOO_LONG = {("SMI, Backward", "wide"), ("HSIC, Backward", "wide")}


def select(name: str, kind: str, seed: int) -> tuple[float, float]:
    """Share of the true columns found, and seconds."""
    X, y, k = KINDS[kind](np.random.default_rng(seed))
    started = time.perf_counter()
    chosen = METHODS[name](k, seed).fit(X, y).get_support(indices=True)
    return float(np.mean(chosen < k)), time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    print(describe())
    for kind, make in KINDS.items():
        X, _, k = make(np.random.default_rng(0))
        print(f"{kind}: {make.__doc__} n = {X.shape[0]}, m = {X.shape[1]}, k = {k}")
    print(f"\nshare of the true columns found, mean of {options.draws} draws; median seconds")
    print("| method | " + " | ".join(KINDS) + " |")
    print("|---|" + "---|" * len(KINDS))
    for name in METHODS:
        cells = []
        for kind in KINDS:
            if (name, kind) in TOO_LONG:
                cells.append("-")
                continue
            tasks = (delayed(select)(name, kind, seed) for seed in range(options.draws))
            found, seconds = np.array(Parallel(n_jobs=options.jobs)(tasks)).T
            cells.append(f"{found.mean():.2f} ({np.median(seconds):.2g} s)")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
