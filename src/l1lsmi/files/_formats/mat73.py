"""MATLAB files of version 7.3, which are HDF5, read inside the sandbox."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from l1lsmi.files._formats.dense import to_dense
from l1lsmi.files._formats.hdf5 import open_hdf5
from l1lsmi.files._formats.mat5 import join_cells
from l1lsmi.files._formats.sandbox import Contents
from l1lsmi.files._libraries import import_optional
from l1lsmi.files._memory import check_memory
from l1lsmi.files.table import Values

FORMAT = "a MATLAB file of version 7.3"
#: Deeper nested cells are not a table, and a cell may refer to itself.
MAX_DEPTH = 3


def load_libraries() -> None:
    """Load h5py."""
    import_optional("h5py", "h5ad", FORMAT)


def read_contents(data: bytes, source: str) -> Contents:
    """The variables of a file, and the names of those that are no arrays."""
    arrays, left_out = {}, []
    with open_hdf5(data, source, FORMAT) as file:
        reader = _VariableReader(file, source)
        for name in file:
            if name.startswith("#"):  # the contents of cells
                continue
            values = reader.read(file[name])
            if values is None:
                left_out.append(name)
            else:
                arrays[name] = values
    return Contents(arrays, left_out)


class _VariableReader:
    """Reads variables of a file, as long as all of them together fit into memory."""

    def __init__(self, file: Any, source: str) -> None:
        self.file, self.source = file, source
        self.n_bytes = 0

    def read(self, item: Any, depth: int = 0) -> Values | None:
        """A variable as an array; None where it is something else."""
        kind = item.attrs.get("MATLAB_class", b"")
        kind = kind.decode() if isinstance(kind, bytes) else str(kind)
        if "MATLAB_sparse" in item.attrs:
            return None if depth else _sparse(item, self.source)
        if not hasattr(item, "shape") or depth > MAX_DEPTH:
            return None
        if item.attrs.get("MATLAB_empty", 0):
            return np.empty((0, 0))
        if depth and kind not in ("char", "cell") and item.size > 1:
            return None  # a cell of a table holds one number
        self._check_memory(item)
        # MATLAB stores columns first, HDF5 rows.
        values = np.asarray(item[()]).T
        if kind == "char":
            return np.array(["".join(map(chr, codes)).rstrip() for codes in values])
        if kind == "cell":
            return self._cells(values, depth)
        if kind == "logical":
            return values.astype(bool)
        return values if item.dtype.kind in "fiub" else None

    def _check_memory(self, item: Any) -> None:
        """Counted at every read, as many cells may refer to one array."""
        self.n_bytes += math.prod(item.shape or ()) * (item.dtype.itemsize + 8)
        check_memory(self.source, self.n_bytes, "its arrays")

    def _cells(self, references: Values, depth: int) -> Values | None:
        cells: list[Values | None] = []
        for reference in references.ravel(order="F"):
            cells.append(self.read(self.file[reference], depth + 1))
            if cells[-1] is None:
                return None
        return join_cells(cells, references.shape)


def _sparse(item: Any, source: str) -> Values:
    """A full copy of a matrix in compressed sparse column format."""
    parts = [item[name] for name in ("jc", "ir", "data") if name in item]
    n_bytes = sum(math.prod(part.shape) * (part.dtype.itemsize + 8) for part in parts)
    check_memory(source, n_bytes, "its arrays")
    n_rows, starts = int(item.attrs["MATLAB_sparse"]), np.asarray(item["jc"][()], dtype=np.int64)
    shape = (n_rows, len(starts) - 1)
    check_memory(source, 16 * math.prod(shape), "a full copy of a sparse matrix")
    if "data" not in item:
        return np.zeros(shape)
    stored = (np.asarray(item["data"][()]), np.asarray(item["ir"][()], dtype=np.int64), starts)
    return to_dense(sparse.csc_array(stored, shape=shape))
