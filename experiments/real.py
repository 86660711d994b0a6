"""Real datasets: their description, and the rows that a trial draws from them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from experiments.data import loading
from experiments.data.dataset import Dataset
from experiments.data.recipe import UCI, OpenML, Recipe
from experiments.problem import N_SAMPLES, Drawn, Problem, k_of_table
from experiments.seeds import stable_seed
from l1lsmi.evaluation import split_rows

#: From this number of rows on, both protocols select on the same rows and share the selection.
ENOUGH_TO_SHARE = 1000
#: Maximum number of test rows; more take longer and hardly change an error.
MAX_TEST_ROWS = 4000


@dataclass(frozen=True, kw_only=True, eq=False)
class Real(Problem):
    """A real dataset; a trial is a draw of rows from it.

    Attributes
    ----------
    n_rows, n_features : int
        Size in the paper's table.
    class_counts : tuple of int
        Rows of each class; empty for regression.
    source : OpenML, UCI or None
        Where it is published; None if it is not.
    recipe : Recipe
        Conversion of the published table.
    class_names : tuple of str
    first_label : int
        Label of the first class.
    published_rows : int or None
        Rows of the published copy if the paper uses only some of them.
    published_counts : tuple of int
        Rows of each class in that copy.
    grouped_by : str
        What the rows of a group have in common; empty without groups.
    partial_file : str
        Name of a local file with only some of the rows.
    note : str
        Difference between the published copy and the paper's.
    licence, citation : str
    standardise_target : bool
        Whether the target is divided by its standard deviation, as in the paper's errors.
    """

    name: str
    n_rows: int
    n_features: int
    class_counts: tuple[int, ...] = ()
    source: OpenML | UCI | None = None
    recipe: Recipe = field(default_factory=Recipe)
    class_names: tuple[str, ...] = ()
    first_label: int = 1
    published_rows: int | None = None
    published_counts: tuple[int, ...] = ()
    grouped_by: str = ""
    partial_file: str = ""
    note: str = ""
    licence: str = "CC BY 4.0"
    citation: str = ""
    standardise_target: bool = False

    @property
    def label(self) -> str:
        return self.name

    @property
    def task(self) -> str:
        return "classification" if self.class_counts else "regression"

    @property
    def n_classes(self) -> int:
        return len(self.class_counts)

    @property
    def k(self) -> int:
        return k_of_table(self.n_features)

    @property
    def published_size(self) -> tuple[int, tuple[int, ...]]:
        """Rows of the published copy, and of each class."""
        return self.published_rows or self.n_rows, self.published_counts or self.class_counts

    def load(
        self,
        *,
        directory: str | os.PathLike[str] | None = None,
        cache: str | os.PathLike[str] | None = None,
        download: bool = True,
        verbose: int = 0,
    ) -> Dataset:
        """Load the dataset from a directory, from the cache, or from the web, in this order.

        Parameters
        ----------
        directory : path or None, default=None
            Directory with files ``NAME.npz``; None takes the environment variable ``L1LSMI_DATA``, if set.
            A file with the first rows only (``partial_file``) is used if there is no complete one.
        cache : path or None, default=None
            Directory of downloads; None takes the environment variable ``L1LSMI_CACHE``, or the directory
            that the operating system has for caches.
        download : bool, default=True
            Whether a dataset that is neither in the directory nor in the cache is downloaded.
        verbose : int, default=0
            1 shows the progress of a download.

        Returns
        -------
        Dataset

        Raises
        ------
        ValueError
            If a copy is damaged or does not have the expected size.
        FileNotFoundError
            If there is no copy, and it cannot or must not be downloaded.
        ConnectionError
            If the download fails.
        """
        options = {"directory": directory, "cache": cache, "download": download, "verbose": verbose}
        return loading.load(self, **options)

    def all_rows(self) -> Drawn:
        """The whole dataset."""
        return _all_rows(self)

    def draw(self, trial: int, n_samples: int = N_SAMPLES, seed: int = 0) -> Drawn:
        """Rows drawn without replacement; all rows if there are at most `n_samples`."""
        data = self.all_rows()
        if len(data.y) <= n_samples:
            return data
        rng = np.random.default_rng(stable_seed(seed, self.name, trial, "rows"))
        return data.take(np.sort(rng.choice(len(data.y), n_samples, replace=False)))

    def split(self, trial: int, n_samples: int = N_SAMPLES, seed: int = 0) -> tuple[Drawn, Drawn]:
        """Rows to select and to train on, and held-out rows.

        Groups are not split, and at least about 30 % of the rows are held out. In large datasets without
        groups the training rows are those of `draw`.
        """
        data = self.all_rows()
        if self.shares_rows(n_samples):
            train = self.draw(trial, n_samples, seed).rows
            test = np.setdiff1d(np.arange(len(data.y)), train)
        else:
            options = {
                "groups": data.groups,
                "task": self.task,
                "random_state": stable_seed(seed, self.name, trial, "split"),
            }
            train, test = split_rows(data.y, **options)
            if len(train) > n_samples:
                # The same seed holds out the same groups.
                train, test = split_rows(data.y, n_train=n_samples, **options)
        if len(test) > MAX_TEST_ROWS:
            rng = np.random.default_rng(stable_seed(seed, self.name, trial, "test rows"))
            test = np.sort(rng.choice(test, MAX_TEST_ROWS, replace=False))
        return data.take(train), data.take(test)

    def shares_rows(self, n_samples: int = N_SAMPLES) -> bool:
        """Whether both protocols select on the same rows."""
        data = self.all_rows()
        return data.groups is None and len(data.y) >= max(ENOUGH_TO_SHARE, n_samples + 1)


@lru_cache(maxsize=4)
def _all_rows(real: Real) -> Drawn:
    data = real.load()
    y = (data.y - data.y.mean()) / data.y.std() if real.standardise_target else data.y
    return Drawn(data.X, y, data.groups, np.arange(len(y)), data.partial)
