"""Atomic writes: a file has all of its bytes or does not exist."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a temporary file in the same directory and rename it.

    Parameters
    ----------
    path : str or path
    data : bytes

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from l1lsmi._atomic_file import write_atomically
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(f"{folder}/a.txt", b"all of it")
    ...     Path(folder, "a.txt").read_bytes()
    b'all of it'
    """
    temporary = _temporary(Path(path))
    try:
        # Created by open, so that it gets the default permissions of this user.
        with temporary.open("xb") as stream:
            stream.write(data)
        os.replace(temporary, path)
    except OSError as error:
        raise _with_path(error, path) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Check that a file can be written, without leaving anything.

    Only an attempt tells: permissions, read-only file systems and names that are too long.

    Parameters
    ----------
    path : str or path

    Raises
    ------
    OSError
        If it cannot be written, with this path as its file name.

    Examples
    --------
    >>> from l1lsmi._atomic_file import check_writable
    >>> check_writable("no/such/folder/a.txt")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'no/such/folder/a.txt'
    """
    temporary = _temporary(Path(path))
    try:
        with suppress(FileNotFoundError):
            Path(path).lstat()
        temporary.open("xb").close()
        temporary.unlink()
    except OSError as error:
        raise _with_path(error, path) from None


def _temporary(path: Path) -> Path:
    # File systems limit the bytes of a name rather than its characters, and some take whole ones only.
    name = os.fsdecode(os.fsencode(path.name)[:100].decode("utf-8", "ignore").encode())
    return path.with_name(f".{name}-{secrets.token_hex(4)}.part")


def _with_path(error: OSError, path: str | os.PathLike[str]) -> OSError:
    """The same error, naming the requested file rather than the temporary one."""
    return OSError(error.errno, error.strerror, os.fspath(path))
