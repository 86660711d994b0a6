"""Values of a feature of any kind as a report shows them: numbers, or named levels."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._validation.columns import Columns
from l1lsmi.explain._values import DAYS_SINCE, ColumnValues, column_values
from l1lsmi.report._names import printable
from l1lsmi.report._numbers import MANY_DIGITS, in_unit, sig

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
            # The place of "1 other" is as good for its name.
            most = values.size if values.size == MAX_LEVELS + 1 else MAX_LEVELS
            shown = np.sort(np.argsort(-counts, kind="stable")[:most])
            found = [(printable(self.levels[int(values[i])], MAX_LEVEL_NAME), values[i]) for i in shown]
        elif values.size <= MAX_VALUES:
            found = [(self._label(value), value) for value in values]
        else:
            return None
        groups = [(name, np.flatnonzero(self.x == value)) for name, value in found]
        n_others = values.size - shown.size
        if n_others:
            rest = self.has_value & ~np.isin(self.x, values[shown])
            name = f"{n_others:,} others"
            groups.append((name, np.flatnonzero(rest)))
        if self.n_missing:
            groups.append((MISSING, np.flatnonzero(~self.has_value)))
        return groups

    def _label(self, value: float) -> str:
        if self.unit == DAYS_SINCE:
            return in_unit(float(value), self.unit)
        if not float(value).is_integer() or abs(value) >= 1e6:
            return sig(float(value))
        return f"{value:,.0f}" if abs(value) >= MANY_DIGITS else f"{value:.0f}"


def shown_column(X: Any, x: Any, columns: Columns | None, dates: Collection[int], j: int) -> ShownColumn:
    """A column of X, which has been read as `check_columns` does; ``dates`` are columns that count days."""
    column = column_values(X, x, columns, j)
    return ShownColumn(column.x, column.levels, DAYS_SINCE if j in dates else column.unit)
