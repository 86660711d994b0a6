"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file beside its place and move it there.

    Parameters
    ----------
    path : str or path
    data : bytes

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from l1lsmi._atomic_file import write_whole
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(f"{folder}/a.txt", b"all of it")
    ...     Path(folder, "a.txt").read_bytes()
    b'all of it'
    """
    place = Path(path)
    part = _part(place)
    try:
        # Made by open, so that the file has the permissions that files of this user have.
        with part.open("xb") as stream:
            stream.write(data)
        os.replace(part, place)
    except OSError as error:
        raise _of(path, error) from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def check_place(path: str | os.PathLike[str]) -> None:
    """Try whether a file can be written, without leaving anything.

    Only an attempt tells: permissions, file systems that cannot be written and names that are too long.

    Parameters
    ----------
    path : str or path

    Raises
    ------
    OSError
        If it cannot, with this path as its file name.

    Examples
    --------
    >>> from l1lsmi._atomic_file import check_place
    >>> check_place("no/such/folder/a.txt")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'no/such/folder/a.txt'
    """
    place = Path(path)
    part = _part(place)
    try:
        with suppress(FileNotFoundError):
            place.lstat()
        with part.open("xb"):
            pass
        part.unlink()
    except OSError as error:
        raise _of(path, error) from None


def _part(place: Path) -> Path:
    # File systems count bytes of names rather than letters.
    name = os.fsencode(place.name)[:100].decode("utf-8", "ignore")
    return place.with_name(f".{name}-{secrets.token_hex(4)}.part")


def _of(path: str | os.PathLike[str], error: OSError) -> OSError:
    """The error, of the file that was asked for."""
    return OSError(error.errno, error.strerror, os.fspath(path))
