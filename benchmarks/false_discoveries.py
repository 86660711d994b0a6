"""False discoveries and power of `l1lsmi.inference`, beside packages that do the same.

``python benchmarks/false_discoveries.py``; hidimstat, knockpy and Boruta come with ``pip install
'.[peers]'``, and are left out where they are missing. 10 of 30 columns matter, in four designs.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from l1lsmi import L1LSMI, FeatureSelector
from l1lsmi.baselines import LassoK
from l1lsmi.inference import KnockoffSelector, StabilitySelector
from l1lsmi.measures import HSIC
from l1lsmi.strategies import Ranking
from machine import describe

N_ROWS, N_COLUMNS, N_TRUE = 400, 30, 10
FDR, MAX_FALSE, N_SELECTED, N_RESAMPLES = 0.2, 1.0, 8, 20

Draw = tuple[np.ndarray, np.ndarray, np.ndarray]
Method = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def linear(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    true = rng.choice(N_COLUMNS, N_TRUE, replace=False)
    signs = rng.choice([-0.3, 0.3], N_TRUE)
    return np.clip(X[:, true], -3, 3) @ signs + rng.normal(size=len(X)), true


def independent(rng: np.random.Generator) -> Draw:
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    return X, *linear(X, rng)


def correlated(rng: np.random.Generator) -> Draw:
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    for j in range(1, N_COLUMNS):
        X[:, j] = 0.6 * X[:, j - 1] + 0.8 * X[:, j]
    return X, *linear(X, rng)


def heavy_tails(rng: np.random.Generator) -> Draw:
    X = rng.standard_t(2, size=(N_ROWS, N_COLUMNS))
    return X, *linear(X, rng)


def interactions(rng: np.random.Generator) -> Draw:
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    true = rng.choice(N_COLUMNS, N_TRUE, replace=False)
    products = X[:, true[::2]] * X[:, true[1::2]]
    return X, products.sum(axis=1) + 1.5 * rng.normal(size=N_ROWS), true


DESIGNS = {
    "independent": independent,
    "correlated": correlated,
    "interactions": interactions,
    "heavy tails": heavy_tails,
}


def l1lsmi(k: int | None = None) -> Any:
    # One restart: beside the effects of pairs it adds little in these designs, and takes most of the time.
    return L1LSMI(k, n_restarts=1)


def ranking(k: int | None = None) -> Any:
    return FeatureSelector(HSIC(), Ranking(), k)


def knockoffs(make: Callable[[], Any], **parameters: Any) -> Method:
    return lambda X, y, seed: (
        KnockoffSelector(make(), FDR, random_state=seed, **parameters).fit(X, y).support_
    )


def hidimstat(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    from hidimstat import ModelXKnockoff

    fitted = ModelXKnockoff(random_state=seed).fit(X, y)
    fitted.importance(X, y)
    return np.asarray(fitted.fdr_selection(FDR)) > 0


def knockpy(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    from knockpy.knockoff_filter import KnockoffFilter

    np.random.seed(seed)  # noqa: NPY002 - it takes no other seed
    return KnockoffFilter(ksampler="gaussian", fstat="lasso").forward(X=X, y=y, fdr=FDR) > 0


def boruta(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(50, max_depth=7, random_state=seed)
    return BorutaPy(forest, n_estimators=50, max_iter=30, random_state=seed).fit(X, y).support_


def summary(values: list[float]) -> str:
    spread = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):6.3f} +- {spread:.3f}"


def rates(name: str, method: Method, n_draws: int) -> None:
    for design, make in DESIGNS.items():
        false, power, seconds = [], [], []
        for seed in range(n_draws):
            X, y, true = make(np.random.default_rng((seed, 11)))
            started = time.perf_counter()
            selected = np.flatnonzero(method(X, y, seed))
            seconds.append(time.perf_counter() - started)
            right = np.isin(selected, true).sum()
            false.append((selected.size - right) / max(1, selected.size))
            power.append(right / N_TRUE)
        level = "" if np.mean(false) <= FDR + 2 * np.std(false, ddof=1) / np.sqrt(n_draws) else "  above"
        cells = f"{n_draws:5d}   {summary(false)}   {summary(power)} {np.median(seconds):8.2f}{level}"
        print(f"{name:<28} {design:<13} {cells}", flush=True)


def stability(name: str, selector: Any, n_draws: int) -> None:
    for design, make in DESIGNS.items():
        false, power, bounds, thresholds, seconds = [], [], [], [], []
        for seed in range(n_draws):
            X, y, true = make(np.random.default_rng((seed, 11)))
            started = time.perf_counter()
            fitted = StabilitySelector(
                selector, N_RESAMPLES, "auto", max_false=MAX_FALSE, random_state=seed
            ).fit(X, y)
            seconds.append(time.perf_counter() - started)
            right = fitted.support_[true].sum()
            false.append(float(fitted.support_.sum() - right))
            power.append(right / N_TRUE)
            bounds.append(fitted.false_selections_bound_)
            thresholds.append(fitted.threshold_)
        cells = f"{n_draws:5d}   {summary(false)} {np.mean(bounds):7.3f} {np.mean(thresholds):9.2f}   "
        print(f"{name:<14} {design:<13} {cells}{summary(power)} {np.median(seconds):8.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=100, help="draws of fast methods")
    parser.add_argument("--slow-draws", type=int, default=8, help="draws of methods that take seconds")
    parser.add_argument("--parts", nargs="+", default=["knockoffs", "peers", "stability"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(describe())
    slow = options.slow_draws
    size = f"{N_ROWS} rows, {N_TRUE} of {N_COLUMNS} columns matter"
    with threadpool_limits(1):
        print(f"\nknockoffs at a false discovery rate of {FDR}, {size}")
        print(f"{'method':<28} {'design':<13} draws      false rate            power    seconds")
        if "knockoffs" in options.parts:
            rates("LassoK", knockoffs(LassoK), options.draws)
            rates("LassoK, 5 draws of knockoffs", knockoffs(LassoK, n_draws=5), options.draws)
            rates("HSIC ranking", knockoffs(ranking), options.draws)
            rates("L1LSMI", knockoffs(l1lsmi), slow)
        for peer, n_draws in ((knockpy, options.draws), (hidimstat, slow), (boruta, slow // 2)):
            if "peers" in options.parts and find_spec(peer.__name__) is not None:
                rates(f"{peer.__name__} {version(peer.__name__)}", peer, max(2, n_draws))
        if "stability" not in options.parts:
            return
        print(f"\nstability selection, {N_RESAMPLES} half-samples, {N_SELECTED} columns from each, {size};")
        print(f"thresholds for at most {MAX_FALSE} false selections, by the bound")
        print(
            f"{'selector':<14} {'design':<13} draws      false        bound threshold       power    seconds"
        )
        stability("LassoK", LassoK(N_SELECTED), options.draws)
        stability("HSIC ranking", ranking(N_SELECTED), max(2, options.draws // 5))
        stability("L1LSMI", l1lsmi(N_SELECTED), max(2, slow // 2))


if __name__ == "__main__":
    main()
