"""Checks of options, before any work is done."""

from __future__ import annotations

import math
import os
import stat
import sys
from pathlib import Path
from typing import TextIO

import click

from l1lsmi._atomic_file import check_writable
from l1lsmi._cli import elapsed_seconds
from l1lsmi._cli.output import discard
from l1lsmi._cli.text import printable
from l1lsmi._clock import Budget
from l1lsmi.methods import METHODS, Method

#: Features that are selected by default.
DEFAULT_K = 10
TABLES = (".csv", ".tsv", ".parquet", ".feather", ".xlsx")
SUFFIXES = {"report": (".html", ".htm"), "save": (".json",), "output": TABLES, "resume": ("",)}


def check_outputs(file: str, paths: dict[str, str | None]) -> None:
    """Check that every output can be written, and that no two are the same file, nor one of them the input.

    Standard output and error are outputs too, which the shell may have redirected to a file.
    """
    read = "standard input" if file == "-" else "FILE"
    source = _identity_of_stream(sys.stdin) if file == "-" else _identity(file)
    taken = {source: read}
    for name, stream in (("output", sys.stdout), ("error", sys.stderr)):
        identity = _identity_of_stream(stream)
        if identity is not None and identity == source:
            discard(stream)  # or this very message would be written into the input
            raise click.UsageError(
                f"Standard {name} is the same file as {read}: redirect it to another file."
            )
        taken.setdefault(identity, f"standard {name}")
    for option, path in paths.items():
        if path is None:
            continue
        if problem := _problem(path, SUFFIXES[option]):
            raise click.UsageError(f"--{option} {printable(path)!r} {problem}.")
        identity = _identity(path)
        if identity is not None and identity in taken:
            raise click.UsageError(f"--{option} {printable(path)!r} is the same file as {taken[identity]}.")
        taken[identity] = f"--{option}"


def _problem(path: str, suffixes: tuple[str, ...]) -> str:
    if not path.lower().endswith(suffixes):
        return f"must end in {' or '.join(suffixes)}"
    if not Path(path).resolve().parent.is_dir():
        return "is in a directory that does not exist"
    if os.path.isdir(path):
        return "is a directory"
    try:
        check_writable(path)
    except (OSError, ValueError) as error:
        return f"cannot be written: {getattr(error, 'strerror', None) or error}"
    return ""


def _identity(file: str | int) -> tuple[int, int] | str | None:
    """What two paths or descriptors of one file have in common; None of a device or a pipe."""
    try:
        found = os.stat(file)
    except (OSError, ValueError):  # it does not exist yet
        return os.path.realpath(file) if isinstance(file, str) else None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def _identity_of_stream(stream: TextIO | None) -> tuple[int, int] | str | None:
    try:
        return None if stream is None else _identity(stream.fileno())
    except (OSError, ValueError):  # of a stream that is not one of the process
        return None


def command_budget(time_limit: float | None) -> Budget:
    """The clock of a command, which has run since the process began."""
    return Budget(None if time_limit is None else max(0.0, time_limit - elapsed_seconds()))


def check_time_limit(time_limit: float | None, method: Method | None = None) -> None:
    """Check a number of seconds, and that the method can stop early."""
    if time_limit is None:
        return
    if not (time_limit > 0 and math.isfinite(time_limit)):
        raise click.UsageError(f"--time-limit {time_limit} must be a positive number of seconds.")
    if method is not None and not method.has_time_limit:
        able = ", ".join(name for name, other in METHODS.items() if other.has_time_limit)
        raise click.UsageError(
            f"--time-limit is not supported by the method {method.name}: leave it out, or use {able}."
        )


def check_auto(k: int | str | None, method: Method) -> None:
    """Check that the method can choose the number of features, where it is asked to."""
    if k == "auto" and not method.chooses_k:
        able = ", ".join(name for name, other in METHODS.items() if other.chooses_k)
        raise click.UsageError(
            f"-k auto is not supported by the method {method.name}: pass a number, or use {able}."
        )


def check_k(k: int | None, n_features: int) -> int:
    """The number of features to select; by default 10, or half of them if there are fewer than 20."""
    if k is None:
        return min(DEFAULT_K, max(1, n_features // 2))
    if k > n_features:
        raise click.UsageError(
            f"-k {k} is more than the {n_features} features that the file has: pass at most {n_features}."
        )
    return k


def check_names(option: str, text: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """Names separated by commas, each of which must be known."""
    names = tuple(dict.fromkeys(name.strip().lower() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        what = printable(unknown[0] if unknown else text)
        raise click.UsageError(f"--{option} has {what!r}, which is none of: {', '.join(known)}.")
    return names
