"""What it costs to search on a sample of the rows and to let all rows decide.

Problems in which the features that matter are weak, so that the number of rows counts. For each size of the
sample: the share of the true features that were found, what all rows say of the set that was chosen
(squared-loss mutual information by cross-validation, the same measure for all), and the time.
"""

from __future__ import annotations

import time

import numpy as np

from l1lsmi import L1LSMI
from l1lsmi.measures import SquaredMutualInformation
from machine import describe

N, M, DRAWS = 30_000, 30, 3
SAMPLES = (1_000, 3_000, 10_000, None)


def weak_sum(x: np.ndarray, noise: np.ndarray) -> np.ndarray:
    return 0.3 * (x[:, 0] + x[:, 1] + x[:, 2] + x[:, 3]) + noise


def weak_interaction(x: np.ndarray, noise: np.ndarray) -> np.ndarray:
    return 0.5 * x[:, 0] * x[:, 1] + 0.3 * np.abs(x[:, 2]) + 0.2 * x[:, 3] + noise


def rare_class(x: np.ndarray, noise: np.ndarray) -> np.ndarray:
    return (x[:, 0] * x[:, 1] + x[:, 2] + x[:, 3] + noise > 4.0).astype(int)


def main() -> None:
    print(describe())
    print(f"{N} rows, {M} features of which 4 matter, mean of {DRAWS} draws")
    print(f"{'problem':<18} {'explore_rows':>12} {'found':>6} {'said by all rows':>18} {'seconds':>8}")
    for make in (weak_sum, weak_interaction, rare_class):
        for explore_rows in SAMPLES:
            found, scores, seconds = [], [], []
            for seed in range(DRAWS):
                rng = np.random.default_rng(seed)
                X = rng.normal(size=(N, M))
                y = make(X, rng.normal(size=N))
                started = time.perf_counter()
                selector = L1LSMI(4, explore_rows=explore_rows, random_state=seed, n_jobs=2).fit(X, y)
                seconds.append(time.perf_counter() - started)
                found.append(selector.support_[:4].mean())
                measure = SquaredMutualInformation(random_state=0)
                scores.append(measure.score(selector.transform(X), y))
            shown = "all" if explore_rows is None else explore_rows
            print(
                f"{make.__name__:<18} {shown:>12} {np.mean(found):6.2f} {np.mean(scores):18.5f} "
                f"{np.mean(seconds):8.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
