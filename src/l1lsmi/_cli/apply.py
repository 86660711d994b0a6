"""``l1lsmi apply``: the columns of a saved selection, taken from new data."""

from __future__ import annotations

import sys
from typing import Any

import click

from l1lsmi._cli.checks import check_outputs
from l1lsmi._cli.data import read
from l1lsmi._cli.output import print_json, print_message
from l1lsmi._cli.selection import load_selection
from l1lsmi._cli.text import count, printable
from l1lsmi.files import csv_text, write_table


def run(
    selection: str,
    file: str,
    keep: tuple[str, ...],
    output: str | None,
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Run ``l1lsmi apply``."""
    if as_json and output is None:
        raise click.UsageError("--json needs --output: standard output has the JSON document.")
    check_outputs(file, {"output": output})
    columns = load_selection(selection)["columns"]
    table = read(file, quiet or as_json, reading)
    names = list(dict.fromkeys([*keep, *columns]))
    if output is None:
        sys.stdout.buffer.write(csv_text(table, names))
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
            "source": table.source,
            "rows": table.n_rows,
            "columns": names,
            "output": output,
        }
    )
