"""Runs of ``signal.py``: every method on the same draws, appended to a file as they are done."""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from l1lsmi.evaluation import f_measure
from l1lsmi.measures import SquaredMutualInformation
from machine import describe
from signal_problems import MIN_COLUMNS, PROBLEMS, draw
from signal_selectors import METHODS
from signal_tables import draw_figure, print_tables

ROWS = (1_000, 4_000, 16_000, 64_000, 256_000)
COLUMNS = (100,)
#: The method whose sets are scored.
SCORED = "l1lsmi"


@dataclass(frozen=True)
class Run:
    """One line of the file: a method on a draw; only L1LSMI has scores."""

    problem: str
    n: int
    m: int
    seed: int
    method: str
    F: float
    seconds: float
    score_true: float | None = None
    score_found: float | None = None

    @property
    def key(self) -> tuple[str, int, int, int, str]:
        return self.problem, self.n, self.m, self.seed, self.method

    @property
    def regret(self) -> float | None:
        return None if self.score_true is None else self.score_true - self.score_found


HEADER = [field.name for field in fields(Run)]


# -- the file ---------------------------------------------------------------------------------------


def read(path: Path) -> list[Run]:
    """All runs of a file; a last line without end, of an interrupted command, is left out."""
    whole = path.read_text().rpartition("\n")[0]
    reader = csv.DictReader(whole.splitlines())
    if whole and reader.fieldnames != HEADER:
        raise SystemExit(f"{path} does not begin with {','.join(HEADER)}")
    runs = {}
    for row in reader:
        scores = (float(row[name]) if row[name] else None for name in ("score_true", "score_found"))
        sizes = int(row["n"]), int(row["m"]), int(row["seed"])
        run = Run(row["problem"], *sizes, row["method"], float(row["F"]), float(row["seconds"]), *scores)
        runs[run.key] = run
    return list(runs.values())


def prepare(path: Path) -> None:
    """Make a file with a header, or cut off the unfinished last line of one."""
    text = path.read_text() if path.exists() else ""
    whole = "".join(text.rpartition("\n")[:2])
    path.parent.mkdir(parents=True, exist_ok=True)
    if not whole:
        path.write_text(",".join(HEADER) + "\n")
    elif whole != text:
        path.write_text(whole)


def append(path: Path, run: Run) -> None:
    # The file is closed after each line, so that an interruption loses one run at most.
    with path.open("a", newline="") as file:
        csv.DictWriter(file, HEADER, lineterminator="\n").writerow(asdict(run))


# -- measuring --------------------------------------------------------------------------------------


def score(X: np.ndarray, y: np.ndarray, columns: Sequence[int] | np.ndarray) -> float:
    return float(SquaredMutualInformation(random_state=0).score(X[:, np.sort(columns)], y))


def measure(name: str, method: str, X: np.ndarray, y: np.ndarray, true: np.ndarray, seed: int) -> Run:
    """Seconds of one selection, its F-measure, and for L1LSMI the scores of both sets."""
    started = time.perf_counter()
    found = METHODS[method].select(X, y, true.size, seed)
    seconds = time.perf_counter() - started
    scores: list[float] = []
    if method == SCORED:
        scores = [score(X, y, true)]
        scores.append(scores[0] if set(found) == set(true.tolist()) else score(X, y, found))
    return Run(name, *X.shape, seed, method, f_measure(found, true), seconds, *scores)


def runs(options: argparse.Namespace, done: set[tuple]) -> Iterator[Run]:
    """What is missing, small sizes first; a failure is reported, and tried again by the next command."""
    for m in options.columns:
        for n in options.rows:
            methods = [method for method in options.methods if METHODS[method].finishes(n, m)]
            for seed in range(options.seed, options.seed + options.draws):
                for name in options.problems:
                    missing = [method for method in methods if (name, n, m, seed, method) not in done]
                    if not missing:
                        continue
                    X, y, true = draw(name, n, m, seed)
                    for method in missing:
                        try:
                            yield measure(name, method, X, y, true, seed)
                        except Exception as error:
                            print(
                                f"{name}, n = {n}, m = {m}, seed {seed}: {method} failed: {error}", flush=True
                            )


def measure_all(options: argparse.Namespace) -> None:
    print(describe())
    available = []
    for method in options.methods:
        reason = METHODS[method].missing()
        if reason is None:
            available.append(method)
        else:
            print(f"{METHODS[method].label} is skipped: {reason}")
    options.methods = available
    prepare(options.out)
    done = {run.key for run in read(options.out)}
    with threadpool_limits(1):
        for run in runs(options, done):
            append(options.out, run)
            regret = "" if run.regret is None else f", regret {run.regret:.2g}"
            size = f"n = {run.n}, m = {run.m}, seed {run.seed}"
            print(
                f"{run.problem}, {size}: {run.method} {run.F:.2f} in {run.seconds:.2f} s{regret}", flush=True
            )


# -- command line -----------------------------------------------------------------------------------


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", help="numbers of rows (1000 to 256000)")
    parser.add_argument("--columns", type=int, nargs="+", help="numbers of columns (100)")
    parser.add_argument(
        "--problems", nargs="+", choices=PROBLEMS, metavar="NAME", help=", ".join(PROBLEMS).replace("%", "%%")
    )
    parser.add_argument("--methods", nargs="+", choices=METHODS, metavar="NAME", help=", ".join(METHODS))
    parser.add_argument("--draws", type=int, default=3, help="draws of every problem (3)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first draw (0)")
    files = parser.add_mutually_exclusive_group(required=True)
    files.add_argument("--out", type=Path, help="file of results, which is continued where it exists")
    files.add_argument("--from", type=Path, dest="source", help="only print tables of this file, and draw")
    parser.add_argument("--figure", type=Path, help="file of the figure (.svg, .png or .pdf)")
    options = parser.parse_args()
    if min(options.columns or [MIN_COLUMNS]) < MIN_COLUMNS:
        parser.error(f"the problems have at least {MIN_COLUMNS} columns")
    return options


def main() -> None:
    options = parse()
    if options.out:
        options.rows, options.columns = options.rows or ROWS, options.columns or COLUMNS
        options.problems, options.methods = (
            options.problems or list(PROBLEMS),
            options.methods or list(METHODS),
        )
        measure_all(options)
    # Of a finished file, all is shown but what the options leave out.
    shown = [
        run
        for run in read(options.out or options.source)
        if (not options.rows or run.n in options.rows)
        and (not options.columns or run.m in options.columns)
        and (not options.problems or run.problem in options.problems)
        and (not options.methods or run.method in options.methods)
    ]
    if not shown:
        raise SystemExit("there are no such runs")
    print_tables(shown)
    if options.figure:
        draw_figure(shown, options.figure)
