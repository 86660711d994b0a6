"""Run the commands that the pages show, and write what they print below them.

A block of ``console`` that begins with ``$`` is a session: lines with ``$`` are commands, the others are what
they print. ``python docs/write_console.py`` runs them all anew; ``tests/test_docs.py`` compares.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from l1lsmi._cli.app import run

__all__ = ["PAGES", "run_page", "without_seconds"]

DOCS = Path(__file__).parent
PAGES = (DOCS / "command_line.md",)
BLOCK = re.compile(r"```(python|console)\n(.*?)```", re.DOTALL)


def run_page(text: str) -> str:
    """A page with what its commands print, in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return BLOCK.sub(lambda match: f"```{match[1]}\n{_run_block(match[1], match[2])}```", text)


def without_seconds(text: str) -> str:
    """A page without what differs from run to run: seconds."""
    text = re.sub(r"\d+(\.\d+)? s\b", "? s", text)
    return re.sub(r" +\d+\.\d+(?= +\d+ of \d+$)", " ?", text, flags=re.MULTILINE)


def _run_block(language: str, block: str) -> str:
    if language == "python":
        exec(block, {"__name__": "page"})
        return block
    if not block.startswith("$ "):
        return block
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    return "\n".join(_session([command.removeprefix("$ ") for command in commands]))


def _session(commands: list[str]) -> Iterator[str]:
    code = 0
    for command in commands:
        yield f"$ {command}"
        words = shlex.split(command)
        with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(printed):
            if words[0] == "l1lsmi":
                code = run(words[1:])
            elif command == "echo $?":
                print(code)
            else:
                print(subprocess.run(words, capture_output=True, text=True, check=True).stdout, end="")
        yield from (line.rstrip() for line in printed.getvalue().splitlines())
    yield ""


def main() -> None:
    """Write all pages anew."""
    os.environ["COLUMNS"] = "100"
    for page in PAGES:
        page.write_text(run_page(page.read_text()))


if __name__ == "__main__":
    main()
