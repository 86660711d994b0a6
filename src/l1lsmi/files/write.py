"""Columns of a table, as they stood in the file, into a file of any format that has columns."""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from l1lsmi._atomic_file import write_whole
from l1lsmi.files.libraries import arrow, compute, library
from l1lsmi.files.problem import FileProblem, reason, shown, where
from l1lsmi.files.table import Column, DataTable, Values

SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".feather", ".xlsx")
#: Excel cannot hold longer words.
LONGEST_WORD = 32_767


def write_table(
    table: DataTable, names: Sequence[str], path: str | Path, *, rows: Sequence[int] | Values | None = None
) -> None:
    r"""Write some columns of a table with the values that they have in its file.

    The file appears whole or not at all. Values are data: a cell that begins with =, +, - or @ is written as
    it is, which a spreadsheet may take for a formula when it opens a CSV file; into .xlsx it is written as
    words.

    Parameters
    ----------
    table : DataTable
    names : sequence of str
        Columns, in the order in which they are written.
    path : str or Path
        Ends with .csv, .tsv, .parquet, .feather or .xlsx; .csv.gz and .tsv.gz are packed. It may not be the
        file that the table was read from.
    rows : sequence of int or None
        Rows to write, from 0; None writes all.

    Examples
    --------
    >>> import io, pathlib, tempfile
    >>> from l1lsmi.files import read_table, write_table
    >>> table = read_table(io.BytesIO(b"id,a,b\n007,1.50,x\n008,2,NA\n"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "few.csv"
    ...     write_table(table, ["b", "id"], path)
    ...     print(path.read_text(), end="")
    b,id
    x,007
    NA,008
    """
    target = Path(path)
    suffix = _suffix(target)
    columns = _columns(table, names)
    _check_not_source(table, target)
    chosen = None if rows is None else np.asarray(rows)
    _write(target, _contents(columns, chosen, suffix, target))


def csv_text(table: DataTable, names: Sequence[str]) -> bytes:
    r"""Some columns of a table as CSV, with the values that they have in its file.

    Parameters
    ----------
    table : DataTable
    names : sequence of str
        Columns, in the order in which they are written.

    Returns
    -------
    text : bytes

    Examples
    --------
    >>> import io
    >>> from l1lsmi.files import csv_text, read_table
    >>> csv_text(read_table(io.BytesIO(b"id,a\n007,1.50\n008,2\n")), ["a"])
    b'a\n1.50\n2\n'
    """
    return _contents(_columns(table, names), None, ".csv", Path())


def _columns(table: DataTable, names: Sequence[str]) -> list[Column]:
    columns = [table.column(name) for name in names]
    if len(set(names)) < len(columns) or not columns:
        raise ValueError(f"names must be different names of columns, at least one: got {list(names)!r}.")
    return columns


def _suffix(path: Path) -> str:
    name = path.name.lower()
    found = [suffix for suffix in SUFFIXES if name.endswith(suffix)]
    if not found:
        raise FileProblem(
            f"{where(path)} has an unknown format: let its name end with one of {', '.join(SUFFIXES)}."
        )
    return found[0]


def _check_not_source(table: DataTable, path: Path) -> None:
    try:
        same = path.samefile(table.source)
    except (OSError, ValueError):
        return
    if same:
        raise FileProblem(f"{where(path)} is the file that the table was read from: choose another name.")


def _contents(columns: Sequence[Column], rows: Values | None, suffix: str, path: Path) -> bytes:
    if suffix == ".xlsx":
        return _excel(columns, rows, path)
    if suffix in (".parquet", ".feather"):
        return _arrow(columns, rows, suffix, path)
    plain = suffix.removesuffix(".gz")
    delimiter = "\t" if plain == ".tsv" else ","
    values = zip(*(_words(_original(column, rows)) for column in columns), strict=True)
    lines = [_line(row, delimiter) for row in ([column.name for column in columns], *values)]
    data = "".join(lines).encode()
    # Without the time in it, the same table gives the same bytes.
    return gzip.compress(data, mtime=0) if suffix.endswith(".gz") else data


def _line(row: Sequence[str | None], delimiter: str) -> str:
    """A line of text. The csv module leaves carriage returns and spaces at the ends of words unquoted."""
    cells = ["" if word is None else _quoted(word, delimiter) for word in row]
    # A line without anything would be passed over.
    return (delimiter.join(cells) or '""') + "\n"


def _quoted(word: str, delimiter: str) -> str:
    if delimiter not in word and '"' not in word and word.isprintable() and word == word.strip():
        return word
    return '"' + word.replace('"', '""') + '"'


# -- values -----------------------------------------------------------------------------------


def _original(column: Column, rows: Values | None) -> Any:
    """What the file has in a column, as an array of Arrow."""
    pa = arrow()
    raw = column.raw if column.raw is not None else _from_values(column)
    array = pa.array(np.ascontiguousarray(raw)) if isinstance(raw, np.ndarray) else raw
    array = _unwrapped(array)
    return array if rows is None else array.take(pa.array(rows.astype(np.int64)))


