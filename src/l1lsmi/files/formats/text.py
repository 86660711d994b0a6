"""CSV and TSV, in the ways in which programs write them."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from typing import Any

from l1lsmi.files.columns import whole
from l1lsmi.files.formats import Options, by_bytes
from l1lsmi.files.found import Columns
from l1lsmi.files.libraries import arrow, library
from l1lsmi.files.memory import at_hand, check_room
from l1lsmi.files.names import named_columns
from l1lsmi.files.problem import FileProblem, counted, damage, shown, where
from l1lsmi.files.words import Comma

#: What may separate columns. Where two fit alike, the first is taken: commas also stand inside of numbers.
DELIMITERS = ("\t", ";", "|", ",")
NAMED_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "pipe": "|"}
SAMPLE_LINES = 20
SAMPLE_BYTES = 1 << 20
#: Arrow takes no larger block; up to it a file is one block, so that every row fits however wide it is.
LARGEST_BLOCK = (1 << 31) - 1
QUOTED = re.compile(rb'"[^"]*"')
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def read(data: bytes, source: str, options: Options) -> Columns:
    """Read a text with a row of names and rows of values.

    Parameters
    ----------
    data : bytes
        May be packed with gzip.
    source : str
        For messages.
    options : Options
        Its delimiter; None is a tab for TSV, and is told from the text for CSV.
    """
    said: list[str] = []
    text = _utf8(unpacked(data, source), source, said)
    given = "tab" if options.delimiter is None and options.format == "tsv" else options.delimiter
    delimiter = _sniffed(text) if given is None else _checked(given)
    names, first, start = _header(text, delimiter, source)
    _check_single(names, first, delimiter, source)
    arrays = _arrays(text, start, delimiter, len(first), source)
    comma: Comma = "decimal" if delimiter in (";", "\t") else "thousands" if delimiter == "," else None
    columns = named_columns(names, arrays, source, comma)
    columns.said += said
    return columns


# -- bytes to text ----------------------------------------------------------------------------


def unpacked(data: bytes, source: str) -> bytes:
    """Bytes without gzip around them."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    room, parts, size = at_hand(), [], 0
    try:
        with gzip.open(io.BytesIO(data)) as stream:
            while part := stream.read(1 << 24):
                size += len(part)
                if size > room:
                    check_room(source, size, "its unpacked text")
                parts.append(part)
    except (OSError, EOFError, zlib.error):
        raise FileProblem(f"{where(source)} is a damaged gzip file: make it again.") from None
    return b"".join(parts)


def _utf8(data: bytes, source: str, said: list[str]) -> bytes:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        with damage(source, "text in UTF-16"):
            data = data.decode("utf-16").encode()
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        data.decode()
    except UnicodeDecodeError:
        if CONTROL.search(data):
            raise _no_text(data, source) from None
        data = data.decode("latin-1").encode()
        said.append("The text is not in UTF-8 and is read as Latin-1: look at letters with accents.")
    if b"\0" in data:
        raise _no_text(data, source)
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    # Tabs stay, as they may be empty values of the last row.
    data = data.rstrip(b"\r\n ")
    if not data.strip():
        raise FileProblem(f"{where(source)} is empty: pass a file with a row of names and rows of values.")
    return data


def _no_text(data: bytes, source: str) -> FileProblem:
    found = by_bytes(data, source)
    hint = f"it looks like {found}, so pass format={found!r}" if found != "csv" else "save it as CSV"
    return FileProblem(f"{where(source)} is not a table in text, as it has bytes that no text has: {hint}.")


# -- delimiter --------------------------------------------------------------------------------


def _checked(delimiter: str) -> str:
    plain = NAMED_DELIMITERS.get(delimiter, delimiter)
    if len(plain) != 1 or not plain.isascii() or plain in '"\r\n\0':
        raise FileProblem(
            f"The delimiter {shown(delimiter)} cannot be used: pass one character such as ',' or ';', or "
            "'tab'."
        )
    return plain


def _sniffed(text: bytes) -> str:
    """The delimiter that most lines have as often as the row of names."""
    lines, size = [], 0
    for line in io.BytesIO(text):
        if line.strip():
            lines.append(QUOTED.sub(b"", line))
        size += len(line)
        if len(lines) == SAMPLE_LINES or size > SAMPLE_BYTES:
            break
    best, agreeing = ",", 0
    for delimiter in DELIMITERS:
        header, *counts = (line.count(delimiter.encode()) for line in lines)
        # Rows may have one more: R writes names of rows below no name.
        n_agreeing = 1 + sum(count - header in (0, 1) for count in counts) if header else 0
        if n_agreeing > agreeing:
            best, agreeing = delimiter, n_agreeing
    return best


