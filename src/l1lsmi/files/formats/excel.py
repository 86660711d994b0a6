"""Excel workbooks: one sheet, values rather than formulas."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any

from l1lsmi.files.formats import Options
from l1lsmi.files.found import Columns
from l1lsmi.files.libraries import arrow, library
from l1lsmi.files.memory import at_hand, check_room
from l1lsmi.files.names import named_columns
from l1lsmi.files.problem import FileProblem, damage, listed, shown, where

Rows = list[tuple[Any, ...]]

#: What Excel itself can hold. A file may number its rows beyond all bounds, and all before are gone through.
MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384
#: Bytes for each cell, also of those that are empty: places in a row, in a column and in an array.
CELL = 40


def read(data: bytes, source: str, options: Options) -> Columns:
    """Read a sheet.

    Formulas give the value that was last computed; where a program wrote a formula without computing it,
    there is none and the cell is empty.

    Parameters
    ----------
    data : bytes
    source : str
        For messages.
    options : Options
        Its sheet; None is the only one that is not empty.
    """
    openpyxl = library("openpyxl", "excel", "An Excel workbook")
    with damage(source, "an Excel workbook (.xlsx)"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_room(source, sum(member.file_size for member in archive.infolist()), "its unpacked text")
        workbook = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        try:
            rows = _sheet(workbook, options.sheet, source)
        finally:
            workbook.close()
    width = max(len(row) for row in rows)
    names = [_word(cell) or "" for cell in _padded(rows[0], width)]
    if len(rows) == 1:
        raise FileProblem(f"{where(source)} has names of columns, but no rows of values below them.")
    values = zip(*(_padded(row, width) for row in rows[1:]), strict=True)
    return named_columns(names, [_array(list(column)) for column in values], source)


def _sheet(workbook: Any, wanted: str | None, source: str) -> Rows:
    sheets = {sheet.title: sheet for sheet in workbook.worksheets}
    there = f"there are {listed(list(sheets), 20)}"
    if wanted is not None and wanted not in sheets:
        raise FileProblem(f"{where(source)} has no sheet named {shown(wanted)}: {there}.")
    titles = list(sheets) if wanted is None else [wanted]
    filled = [title for title in titles if next(_rows(sheets[title], source), None) is not None]
    if not filled:
        what = "no sheet with values" if wanted is None else f"no values in sheet {shown(wanted)}"
        raise FileProblem(f"{where(source)} has {what}: {there}.")
    if len(filled) > 1:
        raise FileProblem(
            f"{where(source)} has several sheets with values: pass the name of one as sheet, "
            f"{listed(filled, 20)}."
        )
    return _fitting(_rows(sheets[filled[0]], source), source)


def _fitting(rows: Iterator[tuple[Any, ...]], source: str) -> Rows:
    """All rows, as long as a table as wide as the widest of them fits."""
    room, width = at_hand(), 0
    kept: Rows = []
    for row in rows:
        width = max(width, len(row))
        kept.append(row)
        if (needed := CELL * width * len(kept)) > room:
            check_room(source, needed, "its sheet")
    return kept


def _rows(sheet: Any, source: str) -> Iterator[tuple[Any, ...]]:
    """Rows that are not empty."""
    # What a sheet says of its own size is often wrong.
    sheet.reset_dimensions()
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        if number > MOST_ROWS or len(row) > MOST_COLUMNS:
            raise FileProblem(
                f"{where(source)} has cells beyond the {MOST_ROWS} rows and {MOST_COLUMNS} columns of Excel: "
                "save it again with Excel, or as CSV."
            )
        if any(cell is not None for cell in row):
            yield row


def _padded(row: tuple[Any, ...], width: int) -> tuple[Any, ...]:
    return row + (None,) * (width - len(row))


def _word(cell: Any) -> str | None:
    return None if cell is None else str(cell)


def _array(cells: list[Any]) -> Any:
    """An array of the type that all cells have, else of words."""
    pa = arrow()
    kinds = {type(cell) for cell in cells if cell is not None}
    if len(kinds) == 1 or kinds == {int, float}:
        try:
            return pa.array(cells, pa.large_string() if kinds == {str} else None)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            pass
    return pa.array([_word(cell) for cell in cells], pa.large_string())
