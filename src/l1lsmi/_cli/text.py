"""Plain text for a terminal: control characters are escaped, and tables are aligned."""

from __future__ import annotations

import math
import re
import shutil
import statistics
import sys
import textwrap
import unicodedata
from collections.abc import Sequence
from functools import partial

#: Unicode categories of control characters, and of characters that change the direction of text.
UNSAFE = ("Cc", "Cf", "Cs", "Zl", "Zp")
#: Arguments in messages of `l1lsmi.files` that are options here.
ARGUMENT = re.compile(r'\b(task|missing)="(\w+)"')
OPTIONS = {
    " in keep, together with": " with --keep, together with",
    "pass another delimiter": "give another --delimiter",
    "pass the name of one as sheet": "give the name of one with --sheet",
    " as groups.": " as --groups.",
    "pass the name of one as array": "give the name of one with --array",
}


#: Significant digits of the largest number of a column of a table, and of its median; decimals of all.
LARGEST_DIGITS, MEDIAN_DIGITS = 3, 2
MIN_DECIMALS, MAX_DECIMALS = 3, 12
#: A character that is not a space and occurs in no sentence.
NO_BREAK = "\ue000"


def printable(text: str, width: int | None = None) -> str:
    r"""Text with control characters escaped, and shortened in the middle to a width.

    Examples
    --------
    >>> from l1lsmi._cli.text import printable
    >>> print(printable("a\x1b[31mb"), printable("a long name of a column", 12))
    a\x1b[31mb a long…olumn
    """
    shown = "".join(_escaped(c) if unicodedata.category(c) in UNSAFE else c for c in str(text))
    if width is None or len(shown) <= width:
        return shown
    left = (width - 1) // 2 + (width - 1) % 2
    return f"{shown[:left]}…{shown[len(shown) - (width - 1 - left) :]}"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")


def one_line(text: str) -> str:
    """Text on one line, safe to print."""
    return printable(" ".join(str(text).split()))


def with_options(text: str) -> str:
    """A message with command line options in the place of function arguments.

    Examples
    --------
    >>> from l1lsmi._cli.text import with_options
    >>> with_options('use task="classification" if they are classes.')
    'use --task classification if they are classes.'
    """
    text = ARGUMENT.sub(r"--\1 \2", text)
    for argument, option in OPTIONS.items():
        text = text.replace(argument, option)
    return text


def count(number: int, what: str) -> str:
    """A number and its noun: "1 row", "1,000 rows", "2 categories"."""
    plural = f"{what[:-1]}ies" if what.endswith("ry") else f"{what}s"
    return f"{number:,} {what if number == 1 else plural}"


def warning_lines(warnings: Sequence[str]) -> list[str]:
    """What to know about the data, to be printed before a result."""
    return ["", *(f"Warning: {one_line(warning)}" for warning in warnings)] if warnings else []


def wrapped(text: str) -> str:
    """Text whose sentences are broken between words on a terminal; indented lines of tables are kept."""
    if not sys.stdout.isatty():
        return text
    width = shutil.get_terminal_size((100, 24)).columns
    fill = partial(textwrap.fill, width=max(width, 40), break_long_words=False, break_on_hyphens=False)

    def wrap(line: str) -> str:
        # A number stays beside its sign and unit.
        for sign in (" ± ", " %", " = ", " < "):
            line = line.replace(sign, sign.replace(" ", NO_BREAK))
        return fill(line).replace(NO_BREAK, " ")

    lines = (line if line.startswith(" ") else wrap(line) for line in text.split("\n"))
    return "\n".join(lines)


def same_decimals(values: Sequence[float]) -> list[str]:
    """Numbers of a column with as many decimals each, and enough of them to tell small numbers apart.

    Examples
    --------
    >>> from l1lsmi._cli.text import same_decimals
    >>> same_decimals([0.6072, 0.31, -0.0001]), same_decimals([0.000831, 0.00021, 0.0])
    (['0.607', '0.310', '0.000'], ['0.000831', '0.000210', '0.000000'])
    """
    sizes = [abs(value) for value in values if value]
    decimals = MIN_DECIMALS
    if sizes:
        wanted = ((max(sizes), LARGEST_DIGITS), (statistics.median(sizes), MEDIAN_DIGITS))
        needed = (digits - 1 - math.floor(math.log10(size)) for size, digits in wanted)
        decimals = min(max(MIN_DECIMALS, *needed), MAX_DECIMALS)
    # Adding 0 turns -0 into 0.
    return [f"{round(value, decimals) + 0.0:.{decimals}f}" for value in values]


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], indent: str = "  ") -> str:
    """Lines of a table: the first column left-aligned, all others right-aligned.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequence of str
    indent : str
    """
    widths = [max(_display_width(row[i]) for row in [header, *rows]) for i in range(len(header))]
    free = shutil.get_terminal_size((100, 24)).columns - len(indent) - sum(w + 2 for w in widths[1:])
    widths[0] = min(widths[0], max(free, 16))
    lines = []
    for row in [header, *rows]:
        first = printable(row[0], widths[0])
        cells = [first + " " * (widths[0] - _display_width(first))]
        for cell, width in zip(row[1:], widths[1:], strict=True):
            cells.append(" " * (width - _display_width(cell)) + cell)
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)


def _display_width(text: str) -> int:
    """Columns of a terminal that a text takes."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)
