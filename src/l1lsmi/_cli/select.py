"""``l1lsmi select``: the few columns of a file that best predict a target."""

from __future__ import annotations

import json
import time
import warnings
from contextlib import nullcontext
from typing import Any

import click
from sklearn.exceptions import ConvergenceWarning

from l1lsmi._atomic_file import write_atomically
from l1lsmi._cli.checks import check_auto, check_k, check_outputs, check_time_limit
from l1lsmi._cli.data import Data, load_data, na_values
from l1lsmi._cli.fitting import configured, features_for, fit_arguments
from l1lsmi._cli.interrupt import INTERRUPTED
from l1lsmi._cli.output import is_interactive, print_json, print_message
from l1lsmi._cli.selection import document
from l1lsmi._cli.text import count, one_line, printable, text_table, warning_lines
from l1lsmi._warnings import DataWarning
from l1lsmi.explain._evidence import WARNINGS, evidence, how_many, told_stop_reason
from l1lsmi.files import write_table
from l1lsmi.methods import METHODS
from l1lsmi.strategies.selection import StopReason

#: Names of scores in the printed summary; the scores of a report are of held-out rows.
SCORE_TITLES = {"smi": "SMI estimate", "hsic": "HSIC estimate", "score": "score"}


def run(file: str, as_json: bool, quiet: bool, **options: Any) -> int:
    """Run ``l1lsmi select``."""
    quiet = quiet or as_json
    check_outputs(file, {name: options[name] for name in ("report", "save", "output")})
    method = METHODS[options["method"]]
    check_time_limit(options["time_limit"], method)
    check_auto(options["k"], method)
    in_memory = bool(options["report"]) or not method.make()._supports_out_of_core()
    data = load_data(file, quiet, options, in_memory)
    k = "auto" if options["k"] == "auto" else check_k(options["k"], data.shape[1])
    asked = {"method": method.name, "k": k, "seed": options["seed"], "time_limit": options["time_limit"]}
    # The errors are those of a number of features, which "auto" has only after the search.
    ahead = options["report"] and k != "auto"
    with _held_out(method, data, asked, options) if ahead else nullcontext() as held_out:
        selector, seconds, notes = fit(method, data, asked, options, quiet)
        result = document(selector, data, {**asked, **_named(data, options)}, seconds, notes)
        _write(result, selector, data, options, as_json, quiet)
        interrupted = result["stop_reason"] == StopReason.INTERRUPTED
        if options["report"] and not interrupted:
            from l1lsmi._cli.reporting import write_selection_report

            interrupted = not write_selection_report(
                options["report"], selector, seconds, data, options, quiet, held_out=held_out
            )
    return INTERRUPTED if interrupted else 0


def _named(data: Data, options: dict[str, Any]) -> dict[str, Any]:
    """Columns that were named by options, for the document."""
    lists = ("categorical", "covariates", "include", "exclude")
    return {
        "na_values": list(na_values(options["na_values"])),
        **{name: options[name] for name in ("groups", "weights")},
        **{name: data.names(options[name]) for name in lists},
    }


def _held_out(method: Any, data: Data, asked: dict[str, Any], options: dict[str, Any]) -> Any:
    """Errors on held-out rows, computed by another process during the search."""
    from l1lsmi._cli.held_out import HeldOutProcess

    selector = method.make(asked["k"], task=data.prepared.task, random_state=asked["seed"])
    selector = configured(selector, data, method.name, {**options, "jobs": None})
    return HeldOutProcess(selector, data, asked["seed"])


def fit(
    method: Any, data: Data, asked: dict[str, Any], options: dict[str, Any], quiet: bool
) -> tuple[Any, float, list[str]]:
    """A fitted selector, the seconds it took, and its warnings."""
    selector = method.make(
        asked["k"],
        task=data.prepared.task,
        random_state=asked["seed"],
        time_limit=asked["time_limit"],
        verbose=int(is_interactive(quiet)),
    )
    selector = configured(selector, data, method.name, options)
    given = fit_arguments(selector, data, method.name)
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector.fit(features_for(data.prepared.X), data.prepared.y, **given)
    seconds = time.perf_counter() - started
    # Why the search stopped early is in stop_reason, and what to know about the data in warnings_.
    said = (ConvergenceWarning, DataWarning)
    notes = [one_line(str(w.message)) for w in caught if not issubclass(w.category, said)]
    return selector, seconds, list(dict.fromkeys(notes))


def _write(
    result: dict[str, Any], selector: Any, data: Data, options: dict[str, Any], as_json: bool, quiet: bool
) -> None:
    """Write files, then print: what is printed about files is then true."""
    if options["save"]:
        text = json.dumps(result, indent=2, ensure_ascii=True) + "\n"
        write_atomically(options["save"], text.encode("utf-8"))
    if options["output"]:
        names = [*result["columns"], *data.prepared.targets]
        write_table(data.table.load(names), names, options["output"])
    if as_json:
        print_json(result)
        return
    click.echo(_summary(result, selector))
    rows = "the only row" if data.table.n_rows == 1 else f"all {data.table.n_rows:,} rows"
    written = f"selected columns of {rows}, values as in the file"
    if not result["columns"]:
        written = f"target{'s' * (len(data.prepared.targets) > 1)} alone, as no columns are selected"
    for name, what in (("save", "selection"), ("output", written)):
        if options[name]:
            print_message(f"{what}: {printable(options[name])}", quiet)


def _summary(result: dict[str, Any], selector: Any) -> str:
    features, score = result["features"], result["score"]
    title = f", {SCORE_TITLES[score['name']]} {score['value']:.3f}" if score and features else ""
    lines = [
        *warning_lines([each for each in result["warnings"] if not each.startswith(WARNINGS)]),
        f"\nselected {len(features) or 'none'} of {count(result['features_considered'], 'feature')} "
        f"by {result['method']} in {result['seconds']['select']:.2f} s{title}\n",
    ]
    if features:
        lines += [*_table(features, score), ""]
    lines += [text for say in (evidence, how_many, told_stop_reason) if (text := say(selector))]
    return "\n".join(lines)


def _table(features: list[dict[str, Any]], score: dict[str, Any] | None) -> list[str]:
    """The features, with weights where there are any."""
    if features[0]["weight"] is not None:
        rows = [(f["name"], f"{f['weight']:.3f}") for f in features]
        return [text_table(("feature", "weight"), rows)]
    lines = [text_table(("feature",), [(f["name"],) for f in features])]
    if score and score["name"] != "score":
        lines.append("\n  weights not fitted: the search was stopped")
    return lines
