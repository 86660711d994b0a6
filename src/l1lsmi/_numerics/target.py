"""The target, encoded once for every measure."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._rows.medians import median_positive, weighted_median_distance
from l1lsmi._rows.table import standardize


@dataclass(frozen=True)
class Target:
    """Encoded target, on the host.

    Attributes
    ----------
    codes : numpy.ndarray of int, shape (n,)
        Class of each row, 0 to C - 1; all zero for regression.
    values : numpy.ndarray of float, shape (n,) or (n, t), or None
        Standardised values for regression, of one target or of several; None for classes.
    classes : numpy.ndarray or None
        The labels behind the codes.
    mean, scale : float or numpy.ndarray of shape (t,)
        Mean and standard deviation before standardisation.
    row_weights : numpy.ndarray of shape (n,) or None
        Weight of every row in sums over rows; None counts every row once.
    """

    codes: HostArray
    values: HostArray | None = None
    classes: HostArray | None = None
    mean: float | HostArray = 0.0
    scale: float | HostArray = 1.0
    row_weights: HostArray | None = None

    @property
    def is_classification(self) -> bool:
        return self.values is None

    @property
    def n_rows(self) -> int:
        return int(self.codes.size)

    @property
    def weight(self) -> float:
        """Number of rows, or the sum of their weights."""
        return float(self.n_rows) if self.row_weights is None else float(self.row_weights.sum())

    @classmethod
    def of_classes(cls, y: HostArray, row_weights: HostArray | None = None) -> Target:
        """Encode class labels."""
        classes, codes = np.unique(y, return_inverse=True)
        return cls(codes=codes.ravel(), classes=classes, row_weights=row_weights)

    @classmethod
    def of_values(
        cls,
        y: HostArray,
        mean: float | HostArray,
        scale: float | HostArray,
        row_weights: HostArray | None = None,
    ) -> Target:
        """Standardise a numeric target of shape (n,), or several of shape (n, t)."""
        codes = np.zeros(len(y), dtype=np.intp)
        return cls(codes, _standardized(y, mean, scale), None, mean, scale, row_weights)

    @property
    def columns(self) -> HostArray:
        """Values as a matrix (n, t)."""
        assert self.values is not None
        return self.values.reshape(self.n_rows, -1)

    def ordered(self) -> HostArray:
        """Numbers whose order spreads rows over the target, (n,).

        Classes, values, or the leading principal component of several targets.
        """
        if self.values is None:
            return self.codes
        if self.values.ndim == 1:
            return self.values
        weights = 1.0 if self.row_weights is None else self.row_weights[:, None]
        leading = np.linalg.eigh(self.values.T @ (self.values * weights))[1][:, -1]
        return np.asarray(self.values @ (leading * np.sign(leading[np.abs(leading).argmax()])))

    def class_shares(self) -> HostArray:
        """Share of every class in the rows."""
        return np.asarray(np.bincount(self.codes, self.row_weights) / self.weight)

    def median_distance(self, rng: np.random.Generator, most: int = 400) -> float:
        """Median distance between the values of two rows, over the pairs of at most ``most`` rows."""
        assert self.values is not None
        rows = np.arange(self.n_rows) if self.n_rows <= most else rng.choice(self.n_rows, most, replace=False)
        some = self.columns[rows]
        if self.row_weights is not None:
            return weighted_median_distance(some, self.row_weights[rows])
        pairs = np.triu_indices(len(some), 1)
        if self.values.ndim == 1:
            return median_positive(np.abs(some - some[:, 0])[pairs])
        return median_positive(np.sqrt(((some[:, None] - some) ** 2).sum(axis=2))[pairs])

    def rows_of(self, rows: HostArray | slice) -> Target:
        """Some rows, encoded like the whole."""
        values = None if self.values is None else self.values[rows]
        weights = None if self.row_weights is None else self.row_weights[rows]
        return replace(self, codes=self.codes[rows], values=values, row_weights=weights)

    def weighted(self, weights: HostArray) -> Target:
        """The same rows, each counting so many times."""
        return replace(self, row_weights=weights if self.row_weights is None else weights * self.row_weights)

    def slice_of(self, start: int, stop: int) -> Target:
        """Consecutive rows, not copied."""
        return self.rows_of(slice(start, stop))

    def encode(self, y: HostArray) -> HostArray:
        """Encode further targets the same way; an unknown class becomes -1."""
        if self.classes is None:
            return _standardized(y, self.mean, self.scale)
        known = {label: code for code, label in enumerate(self.classes.tolist())}
        return np.array([known.get(label, -1) for label in np.asarray(y).tolist()], dtype=np.intp)


def _standardized(y: HostArray, mean: float | HostArray, scale: float | HostArray) -> HostArray:
    values = np.array(y, dtype=np.float64)
    columns = values.reshape(len(values), -1)
    return np.asarray(standardize(columns, np.atleast_1d(mean), np.atleast_1d(scale)).reshape(values.shape))
