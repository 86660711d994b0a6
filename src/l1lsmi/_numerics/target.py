"""The target, encoded once for every measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.survival import CumulativeHazard
from l1lsmi._rows.medians import median_positive, weighted_median_distance
from l1lsmi._rows.statistics import column_statistics, standardize


@dataclass(frozen=True)
class TargetPart:
    """One of several targets.

    Attributes
    ----------
    name : str
    first, last : int
        Its columns among the values: from ``first`` to before ``last``.
    classes : numpy.ndarray or None
        Labels, where it has classes. Two classes have one column, the indicator of the second; more classes
        have an indicator each.
    """

    name: str
    first: int
    last: int
    classes: HostArray | None = None


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
    parts : tuple of TargetPart
        The targets, where there are several.
    hazard : CumulativeHazard or None
        What the values of a survival target, which are residuals, were computed with.
    """

    codes: HostArray
    values: HostArray | None = None
    classes: HostArray | None = None
    mean: float | HostArray = 0.0
    scale: float | HostArray = 1.0
    row_weights: HostArray | None = None
    parts: tuple[TargetPart, ...] = ()
    hazard: CumulativeHazard | None = None

    @property
    def is_classification(self) -> bool:
        return self.values is None

    @property
    def task(self) -> str:
        """One of "classification", "regression", "several" and "survival"."""
        if self.parts:
            return "several"
        if self.hazard is not None:
            return "survival"
        return "classification" if self.is_classification else "regression"

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

    @classmethod
    def of_survival(cls, time: HostArray, event: HostArray, row_weights: HostArray | None = None) -> Target:
        """Martingale residuals of times until an event, standardised."""
        hazard = CumulativeHazard.of(time, event, row_weights)
        values = hazard.residuals(time, event)
        mean, scale = column_statistics(values[:, None], row_weights)
        target = cls.of_values(values, float(mean[0]), float(scale[0]), row_weights)
        return replace(target, hazard=hazard)

    @classmethod
    def joined(cls, targets: Sequence[Target], names: Sequence[str]) -> Target:
        r"""Several targets as one, from the encoding of each.

        Classes with shares :math:`p_c` become indicators over :math:`\sqrt{1 - \sum_c p_c^2}`: the expected
        squared distance between two rows is then 2, as it is for a standardised number. The indicators of two
        classes are the same up to sign, so that one of them, standardised, has the same distances.
        """
        blocks, means, scales, parts, first = [], list[HostArray](), list[HostArray](), [], 0
        for one, name in zip(targets, names, strict=True):
            if one.classes is None:
                block, mean, scale = one.columns, np.atleast_1d(one.mean), np.atleast_1d(one.scale)
            else:
                block, mean, scale = _indicators(one)
            parts.append(TargetPart(name, first, first + block.shape[1], one.classes))
            first += block.shape[1]
            blocks.append(block)
            means.append(mean)
            scales.append(scale)
        return cls(
            codes=np.zeros(targets[0].n_rows, dtype=np.intp),
            values=np.hstack(blocks),
            mean=np.concatenate(means),
            scale=np.concatenate(scales),
            row_weights=targets[0].row_weights,
            parts=tuple(parts),
        )

    def each(self) -> list[Target]:
        """The targets, one by one."""
        if not self.parts:
            return [self]
        found, mean, scale = [], np.atleast_1d(self.mean), np.atleast_1d(self.scale)
        for part in self.parts:
            columns = self.columns[:, part.first : part.last]
            if part.classes is None:
                at = part.first
                zeros = np.zeros(self.n_rows, dtype=np.intp)
                one = Target(zeros, columns[:, 0], None, float(mean[at]), float(scale[at]), self.row_weights)
            else:
                # An indicator less its mean is positive where it is 1.
                codes = (
                    columns.argmax(axis=1) if columns.shape[1] > 1 else (columns[:, 0] > 0).astype(np.intp)
                )
                one = Target(codes, classes=part.classes, row_weights=self.row_weights)
            found.append(one)
        return found

    def take(self, numbers: Sequence[int]) -> Target:
        """Some of several targets."""
        places, parts = list[int](), []
        for part in (self.parts[number] for number in numbers):
            first = len(places)
            parts.append(replace(part, first=first, last=first + part.last - part.first))
            places += range(part.first, part.last)
        mean, scale = (np.atleast_1d(some)[places] for some in (self.mean, self.scale))
        return replace(self, values=self.columns[:, places], mean=mean, scale=scale, parts=tuple(parts))

    def decoded(self) -> HostArray:
        """One label or number per row and target, as before encoding; of survival the residuals."""
        if self.parts:
            columns = [one.decoded() for one in self.each()]
            if all(part.classes is None for part in self.parts):
                return np.column_stack(columns)
            table = np.empty((self.n_rows, len(columns)), dtype=object)
            for j, column in enumerate(columns):
                table[:, j] = column
            return table
        if self.values is not None:
            return np.asarray(self.values * self.scale + self.mean)
        assert self.classes is not None
        return np.asarray(self.classes[self.codes])

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

    def with_classes_as_met(self) -> Target:
        """The same rows with classes numbered in the order in which rows have them first."""
        if self.classes is None:
            return self
        met = np.argsort(np.unique(self.codes, return_index=True)[1])
        return replace(self, codes=np.argsort(met)[self.codes], classes=self.classes[met])

    def weighted(self, weights: HostArray) -> Target:
        """The same rows, each counting so many times."""
        return replace(self, row_weights=weights if self.row_weights is None else weights * self.row_weights)

    def slice_of(self, start: int, stop: int) -> Target:
        """Consecutive rows, not copied."""
        return self.rows_of(slice(start, stop))

    def encode(self, y: HostArray) -> HostArray:
        """Encode further targets the same way; an unknown class becomes -1, or infinite among several.

        Of a survival target these are residuals.
        """
        if self.parts:
            return np.hstack([
                _encoded_part(one, y[:, j], slice(part.first, part.last), self)
                for j, (one, part) in enumerate(zip(self.each(), self.parts, strict=True))
            ])  # fmt: skip
        if self.classes is None:
            return _standardized(y, self.mean, self.scale)
        known = {label: code for code, label in enumerate(self.classes.tolist())}
        return np.array([known.get(label, -1) for label in np.asarray(y).tolist()], dtype=np.intp)


