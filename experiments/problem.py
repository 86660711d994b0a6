"""What a file in ``datasets`` has to say about its dataset, and the rows that a trial draws from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from experiments.seeds import stable_seed
from l1lsmi import datasets
from l1lsmi.evaluation import split_rows

#: Rows that a trial selects on, as in the paper.
N_SAMPLES = 400
#: From so many rows on, both protocols select on the same rows, and one selection serves both.
ENOUGH_TO_SHARE = 1000
#: Rows that features are judged on at most; more cost time and change no error by much.
MOST_TEST_ROWS = 4000


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
        Which rows of the dataset they are.
    partial : bool
        Whether the dataset at hand is only a part of the one that is meant.
    """

    X: Any
    y: Any
    groups: Any
    rows: Any
    partial: bool


def k_of_table(n_features: int) -> int:
    """How many features the paper's table of real data selects."""
    return 4 if n_features <= 33 else 10 if n_features <= 90 else 20


def ks_of_figure(n_features: int) -> tuple[int, ...]:
    """Numbers of features for the figure: the low range, in steps proportional to the number of all."""
    step = max(1, round(n_features / 20))
    return tuple(step * i for i in range(1, 6) if step * i < n_features)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What toys and real data have in common.

    Attributes
    ----------
    name : str
        The name of its file.
    label : str
        As printed.
    task : {"classification", "regression"}
    n_features : int
    n_classes : int
        0 for regression.
    k : int
        How many features to select.
    ks : tuple of int
        How many to select for the figure.
    true_features : tuple of int or None
        Columns that the target is made of, where that is known.
    """

    name: str
    label: str
    task: str
    n_features: int
    n_classes: int = 0
    true_features: tuple[int, ...] | None = None

    @property
    def k(self) -> int:
        raise NotImplementedError

    @property
    def ks(self) -> tuple[int, ...]:
        return ks_of_figure(self.n_features)

    @property
    def cost(self) -> int:
        """Roughly how long its trials take, to begin with the longest."""
        return self.n_features * max(self.n_classes, 1)

    def draw(self, trial: int, n_samples: int = N_SAMPLES, seed: int = 0) -> Drawn:
        """The rows of a trial."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Toy(Problem):
    """An artificial problem; every trial is a new draw of it."""

    make: Callable[..., tuple[Any, Any]]
    true_features: tuple[int, ...]

    @property
    def k(self) -> int:
        return len(self.true_features)

    def draw(self, trial: int, n_samples: int = N_SAMPLES, seed: int = 0) -> Drawn:
        """A new sample."""
        X, y = self.make(n_samples, random_state=stable_seed(seed, self.name, trial, "rows"))
        return Drawn(X, y, None, np.arange(len(y)), False)


@dataclass(frozen=True, kw_only=True)
class Real(Problem):
    """Real data; a trial is a draw of rows from it.

    Attributes
    ----------
    standardise_target : bool
        Whether the target is measured in its standard deviations, as errors in the paper are.
    """

    standardise_target: bool = False

    @property
    def k(self) -> int:
        return k_of_table(self.n_features)

    def all_rows(self) -> Drawn:
        """The whole dataset."""
        return _load(self.name, self.standardise_target)

    def draw(self, trial: int, n_samples: int = N_SAMPLES, seed: int = 0) -> Drawn:
        """Rows drawn without replacement; all of them where there are no more."""
        everything = self.all_rows()
        n = len(everything.y)
        if n <= n_samples:
            return everything
        rng = np.random.default_rng(stable_seed(seed, self.name, trial, "rows"))
        return _take(everything, np.sort(rng.choice(n, n_samples, replace=False)))

    def split(self, trial: int, n_samples: int = N_SAMPLES, seed: int = 0) -> tuple[Drawn, Drawn]:
        """Rows to select and to train on, and rows never seen.

        Groups stay on one side, and about 30 % of the rows or more are for the test. Of large datasets
        without groups the training rows are those of `draw`.
        """
        everything = self.all_rows()
        n = len(everything.y)
        if self.shares_rows(n_samples):
            train = self.draw(trial, n_samples, seed).rows
            test = np.setdiff1d(np.arange(n), train)
        else:
            options = {
                "groups": everything.groups,
                "task": self.task,
                "random_state": stable_seed(seed, self.name, trial, "split"),
            }
            train, test = split_rows(everything.y, **options)
            if len(train) > n_samples:
                # The same seed takes the same groups for the test.
                train, test = split_rows(everything.y, n_train=n_samples, **options)
        if len(test) > MOST_TEST_ROWS:
            rng = np.random.default_rng(stable_seed(seed, self.name, trial, "test rows"))
            test = np.sort(rng.choice(test, MOST_TEST_ROWS, replace=False))
        return _take(everything, train), _take(everything, test)

    def shares_rows(self, n_samples: int = N_SAMPLES) -> bool:
        """Whether both protocols select on the same rows."""
        everything = self.all_rows()
        return everything.groups is None and len(everything.y) >= max(ENOUGH_TO_SHARE, n_samples + 1)


def _take(everything: Drawn, rows: Any) -> Drawn:
    groups = None if everything.groups is None else everything.groups[rows]
    return Drawn(everything.X[rows], everything.y[rows], groups, rows, everything.partial)


@lru_cache(maxsize=4)
def _load(name: str, standardise_target: bool) -> Drawn:
    data = datasets.load(name)
    y = (data.y - data.y.mean()) / data.y.std() if standardise_target else data.y
    return Drawn(data.X, y, data.groups, np.arange(len(y)), data.partial)
