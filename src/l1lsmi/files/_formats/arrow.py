"""Parquet, Feather and Arrow streams."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import feather, parquet

from l1lsmi._messages import printable, quoted
from l1lsmi.files import _memory
from l1lsmi.files._arrow_arrays import table_of_arrays
from l1lsmi.files._formats import Options
from l1lsmi.files._memory import check_memory
from l1lsmi.files._table_builder import TableBuilder
from l1lsmi.files.problem import FileProblem, file_problems

STREAM = b"\xff\xff\xff\xff"
#: Ways to write words that say a long one, or its beginning, once for many rows.
REPEATING = {"PLAIN_DICTIONARY", "RLE_DICTIONARY", "DELTA_BYTE_ARRAY"}
#: How often words are in memory while it is found out what they are.
COPIES = 4


def read(data: bytes, source: str, options: Options) -> TableBuilder:
    """Read a table of Arrow.

    The index that pandas writes along holds names of rows: it is no feature.

    Parameters
    ----------
    data : bytes
    source : str
        For messages.
    options : Options
        Its format: Parquet, or Feather and streams.
    """
    table = _parquet(data, source) if options.format == "parquet" else _feather(data, source)
    with file_problems(source, "a table of Arrow"):
        # A file may say of itself what it does not hold.
        table.validate(full=True)
    if table.num_rows == 0 or table.num_columns == 0:
        raise FileProblem(
            f"{printable(source)} has {table.num_rows} rows and {table.num_columns} columns: there is "
            "nothing to read."
        )
    with file_problems(source, "a table of Arrow"):
        _check_words(table, source)
        columns = table_of_arrays(table.column_names, table.columns)
    for place in _index(table):
        columns.exclude(place)
        columns.add_note(f"Column {columns.names[place]!r} is the index of a data frame, and is no feature.")
    return columns


def _parquet(data: bytes, source: str) -> Any:
    with file_problems(source, "Parquet"):
        opened = parquet.ParquetFile(pa.BufferReader(data))
        about = opened.metadata
        packed = sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups))
        # A value that is repeated takes no room in the file, however often it is.
        widths = [max(8, about.schema.column(place).length or 0) for place in range(about.num_columns)]
        check_memory(source, max(packed, about.num_rows * sum(widths)), "its table")
        _check_decoded(opened, source)
        return opened.read()


def _check_decoded(opened: Any, source: str) -> None:
    """Refuse words that are written once or in part, but are many and long once they are read.

    Only columns that could be too long are looked at, a few rows at a time.
    """
    about, room = opened.metadata, _memory.available_memory()
    longest: dict[str, int] = {}
    most = 0
    for group in range(about.num_row_groups):
        for place in range(about.num_columns):
            chunk = about.row_group(group).column(place)
            if chunk.physical_type == "BYTE_ARRAY" and {*chunk.encodings} & REPEATING:
                # No word is longer than all that is stored.
                longest[chunk.path_in_schema] = max(
                    longest.get(chunk.path_in_schema, 0), chunk.total_uncompressed_size
                )
                most += chunk.num_values * chunk.total_uncompressed_size
    if COPIES * most <= room:
        return
    needed = 0
    for path, length in longest.items():
        rows = min(max(1, room // (8 * COPIES * max(length, 1))), 1 << 16)
        for batch in opened.iter_batches(rows, columns=[path]):
            needed += COPIES * batch.nbytes
            if needed > room:
                check_memory(source, needed, f"its column {quoted(path)}")


def _check_words(table: Any, source: str) -> None:
    """Refuse words that stand once in memory, but have to be copied for every row that has them."""
    needed = 8 * table.num_rows * table.num_columns
    for column in table.columns:
        for chunk in column.chunks:
            needed += COPIES * _decoded_size(chunk)
    check_memory(source, needed, "its table")


def _decoded_size(array: Any) -> int:
    """Bytes of the words of an array whose words may be stored once for many rows."""
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


def _lengths(words: Any) -> Any:
    """Bytes of each word; None of what is no words."""
    types = pa.types
    if types.is_string_view(words.type) or types.is_binary_view(words.type):
        # Views have no function for it; of those that are too long for their place it is the first number.
        views = np.frombuffer(words.buffers()[1], dtype=np.int32).reshape(-1, 4)
        return np.maximum(views[words.offset : words.offset + len(words), 0].astype(np.int64), 0)
    is_words = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    if not any(test(words.type) for test in is_words):
        return None
    return np.asarray(pc.binary_length(words).fill_null(0), dtype=np.int64)


def _feather(data: bytes, source: str) -> Any:
    with file_problems(source, "Feather"):
        if data.startswith(STREAM):
            return pa.ipc.open_stream(pa.BufferReader(data)).read_all()
        return feather.read_table(pa.BufferReader(data))


def _index(table: Any) -> list[int]:
    """Columns that were the index of a data frame of pandas; none where what is said of it makes no sense."""
    try:
        about = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}"))
    except (ValueError, RecursionError):
        return []
    said = about.get("index_columns") if isinstance(about, dict) else None
    names = [name for name in said if isinstance(name, str)] if isinstance(said, list) else []
    return [table.column_names.index(name) for name in dict.fromkeys(names) if name in table.column_names]
