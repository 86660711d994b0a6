"""``l1lsmi apply``: the columns of a saved selection, taken from new data."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import click

from l1lsmi._cli.checks import check_outputs
from l1lsmi._cli.data import read
from l1lsmi._cli.output import print_json, print_message
from l1lsmi._cli.selection import load_selection
from l1lsmi._cli.text import count, one_line, printable
from l1lsmi._columns.rules import CannotRead, Reading, apply
from l1lsmi._columns.saved import restored_rule
from l1lsmi._columns.words import reading_warnings
from l1lsmi._messages import quoted
from l1lsmi._versions import versions
from l1lsmi.files import Column, DataTable, FileProblem, csv_text, write_table
from l1lsmi.files._column_of_cells import values_of_cells

UNSEEN = "that the file of the selection did not have"


def run(
    selection: str,
    file: str,
    keep: tuple[str, ...],
    prepared: bool,
    output: str | None,
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Run ``l1lsmi apply``."""
    if as_json and output is None:
        raise click.UsageError("--json needs --output, because the JSON document is on standard output.")
    check_outputs(file, {"output": output})
    found = load_selection(selection)
    table = read(file, quiet or as_json, reading)
    names = list(dict.fromkeys([*keep, *found["columns"]]))
    for name in names:
        table.column(name)
    changed, notes = _read_columns(found, table, prepared)
    for note in notes:
        print_message(one_line(note), quiet or as_json)
    if prepared:
        columns = [changed.get(column.name, column) for column in table.columns]
        table = replace(table, columns=columns)
    if output is None:
        _print_table(csv_text(table, names))
        return
    write_table(table, names, output)
    if not as_json:
        message = f"{count(len(names), 'column')} of {count(table.n_rows, 'row')}: {printable(output)}"
        print_message(message, quiet)
        return
    print_json(
        {
            "format": "l1lsmi-applied",
            "version": 1,
            "versions": versions(),
            "source": table.source,
            "rows": table.n_rows,
            "columns": names,
            "prepared": prepared,
            "output": output,
            "notes": notes,
        }
    )


def _print_table(text: bytes) -> None:
    """Print a table: as it is for another program, and with control characters escaped in a terminal."""
    if sys.stdout.isatty():
        lines = text.decode("utf-8", "replace").split("\n")
        text = "\n".join(map(printable, lines)).encode("utf-8")
    sys.stdout.buffer.write(text)


def _read_columns(
    found: dict[str, Any], table: DataTable, prepared: bool
) -> tuple[dict[str, Column], list[str]]:
    """The selected columns as `select` read them, and what differs from the file of the selection."""
    features = found.get("features")
    words = found.get("na_values")
    na_values = tuple(word for word in words if isinstance(word, str)) if isinstance(words, list) else ()
    columns: dict[str, Column] = {}
    notes: list[str] = []
    for feature in features if isinstance(features, list) else ():
        name = feature.get("name") if isinstance(feature, dict) else None
        rule = restored_rule(feature.get("read_as")) if name in found["columns"] else None
        if name is None or rule is None:
            continue
        try:
            reading = apply(rule, table.column_cells(name, bool(rule.levels)), na_values)
        except CannotRead as problem:
            said = f"Column {quoted(name)} has {problem}, but was used as '{rule.used_as}' in the selection."
            if prepared:
                raise FileProblem(f"{said[:-1]}: correct it, or leave out --prepared.") from None
            notes.append(said)
            continue
        columns[name] = _column(name, rule.kind, reading)
        notes += reading_warnings(name, reading, UNSEEN)
    if prepared and {*found["columns"]} - {*columns}:
        raise FileProblem(
            "The selection does not say how its columns are read: select again with l1lsmi select --save, or "
            "leave out --prepared."
        )
    return columns, notes


def _column(name: str, kind: str, reading: Reading) -> Column:
    values = values_of_cells(reading.cells)
    return Column(name, "number" if kind == "date" else kind, values, int(reading.cells.missing.sum()))
