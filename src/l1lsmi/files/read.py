"""Read a file, standard input or a stream into a table."""

from __future__ import annotations

import hashlib
import importlib
import sys
from pathlib import Path
from typing import BinaryIO

from l1lsmi._messages import printable, quoted
from l1lsmi.files._formats import FORMATS, Options, format_of_bytes, format_of_name
from l1lsmi.files._libraries import require_pyarrow
from l1lsmi.files._memory import read_all
from l1lsmi.files._table_builder import TableBuilder
from l1lsmi.files.problem import FileProblem, empty_problem
from l1lsmi.files.table import STANDARD_INPUT, DataTable


def read_table(
    source: str | Path | BinaryIO,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    sheet: str | None = None,
    array: str | None = None,
) -> DataTable:
    r"""Read a table from a file.

    Nothing in a file is executed or unpickled, and libraries that can crash on a damaged file run in a
    separate process.

    Parameters
    ----------
    source : str, Path or binary stream
        "-" is standard input.
    format : str or None
        "csv", "tsv", "parquet", "feather", "excel", "npz", "mat" or "h5ad". None infers it from the suffix of
        the name, else from the first bytes.
    delimiter : str or None
        Character that separates the columns of CSV and TSV, or "tab". None infers it from the text: comma,
        semicolon, tab or vertical bar.
    sheet : str or None
        Sheet of an Excel workbook; None reads the only sheet that is not empty.
    array : str or None
        Name of the matrix of features in a .npz or .mat file. None uses ``X`` and all matrices with as many
        rows; without ``X``, all matrices, which must have the same number of rows.

    Returns
    -------
    DataTable

    Raises
    ------
    FileProblem
        If the file cannot be read; the message is one sentence.

    Notes
    -----
    Missing values, numbers and dates in text are read in every format as `TablePreparation` of
    `l1lsmi.preparation` reads them. With a semicolon or a tab as the delimiter, a comma in numbers such as
    "1,234" is a decimal comma. The first row of a CSV file has the names of the columns; if all names are
    numbers, a note says that this row looks like data.

    Examples
    --------
    >>> import io
    >>> from l1lsmi.files import read_table
    >>> table = read_table(io.BytesIO(b"size;colour;sold\n1,5;red;yes\n2,25;blue;no\nNA;red;no\n"))
    >>> [(column.name, column.kind) for column in table.columns]
    [('size', 'number'), ('colour', 'category'), ('sold', 'yes/no')]
    >>> table.column("size").values.tolist()
    [1.5, 2.25, nan]
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"format={format!r} is unknown: pass one of {', '.join(FORMATS)}.")
    data, name = _bytes(source)
    if not data:
        raise empty_problem(name)
    format = format or format_of_name(name) or format_of_bytes(data, name)
    options = Options(format, delimiter, sheet, array)
    _check_options(options, name)
    table = _decode(data, name, options)
    columns = table.columns
    return DataTable(
        columns=columns,
        n_rows=len(columns[0].values),
        source=name,
        format=format,
        notes=tuple(table.notes),
        sha256=hashlib.sha256(data).hexdigest(),
        decimal=table.decimal,
    )


def _decode(data: bytes, name: str, options: Options) -> TableBuilder:
    require_pyarrow()
    # Imported here, as it needs the libraries of its format.
    module = importlib.import_module(f"l1lsmi.files._formats.{FORMATS[options.format].module}")
    table: TableBuilder = module.read(data, name, options)
    return table


def _check_options(options: Options, name: str) -> None:
    known = FORMATS[options.format]
    for option in ("delimiter", "sheet", "array"):
        value = getattr(options, option)
        if value is not None and option not in known.options:
            raise FileProblem(
                f"{printable(name)} is read as {known.title}, which has no {option}: leave out the "
                f"{option} {quoted(value)}."
            )


def _bytes(source: str | Path | BinaryIO) -> tuple[bytes, str]:
    """All bytes of a source, and its name in messages."""
    if not isinstance(source, (str, Path)):
        return read_all(source, "the stream"), "the stream"
    if str(source) == "-":
        if sys.stdin is None:
            raise FileProblem("standard input is closed: pass the path of a file instead.")
        try:
            return read_all(sys.stdin.buffer, STANDARD_INPUT), STANDARD_INPUT
        except OSError as error:
            raise FileProblem(f"standard input cannot be read ({error.strerror or error}).") from None
    name = str(source)
    try:
        with Path(source).open("rb") as stream:
            return read_all(stream, name), name
    except FileProblem:
        raise
    except FileNotFoundError:
        raise FileProblem(f"{printable(name)} does not exist: check its path.") from None
    except IsADirectoryError:
        raise FileProblem(f"{printable(name)} is a folder: pass a file in it.") from None
    except PermissionError:
        raise FileProblem(
            f"{printable(name)} cannot be read (permission denied): check its permissions."
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileProblem(f"{printable(name)} cannot be opened ({reason}).") from None
