"""What a command prints: its result on standard output, messages and a spinner on standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

import click


def print_message(text: str, quiet: bool = False) -> None:
    """Print a message on standard error, so that standard output has the result alone."""
    # Without standard error, print would write to standard output; and a failed message loses no result.
    if not quiet and sys.stderr is not None:
        with suppress(OSError):
            print(text, file=sys.stderr, flush=True)


def print_json(result: dict[str, Any]) -> None:
    """Print the one document that a command prints with --json."""
    click.echo(json.dumps(result, ensure_ascii=True))
    click.get_current_context().find_root().obj["printed"] = True


def discard(stream: TextIO | None) -> None:
    """Redirect a standard stream to nowhere, also what the interpreter flushes when it ends."""
    if stream is None:
        return
    with suppress(OSError, ValueError):  # of streams that are not those of the process
        number = stream.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)


def is_interactive(quiet: bool) -> bool:
    """Whether standard error is a terminal that progress may be shown on."""
    return not quiet and sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def spinner(task: str, quiet: bool) -> Iterator[None]:
    """Show the name of a task of unknown duration."""
    if not is_interactive(quiet):
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(task, total=None)
        yield