def _unwrapped(array: Any) -> Any:
    """The same values in a way that every format can hold."""
    pa, kind = arrow(), array.type
    if pa.types.is_run_end_encoded(kind):
        return compute().run_end_decode(array)
    if pa.types.is_dictionary(kind) and array.dictionary.null_count:
        return array.cast(kind.value_type)
    return array


def _from_values(column: Column) -> Any:
    """Of a column that says in its values all that is known of it."""
    pa = arrow()
    if column.kind == "date":
        return (
            pa.array(np.round(column.values * 86_400e6), from_pandas=True)
            .cast(pa.int64())
            .cast(pa.timestamp("us"))
        )
    if column.numeric:
        return pa.array(column.values, from_pandas=True)
    return pa.array(column.values.tolist(), pa.large_string())


def _words(array: Any) -> list[str | None]:
    """Cells for a text; of floats as few digits as tell them apart."""
    pa = arrow()
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    try:
        words: list[str | None] = array.cast(pa.large_string()).to_pylist()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        if pa.types.is_timestamp(array.type) and array.type.tz is not None:
            # Of a zone that this system does not know: the same points in time.
            return _words(array.cast(pa.timestamp(array.type.unit, "UTC")))
        words = [None if item is None else str(item) for item in array.to_pylist()]
    return words


def _typed(column: Column, rows: Values | None) -> Any:
    """For formats that know types: numbers that the file has as words are numbers."""
    pa = arrow()
    array = _original(column, rows)
    is_words = pa.types.is_large_string(array.type) or pa.types.is_string(array.type)
    if not (is_words and column.numeric and column.kind != "date" and column.words == ("0", "1")):
        return array
    values = column.values if rows is None else column.values[rows]
    numbers = pa.array(values, from_pandas=True)
    whole = bool((np.isnan(values) | ((values == np.round(values)) & (np.abs(values) < 2.0**53))).all())
    return numbers.cast(pa.int64()) if whole else numbers


# -- formats ----------------------------------------------------------------------------------


def _arrow(columns: Sequence[Column], rows: Values | None, suffix: str, path: Path) -> bytes:
    pa = arrow()
    parquet = library("pyarrow.parquet", "cli", "A Parquet file")
    feather = library("pyarrow.feather", "cli", "A Feather file")
    write = parquet.write_table if suffix == ".parquet" else feather.write_feather
    made = pa.table([_typed(column, rows) for column in columns], names=[column.name for column in columns])
    stream = io.BytesIO()
    try:
        write(made, stream)
    except pa.ArrowException as error:
        other = ".feather or .csv" if suffix == ".parquet" else ".csv"
        raise FileProblem(
            f"{where(path)} cannot hold one of the columns ({reason(error)}): write a {other} file instead."
        ) from None
    return stream.getvalue()


def _excel(columns: Sequence[Column], rows: Values | None, path: Path) -> bytes:
    openpyxl = library("openpyxl", "excel", "An Excel workbook")
    cells = library("openpyxl.cell", "excel", "An Excel workbook")
    workbook = openpyxl.Workbook(write_only=True)
    sheet = workbook.create_sheet("table")

    def cell(item: Any) -> Any:
        if not isinstance(item, str):
            return item
        if len(item) > LONGEST_WORD:
            raise FileProblem(
                f"{where(path)} cannot hold words of {len(item)} letters: write a .csv file instead."
            )
        made = cells.WriteOnlyCell(sheet, item)
        # Else words that begin with = would be a formula.
        made.data_type = "s"
        return made

    names = [column.name for column in columns]
    values = zip(*(_items(_typed(column, rows)) for column in columns), strict=True)
    try:
        # All cells before the first is written, as a sheet that is left half written stays open.
        made = [[cell(item) for item in row] for row in (names, *values)]
    except openpyxl.utils.exceptions.IllegalCharacterError:
        raise FileProblem(
            f"{where(path)} cannot hold control characters: write a .csv file instead."
        ) from None
    stream = io.BytesIO()
    try:
        for row in made:
            sheet.append(row)
        workbook.save(stream)
    except OSError as error:  # the library keeps its sheet in a temporary file
        raise FileProblem(
            f"{where(path)} cannot be written, as there is no place for temporary files "
            f"({error.strerror or reason(error)})."
        ) from None
    return stream.getvalue()


def _items(array: Any) -> list[Any]:
    """Cells for Excel, which knows numbers, yes/no and dates without a zone; the rest is words."""
    pa = arrow()
    kind = array.type
    plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    try:
        if plain or pa.types.is_date(kind):
            items: list[Any] = array.to_pylist()
            return [None if item != item else item for item in items]
        if pa.types.is_timestamp(kind) and kind.tz is None:
            # Nanoseconds are cut, but a date that is too far away must not become another one.
            return list(array.cast(pa.timestamp("us"), safe=kind.unit != "ns").to_pylist())
    except (OverflowError, ValueError):  # of dates beyond the years 1 to 9999
        pass
    return _words(array)


def _write(path: Path, data: bytes) -> None:
    try:
        write_whole(path, data)
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or reason(error)
        raise FileProblem(f"{where(path)} cannot be written ({shown(words)[1:-1]}).") from None
