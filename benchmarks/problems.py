"""Datasets that several benchmarks share: artificial problems, and local copies of real ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from l1lsmi.datasets import make_and_or, make_quad, make_xor

Problem = tuple[str, np.ndarray, np.ndarray]


def small_problems() -> Iterator[Problem]:
    """Three artificial problems of 400 rows, and five real datasets where L1LSMI_DATA has them."""
    for make in (make_and_or, make_quad, make_xor):
        yield make.__name__.removeprefix("make_"), *make(n_samples=400, random_state=0)
    yield from local_copies("wine", "vehicle", "housing", "sonar", "ionosphere")


def local_copies(*names: str) -> Iterator[Problem]:
    """Files NAME.npz of the directory L1LSMI_DATA; missing ones are reported."""
    for name in names:
        path = Path(os.environ.get("L1LSMI_DATA", "")) / f"{name}.npz"
        if path.is_file():
            with np.load(path, allow_pickle=False) as file:
                yield name, file["X"].astype(np.float64), file["y"]
        else:
            print(f"{name} is skipped: {path.name} is not in the directory L1LSMI_DATA")
