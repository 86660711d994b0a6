"""Large whole numbers whose differences are lost in float64."""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from l1lsmi._arrays import HostArray

#: Whole numbers of this size and below are exact in float64.
EXACT = 2**53
#: Types of whole numbers that are all exact.
NARROW = (nw.Int8, nw.Int16, nw.Int32, nw.UInt8, nw.UInt16, nw.UInt32)
#: Numbers may be rounded by one part in so many of their range.
FINE = 2**20


class _Whole(NamedTuple):
    """Of the whole numbers of a column: the smallest, the largest, and one that float64 has not."""

    label: str
    low: int
    high: int
    rounded: int | None

    def merged(self, other: _Whole) -> _Whole:
        rounded = other.rounded if self.rounded is None else self.rounded
        return _Whole(self.label, min(self.low, other.low), max(self.high, other.high), rounded)

    @property
    def are_coarse(self) -> bool:
        """Whether the numbers are so near each other that rounding them to float64 changes them much."""
        if self.rounded is None:
            return False
        try:
            spacing = math.ulp(float(max(abs(self.low), abs(self.high))))
        except OverflowError:  # beyond the range of float64, which is checked elsewhere
            return False
        return 0 < self.high - self.low < FINE * spacing


class Digits:
    """Check columns, a block of rows at a time, for large whole numbers whose differences are lost.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi._validation.digits import Digits
    >>> digits = Digits()
    >>> digits.add(np.array([[2**60], [2**60 + 1]]))
    >>> digits.finish()
    Traceback (most recent call last):
    ValueError: X has whole numbers in column 0 whose differences are lost in float64, ...
    """

    def __init__(self) -> None:
        self._columns: dict[int, _Whole] = {}
        #: Whether there are rows of which nothing is known but that their numbers are exact.
        self._some_are_small = False

    def add(self, X: Any) -> None:
        """Look at a block: a dataframe, or a NumPy array of shape (n, m)."""
        if nw.dependencies.is_into_dataframe(X):
            self._add_frame(nw.from_native(X, eager_only=True))
        elif isinstance(X, np.ndarray) and X.ndim == 2 and may_be_large(X):
            for j in range(X.shape[1]):
                self.add_column(X[:, j], j, str(j))
        else:
            self._some_are_small = True

    def _add_frame(self, frame: Any) -> None:
        kinds = set(frame.schema.values())
        # All columns at once are looked at much faster than one by one.
        if not any(map(_is_wide, kinds)) or not may_be_large(np.asarray(frame.to_numpy())):
            self._some_are_small = True
            return
        for j, series in enumerate(frame.iter_columns()):
            self.add_series(series, j, repr(str(series.name)))

    def add_series(self, series: Any, j: int, label: str) -> None:
        """Look at column j of a dataframe, which is called so."""
        if _is_wide(series.dtype):
            present = series.drop_nulls()
            try:
                values = np.asarray(present.to_numpy())
            except Exception:  # a type that NumPy has not
                values = np.array(present.to_list(), dtype=object)
            self.add_column(values, j, label)

    def add_column(self, values: HostArray, j: int, label: str) -> None:
        """Look at column j, which is called so."""
        found = _whole_numbers(values, label)
        if found is not None:
            self._columns[j] = found if j not in self._columns else self._columns[j].merged(found)

    def merge(self, other: Digits) -> None:
        """Take over what was seen of other rows."""
        for j, found in other._columns.items():
            self._columns[j] = found if j not in self._columns else self._columns[j].merged(found)
        self._some_are_small |= other._some_are_small

    def finish(self) -> None:
        """Refuse columns, after the last block, whose differences are lost."""
        for found in self._columns.values():
            if self._some_are_small:
                found = found.merged(_Whole("", min(found.low, EXACT), max(found.high, -EXACT), None))
            if found.are_coarse:
                raise ValueError(
                    f"X has whole numbers in column {found.label} whose differences are lost in float64, "
                    f"from {found.low} to {found.high}: subtract {found.low} from them before fitting."
                )


def in_float64(values: HostArray) -> HostArray:
    """The nearest numbers in float64; those beyond its range are infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            return np.asarray(values, dtype=np.float64)
        except OverflowError:  # whole numbers of Python
            values = np.asarray(values, dtype=object)
            return np.array([nearest_float(value) for value in values.ravel()]).reshape(values.shape)


def nearest_float(value: Any) -> float:
    """A number in float64, infinite beyond its range."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def are_rounded(values: HostArray) -> bool:
    """Whether the differences of whole numbers, (n,), are lost in float64."""
    found = _whole_numbers(values, "")
    return found is not None and found.are_coarse


def _is_wide(kind: Any) -> bool:
    """Whether a type of narwhals has whole numbers that float64 has not."""
    return kind == nw.Object or (kind.is_integer() and kind not in NARROW)


def may_be_large(values: HostArray) -> bool:
    """Whether there may be whole numbers that float64 has not, also where they are rounded already."""
    if values.dtype.kind == "O":
        return True
    if values.dtype.kind not in "iuf" or values.dtype.itemsize < 8 or not values.size:
        return False
    low, high = np.fmin.reduce(values, axis=None), np.fmax.reduce(values, axis=None)
    return bool(high >= EXACT or low <= -EXACT)


def _whole_numbers(values: HostArray, label: str) -> _Whole | None:
    """What there is to know of whole numbers; None where there are none in a type of large ones."""
    if values.dtype.kind == "O":
        whole = [int(value) for value in values.tolist() if isinstance(value, Integral)]
        rounded = next((value for value in whole if not is_exact(value)), None)
        return _Whole(label, min(whole), max(whole), rounded) if whole else None
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return None
    low, high, first = int(values.min()), int(values.max()), None
    if low < -EXACT or high > EXACT:
        first = next(_not_exact(values), None)
    return _Whole(label, low, high, first)


def is_exact(value: int) -> bool:
    """Whether a whole number has no more than 53 binary digits before its last zeros."""
    size = abs(value)
    return size <= EXACT or size // (size & -size) <= EXACT


def _not_exact(values: HostArray) -> Iterator[int]:
    """Values of a NumPy array of whole numbers that have more than 53 binary digits."""
    size = np.abs(values).view(np.uint64) if values.dtype.kind == "i" else values.astype(np.uint64)
    last_digit = np.maximum(size & (~size + np.uint64(1)), np.uint64(1))
    for place in np.flatnonzero(size // last_digit > np.uint64(EXACT)):
        yield int(values[place])
