"""Commands, their options and help; the module of a command is imported only when it runs."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module, resources
from typing import Any

import click

from l1lsmi._cli.interrupt import exit_on_interrupt
from l1lsmi._cli.options import (
    METHOD_NAMES,
    constraint_options,
    data_options,
    jobs_option,
    k_option,
    k_or_auto_option,
    max_rows_option,
    model_option,
    output_options,
    preparing_options,
    reading_options,
    report_option,
    role_options,
    time_limit_option,
)

#: Methods that `compare` compares by default: they are quick on any file.
COMPARED = ("l1-lsmi", "l1-hsic", "pearson", "mrmr", "qpfs", "lasso", "relieff")
MEASURES = ("smi", "hsic", "mi", "pearson")
FORMULAS = (
    "Cells that begin with =, +, - or @ are written unchanged, and a spreadsheet program may run them as "
    "formulas when it opens a CSV or TSV file."
)
DOCUMENTS = ("select", "apply", "compare", "measure", "error")


def _run(command: str, options: dict[str, Any]) -> int | None:
    """Import the module of a command and run it.

    Not before, as help and usage errors need neither NumPy nor scikit-learn, which take seconds to import.
    """
    name = f"l1lsmi._cli.{command}"
    with exit_on_interrupt(options["as_json"]), _without_collections(name not in sys.modules):
        module = import_module(name)
    code: int | None = module.run(**options)
    return code


@contextmanager
def _without_collections(applies: bool) -> Iterator[None]:
    """Import libraries without garbage collections, of which their many functions and classes cause hundreds.

    What is imported stays until the end, so that later collections do not look at it either.
    """
    if not (applies and gc.isenabled()):
        yield
        return
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()


@click.command(short_help="Select the columns that best predict a target.")
@data_options
@k_or_auto_option
@click.option(
    "-m",
    "--method",
    type=click.Choice(METHOD_NAMES),
    default="l1-lsmi",
    show_default=True,
    metavar="NAME",
    help=f"Method: {', '.join(METHOD_NAMES)}.",
)
@time_limit_option("Stop after this time, reading and report included, with the best set found until then.")
@click.option(
    "--resume",
    metavar="PATH",
    help="Save the progress of the search in this file, and continue from the file if it exists: a command "
    "that was killed can be run again, and gives the same answer.",
)
@report_option
@model_option
@click.option("--save", metavar="PATH", help="Write the selection as JSON, for l1lsmi apply.")
@click.option(
    "--output",
    metavar="PATH",
    help="Write the selected columns and the target to this file, with the values of FILE: .csv, .tsv, "
    f".parquet, .feather or .xlsx. {FORMULAS}",
)
@role_options
@constraint_options
@jobs_option
@preparing_options
@output_options
def select(**options: Any) -> int | None:
    """Select the columns of FILE that best predict the target.

    FILE is CSV, TSV, Parquet, Feather, Excel, .npz, .mat or .h5ad, or - for standard input. Ctrl-C stops the
    search and returns the best set so far.

    \b
    Examples:
      l1lsmi select patients.csv --target diagnosis -k 10 --report report.html
      l1lsmi select patients.csv --target diagnosis -k auto
      cat sensors.csv | l1lsmi select - -t fault -k 5 --json
    """
    return _run("select", options)


@click.command(short_help="Take the selected columns from new data.")
@click.argument("selection", metavar="SELECTION")
@click.argument("file", metavar="NEWFILE")
@reading_options
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="Keep another column as well, such as an id; can be repeated.",
)
@click.option(
    "--prepared",
    is_flag=True,
    help="Write values as the selection read them: text with numbers as numbers, dates as days, and empty "
    "cells for levels that the selection does not know.",
)
@click.option(
    "--output",
    metavar="PATH",
    help="Where to write: .csv, .tsv, .parquet, .feather or .xlsx; by default standard output, as CSV. "
    f"{FORMULAS}",
)
@output_options
def apply(**options: Any) -> int | None:
    """Take the columns of a saved SELECTION from NEWFILE.

    SELECTION is a file written by l1lsmi select --save. Values are written as they are in NEWFILE, which can
    have other rows, other columns and another format than the file of the selection. A message
    names cells that cannot be read like the cells of the selection.

    \b
    Example:
      l1lsmi apply selection.json new.csv --output new_selected.parquet
    """
    return _run("apply", options)


@click.command(short_help="Compare methods on your own data.")
@data_options
@k_option
@click.option(
    "--methods",
    metavar="NAMES",
    default=",".join(COMPARED),
    show_default=True,
    help="Methods, separated by commas. A selector of another library is given by its import path, such as "
    "sklearn.feature_selection.SelectKBest.",
)
@click.option(
    "--splits",
    type=click.IntRange(2, 100),
    default=3,
    show_default=True,
    help="Number of random splits into training and test rows.",
)
@max_rows_option(1000, at_least=20)
@time_limit_option("Stop after this time, reading and report included, with the methods that are finished.")
@report_option
@click.option(
    "--groups",
    metavar="COLUMN",
    help="Column of groups of rows that belong together, such as patients: a group is never split between "
    "training and test rows.",
)
@constraint_options
@jobs_option
@preparing_options
@output_options
def compare(**options: Any) -> int | None:
    """Compare methods on FILE by the error of a support vector machine on held-out rows.

    Every method selects on the training rows of each split. The splits are the same for all methods, and
    quick methods come first. Ctrl-C stops the comparison with the methods that are finished.

    \b
    Example:
      l1lsmi compare patients.csv --target diagnosis -k 10 --report comparison.html
    """
    return _run("compare", options)


@click.command(short_help="Measure how much a target depends on each column.")
@data_options
@click.option(
    "--measures",
    default=",".join(MEASURES),
    show_default=True,
    help="Dependence measures, separated by commas.",
)
@click.option(
    "--sort", type=click.Choice(MEASURES), help="Measure to sort by; by default the first of --measures."
)
@click.option("--top", type=click.IntRange(min=1), help="Print at most this many columns.")
@max_rows_option(2000, at_least=10)
@time_limit_option("Stop after this time, reading included, with the columns measured until then.")
@preparing_options
@output_options
def measure(**options: Any) -> int | None:
    """Measure how much the target depends on each single column of FILE, strongest dependence first.

    SMI (squared-loss mutual information), HSIC and MI (mutual information) detect any dependence, PEARSON
    only linear dependence. SMI and MI are scores on held-out rows, as in a report. A column without
    dependence of its own may still be informative in combination with others: see l1lsmi select.

    \b
    Example:
      l1lsmi measure patients.csv --target diagnosis --top 20
    """
    return _run("measure", options)


def schema_text(document: str) -> str:
    """The schema of a document as JSON text."""
    return (resources.files("l1lsmi._cli") / "schemas" / f"{document}.json").read_text(encoding="utf-8")


@click.command(short_help="Print the JSON schema of a command's output.")
@click.argument("document", metavar="COMMAND", type=click.Choice(DOCUMENTS))
def schema(document: str) -> None:
    """Print the JSON schema of what COMMAND prints with --json; "error" is what a failed command prints.

    \b
    Example:
      l1lsmi schema select > select.schema.json
    """
    click.echo(schema_text(document).rstrip())
