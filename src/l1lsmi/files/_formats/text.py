"""CSV and TSV in their many dialects."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from l1lsmi._messages import counted, printable, quoted
from l1lsmi.files._formats import Options, format_of_bytes
from l1lsmi.files._header import table_with_header
from l1lsmi.files._memory import read_all
from l1lsmi.files._table_builder import TableBuilder
from l1lsmi.files.problem import FileProblem, empty_problem, file_problems

#: Where two are equally likely, the first is used: commas also occur in numbers.
DELIMITERS = ("\t", ";", "|", ",")
NAMED_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "pipe": "|"}
SAMPLE_LINES = 20
SAMPLE_BYTES = 1 << 20
#: Limit of Arrow. A smaller file is one block, so that rows of any width fit.
MAX_BLOCK_SIZE = (1 << 31) - 1
#: Arrow takes about 9 kB and 20 microseconds for each column, however few rows there are: a text with at
#: least so many columns and at most so many lines is parsed row by row instead.
MANY_COLUMNS, FEW_LINES = 1000, 200
QUOTED = re.compile(rb'"[^"]*"')
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def read(data: bytes, source: str, options: Options) -> TableBuilder:
    """Read a text with a row of names and rows of values.

    Parameters
    ----------
    data : bytes
        May be compressed with gzip.
    source : str
        For messages.
    options : Options
        Its delimiter; None is a tab for TSV, and is inferred from the text for CSV.
    """
    notes: list[str] = []
    text = _utf8(_decompressed(data, source), source, notes)
    given = "tab" if options.delimiter is None and options.format == "tsv" else options.delimiter
    delimiter = _inferred_delimiter(text) if given is None else _checked_delimiter(given)
    names, first, start = _header(text, delimiter, source)
    _check_single_column(names, first, delimiter, source)
    arrays = _arrays(text, start, delimiter, len(first), source)
    # Programs that write numbers with a decimal comma put no comma between columns.
    decimal = "," if delimiter in (";", "\t") else "."
    table = table_with_header(names, arrays, source, decimal)
    table.decimal = decimal
    for note in notes:
        table.add_note(note)
    return table


# -- bytes to text ----------------------------------------------------------------------------


def _decompressed(data: bytes, source: str) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        with gzip.open(io.BytesIO(data)) as stream:
            return read_all(stream, source, "its decompressed text")
    except (OSError, EOFError, zlib.error):
        raise FileProblem(f"{printable(source)} is a damaged gzip file: compress it again.") from None


def _utf8(data: bytes, source: str, notes: list[str]) -> bytes:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        with file_problems(source, "text in UTF-16"):
            data = data.decode("utf-16").encode()
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        data.decode()
    except UnicodeDecodeError:
        if CONTROL.search(data):
            raise _not_text(data, source) from None
        data = data.decode("latin-1").encode()
        notes.append("The text is not in UTF-8 and is read as Latin-1: check letters with accents.")
    if b"\0" in data:
        raise _not_text(data, source)
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    # Tabs may be empty values of the last row.
    data = data.rstrip(b"\r\n ")
    if not data.strip():
        raise empty_problem(source)
    return data


def _not_text(data: bytes, source: str) -> FileProblem:
    other = format_of_bytes(data, source)
    hint = f"it looks like {other}, so pass format={other!r}" if other != "csv" else "save it as CSV"
    return FileProblem(f"{printable(source)} is not a text file, as it has control characters: {hint}.")


# -- delimiter --------------------------------------------------------------------------------


def _checked_delimiter(delimiter: str) -> str:
    character = NAMED_DELIMITERS.get(delimiter, delimiter)
    if len(character) != 1 or not character.isascii() or character in '"\r\n\0':
        raise FileProblem(
            f"The delimiter {quoted(delimiter)} cannot be used: pass one character such as ',' or ';', or "
            "'tab'."
        )
    return character


def _inferred_delimiter(text: bytes) -> str:
    """The delimiter that most lines have as often as the header."""
    lines, size = [], 0
    for line in io.BytesIO(text):
        if line.strip():
            lines.append(QUOTED.sub(b"", line))
        size += len(line)
        if len(lines) == SAMPLE_LINES or size > SAMPLE_BYTES:
            break
    best, most = ",", 0
    for delimiter in DELIMITERS:
        header, *counts = (line.count(delimiter.encode()) for line in lines)
        # Rows may have one more: R writes row names without a name above them.
        n_agreeing = 1 + sum(count - header in (0, 1) for count in counts) if header else 0
        if n_agreeing > most:
            best, most = delimiter, n_agreeing
    return best


def _check_single_column(names: list[str], first: list[str], delimiter: str, source: str) -> None:
    """Refuse a single column whose name and first value both hold another delimiter."""
    others = [other for other in (*DELIMITERS, " ") if other in names[0] and other in first[0]]
    if len(first) == 1 and others:
        raise FileProblem(
            f"{printable(source)} has a single column named {quoted(names[0])} when {quoted(delimiter)} is "
            f"the delimiter: pass another delimiter, perhaps {quoted(others[0])}."
        )


# -- text to arrays ---------------------------------------------------------------------------


def _records(text: bytes, delimiter: str, strict: bool) -> Iterator[tuple[list[str], int, int]]:
    """Rows that are not empty, with the number of their first line and the position after them."""
    stream = io.BytesIO(text)
    # Read line by line, so that the position of the stream is always the end of a row.
    lines = (line.decode() for line in iter(stream.readline, b""))
    rows = csv.reader(lines, delimiter=delimiter, strict=strict)
    line = 1
    while (row := _next(rows, len(text))) is not None:
        if row:
            yield row, line, stream.tell()
        line = rows.line_num + 1


def _next(rows: Any, longest: int) -> list[str] | None:
    """The next row, with cells as long as the text at most; the limit of the csv module is restored."""
    before = csv.field_size_limit(min(max(longest, 1), MAX_BLOCK_SIZE))
    try:
        row: list[str] | None = next(rows, None)
    finally:
        csv.field_size_limit(before)
    return row


def _header(text: bytes, delimiter: str, source: str) -> tuple[list[str], list[str], int]:
    """Names of the columns, the first row of values, and its position."""
    try:
        records = _records(text, delimiter, strict=False)
        names, _, start = next(records)
        first = next(records, None)
    except csv.Error as error:
        raise FileProblem(
            f"{printable(source)} has a row of names that cannot be parsed ({error}): check that every "
            "quote in it is closed."
        ) from None
    if first is None:
        hint = (
            "check that every quote is closed" if text.count(b'"') % 2 else "pass a file with rows of values"
        )
        raise FileProblem(f"{printable(source)} has names of columns, but no values below them: {hint}.")
    row, line, _ = first
    if len(row) - len(names) not in (0, 1):
        raise _ragged(source, line, len(row), len(names))
    return names, row, start


def _ragged(source: str, line: int, got: int, expected: int) -> FileProblem:
    return FileProblem(
        f"{printable(source)} has {counted(got, 'value')} in line {line}, where {expected} are expected: fix "
        "that line, or pass another delimiter."
    )


def _arrays(text: bytes, start: int, delimiter: str, n_fields: int, source: str) -> list[Any]:
    """All values as strings, one array for each column."""
    if n_fields >= MANY_COLUMNS and text.count(b"\n") <= FEW_LINES:
        try:
            return _columns_of_rows(text, delimiter, n_fields, source)
        except csv.Error:
            pass  # of quotes inside of a cell, which Arrow takes as they are, or of one that is not closed
    keys = [str(column) for column in range(n_fields)]
    body = pa.py_buffer(text).slice(start)
    block = min(max(len(body) + 1, 1 << 16), MAX_BLOCK_SIZE)
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(body),
            read_options=arrow_csv.ReadOptions(column_names=keys, block_size=block),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in text),
            # As strings, because the kind of a column depends on all of its values.
            convert_options=arrow_csv.ConvertOptions(column_types=dict.fromkeys(keys, pa.large_string())),
        )
    except pa.ArrowInvalid as error:
        _check_rows(text, delimiter, n_fields, source)
        with file_problems(source, "CSV"):
            raise error
    columns: list[Any] = table.columns
    last = columns[-1][-1].as_py() if table.num_rows else None
    if last is not None and "\n" in last and text.count(b'"') % 2:
        # Arrow takes the rest of the text for one cell.
        line = text[: len(text) - len(last.encode())].count(b"\n") + 1
        raise FileProblem(
            f"{printable(source)} has a quote in line {line} that is not closed: close it, or remove it."
        )
    return columns


def _columns_of_rows(text: bytes, delimiter: str, n_fields: int, source: str) -> list[Any]:
    """All values as strings, parsed row by row; the columns are slices of one array."""
    records = _rows_of_strings(text, delimiter)
    next(records)
    rows = []
    for row, line in records:
        if len(row) != n_fields:
            raise _ragged(source, line, len(row), n_fields)
        rows.append(row)
    n_rows = len(rows)
    by_column = np.arange(n_rows * n_fields).reshape(n_rows, n_fields).T.ravel()
    cells = pa.concat_arrays(rows).take(pa.array(by_column))
    return [cells.slice(start, n_rows) for start in range(0, len(cells), n_rows)]


def _rows_of_strings(text: bytes, delimiter: str) -> Iterator[tuple[Any, int]]:
    """Rows that are not empty, each an array of strings, with the number of its first line."""
    if b'"' in text or text.count(b"\r") > text.count(b"\r\n"):
        yield from ((pa.array(row, pa.large_string()), n) for row, n, _ in _records(text, delimiter, True))
        return
    # Without quotes, a cell is what is between two delimiters, and there need be no object for each.
    for number, line in enumerate(io.BytesIO(text), 1):
        if cells := line.removesuffix(b"\n").removesuffix(b"\r"):
            yield _strings_between(cells, delimiter.encode()), number


def _strings_between(line: bytes, delimiter: bytes) -> Any:
    """What is between the delimiters of a line, as an array of strings."""
    places = np.flatnonzero(np.frombuffer(line, dtype=np.uint8) == delimiter[0])
    # Where strings end once the delimiters are left out.
    ends = np.append(places, len(line)) - np.arange(places.size + 1)
    offsets = np.append(0, ends).astype(np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(line.translate(None, delimiter))]
    return pa.Array.from_buffers(pa.large_string(), ends.size, buffers)


def _check_rows(text: bytes, delimiter: str, n_fields: int, source: str) -> None:
    """Raise an error that names the line that cannot be parsed."""
    line = 1
    try:
        records = _records(text, delimiter, strict=True)
        next(records)
        for row, line, _ in records:
            if len(row) != n_fields:
                raise _ragged(source, line, len(row), n_fields)
    except csv.Error as error:
        raise FileProblem(
            f"{printable(source)} cannot be parsed after line {line}, perhaps because a quote is not closed "
            f"({error})."
        ) from None
