"""A report as a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from l1lsmi._atomic_file import write_atomically
from l1lsmi.report.content import collect
from l1lsmi.report.page import render


def write_report(path: str | os.PathLike[str], selector: Any, X: Any, y: Any, **options: Any) -> Path:
    """Work out a report and write it as one HTML file.

    Parameters
    ----------
    path : str or path
        Replaced as a whole once everything is done: there is never half a report.
    selector : fitted selector
    X : array-like of shape (n, m)
    y : array-like of shape (n,)
    **options
        See `collect`.

    Returns
    -------
    path : pathlib.Path

    Examples
    --------
    >>> import tempfile
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.datasets import make_xor
    >>> from l1lsmi.report import write_report
    >>> X, y = make_xor(100, random_state=0)
    >>> selector = L1LSMI(2, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_report(f"{folder}/report.html", selector, X, y, target="either", held_out=False)
    ...     path.stat().st_size < 200_000
    True
    """
    place = Path(path)
    if not place.parent.is_dir():
        raise ValueError(
            f"path is {str(path)!r}, but there is no folder {str(place.parent)!r}: make it first."
        )
    write_atomically(place, render(collect(selector, X, y, **options)).encode("utf-8"))
    return place
