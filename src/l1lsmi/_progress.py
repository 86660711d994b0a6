"""Progress of a search on standard error: a bar where rich is installed, lines of text otherwise."""

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
        self, total: int | None, verbose: int, unit: str = "restart", task: str = "selecting"
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
            self._task = self._bar.add_task(self.task, total=self.total, best="", detail="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, best: float | None = None, detail: str = "", steps: int = 1) -> None:
        """Count finished units; ``best`` is the best score so far, higher is better."""
        self.done += steps
        score = "" if best is None else f"best {best:.4f}"
        if self._bar is not None:
            self._bar.update(self._task, advance=steps, best=score, detail=detail)
        elif self._verbose:
            parts = [f"{self.unit} {self.done}{self._of()}", detail, score, self._left()]
            print(", ".join(part for part in parts if part), file=sys.stderr, flush=True)

    def _of(self) -> str:
        return "" if self.total is None else f" of at most {self.total}"

    def _left(self) -> str:
        if self.total is None:
            return ""
        left = (time.monotonic() - self.started) / self.done * (self.total - self.done)
        return f"at most {left:.0f} s left"


def _rich_bar() -> Any:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
    except ImportError:
        return None
    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[detail]}"),
        TextColumn("{task.fields[best]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
