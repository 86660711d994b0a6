"""Tables as they are: categories beside indicator columns, and missing values beside imputation.

``python benchmarks/mixed.py`` needs no data; ``--data FOLDER`` adds German credit, Ljubljana breast cancer
and solar flares (.npz files with X, y and feature_names) with their categories. Both ways select as many
columns; of indicators that is as many levels. Forests with the selected columns, categories as indicators,
are tested on held-out rows.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from l1lsmi import L1LSMI, datasets
from l1lsmi.datasets.toys import TRUE_FEATURES
from machine import describe

N_ROWS = 400
N_TEST = 1000
#: Columns of German credit that are numbers or ordered.
GERMAN_NUMBERS = {"duration", "credit_amount", "installment_rate", "residence_since", "age"}
GERMAN_NUMBERS |= {"existing_credits", "num_dependents"}
#: Columns of the other two that are numbers or ordered.
OTHER_NUMBERS = {"age", "tumor_size", "inv_nodes", "deg_malig", "c_class_flares", "m_class_flares"}


class Problem(NamedTuple):
    """A table with a target, and the columns that it depends on where they are known."""

    frame: pd.DataFrame
    y: np.ndarray
    true: tuple[str, ...] | None
    k: int


# -- made tables ------------------------------------------------------------------------------


def columns(rng: np.random.Generator, n: int, n_levels: int = 5) -> pd.DataFrame:
    """Ten numbers and ten categories."""
    frame = pd.DataFrame({f"n{j}": rng.normal(size=n) for j in range(10)})
    for j in range(10):
        frame[f"c{j}"] = pd.Categorical([f"level {i}" for i in rng.integers(0, n_levels, n)])
    return frame


def effects_of(rng: np.random.Generator, codes: np.ndarray) -> np.ndarray:
    effects = rng.permutation(np.linspace(-1.5, 1.5, codes.max() + 1))
    return np.asarray(effects[codes])


def made(kind: str, draw: int, n: int) -> Problem:
    rng = np.random.default_rng((draw, sum(map(ord, kind))))
    frame = columns(rng, n, {"twelve levels": 12, "two levels": 2}.get(kind, 5))
    codes = {name: frame[name].cat.codes.to_numpy() for name in frame if name.startswith("c")}
    x = frame["n1"].to_numpy()
    noise = rng.normal(size=n)
    if kind == "effects":
        score, true = effects_of(rng, codes["c2"]) + x + 0.5 * noise, ("c2", "n1")
    elif kind == "two levels":
        score, true = np.where((codes["c2"] ^ codes["c5"]) > 0, 1.0, -1.0) + 0.3 * noise, ("c2", "c5")
    elif kind == "squares":
        score, true = np.where((codes["c2"] + codes["c5"]) % 5 < 2, 1.0, -1.0) + 0.3 * noise, ("c2", "c5")
    elif kind == "slopes":
        score, true = np.where(codes["c2"] < 2, x, -x) + 0.3 * noise, ("c2", "n1")
    elif kind == "twelve levels":
        score, true = effects_of(rng, codes["c2"]) + 0.5 * noise, ("c2",)
    elif kind == "rare level":
        rare = rng.random(n) < 0.06
        frame["c2"] = pd.Categorical(np.where(rare, "rare", frame["c2"].astype(str)))
        score, true = np.where(rare, 3.0, 0.7 * x) + 0.3 * noise, ("c2", "n1")
    else:  # a number as the target
        value = effects_of(rng, codes["c2"]) + np.square(x) + 0.5 * noise
        return Problem(frame, value, ("c2", "n1"), 2)
    y = np.where(score > np.median(score) + 0.05 * rng.normal(size=n), "yes", "no")
    return Problem(frame, y, true, len(true))


KINDS = ("effects", "two levels", "squares", "slopes", "twelve levels", "rare level", "number")


def real(folder: Path, name: str) -> Problem:
    with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
        x, y, names = file["X"], file["y"], file["feature_names"].tolist()
    numbers = GERMAN_NUMBERS if name == "german" else OTHER_NUMBERS
    frame = pd.DataFrame(x, columns=names)
    for column in frame:
        if column not in numbers:
            codes = np.unique(frame[column], return_inverse=True)[1]
            frame[column] = pd.Categorical([f"level {code}" for code in codes])
    return Problem(frame, y, None, 5)


# -- categories -------------------------------------------------------------------------------


def indicators(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.get_dummies(frame, dtype=float)


def as_they_are(train: pd.DataFrame, y: np.ndarray, k: int) -> tuple[list[str], list[str]]:
    """Selected columns, and the indicator columns that they stand for."""
    chosen = [str(name) for name in L1LSMI(k).fit(train, y).get_feature_names_out()]
    return chosen, [
        column for column in indicators(train) if column.split("_level")[0].split("_rare")[0] in chosen
    ]


def by_indicators(train: pd.DataFrame, y: np.ndarray, k: int) -> tuple[list[str], list[str]]:
    coded = indicators(train)
    chosen = [str(name) for name in L1LSMI(k).fit(coded, y).get_feature_names_out()]
    return sorted({name.split("_level")[0].split("_rare")[0] for name in chosen}), chosen


METHODS: dict[str, Callable[..., tuple[list[str], list[str]]]] = {
    "categories": as_they_are,
    "indicators": by_indicators,
}


def f_measure(chosen: list[str], true: tuple[str, ...]) -> float:
    return 2 * len(set(chosen) & set(true)) / (len(chosen) + len(true))


def held_out(problem: Problem, coded: list[str], train: Any, test: Any) -> float:
    x = indicators(problem.frame)[coded].to_numpy()
    if problem.y.dtype.kind == "f":
        model: Any = RandomForestRegressor(200, random_state=0).fit(x[train], problem.y[train])
        residuals = problem.y[test] - model.predict(x[test])
        return float(np.sqrt((residuals**2).mean()) / problem.y[test].std())
    model = RandomForestClassifier(200, random_state=0).fit(x[train], problem.y[train])
    return float((model.predict(x[test]) != problem.y[test]).mean())


def categories(draws: list[int], folder: Path | None) -> None:
    print("\ncategories as they are beside indicator columns: F-measure of columns, held-out error, seconds")
    makers: dict[str, Callable[[int], Problem]] = {
        kind: partial(made, kind, n=N_ROWS + N_TEST) for kind in KINDS
    }
    for name in ("german", "bcancer", "flaresolar") if folder is not None else ():
        assert folder is not None
        makers[name] = lambda _, name=name: real(folder, name)
    for name, make in makers.items():
        rows: dict[str, list[tuple[float, float, float]]] = {method: [] for method in METHODS}
        for draw in draws:
            problem = make(draw)
            places = np.arange(len(problem.y))
            train, test = train_test_split(
                places, train_size=min(N_ROWS, int(0.7 * places.size)), random_state=draw
            )
            for method, select in METHODS.items():
                started = time.process_time()
                chosen, coded = select(problem.frame.iloc[train], problem.y[train], problem.k)
                seconds = time.process_time() - started
                f = np.nan if problem.true is None else f_measure(chosen, problem.true)
                rows[method].append((f, held_out(problem, coded, train, test), seconds))
        shown = []
        for method, found in rows.items():
            f, error, seconds = np.mean(found, axis=0)
            shown.append(
                f"{method} {'' if np.isnan(f) else f'F {f:.2f}, '}error {error:.3f}, {seconds:.1f} s"
            )
        print(f"{name:14} {'; '.join(shown)}", flush=True)


def right(draws: list[int]) -> None:
    print("\nshare of draws with the right columns")
    found = []
    for draw in draws:
        rng = np.random.default_rng((draw, 5))
        frame = pd.DataFrame({f"n{j}": rng.normal(size=N_ROWS) for j in range(15)})
        for j in range(15):
            frame[f"c{j}"] = pd.Categorical([f"level {i}" for i in rng.integers(0, 5, N_ROWS)])
        y = (frame["c2"].cat.codes + frame["c7"].cat.codes) % 2
        found.append(list(L1LSMI(2, p_value=False).fit(frame, y).get_feature_names_out()) == ["c2", "c7"])
    print(
        f"exclusive or of two categories of five levels among 30 columns, n=400: {np.mean(found):.2f}",
        flush=True,
    )
    for n_levels, n in ((40, 800), (3000, 20_000)):
        found = []
        for draw in draws[: 10 if n_levels > 40 else None]:
            rng = np.random.default_rng((draw, n_levels))
            codes, others = rng.integers(0, n_levels, (2, n))
            frame = pd.DataFrame({f"n{j}": rng.normal(size=n) for j in range(8)})
            frame["decisive"] = pd.Categorical([f"place {i}" for i in codes])
            frame["other"] = pd.Categorical([f"place {i}" for i in others])
            y = rng.normal(size=n_levels)[codes] + 0.5 * rng.normal(size=n) > 0
            chosen = L1LSMI(1, p_value=False).fit(frame, y).get_feature_names_out()
            found.append(list(chosen) == ["decisive"])
        print(f"a decisive category of {n_levels:,} levels, n={n:,}: {np.mean(found):.2f}", flush=True)


# -- missing values ---------------------------------------------------------------------------


def missing(draws: list[int]) -> None:
    print("\n20 % of the entries missing at random, n=400: share of draws with the true set")
    ways: dict[str, Any] = {
        "as they are": None,
        "mean": SimpleImputer(),
        "iterative": IterativeImputer(random_state=0),
    }
    for name, true in TRUE_FEATURES.items():
        found: dict[str, list[bool]] = {way: [] for way in ways}
        for draw in draws:
            X, y = getattr(datasets, f"make_{name}")(N_ROWS, random_state=draw)
            X[np.random.default_rng((draw, 1)).random(X.shape) < 0.2] = np.nan
            for way, imputer in ways.items():
                values = X if imputer is None else imputer.fit_transform(X)
                selector = L1LSMI(len(true), p_value=False).fit(values, y)
                found[way].append(tuple(selector.get_support(indices=True)) == true)
        print(
            f"{name:8} " + ", ".join(f"{way} {np.mean(some):.2f}" for way, some in found.items()), flush=True
        )
    informed = []
    for draw in draws:
        rng = np.random.default_rng((draw, 2))
        X, y = rng.normal(size=(N_ROWS, 10)), rng.integers(0, 2, N_ROWS)
        X[rng.random(X.shape) < 0.1] = np.nan
        X[(y == 1) & (rng.random(N_ROWS) < 0.4), 3] = np.nan
        informed.append(L1LSMI(1, p_value=False).fit(X, y).get_support(indices=True).tolist() == [3])
    print(f"missing in 10 % of one class and 46 % of the other, nothing else: {np.mean(informed):.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", default=["categories", "right", "missing"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first", type=int, default=7_000, help="number of the first draw")
    options = parser.parse_args()
    draws = list(range(options.first, options.first + options.draws))
    print(describe())
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        if "categories" in options.parts:
            categories(draws, options.data)
        if "right" in options.parts:
            right(draws)
        if "missing" in options.parts:
            missing(draws)


if __name__ == "__main__":
    main()
