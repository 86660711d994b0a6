"""Arrays of Arrow become columns of numbers, dates or strings, depending on their type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types

from l1lsmi._columns.arrow import as_float, days_since_epoch, kind_of, one_chunk
from l1lsmi.files._strings import add_strings
from l1lsmi.files._table_builder import MAX_EXACT, ROUNDED, TableBuilder, add_numbers
from l1lsmi.files.table import Values


def table_of_arrays(names: Sequence[str], arrays: Sequence[Any], decimal: str = ".") -> TableBuilder:
    """A table of arrays of Arrow.

    Parameters
    ----------
    names : sequence of str
    arrays : sequence of pyarrow.Array or pyarrow.ChunkedArray
        All of the same length.
    decimal : {".", ","}, default="."
        As in `l1lsmi.preparation.TablePreparation`, for columns of strings.

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
    add_arrays(table, range(len(arrays)), arrays, decimal)
    return table


def add_arrays(
    table: TableBuilder, indices: Sequence[int], arrays: Sequence[Any], decimal: str = "."
) -> None:
    """Add columns of arrays of Arrow to a table."""
    strings: list[tuple[int, Any, Any]] = []
    numbers: list[tuple[int, Values, Any]] = []
    for index, raw in zip(indices, map(one_chunk, arrays), strict=True):
        array = _decoded(raw)
        kind = kind_of(array.type)
        if kind == "string":
            strings.append((index, array, raw))
        elif kind == "number":
            values = as_float(array)
            numbers.append((index, values, raw))
            if str(array.type) in ("int64", "uint64") and (np.abs(values) > MAX_EXACT).any():
                table.add_remark(index, ROUNDED)
        elif kind == "yes/no":
            add_numbers(table, [index], as_float(array)[None], [raw], words=("false", "true"))
        elif kind == "date":
            add_numbers(table, [index], days_since_epoch(array)[None], [raw], varying="date")
        else:
            _add_other(table, index, array, raw)
    if numbers:
        places, values_of, raws = zip(*numbers, strict=True)
        add_numbers(table, places, np.stack(values_of), raws)
    if strings:
        places, plain, raws = zip(*strings, strict=True)
        add_strings(table, places, plain, raws, decimal)


def table_numbers(table: Any) -> Values | None:
    """A table of Arrow as one array of float64, NaN where missing; None if it has columns of other types.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table_numbers(pa.table({"a": [1.0, None], "b": [3.0, 4.0]})).tolist()
    [[1.0, 3.0], [nan, 4.0]]
    """
    if not table.num_columns or not all(types.is_float64(kind) for kind in table.schema.types):
        return None
    return np.stack([one_chunk(array).to_numpy(zero_copy_only=False) for array in table.columns], axis=1)


def _decoded(array: Any) -> Any:
    """The values of extension types and of dictionaries."""
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.cast(array.type.storage_type)
    return array.cast(array.type.value_type) if types.is_dictionary(array.type) else array


def _add_other(table: TableBuilder, index: int, array: Any, raw: Any) -> None:
    """Lists, structures and bytes can be written again, but are no features."""
    items = np.empty(len(array), dtype=object)
    items[:] = [None if item is None else str(item) for item in array.to_pylist()]
    table.add_remark(index, f"of type {array.type}, which cannot be a feature")
    table.add(index, "text", items, int(array.null_count), feature=False, raw=raw)
