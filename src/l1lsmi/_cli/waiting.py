"""Something to look at while a command works: shown on a terminal, after a second, and gone at the end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


def is_watched(quiet: bool) -> bool:
    """Whether a person looks at standard error."""
    return not quiet and sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def waiting(what: str, quiet: bool) -> Iterator[None]:
    """Say what is going on, where nobody knows how long it will take."""
    if not is_watched(quiet):
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(what, total=None)
        yield
