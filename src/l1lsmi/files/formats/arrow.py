"""Parquet, Feather and Arrow streams."""

from __future__ import annotations

from typing import Any

from l1lsmi.files.columns import arrow_columns, whole
from l1lsmi.files.formats import Options
from l1lsmi.files.found import Columns
from l1lsmi.files.libraries import arrow, library
from l1lsmi.files.memory import check_room
from l1lsmi.files.problem import FileProblem, damage, where

__all__ = ["read"]

STREAM = b"\xff\xff\xff\xff"


def read(data: bytes, source: str, options: Options) -> Columns:
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
    with damage(source, "a table of Arrow"):
        # A file may say of itself what it does not hold.
        table.validate(full=True)
    if table.num_rows == 0 or table.num_columns == 0:
        raise FileProblem(
            f"{where(source)} has {table.num_rows} rows and {table.num_columns} columns: there is nothing "
            "to read."
        )
    with damage(source, "a table of Arrow"):
        columns = arrow_columns(table.column_names, [whole(array) for array in table.columns])
    for place in _index(table):
        columns.set_aside(place)
        columns.say(f"Column {columns.names[place]!r} is the index of a data frame, and is no feature.")
    return columns


def _parquet(data: bytes, source: str) -> Any:
    pa, parquet = arrow(), library("pyarrow.parquet", "cli", "A Parquet file")
    with damage(source, "Parquet"):
        opened = parquet.ParquetFile(pa.BufferReader(data))
        about = opened.metadata
        packed = sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups))
        # A value that is repeated takes no room in the file, however often it is.
        check_room(source, max(packed, 8 * about.num_rows * about.num_columns), "its table")
        return opened.read()


def _feather(data: bytes, source: str) -> Any:
    pa, feather = arrow(), library("pyarrow.feather", "cli", "A Feather file")
    with damage(source, "Feather"):
        if data.startswith(STREAM):
            return pa.ipc.open_stream(pa.BufferReader(data)).read_all()
        return feather.read_table(pa.BufferReader(data))


def _index(table: Any) -> list[int]:
    """Columns that were the index of a data frame of pandas."""
    about = table.schema.pandas_metadata or {}
    names = [name for name in about.get("index_columns", []) if isinstance(name, str)]
    return [table.column_names.index(name) for name in names if name in table.column_names]
