"""Baselines and measures beside the packages that people use for them: same answers, and how fast.

``python benchmarks/peers.py``; the peers come with ``pip install '.[peers]'``.
"""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from sklearn.linear_model import lars_path

from l1lsmi import FeatureSelector
from l1lsmi.baselines import MRMR, QPFS, LassoK, ReliefF
from l1lsmi.measures import HSIC, SquaredMutualInformation
from l1lsmi.strategies import Backward, Forward, Ranking
from machine import describe

SIZES = ((400, 10, 4), (2000, 500, 20))


def data(n: int, m: int, seed: int, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Correlated columns, a few of which matter, by themselves and together."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    X[:, 1:] += 0.5 * X[:, :-1]
    signal = X[:, 0] + X[:, 2] * X[:, 4] + 0.5 * X[:, 5] ** 2 + 0.5 * rng.normal(size=n)
    if classes:
        return X, np.searchsorted(np.quantile(signal, np.arange(1, classes) / classes), signal)
    return X, signal


def seconds(run: Callable[[], Any], repeats: int) -> float:
    """Best of a few runs: the machine is shared."""
    best = np.inf
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - started)
    return float(best)


def show(title: str, size: str, ours: float, theirs: float) -> None:
    times = f"{1000 * ours:9.2f} ms {1000 * theirs:10.2f} ms {theirs / ours:7.1f} x"
    print(f"{title:<48} {size:<18} {times}", flush=True)


# -- same answers -----------------------------------------------------------------------------------


def same_as_mrmr_selection(draws: int) -> None:
    from mrmr import mrmr_classif, mrmr_regression

    for classes, peer in ((2, mrmr_classif), (3, mrmr_classif), (0, mrmr_regression)):
        same = 0
        for seed in range(draws):
            X, y = data(300, 20, seed, classes)
            theirs = peer(pd.DataFrame(X), pd.Series(y), K=8, show_progress=False, n_jobs=1)
            ours = MRMR(8, scheme="quotient", relevance="f").fit(X, y)
            same += ours.order_.tolist() == [int(j) for j in theirs]
        print(f"  MRMR, order of 8, as mrmr_selection, {classes or 'no'} classes: {same}/{draws}", flush=True)


def same_as_skrebate(draws: int) -> None:
    from skrebate import ReliefF as Peer

    for classes in (2, 3):
        same = 0
        for seed in range(draws):
            X, y = data(200, 12, seed, classes)
            theirs = Peer(n_features_to_select=5, n_neighbors=10, n_jobs=1).fit(X, y).top_features_[:5]
            same += set(ReliefF(5).fit(X, y).get_support(indices=True)) == {int(j) for j in theirs}
        print(f"  ReliefF, set of 5, as skrebate, {classes} classes: {same}/{draws}", flush=True)


def same_as_lars(draws: int) -> None:
    for classes in (2, 0):
        same = 0
        for seed in range(draws):
            X, y = data(150, 30, seed, classes)
            z = (X - X.mean(axis=0)) / X.std(axis=0)
            coefs = lars_path(z, y - y.mean(), method="lasso")[2]
            counts = (np.abs(coefs) > 1e-12 * np.abs(coefs).max()).sum(axis=0)
            first = int(np.flatnonzero(counts == 7)[0])
            theirs = np.flatnonzero(np.abs(coefs[:, first]) > 1e-12 * np.abs(coefs).max())
            same += np.array_equal(LassoK(7).fit(X, y).get_support(indices=True), theirs)
        print(f"  LassoK, set of 7, as lars_path, {classes or 'no'} classes: {same}/{draws}", flush=True)


def quadratic_programme(draws: int) -> None:
    worst = 0.0
    for seed in range(draws):
        X, y = data(200, 12, seed, 0)
        ours = QPFS(3).fit(X, y)
        q, f = np.abs(np.corrcoef(X.T)), np.array([abs(np.corrcoef(x, y)[0, 1]) for x in X.T])
        values, vectors = np.linalg.eigh(q)
        q = (vectors * np.maximum(values, 0)) @ vectors.T

        def objective(w: np.ndarray, q: np.ndarray = q, f: np.ndarray = f, a: float = ours.alpha_) -> float:
            return float(0.5 * (1 - a) * w @ q @ w - a * f @ w)

        found = minimize(
            objective,
            np.full(12, 1 / 12),
            method="SLSQP",
            bounds=[(0, None)] * 12,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            options={"ftol": 1e-15, "maxiter": 1000},
        )
        worst = max(worst, ours.objective_ - found.fun)
    print(f"  QPFS, objective above that of SLSQP: at most {worst:.1e} in {draws} problems", flush=True)


def plain_forward(score: Callable[[list[int]], float], m: int, k: int) -> list[int]:
    inside: list[int] = []
    for _ in range(k):
        inside.append(max((j for j in range(m) if j not in inside), key=lambda j: score([*inside, j])))
    return inside


