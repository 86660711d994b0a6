"""A loaded dataset, and the check that it has the expected size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from experiments.real import Real


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A real dataset.

    Attributes
    ----------
    name : str
    X : ndarray of float64, shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Class labels (int64) or values (float64).
    task : {"classification", "regression"}
    feature_names : tuple of str
    class_names : tuple of str or None
        One for each value of ``np.unique(y)``, in that order; None for regression.
    groups : ndarray of int64 or None
        Rows of the same group are dependent: conformations of one molecule, slices of one patient.
    partial : bool
        Whether only some of the rows of the dataset are present.
    source : str
        Where it was loaded from.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    task: str
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...] | None = None
    groups: np.ndarray | None = None
    partial: bool = False
    source: str = ""

    def __repr__(self) -> str:
        kind = self.task if self.class_names is None else f"{len(self.class_names)} classes"
        part = ", partial" if self.partial else ""
        return f"<{self.name}: {self.X.shape[0]} rows, {self.X.shape[1]} features, {kind}{part}>"


def check_size(data: Dataset, real: Real) -> Dataset:
    """The same dataset, if it has the size of the paper's or of the published copy."""
    n, m = data.X.shape
    if data.partial:
        if n >= real.n_rows:
            raise ValueError(f"it has {n} rows, but should be part of a dataset of {real.n_rows} rows")
        return data
    counts = tuple(np.unique(data.y, return_counts=True)[1].tolist()) if real.class_counts else ()
    sizes = {(real.n_rows, real.class_counts), real.published_size}
    if m != real.n_features or (n, counts) not in sizes:
        expected = " or ".join(_text(rows, real.n_features, of) for rows, of in sorted(sizes))
        raise ValueError(f"it has {_text(n, m, counts)}, but {expected} are expected")
    return data


def _text(n: int, m: int, counts: tuple[int, ...]) -> str:
    return f"{n} rows and {m} columns" + (f" with class counts {counts}" if counts else "")
