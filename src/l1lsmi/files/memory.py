"""Whether what a file announces fits into memory, asked first: a small file may unpack to much."""

from __future__ import annotations

import os
from pathlib import Path

from l1lsmi.files.problem import FileProblem, where

#: What is assumed where the system does not tell.
ASSUMED = 8 << 30


def at_hand() -> int:
    """Bytes of memory that can be had.

    Examples
    --------
    >>> at_hand() > 0
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
        return ASSUMED


def check_room(source: str, needed: int, what: str = "it") -> None:
    """Refuse what needs more memory than there is.

    Parameters
    ----------
    source : str
        The file, for the message.
    needed : int
        Bytes.
    what : str
        What of the file needs them.
    """
    room = at_hand()
    if needed > room:
        raise FileProblem(
            f"{where(source)} does not fit into memory: {what} needs {_size(needed)}, and {_size(room)} are "
            "at hand; keep fewer rows or columns of it."
        )


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:.1f} GiB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.1f} MiB"