def _standardized(y: HostArray, mean: float | HostArray, scale: float | HostArray) -> HostArray:
    values = np.array(y, dtype=np.float64)
    columns = values.reshape(len(values), -1)
    return np.asarray(standardize(columns, np.atleast_1d(mean), np.atleast_1d(scale)).reshape(values.shape))


def _indicators(target: Target) -> tuple[HostArray, HostArray, HostArray]:
    """Indicators of classes in the units of a standardised number, and their means and scales."""
    shares = target.class_shares()
    indicators = np.equal.outer(target.codes, np.arange(shares.size)).astype(np.float64)
    if shares.size == 2:
        indicators, mean = indicators[:, 1:], shares[1:]
        scale = np.sqrt(shares[:1] * shares[1:])
    else:
        mean, scale = shares, np.full(shares.size, np.sqrt(1 - (shares**2).sum()))
    return (indicators - mean) / scale, mean, scale


def _encoded_part(one: Target, y: HostArray, columns: slice, whole: Target) -> HostArray:
    """Further values of one of several targets, (n, its columns)."""
    mean, scale = np.atleast_1d(whole.mean)[columns], np.atleast_1d(whole.scale)[columns]
    if one.classes is None:
        return _standardized(y.astype(np.float64)[:, None], mean, scale)
    codes = one.encode(y)
    first = 1 if mean.size == 1 else 0
    indicators = np.equal.outer(codes, np.arange(first, one.classes.size)).astype(np.float64)
    return np.where(codes[:, None] < 0, np.inf, (indicators - mean) / scale)
