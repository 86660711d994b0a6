"""Columns as the bytes of a CSV, Parquet, Feather or Excel file."""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import feather, parquet, types

from l1lsmi._columns.dates import MICROSECONDS_PER_DAY
from l1lsmi._messages import first_line, printable
from l1lsmi.files._libraries import import_optional
from l1lsmi.files._table_builder import MAX_EXACT
from l1lsmi.files.problem import FileProblem
from l1lsmi.files.table import Column, Values

#: Characters of a cell of Excel at most.
MAX_EXCEL_LENGTH = 32_767


def serialize(columns: Sequence[Column], rows: Values | None, suffix: str, path: Path) -> bytes:
    """The bytes of a file.

    Parameters
    ----------
    columns : sequence of Column
    rows : ndarray of int or None
        Rows to write; None is all.
    suffix : str
        Tells the format.
    path : Path
        For messages.
    """
    if suffix == ".xlsx":
        return _excel(columns, rows, path)
    if suffix in (".parquet", ".feather"):
        return _arrow(columns, rows, suffix, path)
    delimiter = "\t" if suffix.startswith(".tsv") else ","
    values = zip(*(_strings(_file_values(column, rows)) for column in columns), strict=True)
    lines = [_line(row, delimiter) for row in ([column.name for column in columns], *values)]
    data = "".join(lines).encode()
    # Without a timestamp, so that the same table gives the same bytes.
    return gzip.compress(data, mtime=0) if suffix.endswith(".gz") else data


def _line(row: Sequence[str | None], delimiter: str) -> str:
    """A line of CSV; the csv module does not quote carriage returns and outer spaces."""
    cells = ["" if cell is None else _quoted(cell, delimiter) for cell in row]
    # Readers skip empty lines.
    return (delimiter.join(cells) or '""') + "\n"


def _quoted(cell: str, delimiter: str) -> str:
    if delimiter not in cell and '"' not in cell and cell.isprintable() and cell == cell.strip():
        return cell
    return '"' + cell.replace('"', '""') + '"'


# -- values -----------------------------------------------------------------------------------


def _file_values(column: Column, rows: Values | None) -> Any:
    """The values that a column has in the file, as an array of Arrow that every format can hold."""
    raw = column.raw if column.raw is not None else _from_values(column)
    array = pa.array(np.ascontiguousarray(raw)) if isinstance(raw, np.ndarray) else raw
    if types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    elif types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    elif types.is_binary_view(array.type):
        array = array.cast(pa.large_binary())
    elif types.is_dictionary(array.type) and array.dictionary.null_count:
        array = array.cast(array.type.value_type)
    return array if rows is None else array.take(pa.array(rows.astype(np.int64)))


def _from_values(column: Column) -> Any:
    if column.kind == "date":
        microseconds = pa.array(np.round(column.values * MICROSECONDS_PER_DAY), from_pandas=True)
        return microseconds.cast(pa.int64()).cast(pa.timestamp("us"))
    if column.numeric:
        return pa.array(column.values, from_pandas=True)
    return pa.array(column.values.tolist(), pa.large_string())


def _strings(array: Any) -> list[str | None]:
    """Cells as strings; floats with the fewest digits that identify them."""
    if types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    try:
        strings: list[str | None] = array.cast(pa.large_string()).to_pylist()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        if types.is_timestamp(array.type) and array.type.tz is not None:
            # This system does not know the time zone: the same times in UTC.
            return _strings(array.cast(pa.timestamp(array.type.unit, "UTC")))
        strings = [None if item is None else str(item) for item in array.to_pylist()]
    return strings


def _typed(column: Column, rows: Values | None) -> Any:
    """For formats with types: numbers that are strings in the file are numbers."""
    array = _file_values(column, rows)
    is_string = types.is_large_string(array.type) or types.is_string(array.type)
    if not (is_string and column.numeric and column.kind != "date" and column.words == ("0", "1")):
        return array
    values = column.values if rows is None else column.values[rows]
    numbers = pa.array(values, from_pandas=True)
    is_whole = np.isnan(values) | ((values == np.round(values)) & (np.abs(values) < MAX_EXACT))
    return numbers.cast(pa.int64()) if is_whole.all() else numbers


# -- formats ----------------------------------------------------------------------------------


def _arrow(columns: Sequence[Column], rows: Values | None, suffix: str, path: Path) -> bytes:
    write = parquet.write_table if suffix == ".parquet" else feather.write_feather
    table = pa.table([_typed(column, rows) for column in columns], names=[column.name for column in columns])
    stream = io.BytesIO()
    try:
        write(table, stream)
    except pa.ArrowException as error:
        other = ".feather or .csv" if suffix == ".parquet" else ".csv"
        raise FileProblem(
            f"{printable(path)} cannot hold one of the columns ({first_line(error)}): write a {other} file "
            "instead."
        ) from None
    return stream.getvalue()


def _excel(columns: Sequence[Column], rows: Values | None, path: Path) -> bytes:
    openpyxl = import_optional("openpyxl", "excel", "An Excel workbook")
    cells = import_optional("openpyxl.cell", "excel", "An Excel workbook")
    workbook = openpyxl.Workbook(write_only=True)
    sheet = workbook.create_sheet("table")

    def to_cell(item: Any) -> Any:
        if not isinstance(item, str):
            return item
        if len(item) > MAX_EXCEL_LENGTH:
            raise FileProblem(
                f"{printable(path)} cannot hold text of {len(item)} characters: write a .csv file instead."
            )
        cell = cells.WriteOnlyCell(sheet, item)
        cell.data_type = "s"  # a string that begins with = is no formula
        return cell

    names = [column.name for column in columns]
    values = zip(*(_excel_items(_typed(column, rows)) for column in columns), strict=True)
    try:
        # All cells before the first is written, as a partly written sheet stays open.
        table = [[to_cell(item) for item in row] for row in (names, *values)]
    except openpyxl.utils.exceptions.IllegalCharacterError:
        raise FileProblem(
            f"{printable(path)} cannot hold control characters: write a .csv file instead."
        ) from None
    stream = io.BytesIO()
    try:
        for row in table:
            sheet.append(row)
        workbook.save(stream)
    except OSError as error:  # openpyxl writes the sheet to a temporary file
        reason = error.strerror or first_line(error)
        raise FileProblem(
            f"{printable(path)} cannot be written, as temporary files cannot be created ({reason}): set "
            "TMPDIR to a writable folder with free space."
        ) from None
    return stream.getvalue()


def _excel_items(array: Any) -> list[Any]:
    """Items for Excel, which has numbers, yes/no and dates without a time zone; the rest are strings."""
    kind = array.type
    is_plain = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    try:
        if is_plain or types.is_date(kind):
            return [None if item != item else item for item in array.to_pylist()]
        if types.is_timestamp(kind) and kind.tz is None:
            # Nanoseconds are truncated; a date out of range raises.
            return list(array.cast(pa.timestamp("us"), safe=kind.unit != "ns").to_pylist())
    except (OverflowError, ValueError):  # dates outside of the years 1 to 9999
        pass
    return _strings(array)
