"""Parquet, Feather and Arrow streams as columns in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from l1lsmi._arrow import ArrowFile, index_columns
from l1lsmi._messages import printable, quoted
from l1lsmi.files import _memory
from l1lsmi.files._arrow_arrays import add_arrays
from l1lsmi.files._formats import FORMATS, Options
from l1lsmi.files._formats.arrow_buffers import decompressed_sizes, total_size
from l1lsmi.files._memory import check_memory
from l1lsmi.files._table_builder import TableBuilder
from l1lsmi.files.problem import FileProblem, file_problems

#: Encodings of text that store a repeated value, or its beginning, once for many rows.
REPEATING = {"PLAIN_DICTIONARY", "RLE_DICTIONARY", "DELTA_BYTE_ARRAY"}
#: Copies of text in memory while its kind is found.
COPIES = 4


def read(data: bytes, source: str, options: Options) -> TableBuilder:
    """Read a table of Arrow.

    Parameters
    ----------
    data : bytes
    source : str
        For messages.
    options : Options
        Its format: Parquet, or Feather and streams.
    """
    with file_problems(source, FORMATS[options.format].title):
        file = ArrowFile(pa.py_buffer(data), options.format)
        if file.parquet is not None:
            _check_parquet(file.parquet, source)
        else:
            check_memory(source, total_size(decompressed_sizes(file.stream)), "its table")
        found = file.read()
        names = found.column_names  # raises where a name is not text
    if found.num_rows == 0 or found.num_columns == 0:
        raise FileProblem(
            f"{printable(source)} has {found.num_rows} rows and {found.num_columns} columns: pass a "
            "file with rows and columns."
        )
    table = TableBuilder(names)
    add_table(table, range(found.num_columns), found, source)
    exclude_index(table, found.schema)
    return table


def add_table(table: TableBuilder, indices: Sequence[int], found: Any, source: str) -> None:
    """Add the columns of a table of Arrow, which is checked first: a file may be damaged."""
    with file_problems(source, "a table of Arrow"):
        found.validate(full=True)
        _check_strings(found, source)
        add_arrays(table, indices, found.columns)


def exclude_index(table: TableBuilder, schema: Any) -> None:
    """Exclude the index of pandas, which has names of rows, from the features."""
    for name in index_columns(schema):
        table.exclude(table.names.index(name))
        table.add_note(f"Column {name!r} is the index of a data frame, and is not a feature.")


def _check_parquet(opened: Any, source: str) -> None:
    """Refuse a Parquet file that does not fit into memory."""
    about = opened.metadata
    packed = sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups))
    # A repeated value takes no space in the file, however often it is repeated.
    widths = [max(8, about.schema.column(place).length or 0) for place in range(about.num_columns)]
    check_memory(source, max(packed, about.num_rows * sum(widths)), "its table")
    check_decoded(opened, source)


def check_decoded(opened: Any, source: str) -> None:
    """Refuse text that is stored once for many rows, but does not fit into memory once it is decoded.

    Only columns that could be too large are decoded, a few rows at a time.
    """
    about, available = opened.metadata, _memory.available_memory()
    columns = [about.schema.column(place) for place in range(about.num_columns)]
    texts = {
        place: column.path for place, column in enumerate(columns) if column.physical_type == "BYTE_ARRAY"
    }
    longest: dict[str, int] = {}
    most = 0
    for group in range(about.num_row_groups if texts else 0):
        # Damaged metadata of a column raise an error in the reader, but end the process below.
        next(opened.iter_batches(1, row_groups=[group], columns=list(texts.values())), None)
        for place in texts:
            chunk = about.row_group(group).column(place)
            if {*chunk.encodings} & REPEATING:
                # No value is longer than all that is stored.
                longest[chunk.path_in_schema] = max(
                    longest.get(chunk.path_in_schema, 0), chunk.total_uncompressed_size
                )
                most += chunk.num_values * chunk.total_uncompressed_size
    if COPIES * most <= available:
        return
    needed = 0
    for path, length in longest.items():
        rows = min(max(1, available // (8 * COPIES * max(length, 1))), 1 << 16)
        for batch in opened.iter_batches(rows, columns=[path]):
            needed += COPIES * batch.nbytes
            if needed > available:
                check_memory(source, needed, f"its column {quoted(path)}")


def _check_strings(table: Any, source: str) -> None:
    """Refuse text that is stored once in memory, but has to be copied for every row that has it."""
    needed = 8 * table.num_rows * table.num_columns
    for column in table.columns:
        for chunk in column.chunks:
            needed += COPIES * _decoded_size(chunk)
    check_memory(source, needed, "its table")


def _decoded_size(array: Any) -> int:
    """Bytes of the decoded text of an array that may store a value once for many rows."""
    types = pa.types
    if types.is_string_view(array.type) or types.is_binary_view(array.type):
        return int(_lengths(array).sum())
    if types.is_run_end_encoded(array.type):
        lengths = _lengths(array.values)
        return 0 if lengths is None else int(lengths.max(initial=0)) * len(array)
    if not types.is_dictionary(array.type) or (lengths := _lengths(array.dictionary)) is None:
        return 0
    counts = pc.value_counts(array.indices.drop_null())
    places = np.asarray(counts.field("values"), dtype=np.int64)
    return int((lengths[places] * np.asarray(counts.field("counts"), dtype=np.int64)).sum())


def _lengths(array: Any) -> Any:
    """Bytes of each value of an array of text; None if it is not text."""
    types = pa.types
    if types.is_string_view(array.type) or types.is_binary_view(array.type):
        # Views have no function for it: the first number of a view is its length.
        views = np.frombuffer(array.buffers()[1], dtype=np.int32).reshape(-1, 4)
        return np.maximum(views[array.offset : array.offset + len(array), 0].astype(np.int64), 0)
    is_text = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    if not any(test(array.type) for test in is_text):
        return None
    return np.asarray(pc.binary_length(array).fill_null(0), dtype=np.int64)
