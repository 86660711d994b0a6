"""Fits that are killed at a random moment and started again: ``python -m benchmarks.resume``.

Six searches, by the library on rows in memory, in a Parquet file and in a Dask array, and by the command line
on a CSV and a Parquet file. Each runs once to its end; then in a process that gets SIGKILL at a moment drawn
from the time of the first run, and again, with the same checkpoint. Printed are whether the answer is the
same to the last bit, how many pieces were done before the kill, how many of these were computed again, and
how many pieces there are in all.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import tempfile
import time
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

import l1lsmi._cli.select  # noqa: F401 (imported before processes are forked)
from benchmarks.machine import describe
from l1lsmi import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi._checkpoint import Checkpoint
from l1lsmi._cli.app import run as run_command
from l1lsmi.measures import SquaredMutualInformation
from l1lsmi.strategies import Backward, Exhaustive, Forward, Ranking

N_ROWS, N_COLUMNS, K = 400, 12, 3
ROADS = ("memory", "parquet", "dask", "command, csv", "command, parquet")
LINE = "{:<12} {:<17} {:>9} {:>7} {:>9} {:>11} {:>7}"


def search(name: str, checkpoint: Path) -> object:
    """The selector of a search."""
    if name == "L1Path":
        return L1LSMI(K, random_state=0, checkpoint=checkpoint)
    if name == "L1Paper":
        return L1LSMI(K, algorithm="paper", n_restarts=6, max_iter=20, random_state=0, checkpoint=checkpoint)
    if name == "l1-HSIC":
        return L1HSIC(K, random_state=0, checkpoint=checkpoint)
    strategy = {"Ranking": Ranking, "Forward": Forward, "Backward": Backward, "Exhaustive": Exhaustive}[name]
    return FeatureSelector(SquaredMutualInformation(), strategy(), K, random_state=0, checkpoint=checkpoint)


#: What the command line calls a search; it has no exhaustive one.
METHODS = {
    "Ranking": "smi-ranking",
    "Forward": "smi-forward",
    "Backward": "smi-backward",
    "Exhaustive": "l1-hsic",
    "L1Path": "l1-lsmi",
    "L1Paper": "l1-lsmi-paper",
}


def answer(name: str, road: str, folder: Path, checkpoint: Path) -> str:
    """All that a fit has learned, as a text that is the same only for the same bits."""
    if road.startswith("command"):
        file = folder / f"data.{road.split()[1]}"
        command = ["select", str(file), "-t", "y", "-k", str(K), "-m", METHODS[name], "--json"]
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(io.StringIO()):
            run_command([*command, "--resume", str(checkpoint)])
        found = json.loads(out.getvalue())
        del found["seconds"]
        return json.dumps(found, sort_keys=True)
    X, y = data()
    given = {
        "memory": (X, y),
        "parquet": (str(folder / "data.parquet"), "y"),
        "dask": (da.from_array(X, chunks=(100, N_COLUMNS)), y),
    }[road]
    selector = search(name, checkpoint).fit(*given)
    learned = {k: v for k, v in vars(selector).items() if k.endswith("_") and not k.startswith("_")}
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        return "\n".join(f"{name} {exact(value)}" for name, value in sorted(learned.items()))


def exact(value: object) -> str:
    """A value as a text with all of its bits."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(exact, value))}]"
    if hasattr(value, "__dataclass_fields__"):
        return f"({', '.join(exact(getattr(value, one)) for one in value.__dataclass_fields__)})"
    return repr(value)


def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    return X, X[:, 1] * X[:, 4] + 0.5 * X[:, 6] + 0.5 * rng.normal(size=N_ROWS)


def in_process(task: tuple[str, str, Path, Path], log: Path, after: float | None) -> tuple[str | None, float]:
    """The answer of another process, and its seconds; None where it was killed after so many."""
    result = task[2] / "answer"
    result.unlink(missing_ok=True)
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            warnings.simplefilter("ignore")
            log_pieces(log)
            text = answer(*task)
            result.write_text(text)
            code = 0
        finally:
            os._exit(code)
    if after is not None:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    seconds = time.monotonic() - started
    if after is None and status != 0:
        raise RuntimeError(f"{task[:2]} ended with {status}")
    return (result.read_text() if result.exists() else None), seconds


def log_pieces(path: Path) -> None:
    """Write the key of every piece that is computed to a file, at once."""
    log, put = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND), Checkpoint.put

    def logged(self, key, value, codec):
        os.write(log, ("/".join(key) + "\n").encode())
        put(self, key, value, codec)

    Checkpoint.put = logged


def pieces(log: Path) -> list[str]:
    """Keys that were logged, without the marks of best sets, which take no work."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [line for line in lines if not line.split("/")[-1].startswith("best of")]


def main() -> None:
    rng = np.random.default_rng()
    totals = [0, 0, 0]
    print(describe())
    print(LINE.format("search", "data", "killed at", "same", "pieces", "of which", "in all"))
    print(LINE.format("", "", "", "answer", "before", "again", ""))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        X, y = data()
        table = pa.table({**{f"x{j}": X[:, j] for j in range(N_COLUMNS)}, "y": y})
        parquet.write_table(table, folder / "data.parquet", row_group_size=100)
        table.to_pandas().to_csv(folder / "data.csv", index=False)
        for search_name in METHODS:
            for road in ROADS:
                task = (search_name, road, folder)
                first, second = folder / "log1", folder / "log2"
                for path in (first, second, folder / "whole", folder / "killed"):
                    path.unlink(missing_ok=True)
                expected, seconds = in_process((*task, folder / "whole"), first, None)
                n_pieces = len(pieces(first))
                moment = float(rng.uniform(0.0, seconds))
                first.unlink()
                in_process((*task, folder / "killed"), first, moment)
                found, _ = in_process((*task, folder / "killed"), second, None)
                before = pieces(first)
                again = len(set(before) & set(pieces(second)))
                same = found == expected
                totals = [totals[0] + same, totals[1] + 1, totals[2] + again]
                shown = METHODS[search_name] if road.startswith("command") else search_name
                moments = f"{moment / seconds:.0%}"
                told = ("yes" if same else "NO", len(before), again, n_pieces)
                print(LINE.format(shown, road, moments, *told), flush=True)
    print(f"\n{totals[0]} of {totals[1]} answers are the same; {totals[2]} pieces were computed again.")


if __name__ == "__main__":
    main()
