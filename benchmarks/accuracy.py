"""Does it find what is there? The paper's artificial problems, its table of subsets, closed forms.

``python benchmarks/accuracy.py --draws 50 --jobs 2``
"""

from __future__ import annotations

import argparse
import time
from itertools import combinations

import numpy as np
from joblib import Parallel, delayed

from l1lsmi import L1LSMI, datasets
from l1lsmi.datasets.toys import TRUE_FEATURES
from l1lsmi.measures import SquaredMutualInformation
from machine import describe


def select(name: str, algorithm: str, seed: int) -> tuple[float, float]:
    """F-measure and seconds of one selection on a fresh draw of 400 rows."""
    X, y = getattr(datasets, f"make_{name}")(400, random_state=seed)
    true = TRUE_FEATURES[name]
    started = time.perf_counter()
    chosen = L1LSMI(len(true), algorithm=algorithm, random_state=seed).fit(X, y).get_support(indices=True)
    # As many are chosen as are true, so precision, recall and F-measure are one number.
    return len(set(chosen) & set(true)) / len(true), time.perf_counter() - started


def toys(draws: int, jobs: int) -> None:
    print(f"\nF-measure over {draws} draws of n = 400")
    print(f"{'problem':<8} {'algorithm':<10} {'mean':>6} {'all right':>10} {'median s':>9}")
    for algorithm in ("path", "paper"):
        for name in TRUE_FEATURES:
            results = Parallel(n_jobs=jobs)(
                delayed(select)(name, algorithm, s) for s in range(1000, 1000 + draws)
            )
            measure, seconds = np.array(results).T
            right = f"{(measure == 1).sum()}/{draws}"
            print(
                f"{name:<8} {algorithm:<10} {measure.mean():6.3f} {right:>10} {np.median(seconds):9.2f}",
                flush=True,
            )


def subset_scores(seed: int) -> tuple[bool, float, float]:
    """Whether the true subset comes first, its SMI and its lead, among the paper's 35 subsets."""
    X, y = datasets.make_and_or(400, random_state=seed)
    scores = {
        subset: SquaredMutualInformation(random_state=seed).score(X[:, subset], y)
        for subset in combinations((0, 1, 2, 3, 7, 8, 9), 4)
    }
    true = scores.pop((0, 1, 2, 3))
    return true > max(scores.values()), true, true - max(scores.values())


def subsets(draws: int, jobs: int) -> None:
    results = Parallel(n_jobs=jobs)(delayed(subset_scores)(2000 + s) for s in range(draws))
    first, true, lead = np.array(results, dtype=float).T
    print(f"\nthe paper's 35 subsets of and-or, {draws} draws of n = 400")
    print(f"true subset first {int(first.sum())}/{draws}")
    print(f"its SMI           {true.min():.3f} to {true.max():.3f}")
    print(f"its lead          {lead.min():.3f} to {lead.max():.3f}")


def closed_forms() -> None:
    print("\nSMI against closed forms, mean of 5 draws (standard deviation)")
    print(f"{'case':<26} {'exact':>7}" + "".join(f"{f'n = {n}':>17}" for n in (250, 1000, 4000, 16000)))
    joint = np.array([[0.3, 0.1], [0.05, 0.15], [0.1, 0.3]])
    cases = [(f"normal, correlation {r}", r**2 / (2 * (1 - r**2)), r) for r in (0.0, 0.3, 0.5, 0.6)]
    discrete = 0.5 * (joint**2 / np.outer(joint.sum(1), joint.sum(0))).sum() - 0.5
    cases.append(("discrete, 3 x 2 cells", discrete, None))
    for title, exact, correlation in cases:
        cells = []
        for n in (250, 1000, 4000, 16000):
            values = []
            for seed in range(5):
                rng = np.random.default_rng(seed)
                if correlation is None:
                    cell = rng.choice(6, size=n, p=joint.ravel())
                    X, y = np.eye(3)[cell // 2], cell % 2
                else:
                    X = rng.normal(size=(n, 1))
                    y = correlation * X[:, 0] + np.sqrt(1 - correlation**2) * rng.normal(size=n)
                values.append(SquaredMutualInformation(random_state=seed).score(X, y))
            cells.append(f"{np.mean(values):.4f} ({np.std(values):.4f})")
        print(f"{title:<26} {exact:7.4f}" + "".join(f"{cell:>17}" for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=50, help="draws of each artificial problem")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    print(describe())
    subsets(20, options.jobs)
    closed_forms()
    toys(options.draws, options.jobs)


if __name__ == "__main__":
    main()
