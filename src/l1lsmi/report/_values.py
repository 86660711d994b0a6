"""Values of a feature of any kind as a report shows them: numbers, or named levels."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._validation.columns import Columns
from l1lsmi.explain._values import DAYS_SINCE, ColumnValues, column_values
from l1lsmi.report._names import printable
from l1lsmi.report._numbers import in_unit, sig

#: Levels of a category that are shown, the most frequent ones; the others are one group.
MAX_LEVELS = 8
#: A number with at most this many different values is shown value by value.
MAX_VALUES = 6
MAX_LEVEL_NAME = 80
MISSING = "missing"


class ShownColumn(ColumnValues):
    """One column of a report."""

    def groups(self) -> list[tuple[str, HostArray]] | None:
        """Names and rows of the levels or values; None for numbers with many values."""
        values, counts = np.unique(self.x[self.has_value], return_counts=True)
        shown = np.arange(values.size)
        if self.levels is not None:
            shown = np.sort(np.argsort(-counts, kind="stable")[:MAX_LEVELS])
            found = [(printable(self.levels[int(values[i])], MAX_LEVEL_NAME), values[i]) for i in shown]
        elif values.size <= MAX_VALUES:
            found = [(self._label(value), value) for value in values]
        else:
            return None
        groups = [(name, np.flatnonzero(self.x == value)) for name, value in found]
        n_others = values.size - shown.size
        if n_others:
            rest = self.has_value & ~np.isin(self.x, values[shown])
            name = f"{n_others:,} other{'' if n_others == 1 else 's'}"
            groups.append((name, np.flatnonzero(rest)))
        if self.n_missing:
            groups.append((MISSING, np.flatnonzero(~self.has_value)))
        return groups

    def _label(self, value: float) -> str:
        if self.unit == DAYS_SINCE:
            return in_unit(float(value), self.unit)
        return f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e6 else sig(float(value))


def shown_column(X: Any, x: Any, columns: Columns | None, dates: Collection[int], j: int) -> ShownColumn:
    """A column of X, which has been read as `check_columns` does; ``dates`` are columns that count days."""
    column = column_values(X, x, columns, j)
    return ShownColumn(column.x, column.levels, DAYS_SINCE if j in dates else column.unit)
