"""Dates in text, as days since 1970-01-01."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import NamedTuple

import numpy as np

from l1lsmi._columns.cells import Values
from l1lsmi._columns.numbers import NEARLY_ALL

MICROSECONDS_PER_DAY = 86_400e6
ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:.*)?", re.ASCII)
FIRST_DAY = date(1970, 1, 1)
#: Levels of which at least one is a date, where nearly all of them are.
N_FIRST = 20


class DateFormat(NamedTuple):
    """How dates are written.

    Attributes
    ----------
    pattern : re.Pattern
    places : tuple of int
        Which groups are the year, the month and the day.
    """

    pattern: re.Pattern[str]
    places: tuple[int, int, int]

    def read(self, cell: str) -> float | None:
        """The days since 1970-01-01; None where it is no date."""
        found = self.pattern.fullmatch(cell)
        if found is None:
            return None
        try:
            return float((date(*(int(found[place]) for place in self.places)) - FIRST_DAY).days)
        except ValueError:  # there is no such day
            return None


def _read_iso(cell: str, zone: bool) -> float | None:
    if ISO_DATE.fullmatch(cell) is None:
        return None
    try:
        moment = datetime.fromisoformat(cell)
        if (moment.tzinfo is not None) != zone:
            return None
        elapsed = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    seconds = 86_400 * elapsed.days + elapsed.seconds
    return (1_000_000 * seconds + elapsed.microseconds) / MICROSECONDS_PER_DAY


def _pattern(sign: str, year: str) -> re.Pattern[str]:
    number = r"(\d{1,2})"
    parts = (r"(\d{4})", number, number) if year == "first" else (number, number, r"(\d{4})")
    return re.compile(re.escape(sign).join(parts), re.ASCII)


#: How dates are written, by a name for messages.
FORMATS: dict[str, Callable[[str], float | None]] = {
    "year-month-day": lambda cell: _read_iso(cell, zone=False),
    "year-month-day with a time zone": lambda cell: _read_iso(cell, zone=True),
    "day.month.year": DateFormat(_pattern(".", "last"), (3, 2, 1)).read,
    "year/month/day": DateFormat(_pattern("/", "first"), (1, 2, 3)).read,
    "day/month/year": DateFormat(_pattern("/", "last"), (3, 2, 1)).read,
    "month/day/year": DateFormat(_pattern("/", "last"), (3, 1, 2)).read,
}


def find_format(levels: Sequence[str], counts: Values) -> tuple[str | None, bool]:
    """The format by which nearly all cells are dates, and whether days and months are ambiguous.

    Parameters
    ----------
    levels : sequence of str
        Different text, none of it missing.
    counts : ndarray of int
        Number of cells of each level.

    Returns
    -------
    name : str or None
        None where there is no such format, or two that give different dates.
    is_ambiguous : bool

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi._columns.dates import find_format
    >>> find_format(["1.2.2020", "13.2.2020"], np.array([1, 1]))
    ('day.month.year', False)
    >>> find_format(["1/2/2020", "2/3/2020"], np.array([1, 1]))
    (None, True)
    """
    if not any(read(level) is not None for level in levels[:N_FIRST] for read in FORMATS.values()):
        return None, False
    read = {name: read_dates(levels, name) for name in FORMATS}
    n_read = {name: counts[~np.isnan(days)].sum() for name, days in read.items()}
    most = max(n_read.values())
    if most < NEARLY_ALL * counts.sum():
        return None, False
    best = [name for name, count in n_read.items() if count == most]
    same = all(np.array_equal(read[name], read[best[0]], equal_nan=True) for name in best)
    return (best[0], False) if same else (None, True)


def read_dates(levels: Sequence[str], name: str) -> Values:
    """The days of levels, NaN where a level is no date."""
    days = [FORMATS[name](level) for level in levels]
    return np.array([np.nan if day is None else day for day in days], dtype=np.float64)
