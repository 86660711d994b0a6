"""Plain text for a terminal: nothing in a name can move the cursor, and tables line up."""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections.abc import Sequence

#: Categories of Unicode that a terminal acts on, or that turn the direction of what follows.
UNSAFE = ("Cc", "Cf", "Cs", "Zl", "Zp")
#: How `l1lsmi.files` speaks of arguments that are options here.
ARGUMENT = re.compile(r'\b(task|missing)="(\w+)"')
OPTIONS = {
    " in only beside the others": " with --only beside the others",
    "pass another delimiter": "give another --delimiter",
    "pass the name of one as sheet": "give the name of one with --sheet",
    "pass one as array": "name one with --array",
}


def printable(text: str, width: int | None = None) -> str:
    r"""Text with control characters spelled out, and shortened to a width in the middle.

    Examples
    --------
    >>> from l1lsmi._cli.text import printable
    >>> print(printable("a\x1b[31mb"), printable("a long name of a column", 12))
    a\x1b[31mb a long…olumn
    """
    shown = "".join(_spelled(c) if unicodedata.category(c) in UNSAFE else c for c in str(text))
    if width is None or len(shown) <= width:
        return shown
    left = (width - 1) // 2 + (width - 1) % 2
    return f"{shown[:left]}…{shown[len(shown) - (width - 1 - left) :]}"


def _spelled(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")


def one_line(text: str) -> str:
    """Text on one line, safe to print."""
    return printable(" ".join(str(text).split()))


def typed(text: str) -> str:
    """A sentence about arguments of a function as one about options to type.

    Examples
    --------
    >>> from l1lsmi._cli.text import typed
    >>> typed('use task="classification" if they are classes.')
    'use --task classification if they are classes.'
    """
    text = ARGUMENT.sub(r"--\1 \2", text)
    for argument, option in OPTIONS.items():
        text = text.replace(argument, option)
    return text


def count(number: int, what: str) -> str:
    """A number with its noun: "1 row", "1,000 rows", "2 categories"."""
    plural = f"{what[:-1]}ies" if what.endswith("ry") else f"{what}s"
    return f"{number:,} {what if number == 1 else plural}"


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], indent: str = "  ") -> str:
    """Lines of a table: the first column to the left, all others to the right.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequence of str
    indent : str
    """
    widths = [max(_cells(row[i]) for row in [header, *rows]) for i in range(len(header))]
    room = shutil.get_terminal_size((100, 24)).columns - len(indent) - sum(w + 2 for w in widths[1:])
    widths[0] = min(widths[0], max(room, 16))
    lines = []
    for row in [header, *rows]:
        first = printable(row[0], widths[0])
        cells = [first + " " * (widths[0] - _cells(first))]
        cells += [
            " " * (width - _cells(cell)) + cell for cell, width in zip(row[1:], widths[1:], strict=True)
        ]
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)


def _cells(text: str) -> int:
    """Places that a text takes on a terminal."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)
