"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

__all__ = ["write_whole"]


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
    >>> from l1lsmi.whole_file import write_whole
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(f"{folder}/a.txt", b"all of it")
    ...     Path(folder, "a.txt").read_bytes()
    b'all of it'
    """
    place = Path(path)
    part = place.with_name(f".{place.name[:100]}-{secrets.token_hex(4)}.part")
    try:
        # Made by open, so that the file has the permissions that files of this user have.
        with part.open("xb") as stream:
            stream.write(data)
        os.replace(part, place)
    finally:
        part.unlink(missing_ok=True)
