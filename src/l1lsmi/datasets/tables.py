"""Published tables as columns: ARFF, text with separators, and members of zip archives."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.datasets.compress import MAGIC, uncompress
from l1lsmi.datasets.entry import Archive

ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"[^"]*"|\S+)\s+(.*)""", re.IGNORECASE)


@dataclass(frozen=True)
class RawTable:
    """Columns of a published table, as numbers or as words.

    Parameters
    ----------
    names : tuple of str
        None where the file has none.
    columns : list of ndarray
        Each of floats or of strings.
    categories : dict
        By column, the words that it may hold in the order of the source.
    """

    names: tuple[str, ...]
    columns: list[HostArray]
    categories: dict[int, tuple[str, ...]] = field(default_factory=dict)


# -- ARFF -------------------------------------------------------------------------------------


def read_arff(text: str) -> RawTable:
    r"""Read a dense ARFF file: numbers, named categories and words.

    Examples
    --------
    >>> table = read_arff("@attribute x real\n@attribute c {no, yes}\n@data\n1.5, yes\n2, no")
    >>> table.names, table.columns[0].tolist(), table.columns[1].tolist(), table.categories
    (('x', 'c'), [1.5, 2.0], ['yes', 'no'], {1: ('no', 'yes')})
    """
    names: list[str] = []
    categories: dict[int, tuple[str, ...]] = {}
    lines = iter(text.splitlines())
    for line in lines:
        if line.strip().lower() == "@data":
            break
        found = ATTRIBUTE.match(line.strip())
        if found:
            name, kind = found.group(1).strip("'\""), found.group(2).strip()
            if kind.startswith("{"):
                categories[len(names)] = tuple(next(_split([kind.strip("{} \t")])))
            names.append(name)
    rows = list(_split(line for line in lines if line.strip() and not line.lstrip().startswith("%")))
    if any(len(row) != len(names) for row in rows) or not rows or not names:
        raise ValueError(f"its rows do not have the {len(names)} values that it announces")
    return RawTable(tuple(names), _columns(rows), categories)


def _split(lines: Iterator[str] | list[str]) -> Iterator[list[str]]:
    quoted = csv.reader(lines, quotechar="'", escapechar="\\", skipinitialspace=True)
    for row in quoted:
        yield [value.strip().strip('"') for value in row]


# -- archives ---------------------------------------------------------------------------------


def read_archive(file: IO[bytes], archive: Archive) -> RawTable:
    """Read the table of a downloaded file of the UCI archive, its members one below the other."""
    if not archive.members:
        return _read_text([file], archive)
    try:
        with zipfile.ZipFile(file) as opened:
            return _read_text([_member(opened, name) for name in archive.members], archive)
    except (zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"it is no zip archive, or a damaged one ({error})") from error


def _member(opened: zipfile.ZipFile, name: str) -> IO[bytes]:
    # Some files are kept in the old .Z format, and archives may have a folder at the top.
    for path in opened.namelist():
        if path.rsplit("/", 1)[-1] in (name, f"{name}.Z"):
            stream = opened.open(path)
            packed = stream.read(len(MAGIC)) == MAGIC
            stream.seek(0)
            return io.BytesIO(uncompress(stream.read())) if packed else stream
    raise ValueError(f"there is no {name} in it")


def _read_text(streams: Sequence[IO[bytes]], archive: Archive) -> RawTable:
    parts = []
    for stream in streams:
        lines = io.TextIOWrapper(stream, encoding="latin-1")
        try:
            names = _names(lines, archive)
            parts.append(_numbers_or_words(lines, archive.delimiter))
        finally:
            # Whoever opened the stream closes it.
            lines.detach()
    if len({len(part) for part in parts}) > 1:
        raise ValueError("its parts do not have the same number of columns")
    columns = [as_numbers(np.concatenate(pieces)) for pieces in zip(*parts, strict=True)]
    return RawTable(names, columns)


def _names(lines: io.TextIOWrapper, archive: Archive) -> tuple[str, ...]:
    for _ in range(archive.skip):
        lines.readline()
    if not archive.header:
        return ()
    return tuple(name.strip(' "') for name in lines.readline().strip().split(archive.delimiter))


def _numbers_or_words(lines: io.TextIOWrapper, delimiter: str | None) -> list[HostArray]:
    start = lines.tell()
    if not lines.readline().strip():
        raise ValueError("it is empty, or begins with an empty line")
    lines.seek(start)
    try:
        # The largest file has 47 million numbers: too many to keep as words first.
        return list(np.loadtxt(lines, delimiter=delimiter, comments=None, ndmin=2).T)
    except ValueError:
        lines.seek(start)
    rows = [[value.strip() for value in line.strip().split(delimiter)] for line in lines if line.strip()]
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError("its rows do not all have the same number of values")
    return _columns(rows)


def _columns(rows: list[list[str]]) -> list[HostArray]:
    return [as_numbers(np.array(column)) for column in zip(*rows, strict=True)]


def as_numbers(words: HostArray) -> HostArray:
    """Words as numbers where all of them are: categories that are numbers keep their value."""
    try:
        return words.astype(np.float64)
    except ValueError:
        return words
