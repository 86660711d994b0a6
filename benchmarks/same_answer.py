"""One answer wherever the rows are: every way of passing them, beside NumPy.

    L1LSMI_DATA=directory python benchmarks/same_answer.py [--device]

The artificial problems, and five real datasets where L1LSMI_DATA has them. A cell shows whether the same four
features are selected as from a NumPy array, and how far ``smi_`` is off. With ``--device`` they are arrays
of torch on a GPU, and of CuPy where it is installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from l1lsmi import L1LSMI
from machine import describe
from problems import small_problems

#: Rows in a block, a chunk, a group of a file: several of each in every problem.
ROWS = 64
#: Rows that the search uses: all, or a sample, after which all rows are read.
EXPLORED = {"all rows searched": 10_000, "a sample of 150 rows searched, all rows decide": 150}
CLOSE = 1e-6

#: What is passed to `fit`, and how the selector is set up for it.
Passed = tuple[Any, Any, dict[str, Any]]
Way = Callable[[np.ndarray, np.ndarray, Path], Passed]


def blocks(X: np.ndarray, y: np.ndarray, folder: Path) -> Passed:
    return lambda: (X[i : i + ROWS] for i in range(0, len(X), ROWS)), y, {}


def memory_map(X: np.ndarray, y: np.ndarray, folder: Path) -> Passed:
    np.save(folder / "x.npy", X)
    return np.load(folder / "x.npy", mmap_mode="r"), y, {}


def parquet(X: np.ndarray, y: np.ndarray, folder: Path) -> Passed:
    import pandas as pd

    path = folder / "rows.parquet"
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame.assign(y=y).to_parquet(path, row_group_size=ROWS)
    return path, "y", {}


def dask_array(X: np.ndarray, y: np.ndarray, folder: Path) -> Passed:
    import dask.array as da

    return da.from_array(X, chunks=(ROWS, -1)), y, {}


def cupy_array(X: np.ndarray, y: np.ndarray, folder: Path) -> Passed:
    import cupy

    return cupy.asarray(X), y, {}


WAYS: dict[str, Way] = {
    "memory limit": lambda X, y, folder: (X, y, {"memory_limit": 50_000}),
    "torch": lambda X, y, folder: (torch.as_tensor(X), y, {}),
    'device="cpu"': lambda X, y, folder: (X, y, {"device": "cpu"}),
    "blocks": blocks,
    "memory map": memory_map,
    "Parquet": parquet,
    "Dask, 2 workers": dask_array,
}
ON_DEVICE: dict[str, Way] = {
    "torch, CUDA": lambda X, y, folder: (torch.as_tensor(X, device="cuda"), y, {}),
    'device="cuda"': lambda X, y, folder: (X, y, {"device": "cuda"}),
    "CuPy": cupy_array,
}


def fitted(passed: Passed, explore_rows: int) -> L1LSMI:
    X, y, settings = passed
    return L1LSMI(4, random_state=0, explore_rows=explore_rows, **settings).fit(X, y)


def compare(ways: dict[str, Way], explore_rows: int) -> tuple[int, int]:
    """Print the table; returns how many cells hold and how many there are."""
    data = list(small_problems())
    expected = [fitted((X, y, {}), explore_rows) for _, X, y in data]
    print(f"{'':<16}" + "".join(f"{name:>12}" for name, _, _ in data))
    print(f"{'NumPy: smi_':<16}" + "".join(f"{one.smi_:>12.6f}" for one in expected), flush=True)
    held = 0
    for title, way in ways.items():
        print(f"{title:<16}", end="")
        for (_, X, y), one in zip(data, expected, strict=True):
            with TemporaryDirectory() as folder:
                found = fitted(way(X, y, Path(folder)), explore_rows)
            same = np.array_equal(found.support_, one.support_)
            off = abs(found.smi_ - one.smi_)
            held += same and off <= CLOSE
            print(f"{'same' if same else 'other':>6} {off:.0e}", end="", flush=True)
        print()
    return held, len(ways) * len(data)


@contextmanager
def two_workers() -> Iterator[None]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", action="store_true", help="arrays on a GPU")
    on_device = parser.parse_args().device
    torch.set_num_threads(1)  # products are small: threads would only wait for each other
    print(describe())
    print(f"torch {torch.__version__}")
    ways = dict(WAYS)
    if on_device:
        ways = dict(ON_DEVICE)
        print(torch.cuda.get_device_name())
        try:
            import cupy

            print(f"CuPy {cupy.__version__}")
        except ImportError:
            print("CuPy is not installed")
            del ways["CuPy"]
    with nullcontext() if on_device else two_workers():
        for title, explore_rows in EXPLORED.items():
            print(f"\n{title}: set, and how far smi_ is off")
            held, n = compare(ways, explore_rows)
            print(f"{held} of {n}: same set and smi_ within {CLOSE:.0e}", flush=True)


if __name__ == "__main__":
    main()
