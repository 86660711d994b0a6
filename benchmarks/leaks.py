"""Leaks and copies: what is said about real tables, and whether columns put into them are found.

``python benchmarks/leaks.py --data FOLDER`` reads every .npz file (X, y) there, beside five tables of
scikit-learn. For each table as it is: the largest squared correlation of a column with the target or its
ranks, or share of variance between classes; the largest correlation of two columns; and what is said. Then
one column at a time is put in, made of the target or of a random column: a copy in another unit, a monotone
function, and a copy with noise of correlation 0.999; and a number of the row, after the rows are sorted by
the target. Each is counted in so many draws, of all rows and of 100 rows. The time of it is measured beside
that of a fit.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn import datasets

from l1lsmi import L1LSMI
from l1lsmi._numerics.leaks import Leaks, find_leaks
from l1lsmi._numerics.leaks.sample import ranks
from l1lsmi._rows.table import Table
from l1lsmi._validation.target import check_target
from machine import describe

BUNDLED = ("iris", "wine", "breast_cancer", "diabetes", "digits")
KINDS = ("copy", "function", "noise", "number")


def tables(folder: Path | None) -> dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]]:
    """Tables by name, read when they are needed."""

    def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
        with np.load(path, allow_pickle=False) as data:
            return data["X"].astype(np.float64), data["y"]

    found = (
        {path.stem: lambda path=path: read(path) for path in sorted(folder.glob("*.npz"))} if folder else {}
    )
    for name in BUNDLED:
        loader = getattr(datasets, f"load_{name}")
        found[f"sklearn {name}"] = lambda loader=loader: loader(return_X_y=True)
    return found


def task_of(y: np.ndarray) -> str:
    return "regression" if y.dtype.kind == "f" else "classification"


def leaks_of(X: np.ndarray, y: np.ndarray) -> Leaks:
    return find_leaks(Table.of(X), check_target(y, task_of(y)))


def unit(x: np.ndarray) -> np.ndarray:
    z = x - x.mean(axis=0)
    length = np.sqrt((z**2).sum(axis=0))
    return z / np.where(length > 1e-12, length, np.inf)


def strongest(X: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Of a column with the target, of two columns that are not copies, and the same of ranks."""
    if len(y) > 2000:
        rows = np.sort(np.random.default_rng(0).choice(len(y), 2000, replace=False))
        X, y = X[rows], y[rows]
    both = [unit(X), unit(ranks(X))]
    if task_of(y) == "regression":
        target = [unit(y[:, None])[:, 0], unit(ranks(y[:, None]))[:, 0]]
        with_target = max(float(((v @ z) ** 2).max()) for v, z in zip(target, both, strict=True))
    else:
        indicators = (y[:, None] == np.unique(y)).astype(float)
        with_target = float(
            ((indicators.T @ both[0]) ** 2 / indicators.sum(axis=0)[:, None]).sum(axis=0).max()
        )
    largest = []
    for z in both:
        best = 0.0
        for start in range(0, z.shape[1], 500):
            product = np.abs(z[:, start : start + 500].T.astype(np.float32) @ z.astype(np.float32))
            product[np.arange(len(product)), start + np.arange(len(product))] = 0.0
            best = max(best, float(product[product < 1 - 1e-5].max(initial=0.0)))
        largest.append(best)
    return with_target, largest[0], largest[1]


def put_in(
    kind: str, of: str, X: np.ndarray, y: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, ...]:
    """A table with one more column, its target, and the column that it was made of (-1 for the target)."""
    varying = np.flatnonzero(X.std(axis=0) > 0)
    source = -1 if of == "target" else int(rng.choice(varying))
    if kind == "number":
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
        return np.column_stack([X, np.arange(len(y)) + 1.0]), y, np.array(-1)
    codes = np.unique(y, return_inverse=True)[1] if y.dtype.kind not in "fiu" else y
    x = codes.astype(np.float64) if source < 0 else X[:, source].astype(np.float64)
    z = (x - x.mean()) / x.std()
    noise = rng.normal(size=len(x)) * np.sqrt(1 / 0.999**2 - 1)
    made = {"copy": -2.54 * x + 1, "function": np.exp(z / 2), "noise": z + noise}[kind]
    return np.column_stack([X, made]), y, np.array(source)


