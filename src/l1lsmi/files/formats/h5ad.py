"""AnnData: genes as columns, and what is known of each cell beside them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from l1lsmi.files.columns import add_arrays, whole
from l1lsmi.files.formats import Options, sandbox
from l1lsmi.files.formats.arrays import add_matrix
from l1lsmi.files.formats.hdf5 import check_shape, opened
from l1lsmi.files.formats.sandbox import Contents
from l1lsmi.files.found import Columns
from l1lsmi.files.libraries import arrow, library
from l1lsmi.files.memory import check_room
from l1lsmi.files.problem import FileProblem, damage, where
from l1lsmi.files.table import Values

WHAT = "an AnnData file (.h5ad)"


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
    found = sandbox.read_contents("h5ad", data, source)
    matrix, genes, cells = found.arrays["X"], found.strings, found.table
    if matrix.shape != (cells.num_rows, len(genes)) or 0 in matrix.shape:
        raise FileProblem(
            f"{where(source)} has a matrix of shape {matrix.shape} for {cells.num_rows} cells and "
            f"{len(genes)} genes."
        )
    with damage(source, WHAT):
        return _columns(cells, genes, matrix)


# -- what a process of its own does -----------------------------------------------------------


def load_libraries() -> None:
    """Load the libraries."""
    library("h5py", "h5ad", WHAT)
    library("anndata.io", "h5ad", WHAT)
    arrow()


def read_contents(data: bytes, source: str) -> Contents:
    """The matrix of genes, their names, and the table of cells, with their names in front."""
    elements = library("anndata.io", "h5ad", WHAT)
    with opened(data, source, WHAT) as file:
        missing = [name for name in ("X", "obs", "var") if name not in file]
        if missing:
            raise FileProblem(f"{where(source)} is no AnnData file: it has no {' and no '.join(missing)}.")
        _check_size(file["X"], source)
        _check_parts([file[name] for name in ("X", "obs", "var")], source)
        genes = [str(name) for name in elements.read_elem(file["var"]).index]
        cells = elements.read_elem(file["obs"])
        matrix = _full(elements.read_elem(file["X"]), source)
    with damage(source, WHAT):
        return Contents({"X": matrix}, genes, _table(cells, genes))


def _check_size(item: Any, source: str) -> None:
    shape = (
        item.shape if hasattr(item, "shape") else item.attrs.get("shape", item.attrs.get("h5sparse_shape"))
    )
    check_shape(source, () if shape is None else shape, 8, "the full matrix of genes")


def _check_parts(items: list[Any], source: str) -> None:
    """Refuse what does not fit: a data set may announce much more than the table has rows."""
    needed = 0

    def count(name: str, item: Any) -> None:
        nonlocal needed
        if hasattr(item, "shape"):
            needed += math.prod(item.shape or ()) * (item.dtype.itemsize + 8)

    for item in items:
        if hasattr(item, "visititems"):
            item.visititems(count)
    check_room(source, needed, "its table of cells and genes")


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


def _table(cells: Any, genes: list[str]) -> Any:
    index = str(cells.index.name or "index")
    about = {str(name): cells[name] for name in cells.columns}
    if index not in about and index not in genes:
        about = {index: cells.index.to_series(), **about}
    elif not about:  # a table without columns does not know how many rows it has
        about = {f"{index} of the cells": cells.index.to_series()}
    return arrow().table([_arrow_array(values) for values in about.values()], names=list(about))


def _arrow_array(values: Any) -> Any:
    pa = arrow()
    try:
        array = pa.Array.from_pandas(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        array = pa.array([None if value != value else str(value) for value in values], pa.large_string())
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


# -- what becomes of it -----------------------------------------------------------------------


def _columns(cells: Any, genes: list[str], matrix: Values) -> Columns:
    columns = Columns([*cells.column_names, *genes])
    places = range(cells.num_columns)
    add_arrays(columns, places, [whole(array) for array in cells.columns])
    for place in places:
        columns.set_aside(place)
    add_matrix(columns, range(len(places), len(columns.names)), matrix)
    columns.say(f"Features are the {len(genes)} genes; what is known of the cells can be the target.")
    return columns
