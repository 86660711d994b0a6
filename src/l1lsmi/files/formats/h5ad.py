"""AnnData: genes as columns, and what is known of each cell beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from l1lsmi.files.columns import add_arrays
from l1lsmi.files.formats import Options
from l1lsmi.files.formats.arrays import add_matrix
from l1lsmi.files.formats.hdf5 import check_shape, opened
from l1lsmi.files.found import Columns
from l1lsmi.files.libraries import arrow, library
from l1lsmi.files.problem import FileProblem, damage, where
from l1lsmi.files.table import Values

__all__ = ["read"]


def read(data: bytes, source: str, options: Options) -> Columns:
    """Read the matrix of genes and the table of cells.

    Columns of the table of cells can be the target; they are features only if they are asked for by name.

    Parameters
    ----------
    data : bytes
    source : str
        For messages.
    options : Options
        None is known here.
    """
    what = "an AnnData file (.h5ad)"
    elements = library("anndata.io", "h5ad", what)
    with opened(data, source, what) as file:
        missing = [name for name in ("X", "obs", "var") if name not in file]
        if missing:
            raise FileProblem(f"{where(source)} is no AnnData file: it has no {' and no '.join(missing)}.")
        _check_size(file["X"], source)
        genes = [str(name) for name in elements.read_elem(file["var"]).index]
        cells = elements.read_elem(file["obs"])
        matrix = _full(elements.read_elem(file["X"]), source)
    if matrix.shape != (len(cells), len(genes)) or 0 in matrix.shape:
        raise FileProblem(
            f"{where(source)} has a matrix of shape {matrix.shape} for {len(cells)} cells and {len(genes)} "
            "genes."
        )
    with damage(source, "an AnnData file (.h5ad)"):
        return _columns(cells, genes, matrix)


def _check_size(item: Any, source: str) -> None:
    shape = (
        item.shape if hasattr(item, "shape") else item.attrs.get("shape", item.attrs.get("h5sparse_shape"))
    )
    check_shape(source, () if shape is None else shape, 8, "the full matrix of genes")


def _full(matrix: Any, source: str) -> Values:
    if sparse.issparse(matrix):
        matrix.check_format(full_check=True)
        matrix = matrix.toarray()
    full: Values = np.asarray(matrix)
    if full.ndim != 2 or full.dtype.kind not in "fiub":
        raise FileProblem(
            f"{where(source)} has an X of shape {full.shape} and type {full.dtype}: a matrix of numbers "
            "is needed."
        )
    return full


def _columns(cells: Any, genes: list[str], matrix: Values) -> Columns:
    index = str(cells.index.name or "index")
    about = {str(name): cells[name] for name in cells.columns}
    if index not in about and index not in genes:
        about = {index: cells.index.to_series(), **about}
    columns = Columns([*about, *genes])
    add_arrays(columns, range(len(about)), [_arrow_array(values) for values in about.values()])
    for place in range(len(about)):
        columns.set_aside(place)
    add_matrix(columns, range(len(about), len(columns.names)), matrix)
    columns.say(f"Features are the {len(genes)} genes; what is known of the cells can be the target.")
    return columns


def _arrow_array(values: Any) -> Any:
    pa = arrow()
    try:
        array = pa.Array.from_pandas(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        array = pa.array([None if value != value else str(value) for value in values], pa.large_string())
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
