"""Results as Parquet: a small part for every finished method of a trial, and one file of them all.

A part appears under its name only when it is complete, so that a run that is killed loses what it had in
hand and nothing else. Rows belong to a cell (dataset, trial, method), and a cell is never there twice.
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
except ImportError:  # Windows: nobody watches over two runs into one directory there
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
        # Null where a selection or an evaluation served another row before.
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
    """Somebody else writes to the same results."""


class Store:
    """The results of one experiment in one directory.

    Parameters
    ----------
    directory : Path
        Made if it is not there.
    experiment : str
        ``experiment.parquet`` holds the rows, ``experiment.json`` how they came about, ``experiment.parts``
        what is not yet in the one file, and ``experiment.log`` a line for every finished cell.
    """

    def __init__(self, directory: Path, experiment: str) -> None:
        self.directory = Path(directory)
        self.experiment = experiment
        self.path = self.directory / f"{experiment}.parquet"
        self.record = self.directory / f"{experiment}.json"
        self.parts = self.directory / f"{experiment}.parts"
        self.log = self.directory / f"{experiment}.log"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep others from writing here.

        The system lets go of the lock of a process that dies, however it dies.
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
        """All rows in a fixed order, whether in parts or in the one file."""
        cells: dict[Cell, list[Row]] = {}
        if self.path.is_file():
            _group(pa.parquet.read_table(self.path), cells)
        _replace(self._part_paths(), cells)
        return sorted((row for rows in cells.values() for row in rows), key=_place)

    def write_part(self, rows: list[Row]) -> None:
        """Keep the rows of a finished cell, and say so in the log."""
        dataset, trial, method = cell_of(rows[0])
        self.parts.mkdir(parents=True, exist_ok=True)
        _write(rows, self.parts / f"{dataset}.{trial}.{method}.parquet")
        # After the part, not before: what the log calls finished is never run again.
        self.note(f"finished {dataset} {trial} {method} {worst_status(rows)}")

    def note(self, text: str) -> None:
        """Append a line to the log; lines of several processes do not mix."""
        line = f"{datetime.now(UTC).isoformat(timespec='milliseconds')} {os.getpid()} {text}\n"
        file = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)

    def finished(self) -> list[Cell]:
        """Cells that the log calls finished, in the order in which they were."""
        return [_cell(words) for words in self._log_lines() if words[0] == "finished"]

    def in_hand(self) -> list[Cell]:
        """Cells that the last session of processes began and did not finish."""
        begun: dict[Cell, None] = {}
        for words in self._log_lines():
            if words[0] == "session":
                begun = {}
            elif words[0] == "started":
                begun[_cell(words)] = None
            elif words[0] == "finished":
                begun.pop(_cell(words), None)
        return list(begun)

    def _log_lines(self) -> Iterator[list[str]]:
        """What every line of the log says, in words; lines of a traceback are indented."""
        text = self.log.read_text(encoding="utf-8") if self.log.is_file() else ""
        return (line.split()[2:] for line in text.splitlines() if line[:1].isdigit())

    def compact(self) -> list[Row]:
        """Move all parts into the one file; whoever calls it holds the lock."""
        for leftover in [
            *self.directory.glob(f"{self.experiment}.*{TEMPORARY}"),
            *self._part_paths(TEMPORARY),
        ]:
            leftover.unlink()
        parts = self._part_paths()
        rows = self.rows()
        if parts:
            _write(rows, self.path)
            # Killed here, both hold the same cells, and next time the parts replace them.
            for part in parts:
                part.unlink()
        if self.parts.is_dir() and not any(self.parts.iterdir()):
            self.parts.rmdir()
        return rows

    def _part_paths(self, ending: str = ".parquet") -> list[Path]:
        return sorted(self.parts.glob(f"*{ending}"))


def cell_of(row: Row) -> Cell:
    """What is run as a whole, and kept as a whole."""
    return row["dataset"], row["trial"], row["method"]


def _cell(words: list[str]) -> Cell:
    return words[1], int(words[2]), words[3]


def worst_status(rows: Iterable[Row]) -> str:
    """One status for the rows of a cell."""
    found = {row["status"] for row in rows}
    return next(status for status in ("failed", "skipped", "done") if status in found)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file so that it is there as a whole or not at all, even after a crash."""
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
    """Let parts take the place of what is known of their cells."""
    if paths:
        newer: dict[Cell, list[Row]] = {}
        _group(pa.dataset.dataset([str(path) for path in paths], schema=SCHEMA).to_table(), newer)
        cells.update(newer)


def _group(table: pa.Table, cells: dict[Cell, list[Row]]) -> None:
    for row in table.to_pylist():
        cells.setdefault(cell_of(row), []).append(row)


def _place(row: Row) -> tuple[Any, ...]:
    return (*cell_of(row), row["protocol"], row["k"], row["selected"] or [])
