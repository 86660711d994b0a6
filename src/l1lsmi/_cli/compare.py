"""``l1lsmi compare``: several methods on one's own data, judged on rows that none of them has seen."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import replace
from typing import Any

import click
import numpy as np

from l1lsmi._cli.checks import check_outputs, check_seconds, method_names, number_of_features
from l1lsmi._cli.interrupt import Interruption
from l1lsmi._cli.options import Data, data_options, load_data, output_options, preparing_options, tell
from l1lsmi._cli.select import fit
from l1lsmi._cli.text import one_line, printable, text_table
from l1lsmi._cli.waiting import is_watched
from l1lsmi._progress import Progress
from l1lsmi.evaluation import compare_selectors
from l1lsmi.evaluation.selectors import ALL_FEATURES
from l1lsmi.explain import sample_rows
from l1lsmi.methods import METHODS

#: Methods that are quick on any file.
DEFAULT = ("l1-lsmi", "l1-hsic", "pearson", "mrmr", "qpfs", "lasso", "relieff")
INTERRUPTED = "Interrupted: methods that were not finished are missing."
OUT_OF_TIME = "The time limit was reached: methods that were not finished are missing."
#: The quickest first; methods that are not named here come after these.
QUICK = (
    "pearson",
    "lasso",
    "mrmr",
    "qpfs",
    "hsic-ranking",
    "relieff",
    "spec",
    "laplacian",
    "l1-hsic",
    "l1-lsmi",
)


@click.command(short_help="Compare methods on your own data.")
@data_options
@click.option(
    "-k", type=click.IntRange(min=1), help="Number of features; 10, or half of fewer than 20, by default."
)
@click.option(
    "--methods", metavar="NAMES", help=f"Methods, separated by commas.  [default: {','.join(DEFAULT)}]"
)
@click.option(
    "--splits",
    type=click.IntRange(2, 100),
    default=3,
    show_default=True,
    help="Random splits into training and test rows.",
)
@click.option(
    "--max-rows",
    type=click.IntRange(min=20),
    default=1000,
    show_default=True,
    help="Compare on a sample of so many rows.",
)
@click.option(
    "--time-limit",
    type=float,
    metavar="SECONDS",
    help="Stop then, with the methods that are done; a report takes its time after that.",
)
@click.option("--report", metavar="PATH", help="Write an HTML report to look at.")
@preparing_options
@output_options
def compare(file: str, as_json: bool, quiet: bool, **options: Any) -> int:
    """Compare methods on FILE by the error of a support vector machine on rows that they have not seen.

    Every method selects on the training rows of each split, the same for all, the quick methods first. Ctrl-C
    ends the comparison with the methods that are done.

    \b
    Example:
      l1lsmi compare patients.csv --target diagnosis -k 10 --report comparison.html
    """
    quiet = quiet or as_json
    names = method_names(options["methods"], DEFAULT)
    check_outputs(file, {"report": options["report"]})
    check_seconds(options["time_limit"])
    data = load_data(file, quiet, options)
    k = number_of_features(options["k"], data.shape[1])
    asked = {
        "k": k,
        "seed": options["seed"],
        "splits": options["splits"],
        "time_limit": options["time_limit"],
    }
    rows = sample_rows(data.prepared.y, data.prepared.task, options["max_rows"], options["seed"])
    started = time.perf_counter()
    comparison, stop_reason = _run(data, rows, names, asked, quiet)
    result = _document(data, rows, comparison, asked, stop_reason, time.perf_counter() - started)
    if as_json:
        tell(result)
    else:
        click.echo(_summary(result))
    interrupted = stop_reason == INTERRUPTED
    if options["report"] and not interrupted:
        interrupted = not _write_report(names[0], data, comparison, {**options, "k": k}, quiet)
    return 130 if interrupted else 0


def _run(
    data: Data, rows: np.ndarray, names: tuple[str, ...], asked: dict[str, Any], quiet: bool
) -> tuple[Any, str | None]:
    """The comparison, and why it ended early, if it did."""
    task = data.prepared.task
    in_turn = sorted(names, key=lambda name: QUICK.index(name) if name in QUICK else len(QUICK))
    selectors = {
        name: METHODS[name].make(asked["k"], task=task, random_state=asked["seed"]) for name in in_turn
    }
    deadline = math.inf if asked["time_limit"] is None else time.monotonic() + asked["time_limit"]
    total = (len(names) + 1) * (asked["splits"] + 1)
    with (
        Interruption() as interruption,
        Progress(total, int(is_watched(quiet)), "fit", "comparing") as progress,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # of searches that an interruption ends early
        comparison = compare_selectors(
            selectors,
            data.prepared.X[rows],
            data.prepared.y[rows],
            task=task,
            n_splits=asked["splits"],
            random_state=asked["seed"],
            progress=lambda name, done, _: progress.advance(detail=name, steps=done - progress.done),
            stop=lambda: interruption.happened or time.monotonic() > deadline,
        )
    if not comparison.stopped:
        return _as_asked(comparison, names), None
    if not comparison.results:
        if interruption.happened:
            raise KeyboardInterrupt
        raise ValueError(
            f"The time limit of {asked['time_limit']:g} s was reached before any method was finished: allow "
            "more with --time-limit, or compare on fewer rows with --max-rows."
        )
    return _as_asked(comparison, names), INTERRUPTED if interruption.happened else OUT_OF_TIME


def _as_asked(comparison: Any, names: tuple[str, ...]) -> Any:
    """The same comparison with the methods in the order in which they were asked for, all features last."""
    place = {result.name: i for i, result in enumerate(comparison)}
    order = [place[name] for name in (*names, ALL_FEATURES) if name in place]
    return replace(
        comparison,
        results=tuple(comparison.results[i] for i in order),
        agreement=comparison.agreement[np.ix_(order, order)],
    )


def _write_report(name: str, data: Data, comparison: Any, options: dict[str, Any], quiet: bool) -> bool:
    """A report of the first method on all rows, with the comparison in it and its errors from there."""
    from l1lsmi._cli.reporting import write_selection_report

    asked = {"k": options["k"], "seed": options["seed"], "time_limit": None}
    selector, seconds, _ = fit(METHODS[name], data, asked, quiet)
    return write_selection_report(
        options["report"],
        selector,
        seconds,
        data,
        {**options, "method": name},
        quiet,
        held_out=name,
        comparison=comparison,
    )


def _document(
    data: Data,
    rows: np.ndarray,
    comparison: Any,
    asked: dict[str, Any],
    stop_reason: str | None,
    seconds: float,
) -> dict[str, Any]:
    results = [result for result in comparison if result.name != ALL_FEATURES]
    everything = [result for result in comparison if result.name == ALL_FEATURES]
    agreement = comparison.agreement[: len(results), : len(results)]
    prepared = data.prepared
    return {
        "format": "l1lsmi-comparison",
        "version": 1,
        "source": data.table.source,
        "target": prepared.target,
        "task": prepared.task,
        "error": "error rate" if prepared.task == "classification" else "root mean squared error",
        "rows_used": len(rows),
        "features_considered": data.shape[1],
        **asked,
        "methods": [_method(result, prepared.feature_names) for result in results],
        "all_features": _method(everything[0], ()) if everything else None,
        "agreement": [[None if np.isnan(share) else float(share) for share in line] for line in agreement],
        "stop_reason": stop_reason,
        "notes": data.notes,
        "seconds": round(seconds, 4),
    }


def _method(result: Any, feature_names: tuple[str, ...]) -> dict[str, Any]:
    failed = result.failure is not None
    return {
        "name": result.name,
        "error": None if failed else float(result.error),
        "errors": [] if failed else [float(error) for error in result.errors],
        "seconds": None if failed else round(float(result.seconds), 4),
        "features": [feature_names[j] for j in result.support] if feature_names and not failed else [],
        "failure": None if result.failure is None else one_line(result.failure),
    }


def _summary(result: dict[str, Any]) -> str:
    """A comparison for people, the best first."""
    done = sorted((m for m in result["methods"] if m["error"] is not None), key=lambda m: m["error"])
    failed = [m for m in result["methods"] if m["error"] is None]
    first = result["methods"][0]["name"] if result["methods"] else ""
    wanted = set(result["methods"][0]["features"]) if result["methods"] else set()
    rows = []
    for method in done:
        shared = len(wanted.intersection(method["features"]))
        rows.append(
            (
                method["name"],
                *_error_words(method),
                f"{method['seconds']:.2f}",
                f"{shared} of {len(method['features'])}" if wanted else "",
            )
        )
    if result["all_features"]:
        rows.append((ALL_FEATURES, *_error_words(result["all_features"]), "", ""))
    header = ("method", result["error"], "+-", "seconds", f"same as {first}")
    lines = [
        f"\n{result['k']} features, {result['splits']} splits of {result['rows_used']:,} rows, "
        "errors on rows not seen\n"
    ]
    lines.append(text_table(header, rows))
    lines += [f"  {m['name']} failed: {printable(m['failure'])}" for m in failed]
    if result["stop_reason"]:
        lines.append(f"\n{result['stop_reason']}")
    return "\n".join(lines)


def _error_words(method: dict[str, Any]) -> tuple[str, str]:
    return f"{method['error']:.4g}", f"{np.std(method['errors']):.2g}"
