"""A spinner on a terminal while a command works; it disappears at the end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


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
