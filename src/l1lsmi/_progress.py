"""Progress of a search on standard error: a bar on a terminal where rich is installed, else lines of text."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any


class Progress:
    """Counts units of work, and shows the best score and the time left.

    Parameters
    ----------
    total : int or None
        Largest number of units; None where it is not known.
    verbose : int
        0 shows nothing.
    unit : str
        Name of the unit.
    task : str
        Label of the bar.
    """

    def __init__(
        self, total: int | None, verbose: int, unit: str = "restart", task: str = "searching"
    ) -> None:
        self.unit = unit
        self.task = task
        self.total = total
        self.done = 0
        self.started = time.monotonic()
        self._verbose = bool(verbose)
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        if self._verbose:
            self._bar = _rich_bar()
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task(self.task, total=self.total, told="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, best: float | None = None, detail: str = "", steps: int = 1) -> None:
        """Count finished units; ``best`` is the best score so far, higher is better."""
        self.done += steps
        # Rounded first, as a small negative number would be shown as -0.
        score = "" if best is None else f"best score {round(best, 4) + 0.0:.4f}"
        parts = [f"{self.unit} {self.done}{self._of()}", detail, score, self._left()]
        told = ", ".join(part for part in parts if part)
        if self._bar is not None:
            self._bar.update(self._task, advance=steps, told=told)
        elif self._verbose:
            print(told, file=sys.stderr, flush=True)

    def begin(self, task: str) -> None:
        """Show the name of a task of unknown duration, which follows the units."""
        if self._bar is not None:
            self._bar.reset(self._task, description=task, total=None, told="")
        elif self._verbose:
            print(task, file=sys.stderr, flush=True)

    def _of(self) -> str:
        return "" if self.total is None else f" of at most {self.total}"

    def _left(self) -> str:
        if self.total is None or self.done == self.total:
            return ""
        left = (time.monotonic() - self.started) / max(self.done, 1) * (self.total - self.done)
        return f"at most {left:.0f} s left"


def _rich_bar() -> Any:
    """A bar that disappears when it is done; None where lines of text are printed instead."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    try:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar
    except ImportError:
        return None
    return Bar(
        TextColumn("{task.description}"),
        BarColumn(bar_width=12),
        TimeElapsedColumn(),
        TextColumn("{task.fields[told]}", markup=False),
        console=Console(stderr=True),
        transient=True,
    )
