"""The memory that is available, checked before a file is decoded: a small file may decompress to much."""

from __future__ import annotations

import os
from gzip import GzipFile
from pathlib import Path
from typing import BinaryIO

from l1lsmi._messages import printable
from l1lsmi.files.problem import FileProblem

#: Assumed where the system does not tell.
DEFAULT_MEMORY = 8 << 30
#: Bytes that are read at a time.
CHUNK_SIZE = 1 << 24


def available_memory() -> int:
    """Bytes of memory that can be allocated.

    Examples
    --------
    >>> available_memory() > 0
    True
    """
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return DEFAULT_MEMORY


def check_memory(source: str, n_bytes: int, what: str = "it", *, available: int | None = None) -> None:
    """Refuse a file that needs more memory than there is.

    Parameters
    ----------
    source : str
        The file, for the message.
    n_bytes : int
        Bytes that it needs.
    what : str
        What of the file needs them.
    available : int or None
        Bytes that there are; None asks the system.
    """
    available = available_memory() if available is None else available
    if n_bytes > available:
        raise FileProblem(
            f"{printable(source)} does not fit into memory: {_size(n_bytes)} are needed for {what}, and "
            f"{_size(available)} are available; keep fewer rows or columns of it."
        )


def read_all(stream: BinaryIO | GzipFile, source: str, what: str = "it") -> bytes:
    """All bytes of a stream, refused once they do not fit: a stream may have no end."""
    available, chunks, size = available_memory(), [], 0
    while chunk := stream.read(CHUNK_SIZE):
        size += len(chunk)
        check_memory(source, size, what, available=available)
        chunks.append(chunk)
    return b"".join(chunks)


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:.1f} GiB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.1f} MiB"
