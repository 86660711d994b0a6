"""Columns as they are found, and the kinds of those that hold numbers: all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from l1lsmi.files.problem import counted, listed
from l1lsmi.files.table import Column, Values


class Columns:
    """Columns as they are found, in any order, with what is to be said about them.

    Parameters
    ----------
    names : sequence of str
        Of all columns, in the order of the file.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.found: dict[int, Column] = {}
        self.remarks: dict[str, list[str]] = {}
        self.said: list[str] = []

    def add(self, place: int, kind: str, values: Values, n_missing: int, **more: Any) -> None:
        """A column is known."""
        self.found[place] = Column(self.names[place], kind, values, n_missing, **more)

    def remark(self, place: int, words: str) -> None:
        """Something is to be said about a column."""
        self.remarks.setdefault(words, []).append(self.names[place])

    def say(self, sentence: str) -> None:
        """Something is to be said about the whole table."""
        self.said.append(sentence)

    def set_aside(self, place: int) -> None:
        """A column is no feature unless it is asked for."""
        self.found[place] = replace(self.found[place], feature=False)

    def in_order(self) -> list[Column]:
        """The columns in the order of the file."""
        return [self.found[place] for place in sorted(self.found)]

    @property
    def notes(self) -> list[str]:
        """What was said, and one sentence for each remark, with the names of its columns."""
        return self.said + [
            f"{counted(len(names), 'column')} {words}: {listed(names)}."
            for words, names in self.remarks.items()
        ]


def add_numbers(
    columns: Columns,
    places: Sequence[int],
    matrix: Values,
    raws: Sequence[Any] | None,
    words: tuple[str, str] = ("0", "1"),
    varying: str = "",
) -> None:
    """Add columns of numbers.

    Parameters
    ----------
    columns : Columns
        They are added to these.
    places : sequence of int
    matrix : ndarray of float64, shape (len(places), n_rows)
        One row for each column of the file. Infinite values are made NaN in place.
    raws : sequence of arrays or None
        None where the numbers are what the file holds.
    words : tuple of two str
        How 0 and 1 are called in the file.
    varying : str
        The kind of columns that vary, where it is known to be another than number or yes/no.
    """
    infinite = np.isinf(matrix)
    for row in np.flatnonzero(infinite.any(axis=1)).tolist():
        columns.remark(places[row], "with infinite values, which count as missing")
    if infinite.any():
        matrix[infinite] = np.nan
    n_missing = np.isnan(matrix).sum(axis=1)
    kinds = _kinds(matrix, n_missing)
    for row, (place, kind, count) in enumerate(zip(places, kinds, n_missing.tolist(), strict=True)):
        kind = varying if varying and kind in ("number", "yes/no") else kind
        raw = None if raws is None else raws[row]
        columns.add(place, kind, matrix[row], count, words=words, raw=raw)


def _kinds(matrix: Values, n_missing: Values) -> list[str]:
    # fmin and fmax pass over NaN, and say nothing where there is nothing else.
    low, high = np.fmin.reduce(matrix, axis=1), np.fmax.reduce(matrix, axis=1)
    binary = (low == 0) & (high == 1)
    if binary.any():
        rows = matrix[binary]
        binary[binary] = ((rows == 0) | (rows == 1) | np.isnan(rows)).all(axis=1)
    rules = [n_missing == matrix.shape[1], low == high, binary]
    kinds: list[str] = np.select(rules, ["empty", "constant", "yes/no"], "number").tolist()
    return kinds
