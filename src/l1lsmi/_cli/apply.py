"""``l1lsmi apply``: the columns of a saved selection, taken from new data."""

from __future__ import annotations

import sys
from typing import Any

import click

from l1lsmi._cli.checks import check_outputs
from l1lsmi._cli.options import output_options, read, reading_options, say, tell
from l1lsmi._cli.selection import load_selection
from l1lsmi._cli.text import count, printable
from l1lsmi.files import csv_text, write_table


@click.command(short_help="Take the selected columns of new data.")
@click.argument("selection", metavar="SELECTION")
@click.argument("file", metavar="NEWFILE")
@reading_options
@click.option(
    "--keep", multiple=True, metavar="COLUMN", help="Keep another column too, such as an id; can be repeated."
)
@click.option(
    "--output",
    metavar="PATH",
    help="Where to write: .csv, .tsv, .parquet, .feather or .xlsx. Standard output, as CSV, by default.",
)
@output_options
def apply(
    selection: str,
    file: str,
    keep: tuple[str, ...],
    output: str | None,
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Take the columns of a saved SELECTION from NEWFILE.

    SELECTION is a file written by l1lsmi select --save. Values are written as they are in NEWFILE, which can
    have other rows, other columns and another format than the file that was selected from.

    \b
    Example:
      l1lsmi apply selection.json new.csv --output new_selected.parquet
    """
    if as_json and output is None:
        raise click.UsageError("--json needs --output: standard output cannot have the table as well.")
    check_outputs(file, {"output": output})
    chosen = load_selection(selection)
    table = read(file, quiet or as_json, **reading)
    names = list(dict.fromkeys([*keep, *chosen["columns"]]))
    if output is None:
        sys.stdout.buffer.write(csv_text(table, names))
    else:
        write_table(table, names, output)
    result = {
        "format": "l1lsmi-applied",
        "version": 1,
        "source": table.source,
        "rows": table.n_rows,
        "columns": names,
        "output": output,
    }
    if as_json:
        tell(result)
    elif output is not None:
        say(f"{count(len(names), 'column')} of {count(table.n_rows, 'row')}: {printable(output)}", quiet)