def is_found(leaks: Leaks, column: int, source: int, kind: str) -> bool:
    of_target = {leak.column for leak in leaks.of_target}
    if kind == "number":
        return column in of_target | {j for j, _ in leaks.numberings}
    if source < 0:
        return column in of_target
    groups = [*leaks.copies, *leaks.functions, *leaks.near]
    return any(column in group and source in group for group in groups)


def count(X: np.ndarray, y: np.ndarray, n_rows: int | None, draws: int) -> dict[tuple[str, str], int]:
    found = {
        (of, kind): 0 for of in ("target", "column") for kind in KINDS if (of, kind) != ("column", "number")
    }
    for of, kind in found:
        for draw in range(draws):
            rng = np.random.default_rng([draw, 7])
            rows = np.arange(len(y))
            if n_rows is not None and n_rows < len(y):
                rows = np.sort(rng.choice(len(y), n_rows, replace=False))
            wide, target, source = put_in(kind, of, X[rows], y[rows], rng)
            found[of, kind] += is_found(leaks_of(wide, target), wide.shape[1] - 1, int(source), kind)
    return found


def said(leaks: Leaks) -> str:
    numbers = {
        "of the target": len(leaks.of_target),
        "numberings": len(leaks.numberings),
        "groups of copies": len(leaks.copies),
        "groups of functions": len(leaks.functions),
        "groups of near copies": len(leaks.near),
    }
    return ", ".join(f"{number} {what}" for what, number in numbers.items() if number) or "nothing"


def times() -> None:
    """Time of the search for leaks beside that of a whole fit, in turns, the least of three."""
    print("\ntime beside L1LSMI(5).fit, regression on normal columns")
    for n, m in ((400, 60), (100, 10_000)):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, m))
        y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=n)
        table, target = Table.of(X), check_target(y, "regression")
        spent = []
        for _ in range(3):
            started = time.perf_counter()
            L1LSMI(5, random_state=0).fit(X, y)
            fitted = time.perf_counter()
            find_leaks(table, target)
            spent.append((fitted - started, time.perf_counter() - fitted))
        whole, leaks = np.min(spent, axis=0)
        print(
            f"{n:>5} x {m:<6} {1e3 * leaks:>6.1f} ms of {whole:.2f} s: {100 * leaks / whole:.1f} %",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(describe())
    times()
    print("\ntables as they are: the strongest column and pair, and what is said")
    print(f"{'':<22}{'rows':>6}{'columns':>8}{'target':>8}{'pair':>8}{'ranks':>8}{'ms':>7}  said")
    chosen = {k: v for k, v in tables(options.data).items() if options.only is None or k in options.only}
    for name, load in chosen.items():
        X, y = load()
        started = time.perf_counter()
        leaks = leaks_of(X, y)
        spent = 1e3 * (time.perf_counter() - started)
        with_target, pair, by_rank = strongest(X, y)
        numbers = f"{with_target:>8.3f}{pair:>8.4f}{by_rank:>8.4f}{spent:>7.0f}"
        print(f"{name:<22}{X.shape[0]:>6}{X.shape[1]:>8}{numbers}  {said(leaks)}", flush=True)
    for n_rows in (None, 100):
        title = "all rows" if n_rows is None else f"{n_rows} rows"
        print(f"\nfound of {options.draws} put in, {title}: made of the target, then of a column")
        header = [*(f"{kind:>9}" for kind in KINDS), *(f"{kind:>9}" for kind in KINDS[:3])]
        print(f"{'':<22}" + "".join(header))
        for name, load in chosen.items():
            X, y = load()
            found = count(X, y, n_rows, options.draws)
            print(f"{name:<22}" + "".join(f"{number:>9}" for number in found.values()), flush=True)


if __name__ == "__main__":
    main()
