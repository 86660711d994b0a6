"""The problems whose answers `answers.py` writes down.

The three artificial ones, two draws each, and eight real sets, which are left out where the environment
variable ``L1LSMI_DATA`` names no directory that has them; and small ones that need care.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from l1lsmi.datasets import make_and_or, make_quad, make_xor

REAL = ("wine", "vehicle", "housing", "sonar", "ionosphere", "glass", "segment", "german")
#: Most rows that are taken of a real set.
REAL_ROWS = 300


class Problem(NamedTuple):
    """Rows, targets and how many features to select."""

    name: str
    X: np.ndarray
    y: np.ndarray
    k: int

    def cut(self, rows: int, columns: int) -> Problem:
        """The first rows and columns, for cells that would take long."""
        return self._replace(X=self.X[:rows, :columns], y=self.y[:rows])


@cache
def problems() -> tuple[Problem, ...]:
    made = [
        Problem(f"{make.__name__.removeprefix('make_')} {seed}", *make(n_samples=400, random_state=seed), k)
        for make, k in ((make_and_or, 4), (make_quad, 2), (make_xor, 2))
        for seed in (0, 1)
    ]
    for name in REAL:
        path = Path(os.environ.get("L1LSMI_DATA", "")) / f"{name}.npz"
        if path.is_file():
            with np.load(path, allow_pickle=False) as data:
                rows = np.random.default_rng(0).permutation(len(data["y"]))[:REAL_ROWS]
                made.append(Problem(name, data["X"][rows], data["y"][rows], 4))
    return tuple(made)


def odd_problems() -> Iterator[Problem]:
    """Columns, targets and numbers of features that need care, and some that must be refused."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 8))
    y = (X[:, 2] * X[:, 5] > 0).astype(int)
    yield Problem("words", X, np.array(["no", "yes"])[y], 2)
    yield Problem("half of them", X, y, None)
    yield Problem("share", X, y, 0.3)
    yield Problem("all of them", X, y, 8)
    yield Problem("constant and copies", np.column_stack([X, X[:, 2], np.ones(120), -2 * X[:, 5]]), y, 3)
    yield Problem("whole numbers", np.round(3 * X).astype(int), np.abs(np.round(3 * X[:, 1])).astype(int), 2)
    yield Problem("large offset", X * 1e-3 + 1e4, X[:, 1] ** 2, 2)
    yield Problem("far row", np.vstack([X, np.full(8, 1e6)]), np.append(X[:, 1], 0.0), 2)
    yield Problem("few rows", X[:12], y[:12], 2)
    yield Problem("few of a class", X, np.where(np.arange(120) < 3, 2, y), 2)
    yield Problem("clear classes", np.column_stack([X, 5 * y]), y, 1)
    wide = rng.normal(size=(120, 300))
    yield Problem("many columns", wide, wide[:, 3] * wide[:, 77] + wide[:, 200], 5)
    yield Problem("missing value", np.where(X > 2.5, np.nan, X), y, 2)
    yield Problem("one class", X, 0 * y, 2)
    yield Problem("too many", X, y, 9)
    yield Problem("other length", X, y[1:], 2)
