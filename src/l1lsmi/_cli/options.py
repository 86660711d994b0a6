"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])

FORMATS = ("csv", "tsv", "parquet", "feather", "excel", "npz", "mat", "h5ad")
#: The names of `l1lsmi.methods.METHODS`, known without importing scikit-learn.
METHOD_NAMES = (
    *("l1-lsmi", "l1-lsmi-paper", "l1-hsic", "pearson", "hsic-ranking", "smi-ranking", "mi-ranking"),
    *("hsic-forward", "smi-forward", "hsic-backward", "smi-backward", "mrmr", "qpfs", "lasso", "relieff"),
    *("spec", "laplacian"),
)


def _store_json(context: click.Context, parameter: click.Parameter, value: bool) -> bool:
    context.find_root().obj["json"] = value
    return value


def _group(*options: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Several options as one decorator, in this order in the help."""

    def decorate(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


#: FILE and its target.
data_options = _group(
    click.argument("file", metavar="FILE"),
    click.option("-t", "--target", required=True, help="Column to predict, or several, separated by commas."),
)


def _number_or_auto(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> int | str | None:
    """A whole number, at least 1, or "auto"."""
    if value is None or value.strip().lower() == "auto":
        return value and "auto"
    try:
        number = int(value)
    except ValueError:  # also of more digits than Python converts
        number = 0
    if number < 1:
        raise click.BadParameter(f"{value[:40]!r} is neither a whole number of at least 1 nor auto.")
    return number


class _Number(click.IntRange):
    """A number of features, of a command that does not choose it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "auto":
            self.fail("auto works only with l1lsmi select: give a number of features.", param, ctx)
        return super().convert(value, param, ctx)


k_option = click.option(
    "-k",
    type=_Number(min=1),
    help="Number of features; by default 10, or half of the features if there are fewer than 20.",
)

#: -k for a command that can choose the number.
k_or_auto_option = click.option(
    "-k",
    callback=_number_or_auto,
    metavar="NUMBER|auto",
    help="Number of features; by default 10, or half of the features if there are fewer than 20. auto "
    "uses rows that the search has not seen to choose the number, and selects none if there is no "
    "evidence that any predict the target.",
)

report_option = click.option("--report", metavar="PATH", help="Write an HTML report.")


model_option = click.option(
    "--model",
    metavar="PATH",
    help="Model to test with the selected features on held-out rows: the import path of its class, such as "
    "sklearn.ensemble.RandomForestClassifier. Without this option, --report tests a default model.",
)


def time_limit_option(help: str) -> Callable[[Function], Function]:
    """--time-limit."""
    return click.option("--time-limit", type=float, metavar="SECONDS", help=help)


def max_rows_option(default: int, at_least: int) -> Callable[[Function], Function]:
    """--max-rows."""
    text, rows = "Use a random sample of at most this many rows.", click.IntRange(min=at_least)
    return click.option("--max-rows", type=rows, default=default, show_default=True, help=text)


#: How to read a file.
reading_options = _group(
    click.option(
        "--format",
        "format_",
        type=click.Choice(FORMATS),
        help="File format, if the file name does not show it.",
    ),
    click.option("--delimiter", help="Delimiter of a text file; detected by default."),
    click.option("--sheet", help="Sheet of an Excel file."),
    click.option("--array", help="Array with the features, in an .npz or .mat file."),
)


def columns_option(*names: str, help: str) -> Callable[[Function], Function]:
    """An option with names of columns, separated by commas or repeated."""
    return click.option(*names, multiple=True, metavar="COLUMN,...", help=help)


#: Columns that are no features, and features that are selected in any case or in none.
role_options = _group(
    click.option(
        "--groups",
        metavar="COLUMN",
        help="Column of groups of rows that belong together, such as patients.",
    ),
    click.option("--weights", metavar="COLUMN", help="Column of weights of the rows."),
    columns_option(
        "--covariates",
        help="Columns that are never selected: features are selected for what they add to these columns.",
    ),
)
constraint_options = _group(
    columns_option("--include", help="Always select these columns."),
    columns_option("--exclude", help="Never select these columns."),
)


def _not_zero(context: click.Context, parameter: click.Parameter, value: int | None) -> int | None:
    if value == 0:
        raise click.BadParameter("0 is not a number of threads: pass 1 or more, or -1 for one per core.")
    return value


jobs_option = click.option(
    "--jobs",
    type=int,
    callback=_not_zero,
    metavar="NUMBER",
    help="Number of threads that work at the same time; -1 is one for each core.",
)

#: How to read a file, and how to turn its columns into features and a target.
preparing_options = _group(
    reading_options,
    click.option(
        "--task",
        type=click.Choice(("auto", "classification", "regression", "survival")),
        default="auto",
        show_default=True,
        help="Whether the target has classes or is numeric. survival takes two target columns: the time, and "
        "the event, which is 1, or 0 if the time is censored.",
    ),
    click.option(
        "--missing",
        type=click.Choice(("keep", "drop", "error")),
        default="keep",
        show_default=True,
        help="What to do with missing values of features: keep them missing, drop their rows, or stop.",
    ),
    click.option(
        "--na-values",
        multiple=True,
        metavar="TEXT,...",
        help="Text that stands for a missing value, in addition to empty cells, NA, n/a, -, ? and the like.",
    ),
    columns_option("--categorical", help="Treat these columns as categories, whatever their values are."),
    columns_option("--drop", help="Leave these columns out."),
    columns_option("--keep", "--only", "keep", help="Use only these columns as features."),
    click.option(
        "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Random seed."
    ),
)

#: --json and --quiet.
output_options = _group(
    click.option(
        "--json",
        "as_json",
        is_flag=True,
        is_eager=True,
        callback=_store_json,
        help="Print JSON and nothing else.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Print no progress and no messages."),
)
