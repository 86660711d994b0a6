"""Options that commands share, and the data that they lead to."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import click

from l1lsmi._cli.text import count, one_line, printable, typed
from l1lsmi._cli.waiting import waiting
from l1lsmi.files import DataTable, Prepared, prepare, read_table

Function = TypeVar("Function", bound=Callable[..., Any])

FORMATS = ("csv", "tsv", "parquet", "feather", "excel", "npz", "mat", "h5ad")
#: Columns that are listed by name where something is to be said of each.
LISTED = 8


@dataclass(frozen=True)
class Data:
    """A file that was read, and what a selector gets of it."""

    table: DataTable
    prepared: Prepared
    seconds: float
    notes: list[str] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, int]:
        return self.prepared.X.shape[0], self.prepared.X.shape[1]


def _remember_json(context: click.Context, parameter: click.Parameter, value: bool) -> bool:
    context.find_root().obj["json"] = value
    return value


READING = (
    click.option(
        "--format",
        "format_",
        type=click.Choice(FORMATS),
        help="Format, where the name of the file does not tell.",
    ),
    click.option("--delimiter", help="What separates the cells of a text file; found out by default."),
    click.option("--sheet", help="Sheet of an Excel file."),
    click.option("--array", help="Array of an .npz or .mat file that holds the features."),
)

PREPARING = (
    click.option(
        "--task",
        type=click.Choice(("auto", "classification", "regression")),
        default="auto",
        show_default=True,
        help="Whether the target has classes or is a quantity.",
    ),
    click.option(
        "--missing",
        type=click.Choice(("impute", "drop", "error")),
        default="impute",
        show_default=True,
        help="Missing values: fill in medians, drop their rows, or stop.",
    ),
    click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; can be repeated."),
    click.option("--only", multiple=True, metavar="COLUMN", help="Use no other columns; can be repeated."),
    click.option(
        "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Seed of all draws."
    ),
)

json_option = click.option(
    "--json",
    "as_json",
    is_flag=True,
    is_eager=True,
    callback=_remember_json,
    help="Print JSON and nothing else.",
)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress and no remarks.")


def data_options(function: Function) -> Function:
    """FILE and its target; below the command's own options, how to read and prepare the file."""
    function = click.option("-t", "--target", required=True, help="Column to predict.")(function)
    return click.argument("file", metavar="FILE")(function)


def preparing_options(function: Function) -> Function:
    """What to make of the columns of a file, and how to read it."""
    return reading_options(_all(PREPARING, function))


def reading_options(function: Function) -> Function:
    """How to read a file."""
    return _all(READING, function)


def _all(options: Sequence[Callable[[Function], Function]], function: Function) -> Function:
    for option in reversed(options):
        function = option(function)
    return function


def output_options(function: Function) -> Function:
    """--json and --quiet."""
    return json_option(quiet_option(function))


def say(text: str, quiet: bool = False) -> None:
    """Remark on standard error, so that standard output has the result alone."""
    # Without standard error, print would take standard output; and no remark is worth losing a result.
    if not quiet and sys.stderr is not None:
        with suppress(OSError):
            print(text, file=sys.stderr, flush=True)


def tell(result: dict[str, Any]) -> None:
    """Print the one document that a command prints with --json."""
    click.echo(json.dumps(result, ensure_ascii=True))
    click.get_current_context().find_root().obj["told"] = True


def read(file: str, quiet: bool, **reading: Any) -> DataTable:
    """The columns of a file; "-" is standard input."""
    with waiting(f"reading {'standard input' if file == '-' else printable(file, 50)}", quiet):
        return read_table(
            file,
            format=reading["format_"],
            delimiter=reading["delimiter"],
            sheet=reading["sheet"],
            array=reading["array"],
        )


def load_data(file: str, quiet: bool, options: dict[str, Any]) -> Data:
    """Read a file and make numbers of it, saying what was found."""
    started = time.perf_counter()
    reading = {name: options[name] for name in ("format_", "delimiter", "sheet", "array")}
    table = read(file, quiet, **reading)
    prepared = prepare(
        table,
        options["target"],
        task=options["task"],
        missing=options["missing"],
        drop=options["drop"],
        only=options["only"],
    )
    prepared = replace(prepared, notes=tuple(typed(note) for note in prepared.notes))
    data = Data(table, prepared, time.perf_counter() - started, [*table.notes, *prepared.notes])
    say(describe(data), quiet)
    for note in data.notes:
        say(f"  {one_line(note)}", quiet)
    return data


def describe(data: Data) -> str:
    """What a file holds, in a few lines: rows, kinds of columns, target, and columns that were encoded.

    Columns that were left out are named in the notes.
    """
    table, prepared = data.table, data.prepared
    kinds = Counter(column.kind for column in table.columns)
    kind_words = ", ".join(_count_kind(number, kind) for kind, number in kinds.most_common())
    lines = [
        f"{printable(table.source)}: {count(table.n_rows, 'row')}, "
        f"{count(len(table.columns), 'column')} ({kind_words})",
        f"target {printable(prepared.target)!r}: {_target_words(prepared)}",
    ]
    encoded = [
        use
        for use in prepared.columns
        if use.kind not in ("number", "yes/no") and use.used and use.name != prepared.target
    ]
    lines += [
        f"  {printable(use.name, 40)} ({use.kind}): {one_line(use.used_as)}" for use in encoded[:LISTED]
    ]
    if len(encoded) > LISTED:
        lines.append(f"  ... and {len(encoded) - LISTED:,} more like these")
    return "\n".join(lines)


def _count_kind(number: int, kind: str) -> str:
    return count(number, kind) if kind in ("number", "category", "date") else f"{number:,} {kind}"


def _target_words(prepared: Prepared) -> str:
    if prepared.task == "regression":
        return "a quantity (regression)"
    return f"{len(set(prepared.y.tolist()))} classes"
