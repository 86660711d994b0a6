"""Of which kind each column is: arrays of Arrow become columns of numbers, of dates or of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from l1lsmi.files.found import Columns, add_numbers
from l1lsmi.files.libraries import arrow
from l1lsmi.files.table import Values
from l1lsmi.files.words import Comma, add_words, days_of

#: Whole numbers beyond it are not all different as float64.
MOST_EXACT = 2.0**53
SECONDS_OF = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def arrow_columns(names: Sequence[str], arrays: Sequence[Any], comma: Comma = None) -> Columns:
    """Columns from arrays of Arrow.

    Parameters
    ----------
    names : sequence of str
    arrays : sequence of pyarrow.Array or pyarrow.ChunkedArray
        All of the same length.
    comma : "decimal", "thousands" or None
        What a comma inside of numbers means where they are written as words.

    Returns
    -------
    Columns

    Examples
    --------
    >>> import pyarrow as pa
    >>> columns = arrow_columns(["a", "b"], [pa.array([1, 2, None]), pa.array([" 1.5", "2", "NA"])])
    >>> columns.in_order()
    [<'a': number, 3 rows, 1 missing>, <'b': number, 3 rows, 1 missing>]
    """
    columns = Columns(names)
    add_arrays(columns, range(len(arrays)), arrays, comma)
    return columns


def whole(array: Any) -> Any:
    """An array in one piece, of one that may be in several."""
    return array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()


def add_arrays(columns: Columns, places: Sequence[int], arrays: Sequence[Any], comma: Comma = None) -> None:
    """Add columns from arrays of Arrow to those that are known."""
    words: list[tuple[int, Any, Any]] = []
    numbers: list[tuple[int, Values, Any]] = []
    for place, array in zip(places, arrays, strict=True):
        plain = _plain(array)
        what = _what(plain.type)
        if what == "words":
            words.append((place, plain, array))
        elif what == "number":
            values = _as_float(plain)
            numbers.append((place, values, array))
            if str(plain.type) in ("int64", "uint64") and (np.abs(values) > MOST_EXACT).any():
                columns.remark(place, "with whole numbers that are rounded to 53 bits")
        elif what == "yes/no":
            add_numbers(columns, [place], _as_float(plain)[None], [array], words=("false", "true"))
        elif what == "date":
            add_numbers(columns, [place], days_of(plain)[None], [array], varying="date")
        else:
            _add_other(columns, place, plain, array)
    if numbers:
        where, values_of, raws = zip(*numbers, strict=True)
        add_numbers(columns, where, np.stack(values_of), raws)
    if words:
        where, plains, raws = zip(*words, strict=True)
        add_words(columns, where, plains, raws, comma)


def _plain(array: Any) -> Any:
    """Without the wrappings that Arrow knows: dictionaries, and types of other programs."""
    pa = arrow()
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.cast(array.type.storage_type)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    return array


def _what(kind: Any) -> str:
    types = arrow().types
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "words"
    if types.is_boolean(kind):
        return "yes/no"
    if types.is_date(kind) or types.is_timestamp(kind):
        return "date"
    numbers = (types.is_integer, types.is_floating, types.is_decimal, types.is_null)
    if any(test(kind) for test in numbers) or types.is_time(kind) or types.is_duration(kind):
        return "number"
    return "other"


def _as_float(array: Any) -> Values:
    """Numbers as float64, missing ones as NaN; times of day and durations in seconds."""
    pa = arrow()
    scale = 1.0
    if pa.types.is_time(array.type) or pa.types.is_duration(array.type):
        scale = SECONDS_OF[array.type.unit]
        array = array.cast(pa.int32() if pa.types.is_time32(array.type) else pa.int64())
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.uint8())
    values = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=np.float64) * scale


def _add_other(columns: Columns, place: int, array: Any, raw: Any) -> None:
    """Lists, structures and bytes are kept, to be written again, but no selector can use them."""
    items = np.empty(len(array), dtype=object)
    items[:] = [None if item is None else str(item) for item in array.to_pylist()]
    columns.remark(place, f"of type {array.type}, which cannot be a feature")
    columns.add(place, "text", items, int(array.null_count), feature=False, raw=raw)
