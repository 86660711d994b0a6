"""Whether the error that a report begins with is true: beside that of the same model on 10,000 fresh rows.

``python benchmarks/headline.py``. Features are selected from all rows of a draw; the model is fitted to all
of them, and predicts fresh rows. ``z`` is the difference of the two errors over the standard error that the
report tells.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from l1lsmi import L1LSMI
from l1lsmi._validation.columns import Columns
from l1lsmi.evaluation import selection_scores
from l1lsmi.evaluation._coordinates import learned_coordinates
from l1lsmi.evaluation._models import predict_rows
from machine import describe

N_COLUMNS, N_FRESH, K = 20, 10_000, 3

#: Targets of normal columns and noise; those of booleans and whole numbers are classes.
PROBLEMS: dict[str, Callable[[Any, Any], Any]] = {
    "exclusive or, 10 % flipped": lambda x, e: (x[:, 0] * x[:, 1] > 0) ^ (e > 1.28),
    "three linear effects": lambda x, e: x[:, :3].sum(axis=1) + e > 0,
    "three classes": lambda x, e: np.digitize(x[:, 0] + x[:, 1] ** 2 + e / 2, [0, 1.5]),
    "a rare class": lambda x, e: x[:, 0] + x[:, 1] + e > 2.8,
    "product and effect": lambda x, e: x[:, 0] * x[:, 1] + x[:, 2] + e / 2,
    "sine": lambda x, e: np.sin(2 * x[:, 0]) + e / 2,
    "classes without dependence": lambda x, e: e > 0,
    "numbers without dependence": lambda x, e: e,
}


def draw(problem: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng((seed, n))
    X = rng.normal(size=(n, N_COLUMNS))
    y = PROBLEMS[problem](X, rng.normal(size=n))
    return X, y.astype(int) if y.dtype.kind in "bi" else y


def error_on_fresh_rows(model: Any, problem: str, X: Any, y: Any, support: Any, seed: int) -> float:
    fresh, truth = draw(problem, N_FRESH, 10_000 + seed)
    columns = Columns(X[:, support], [None] * len(support), None)
    coordinates = learned_coordinates(columns)
    n_classes = int(y.max()) + 1 if y.dtype.kind == "i" else 0
    rng = np.random.default_rng(0)
    found = predict_rows(model, coordinates(columns.x), y, coordinates(fresh[:, support]), n_classes, rng)
    if n_classes:
        return float((found.values != truth).mean())
    return float(np.sqrt(((found.values - truth) ** 2).mean()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", nargs="+", type=int, default=[100, 400])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first", type=int, default=100, help="number of the first draw")
    parser.add_argument("--forest", action="store_true", help="a random forest in place of the default model")
    options = parser.parse_args()
    print(describe())
    warnings.simplefilter("ignore")
    inside = total = 0
    for n in options.rows:
        print(f"\nn = {n}, {options.draws} draws: mean error told, on fresh rows, within two standard errors")
        for problem in PROBLEMS:
            told, true, z, started = [], [], [], time.perf_counter()
            for seed in range(options.first, options.first + options.draws):
                X, y = draw(problem, n, seed)
                forest = RandomForestClassifier if y.dtype.kind == "i" else RandomForestRegressor
                model = forest(random_state=0) if options.forest else None
                selector = L1LSMI(K, random_state=0).fit(X, y)
                scores = selection_scores(selector, X, y, model=model)
                found = scores.sets["selected"].metrics[scores.metric]
                told.append(found.value)
                true.append(
                    error_on_fresh_rows(model, problem, X, y, selector.get_support(indices=True), seed)
                )
                z.append((found.value - true[-1]) / found.standard_error)
            close = int((np.abs(z) <= 2).sum())
            inside, total = inside + close, total + len(z)
            seconds = (time.perf_counter() - started) / options.draws
            print(
                f"{problem:27} {np.mean(told):.3f}  {np.mean(true):.3f}  {close} of {len(z)}, "
                f"mean z {np.mean(z):+.1f}, {seconds:.1f} s",
                flush=True,
            )
    print(f"\nwithin two standard errors: {inside} of {total}")


if __name__ == "__main__":
    main()
