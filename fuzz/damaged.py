"""Damaged files: bits flipped, ends cut off, ranges overwritten, two files in one."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.judge import check
from l1lsmi.files import read_table, write_table
from l1lsmi.files._formats import sandbox

Generator = np.random.Generator
#: One file in so many is read in a sandbox, as users do: starting it takes longer than all else.
SANDBOXED = 10
#: Seconds that a sandbox may take, fewer than those after which a case hangs.
SECONDS = 20.0
TEXT = b"id,a,b,when,y\n" + b"".join(
    f"{i:03},{i * 7 % 11}.5,{'u' if i % 3 else 'NA'},2020-01-{i % 28 + 1:02},{'yn'[i % 2]}\n".encode()
    for i in range(40)
)


@cache
def good_files(folder: Path) -> dict[str, bytes]:
    """A small file of every format, by its suffix."""
    sandbox.ENABLED = False
    table = read_table(io.BytesIO(TEXT))
    names = [column.name for column in table.columns]
    files = {".csv": TEXT, ".csv.gz": gzip.compress(TEXT, mtime=0)}
    for suffix in (".tsv", ".parquet", ".feather", ".xlsx"):
        path = folder / f"good{suffix}"
        write_table(table, names, path)
        files[suffix] = path.read_bytes()
    x = np.arange(60.0).reshape(20, 3)
    y = np.arange(20) % 2
    stream = io.BytesIO()
    np.savez(stream, X=x, y=y)
    files[".npz"] = stream.getvalue()
    stream = io.BytesIO()
    import_module("scipy.io").savemat(stream, {"X": x, "y": y})
    files[".mat"] = stream.getvalue()
    stream = io.BytesIO()
    with import_module("h5py").File(stream, "w") as file:
        file["X"] = x
        obs, var = file.create_group("obs"), file.create_group("var")
        for group, length, index in ((obs, 20, "cell"), (var, 3, "gene")):
            group.attrs["_index"] = index
            group[index] = [f"{index}{i}" for i in range(length)]
        obs.attrs["column-order"] = ["y"]
        obs["y"] = y
    files[".h5ad"] = stream.getvalue()
    return files


def _flip(data: bytearray, rng: Generator, other: bytes) -> None:
    for _ in range(int(rng.integers(1, 8))):
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))


def _cut(data: bytearray, rng: Generator, other: bytes) -> None:
    del data[int(rng.integers(len(data))) :]


def _overwrite(data: bytearray, rng: Generator, other: bytes) -> None:
    start, length = int(rng.integers(len(data))), int(rng.integers(1, 64))
    value = int(rng.choice([0, 255, int(rng.integers(256))]))
    data[start : start + length] = bytes([value]) * len(data[start : start + length])


def _splice(data: bytearray, rng: Generator, other: bytes) -> None:
    at = int(rng.integers(len(data)))
    data[at:] = other[int(rng.integers(len(other))) :]


def _repeat(data: bytearray, rng: Generator, other: bytes) -> None:
    start = int(rng.integers(len(data)))
    data[start:start] = data[start : start + int(rng.integers(1, 200))] * int(rng.integers(1, 20))


DAMAGE = [_flip, _flip, _cut, _overwrite, _splice, _repeat]


def make_file(seed: int, folder: Path, *, sandboxed: bool = False) -> tuple[str, Callable[[], Any]]:
    """The damaged file of a seed, and the call that reads it."""
    rng = np.random.default_rng((seed, 2))
    files = good_files(folder)
    suffix, other = (str(rng.choice(sorted(files))) for _ in range(2))
    data, told = bytearray(files[suffix]), []
    for _ in range(int(rng.integers(1, 3))):
        damage = DAMAGE[int(rng.integers(len(DAMAGE)))]
        if data:
            damage(data, rng, files[other])
            told.append(damage.__name__.strip("_"))
    path = folder / f"damaged{suffix if rng.random() < 0.9 else '.dat'}"
    path.write_bytes(bytes(data))

    is_sandboxed = sandboxed or seed % SANDBOXED == 0

    def call() -> None:
        sandbox.ENABLED, sandbox.MIN_SECONDS = is_sandboxed, SECONDS
        table = read_table(path)
        check(all(len(column.values) == table.n_rows for column in table.columns), "columns of other lengths")

    where = "in a sandbox" if is_sandboxed else "without a sandbox"
    return f"{path.name}: {', '.join(told)}, {where}", call
