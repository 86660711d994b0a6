"""A file, standard input or a stream as a table."""

from __future__ import annotations

import hashlib
import importlib
import sys
from pathlib import Path
from typing import BinaryIO

from l1lsmi.files.formats import FORMATS, Options, by_bytes, by_name
from l1lsmi.files.found import Columns
from l1lsmi.files.memory import at_hand, check_room
from l1lsmi.files.problem import FileProblem, shown, where
from l1lsmi.files.table import DataTable

#: Bytes that are read at a time, so that what has no end is noticed before the memory is full.
CHUNK = 1 << 24


def read_table(
    source: str | Path | BinaryIO,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    sheet: str | None = None,
    array: str | None = None,
) -> DataTable:
    r"""Read a table from a file.

    Files are taken for data and nothing else: nothing in them is run, and nothing is unpickled.

    Parameters
    ----------
    source : str, Path or binary stream
        "-" is standard input.
    format : str or None
        "csv", "tsv", "parquet", "feather", "excel", "npz", "mat" or "h5ad". None tells it from the end of the
        name, else from the first bytes.
    delimiter : str or None
        What separates the columns of CSV and TSV; "tab" is one too. None tells it from the text, out of
        comma, semicolon, tab and bar.
    sheet : str or None
        Sheet of an Excel workbook; None is the only one that is not empty.
    array : str or None
        Matrix of features of a .npz or .mat file; None is ``X``, or the only one.

    Returns
    -------
    DataTable

    Raises
    ------
    FileProblem
        If the file cannot be read, in one sentence.

    Notes
    -----
    A value is missing where it is empty or one of NA, N/A, n/a, #N/A, NaN, nan, NaT, <NA>, null, NULL, Null
    and ?. Words that are numbers are numbers, in every format; with a semicolon or a tab as the delimiter
    they may have a comma as the decimal sign, and with a comma as the delimiter a comma between thousands.
    Dates are year-month-day, or day.month.year, or with slashes where only one order fits. A CSV file has
    names in its first row; where these are all numbers, a note says that the first row looks like data.

    Examples
    --------
    >>> import io
    >>> from l1lsmi.files import read_table
    >>> table = read_table(io.BytesIO(b"size;colour;sold\n1,5;red;yes\n2,25;blue;no\nNA;red;no\n"))
    >>> [(column.name, column.kind) for column in table.columns]
    [('size', 'number'), ('colour', 'category'), ('sold', 'yes/no')]
    >>> table.notes
    ("1 column with a comma as the decimal sign: 'size'.",)
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"format={format!r} is unknown: pass one of {', '.join(FORMATS)}.")
    data, name = _bytes(source)
    if not data:
        raise FileProblem(f"{where(name)} is empty: pass a file with a row of names and rows of values.")
    format = format or by_name(name) or by_bytes(data, name)
    options = Options(format, delimiter, sheet, array)
    _check_options(options, name)
    columns = _columns(data, name, options)
    return DataTable(
        columns=columns.in_order(),
        n_rows=len(columns.found[0].values),
        source=name,
        format=format,
        notes=tuple(columns.notes),
        sha256=hashlib.sha256(data).hexdigest(),
    )


def _columns(data: bytes, name: str, options: Options) -> Columns:
    # Only the file of the format at hand is imported, as its libraries may not be there.
    module = importlib.import_module(f"l1lsmi.files.formats.{FORMATS[options.format].module}")
    columns: Columns = module.read(data, name, options)
    return columns


def _check_options(options: Options, name: str) -> None:
    known = FORMATS[options.format]
    for option in ("delimiter", "sheet", "array"):
        value = getattr(options, option)
        if value is not None and option not in known.options:
            raise FileProblem(
                f"{where(name)} is read as {known.title}, which has no {option}: do not pass {shown(value)}."
            )


def _bytes(source: str | Path | BinaryIO) -> tuple[bytes, str]:
    """All bytes of a source, and how it is called."""
    if not isinstance(source, (str, Path)):
        return _read_all(source, "the stream"), "the stream"
    if str(source) == "-":
        if sys.stdin is None:
            raise FileProblem("standard input is closed: pass the path of a file instead.")
        try:
            return _read_all(sys.stdin.buffer, "standard input"), "standard input"
        except OSError as error:
            raise FileProblem(f"standard input cannot be read ({error.strerror or error}).") from None
    name = str(source)
    try:
        with Path(source).open("rb") as stream:
            return _read_all(stream, name), name
    except FileNotFoundError:
        raise FileProblem(f"{where(name)} does not exist: look at the spelling of its path.") from None
    except IsADirectoryError:
        raise FileProblem(f"{where(name)} is a folder: pass a file in it.") from None
    except PermissionError:
        raise FileProblem(f"{where(name)} may not be read by you: change its permissions.") from None
    except (OSError, ValueError) as error:
        if isinstance(error, FileProblem):
            raise
        raise FileProblem(
            f"{where(name)} cannot be opened ({getattr(error, 'strerror', None) or error})."
        ) from None


def _read_all(stream: BinaryIO, name: str) -> bytes:
    room, parts, size = at_hand(), [], 0
    while part := stream.read(CHUNK):
        size += len(part)
        if size > room:
            check_room(name, size)
        parts.append(part)
    return b"".join(parts)
