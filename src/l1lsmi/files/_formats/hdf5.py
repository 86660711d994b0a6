"""HDF5, the container of .h5ad and newer .mat files, opened so that no other file is read."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from l1lsmi._messages import printable, quoted
from l1lsmi.files._libraries import import_optional
from l1lsmi.files.problem import FileProblem, file_problems


@contextmanager
def open_hdf5(data: bytes, source: str, what: str) -> Iterator[Any]:
    """Open an HDF5 file, and refuse one that refers to other files.

    Links, external storage and virtual data sets would read other files with the permissions of the user.
    """
    h5py = import_optional("h5py", "h5ad", what)
    with file_problems(source, what), h5py.File(io.BytesIO(data), "r") as file:
        external: list[str] = []

        def check(name: str, link: Any) -> None:
            item = file[name] if isinstance(link, h5py.HardLink) else None
            if item is None or (isinstance(item, h5py.Dataset) and (item.external or item.is_virtual)):
                external.append(name)

        file.visititems_links(check)
        if external:
            raise FileProblem(
                f"{printable(source)} refers to data outside of itself at {quoted(external[0])}: save all "
                "data in one file."
            )
        yield file
