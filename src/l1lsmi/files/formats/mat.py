"""MATLAB files, of version 4 to 7 and of version 7.3, which is HDF5."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import io as scipy_io
from scipy import sparse

from l1lsmi.files.formats import Options, apart
from l1lsmi.files.formats.apart import Contents
from l1lsmi.files.formats.arrays import array_columns
from l1lsmi.files.formats.hdf5 import check_shape, opened
from l1lsmi.files.formats.mat5 import DEEPEST, Variable, joined_cells, variables
from l1lsmi.files.found import Columns
from l1lsmi.files.libraries import library
from l1lsmi.files.memory import check_room
from l1lsmi.files.problem import counted, damage, listed
from l1lsmi.files.table import Values

NEWER = "a MATLAB file of version 7.3"

SIGNATURE = b"\x89HDF\r\n\x1a\n"


def read(data: bytes, source: str, options: Options) -> Columns:
    """Read the variables of a file.

    Matrices of numbers, full or sparse, and words as rows of letters or as cells.

    Parameters
    ----------
    data : bytes
    source : str
        For messages.
    options : Options
        Its array: which is the matrix of features.
    """
    newer = SIGNATURE in (data[:8], data[512:520])
    if newer:
        found = apart.contents("mat", data, source)
        arrays, left_out = found.arrays, found.words
    else:
        arrays, left_out = _older(data, source)
    columns = array_columns(arrays, source, options.array)
    if left_out:
        columns.say(
            f"Left out {counted(len(left_out), 'variable')} of neither numbers nor words: {listed(left_out)}."
        )
    return columns


# -- version 7 and before ---------------------------------------------------------------------


def _older(data: bytes, source: str) -> tuple[dict[str, Values], list[str]]:
    with damage(source, "a MATLAB file (.mat)"):
        # Version 4 has no header, but a small number in its place.
        found = _version_4(data, source) if 0 in data[:4] else variables(data, source)
        content = dict(found)
    known = {name: values for name, values in content.items() if values is not None}
    return known, [name for name in content if name not in known]


def _version_4(data: bytes, source: str) -> Iterator[Variable]:
    about = scipy_io.whosmat(io.BytesIO(data))
    check_room(source, sum(16 * math.prod(shape) for _, shape, _ in about), "its arrays")
    for name, values in scipy_io.loadmat(io.BytesIO(data)).items():
        if sparse.issparse(values):
            yield name, np.asarray(values.toarray())
        elif not name.startswith("__"):
            yield name, np.char.rstrip(values) if values.dtype.kind == "U" else values


# -- version 7.3 ------------------------------------------------------------------------------


def load() -> None:
    """Load the library."""
    library("h5py", "h5ad", NEWER)


def contents(data: bytes, source: str) -> Contents:
    """The variables of a file of version 7.3, and the names of those that are no arrays."""
    arrays, left_out = {}, []
    with opened(data, source, NEWER) as file:
        variables = _Variables(file, source)
        for name in file:
            if name.startswith("#"):  # what cells refer to
                continue
            values = variables.read(file[name])
            if values is None:
                left_out.append(name)
            else:
                arrays[name] = values
    return Contents(arrays, left_out)


class _Variables:
    """Variables of a file, read as long as all of them together fit."""

    def __init__(self, file: Any, source: str) -> None:
        self.file, self.source = file, source
        self.needed = 0

    def read(self, item: Any, depth: int = 0) -> Values | None:
        """A variable as an array; None where it is something else."""
        kind = item.attrs.get("MATLAB_class", b"")
        kind = kind.decode() if isinstance(kind, bytes) else str(kind)
        if "MATLAB_sparse" in item.attrs:
            return None if depth else _sparse(item, self.source)
        if not hasattr(item, "shape") or depth > DEEPEST:
            return None
        if item.attrs.get("MATLAB_empty", 0):
            return np.empty((0, 0))
        if depth and kind not in ("char", "cell") and item.size > 1:
            return None  # a cell of a table holds one number
        self._count(item)
        if kind == "char":
            # One number for each letter, the letters of a word in a column.
            letters = np.asarray(item[()]).T
            return np.array(["".join(map(chr, row)).rstrip() for row in letters])
        if kind == "cell":
            return self._cells(np.asarray(item[()]).T, depth)
        if kind == "logical":
            return np.asarray(item[()]).T.astype(bool)
        return np.asarray(item[()]).T if item.dtype.kind in "fiub" else None

    def _count(self, item: Any) -> None:
        """Every time it is read, as many cells may refer to one array."""
        self.needed += math.prod(item.shape or ()) * (item.dtype.itemsize + 8)
        check_room(self.source, self.needed, "its arrays")

    def _cells(self, references: Values, depth: int) -> Values | None:
        cells: list[Values | None] = []
        for reference in references.ravel(order="F"):
            cells.append(self.read(self.file[reference], depth + 1))
            if cells[-1] is None:
                return None
        return joined_cells(cells, references.shape)


def _sparse(item: Any, source: str) -> Values:
    """Columns that are stored by what is not zero in them."""
    parts = [item[name] for name in ("jc", "ir", "data") if name in item]
    check_room(source, sum(math.prod(part.shape) * (part.dtype.itemsize + 8) for part in parts), "its arrays")
    n_rows, starts = int(item.attrs["MATLAB_sparse"]), np.asarray(item["jc"][()], dtype=np.int64)
    shape = (n_rows, len(starts) - 1)
    check_shape(source, shape, 8, "a full copy of a sparse matrix")
    if "data" not in item:
        return np.zeros(shape)
    stored = (np.asarray(item["data"][()]), np.asarray(item["ir"][()], dtype=np.int64), starts)
    matrix = sparse.csc_array(stored, shape=shape)
    # A damaged index would write beside the matrix.
    matrix.check_format(full_check=True)
    return np.asarray(matrix.toarray())