def _check_single(names: list[str], first: list[str], delimiter: str, source: str) -> None:
    """A name and a value that both hold another delimiter are rows that were not taken apart."""
    others = [other for other in (*DELIMITERS, " ") if other in names[0] and other in first[0]]
    if len(first) == 1 and others:
        raise FileProblem(
            f"{where(source)} has a single column named {shown(names[0])} when {shown(delimiter)} is the "
            f"delimiter: pass another delimiter, perhaps {shown(others[0])}."
        )


# -- text to arrays ---------------------------------------------------------------------------


def _records(text: bytes, delimiter: str, strict: bool) -> Iterator[tuple[list[str], int, int]]:
    """Rows that are not empty, with the number of their first line and where the next begins."""
    stream = io.BytesIO(text)
    # Lines are drawn one at a time, so that the stream always stands at the end of a row.
    lines = (line.decode() for line in iter(stream.readline, b""))
    rows = csv.reader(lines, delimiter=delimiter, strict=strict)
    line = 1
    while (row := _next(rows, len(text))) is not None:
        if row:
            yield row, line, stream.tell()
        line = rows.line_num + 1


def _next(rows: Any, longest: int) -> list[str] | None:
    """The next row. The text is in memory, so that a cell may be as long as all of it.

    The limit is one for the whole process, and is left as it was for others.
    """
    before = csv.field_size_limit(min(max(longest, 1), LARGEST_BLOCK))
    try:
        row: list[str] | None = next(rows, None)
    finally:
        csv.field_size_limit(before)
    return row


def _header(text: bytes, delimiter: str, source: str) -> tuple[list[str], list[str], int]:
    """Names of the columns, the first row of values, and where it begins."""
    try:
        records = _records(text, delimiter, strict=False)
        names, _, start = next(records)
        first = next(records, None)
    except csv.Error as error:
        raise FileProblem(
            f"{where(source)} has no row of names that can be read, perhaps as a quote is not closed "
            f"({error})."
        ) from None
    if first is None:
        hint = ", perhaps as a quote is not closed" if text.count(b'"') % 2 else ""
        raise FileProblem(f"{where(source)} has names of columns, but no rows of values below them{hint}.")
    row, line, _ = first
    if len(row) - len(names) not in (0, 1):
        raise _ragged(source, line, len(row), len(names))
    return names, row, start


def _ragged(source: str, line: int, got: int, expected: int) -> FileProblem:
    return FileProblem(
        f"{where(source)} has {counted(got, 'value')} in line {line}, where {expected} are expected: mend "
        "that line, or pass another delimiter."
    )


def _arrays(text: bytes, start: int, delimiter: str, n_fields: int, source: str) -> list[Any]:
    """All values as words, one array for each column."""
    pa, reader = arrow(), library("pyarrow.csv", "cli", "A table in text")
    keys = [str(column) for column in range(n_fields)]
    body = pa.py_buffer(text).slice(start)
    block = min(max(len(body) + 1, 1 << 16), LARGEST_BLOCK)
    try:
        table = reader.read_csv(
            pa.BufferReader(body),
            read_options=reader.ReadOptions(column_names=keys, block_size=block),
            parse_options=reader.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in text),
            # As words, because only a look at all values of a column tells what it is.
            convert_options=reader.ConvertOptions(column_types=dict.fromkeys(keys, pa.large_string())),
        )
    except pa.ArrowInvalid as error:
        _explain(text, delimiter, n_fields, source)
        with damage(source, "CSV"):
            raise error
    return [whole(column) for column in table.columns]


def _explain(text: bytes, delimiter: str, n_fields: int, source: str) -> None:
    """Name the line of a text that cannot be taken apart."""
    line = 1
    try:
        records = _records(text, delimiter, strict=True)
        next(records)
        for row, line, _ in records:
            if len(row) != n_fields:
                raise _ragged(source, line, len(row), n_fields)
    except csv.Error as error:
        raise FileProblem(
            f"{where(source)} cannot be taken apart below line {line}, perhaps as a quote is not closed "
            f"({error})."
        ) from None
