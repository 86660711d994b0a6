"""Time of the command line: the whole process, imports included.

    python benchmarks/command_line.py

The help; 1,000 rows by 100 columns with a report, three times; and 200 rows by 100,000 columns without one.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from machine import describe


def write(path: Path, n: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, m))
    y = np.where(x[:, 0] * x[:, 1] + x[:, 2] + 0.5 * rng.normal(size=n) > 0, "yes", "no")
    with path.open("w") as file:
        file.write(",".join([*(f"gene{j}" for j in range(m)), "ill"]) + "\n")
        for row, label in zip(x, y, strict=True):
            file.write(",".join(f"{value:.5g}" for value in row) + f",{label}\n")


def run(*arguments: str) -> tuple[float, str]:
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "l1lsmi", *arguments], check=True, capture_output=True, text=True
    )
    return time.perf_counter() - started, done.stdout


def main() -> None:
    print(describe())
    helps = sorted(run("select", "--help")[0] for _ in range(7))
    print(f"select --help: {helps[3]:.2f} s, the median of {len(helps)}")
    with tempfile.TemporaryDirectory() as folder:
        table, report = Path(folder) / "table.csv", Path(folder) / "report.html"
        for seed in range(3):
            write(table, 1_000, 100, seed)
            seconds, _ = run("select", str(table), "-t", "ill", "-k", "10", "--report", str(report))
            size = report.stat().st_size / 2**20
            print(f"1000 x 100, k = 10, with a report of {size:.2f} MB: {seconds:.1f} s", flush=True)
        write(table, 200, 100_000, 0)
        seconds, shown = run("select", str(table), "-t", "ill", "-k", "10")
        print(f"200 x 100000, k = 10: {seconds:.1f} s, file of {table.stat().st_size / 2**20:.0f} MB")
        print(shown.splitlines()[-1])


if __name__ == "__main__":
    main()
