"""Columns of strings: numbers, dates and yes/no are parsed, the others are categories or text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from l1lsmi.files._table_builder import TableBuilder, add_numbers
from l1lsmi.files.table import MAX_LEVELS, Values

Comma = Literal["decimal", "thousands"] | None

#: Strings that stand for a missing value in every format; the last are errors of formulas in Excel.
MISSING = pa.array(
    [
        *("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NaT", "<NA>", "null", "NULL", "Null", "?"),
        *("#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!"),
    ],
    pa.large_string(),
)
#: Cells that are parsed in one call: enough to make the overhead per column small, but not the memory large.
BATCH_SIZE = 1 << 22
FIRST_ROWS = 5

NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?([iI]nf|[iI]nfinity|INF)"
NUMBER_WITH_COMMA = {
    "decimal": r"[+-]?(\d+|\d*,\d+)([eE][+-]?\d+)?",
    "thousands": r"[+-]?([1-9]\d{0,2}(,\d{3})+|\d+)(\.\d+)?",
}
COMMA_REMARK = {
    "decimal": "with a comma as the decimal sign",
    "thousands": "with commas between thousands",
}
BOOLEAN_WORDS = {("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t")}
ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
OTHER_DATE = r"\d{1,2}[./]\d{1,2}[./]\d{4}|\d{4}/\d{1,2}/\d{1,2}"
DATE_FORMATS = ("%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y")
MICROSECONDS_PER_DAY = 86_400e6


def add_strings(
    table: TableBuilder, indices: Sequence[int], arrays: Sequence[Any], raws: Sequence[Any], comma: Comma
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
    comma : "decimal", "thousands" or None
        What a comma in a number means.
    """
    n_rows = len(arrays[0]) if arrays else 1
    step = max(1, BATCH_SIZE // n_rows)
    for start in range(0, len(indices), step):
        cells = _cells(arrays[start : start + step])
        numeric, matrix = _parse_numbers(cells, n_rows)
        for j in np.flatnonzero(~numeric).tolist():
            column = cells.slice(j * n_rows, n_rows)
            _add_column(table, indices[start + j], column, raws[start + j], comma)
        chosen = [start + j for j in np.flatnonzero(numeric).tolist()]
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
    # A check of the first rows saves parsing most of the columns that are no numbers.
    starts = np.arange(numeric.size)[:, None] * n_rows
    first = cells.take(pa.array((starts + np.arange(min(n_rows, FIRST_ROWS))).ravel()))
    numeric &= _are_numbers(first, numeric.size)
    chosen = _columns_where(cells, numeric, n_rows)
    try:
        numbers = chosen.cast(pa.float64())
    except pa.ArrowInvalid:
        # At least one cell is no number: keep the columns without such cells.
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


def _add_column(table: TableBuilder, index: int, cells: Any, raw: Any, comma: Comma) -> None:
    """Add a column of which not all cells are plain numbers."""
    levels = pc.unique(cells.drop_null())
    first = str(levels[0])
    if first[:1].isdigit() or first[:1] in "+-,":
        if comma is not None and (numbers := _numbers_with_comma(cells, comma)) is not None:
            table.add_remark(index, COMMA_REMARK[comma])
            # Not written again as in the file, as another delimiter changes what a comma means.
            add_numbers(table, [index], numbers[None], None)
            return
        days, is_ambiguous = _parse_dates(cells, first)
        if is_ambiguous:
            table.add_remark(index, "with dates whose days and months are ambiguous, read as text")
        if days is not None:
            add_numbers(table, [index], days[None], [raw], varying="date")
            return
    if (spellings := _boolean_spellings(levels)) is not None:
        words, ones = spellings
        values = _to_numpy(pc.is_in(cells, value_set=ones)).astype(np.float64)
        values[_to_numpy(cells.is_null())] = np.nan
        add_numbers(table, [index], values[None], [raw], words=words)
        return
    n_missing = int(cells.null_count)
    kind = _string_kind(len(levels), len(cells) - n_missing)
    table.add(index, kind, _to_objects(cells), n_missing, raw=raw)


def _to_objects(cells: Any) -> Values:
    """Strings as objects, None where missing; equal strings are one object, which takes little memory."""
    encoded = cells.dictionary_encode()
    values = np.append(_to_numpy(encoded.dictionary), [None])
    return np.asarray(values[_to_numpy(encoded.indices.fill_null(-1))])


def _to_numpy(array: Any) -> Values:
    values: Values = array.to_numpy(zero_copy_only=False)
    return values


def _string_kind(n_levels: int, n_present: int) -> str:
    if n_levels == 1:
        return "constant"
    # Strings that are all different identify the rows.
    is_category = n_levels <= MAX_LEVELS and (n_levels < n_present or n_levels == 2)
    return "category" if is_category else "text"


def _boolean_spellings(levels: Any) -> tuple[tuple[str, str], Any] | None:
    """How no and yes are spelled, and all spellings of yes; None where the strings are others."""
    if len(levels) > 8:  # more than the ways to capitalise two short words
        return None
    spellings = levels.to_pylist()
    pair = tuple(sorted({word.lower() for word in spellings}))
    if pair not in BOOLEAN_WORDS:
        return None
    zeros, ones = ([word for word in spellings if word.lower() == lower] for lower in pair)
    # Programs capitalise true and false differently, and the same table should have the same labels.
    words = ("false", "true") if pair == ("false", "true") else (zeros[0], ones[0])
    return words, pa.array(ones, levels.type)


def _numbers_with_comma(cells: Any, comma: str) -> Values | None:
    if not pc.all(pc.match_substring_regex(cells, f"^({NUMBER_WITH_COMMA[comma]})$")).as_py():
        return None
    unsigned = pc.utf8_ltrim(cells, characters="+")
    plain = pc.replace_substring(unsigned, ",", "." if comma == "decimal" else "")
    return np.array(_to_numpy(plain.cast(pa.float64())), dtype=np.float64)


def _parse_dates(cells: Any, first: str) -> tuple[Values | None, bool]:
    """Days since 1970-01-01 where all cells are dates; and whether they are dates, but ambiguous."""
    if ISO_DATE.match(first):
        for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
            try:
                return days_since_epoch(cells.cast(kind)), False
            except pa.ArrowInvalid:
                continue
        return None, False
    if not pc.all(pc.match_substring_regex(cells, f"^({OTHER_DATE})$")).as_py():
        return None, False
    parsed = [pc.strptime(cells, format=form, unit="s", error_is_null=True) for form in DATE_FORMATS]
    dates = [days_since_epoch(stamps) for stamps in parsed if stamps.null_count == cells.null_count]
    if not dates:
        return None, False
    is_unique = all(np.array_equal(days, dates[0], equal_nan=True) for days in dates)
    return (dates[0], False) if is_unique else (None, True)


def days_since_epoch(stamps: Any) -> Values:
    """Dates and times of Arrow as days since 1970-01-01, NaN where missing."""
    unit = pa.timestamp("us", getattr(stamps.type, "tz", None))
    microseconds = stamps.cast(unit, safe=False).cast(pa.int64())
    return np.asarray(_to_numpy(microseconds), dtype=np.float64) / MICROSECONDS_PER_DAY
