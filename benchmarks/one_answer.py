"""Whether terminal, JSON and report of a selection say the same, on thirty tables.

``python benchmarks/one_answer.py`` makes tables with interactions, noise, leaks, copies, rare classes, many
classes, categories, missing values, many rows and many columns; with ``--data FOLDER`` real ones (.npz files
with X and y) are added. Compared are the number of features, their order, what each contributes, the error
with its standard error, the p-value, and every sentence of the verdict.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from machine import describe

REAL = ("wine", "sonar", "german", "housing", "vowel", "glass", "speech", "bcancer", "abalone", "spectf")


def numbers(n: int, m: int, target: Callable[[Any, Any], Any], seed: int = 0) -> pd.DataFrame:
    """Normal columns, and a target of columns and noise."""
    rng = np.random.default_rng((seed, n, m))
    x = rng.normal(size=(n, m))
    return pd.DataFrame(x, columns=[f"c{j}" for j in range(m)]).assign(y=target(x, rng.normal(size=n)))


def words(flags: Any) -> Any:
    return np.where(flags, "yes", "no")


def mixed(n: int, share_missing: float) -> pd.DataFrame:
    """Two categories whose levels act together, and missing values."""
    rng = np.random.default_rng(n)
    frame = numbers(n, 6, lambda x, e: e)
    frame["shop"], frame["plan"] = rng.choice(list("abcd"), n), rng.choice(list("uvw"), n)
    both = frame["shop"].isin(["a", "b"]) ^ (frame["plan"] == "u")
    frame["y"] = words(both.to_numpy() ^ (rng.random(n) < 0.1))
    return frame.mask((rng.random(frame.shape) < share_missing) & (frame.columns != "y"))


def leaking(n: int) -> pd.DataFrame:
    frame = numbers(n, 8, lambda x, e: x[:, 0] + x[:, 1] + e)
    return frame.assign(copy=frame["c0"], leak=2 * frame["y"] + 1e-3 * frame["c5"])


def tables() -> dict[str, tuple[Callable[[], pd.DataFrame], str]]:
    """Tables by name, each with the number of features to select."""
    return {
        "exclusive or": (lambda: numbers(200, 10, lambda x, e: words(x[:, 0] * x[:, 1] > 0)), "2"),
        "exclusive or, number chosen": (
            lambda: numbers(200, 10, lambda x, e: words(x[:, 0] * x[:, 1] > 0), 1),
            "auto",
        ),
        "linear effects": (lambda: numbers(150, 12, lambda x, e: x[:, :3].sum(axis=1) + e), "3"),
        "linear effects, number chosen": (
            lambda: numbers(300, 12, lambda x, e: x[:, :3].sum(axis=1) + e, 1),
            "auto",
        ),
        "noise, classes": (lambda: numbers(120, 10, lambda x, e: words(e > 0)), "3"),
        "noise, number chosen": (lambda: numbers(120, 10, lambda x, e: words(e > 0), 1), "auto"),
        "noise, numbers": (lambda: numbers(150, 30, lambda x, e: e), "3"),
        "rare class": (lambda: numbers(600, 10, lambda x, e: words(x[:, 0] + x[:, 1] + 0.5 * e > 3)), "2"),
        "very rare class": (lambda: numbers(3_000, 10, lambda x, e: words(x[:, 0] + 0.3 * e > 2.6)), "2"),
        "60 classes": (
            lambda: numbers(1_200, 8, lambda x, e: np.digitize(x[:, 0], np.linspace(-2, 2, 59))),
            "2",
        ),
        "leak and copy": (lambda: leaking(200), "3"),
        "categories": (lambda: mixed(300, 0.0), "2"),
        "categories and missing values": (lambda: mixed(400, 0.2), "2"),
        "few rows": (lambda: numbers(30, 5, lambda x, e: words(x[:, 0] + 0.3 * e > 0)), "2"),
        "one column": (lambda: numbers(80, 1, lambda x, e: x[:, 0] + e), "1"),
        "heavy tails": (lambda: numbers(300, 10, lambda x, e: np.exp(2 * x[:, 0]) + e), "2"),
        "wide": (lambda: numbers(100, 1_500, lambda x, e: words(x[:, 0] + x[:, 1] + 0.5 * e > 0)), "5"),
        "wide noise": (lambda: numbers(80, 1_000, lambda x, e: words(e > 0)), "5"),
        "many rows": (lambda: numbers(50_000, 20, lambda x, e: x[:, 0] * x[:, 1] + x[:, 2] + 2 * e), "3"),
        "four thousand rows": (
            lambda: numbers(4_000, 30, lambda x, e: words(x[:, 0] * x[:, 1] + e > 0)),
            "3",
        ),
    }


def real(folder: Path, name: str) -> pd.DataFrame:
    with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
        X, y = file["X"][:600], file["y"][:600]
    if y.dtype.kind in "iu":
        y = np.array([f"class {label}" for label in y])
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]).assign(y=y)


def command(*args: str) -> str:
    run = subprocess.run([sys.executable, "-m", "l1lsmi", *args], capture_output=True, text=True, check=False)
    if run.returncode:
        raise RuntimeError(run.stderr[-300:])
    return run.stdout


def close(a: float | None, b: float | None) -> bool:
    return a is b or (a is not None and b is not None and abs(a - b) <= 1e-4 * max(abs(a), abs(b), 1e-9))


def contradictions(frame: pd.DataFrame, k: str, folder: Path) -> list[str]:
    """What terminal, JSON and report do not agree on."""
    table, page = folder / "t.csv", folder / "r.html"
    frame.to_csv(table, index=False)
    args = ("select", str(table), "--target", "y", "-k", k)
    document = json.loads(command(*args, "--json", "--report", str(page)))
    printed = command(*args, "--report", str(page))
    found = re.search(r'id="report-data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    report = json.loads(found[1] if found else "{}")
    chosen, held_out = report["chosen"], report.get("held_out") or {}
    names = [feature["name"] for feature in document["features"]]
    by_id = {feature["id"]: feature["name"] for feature in report["features"]}
    lines = [line.split()[0] for line in printed.splitlines() if line.startswith("  ") and " %" in line]
    wrong = []
    if not chosen["n_selected"] == len(names) == len(lines):
        wrong.append("number of features")
    if not [by_id[row["id"]] for row in chosen["rows"]] == names == lines:
        wrong.append("order")
    told = [row["contribution"] for row in chosen["rows"]]
    if not all(map(close, told, (feature["contribution"] for feature in document["features"]))):
        wrong.append("contributions")
    scores = document.get("scores")
    if (scores is None) != (not held_out.get("rows")):
        wrong.append("whether errors are told")
    elif scores is not None:
        first = next(iter(scores["sets"][0]["metrics"].values()))
        row = held_out["rows"][0]
        if not (
            close(row["error"], first["value"]) and close(row["standard_error"], first["standard_error"])
        ):
            wrong.append("error")
    if not close(chosen["p_value"], document["p_value"]):
        wrong.append("p-value")
    plain = " ".join(printed.split())
    # Without evidence that the features predict the target, neither headline tells errors.
    told_errors = chosen["has_evidence"] is not False
    sentences = [" ".join(one.split()) for one in held_out.get("sentences", ())]
    wrong += [f"only in one: {one}" for one in sentences if (one in plain) != told_errors]
    verdict = " ".join((chosen["evidence"] or "").split())
    if verdict not in plain:
        wrong.append(f"not printed: {verdict}")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    print(describe())
    made = {name: (make, k) for name, (make, k) in tables().items()}
    if options.data:
        made |= {
            name: (lambda name=name: real(options.data, name), "auto" if i % 2 else "4")
            for i, name in enumerate(REAL)
        }
    right = 0
    for name, (make, k) in made.items():
        started = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            frame = make()
            wrong = contradictions(frame, k, Path(folder))
        right += not wrong
        size = f"{len(frame):,} x {frame.shape[1] - 1:,}, k = {k}"
        words_of = "the same" if not wrong else "; ".join(wrong)
        print(f"{name:32} {size:24} {words_of} ({time.perf_counter() - started:.0f} s, two runs)", flush=True)
    print(f"\nthe same: {right} of {len(made)}")


if __name__ == "__main__":
    main()
