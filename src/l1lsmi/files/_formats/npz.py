"""NumPy archives: nothing is unpickled, and nothing is decompressed before it is known to fit."""

from __future__ import annotations

import io
import math
import zipfile
from typing import IO

import numpy as np

from l1lsmi._messages import printable, quoted
from l1lsmi.files._formats import Options
from l1lsmi.files._formats.arrays import table_of_named_arrays
from l1lsmi.files._memory import check_memory
from l1lsmi.files._table_builder import TableBuilder
from l1lsmi.files.problem import FileProblem, file_problems
from l1lsmi.files.table import Values


def read(data: bytes, source: str, options: Options) -> TableBuilder:
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
    with file_problems(source, "a NumPy archive (.npz)"), zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
        if not members:
            raise FileProblem(
                f"{printable(source)} is a zip archive without arrays: save X and y with numpy.savez."
            )
        n_bytes = 0
        for member in members:
            with archive.open(member) as stream:
                n_bytes += _decoded_size(stream, member, source)
        check_memory(source, n_bytes, "its arrays")
        for member in members:
            with archive.open(member) as stream:
                array = np.lib.format.read_array(stream, allow_pickle=False)
                arrays[member.filename.removesuffix(".npy")] = array
    return table_of_named_arrays(arrays, source, options.array)


def _decoded_size(stream: IO[bytes], member: zipfile.ZipInfo, source: str) -> int:
    """Bytes of an array and of its copy as float64, from its header alone."""
    version = np.lib.format.read_magic(stream)
    # Version 3 differs from version 2 only in the encoding of field names.
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = header(stream)
    if dtype.hasobject:
        raise FileProblem(
            f"{printable(source)} holds pickled objects in {quoted(member.filename)}, which are never loaded "
            "as they can run any code: save strings as arrays of dtype str."
        )
    size = math.prod(shape)
    if size * dtype.itemsize > member.file_size - stream.tell():
        raise FileProblem(
            f"{printable(source)} is damaged: {quoted(member.filename)} claims an array of shape {shape}, "
            "but is too small for it; save the file again."
        )
    return size * (dtype.itemsize + 8)
