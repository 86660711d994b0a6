"""Description of a method; every file in ``methods`` defines one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

KINDS = ("filter", "embedded", "wrapper")


def run_everywhere(dataset: Any) -> str | None:
    """Skip no dataset."""
    return None


@dataclass(frozen=True)
class Method:
    """A method that selects k columns.

    Attributes
    ----------
    name : str
        The name of its file.
    label : str
        The name in tables.
    kind : {"filter", "embedded", "wrapper"}
        A wrapper selects with the kind of predictor that scores the selection.
    select : callable
        ``select(X, y, k, task, seed)`` gives exactly k column indices, the best first where they have an
        order. ``task`` is "classification" or "regression"; X is as loaded, not standardised.
    needs : tuple of str
        Packages beyond those of l1lsmi itself, by the names they are imported by.
    skip : callable
        ``skip(problem)`` gives the reason why the method is not run on a dataset, or None.
    in_paper : str or None
        The corresponding column of the paper's tables.
    nested : bool
        Whether the first k columns of a longer selection are the selection of k.
    """

    name: str
    label: str
    kind: str
    select: Callable[[Any, Any, int, str, int], Sequence[int]]
    needs: tuple[str, ...] = ()
    skip: Callable[[Any], str | None] = run_everywhere
    in_paper: str | None = None
    nested: bool = False

    def reason_to_skip(self, problem: Any) -> str | None:
        """Why the method is not run on a dataset, or None."""
        reason = self.skip(problem)
        if reason is None:
            missing = [package for package in self.needs if find_spec(package) is None]
            if missing:
                reason = f"needs {', '.join(missing)}: pip install {' '.join(missing)}"
        return reason
