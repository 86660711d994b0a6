"""``l1lsmi compare``: several methods on one's own data, by their error on held-out rows."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Any

import click
import numpy as np

from l1lsmi._cli.checks import check_k, check_outputs, check_time_limit, command_budget
from l1lsmi._cli.data import Data, load_data
from l1lsmi._cli.fitting import configured, features_for
from l1lsmi._cli.imports import find_methods
from l1lsmi._cli.interrupt import INTERRUPTED, Interruption
from l1lsmi._cli.output import is_interactive, print_json
from l1lsmi._cli.select import SHARE_OF_SEARCH, SHORTEST, fit
from l1lsmi._cli.text import one_line, printable, text_table, warning_lines
from l1lsmi._clock import Budget, while_time_is_left
from l1lsmi._progress import Progress
from l1lsmi._versions import versions
from l1lsmi.evaluation import compare_selectors
from l1lsmi.evaluation.selectors import ALL_FEATURES
from l1lsmi.explain import data_warnings, sample_rows
from l1lsmi.methods import Method

WAS_INTERRUPTED = "Interrupted: methods that were not finished are missing."
OUT_OF_TIME = "The time limit was reached: methods that were not finished are missing."
#: Share of the time limit that the comparison may take where a report comes after it.
SHARE_OF_COMPARISON = 0.6
#: Longest bar of an error, in characters.
BAR = 20
#: Quickest first; other methods follow.
BY_SPEED = (
    *("pearson", "lasso", "mrmr", "qpfs", "hsic-ranking", "relieff", "spec", "laplacian"),
    *("l1-hsic", "l1-lsmi"),
)


def run(file: str, as_json: bool, quiet: bool, **options: Any) -> int:
    """Run ``l1lsmi compare``."""
    quiet = quiet or as_json
    methods = find_methods(options["methods"])
    names = tuple(methods)
    check_outputs(file, {"report": options["report"]})
    check_time_limit(options["time_limit"])
    budget = command_budget(options["time_limit"])
    data = load_data(file, quiet, options, in_memory=bool(options["report"]))
    k = check_k(options["k"], data.shape[1])
    asked = {"k": k, **{name: options[name] for name in ("seed", "splits", "time_limit")}}
    rows = sample_rows(data.prepared.y, data.prepared.task, options["max_rows"], options["seed"])
    started = time.perf_counter()
    comparison, stop_reason = _compare(data, rows, methods, {**options, **asked}, quiet, budget)
    seconds = time.perf_counter() - started
    found: list[str] = []
    with while_time_is_left(budget):
        found = _warnings(data, rows)
    result = _document(data, rows, comparison, asked, stop_reason, seconds, found)
    if as_json:
        print_json(result)
    else:
        click.echo(_summary(result, len(data.prepared.y)))
    interrupted = stop_reason == WAS_INTERRUPTED
    if options["report"] and not interrupted:
        interrupted = not _write_report(
            methods[names[0]], data, comparison, {**options, "k": k}, quiet, budget
        )
    return INTERRUPTED if interrupted else 0


def _compare(
    data: Data,
    rows: np.ndarray,
    methods: dict[str, Method],
    asked: dict[str, Any],
    quiet: bool,
    budget: Budget,
) -> tuple[Any, str | None]:
    """The comparison, and why it stopped early; None if it did not."""
    task, groups, names = data.prepared.task, data.prepared.groups, tuple(methods)
    by_speed = sorted(names, key=lambda name: BY_SPEED.index(name) if name in BY_SPEED else len(BY_SPEED))
    selectors = {
        name: configured(
            methods[name].make(asked["k"], task=task, random_state=asked["seed"]), data, name, asked
        )
        for name in by_speed
    }
    left = budget.part(SHARE_OF_COMPARISON if asked["report"] else 1.0).left()
    total = (len(names) + 1) * (asked["splits"] + 1)
    with (
        Interruption() as interruption,
        Progress(total, int(is_interactive(quiet)), "fit", "comparing") as progress,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # of searches that are interrupted
        comparison = compare_selectors(
            selectors,
            features_for(data.features, rows),
            data.prepared.y[rows],
            task=task,
            groups=None if groups is None else groups[rows],
            n_splits=asked["splits"],
            random_state=asked["seed"],
            progress=lambda name, done, _: progress.advance(detail=name, steps=done - progress.done),
            stop=lambda: interruption.happened,
            time_limit=None if left is None else max(left, SHORTEST),
        )
    if not comparison.stopped:
        return _reordered(comparison, names), None
    if not comparison.results:
        if interruption.happened:
            raise KeyboardInterrupt
        raise ValueError(
            f"The time limit of {asked['time_limit']:g} s was reached before any method was finished: allow "
            "more with --time-limit, or compare on fewer rows with --max-rows."
        )
    return _reordered(comparison, names), WAS_INTERRUPTED if interruption.happened else OUT_OF_TIME


def _reordered(comparison: Any, names: tuple[str, ...]) -> Any:
    """The comparison with the methods in the order of the option, all features last."""
    place = {result.name: i for i, result in enumerate(comparison)}
    order = [place[name] for name in (*names, ALL_FEATURES) if name in place]
    return replace(
        comparison,
        results=tuple(comparison.results[i] for i in order),
        agreement=comparison.agreement[np.ix_(order, order)],
    )


def _write_report(
    method: Method, data: Data, comparison: Any, options: dict[str, Any], quiet: bool, budget: Budget
) -> bool:
    """A report of the first method fitted to all rows, with the comparison and its errors."""
    from l1lsmi._cli.reporting import write_selection_report

    left = budget.part(SHARE_OF_SEARCH).left()
    limit = max(left, SHORTEST) if left is not None and method.has_time_limit else None
    asked = {"k": options["k"], "seed": options["seed"], "time_limit": limit}
    selector, seconds, _ = fit(method, data, asked, options, quiet)
    return write_selection_report(
        options["report"],
        selector,
        seconds,
        data,
        options,
        quiet,
        method=method,
        held_out=method.name,
        comparison=comparison,
        budget=budget,
    )


def _document(
    data: Data,
    rows: np.ndarray,
    comparison: Any,
    asked: dict[str, Any],
    stop_reason: str | None,
    seconds: float,
    found: list[str],
) -> dict[str, Any]:
    results = [result for result in comparison if result.name != ALL_FEATURES]
    everything = [result for result in comparison if result.name == ALL_FEATURES]
    agreement = comparison.agreement[: len(results), : len(results)]
    prepared = data.prepared
    return {
        "format": "l1lsmi-comparison",
        "version": 1,
        "versions": versions(),
        "source": data.table.source,
        "target": prepared.target,
        "targets": data.targets,
        "task": data.task,
        "error": _error_name(comparison.task),
        "rows_used": len(rows),
        "features_considered": data.shape[1],
        **asked,
        "methods": [_method(result, prepared.feature_names) for result in results],
        "all_features": _method(everything[0], ()) if everything else None,
        "no_features": float(comparison.guess),
        "agreement": [[None if np.isnan(share) else float(share) for share in line] for line in agreement],
        "stop_reason": stop_reason,
        "warnings": found,
        "notes": data.notes,
        "seconds": round(seconds, 4),
    }


def _error_name(task: str) -> str:
    names = {"classification": "error rate", "regression": "root mean squared error"}
    return names.get(task, "standardised error")


def _warnings(data: Data, rows: np.ndarray) -> list[str]:
    """What to know about the rows that are compared on."""
    prepared = data.prepared
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of targets, which are notes
        return data_warnings(
            features_for(data.features, rows),
            prepared.y[rows],
            task=prepared.task,
            feature_names=prepared.feature_names,
        )


def _method(result: Any, feature_names: tuple[str, ...]) -> dict[str, Any]:
    failed = result.failure is not None
    return {
        "name": result.name,
        "error": None if failed else float(result.error),
        "standard_error": None if np.isnan(result.standard_error) else result.standard_error,
        "errors": [] if failed else [float(error) for error in result.errors],
        "seconds": None if failed else round(float(result.seconds), 4),
        "features": [feature_names[j] for j in result.support] if feature_names and not failed else [],
        "failure": None if result.failure is None else one_line(result.failure),
    }


def _summary(result: dict[str, Any], n_rows: int) -> str:
    """The comparison as text, lowest error first; a table has so many rows."""
    sampled = f" drawn from {n_rows:,}" if result["rows_used"] < n_rows else ""
    of_rows = f"{result['rows_used']:,} rows{sampled}"
    done = sorted((m for m in result["methods"] if m["error"] is not None), key=lambda m: m["error"])
    failed = [m for m in result["methods"] if m["error"] is None]
    first = result["methods"][0]["name"] if result["methods"] else ""
    reference = set(result["methods"][0]["features"]) if result["methods"] else set()
    everything = [result["all_features"]] if result["all_features"] else []
    largest = max((method["error"] for method in [*done, *everything]), default=0.0)
    rows = []
    for method in done:
        shared = len(reference.intersection(method["features"]))
        rows.append(
            (
                method["name"],
                *_error_cells(method, largest),
                f"{method['seconds']:.2f}",
                f"{shared} of {len(method['features'])}" if reference else "",
            )
        )
    rows += [(ALL_FEATURES, *_error_cells(method, largest), "", "") for method in everything]
    if rows:
        rows.append(("no features", f"{result['no_features']:.4g}", "", "", "", ""))
    header = ("method", result["error"], "±", "", "seconds", f"shared with {first}")
    lines = [
        *warning_lines(result["warnings"]),
        f"\n{result['k']} features, {result['splits']} splits of {of_rows}, errors on held-out rows\n",
    ]
    lines.append(text_table(header, rows))
    lines += [f"  {m['name']} failed: {printable(m['failure'])}" for m in failed]
    if result["stop_reason"]:
        lines.append(f"\n{result['stop_reason']}")
    return "\n".join(lines)


def _error_cells(method: dict[str, Any], largest: float) -> tuple[str, str, str]:
    """Mean error, its standard error over splits, and a bar."""
    spread = "" if method["standard_error"] is None else f"{method['standard_error']:.2g}"
    length = round(BAR * method["error"] / largest) if largest > 0 else 0
    return f"{method['error']:.4g}", spread, f"{'#' * length:{BAR}}"
