"""Progress of a run: a bar on a terminal if rich is installed, otherwise a line every ten seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

SECONDS_BETWEEN_LINES = 10.0


class Progress:
    """Counts units and estimates the remaining time from their relative cost."""

    def __init__(self, n_units: int, cost: float, verbose: bool = True) -> None:
        self._n_units, self._cost = n_units, max(cost, 1.0)
        self._done, self._cost_done = 0, 0.0
        self._started = self._printed = time.monotonic()
        self._verbose = verbose
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        if self._verbose and sys.stderr.isatty():
            self._bar = _rich_bar()
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("", total=self._cost, detail=self._count())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, cost: float) -> None:
        """One unit is done."""
        self._done += 1
        self._cost_done += cost
        if self._bar is not None:
            self._bar.update(self._task, advance=cost, detail=self._count())
        elif self._verbose and time.monotonic() - self._printed >= SECONDS_BETWEEN_LINES:
            self._printed = time.monotonic()
            passed = self._printed - self._started
            left = passed * (self._cost - self._cost_done) / max(self._cost_done, 1e-9)
            self.print(f"{self._count()}, about {_duration(left)} left")

    def print(self, text: str) -> None:
        """Print a line above the bar."""
        if self._verbose:
            if self._bar is not None:
                self._bar.console.print(text, highlight=False)
            else:
                sys.stderr.write(f"{text}\n")
                sys.stderr.flush()

    def _count(self) -> str:
        return f"{self._done} of {self._n_units} trials"


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"


def _rich_bar() -> Any:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
    except ImportError:
        return None
    return Bar(
        TextColumn("{task.fields[detail]}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=False),
        console=Console(stderr=True),
    )
