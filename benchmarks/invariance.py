"""The same set however the data are written down: rows and columns in another order, other units and names.

``python benchmarks/invariance.py --problems 500`` fits `L1LSMI` to generated problems, and to the same
problems written down in other ways. Where another set is selected, the p-value says whether there is evidence
that the target depends on the features at all. With ``--data FOLDER``, real datasets (.npz files with X and
y) take the place of generated problems.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from l1lsmi import L1LSMI, datasets
from machine import describe

Generator = np.random.Generator


def make_problem(rng: Generator) -> tuple[str, np.ndarray, np.ndarray, int]:
    """A name, features, a target and a number of features."""
    n, m = int(rng.integers(60, 400)), int(rng.integers(5, 30))
    kind = str(rng.choice(["and_or", "quad", "xor", "linear", "weak", "classes", "skewed", "noise"]))
    if kind in ("and_or", "quad", "xor"):
        X, y = getattr(datasets, f"make_{kind}")(n, random_state=int(rng.integers(2**31)))
        return kind, X.astype(float), y, 4 if kind == "and_or" else 2
    X, e = rng.normal(size=(n, m)), rng.normal(size=n)
    if kind == "linear":
        return kind, X, X[:, 0] - X[:, 1] + X[:, 2] * X[:, 3] + 0.3 * e, 4
    if kind == "weak":
        return kind, X, X[:, 0] + X[:, 1] ** 2 + 3 * e, 2
    if kind == "classes":
        signal = X[:, 0] + X[:, 1] ** 2 + X[:, 2] + 0.3 * e
        return kind, X, np.digitize(signal, np.quantile(signal, [0.2, 0.6])), 3
    if kind == "skewed":
        return kind, np.exp(2 * X), np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * e, 3
    return kind, X, rng.integers(0, 2, n), 3


def rows(X: np.ndarray, y: np.ndarray, rng: Generator) -> Any:
    order = rng.permutation(len(y))
    return X[order], y[order], None


def columns(X: np.ndarray, y: np.ndarray, rng: Generator) -> Any:
    order = rng.permutation(X.shape[1])
    return X[:, order], y, order


def units(X: np.ndarray, y: np.ndarray, rng: Generator) -> Any:
    return X * 10.0 ** rng.uniform(-6, 6, X.shape[1]), y, None


def names(X: np.ndarray, y: np.ndarray, rng: Generator) -> Any:
    """Other names of classes, in another order; other units of a numeric target."""
    classes = np.unique(y)
    if y.dtype.kind == "f":
        return X, 1000 * y - 7, None
    return X, rng.permutation([f"class {j}" for j in range(classes.size)])[np.searchsorted(classes, y)], None


def twice(X: np.ndarray, y: np.ndarray, rng: Generator) -> Any:
    return np.concatenate([X, X]), np.concatenate([y, y]), None


def blocks(X: np.ndarray, y: np.ndarray, rng: Generator) -> Any:
    ends = np.arange(50, len(y), 50)
    return (lambda: zip(np.split(X, ends), np.split(y, ends), strict=True)), None, None


CHANGES: dict[str, Callable[..., Any]] = {
    "rows permuted": rows,
    "columns permuted": columns,
    "units": units,
    "names of classes": names,
    "every row twice": twice,
    "blocks of rows": blocks,
}


def selected(X: Any, y: Any, order: np.ndarray | None, k: int) -> np.ndarray:
    """Selected features, numbered as in the problem."""
    support = L1LSMI(k, p_value=False).fit(X, y).get_support(indices=True)
    return np.sort(support if order is None else order[support])


#: Real datasets, and the number of features.
REAL = {
    "wine": 4,
    "ionosphere": 4,
    "glass": 4,
    "vowel": 5,
    "housing": 4,
    "vehicle": 6,
    "sonar": 10,
    "spectf": 10,
}


def problems(
    options: argparse.Namespace,
) -> Iterator[tuple[str, str, np.ndarray, np.ndarray, int, Generator]]:
    """Number or name, kind, features, target, number of features, and a generator for the changes."""
    if options.data is None:
        for number in range(options.first, options.first + options.problems):
            rng = np.random.default_rng((number, 19))
            yield f"problem {number}", *make_problem(rng), rng
        return
    for name, k in REAL.items():
        with np.load(options.data / f"{name}.npz", allow_pickle=False) as file:
            X, y = file["X"].astype(np.float64), file["y"]
        for draw in range(options.first, options.first + options.problems):
            yield name, name, X, y, k, np.random.default_rng((draw, 20))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=500, help="or changes of each real dataset")
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    print(describe())
    warnings.simplefilter("ignore")
    same: dict[str, dict[str, list[bool]]] = {name: {} for name in CHANGES}
    n_said = 0
    with threadpool_limits(1):
        for called, kind, X, y, k, rng in problems(options):
            one = selected(X, y, None, k)
            for name, change in CHANGES.items():
                other = selected(*change(X, y, rng), k)
                same[name].setdefault(kind, []).append(bool(np.array_equal(one, other)))
                if not same[name][kind][-1]:
                    p_value = L1LSMI(k).fit(X, y).p_value_
                    n_said += p_value >= 0.05
                    told = f"{called}, {kind}, {X.shape}, {name}: {one} and {other}"
                    print(f"{told}, p = {p_value:.2g}", flush=True)
    print(f"\n{'the same set':<18}{'all':>12}" + "".join(f"{kind:>11}" for kind in sorted(same["units"])))
    for name, by_kind in same.items():
        every = [one for found in by_kind.values() for one in found]
        cells = "".join(f"{f'{sum(f)}/{len(f)}':>11}" for _, f in sorted(by_kind.items()))
        print(f"{name:<18}{f'{sum(every)}/{len(every)}':>12}{cells}")
    n_other = sum(not one for by_kind in same.values() for found in by_kind.values() for one in found)
    print(f"other sets: {n_other}, of which the selector says that there is no evidence: {n_said}")


if __name__ == "__main__":
    main()
