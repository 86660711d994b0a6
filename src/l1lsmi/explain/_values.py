"""Values of a column of any kind: numbers, or the numbers of named levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from l1lsmi._arrays import HostArray, gather, to_numpy
from l1lsmi._validation.columns import Columns, is_frame, levels_in_order

DAYS_SINCE = "days since 1970-01-01"
DAYS = "days"
#: Rows for each different number on average, from which on the numbers repeat.
REPEATED = 3


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """One column.

    Attributes
    ----------
    x : numpy.ndarray of shape (n,)
        Numbers, or numbers of levels; NaN where missing.
    levels : sequence or None
        Names of the levels by their numbers; None for numbers.
    unit : str or None
        What numbers count, of dates and durations.
    """

    x: HostArray
    levels: Sequence[Any] | None = None
    unit: str | None = None

    @property
    def has_value(self) -> HostArray:
        return ~np.isnan(self.x)

    @property
    def n_missing(self) -> int:
        return int(np.isnan(self.x).sum())


def gap_of_repeated(values: HostArray) -> float:
    """Smallest difference of numbers that repeat, such as ages in years; 0 where most are different."""
    known = values[np.isfinite(values)]
    distinct = np.unique(known)
    repeat = distinct.size > 1 and known.size >= REPEATED * distinct.size
    return float(np.diff(distinct).min()) if repeat else 0.0


def column_values(X: Any, x: Any, columns: Columns | None, j: int) -> ColumnValues:
    """A column of X, which has been read as `check_columns` does."""
    read = gather(x, np.arange(x.shape[0]), np.array([j]))
    values = np.asarray(to_numpy(read), dtype=np.float64)[:, 0]
    if columns is not None and columns.levels[j] is not None:
        return ColumnValues(values, columns.levels[j])
    if not is_frame(X):
        return ColumnValues(values)
    frame = nw.from_native(X, eager_only=True)
    series = frame[frame.columns[j]]
    if series.dtype == nw.Boolean:
        return ColumnValues(values, ("no", "yes"))
    if series.dtype in (nw.Date, nw.Datetime):
        return ColumnValues(values, unit=DAYS_SINCE)
    if series.dtype in (nw.Duration, nw.Time):
        return ColumnValues(values, unit=DAYS)
    return ColumnValues(values, levels_in_order(series))
