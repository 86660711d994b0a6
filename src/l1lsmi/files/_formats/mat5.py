"""MATLAB files of versions 4 to 7, read with SciPy inside the sandbox, as a damaged file can crash it."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import matlab

from l1lsmi.files._formats.dense import to_dense
from l1lsmi.files._formats.sandbox import Contents
from l1lsmi.files._memory import check_memory
from l1lsmi.files.problem import file_problems
from l1lsmi.files.table import Values

#: Types of numbers, as both MATLAB and NumPy call them.
NUMERIC = {"double", "single", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}
#: Classes of variables that can be columns; structures, objects and functions cannot.
CLASSES = {"char", "cell", "sparse", "logical", *NUMERIC}


def load_libraries() -> None:
    """SciPy is loaded with this module."""


def read_contents(data: bytes, source: str) -> Contents:
    """The variables of a file of version 4 to 7, and the names of those that are no arrays."""
    contents = Contents({})
    n_values = 0
    with file_problems(source, "a MATLAB file (.mat)"):
        for file in _files(data):
            headers = _headers(file)
            n_values += sum(math.prod(shape) for _, shape, _ in headers)
            check_memory(source, 16 * n_values, "its arrays")
            classes = {name: kind for name, _, kind in headers if not name.startswith("__")}
            variables = _load(file, [name for name, kind in classes.items() if kind in CLASSES])
            for name, kind in classes.items():
                array = _array(variables[name], kind) if name in variables else None
                if array is None:
                    contents.strings.append(name)
                else:
                    contents.arrays[name] = array
    return contents


def _files(data: bytes) -> list[io.BytesIO]:
    """The file, or a file for each variable where SciPy cannot list one of them."""
    file = io.BytesIO(data)
    try:
        matlab.whosmat(file)
    except TypeError:
        return [part for _, part in matlab.varmats_from_mat(file)]
    return [file]


def _headers(file: io.BytesIO) -> list[tuple[str, tuple[int, ...], str]]:
    """Name, shape and class of each variable."""
    try:
        headers: list[tuple[str, tuple[int, ...], str]] = matlab.whosmat(file)
    except TypeError:
        # Objects such as strings, tables and dates of newer MATLAB have no shape.
        opaque = [item for item in matlab.loadmat(file).values() if isinstance(item, matlab.MatlabOpaque)]
        headers = [(item["s0"].item().decode(errors="replace"), (), "opaque") for item in opaque]
    return headers


def _load(file: io.BytesIO, names: list[str]) -> dict[str, Any]:
    """Some variables as SciPy reads them."""
    head = file.getvalue()[:128]
    options: dict[str, Any] = {}
    if 0 not in head[:4]:  # version 5 or later, whose header tells the byte order of its UTF-16
        options["uint16_codec"] = "utf-16-le" if head[126:128] == b"IM" else "utf-16-be"
    variables: dict[str, Any] = matlab.loadmat(file, variable_names=names, **options) if names else {}
    return variables


def _array(values: Any, kind: str = "") -> Values | None:
    """A variable of a class as an array of numbers or strings; None where it is something else."""
    if isinstance(values, str):  # the message of SciPy in place of a variable
        raise ValueError(values)
    if sparse.issparse(values):
        return None if values.dtype.kind == "c" else to_dense(values).astype(np.float64)
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiubUO":
        return None
    if values.dtype.kind == "O":
        return join_cells([_array(cell) for cell in values.ravel(order="F")], values.shape)
    if values.dtype.kind == "U":
        return np.char.rstrip(values)
    # Stored in the smallest type that holds the values.
    return values.astype(bool if kind == "logical" else kind) if kind in {*NUMERIC, "logical"} else values


def join_cells(cells: list[Values | None], shape: tuple[int, ...]) -> Values | None:
    """Cells that hold one string or one number each as one array; None where one holds anything else."""
    items: list[object] = []
    for cell in cells:
        if cell is None or cell.size > 1 or cell.dtype.kind not in "Ufiub":
            return None
        items.append(cell.item() if cell.size else None)
    array = np.empty(len(items), dtype=object)
    array[:] = items
    if all(isinstance(item, (int, float)) for item in items):
        array = array.astype(np.float64)
    return array.reshape(shape, order="F")
