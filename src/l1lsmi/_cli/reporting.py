"""The report of a command: what the page is told about where the data came from."""

from __future__ import annotations

import shlex
import time
from typing import Any

import click

from l1lsmi._cli import seconds_so_far
from l1lsmi._cli.aside import HeldOutAside
from l1lsmi._cli.options import Data, say
from l1lsmi._cli.text import printable
from l1lsmi._cli.waiting import waiting
from l1lsmi.methods import METHODS
from l1lsmi.report import write_report

#: What `l1lsmi.files.prepare` was told, and what stands for nothing having been said.
PREPARING = {"task": "auto", "missing": "impute", "drop": (), "only": ()}


def write_selection_report(
    path: str,
    selector: Any,
    seconds: float,
    data: Data,
    options: dict[str, Any],
    quiet: bool,
    *,
    held_out: HeldOutAside | str,
    comparison: Any = None,
) -> bool:
    """Write a report; tell whether it was finished, which it is not where Ctrl-C came in between.

    Parameters
    ----------
    path : str
    selector : fitted selector
    seconds : float
        Time that the search took.
    data : Data
    options : dict
        Options of the command, the method's name among them.
    quiet : bool
    held_out : HeldOutAside or str
        What counts errors on rows not seen; or the method's name in the comparison, which has them.
    comparison : SelectorComparison or None
    """
    started = time.perf_counter()
    prepared, table = data.prepared, data.table
    asked = {
        "command": command_line(click.get_current_context(), table.source),
        "source": table.source,
        "format": table.format,
        "sha256": table.sha256,
        "seconds": seconds,
        "prepare": {name: options[name] for name, usual in PREPARING.items() if options[name] != usual},
    }
    try:
        with waiting("writing the report", quiet):
            write_report(
                path,
                selector,
                prepared.X,
                prepared.y,
                feature_names=prepared.feature_names,
                target=prepared.target,
                task=prepared.task,
                method=METHODS[options["method"]],
                asked=asked,
                table=prepared,
                comparison=comparison,
                held_out=held_out if isinstance(held_out, str) else held_out.errors(),
                random_state=options["seed"],
            )
    except KeyboardInterrupt:
        say("Interrupted: the report was not written.")
        return False
    seconds = time.perf_counter() - started
    say(f"report: {printable(path)} ({seconds:.1f} s; {seconds_so_far():.1f} s in all)", quiet)
    return True


def command_line(context: click.Context, source: str) -> str:
    """The command that does the same again, without where results were written."""
    words = ["l1lsmi", str(context.info_name), context.params["file"]]
    for parameter in context.command.params:
        name = str(parameter.name)
        value = context.params.get(name)
        if name in ("file", "as_json", "quiet", "save", "output") or not isinstance(parameter, click.Option):
            continue
        if value is None or value == parameter.get_default(context) or value == ():
            continue
        for item in value if isinstance(value, tuple) else (value,):
            words += [parameter.opts[-1], str(item)]
    return shlex.join(words)
