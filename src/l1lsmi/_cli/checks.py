"""What is refused before any work is done."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import click

from l1lsmi._atomic_file import check_writable
from l1lsmi._cli.text import printable
from l1lsmi.methods import METHODS, Method

#: Features that are selected unless asked otherwise.
DEFAULT_K = 10
TABLES = (".csv", ".tsv", ".parquet", ".feather", ".xlsx")
SUFFIXES = {"report": (".html", ".htm"), "save": (".json",), "output": TABLES}


def check_outputs(file: str, paths: dict[str, str | None]) -> None:
    """Check that everything can be written where it is asked for, and that nothing is written twice."""
    taken = {} if file == "-" else {os.path.realpath(file): "FILE"}
    for name, path in paths.items():
        if path is None:
            continue
        if not path.lower().endswith(SUFFIXES[name]):
            choices = " or ".join(SUFFIXES[name])
            raise click.UsageError(f"--{name} {printable(path)!r} must end in {choices}.")
        if not Path(path).resolve().parent.is_dir():
            raise click.UsageError(f"--{name} {printable(path)!r} is in a directory that does not exist.")
        if os.path.isdir(path):
            raise click.UsageError(f"--{name} {printable(path)!r} is a directory.")
        try:
            check_writable(path)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise click.UsageError(f"--{name} {printable(path)!r} cannot be written: {why}.") from None
        real = os.path.realpath(path)
        if real in taken:
            raise click.UsageError(f"--{name} {printable(path)!r} is the same file as {taken[real]}.")
        taken[real] = f"--{name}"


def check_time_limit(method: Method, time_limit: float | None) -> None:
    """Check a number of seconds, and that the method can stop in time."""
    check_seconds(time_limit)
    if time_limit is not None and not method.has_time_limit:
        able = ", ".join(name for name, other in METHODS.items() if other.has_time_limit)
        raise click.UsageError(
            f"--time-limit cannot stop the method {method.name}: leave it out, or use {able}."
        )


def check_seconds(time_limit: float | None) -> None:
    """Check a number of seconds."""
    if time_limit is not None and not (time_limit > 0 and math.isfinite(time_limit)):
        raise click.UsageError(f"--time-limit {time_limit} must be a positive number of seconds.")


def number_of_features(k: int | None, n_features: int) -> int:
    """How many features to select; 10, or half of fewer than 20, unless asked otherwise."""
    if k is None:
        return min(DEFAULT_K, max(1, n_features // 2))
    if k > n_features:
        raise click.UsageError(f"-k {k} is more than the {n_features} features that the file has.")
    return k


def method_names(text: str | None, default: tuple[str, ...]) -> tuple[str, ...]:
    """Names of methods, separated by commas."""
    if text is None:
        return default
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown: list[Any] = [name for name in names if name not in METHODS]
    if unknown or not names:
        what = printable(unknown[0]) if unknown else text
        raise click.UsageError(f"--methods has {what!r}, which is none of: {', '.join(METHODS)}.")
    return names
