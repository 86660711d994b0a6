"""What unseen rows decide: the number of features, p-values, pools of columns; and how stable the sets are.

``python benchmarks/unseen.py --parts auto null`` needs no data; ``wide``, ``stability``, ``cost`` and
``predictors`` need the real datasets (.npz files with X and y) in ``--data FOLDER``. Seconds are of one core.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import kstest, rankdata
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector, datasets
from l1lsmi.baselines import MRMR, QPFS, ReliefF
from l1lsmi.datasets.toys import TRUE_FEATURES
from l1lsmi.measures import Pearson
from l1lsmi.strategies import Ranking
from machine import describe
from tails import JUDGES, METHODS

#: Datasets with more columns than rows, or nearly so; at most so many rows select and train.
WIDE = ("ALLAML", "TOX_171", "arcene", "warpPIE10P", "BASEHOCK", "PCMAC", "sonar")
#: Beside the rivals, and not one of them.
ALL_COLUMNS = "L1LSMI, all columns"
MAX_TRAIN = 500
#: Errors below this count as this: a ratio to no error says nothing.
LEAST_ERROR = 1e-3
#: Datasets on which the sets of subsamples are compared, and the number of features.
STABILITY = {"wine": 4, "ionosphere": 4, "sonar": 10, "spectf": 10, "TOX_171": 10, "musk1": 20}
#: Datasets on which times are compared, and the number of features.
COST = {
    **{"wine": 4, "glass": 4, "german": 4, "ionosphere": 4, "vehicle": 4, "image": 4},
    **{"sonar": 10, "spectf": 10, "musk1": 20, "ALLAML": 10, "TOX_171": 10, "warpPIE10P": 10},
}
#: The paper's datasets, and how many rows at most select and train, and test.
PAPER = (
    *("abalone", "bcancer", "glass", "housing", "vowel", "wine", "image", "segment", "vehicle", "german"),
    *(
        "cpuact",
        "ionosphere",
        "satimage",
        "spectf",
        "senseval2",
        "speech",
        "sonar",
        "musk1",
        "musk2",
        "isolet",
    ),
)
PAPER_TRAIN, PAPER_TEST = 400, 2_000
#: For numeric targets, in place of `tails.JUDGES`.
NUMERIC_JUDGES: dict[str, Any] = {
    "SVM": lambda: make_pipeline(StandardScaler(), SVR(C=10)),
    "forest": lambda: RandomForestRegressor(200, random_state=0),
    "neighbours": lambda: make_pipeline(StandardScaler(), KNeighborsRegressor(10)),
    "linear": lambda: make_pipeline(StandardScaler(), Ridge()),
}


#: Beside those of `tails.METHODS`.
RIVALS: dict[str, Any] = {
    "Pearson": lambda k: FeatureSelector(Pearson(), Ranking(), n_features_to_select=k),
    "QPFS": QPFS,
    "ReliefF": ReliefF,
    "L1HSIC": L1HSIC,
}


def chosen(maker: Any, X: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    support: np.ndarray = maker(k).fit(X, y).get_support(indices=True)
    return support


def auto(draws: list[int]) -> None:
    """The number of features of toys and of noise."""
    print("\nn_features_to_select='auto': share of draws with the true number of features, and the true set")
    for name, true in TRUE_FEATURES.items():
        for n in (100, 200, 400):
            sizes, exact, evidence, seconds = Counter[int](), [], [], 0.0
            for draw in draws:
                X, y = getattr(datasets, f"make_{name}")(n, random_state=draw)
                started = time.process_time()
                selector = L1LSMI("auto").fit(X, y)
                seconds += time.process_time() - started
                sizes[int(selector.support_.sum())] += 1
                exact.append(tuple(selector.get_support(indices=True)) == true)
                evidence.append(selector.p_value_ < 0.05)
            n_draws = len(draws)
            found = dict(sorted(sizes.items()))
            print(
                f"{name:8} n={n}: k right {sizes[len(true)] / n_draws:.2f}, set right {np.mean(exact):.2f}, "
                f"p < 0.05 {np.mean(evidence):.2f}, {seconds / len(draws):.2f} s; {found}",
                flush=True,
            )
    for n, m in ((100, 10), (50, 200)):
        nothing = []
        for draw in draws:
            rng = np.random.default_rng(draw)
            nothing.append(
                not L1LSMI("auto").fit(rng.normal(size=(n, m)), rng.integers(0, 2, n)).support_.any()
            )
        print(f"noise {n} x {m}: nothing selected {np.mean(nothing):.2f}", flush=True)


def null(draws: list[int]) -> None:
    """p-values of targets that do not depend on the features."""
    print("\np-values without dependence: Kolmogorov-Smirnov p against uniform, shares below 0.05 and 0.01")
    for kind in ("classes", "rare class", "numbers"):
        for n, m in ((100, 8), (40, 120)):
            found, started = [], time.process_time()
            for draw in draws:
                rng = np.random.default_rng((draw, n))
                X, y = rng.normal(size=(n, m)), rng.normal(size=n)
                if kind != "numbers":
                    y = y > np.quantile(y, 0.5 if kind == "classes" else 0.9)
                found.append(L1LSMI(3).fit(X, y).p_value_)
            p = np.array(found)
            print(
                f"{kind:10} {n} x {m}: {kstest(p, 'uniform').pvalue:.3f}, {(p < 0.05).mean():.3f}, "
                f"{(p < 0.01).mean():.3f}, {(time.process_time() - started) / len(draws):.2f} s",
                flush=True,
            )


def load(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
        return file["X"].astype(np.float64), np.unique(file["y"], return_inverse=True)[1].ravel()


def split(y: np.ndarray, draw: int, test: float) -> tuple[np.ndarray, np.ndarray]:
    train, rest = train_test_split(np.arange(y.size), test_size=test, stratify=y, random_state=draw)
    if train.size > MAX_TRAIN:
        train, _ = train_test_split(train, train_size=MAX_TRAIN, stratify=y[train], random_state=draw)
    return train, rest


def errors(X: np.ndarray, y: np.ndarray, train: Any, test: Any, support: Any) -> dict[str, float]:
    """Error rates of classes, root mean squared errors of numbers; without features, of the best guess."""
    classes = y.dtype.kind in "iu"
    found = {}
    for name, judge in (JUDGES if classes else NUMERIC_JUDGES).items():
        guess = DummyClassifier() if classes else DummyRegressor()
        model = (judge() if len(support) else guess).fit(X[np.ix_(train, support)], y[train])
        told = model.predict(X[np.ix_(test, support)])
        wrong = (told != y[test]).mean() if classes else np.sqrt(((told - y[test]) ** 2).mean())
        found[name] = float(wrong)
    return found


def wide(folder: Path, names: list[str], sizes: list[int], draws: list[int]) -> None:
    """Held-out errors on wide tables."""
    methods: dict[str, Any] = {
        **{name: partial(chosen, maker) for name, maker in RIVALS.items()},
        **{name: select for name, select in METHODS.items() if name != "L1LSMI, tails kept"},
        ALL_COLUMNS: lambda X, y, k: L1LSMI(k, pool=None, p_value=False).fit(X, y).get_support(indices=True),
    }
    print("\nwide tables, 70 % of the rows (500 at most) select and train: held-out errors, mean of draws")
    tables = []
    for name in names:
        X, y = load(folder, name)
        for k in sizes:
            table = {}
            print(f"{name}, {X.shape[0]} x {X.shape[1]}, k = {k}, {len(draws)} draws")
            for method, select in methods.items():
                found, seconds = [], 0.0
                for draw in draws:
                    train, test = split(y, draw, 0.3)
                    started = time.process_time()
                    support = select(X[train], y[train], k)
                    seconds += time.process_time() - started
                    found.append(errors(X, y, train, test, support))
                means = {judge: np.mean([one[judge] for one in found]) for judge in JUDGES}
                shown = ", ".join(f"{judge} {value:.3f}" for judge, value in means.items())
                mean = np.mean(list(means.values()))
                print(f"  {method:20} {shown}, mean {mean:.3f}, {seconds / len(draws):.1f} s", flush=True)
                table[method] = list(means.values())
            tables.append(table)
    summary(tables)


def summary(tables: list[dict[str, list[float]]]) -> None:
    """Mean ranks under each judge, and errors of L1LSMI over those of rivals."""
    methods = [method for method in tables[0] if method != ALL_COLUMNS]
    found = np.array([[table[method] for method in methods] for table in tables])
    ranks = rankdata(found, axis=1).mean(axis=0)
    means, own = np.maximum(found.mean(axis=2), LEAST_ERROR), methods.index("L1LSMI")
    ratios = means[:, own, None] / means
    print(
        f"{len(methods)} methods on {len(tables)} tables: mean ranks, "
        "geometric mean of the errors of L1LSMI over theirs"
    )
    for method, row, ratio in zip(methods, ranks, np.exp(np.log(ratios).mean(axis=0)), strict=True):
        shown = ", ".join(f"{j} {r:.2f}" for j, r in zip(JUDGES, row, strict=True))
        print(f"  {method:20} {shown}, {ratio:.3f}")
    of_best = np.delete(ratios, own, axis=1).max(axis=1)
    print(
        f"over the best rival of each table: {np.exp(np.log(of_best).mean()):.3f}, "
        f"largest {of_best.max():.3f}"
    )


def stability(folder: Path, names: list[str], draws: list[int]) -> None:
    """Overlap of the sets of subsamples, with held-out errors."""
    print(
        "\nmean overlap of the sets of 80 % subsamples, held-out errors of the others (mean of four judges)"
    )
    for name in names:
        X, y = load(folder, name)
        k = STABILITY[name]
        for method in ("L1LSMI", "mRMR"):
            sets, found = [], []
            for draw in draws:
                train, test = split(y, draw, 0.2)
                selector = L1LSMI(k, p_value=False) if method == "L1LSMI" else MRMR(k)
                support = selector.fit(X[train], y[train]).get_support(indices=True)
                sets.append(set(support))
                found.append(np.mean(list(errors(X, y, train, test, support).values())))
            overlap = np.mean([len(a & b) / k for a, b in combinations(sets, 2)])
            print(
                f"{name:10} k = {k:2} {method:6} overlap {overlap:.2f}, error {np.mean(found):.3f}",
                flush=True,
            )


def cost(folder: Path, names: list[str], draws: list[int]) -> None:
    """Processor time of the default over that of a search alone: from all columns, without a p-value."""
    print("\nseconds of a search alone; how many times as long it takes with a p-value, and by default")
    ratios = []
    for name in names:
        X, y = load(folder, name)
        k = COST[name]
        for draw in draws:
            rows = np.random.default_rng(draw).permutation(y.size)[:PAPER_TRAIN]
            seconds = []
            for options in ({"pool": None, "p_value": False}, {"pool": None}, {}):
                started = time.process_time()
                L1LSMI(k, **options).fit(X[rows], y[rows])
                seconds.append(time.process_time() - started)
            ratios.append(seconds[2] / seconds[0])
            shown = f"{seconds[0]:.2f} s, {seconds[1] / seconds[0]:.1f} x, {ratios[-1]:.1f} x"
            print(f"{name:10} {rows.size} x {X.shape[1]}, k = {k:2}: {shown}", flush=True)
    print(f"by default: median {np.median(ratios):.1f} x, at most {max(ratios):.1f} x")


def predictors(folder: Path, names: list[str], draws: list[int]) -> None:
    """Held-out errors of predictors with the features of ``n_features_to_select="auto"``, and with all."""
    print("\nheld-out errors with the features of n_features_to_select='auto', over those with all features")
    ratios = []
    for name in names:
        with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
            X, y = file["X"].astype(np.float64), file["y"]
        classes = y.dtype.kind in "iu"
        sizes, found = [], []
        for draw in draws:
            train, test = train_test_split(
                np.arange(y.size),
                train_size=min(PAPER_TRAIN, int(0.7 * y.size)),
                stratify=y if classes else None,
                random_state=draw,
            )
            test = test[:PAPER_TEST]
            task = "classification" if classes else "regression"  # isolet has more integers than "auto" takes
            selector = L1LSMI("auto", task=task, random_state=draw).fit(X[train], y[train])
            support = selector.get_support(indices=True)
            sizes.append(len(support))
            everything = np.arange(X.shape[1])
            found.append([errors(X, y, train, test, columns) for columns in (support, everything)])
        selected, everything = np.mean([[list(one.values()) for one in both] for both in found], axis=0)
        ratios.append(selected / everything)
        shown = ", ".join(
            f"{judge} {a:.3f}/{b:.3f}" for judge, a, b in zip(JUDGES, selected, everything, strict=True)
        )
        print(f"{name:10} {X.shape[1]:3} features, selected {sizes}: {shown}", flush=True)
    within = np.array(ratios) <= 1.02
    for j, judge in enumerate(JUDGES):
        mean = np.exp(np.log(np.array(ratios)[:, j]).mean())
        print(
            f"{judge:10} at most 2 % above: {within[:, j].sum()} of {len(names)}; geometric mean {mean:.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", default=["auto", "null"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--names", nargs="+")
    parser.add_argument("--sizes", nargs="+", type=int, default=[5, 20])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first", type=int, default=5_000, help="number of the first draw")
    options = parser.parse_args()
    draws = list(range(options.first, options.first + options.draws))
    print(describe())
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        if "auto" in options.parts:
            auto(draws)
        if "null" in options.parts:
            null(draws)
        if "wide" in options.parts:
            wide(options.data, options.names or list(WIDE), options.sizes, draws)
        if "stability" in options.parts:
            stability(options.data, options.names or list(STABILITY), draws)
        if "cost" in options.parts:
            cost(options.data, options.names or list(COST), draws)
        if "predictors" in options.parts:
            predictors(options.data, options.names or list(PAPER), draws)


if __name__ == "__main__":
    main()
