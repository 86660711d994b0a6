"""Datasets of the experiments: how many features are selected, and which rows a trial uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.seeds import stable_seed

#: Rows that a trial selects on, as in the paper.
N_SAMPLES = 400


@dataclass(frozen=True)
class Drawn:
    """Rows of a dataset.

    Attributes
    ----------
    X : numpy.ndarray of shape (n, m)
    y : numpy.ndarray of shape (n,)
    groups : numpy.ndarray of int or None
        Rows of the same group are not independent of each other.
    rows : numpy.ndarray of int
        Indices of the rows in the dataset.
    partial : bool
        Whether only a part of the dataset is available.
    """

    X: Any
    y: Any
    groups: Any
    rows: Any
    partial: bool

    def take(self, rows: Any) -> Drawn:
        """Some of the rows."""
        groups = None if self.groups is None else self.groups[rows]
        return Drawn(self.X[rows], self.y[rows], groups, rows, self.partial)


def k_of_table(n_features: int) -> int:
    """Number of features that the paper's table of real data selects."""
    return 4 if n_features <= 33 else 10 if n_features <= 90 else 20


def ks_of_figure(n_features: int) -> tuple[int, ...]:
    """Numbers of features for the figure: at most a quarter of all, in equal steps."""
    step = max(1, round(n_features / 20))
    return tuple(step * i for i in range(1, 6) if step * i < n_features)


class Problem:
    """Common base of artificial and real datasets.

    Attributes
    ----------
    name : str
        The name of its file.
    label : str
        The name in tables.
    task : {"classification", "regression"}
    n_features : int
    n_classes : int
        0 for regression.
    k : int
        Number of features to select.
    true_features : tuple of int or None
        Columns that the target is computed from, where known.
    """

    name: str
    label: str
    task: str
    n_features: int
    n_classes: int
    k: int
    true_features: tuple[int, ...] | None = None

    @property
    def ks(self) -> tuple[int, ...]:
        """Numbers of features to select for the figure."""
        return ks_of_figure(self.n_features)

    @property
    def cost(self) -> int:
        """Rough relative cost of its trials; the most expensive are started first."""
        return self.n_features * max(self.n_classes, 1)

    def draw(self, trial: int, n_samples: int = N_SAMPLES, seed: int = 0) -> Drawn:
        """The rows of a trial."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Toy(Problem):
    """An artificial problem; every trial is a new sample."""

    name: str
    label: str
    make: Callable[..., tuple[Any, Any]]
    true_features: tuple[int, ...]
    n_classes: int = 0
    n_features: int = 10

    @property
    def task(self) -> str:
        return "classification" if self.n_classes else "regression"

    @property
    def k(self) -> int:
        return len(self.true_features)

    def draw(self, trial: int, n_samples: int = N_SAMPLES, seed: int = 0) -> Drawn:
        """A new sample."""
        X, y = self.make(n_samples, random_state=stable_seed(seed, self.name, trial, "rows"))
        return Drawn(X, y, None, np.arange(len(y)), False)
