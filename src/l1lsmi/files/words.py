"""Columns of words: numbers, dates and yes/no in writing, categories, and text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from l1lsmi.files.found import Columns, add_numbers
from l1lsmi.files.libraries import arrow, compute
from l1lsmi.files.table import Values

Comma = Literal["decimal", "thousands"] | None

#: Words that stand for a missing value, spelled exactly so, in every format; the last are Excel's, which
#: shows them where a formula has no value.
MISSING = (
    *("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NaT", "<NA>", "null", "NULL", "Null", "?"),
    *("#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!"),
)
#: Words with more levels than this are text rather than a category.
MOST_LEVELS = 20
#: Cells that are looked at together: as many as make the work per column small, but not the memory large.
BATCH = 1 << 22
FIRST_ROWS = 5

NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?([iI]nf|[iI]nfinity|INF)"
BY_COMMA = {
    "decimal": r"[+-]?(\d+|\d*,\d+)([eE][+-]?\d+)?",
    "thousands": r"[+-]?([1-9]\d{0,2}(,\d{3})+|\d+)(\.\d+)?",
}
SAID_OF_COMMA = {
    "decimal": "with a comma as the decimal sign",
    "thousands": "with commas between thousands",
}
YES_NO = {("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t")}
ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
OTHER_DATE = r"\d{1,2}[./]\d{1,2}[./]\d{4}|\d{4}/\d{1,2}/\d{1,2}"
DATE_FORMATS = ("%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y")


def add_words(
    columns: Columns, places: Sequence[int], arrays: Sequence[Any], raws: Sequence[Any], comma: Comma
) -> None:
    """Add columns of words, each as what its words say.

    Parameters
    ----------
    columns : Columns
        They are added to these.
    places : sequence of int
    arrays : sequence of arrays of Arrow, of strings
    raws : sequence of arrays
        As they stand in the file.
    comma : "decimal", "thousands" or None
        What a comma inside of numbers means.
    """
    n_rows = len(arrays[0]) if arrays else 1
    step = max(1, BATCH // n_rows)
    for start in range(0, len(places), step):
        cells = _cells(arrays[start : start + step])
        numeric, matrix = _plain_numbers(cells, n_rows)
        for index in np.flatnonzero(~numeric).tolist():
            own = cells.slice(index * n_rows, n_rows)
            _add_one(columns, places[start + index], own, raws[start + index], comma)
        chosen = [start + index for index in np.flatnonzero(numeric).tolist()]
        add_numbers(columns, [places[index] for index in chosen], matrix, [raws[index] for index in chosen])


def _cells(arrays: Sequence[Any]) -> Any:
    """All cells of some columns below each other, without spaces around them, null where missing."""
    pa, pc = arrow(), compute()
    kind = pa.large_string()
    chunks = [chunk for array in arrays for chunk in getattr(array, "chunks", [array])]
    chunks = [chunk if chunk.type == kind else chunk.cast(kind) for chunk in chunks]
    cells = pc.utf8_trim_whitespace(pa.concat_arrays(chunks))
    return pc.if_else(pc.is_in(cells, value_set=pa.array(MISSING, kind)), pa.scalar(None, kind), cells)


def _plain_numbers(cells: Any, n_rows: int) -> tuple[Values, Values]:
    """Which columns hold nothing but numbers, and the numbers, one row for each of them."""
    pa, pc = arrow(), compute()
    numeric = np.ones(len(cells) // n_rows, dtype=bool)
    # A look at the first rows spares most columns of words the attempts below.
    starts = np.arange(numeric.size)[:, None] * n_rows
    few = cells.take(pa.array((starts + np.arange(min(n_rows, FIRST_ROWS))).ravel()))
    numeric &= _look_like_numbers(few, numeric.size)
    chosen = _columns_of(cells, numeric, n_rows)
    try:
        numbers = chosen.cast(pa.float64())
    except pa.ArrowInvalid:
        # One cell that is no number is enough to come here: find the columns that have none such.
        good = _look_like_numbers(chosen, int(numeric.sum()))
        numeric[numeric] = good
        chosen = _columns_of(chosen, good, n_rows)
        numbers = pc.utf8_ltrim(chosen, characters="+").cast(pa.float64())
    matrix = _numpy(numbers).reshape(-1, n_rows)
    return numeric, np.array(matrix, dtype=np.float64)


def _look_like_numbers(cells: Any, n_columns: int) -> Values:
    good = compute().match_substring_regex(cells, f"^({NUMBER})$").fill_null(True)
    return np.asarray(_numpy(good).reshape(n_columns, -1).all(axis=1))


def _columns_of(cells: Any, chosen: Values, n_rows: int) -> Any:
    return cells if chosen.all() else cells.filter(arrow().array(np.repeat(chosen, n_rows)))


def _add_one(columns: Columns, place: int, cells: Any, raw: Any, comma: Comma) -> None:
    """Add a column of which not all words are plain numbers."""
    levels = compute().unique(cells.drop_null())
    first = str(levels[0])
    if first[:1].isdigit() or first[:1] in "+-,":
        if comma is not None and (written := _numbers_with_comma(cells, comma)) is not None:
            columns.remark(place, SAID_OF_COMMA[comma])
            # raw is None, as with another delimiter the same words would read as something else.
            add_numbers(columns, [place], written[None], None)
            return
        days, is_ambiguous = _dates(cells, first)
        if is_ambiguous:
            columns.remark(place, "with dates whose days and months cannot be told apart, left as text")
        if days is not None:
            add_numbers(columns, [place], days[None], [raw], varying="date")
            return
    if (said := _yes_no(levels)) is not None:
        spelled, ones = said
        values = _numpy(compute().is_in(cells, value_set=ones)).astype(np.float64)
        values[_numpy(cells.is_null())] = np.nan
        add_numbers(columns, [place], values[None], [raw], words=spelled)
        return
    n_missing = int(cells.null_count)
    kind = _kind_of_words(len(levels), len(cells) - n_missing)
    columns.add(place, kind, _objects(cells), n_missing, raw=raw)


def _objects(cells: Any) -> Values:
    """Text as an array of objects, None where missing; equal values share one object."""
    encoded = cells.dictionary_encode()
    values = np.append(_numpy(encoded.dictionary), [None])
    return np.asarray(values[_numpy(encoded.indices.fill_null(-1))])


def _numpy(array: Any) -> Values:
    values: Values = array.to_numpy(zero_copy_only=False)
    return values


def _kind_of_words(n_levels: int, n_present: int) -> str:
    if n_levels == 1:
        return "constant"
    # Words that never come twice are names of rows.
    few = n_levels <= MOST_LEVELS and (n_levels < n_present or n_levels == 2)
    return "category" if few else "text"


def _yes_no(levels: Any) -> tuple[tuple[str, str], Any] | None:
    """How no and yes are spelled, and all spellings of yes; None where the words are others."""
    if len(levels) > 8:  # there are not so many ways to spell two short words
        return None
    spellings = levels.to_pylist()
    plain = tuple(sorted({word.lower() for word in spellings}))
    if plain not in YES_NO:
        return None
    zeros, ones = ([word for word in spellings if word.lower() == wanted] for wanted in plain)
    # Programs spell true and false in their own ways, and the same table should give the same labels.
    spelled = ("false", "true") if plain == ("false", "true") else (zeros[0], ones[0])
    return spelled, arrow().array(ones, levels.type)


def _numbers_with_comma(cells: Any, comma: str) -> Values | None:
    pa, pc = arrow(), compute()
    if not pc.all(pc.match_substring_regex(cells, f"^({BY_COMMA[comma]})$")).as_py():
        return None
    unsigned = pc.utf8_ltrim(cells, characters="+")
    plain = pc.replace_substring(unsigned, ",", "." if comma == "decimal" else "")
    return np.array(_numpy(plain.cast(pa.float64())), dtype=np.float64)


def _dates(cells: Any, first: str) -> tuple[Values | None, bool]:
    """Days since 1970-01-01 where all words are dates; and whether they are, but of two readings."""
    pa, pc = arrow(), compute()
    if ISO_DATE.match(first):
        for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
            try:
                return days_of(cells.cast(kind)), False
            except pa.ArrowInvalid:
                continue
        return None, False
    if not pc.all(pc.match_substring_regex(cells, f"^({OTHER_DATE})$")).as_py():
        return None, False
    parsed = [pc.strptime(cells, format=form, unit="s", error_is_null=True) for form in DATE_FORMATS]
    fitting = [stamps for stamps in parsed if stamps.null_count == cells.null_count]
    readings = [days_of(stamps) for stamps in fitting]
    if not readings:
        return None, False
    is_same = all(np.array_equal(days, readings[0], equal_nan=True) for days in readings)
    return (readings[0], False) if is_same else (None, True)


def days_of(stamps: Any) -> Values:
    """Dates and times of Arrow as days since 1970-01-01, NaN where missing."""
    pa = arrow()
    unit = pa.timestamp("us", getattr(stamps.type, "tz", None))
    return np.asarray(_numpy(stamps.cast(unit, safe=False).cast(pa.int64())), dtype=np.float64) / 86_400e6
