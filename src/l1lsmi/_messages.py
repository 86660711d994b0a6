"""Parts of messages: names in quotes, lists of names, counts, suggestions, and reasons of libraries."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

#: Longer names are cut.
MAX_LENGTH = 60


def quoted(name: object) -> str:
    r"""A name in quotes, with control characters escaped and at most 60 characters.

    Examples
    --------
    >>> print(quoted("a" + chr(10) + "b"))
    'a\nb'
    """
    text = str(name)
    return repr(text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 3] + "...")


def printable(source: object) -> str:
    """A path without quotes, unless it has control characters."""
    text = str(source)
    return text if text.isprintable() else repr(text)


def listed(names: Sequence[object], most: int = 5) -> str:
    """The first names, and how many more there are.

    Examples
    --------
    >>> print(listed(["a", "b", "c"], most=2))
    'a', 'b' and 1 more
    """
    text = ", ".join(map(quoted, names[:most]))
    return text if len(names) <= most else f"{text} and {len(names) - most} more"


def counted(n: int, noun: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(2, "row"), counted(1200, "row")
    ('1 row', '2 rows', '1,200 rows')
    """
    return f"{n} {noun}" if n == 1 else f"{n:,} {noun}s"


def suggestion(name: str, names: Sequence[str]) -> str:
    """Names that are similar to an unknown one, else the first of those that exist: the end of a message.

    Examples
    --------
    >>> print(suggestion("Age", ["age", "sex"]))
    did you mean 'age'?
    """
    similar = [other for other in names if other.strip().lower() == name.strip().lower()]
    similar = similar or difflib.get_close_matches(name, names, n=3)
    if similar:
        *others, last = map(quoted, similar[:3])
        return f"did you mean {', '.join(others)}{' or ' if others else ''}{last}?"
    return f"there are {listed(names)}."


def first_line(error: BaseException) -> str:
    """The first line of an error of a library, without its full stop.

    Examples
    --------
    >>> first_line(ValueError("bad magic number."))
    'bad magic number'
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    text = "".join(c if c.isprintable() else " " for c in lines[0]).strip(" .:'\"")
    return (text if len(text) <= 2 * MAX_LENGTH else text[: 2 * MAX_LENGTH] + "...") or "damaged"
