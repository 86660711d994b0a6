"""The paper's table of eleven methods on three artificial problems, beside the paper's own numbers.

``python benchmarks/toys.py --draws 50 --jobs 2``
"""

from __future__ import annotations

import argparse
import time
from itertools import product

import numpy as np
from joblib import Parallel, delayed
from scipy.spatial.distance import pdist, squareform

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector, datasets
from l1lsmi.baselines import MRMR, QPFS, SPEC, LaplacianScore, LassoK, ReliefF
from l1lsmi.datasets.toys import TRUE_FEATURES
from l1lsmi.measures import HSIC, MutualInformation, Pearson, SquaredMutualInformation
from l1lsmi.strategies import Backward, Forward, L1Path, Ranking
from machine import describe

PROBLEMS = ("and_or", "quad", "xor")
# Mean F-measures of the paper's table, in the order of the problems.
PAPER = {
    "PC": (0.25, 0.57, 0.25),
    "F-HSIC": (0.25, 0.95, 0.52),
    "F-LSMI": (0.57, 1.00, 0.53),
    "B-HSIC": (0.25, 0.95, 1.00),
    "B-LSMI": (0.85, 1.00, 1.00),
    "l1-HSIC": (0.25, 0.64, 1.00),
    "l1-LSMI": (1.00, 1.00, 1.00),
    "mRMR": (0.25, 1.00, 0.28),
    "QPFS": (0.41, 0.64, 0.25),
    "Lasso": (0.21, 0.66, 0.26),
    "Relief": (0.55, 1.00, 1.00),
}


def method(name: str, k: int, seed: int) -> object:
    """A method of the paper, or one that it lists as missing."""
    smi, mi = SquaredMutualInformation(random_state=seed), MutualInformation(random_state=seed)
    # The paper's own way to compare sets: the estimate from all rows, centres from all rows alike.
    paper_smi = SquaredMutualInformation(centers="uniform", score_by="estimate", random_state=seed)
    return {
        "PC": lambda: FeatureSelector(Pearson(), Ranking(), k),
        "F-HSIC": lambda: FeatureSelector(HSIC(), Forward(), k),
        "F-LSMI": lambda: FeatureSelector(smi, Forward(), k),
        "B-HSIC": lambda: FeatureSelector(HSIC(), Backward(), k),
        "B-LSMI": lambda: FeatureSelector(smi, Backward(), k),
        "l1-HSIC": lambda: L1HSIC(k, random_state=seed),
        "l1-LSMI": lambda: L1LSMI(k, random_state=seed),
        "mRMR": lambda: MRMR(k),
        "QPFS": lambda: QPFS(k),
        "Lasso": lambda: LassoK(k),
        "Relief": lambda: ReliefF(k),
        "F-LSMI, est.": lambda: FeatureSelector(paper_smi, Forward(), k),
        "B-LSMI, est.": lambda: FeatureSelector(paper_smi, Backward(), k),
        "HSIC ranking": lambda: FeatureSelector(HSIC(), Ranking(), k),
        "l1-MI": lambda: FeatureSelector(mi, L1Path(), k),
        "SPEC": lambda: SPEC(k),
        "Laplacian": lambda: LaplacianScore(k),
    }[name]()


def select(name: str, problem: str, seed: int) -> tuple[float, float]:
    """F-measure and seconds of one selection on a fresh draw of 400 rows."""
    X, y = getattr(datasets, f"make_{problem}")(400, random_state=seed)
    true = TRUE_FEATURES[problem]
    started = time.perf_counter()
    chosen = method(name, len(true), seed).fit(X, y).get_support(indices=True)
    # As many are chosen as are true, so precision, recall and F-measure are one number.
    return len(set(chosen) & set(true)) / len(true), time.perf_counter() - started


def table(names: list[str], draws: int, jobs: int) -> None:
    print(f"\nmean F-measure over {draws} draws of n = 400 (the paper's), median milliseconds")
    print(f"{'method':<13}" + "".join(f"{problem:>24}" for problem in PROBLEMS))
    for name in names:
        cells = []
        for i, problem in enumerate(PROBLEMS):
            tasks = (delayed(select)(name, problem, 3000 + s) for s in range(draws))
            measures, seconds = np.array(Parallel(n_jobs=jobs)(tasks)).T
            paper = f"({PAPER[name][i]:.2f})" if name in PAPER else ""
            cells.append(f"{measures.mean():.2f} {paper:>6} {1000 * np.median(seconds):7.1f}")
        print(f"{name:<13}" + "".join(f"{cell:>24}" for cell in cells), flush=True)


