"""Progress of a search: a bar where rich is installed, lines of text elsewhere, nothing unless asked."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

__all__ = ["Progress"]


class Progress:
    """Counts restarts and shows the best score and the time that is left.

    Parameters
    ----------
    total : int
        Number of restarts at most.
    verbose : int
        0 shows nothing.
    """

    def __init__(self, total: int, verbose: int) -> None:
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
            self._task = self._bar.add_task("selecting", total=self.total, best="", radii=0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, best: float, n_radii: int) -> None:
        """One more restart is done; ``best`` is the best score so far, higher is better."""
        self.done += 1
        if self._bar is not None:
            self._bar.update(self._task, advance=1, best=f"best {best:.4f}", radii=n_radii)
        elif self._verbose:
            left = (time.monotonic() - self.started) / self.done * (self.total - self.done)
            print(
                f"restart {self.done} of at most {self.total}, {n_radii} radii, best {best:.4f}, "
                f"at most {left:.0f} s left",
                file=sys.stderr,
                flush=True,
            )


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
        TextColumn("{task.fields[radii]} radii"),
        TextColumn("{task.fields[best]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
