"""NumPy archives. Nothing is unpickled, and nothing is unpacked before it is known to fit."""

from __future__ import annotations

import io
import math
import zipfile
from typing import IO

import numpy as np

from l1lsmi.files.formats import Options
from l1lsmi.files.formats.arrays import array_columns
from l1lsmi.files.found import Columns
from l1lsmi.files.memory import check_room
from l1lsmi.files.problem import FileProblem, damage, shown, where
from l1lsmi.files.table import Values


def read(data: bytes, source: str, options: Options) -> Columns:
    """Read the arrays of an archive.

    Parameters
    ----------
    data : bytes
    source : str
        For messages.
    options : Options
        Its array: which is the matrix of features.
    """
    arrays: dict[str, Values] = {}
    with damage(source, "a NumPy archive (.npz)"), zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
        if not members:
            raise FileProblem(
                f"{where(source)} is a zip archive without arrays: save X and y with numpy.savez."
            )
        needed = 0
        for member in members:
            with archive.open(member) as stream:
                needed += _announced(stream, member, source)
        check_room(source, needed, "its arrays")
        for member in members:
            with archive.open(member) as stream:
                arrays[member.filename.removesuffix(".npy")] = np.lib.format.read_array(
                    stream, allow_pickle=False
                )
    return array_columns(arrays, source, options.array)


def _announced(stream: IO[bytes], member: zipfile.ZipInfo, source: str) -> int:
    """Bytes that an array will need, from its header alone, beside a copy as float64."""
    version = np.lib.format.read_magic(stream)
    # Version 3 differs from version 2 in letters of names only, which do not matter here.
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, kind = header(stream)
    if kind.hasobject:
        raise FileProblem(
            f"{where(source)} holds pickled objects in {shown(member.filename)}, which are never loaded as "
            "they may run any code: save words as arrays of dtype str."
        )
    size = math.prod(shape)
    if size * kind.itemsize > member.file_size - stream.tell():
        raise FileProblem(
            f"{where(source)} is damaged: {shown(member.filename)} announces an array of shape {shape} and "
            "is too small for it."
        )
    return size * (kind.itemsize + 8)
