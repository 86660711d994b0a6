"""The file of a command, read and turned into features and a target."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from l1lsmi._cli.output import print_message, spinner
from l1lsmi._cli.text import count, one_line, printable, with_options
from l1lsmi.files import DataTable, Prepared, TargetTable, prepare, read_table
from l1lsmi.files._arrow_arrays import table_numbers
from l1lsmi.files._stream import StreamedFeatures, stream_table
from l1lsmi.files.table import split_names

#: Options with names of columns, and others that features on disk cannot be prepared with.
COLUMNS = ("categorical", "drop", "keep", "covariates")
IN_MEMORY = ("categorical", "na_values", "covariates", "groups", "weights")
#: Bytes of numbers up to which a selector takes a whole frame into memory.
MAX_NUMBERS = 2**28
#: Columns that are not numbers and are listed by name.
MAX_LISTED = 8


@dataclass(frozen=True)
class Data:
    """A file that was read, with its features and target."""

    table: DataTable
    prepared: Prepared
    seconds: float
    notes: list[str] = field(default_factory=list)

    def names(self, texts: Sequence[str]) -> list[str]:
        """The columns that the values of an option name."""
        return split_names(texts, self.table)

    @cached_property
    def features(self) -> Any:
        """The features as one array where all of them are numbers, which is made once; else the frame.

        Numbers of a larger frame are read a batch of rows at a time by selectors that can do so.
        """
        X = self.prepared.X
        n_rows, n_columns = self.shape
        if isinstance(X, StreamedFeatures) or n_rows * n_columns * 8 > MAX_NUMBERS:
            return X
        return X if (numbers := table_numbers(X)) is None else numbers

    @property
    def shape(self) -> tuple[int, int]:
        return self.prepared.X.shape[0], self.prepared.X.shape[1]

    @property
    def classes(self) -> list[str] | None:
        """Labels of the classes; None for regression, and for several targets."""
        return self.targets[0]["classes"] if len(self.targets) == 1 else None

    @property
    def task(self) -> str:
        """The task, which is "mixed" for several targets of both kinds."""
        return "mixed" if self.prepared.task == "auto" else self.prepared.task

    @property
    def targets(self) -> list[dict[str, Any]]:
        """Name, task and classes of every target."""
        prepared = self.prepared
        columns = prepared.y.get_columns() if isinstance(prepared.y, TargetTable) else [prepared.y]
        return [
            {
                "name": name,
                "task": task,
                "classes": np.unique(values).tolist() if task == "classification" else None,
            }
            for name, task, values in zip(prepared.targets, prepared.tasks, columns, strict=True)
        ]


def read(file: str, quiet: bool, options: dict[str, Any]) -> DataTable:
    """The columns of a file; "-" is standard input."""
    with spinner(f"reading {'standard input' if file == '-' else printable(file, 50)}", quiet):
        return read_table(
            file,
            format=options["format_"],
            delimiter=options["delimiter"],
            sheet=options["sheet"],
            array=options["array"],
        )


def _stream(file: str, quiet: bool, options: dict[str, Any]) -> DataTable | None:
    """The columns of a file whose features stay on disk; None if they have to be in memory."""
    if any(options[name] is not None for name in ("delimiter", "sheet", "array")):
        return None  # no option of these formats
    if any(options.get(name) for name in IN_MEMORY):
        return None
    with spinner(f"reading {printable(file, 50)}", quiet):
        return stream_table(file, *(options[name] for name in ("target", "format_", "drop", "keep")))


def load_data(file: str, quiet: bool, options: dict[str, Any], in_memory: bool) -> Data:
    """Read a file, make features and a target, and print what was found.

    Features of large Parquet and Feather files stay on disk, unless they have to be in memory or read as
    something else than numbers.
    """
    started = time.perf_counter()
    table = (None if in_memory else _stream(file, quiet, options)) or read(file, quiet, options)
    columns: dict[str, Any] = {name: split_names(options.get(name, ()), table) for name in COLUMNS}
    prepared = prepare(
        table,
        split_names([options["target"]], table),
        task=options["task"],
        missing=options["missing"],
        na_values=na_values(options["na_values"]),
        groups=options.get("groups"),
        weights=options.get("weights"),
        **columns,
    )
    prepared = replace(prepared, notes=tuple(with_options(note) for note in prepared.notes))
    data = Data(table, prepared, time.perf_counter() - started, [*table.notes, *prepared.notes])
    print_message(describe(data), quiet)
    for note in data.notes:
        print_message(f"  {one_line(note)}", quiet)
    return data


def na_values(texts: Sequence[str]) -> tuple[str, ...]:
    """The values of --na-values, each of which may be several, separated by commas."""
    return tuple(word.strip() for text in texts for word in text.split(",") if word.strip())


def describe(data: Data) -> str:
    """A file in a few lines: its rows, kinds of columns and target, and columns that are not numbers.

    Columns that were left out are named in the notes.
    """
    table, prepared = data.table, data.prepared
    kinds = Counter(use.kind for use in prepared.columns)
    counts = ", ".join(_count_kind(number, kind) for kind, number in kinds.most_common())
    lines = [
        f"{printable(table.source)}: {count(table.n_rows, 'row')}, "
        f"{count(len(table.columns), 'column')} ({counts})",
        *(f"target {printable(one['name'])!r}: {_describe_target(one)}" for one in data.targets),
    ]
    others = [
        use
        for use in prepared.columns
        if use.used and use.used_as not in ("number", "yes/no") and use.name not in prepared.targets
    ]
    lines += [f"  {printable(use.name, 40)}: {one_line(use.used_as)}" for use in others[:MAX_LISTED]]
    if len(others) > MAX_LISTED:
        lines.append(f"  ... and {len(others) - MAX_LISTED:,} more like these")
    return "\n".join(lines)


def _describe_target(target: dict[str, Any]) -> str:
    if target["task"] == "classification":
        return f"{len(target['classes'])} classes"
    return {"regression": "a quantity (regression)", "survival": "time or event (survival)"}[target["task"]]


def _count_kind(number: int, kind: str) -> str:
    counted = ("number", "category", "ordered category", "date")
    return count(number, kind) if kind in counted else f"{number:,} {kind}"
