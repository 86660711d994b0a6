"""Arrays of Arrow become columns of numbers, dates or strings, depending on their type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types

from l1lsmi.files._strings import Comma, add_strings, days_since_epoch
from l1lsmi.files._table_builder import TableBuilder, add_numbers
from l1lsmi.files.table import Values

#: Larger whole numbers are not all distinct in float64.
MAX_EXACT = 2.0**53
SECONDS_PER_UNIT = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def table_of_arrays(names: Sequence[str], arrays: Sequence[Any], comma: Comma = None) -> TableBuilder:
    """A table of arrays of Arrow.

    Parameters
    ----------
    names : sequence of str
    arrays : sequence of pyarrow.Array or pyarrow.ChunkedArray
        All of the same length.
    comma : "decimal", "thousands" or None
        What a comma in a number means, in columns of strings.

    Returns
    -------
    TableBuilder

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = table_of_arrays(["a", "b"], [pa.array([1, 2, None]), pa.array([" 1.5", "2", "NA"])])
    >>> table.columns
    [<'a': number, 3 rows, 1 missing>, <'b': number, 3 rows, 1 missing>]
    """
    table = TableBuilder(names)
    add_arrays(table, range(len(arrays)), arrays, comma)
    return table


def add_arrays(
    table: TableBuilder, indices: Sequence[int], arrays: Sequence[Any], comma: Comma = None
) -> None:
    """Add columns of arrays of Arrow to a table."""
    strings: list[tuple[int, Any, Any]] = []
    numbers: list[tuple[int, Values, Any]] = []
    for index, raw in zip(indices, map(_one_chunk, arrays), strict=True):
        array = _decoded(raw)
        kind = _kind(array.type)
        if kind == "string":
            strings.append((index, array, raw))
        elif kind == "number":
            values = _as_float(array)
            numbers.append((index, values, raw))
            if str(array.type) in ("int64", "uint64") and (np.abs(values) > MAX_EXACT).any():
                table.add_remark(index, "with whole numbers that are rounded to 53 bits")
        elif kind == "yes/no":
            add_numbers(table, [index], _as_float(array)[None], [raw], words=("false", "true"))
        elif kind == "date":
            add_numbers(table, [index], days_since_epoch(array)[None], [raw], varying="date")
        else:
            _add_other(table, index, array, raw)
    if numbers:
        places, values_of, raws = zip(*numbers, strict=True)
        add_numbers(table, places, np.stack(values_of), raws)
    if strings:
        places, plain, raws = zip(*strings, strict=True)
        add_strings(table, places, plain, raws, comma)


def _one_chunk(array: Any) -> Any:
    if not isinstance(array, pa.ChunkedArray):
        return array
    return array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()


def _decoded(array: Any) -> Any:
    """The values of extension types and of dictionaries."""
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.cast(array.type.storage_type)
    return array.cast(array.type.value_type) if types.is_dictionary(array.type) else array


def _kind(kind: Any) -> str:
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "string"
    if types.is_boolean(kind):
        return "yes/no"
    if types.is_date(kind) or types.is_timestamp(kind):
        return "date"
    numeric = (types.is_integer, types.is_floating, types.is_decimal, types.is_null)
    if any(test(kind) for test in (*numeric, types.is_time, types.is_duration)):
        return "number"
    return "other"


def _as_float(array: Any) -> Values:
    """Numbers as float64, missing ones as NaN; times of day and durations in seconds."""
    scale = 1.0
    if types.is_time(array.type) or types.is_duration(array.type):
        scale = SECONDS_PER_UNIT[array.type.unit]
        array = array.cast(pa.int32() if types.is_time32(array.type) else pa.int64())
    if types.is_boolean(array.type):
        array = array.cast(pa.uint8())
    values = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=np.float64) * scale


def _add_other(table: TableBuilder, index: int, array: Any, raw: Any) -> None:
    """Lists, structures and bytes can be written again, but are no features."""
    items = np.empty(len(array), dtype=object)
    items[:] = [None if item is None else str(item) for item in array.to_pylist()]
    table.add_remark(index, f"of type {array.type}, which cannot be a feature")
    table.add(index, "text", items, int(array.null_count), feature=False, raw=raw)
