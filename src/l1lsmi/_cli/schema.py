"""``l1lsmi schema``: the JSON schema of what a command prints with ``--json``."""

from __future__ import annotations

from importlib import resources

import click

DOCUMENTS = ("select", "apply", "compare", "measure", "error")


def schema_text(document: str) -> str:
    """The schema of a document as JSON text."""
    return (resources.files("l1lsmi._cli") / "schemas" / f"{document}.json").read_text(encoding="utf-8")


@click.command(short_help="Print the JSON schema of a command's output.")
@click.argument("document", metavar="COMMAND", type=click.Choice(DOCUMENTS))
def schema(document: str) -> None:
    """Print the JSON schema of what COMMAND prints with --json; error is what any prints when it fails.

    \b
    Example:
      l1lsmi schema select > select.schema.json
    """
    click.echo(schema_text(document).rstrip())
