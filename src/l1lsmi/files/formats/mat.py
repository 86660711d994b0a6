"""MATLAB files, of version 4 to 7 and of version 7.3, which is HDF5."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import io as scipy_io
from scipy import sparse

from l1lsmi.files.formats import Options
from l1lsmi.files.formats.arrays import array_columns
from l1lsmi.files.formats.hdf5 import check_shape, opened
from l1lsmi.files.formats.mat5 import Variable, joined_cells, variables
from l1lsmi.files.found import Columns
from l1lsmi.files.memory import check_room
from l1lsmi.files.problem import counted, damage, listed
from l1lsmi.files.table import Values

__all__ = ["read"]

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
    arrays, left_out = _newer(data, source) if newer else _older(data, source)
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


def _newer(data: bytes, source: str) -> tuple[dict[str, Values], list[str]]:
    arrays, left_out = {}, []
    with opened(data, source, "a MATLAB file of version 7.3") as file:
        for name in file:
            if name.startswith("#"):  # what cells refer to
                continue
            values = _variable(file, file[name], source)
            if values is None:
                left_out.append(name)
            else:
                arrays[name] = values
    return arrays, left_out


def _variable(file: Any, item: Any, source: str) -> Values | None:
    kind = item.attrs.get("MATLAB_class", b"")
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    if "MATLAB_sparse" in item.attrs:
        return _sparse(item, source)
    if not hasattr(item, "shape"):
        return None
    check_shape(source, item.shape, item.dtype.itemsize, "its arrays")
    if item.attrs.get("MATLAB_empty", 0):
        return np.empty((0, 0))
    if kind == "char":
        # One number for each letter, the letters of a word in a column.
        letters = np.asarray(item[()]).T
        return np.array(["".join(map(chr, row)).rstrip() for row in letters])
    if kind == "cell":
        references = np.asarray(item[()]).T
        cells = [_variable(file, file[reference], source) for reference in references.ravel(order="F")]
        return joined_cells(cells, references.shape)
    if kind == "logical":
        return np.asarray(item[()]).T.astype(bool)
    return np.asarray(item[()]).T if item.dtype.kind in "fiub" else None


def _sparse(item: Any, source: str) -> Values:
    """Columns that are stored by what is not zero in them."""
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
