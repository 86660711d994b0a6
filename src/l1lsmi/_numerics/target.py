"""What is to be predicted, encoded once for every measure."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._rows.table import standardize


@dataclass(frozen=True)
class Target:
    """Encoded target, on the host.

    Attributes
    ----------
    codes : numpy.ndarray of int, shape (n,)
        Class of each row, 0 to C - 1; all zero for regression.
    values : numpy.ndarray of float, shape (n,), or None
        Standardised values for regression, None for classes.
    classes : numpy.ndarray or None
        The labels behind the codes.
    mean, scale : float
        What the values were standardised with.
    """

    codes: HostArray
    values: HostArray | None = None
    classes: HostArray | None = None
    mean: float = 0.0
    scale: float = 1.0

    @property
    def is_classification(self) -> bool:
        return self.values is None

    @property
    def n_rows(self) -> int:
        return int(self.codes.size)

    @classmethod
    def of_classes(cls, y: HostArray) -> Target:
        """Encode class labels."""
        classes, codes = np.unique(y, return_inverse=True)
        return cls(codes=codes.ravel(), classes=classes)

    @classmethod
    def of_values(cls, y: HostArray, mean: float, scale: float) -> Target:
        """Standardise a numeric target."""
        codes = np.zeros(y.size, dtype=np.intp)
        return cls(codes, _standardized(y, mean, scale), None, mean, scale)

    def median_distance(self, rng: np.random.Generator, most: int = 400) -> float:
        """Median distance between two values, over the pairs of at most ``most`` rows."""
        assert self.values is not None
        some = self.values if self.n_rows <= most else rng.choice(self.values, most, replace=False)
        return median_positive(np.abs(some[:, None] - some)[np.triu_indices(some.size, 1)])

    def rows_of(self, rows: HostArray | slice) -> Target:
        """Some rows, encoded like the whole."""
        values = None if self.values is None else self.values[rows]
        return replace(self, codes=self.codes[rows], values=values)

    def slice_of(self, start: int, stop: int) -> Target:
        """Consecutive rows, not copied."""
        return self.rows_of(slice(start, stop))

    def encode(self, y: HostArray) -> HostArray:
        """Encode further targets the same way; an unknown class becomes -1."""
        if self.classes is None:
            return _standardized(y, self.mean, self.scale)
        known = {label: code for code, label in enumerate(self.classes.tolist())}
        return np.array([known.get(label, -1) for label in np.asarray(y).tolist()], dtype=np.intp)


def _standardized(y: HostArray, mean: float, scale: float) -> HostArray:
    column = np.array(y, dtype=np.float64)[:, None]
    return np.asarray(standardize(column, np.array([mean]), np.array([scale]))[:, 0])


def median_positive(values: HostArray) -> float:
    """Median, or that of the positive numbers where it is 0; 1 where there are none."""
    return float(_middle_positive(values).mean())


def median_root(squares: HostArray) -> float:
    """The same of the roots of the numbers: a median distance from squared ones."""
    return float(np.sqrt(_middle_positive(squares)).mean())


def _middle_positive(values: HostArray) -> HostArray:
    values = values.ravel()
    middle = _middle(values) if values.size else np.zeros(2)
    if middle[1] > 0:
        return middle
    positive = values[values > 0]
    return _middle(positive) if positive.size else np.ones(2)


def _middle(values: HostArray) -> HostArray:
    """The two numbers in the middle; of many numbers by looking only at those near to that of some."""
    ranks = np.array([(values.size - 1) // 2, values.size // 2])
    if values.size >= 50_000:
        some = np.sort(values[:: values.size // 20_000])
        low, high = some[int(0.48 * some.size)], some[int(0.52 * some.size)]
        n_below, near = np.count_nonzero(values < low), values[(values >= low) & (values <= high)]
        if n_below <= ranks[0] and ranks[1] - n_below < near.size:
            values, ranks = near, ranks - n_below
    return np.asarray(np.partition(values, np.unique(ranks))[ranks])
