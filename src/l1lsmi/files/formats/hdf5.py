"""HDF5, which .h5ad files and newer .mat files are: opened so that a file can reach nothing but itself."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from l1lsmi.files.libraries import library
from l1lsmi.files.memory import check_room
from l1lsmi.files.problem import FileProblem, damage, shown, where
from l1lsmi.files.table import Values


@contextmanager
def opened(data: bytes, source: str, what: str) -> Iterator[Any]:
    """Open a file of HDF5, and refuse one that points to other files.

    Links, external storage and virtual data sets would read other files of this machine in the name of
    whoever opens this one.
    """
    h5py = library("h5py", "h5ad", what)
    with damage(source, what), h5py.File(io.BytesIO(data), "r") as file:
        found: list[str] = []

        def look(name: str, link: Any) -> None:
            if not isinstance(link, h5py.HardLink):
                found.append(name)
                return
            item = file[name]
            if isinstance(item, h5py.Dataset) and (item.external or item.is_virtual):
                found.append(name)

        file.visititems_links(look)
        if found:
            raise FileProblem(
                f"{where(source)} points to data outside of itself at {shown(found[0])}: save it in one "
                "piece."
            )
        yield file


def check_shape(source: str, shape: tuple[int, ...] | Values, itemsize: int, what: str) -> None:
    """Refuse a matrix that, beside its copy as float64, does not fit into memory."""
    size = 1
    for length in shape:
        size *= int(length)
    check_room(source, size * (itemsize + 8), what)