def plain_backward(score: Callable[[list[int]], float], m: int, k: int) -> list[int]:
    inside = list(range(m))
    while len(inside) > k:
        inside.remove(max(inside, key=lambda j: score([i for i in inside if i != j])))
    return inside


def same_as_double_loops(draws: int) -> None:
    for measure in (HSIC(), SquaredMutualInformation(random_state=0)):
        forward = backward = 0
        for seed in range(draws):
            X, y = data(200, 8, seed, 2)

            def score(columns: list[int], X: np.ndarray = X, y: np.ndarray = y, m: Any = measure) -> float:
                return float(m.score(X[:, columns], y))

            found = FeatureSelector(measure, Forward(), 3).fit(X, y)
            forward += [step.feature for step in found.path_] == plain_forward(score, 8, 3)
            found = FeatureSelector(measure, Backward(), 3).fit(X, y)
            backward += found.get_support(indices=True).tolist() == plain_backward(score, 8, 3)
        found = f"forward {forward}/{draws}, backward {backward}/{draws}"
        print(f"  {type(measure).__name__}, as a plain double loop: {found}", flush=True)


# -- speed ------------------------------------------------------------------------------------------


def time_baselines(n: int, m: int, k: int) -> None:
    from mrmr import mrmr_classif
    from skrebate import ReliefF as Peer

    X, y = data(n, m, 0)
    size, small = f"n = {n}, m = {m}", n <= 400
    frame, series = pd.DataFrame(X), pd.Series(y)
    repeats = 3 if small else 1

    def mrmr() -> Any:
        return mrmr_classif(frame, series, K=k, show_progress=False, n_jobs=1)

    theirs = seconds(mrmr, repeats)
    linear, discretised = MRMR(k, scheme="quotient", relevance="f"), MRMR(k)
    show("MRMR, F and correlation / mrmr_selection", size, seconds(lambda: linear.fit(X, y), 5), theirs)
    show("MRMR, discretised / mrmr_selection", size, seconds(lambda: discretised.fit(X, y), 5), theirs)
    peer = Peer(n_features_to_select=k, n_neighbors=10, n_jobs=1)
    theirs = seconds(lambda: peer.fit(X, y), repeats)
    show("ReliefF / skrebate", size, seconds(lambda: ReliefF(k).fit(X, y), 3), theirs)
    z, centred = (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()
    theirs = seconds(lambda: lars_path(z, centred, method="lasso"), 20 if small else 1)
    ours = seconds(lambda: LassoK(k).fit(X, y), 20 if small else 3)
    show("LassoK / lars_path, whole path", size, ours, theirs)
    print(f"{'QPFS':<48} {size:<18} {1000 * seconds(lambda: QPFS(k).fit(X, y), 3):9.2f} ms", flush=True)


def time_hsic(n: int, m: int, k: int) -> None:
    from hyppo.independence import Hsic
    from pyHSICLasso.hsic_lasso import hsic_lasso

    X, y = data(n, m, 0)
    size, column = f"n = {n}, m = {m}", y[:, None].astype(float)
    theirs = seconds(lambda: Hsic().statistic(X, column), 3)
    show("HSIC of all columns / hyppo", size, seconds(lambda: HSIC().score(X, y), 3), theirs)

    def kernels() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            hsic_lasso(X.T, column.T, y_kernel="Delta", x_kernel="Gaussian", n_jobs=1, B=20, M=1)

    theirs = seconds(kernels, 2)
    ours = seconds(lambda: FeatureSelector(HSIC(), Ranking(), k).fit(X, y), 2)
    show("HSIC of each column / pyHSICLasso, blocks of 20", size, ours, theirs)


def time_forward_search() -> None:
    n, m, k = 400, 166, 20
    X, y = data(n, m, 0)
    measure = SquaredMutualInformation(random_state=0)
    selector = FeatureSelector(measure, Forward(), k)
    ours = seconds(lambda: selector.fit(X, y), 1)
    order = [step.feature for step in selector.path_]
    rng, n_some, spent = np.random.default_rng(0), 100, 0.0
    for _ in range(n_some):  # some of the sets that a search from scratch would estimate
        inside = order[: rng.integers(k)]
        other = int(rng.choice(np.setdiff1d(np.arange(m), inside)))
        spent += seconds(lambda columns=[*inside, other]: measure.score(X[:, columns], y), 1)
    from_scratch = spent / n_some * sum(m - i for i in range(k))
    show("forward, SMI, k = 20 / from scratch, reckoned", f"n = {n}, m = {m}", ours, from_scratch)


def main() -> None:
    warnings.filterwarnings("ignore")
    print(describe())
    print("\nsame answers")
    same_as_mrmr_selection(50)
    same_as_skrebate(50)
    same_as_lars(50)
    quadratic_programme(50)
    same_as_double_loops(10)
    print(f"\n{'what / peer':<48} {'size':<18} {'l1lsmi':>12} {'peer':>13} {'ratio':>9}")
    for size in SIZES:
        time_baselines(*size)
        time_hsic(*size)
    time_forward_search()


if __name__ == "__main__":
    main()
