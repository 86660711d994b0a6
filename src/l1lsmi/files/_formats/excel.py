"""Excel workbooks: one sheet, values rather than formulas."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from l1lsmi._messages import listed, printable, quoted
from l1lsmi.files import _memory
from l1lsmi.files._formats import Options
from l1lsmi.files._header import table_with_header
from l1lsmi.files._libraries import import_optional
from l1lsmi.files._table_builder import TableBuilder
from l1lsmi.files.problem import FileProblem, file_problems

Rows = list[tuple[Any, ...]]

#: The limits of Excel. A file may give a row any number, and openpyxl yields all rows before it.
MAX_ROWS, MAX_COLUMNS = 1_048_576, 16_384
#: Bytes for each cell, even if it is empty: pointers in a row and in a column, and an item of an array.
CELL_SIZE = 40


def read(data: bytes, source: str, options: Options) -> TableBuilder:
    """Read a sheet.

    Formulas have the value that was last computed; without one the cell is empty.

    Parameters
    ----------
    data : bytes
    source : str
        For messages.
    options : Options
        Its sheet; None is the only one that is not empty.
    """
    openpyxl = import_optional("openpyxl", "excel", "An Excel workbook")
    with file_problems(source, "an Excel workbook (.xlsx)"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            n_bytes = sum(member.file_size for member in archive.infolist())
        _memory.check_memory(source, n_bytes, "its decompressed text")
        workbook = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        try:
            rows = _sheet(workbook, options.sheet, source)
        finally:
            workbook.close()
    width = max(len(row) for row in rows)
    names = [_string(cell) or "" for cell in _padded(rows[0], width)]
    if len(rows) == 1:
        raise FileProblem(
            f"{printable(source)} has names of columns, but no values below them: pass a file with "
            "rows of values."
        )
    values = zip(*(_padded(row, width) for row in rows[1:]), strict=True)
    return table_with_header(names, [_array(list(column)) for column in values], source)


def _sheet(workbook: Any, name: str | None, source: str) -> Rows:
    sheets = {sheet.title: sheet for sheet in workbook.worksheets}
    existing = f"there are {listed(list(sheets), 20)}"
    if name is not None and name not in sheets:
        raise FileProblem(f"{printable(source)} has no sheet named {quoted(name)}: {existing}.")
    titles = list(sheets) if name is None else [name]
    filled = [title for title in titles if next(_rows(sheets[title], source), None) is not None]
    if not filled:
        what = "no sheet with values" if name is None else f"no values in sheet {quoted(name)}"
        raise FileProblem(f"{printable(source)} has {what}: {existing}.")
    if len(filled) > 1:
        raise FileProblem(
            f"{printable(source)} has several sheets with values: pass the name of one as sheet, "
            f"{listed(filled, 20)}."
        )
    return _all_rows(_rows(sheets[filled[0]], source), source)


def _all_rows(rows: Iterator[tuple[Any, ...]], source: str) -> Rows:
    """All rows, as long as a table as wide as the widest of them fits into memory."""
    available, width = _memory.available_memory(), 0
    kept: Rows = []
    for row in rows:
        width = max(width, len(row))
        kept.append(row)
        _memory.check_memory(source, CELL_SIZE * width * len(kept), "its sheet", available=available)
    return kept


def _rows(sheet: Any, source: str) -> Iterator[tuple[Any, ...]]:
    """Rows that are not empty."""
    # The size that is stored in a sheet is often wrong.
    sheet.reset_dimensions()
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        if number > MAX_ROWS or len(row) > MAX_COLUMNS:
            raise FileProblem(
                f"{printable(source)} has cells beyond the {MAX_ROWS} rows and {MAX_COLUMNS} columns of "
                "Excel: save it again with Excel, or as CSV."
            )
        if any(cell is not None for cell in row):
            yield row


def _padded(row: tuple[Any, ...], width: int) -> tuple[Any, ...]:
    return row + (None,) * (width - len(row))


def _string(cell: Any) -> str | None:
    return None if cell is None else str(cell)


def _array(cells: list[Any]) -> Any:
    """An array of the type that all cells have, else of strings."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if len(kinds) == 1 or kinds == {int, float}:
        try:
            return pa.array(cells, pa.large_string() if kinds == {str} else None)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            pass
    return pa.array([_string(cell) for cell in cells], pa.large_string())
