"""Results as Parquet: a part for every finished method of a trial, merged into one file.

Parts are written atomically, so that a killed run loses only the methods that were running. Rows belong to
a cell (dataset, trial, method), and no cell is stored twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet

try:
    import fcntl
except ImportError:  # Windows: two runs into one directory are not detected
    fcntl = None

SCHEMA = pa.schema(
    [
        ("experiment", pa.string()),
        ("dataset", pa.string()),
        ("trial", pa.int32()),
        ("method", pa.string()),
        ("protocol", pa.string()),
        ("k", pa.int32()),
        ("status", pa.string()),
        ("reason", pa.string()),
        ("metric", pa.string()),
        ("value", pa.float64()),
        ("selected", pa.list_(pa.int32())),
        ("redundancy", pa.float64()),
        ("n_train", pa.int32()),
        ("n_test", pa.int32()),
        ("C", pa.float64()),
        ("sigma_factor", pa.float64()),
        # Null if the selection or evaluation is shared with an earlier row.
        ("select_seconds", pa.float64()),
        ("evaluate_seconds", pa.float64()),
        ("seed", pa.int64()),
        ("partial", pa.bool_()),
    ]
)
TEMPORARY = ".tmp"

Cell = tuple[str, int, str]
Row = dict[str, Any]


class InUseError(RuntimeError):
    """Another process writes to the same results."""


class Store:
    """The results of one experiment in one directory.

    Parameters
    ----------
    directory : Path
        Created if it does not exist.
    experiment : str
        Base name of the files: ``.parquet`` has the rows, ``.json`` their provenance, ``.parts`` is the
        directory of parts that are not merged yet, and ``.log`` has a line for every finished cell.
    """

    def __init__(self, directory: Path, experiment: str) -> None:
        self.directory = Path(directory)
        self.experiment = experiment
        self.path = self.directory / f"{experiment}.parquet"
        self.record = self.directory / f"{experiment}.json"
        self.parts = self.directory / f"{experiment}.parts"
        self.log_path = self.directory / f"{experiment}.log"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the results against other processes.

        The operating system releases the lock of a process that is killed.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        with open(self.directory / f".{self.experiment}.lock", "a+") as file:
            try:
                if fcntl is not None:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.seek(0)
                raise InUseError(
                    f"Process {file.read().strip()} is writing results of {self.experiment!r} to "
                    f"{self.directory}: wait until it ends, or choose another directory with --out."
                ) from None
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield

    def rows(self) -> list[Row]:
        """All rows in a fixed order, of the parts and of the merged file."""
        cells: dict[Cell, list[Row]] = {}
        if self.path.is_file():
            _group(pa.parquet.read_table(self.path), cells)
        _replace(self._part_paths(), cells)
        return sorted((row for rows in cells.values() for row in rows), key=_place)

    def write_part(self, rows: list[Row]) -> None:
        """Write the rows of a finished cell, and log it."""
        dataset, trial, method = cell_of(rows[0])
        self.parts.mkdir(parents=True, exist_ok=True)
        _write(rows, self.parts / f"{dataset}.{trial}.{method}.parquet")
        # After the part: a cell that the log calls finished is not run again.
        self.log(f"finished {dataset} {trial} {method} {worst_status(rows)}")

    def log(self, text: str) -> None:
        """Append a line to the log; lines of several processes are not mixed."""
        line = f"{datetime.now(UTC).isoformat(timespec='milliseconds')} {os.getpid()} {text}\n"
        file = os.open(self.log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)

    def finished(self) -> list[Cell]:
        """Cells that the log calls finished, in the order in which they were."""
        return [_cell(words) for words in self._log_lines() if words[0] == "finished"]

    def running(self) -> list[Cell]:
        """Cells that the last session started and did not finish."""
        started: dict[Cell, None] = {}
        for words in self._log_lines():
            if words[0] == "session":
                started = {}
            elif words[0] == "started":
                started[_cell(words)] = None
            elif words[0] == "finished":
                started.pop(_cell(words), None)
        return list(started)

    def _log_lines(self) -> Iterator[list[str]]:
        """The words of every line of the log but tracebacks, whose lines are indented."""
        text = self.log_path.read_text(encoding="utf-8") if self.log_path.is_file() else ""
        return (line.split()[2:] for line in text.splitlines() if line[:1].isdigit())

    def compact(self) -> list[Row]:
        """Merge all parts into one file; the caller holds the lock."""
        for leftover in [
            *self.directory.glob(f"{self.experiment}.*{TEMPORARY}"),
            *self._part_paths(TEMPORARY),
        ]:
            leftover.unlink()
        parts = self._part_paths()
        rows = self.rows()
        if parts:
            _write(rows, self.path)
            # If killed here, both have the same cells, and the parts replace them next time.
            for part in parts:
                part.unlink()
        if self.parts.is_dir() and not any(self.parts.iterdir()):
            self.parts.rmdir()
        return rows

    def _part_paths(self, ending: str = ".parquet") -> list[Path]:
        return sorted(self.parts.glob(f"*{ending}"))


def cell_of(row: Row) -> Cell:
    """The cell of a row."""
    return row["dataset"], row["trial"], row["method"]


def _cell(words: list[str]) -> Cell:
    return words[1], int(words[2]), words[3]


def worst_status(rows: Iterable[Row]) -> str:
    """One status for the rows of a cell."""
    found = {row["status"] for row in rows}
    return next(status for status in ("failed", "skipped", "done") if status in found)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file atomically, even if the machine crashes."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}{TEMPORARY}")
    with open(temporary, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def _write(rows: list[Row], path: Path) -> None:
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(pa.Table.from_pylist(rows, SCHEMA), sink, compression="zstd")
    replace_file(path, sink.getvalue().to_pybytes())


def _replace(paths: list[Path], cells: dict[Cell, list[Row]]) -> None:
    """Replace cells by those of the parts."""
    if paths:
        newer: dict[Cell, list[Row]] = {}
        _group(pa.dataset.dataset([str(path) for path in paths], schema=SCHEMA).to_table(), newer)
        cells.update(newer)


def _group(table: pa.Table, cells: dict[Cell, list[Row]]) -> None:
    for row in table.to_pylist():
        cells.setdefault(cell_of(row), []).append(row)


def _place(row: Row) -> tuple[Any, ...]:
    return (*cell_of(row), row["protocol"], row["k"], row["selected"] or [])
