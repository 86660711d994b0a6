"""What is wrong with a file, in one sentence; and the words and names that such sentences are made of."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

#: Longer names and reasons are cut in messages.
MOST_LETTERS = 60


class FileProblem(ValueError):
    """A file, or a column of it, that cannot be used: one sentence that says why and what to do.

    Examples
    --------
    >>> import io
    >>> from l1lsmi.files import FileProblem, read_table
    >>> try:
    ...     read_table(io.BytesIO(b""))
    ... except FileProblem as problem:
    ...     print(problem)
    the stream is empty: pass a file with a row of names and rows of values.
    """


def shown(name: object) -> str:
    r"""A name as it stands in a message: quoted, with control characters spelled out, not too long.

    Examples
    --------
    >>> print(shown("a" + chr(10) + "b"))
    'a\nb'
    """
    words = str(name)
    return repr(words if len(words) <= MOST_LETTERS else words[: MOST_LETTERS - 3] + "...")


def where(source: object) -> str:
    """A path as it stands in a message: as it is, unless that would break the line."""
    words = str(source)
    return words if words.isprintable() else repr(words)


def listed(names: Sequence[object], most: int = 5) -> str:
    """Some names, and how many more there are.

    Examples
    --------
    >>> print(listed(["a", "b", "c"], most=2))
    'a', 'b' and 1 more
    """
    words = ", ".join(shown(name) for name in names[:most])
    return words if len(names) <= most else f"{words} and {len(names) - most} more"


def counted(n: int, what: str) -> str:
    """A number of things.

    Examples
    --------
    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def near(name: str, names: Sequence[str]) -> str:
    """What to say after a name that is not there: names that are spelled alike, or those that are there."""
    alike = [other for other in names if other.strip().lower() == name.strip().lower()]
    alike = alike or difflib.get_close_matches(name, names, n=3)
    if alike:
        return f"did you mean {' or '.join(shown(other) for other in alike[:3])}"
    return f"there are {listed(names)}"


def reason(error: BaseException) -> str:
    """The first line of what a library says, without its full stop."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    words = "".join(letter if letter.isprintable() else " " for letter in lines[0]).strip(" .:'\"")
    return (words if len(words) <= 2 * MOST_LETTERS else words[: 2 * MOST_LETTERS] + "...") or "damaged"


@contextmanager
def damage(source: str, what: str) -> Iterator[None]:
    """Whatever a library says to bytes that nobody vouches for becomes one sentence.

    Libraries raise all sorts of errors on damaged files, and warn of what no user can act on. Only calls to
    them stand under this, so that errors of this package keep their traceback.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except FileProblem:
        raise
    except MemoryError:
        raise FileProblem(
            f"{where(source)} does not fit into memory: keep fewer rows or columns of it."
        ) from None
    except Exception as error:
        raise FileProblem(
            f"{where(source)} cannot be read as {what}, it may be damaged or of another format "
            f"({reason(error)})."
        ) from error
