"""Word counts and outliers: held-out errors beside rivals, and toys with one percent of the entries replaced.

``python benchmarks/tails.py --data FOLDER`` needs BASEHOCK.npz and PCMAC.npz (X, y) there. 500 rows are drawn
for selection and training, the others test four judges on the selected columns.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from l1lsmi import L1LSMI, datasets
from l1lsmi.baselines import MRMR
from l1lsmi.datasets.toys import TRUE_FEATURES
from machine import describe

JUDGES = {
    "SVM": lambda: make_pipeline(StandardScaler(), SVC(C=10)),
    "forest": lambda: RandomForestClassifier(200, random_state=0),
    "neighbours": lambda: make_pipeline(StandardScaler(), KNeighborsClassifier(10)),
    "linear": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
}


def by_importance(model: Any, X: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    return np.argsort(-model.fit(X, y).feature_importances_, kind="stable")[:k]


def lightgbm(X: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    model = LGBMClassifier(
        n_estimators=200, num_leaves=15, n_jobs=1, verbose=-1, importance_type="gain", random_state=0
    )
    return by_importance(model, X, y, k)


METHODS = {
    "L1LSMI": lambda X, y, k: L1LSMI(k, random_state=0).fit(X, y).get_support(indices=True),
    "L1LSMI, tails kept": lambda X, y, k: (
        L1LSMI(k, random_state=0, tails="keep").fit(X, y).get_support(indices=True)
    ),
    "mRMR": lambda X, y, k: MRMR(k).fit(X, y).get_support(indices=True),
    "forest": lambda X, y, k: by_importance(RandomForestClassifier(500, random_state=0), X, y, k),
    "LightGBM": lightgbm,
}


def words(folder: Path, name: str, sizes: list[int], draws: list[int]) -> None:
    data = np.load(folder / f"{name}.npz", allow_pickle=False)
    X, y = data["X"].astype(np.float64), data["y"]
    for k in sizes:
        errors: dict[str, list[list[float]]] = {method: [] for method in METHODS}
        seconds: dict[str, list[float]] = {method: [] for method in METHODS}
        for draw in draws:
            order = np.random.default_rng(draw).permutation(len(y))
            train, test = order[:500], order[500:]
            for method, select in METHODS.items():
                started = time.perf_counter()
                columns = select(X[train], y[train], k)
                seconds[method].append(time.perf_counter() - started)
                fitted = [judge().fit(X[train][:, columns], y[train]) for judge in JUDGES.values()]
                errors[method].append([1 - model.score(X[test][:, columns], y[test]) for model in fitted])
        means = {method: np.mean(found, axis=0) for method, found in errors.items()}
        best = np.min([means[method] for method in ("mRMR", "forest", "LightGBM")], axis=0)
        print(f"\n{name}, k = {k}, {len(draws)} draws: error, and ratio to the best rival of each judge")
        print(f"{'':<20}" + "".join(f"{judge:>16}" for judge in JUDGES) + "   seconds")
        for method, mean in means.items():
            cells = [f"{error:.3f} ({ratio:.2f})" for error, ratio in zip(mean, mean / best, strict=True)]
            print(f"{method:<20}" + "".join(f"{cell:>16}" for cell in cells), end="")
            print(f"{np.median(seconds[method]):10.1f}", flush=True)


def toys(n_draws: int) -> None:
    print(f"\ntoys with 1 % of the entries replaced by +-1e6: true sets found in {n_draws} draws")
    for hit in ("every column", "the true columns"):
        for name, true in TRUE_FEATURES.items():
            right = 0
            for seed in range(9_000, 9_000 + n_draws):
                X, y = getattr(datasets, f"make_{name}")(400, random_state=seed)
                X, rng = X.astype(np.float64), np.random.default_rng(seed)
                replaced = rng.random(X.shape) < 0.01
                if hit == "the true columns":
                    replaced[:, [j for j in range(X.shape[1]) if j not in true]] = False
                X[replaced] = rng.choice([-1e6, 1e6], replaced.sum())
                found = L1LSMI(len(true), random_state=seed).fit(X, y).get_support(indices=True)
                right += set(found) == set(true)
            print(f"{hit:<20} {name:<8} {right} of {n_draws}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 50])
    parser.add_argument("--draws", type=int, nargs="+", default=[100, 101, 102])
    parser.add_argument("--toys", type=int, default=20)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(describe())
    with threadpool_limits(1):
        toys(options.toys)
        for name in ("BASEHOCK", "PCMAC") if options.data else ():
            words(options.data, name, options.sizes, options.draws)


if __name__ == "__main__":
    main()
