"""Columns of a table as they are decoded, in any order; the kinds of many columns of numbers at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from l1lsmi._columns.use import remark_notes
from l1lsmi.files.table import Column, Values

#: Larger whole numbers are not all distinct in float64.
MAX_EXACT = 2.0**53
ROUNDED = "with whole numbers that are rounded to 53 bits"


class TableBuilder:
    """Collects columns in any order, with notes about them.

    Parameters
    ----------
    names : sequence of str
        Of all columns, in the order of the file.

    Attributes
    ----------
    decimal : {".", ","}
        As in `l1lsmi.preparation.TablePreparation`.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.decimal = "."
        self._columns: dict[int, Column] = {}
        self._remarks: dict[str, list[str]] = {}
        self._notes: list[str] = []

    def add(self, index: int, kind: str, values: Values, n_missing: int, **more: Any) -> None:
        """Make a column, and set it at an index."""
        self._columns[index] = Column(self.names[index], kind, values, n_missing, **more)

    def set(self, index: int, column: Column) -> None:
        """Set the column at an index."""
        self._columns[index] = column

    def change(self, index: int, function: Callable[[Column], Column]) -> None:
        """Replace a column by a function of it."""
        self._columns[index] = function(self._columns[index])

    def exclude(self, index: int) -> None:
        """Mark a column that is no feature unless it is named in ``only``."""
        self.change(index, lambda column: replace(column, feature=False))

    def add_note(self, sentence: str) -> None:
        """Add a note about the whole table."""
        self._notes.append(sentence)

    def add_remark(self, index: int, text: str) -> None:
        """Add a remark about a column; columns with the same remark share a note."""
        self._remarks.setdefault(text, []).append(self.names[index])

    @property
    def columns(self) -> list[Column]:
        """The columns in the order of the file."""
        return [self._columns[index] for index in sorted(self._columns)]

    @property
    def notes(self) -> list[str]:
        """The notes, and one for each remark with the names of its columns."""
        return self._notes + remark_notes(
            (name, text) for text, names in self._remarks.items() for name in names
        )


def add_numbers(
    table: TableBuilder,
    indices: Sequence[int],
    matrix: Values,
    raws: Sequence[Any] | None,
    words: tuple[str, str] = ("0", "1"),
    varying: str = "",
) -> None:
    """Add columns of numbers.

    Parameters
    ----------
    table : TableBuilder
        They are added to this table.
    indices : sequence of int
    matrix : ndarray of float64, shape (len(indices), n_rows)
        One row for each column of the file. Infinite values are set to NaN in place.
    raws : sequence of arrays or None
        The values in the file; None where they are the same.
    words : tuple of two str
        What 0 and 1 are called in the file.
    varying : str
        The kind of columns that are not constant, where it is neither number nor yes/no.
    """
    infinite = np.isinf(matrix)
    for row in np.flatnonzero(infinite.any(axis=1)).tolist():
        table.add_remark(indices[row], "with infinite values, which count as missing")
    matrix[infinite] = np.nan
    n_missing = np.isnan(matrix).sum(axis=1)
    kinds = _kinds(matrix, n_missing)
    for row, (index, kind, count) in enumerate(zip(indices, kinds, n_missing.tolist(), strict=True)):
        kind = varying if varying and kind in ("number", "yes/no") else kind
        raw = None if raws is None else raws[row]
        table.add(index, kind, matrix[row], count, words=words, raw=raw)


def _kinds(matrix: Values, n_missing: Values) -> list[str]:
    # fmin and fmax ignore NaN, without a warning where there is nothing else.
    low, high = np.fmin.reduce(matrix, axis=1), np.fmax.reduce(matrix, axis=1)
    binary = (low == 0) & (high == 1)
    if binary.any():
        rows = matrix[binary]
        binary[binary] = ((rows == 0) | (rows == 1) | np.isnan(rows)).all(axis=1)
    rules = [n_missing == matrix.shape[1], low == high, binary]
    kinds: list[str] = np.select(rules, ["empty", "constant", "yes/no"], "number").tolist()
    return kinds
