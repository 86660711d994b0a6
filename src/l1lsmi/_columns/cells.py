"""The cells of one column before they are read: numbers, dates, categories or text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[Any]

#: Text that stands for a missing value; the last are errors of formulas in Excel.
MISSING = frozenset(
    [
        *("", "NA", "N/A", "n/a", "n.a.", "N.A.", "#N/A", "#NA", "NaN", "nan", "NaT", "<NA>"),
        *("null", "NULL", "Null", "?", ".", "-", "--", "\N{EN DASH}", "\N{EM DASH}"),
        *("#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!"),
    ]
)
#: Signs that are missing values, but not beside their opposite, as in results of tests.
MINUS, PLUS = ("-", "--", "\N{EN DASH}", "\N{EM DASH}"), ("+", "++")
#: Types of cells that are no features.
NESTED = (bytes, bytearray, list, tuple, dict, set, frozenset, complex, np.ndarray)


@dataclass(frozen=True, eq=False, slots=True)
class Cells:
    """The cells of a column.

    Attributes
    ----------
    kind : str
        "number", "date" (days since 1970-01-01), "yes/no" (0 and 1), "category", "text" or "other".
    values : ndarray of shape (n_rows,)
        float64, NaN where missing. Of categories and text the number of the level, -1 where missing.
    levels : tuple of str
        Of categories in the order that the data give, of text in the order of their first rows.
    ordered : bool
        Whether the levels of a category have an order.
    type_name : str
        The type of cells that are no features.

    Examples
    --------
    >>> from l1lsmi._columns.cells import text_cells
    >>> cells = text_cells(["b", " a", None, "b"])
    >>> cells.levels, cells.values.tolist()
    (('b', 'a'), [0, 1, -1, 0])
    """

    kind: str
    values: Values
    levels: tuple[str, ...] = ()
    ordered: bool = False
    type_name: str = ""

    @property
    def type_word(self) -> str:
        """The type without what is inside of it, such as names of a structure, which may be anything."""
        return re.sub(r"\W.*", "", self.type_name, flags=re.DOTALL)

    @property
    def has_levels(self) -> bool:
        """Whether the values are numbers of levels."""
        return self.kind in ("category", "text")

    @property
    def missing(self) -> Values:
        """Which rows have no value, as a mask."""
        if self.kind == "other":
            return np.zeros(len(self.values), dtype=bool)
        return np.asarray(self.values < 0 if self.has_levels else np.isnan(self.values))


def number_cells(values: Values) -> Cells:
    """Numbers of any type."""
    return Cells("number", np.asarray(values, dtype=np.float64))


def text_cells(items: Sequence[Any]) -> Cells:
    """Objects as text; lists, bytes and the like are of another kind.

    Parameters
    ----------
    items : sequence
        Missing where an object is None or not equal to itself.
    """
    index: dict[Any, int] = {}
    try:
        # True, 1 and 1.0 are equal, and different text.
        codes = [
            index.setdefault(item if type(item) is str else (type(item), item), len(index)) for item in items
        ]
    except TypeError:  # of objects without a hash
        nested = next((type(item).__name__ for item in items if isinstance(item, NESTED)), "object")
        return Cells("other", np.zeros(len(items), dtype=np.int64), type_name=nested)
    values = np.array(codes, dtype=np.int64)
    objects = [key if type(key) is str else key[1] for key in index]
    for item in objects:
        if isinstance(item, NESTED):
            return Cells("other", values, type_name=type(item).__name__)
    return with_levels("text", values, [_as_text(item) for item in objects])


def with_levels(kind: str, codes: Values, levels: Sequence[str | None], ordered: bool = False) -> Cells:
    """Cells of levels, without spaces around them; equal levels become one, and None is missing."""
    index: dict[str, int] = {}
    new = np.empty(len(levels) + 1, dtype=np.int64)
    new[-1] = -1  # the code -1 is the last one
    for code, level in enumerate(levels):
        level = None if level is None else level.strip()
        new[code] = -1 if level is None else index.setdefault(level, len(index))
    return Cells(kind, new[codes], tuple(index), ordered)


def without_missing_words(cells: Cells, na_values: Sequence[str]) -> Cells:
    """Cells in which text that stands for a missing value is missing.

    Parameters
    ----------
    cells : Cells
    na_values : sequence of str
        Text that stands for a missing value beside the usual ones; of those that are numbers, the number.
    """
    if not cells.has_levels:
        return _without_numbers(cells, na_values)
    words = {*MISSING, *(word.strip() for word in na_values)}
    if any(level in PLUS for level in cells.levels):
        words -= {*MINUS} - {*na_values}
    if words.isdisjoint(cells.levels):
        return cells
    kept = [None if level in words else level for level in cells.levels]
    return with_levels(cells.kind, cells.values, kept, cells.ordered)


def _without_numbers(cells: Cells, na_values: Sequence[str]) -> Cells:
    if cells.kind != "number" or not na_values:
        return cells
    numbers = [number for word in na_values if (number := _number(word)) is not None]
    values = np.where(np.isin(cells.values, numbers), np.nan, cells.values)
    return Cells("number", values)


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def as_text(cells: Cells) -> Cells:
    """Numbers, dates and yes/no as text, whole numbers without a point; other cells as they are."""
    if cells.kind == "yes/no":
        codes = np.where(cells.missing, -1, cells.values).astype(np.int64)
        return Cells("text", codes, ("false", "true"))
    if cells.kind not in ("number", "date"):
        return cells
    numbers, codes = np.unique(cells.values, return_inverse=True)  # NaN last, once
    write = _date_as_text if cells.kind == "date" else _as_text
    levels = [None if number != number else write(number) for number in numbers.tolist()]
    return with_levels("text", codes, levels)


def _date_as_text(days: float) -> str:
    moment = np.datetime64(round(days * 86_400e6), "us")
    return str(moment.astype("datetime64[D]") if days.is_integer() else moment)


def _as_text(item: Any) -> str | None:
    if item is None or item != item:
        return None
    if isinstance(item, (float, np.floating)) and float(item).is_integer():
        return f"{item:.0f}"
    return str(item)
