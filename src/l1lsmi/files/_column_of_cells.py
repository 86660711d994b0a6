"""Cells as a column of a table, read as what they look like."""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi._columns.cells import Cells
from l1lsmi._columns.rules import Settings, learn
from l1lsmi._columns.words import reading_notes
from l1lsmi.files.table import Column, Values


def column_of_cells(
    name: str,
    cells: Cells,
    decimal: str,
    raw: Any = None,
    na_values: tuple[str, ...] = (),
    notes: list[str] | None = None,
) -> Column:
    """A column of cells.

    Parameters
    ----------
    name : str
    cells : Cells
    decimal : {".", ","}
        As in `l1lsmi.preparation.TablePreparation`.
    raw : array or None
        The values in the file.
    na_values : tuple of str
        As in `l1lsmi.preparation.TablePreparation`.
    notes : list of str or None
        What is decided about the cells is added to it.

    Examples
    --------
    >>> from l1lsmi._columns.cells import text_cells
    >>> column_of_cells("paid", text_cells(["$1,250", "$80", None]), ".")
    <'paid': number, 3 rows, 1 missing>
    """
    rule, reading = learn(cells, Settings(na_values, decimal))
    if notes is not None:
        notes += reading_notes({name: reading})
    read = reading.cells
    n_missing = int(np.count_nonzero(read.missing))
    values, words = values_of_cells(read), ("0", "1")
    if read.has_levels and rule.kind == "yes/no":
        words = (read.levels[0], read.levels[1])
        values = np.where(read.missing, np.nan, read.values.astype(np.float64))
    numbers = rule.numbers
    if numbers is not None and not reading.n_unread and numbers.words and not numbers.unit:
        raw = None  # not written as in the file, as a comma may be something else there
    return Column(name, rule.kind, values, n_missing, words, raw=raw, cells=cells)


def values_of_cells(cells: Cells) -> Values:
    """Numbers; or levels as objects, None where missing.

    Equal levels are one object, which takes little memory.
    """
    if not cells.has_levels:
        return cells.values
    levels = np.empty(len(cells.levels) + 1, dtype=object)
    levels[:-1] = cells.levels
    return np.asarray(levels[cells.values])
