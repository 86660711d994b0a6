"""Atomic writes: a file has all of its bytes or does not exist."""

from __future__ import annotations

import os
import secrets
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a temporary file in the same directory and rename it.

    Nothing is left of it where the process is interrupted or terminated, nor on most file systems of Linux
    where it is killed.

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
    try:
        with _temporary_file(Path(path), data) as temporary:
            os.replace(temporary, path)
    except OSError as error:
        raise _with_path(error, path) from None


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
    try:
        with suppress(FileNotFoundError):
            Path(path).lstat()
        with _temporary_file(Path(path), b""):
            pass
    except OSError as error:
        raise _with_path(error, path) from None


@contextmanager
def _temporary_file(path: Path, data: bytes) -> Iterator[Path]:
    """A file with these bytes in the directory of a path, which is removed at the end."""
    # File systems limit the bytes of a name rather than its characters, and some take whole ones only.
    name = os.fsdecode(os.fsencode(path.name)[:100].decode("utf-8", "ignore").encode())
    temporary = path.with_name(f".{name}-{secrets.token_hex(4)}.part")
    try:
        with _removed_on_termination(temporary):
            if not _write_unnamed(temporary, data):
                # Created by open, so that it gets the default permissions of this user.
                with temporary.open("xb") as stream:
                    stream.write(data)
            yield temporary
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _write_unnamed(path: Path, data: bytes) -> bool:
    """Write a file that has no name before it has all of its bytes: the system removes it with the process.

    Returns
    -------
    done : bool
        False where the system or the file system has no such files.
    """
    if not hasattr(os, "O_TMPFILE"):
        return False
    try:
        number = os.open(path.parent, os.O_TMPFILE | os.O_WRONLY, 0o666)
    except OSError:
        return False
    with os.fdopen(number, "wb") as stream:
        stream.write(data)
        stream.flush()
        try:
            # With a directory, which an absolute path does not need, os.link follows the link in /proc.
            os.link(f"/proc/self/fd/{number}", path, src_dir_fd=number, follow_symlinks=True)
        except OSError:
            return False
    return True


@contextmanager
def _removed_on_termination(path: Path) -> Iterator[None]:
    """Remove a file before SIGTERM ends this process; in the main thread, where signals are handled."""

    def end(number: int, frame: FrameType | None) -> None:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _with_path(error: OSError, path: str | os.PathLike[str]) -> OSError:
    """The same error, naming the requested file rather than the temporary one."""
    return OSError(error.errno, error.strerror, os.fspath(path))
