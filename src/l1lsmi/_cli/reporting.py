"""The report of a command, with the command and the file that it is about."""

from __future__ import annotations

import shlex
import time
from typing import Any

import click

from l1lsmi._cli import elapsed_seconds
from l1lsmi._cli.data import Data, na_values
from l1lsmi._cli.fitting import features_for
from l1lsmi._cli.output import print_message, spinner
from l1lsmi._cli.text import printable
from l1lsmi._clock import Budget
from l1lsmi.evaluation import SelectionScores
from l1lsmi.explain import Contributions, Explanation
from l1lsmi.methods import Method
from l1lsmi.report import write_report
from l1lsmi.report.content import explain_in_short

#: Options of `l1lsmi.files.prepare` and their defaults; then those with names of columns.
PREPARING = {"task": "auto", "missing": "keep", "groups": None, "weights": None}
COLUMNS = ("categorical", "drop", "keep", "covariates")


def write_selection_report(
    path: str,
    selector: Any,
    seconds: float,
    data: Data,
    options: dict[str, Any],
    quiet: bool,
    *,
    method: Method,
    held_out: SelectionScores | str | bool,
    contributions: Contributions | None = None,
    explanation: Explanation | None = None,
    comparison: Any = None,
    budget: Budget | None = None,
) -> bool:
    """Write a report; False if Ctrl-C interrupted it.

    Parameters
    ----------
    path : str
    selector : fitted selector
    seconds : float
        Duration of the search.
    data : Data
    options : dict
        Options of the command.
    quiet : bool
    method : Method
    held_out : SelectionScores, str or bool
        How well a model predicts held-out rows; or the name of the method in the comparison that has errors.
    contributions : Contributions or None
    explanation : Explanation or None
    comparison : SelectorComparison or None
    budget : Budget or None
        The clock of the command.
    """
    started = time.perf_counter()
    prepared, table = data.prepared, data.table
    asked = {
        "command": command_line(click.get_current_context()),
        "source": table.source,
        "format": table.format,
        "sha256": table.sha256,
        "seconds": seconds,
        "prepare": _preparing(data, options),
    }
    left = None if budget is None else budget.left()
    try:
        with spinner("writing the report", quiet):
            write_report(
                path,
                selector,
                features_for(data.features),
                prepared.y,
                feature_names=prepared.feature_names,
                target=prepared.targets[0] if len(prepared.targets) == 1 else prepared.targets,
                task=prepared.task,
                method=method,
                asked=asked,
                table=prepared,
                comparison=comparison,
                held_out=held_out,
                contributions=contributions,
                explanation=explanation,
                random_state=options["seed"],
                time_limit=None if left is None else max(left, 1e-3),
            )
    except KeyboardInterrupt:
        print_message("Interrupted: the report was not written.")
        return False
    seconds = time.perf_counter() - started
    print_message(f"report: {printable(path)} ({seconds:.1f} s; {elapsed_seconds():.1f} s in all)", quiet)
    return True


def explained(selector: Any, data: Data, contributions: Contributions | None, seed: int) -> Explanation:
    """The explanation of a selection that the report will have."""
    prepared = data.prepared
    X, names = features_for(data.features), prepared.feature_names
    return explain_in_short(selector, X, prepared.y, names, random_state=seed, contributions=contributions)


def _preparing(data: Data, options: dict[str, Any]) -> dict[str, Any]:
    """Arguments of `l1lsmi.files.prepare` that are not their defaults."""
    given = {name: options.get(name, default) for name, default in PREPARING.items()}
    chosen = {name: value for name, value in given.items() if value != PREPARING[name]}
    named = {name: data.names(options[name]) for name in COLUMNS if options.get(name)}
    words = na_values(options["na_values"])
    return {**chosen, **({"na_values": list(words)} if words else {}), **named}


def _long_name(names: list[str]) -> str:
    """The first name of an option that begins with two dashes, or its only name."""
    return next((name for name in names if name.startswith("--")), names[0])


def command_line(context: click.Context) -> str:
    """The command to run again, without the options for its output."""
    arguments = ["l1lsmi", str(context.info_name), context.params["file"]]
    for parameter in context.command.params:
        name = str(parameter.name)
        value = context.params.get(name)
        if name in ("file", "as_json", "quiet", "save", "output") or not isinstance(parameter, click.Option):
            continue
        if value is None or value == parameter.get_default(context) or value == ():
            continue
        for item in value if isinstance(value, tuple) else (value,):
            arguments += [_long_name(parameter.opts), str(item)]
    return shlex.join(arguments)
