"""Ways to give X to a fit: array libraries, dataframes, blocks and files."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

Road = Callable[[Any, Path, np.random.Generator], Any]
ROWS = 7


def _names(x: Any, rng: np.random.Generator) -> list[str]:
    names = [f"x{j}" for j in range(x.shape[1])]
    if names and rng.random() < 0.05:
        names[-1] = names[0]
    return names


def _pandas(x: Any, folder: Path, rng: np.random.Generator) -> Any:
    pd = import_module("pandas")
    frame = pd.DataFrame(x)
    frame.columns = _names(x, rng)
    if x.shape[1] and rng.random() < 0.3:
        column = frame.columns[0]
        kinds = [
            lambda: pd.Categorical(rng.choice(list("abc"), len(x))),
            lambda: rng.choice(["u", "v", None], len(x)),
            lambda: pd.to_datetime(rng.integers(0, 10**9, len(x)), unit="s"),
            lambda: pd.array(rng.choice([1, 2, None], len(x)), dtype="Int64"),
            lambda: pd.array(rng.choice([True, False], len(x)), dtype="boolean"),
            lambda: np.arange(len(x)).astype(str),
        ]
        frame[column] = kinds[int(rng.integers(len(kinds)))]()
    return frame


def _polars(x: Any, folder: Path, rng: np.random.Generator) -> Any:
    return import_module("polars").DataFrame({f"x{j}": x[:, j].tolist() for j in range(x.shape[1])})


def _pyarrow(x: Any, folder: Path, rng: np.random.Generator) -> Any:
    columns = [np.ascontiguousarray(x[:, j]) for j in range(x.shape[1])]
    return import_module("pyarrow").table(columns, names=_names(x, rng))


def _blocks(x: Any, folder: Path, rng: np.random.Generator) -> Any:
    if not x.ndim:
        return lambda: iter([x])
    return lambda: (x[i : i + ROWS] for i in range(0, max(len(x), 1), ROWS))


def _parquet(x: Any, folder: Path, rng: np.random.Generator) -> Any:
    path = folder / "rows.parquet"
    import_module("pyarrow.parquet").write_table(_pyarrow(x, folder, rng), path, row_group_size=ROWS)
    return path


def _dask(x: Any, folder: Path, rng: np.random.Generator) -> Any:
    return import_module("dask.array").from_array(x, chunks=(ROWS, -1))


def _library(name: str) -> Road:
    return lambda x, folder, rng: import_module(name).asarray(np.array(x))


_ROADS: dict[str, tuple[str, Road]] = {
    "NumPy": ("numpy", lambda x, folder, rng: x),
    "lists": ("numpy", lambda x, folder, rng: x.tolist()),
    "pandas": ("pandas", _pandas),
    "polars": ("polars", _polars),
    "pyarrow": ("pyarrow", _pyarrow),
    "sparse rows": ("scipy", lambda x, folder, rng: scipy.sparse.csr_array(x)),
    "sparse coordinates": ("scipy", lambda x, folder, rng: scipy.sparse.coo_matrix(x)),
    "blocks": ("numpy", _blocks),
    "Parquet": ("pyarrow", _parquet),
    "dask": ("dask", _dask),
    "torch": ("torch", _library("torch")),
    "array API": ("array_api_strict", _library("array_api_strict")),
}
ROADS = {name: road for name, (module, road) in _ROADS.items() if find_spec(module) is not None}
