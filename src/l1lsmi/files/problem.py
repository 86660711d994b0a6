"""The exception for a file that cannot be used; its message is one sentence that says why."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from l1lsmi._messages import first_line, printable

#: An object or a class in the words of an error.
OBJECT = re.compile(r"<[^<>]* at 0x|<class |<cyfunction ")


class FileProblem(ValueError):
    """Raised if a file, or a column of it, cannot be used; the message says why and what to do.

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


def empty_problem(source: str) -> FileProblem:
    """The error for an empty file."""
    return FileProblem(f"{printable(source)} is empty: pass a file with a row of names and rows of values.")


def memory_problem(source: str) -> FileProblem:
    """The error for a file that does not fit into memory."""
    return FileProblem(f"{printable(source)} does not fit into memory: keep fewer rows or columns of it.")


@contextmanager
def file_problems(source: str, what: str) -> Iterator[None]:
    """Turn errors of a library that reads a file into `FileProblem`, and silence its warnings.

    Libraries raise all sorts of errors on damaged files, and issue warnings that the user can do nothing
    about. Only calls to such a library belong inside the ``with`` block, so that errors of this package keep
    their traceback.

    Parameters
    ----------
    source : str
        The file, for the message.
    what : str
        What it is read as.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except FileProblem:
        raise
    except MemoryError:
        raise memory_problem(source) from None
    except Exception as error:
        raise FileProblem(
            f"{printable(source)} cannot be read as {what}: it may be damaged or in another format"
            f"{_reason(error)}."
        ) from error


def _reason(error: Exception) -> str:
    """What a library says, in brackets; nothing where it names objects of Python."""
    cause = error.__cause__ if isinstance(error, SystemError) and error.__cause__ is not None else error
    words = first_line(cause)
    return "" if OBJECT.search(words) else f" ({words})"
