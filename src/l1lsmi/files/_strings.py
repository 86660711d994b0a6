"""Columns of strings: numbers, dates and yes/no are parsed, the others are categories or text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from l1lsmi._columns.arrow import string_cells
from l1lsmi._columns.cells import MISSING as MISSING_WORDS
from l1lsmi.files._column_of_cells import column_of_cells
from l1lsmi.files._table_builder import MAX_EXACT, ROUNDED, TableBuilder, add_numbers
from l1lsmi.files.table import Values

MISSING = pa.array(sorted(MISSING_WORDS), pa.large_string())
#: Cells that are parsed in one call: enough to make the overhead per column small, but not the memory large.
BATCH_SIZE = 1 << 22
FIRST_ROWS = 5

#: Whole numbers that may have more than 53 bits.
LONG = r"^\s*[+-]?\d{16,}\s*$"
NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?([iI]nf|[iI]nfinity|INF)"


def add_strings(
    table: TableBuilder, indices: Sequence[int], arrays: Sequence[Any], raws: Sequence[Any], decimal: str
) -> None:
    """Add columns of strings, each as the kind that all of its strings can be parsed as.

    Parameters
    ----------
    table : TableBuilder
        They are added to this table.
    indices : sequence of int
    arrays : sequence of pyarrow.Array of strings
    raws : sequence of arrays
        The values in the file.
    decimal : {".", ","}
        As in `l1lsmi.preparation.TablePreparation`.
    """
    n_rows = len(arrays[0]) if arrays else 1
    step = max(1, BATCH_SIZE // n_rows)
    for start in range(0, len(indices), step):
        cells = _cells(arrays[start : start + step])
        numeric, matrix = _parse_numbers(cells, n_rows)
        for j in np.flatnonzero(~numeric).tolist():
            index, raw = indices[start + j], raws[start + j]
            column = column_of_cells(table.names[index], string_cells(arrays[start + j]), decimal, raw)
            table.set(index, column)
        chosen = [start + j for j in np.flatnonzero(numeric).tolist()]
        for j, values in zip(chosen, matrix, strict=True):
            if (np.abs(values) > MAX_EXACT).any() and pc.any(
                pc.match_substring_regex(arrays[j], LONG)
            ).as_py():
                table.add_remark(indices[j], ROUNDED)
        add_numbers(table, [indices[j] for j in chosen], matrix, [raws[j] for j in chosen])


def strip(strings: Any) -> Any:
    """Strings without spaces around them, null where they stand for a missing value."""
    stripped = pc.utf8_trim_whitespace(strings.cast(pa.large_string()))
    is_missing = pc.is_in(stripped, value_set=MISSING)
    return pc.if_else(is_missing, pa.scalar(None, pa.large_string()), stripped)


def _cells(arrays: Sequence[Any]) -> Any:
    """The cells of some columns in one array, column by column."""
    kind = pa.large_string()
    # A cast to the same type is slow for very many columns.
    return strip(pa.concat_arrays([array if array.type == kind else array.cast(kind) for array in arrays]))


def _parse_numbers(cells: Any, n_rows: int) -> tuple[Values, Values]:
    """Which columns hold only numbers, and the numbers, one row for each of these columns."""
    numeric = np.ones(len(cells) // n_rows, dtype=bool)
    # A check of the first rows saves parsing most of the columns that are not numbers.
    starts = np.arange(numeric.size)[:, None] * n_rows
    first = cells.take(pa.array((starts + np.arange(min(n_rows, FIRST_ROWS))).ravel()))
    numeric &= _are_numbers(first, numeric.size)
    chosen = _columns_where(cells, numeric, n_rows)
    try:
        numbers = chosen.cast(pa.float64())
    except pa.ArrowInvalid:
        # At least one cell is not a number: keep the columns without such cells.
        good = _are_numbers(chosen, int(numeric.sum()))
        numeric[numeric] = good
        chosen = _columns_where(chosen, good, n_rows)
        numbers = pc.utf8_ltrim(chosen, characters="+").cast(pa.float64())
    return numeric, np.array(_to_numpy(numbers).reshape(-1, n_rows), dtype=np.float64)


def _are_numbers(cells: Any, n_columns: int) -> Values:
    matches = pc.match_substring_regex(cells, f"^({NUMBER})$").fill_null(True)
    return np.asarray(_to_numpy(matches).reshape(n_columns, -1).all(axis=1))


def _columns_where(cells: Any, chosen: Values, n_rows: int) -> Any:
    return cells if chosen.all() else cells.filter(pa.array(np.repeat(chosen, n_rows)))


def _to_numpy(array: Any) -> Values:
    values: Values = array.to_numpy(zero_copy_only=False)
    return values
