"""Arrays of Arrow as cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from l1lsmi._columns.cells import Cells, Values, number_cells, text_cells, with_levels
from l1lsmi._columns.dates import MICROSECONDS_PER_DAY

SECONDS_PER_UNIT = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def arrow_cells(array: Any) -> Cells:
    """The cells of an array or chunked array.

    Times of day and durations are numbers of seconds.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from l1lsmi._columns.arrow import arrow_cells
    >>> arrow_cells(pa.array([True, None, False])).values.tolist()
    [1.0, nan, 0.0]
    """
    array = decoded(one_chunk(array))
    if types.is_dictionary(array.type):
        return _category(array)
    kind = kind_of(array.type)
    if kind == "string":
        return string_cells(array)
    if kind in ("number", "yes/no"):
        return Cells(kind, as_float(array))
    if kind == "date":
        return Cells("date", days_since_epoch(array))
    return Cells("other", np.zeros(len(array), dtype=np.int64), type_name=str(array.type))


def one_chunk(array: Any) -> Any:
    """An array without chunks."""
    if not isinstance(array, pa.ChunkedArray):
        return array
    return array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()


def decoded(array: Any) -> Any:
    """The values of extension types and of repeated runs."""
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.cast(array.type.storage_type)
    return pc.run_end_decode(array) if types.is_run_end_encoded(array.type) else array


def kind_of(kind: Any) -> str:
    """What a type of Arrow is read as."""
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


def string_cells(array: Any) -> Cells:
    """The cells of an array of strings."""
    coded = array.cast(pa.large_string()).dictionary_encode()
    return with_levels("text", _codes(coded), coded.dictionary.to_pylist())


def _category(array: Any) -> Cells:
    levels = arrow_cells(array.dictionary)
    if levels.kind == "other":
        return levels
    words = text_cells(array.dictionary.to_pylist())
    texts = [None if code < 0 else words.levels[code] for code in words.values.tolist()]
    return with_levels("category", _codes(array), texts, bool(array.type.ordered))


def _codes(array: Any) -> Values:
    return np.asarray(array.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False))


def days_since_epoch(stamps: Any) -> Values:
    """Dates and times of Arrow as days since 1970-01-01, NaN where missing."""
    unit = pa.timestamp("us", getattr(stamps.type, "tz", None))
    microseconds = stamps.cast(unit, safe=False).cast(pa.int64())
    values = microseconds.to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=np.float64) / MICROSECONDS_PER_DAY


def as_float(array: Any) -> Values:
    """Numbers as float64, missing ones as NaN; times of day and durations in seconds."""
    scale = 1.0
    if types.is_time(array.type) or types.is_duration(array.type):
        scale = SECONDS_PER_UNIT[array.type.unit]
        array = array.cast(pa.int32() if types.is_time32(array.type) else pa.int64())
    if types.is_boolean(array.type):
        array = array.cast(pa.uint8())
    values = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return number_cells(values).values * scale
