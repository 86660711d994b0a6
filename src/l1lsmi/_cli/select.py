"""``l1lsmi select``: the few columns of a file that say most about one of them."""

from __future__ import annotations

import json
import time
import warnings
from contextlib import nullcontext
from typing import Any

import click
from sklearn.exceptions import ConvergenceWarning

from l1lsmi._atomic_file import write_atomically
from l1lsmi._cli.checks import check_outputs, check_time_limit, number_of_features
from l1lsmi._cli.options import Data, data_options, load_data, output_options, preparing_options, say, tell
from l1lsmi._cli.selection import document
from l1lsmi._cli.text import count, one_line, printable, text_table
from l1lsmi._cli.waiting import is_watched
from l1lsmi.files import write_table
from l1lsmi.methods import METHODS
from l1lsmi.strategies.selection import StopReason

#: How a score is called where it is printed; the report's scores are of rows left out.
SCORE_WORDS = {"smi": "SMI estimate", "hsic": "HSIC estimate", "score": "score"}


@click.command(short_help="Select the columns that say most about a target.")
@data_options
@click.option(
    "-k", type=click.IntRange(min=1), help="Number of features; 10, or half of fewer than 20, by default."
)
@click.option(
    "-m",
    "--method",
    type=click.Choice(list(METHODS)),
    default="l1-lsmi",
    show_default=True,
    metavar="NAME",
    help="Method: " + ", ".join(METHODS) + ".",
)
@click.option(
    "--time-limit",
    type=float,
    metavar="SECONDS",
    help="Stop the search then, with the best set so far; a report takes its time after that.",
)
@click.option("--report", metavar="PATH", help="Write an HTML report to look at.")
@click.option("--save", metavar="PATH", help="Write the selection as JSON, for l1lsmi apply.")
@click.option(
    "--output",
    metavar="PATH",
    help="Write the selected columns and the target, values as in FILE: .csv, .tsv, .parquet, .feather or "
    ".xlsx.",
)
@preparing_options
@output_options
def select(file: str, as_json: bool, quiet: bool, **options: Any) -> int:
    """Select the columns of FILE that say most about the target.

    FILE is CSV, TSV, Parquet, Feather, Excel, .npz, .mat or .h5ad, or - for standard input. Ctrl-C ends the
    search with the best set so far.

    \b
    Examples:
      l1lsmi select patients.csv --target diagnosis -k 10 --report report.html
      cat sensors.csv | l1lsmi select - -t fault -k 5 --json
    """
    quiet = quiet or as_json
    check_outputs(file, {name: options[name] for name in ("report", "save", "output")})
    method = METHODS[options["method"]]
    check_time_limit(method, options["time_limit"])
    data = load_data(file, quiet, options)
    k = number_of_features(options["k"], data.shape[1])
    asked = {"method": method.name, "k": k, "seed": options["seed"], "time_limit": options["time_limit"]}
    with aside(method, data, asked) if options["report"] else nullcontext() as held_out:
        selector, seconds, notes = fit(method, data, asked, quiet)
        result = document(selector, data, asked, seconds, notes)
        _hand_over(result, data, options, as_json, quiet)
        interrupted = result["stop_reason"] == StopReason.INTERRUPTED
        if held_out is not None and not interrupted:
            from l1lsmi._cli.reporting import write_selection_report

            written = write_selection_report(
                options["report"], selector, seconds, data, options, quiet, held_out=held_out
            )
            interrupted = not written
    return 130 if interrupted else 0


def aside(method: Any, data: Data, asked: dict[str, Any]) -> Any:
    """Errors on rows not seen, from a search of its own."""
    from l1lsmi._cli.aside import HeldOutAside

    again = method.make(asked["k"], task=data.prepared.task, random_state=asked["seed"])
    return HeldOutAside(again, data, asked["seed"])


def fit(method: Any, data: Data, asked: dict[str, Any], quiet: bool) -> tuple[Any, float, list[str]]:
    """A fitted selector, the seconds it took, and what it warned of."""
    selector = method.make(
        asked["k"],
        task=data.prepared.task,
        random_state=asked["seed"],
        time_limit=asked["time_limit"],
        verbose=int(is_watched(quiet)),
    )
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector.fit(data.prepared.X, data.prepared.y)
    seconds = time.perf_counter() - started
    # What ended the search early is its stop_reason.
    notes = [one_line(str(w.message)) for w in caught if not issubclass(w.category, ConvergenceWarning)]
    return selector, seconds, list(dict.fromkeys(notes))


def _hand_over(
    result: dict[str, Any], data: Data, options: dict[str, Any], as_json: bool, quiet: bool
) -> None:
    """Files first: what is printed is then true."""
    if options["save"]:
        text = json.dumps(result, indent=2, ensure_ascii=True) + "\n"
        write_atomically(options["save"], text.encode("utf-8"))
    if options["output"]:
        names = [*result["columns"], result["target"]]
        write_table(data.table, names, options["output"])
    if as_json:
        tell(result)
        return
    click.echo(summary(result))
    written = f"selected columns of {_rows(data.table.n_rows)}, values as in the file"
    for name, what in (("save", "selection"), ("output", written)):
        if options[name]:
            say(f"{what}: {printable(options[name])}", quiet)


def _rows(number: int) -> str:
    return "the only row" if number == 1 else f"all {number:,} rows"


def summary(result: dict[str, Any]) -> str:
    """A selection for people."""
    features = result["features"]
    score = result["score"]
    words = f", {SCORE_WORDS[score['name']]} {score['value']:.3f}" if score else ""
    lines = [
        f"\nselected {len(features)} of {count(result['features_considered'], 'feature')} "
        f"by {result['method']} in {result['seconds']['select']:.2f} s{words}\n"
    ]
    if features[0]["weight"] is None:
        lines.append(text_table(("feature",), [(f["name"],) for f in features]))
    else:
        rows = [(f["name"], f"{f['weight']:.3f}") for f in features]
        lines.append(text_table(("feature", "weight"), rows))
    if features[0]["weight"] is None and score and score["name"] != "score":
        lines.append("\n  weights not fitted: the search was stopped")
    lines.append("")
    useful = result["n_useful_features"]
    if useful is not None and useful < len(features):
        earn = "earns its place" if useful == 1 else "earn their place"
        lines.append(f"Only {useful} of them {earn} on rows left out: -k {useful} would do.")
    if result["stop_reason"]:
        lines.append(result["stop_reason"])
    return "\n".join(lines)
