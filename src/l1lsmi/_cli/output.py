"""What a command prints: its result on standard output, messages on standard error."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from typing import Any

import click


def print_message(text: str, quiet: bool = False) -> None:
    """Print a message on standard error, so that standard output has the result alone."""
    # Without standard error, print would write to standard output; and a failed message loses no result.
    if not quiet and sys.stderr is not None:
        with suppress(OSError):
            print(text, file=sys.stderr, flush=True)


def print_json(result: dict[str, Any]) -> None:
    """Print the one document that a command prints with --json."""
    click.echo(json.dumps(result, ensure_ascii=True))
    click.get_current_context().find_root().obj["printed"] = True
