"""Frames whose rows are not there yet."""

from __future__ import annotations

from typing import Any


def refuse_lazy(frame: Any, what: str = "X") -> None:
    """Check that a frame of polars has rows."""
    if type(frame).__name__ == "LazyFrame" and type(frame).__module__.startswith("polars"):
        raise ValueError(f"{what} is a LazyFrame of polars, which has no rows yet: pass {what}.collect().")