def raw_forward_hsic(seed: int) -> float:
    """F-measure on xor of forward search with HSIC of columns that are not standardised."""
    X, y = datasets.make_xor(400, random_state=seed)
    same = np.equal.outer(y, y).astype(float)
    centred = same - same.mean(axis=0) - same.mean(axis=1)[:, None] + same.mean()

    def score(columns: list[int]) -> float:
        distances = pdist(X[:, columns])
        width = np.median(distances) or np.median(distances[distances > 0])
        return float(np.sum(np.exp(-0.5 * (squareform(distances) / width) ** 2) * centred))

    inside: list[int] = []
    for _ in range(2):
        inside.append(max((j for j in range(10) if j not in inside), key=lambda j: score([*inside, j])))
    return len({0, 1} & set(inside)) / 2


def unscaled_forward_search(draws: int, jobs: int) -> None:
    raw = Parallel(n_jobs=jobs)(delayed(raw_forward_hsic)(3000 + s) for s in range(draws))
    print(f"\nforward search with HSIC on xor, columns not standardised: {np.mean(raw):.2f}")


def exact_smi(columns: tuple[int, ...]) -> float:
    """Squared-loss mutual information of columns of and-or, from its distribution."""
    cells: dict[tuple[tuple[int, ...], int], float] = {}
    for bits in product((0, 1), repeat=10):
        x, flips = bits[:7], bits[7:]
        y = (x[0] & x[1]) | (x[2] & x[3])
        row = (*x, *(y ^ flip for flip in flips))
        chance = 0.5**7 * np.prod([0.2 if flip else 0.8 for flip in flips])
        key = (tuple(row[j] for j in columns), y)
        cells[key] = cells.get(key, 0.0) + float(chance)
    of_x: dict[tuple[int, ...], float] = {}
    of_y = {0: 0.0, 1: 0.0}
    for (x, y), p in cells.items():
        of_x[x] = of_x.get(x, 0.0) + p
        of_y[y] += p
    return 0.5 * sum(p * p / (of_x[x] * of_y[y]) for (x, y), p in cells.items()) - 0.5


def exact_searches() -> None:
    print("\nwhat forward and backward search do on and-or with the exact measure (columns from 0)")
    inside: tuple[int, ...] = ()
    for _ in range(4):
        best = max((j for j in range(10) if j not in inside), key=lambda j: exact_smi((*inside, j)))
        inside = (*inside, best)
        print(f"  forward: with {best}, SMI {exact_smi(inside):.3f}")
    print(f"  F-measure {len({0, 1, 2, 3} & set(inside)) / 4:.2f}: noisy copies of the class come first")
    inside = tuple(range(10))
    while len(inside) > 4:
        worst = max(inside, key=lambda j: exact_smi(tuple(i for i in inside if i != j)))
        inside = tuple(i for i in inside if i != worst)
    print(f"  backward: {inside}, F-measure {len({0, 1, 2, 3} & set(inside)) / 4:.2f}")
    first, second = 2 / 10, 2 / 9
    print("on xor every column by itself is worthless, so that rankings and first steps are draws of lots:")
    print(f"  two at random have F-measure {2 / 10:.2f} in the mean")
    print(f"  forward search, right once it has one of the two: {first + (1 - first) * second / 2:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--methods", nargs="+", help="only these rows of the table")
    options = parser.parse_args()
    print(describe())
    if options.methods:
        table(options.methods, options.draws, options.jobs)
        unscaled_forward_search(options.draws, options.jobs)
        return
    exact_searches()
    table(list(PAPER), options.draws, options.jobs)
    print("\nbeyond the paper's table")
    names = ["F-LSMI, est.", "B-LSMI, est.", "HSIC ranking", "l1-MI", "SPEC", "Laplacian"]
    table(names, options.draws, options.jobs)
    unscaled_forward_search(options.draws, options.jobs)


if __name__ == "__main__":
    main()
