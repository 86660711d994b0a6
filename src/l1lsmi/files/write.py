"""Write columns of a table, with the values that they have in its file, into a file of another format."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from l1lsmi._atomic_file import write_atomically
from l1lsmi._messages import first_line, printable, quoted
from l1lsmi.files._libraries import require_pyarrow
from l1lsmi.files.problem import FileProblem
from l1lsmi.files.table import STANDARD_INPUT, Column, DataTable, Values

SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".feather", ".xlsx")


def write_table(
    table: DataTable, names: Sequence[str], path: str | Path, *, rows: Sequence[int] | Values | None = None
) -> None:
    r"""Write some columns of a table with the values that they have in its file.

    The write is atomic. A cell that begins with =, +, - or @ is written unchanged. A spreadsheet program that
    opens a CSV file may read such a cell as a formula; in an .xlsx file, the cell is text.

    Parameters
    ----------
    table : DataTable
    names : sequence of str
        Columns, in the order in which they are written.
    path : str or Path
        Its suffix is .csv, .tsv, .parquet, .feather or .xlsx; .csv.gz and .tsv.gz are compressed. It must
        not be the file that the table was read from.
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
    output = Path(path)
    suffix = _suffix(output)
    columns = _columns(table, names)
    _check_not_source(table, output)
    data = _serialized(columns, None if rows is None else np.asarray(rows), suffix, output)
    try:
        write_atomically(output, data)
    except (OSError, ValueError) as error:
        reason = quoted(getattr(error, "strerror", None) or first_line(error))[1:-1]
        raise FileProblem(f"{printable(output)} cannot be written ({reason}): choose another path.") from None


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
    return _serialized(_columns(table, names), None, ".csv", Path())


def _columns(table: DataTable, names: Sequence[str]) -> list[Column]:
    columns = [table.column(name) for name in names]
    if len(set(names)) < len(columns) or not columns:
        raise ValueError(f"names={list(names)!r} must have at least one name, and each name only once.")
    return columns


def _suffix(path: Path) -> str:
    name = path.name.lower()
    suffix = next((suffix for suffix in SUFFIXES if name.endswith(suffix)), None)
    if suffix is None:
        raise FileProblem(
            f"{printable(path)} has an unknown format: use a name that ends in one of {', '.join(SUFFIXES)}."
        )
    return suffix


def _check_not_source(table: DataTable, path: Path) -> None:
    try:
        source = sys.stdin.fileno() if table.source == STANDARD_INPUT else table.source
        same = os.path.samestat(os.stat(path), os.stat(source))
    except (OSError, ValueError, AttributeError):  # one of them is not a file
        return
    if same:
        raise FileProblem(f"{printable(path)} is the file that the table was read from: choose another name.")


def _serialized(columns: Sequence[Column], rows: Values | None, suffix: str, path: Path) -> bytes:
    require_pyarrow()
    # Imported here, as it imports pyarrow.
    module = importlib.import_module("l1lsmi.files._serialize")
    data: bytes = module.serialize(columns, rows, suffix, path)
    return data
