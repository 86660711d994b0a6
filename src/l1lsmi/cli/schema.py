"""``l1lsmi schema``: the JSON schema of what a command prints with ``--json``."""

from __future__ import annotations

from importlib import resources

import click

__all__ = ["DOCUMENTS", "schema", "schema_text"]

DOCUMENTS = ("select", "apply", "compare", "measure", "error")


def schema_text(document: str) -> str:
    """The schema of a document as JSON text."""
    return (resources.files("l1lsmi.cli") / "schemas" / f"{document}.json").read_text(encoding="utf-8")


@click.command(short_help="Print the JSON schema of a command's output.")
@click.argument("document", metavar="COMMAND", type=click.Choice(DOCUMENTS))
def schema(document: str) -> None:
    """Print the JSON schema of what COMMAND prints with --json; error is what any prints when it fails.

    \b
    Example:
      l1lsmi schema select > select.schema.json
    """
    click.echo(schema_text(document).rstrip())
