"""Ways of passing rows to a selector, for `answer_cases.py`."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import array_api_strict
import dask.array as da
import numpy as np
import pandas as pd
import torch
from distributed import Client, LocalCluster

from answer_problems import Problem

#: Rows in a block, a chunk, a group of a file: several of each in every problem.
ROWS = 64

#: What is passed to `fit` as X and y, for arrays and a folder that may be written to.
Way = Callable[[np.ndarray, np.ndarray, Path], tuple[Any, Any]]


def in_memory(X: np.ndarray, y: np.ndarray, folder: Path) -> tuple[Any, Any]:
    return X, y


def blocks(X: np.ndarray, y: np.ndarray, folder: Path) -> tuple[Any, Any]:
    return lambda: (X[i : i + ROWS] for i in range(0, len(X), ROWS)), y


def dask_array(X: np.ndarray, y: np.ndarray, folder: Path) -> tuple[Any, Any]:
    return da.from_array(X, chunks=(ROWS, -1)), y


def torch_tensor(X: np.ndarray, y: np.ndarray, folder: Path) -> tuple[Any, Any]:
    return torch.as_tensor(X), y


def strict_array(X: np.ndarray, y: np.ndarray, folder: Path) -> tuple[Any, Any]:
    return array_api_strict.asarray(X), y


def memory_map(X: np.ndarray, y: np.ndarray, folder: Path) -> tuple[Any, Any]:
    np.save(folder / "x.npy", X)
    return np.load(folder / "x.npy", mmap_mode="r"), y


def parquet(X: np.ndarray, y: np.ndarray, folder: Path) -> tuple[Any, Any]:
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame.assign(y=y).to_parquet(folder / "rows.parquet", row_group_size=ROWS)
    return folder / "rows.parquet", "y"


LIMIT, FLOAT32 = {"memory_limit": 50_000}, {"precision": "float32"}
#: How X is passed, and with what settings.
WAYS: dict[str, tuple[Way, dict[str, Any]]] = {
    "blocks": (blocks, {}),
    "blocks, memory limit": (blocks, LIMIT),
    "blocks, float32": (blocks, FLOAT32),
    "memory limit": (in_memory, LIMIT),
    "float32": (in_memory, FLOAT32),
    "dask": (dask_array, {}),
    "array-api-strict": (strict_array, {}),
    "torch": (torch_tensor, {}),
    "memory map": (memory_map, {}),
    "Parquet": (parquet, {}),
}
SAMPLE, THREADS = {"explore_rows": 150}, {"n_jobs": 2}
#: For selectors with weights alone: a sample is searched and all rows decide, or threads.
L1_WAYS: dict[str, tuple[Way, dict[str, Any]]] = {
    "sample": (in_memory, SAMPLE),
    "sample, blocks": (blocks, SAMPLE),
    "sample, dask": (dask_array, SAMPLE),
    "sample, torch": (torch_tensor, SAMPLE),
    "two threads": (in_memory, THREADS),
    "two threads, blocks": (blocks, THREADS),
}
#: Ways that differ little from another one.
SECONDARY = (
    "memory map",
    "Parquet",
    "blocks, float32",
    "sample, dask",
    "sample, torch",
    "two threads, blocks",
)


def fit_way(make: Callable[..., Any], way: Way, settings: dict[str, Any], p: Problem) -> Any:
    with TemporaryDirectory() as folder:
        X, y = way(p.X, p.y, Path(folder))
        return make(p.k, **settings).fit(X, y)


@cache
def start_cluster() -> None:
    """From now on work on dask arrays goes to two workers: for the last cases alone."""
    until_exit = ExitStack()
    workers = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    until_exit.enter_context(workers)
    until_exit.enter_context(Client(workers))
    atexit.register(until_exit.close)


def fit_on_cluster(make: Callable[..., Any], settings: dict[str, Any], p: Problem) -> Any:
    start_cluster()
    return fit_way(make, dask_array, settings, p)
