"""Time of the command line: the whole process, imports included, with the answer beside it.

    python benchmarks/command_line.py

The help; iris; a comparison of methods on 963 rows; and reports of 1,000 rows by 100 columns, of 50,000 by 60
and of 200 by 100,000. The target depends on two columns together and on a third. Bytecode is written before
the first time is taken, as it is where the package is installed. Nothing else should run on the machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

from machine import describe

#: Rows, columns and number of features of reports.
REPORTS = ((1_000, 100, 3), (50_000, 60, 3), (200, 100_000, 3))


def write(path: Path, x: np.ndarray, y: np.ndarray) -> None:
    with path.open("w") as file:
        file.write(",".join([*(f"gene{j}" for j in range(x.shape[1])), "ill"]) + "\n")
        for row, label in zip(x, y, strict=True):
            file.write(",".join(f"{value:.5g}" for value in row) + f",{label}\n")


def made(n: int, m: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, m))
    return x, np.where(x[:, 0] * x[:, 1] + x[:, 2] + 0.5 * rng.normal(size=n) > 0, "yes", "no")


def run(*args: object) -> tuple[float, str]:
    """Seconds of a command, and what it prints."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "l1lsmi", *map(str, args)]
    started = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return time.perf_counter() - started, done.stdout


def main() -> None:
    print(describe())
    with tempfile.TemporaryDirectory() as folder:
        file, report = Path(folder) / "table.csv", Path(folder) / "report.html"
        print("--help: " + ", ".join(f"{run('--help')[0]:.2f} s" for _ in range(3)))
        write(file, *load_iris(return_X_y=True))
        run("select", file, "-t", "ill", "-k", 2, "--json")
        times = [run("select", file, "-t", "ill", "-k", 2, "--json") for _ in range(3)]
        found = json.loads(times[0][1])
        print("iris, k = 2: " + ", ".join(f"{seconds:.2f} s" for seconds, _ in times), end="; ")
        print([feature["name"] for feature in found["features"]], flush=True)
        write(file, *made(963, 20))
        seconds, printed = run("compare", file, "-t", "ill", "-k", 3, "--json")
        errors = {method["name"]: round(method["error"], 3) for method in json.loads(printed)["methods"]}
        print(f"compare, 963 x 20: {seconds:.1f} s; {errors}", flush=True)
        for n, m, k in REPORTS:
            write(file, *made(n, m))
            seconds, printed = run("select", file, "-t", "ill", "-k", k, "--report", report)
            size = report.stat().st_size / 1e6
            (error,) = [line for line in printed.splitlines() if "held-out rows" in line]
            print(f"report, {n} x {m}, k = {k}: {seconds:.1f} s, {size:.2f} MB; {error}", flush=True)


if __name__ == "__main__":
    main()
