"""A loaded data set, and the check that it is the one that the catalogue describes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.datasets.entry import Entry


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A real data set.

    Parameters
    ----------
    name : str
    X : ndarray of float64, shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Labels (int64) or values (float64).
    task : str
        "classification" or "regression".
    feature_names : tuple of str
    class_names : tuple of str or None
        One for each value of ``np.unique(y)``, in that order; None for regression.
    groups : ndarray of int64 or None
        Rows with the same number are not independent of each other: conformations of one molecule,
        speakers of one set, slices of one patient.
    partial : bool
        Whether these are only some of the rows of the set.
    source : str
        Where it came from.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.datasets import Dataset
    >>> Dataset("own", np.zeros((4, 2)), np.arange(4.0), "regression", ("a", "b"))
    <own: 4 rows, 2 features, regression>
    """

    name: str
    X: HostArray
    y: HostArray
    task: str
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...] | None = None
    groups: HostArray | None = None
    partial: bool = False
    source: str = ""

    def __repr__(self) -> str:
        kind = self.task if self.class_names is None else f"{len(self.class_names)} classes"
        part = ", only part of the set" if self.partial else ""
        return f"<{self.name}: {self.X.shape[0]} rows, {self.X.shape[1]} features, {kind}{part}>"


def check_stored(data: Dataset, entry: Entry) -> None:
    """Check the size of a stored set: that of the paper's table, or of the published copy."""
    n, m = data.X.shape
    rows = {entry.rows, entry.after_download()[0]}
    if data.partial:
        if n >= min(rows):
            raise ValueError(f"has {n} rows, but the whole set has {min(rows)}")
    elif n not in rows or m != entry.columns:
        whole = " or ".join(str(count) for count in sorted(rows))
        raise ValueError(f"has {n} rows and {m} columns, and {whole} rows and {entry.columns} are expected")
    if entry.counts and len(np.unique(data.y)) != len(entry.counts):
        raise ValueError(f"has {len(np.unique(data.y))} classes, and {len(entry.counts)} are expected")


def check_downloaded(data: Dataset, entry: Entry) -> None:
    """Check a fresh download: every class has to have as many rows as the catalogue says."""
    rows, counts = entry.after_download()
    n, m = data.X.shape
    if (n, m) != (rows, entry.columns):
        raise ValueError(f"it has {n} rows and {m} columns, and {rows} and {entry.columns} are expected")
    found = tuple(int(count) for count in np.unique(data.y, return_counts=True)[1]) if counts else ()
    if found != counts:
        raise ValueError(f"its classes have {found} rows, and {counts} are expected")
