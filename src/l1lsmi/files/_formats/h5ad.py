"""AnnData: genes are features, and annotations of cells can be the target."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from l1lsmi._messages import printable
from l1lsmi.files._arrow_arrays import add_arrays
from l1lsmi.files._formats import Options, sandbox
from l1lsmi.files._formats.arrays import add_matrix
from l1lsmi.files._formats.dense import to_dense
from l1lsmi.files._formats.hdf5 import open_hdf5
from l1lsmi.files._formats.sandbox import Contents
from l1lsmi.files._libraries import import_optional
from l1lsmi.files._memory import check_memory
from l1lsmi.files._table_builder import TableBuilder
from l1lsmi.files.problem import FileProblem, file_problems
from l1lsmi.files.table import Values

FORMAT = "an AnnData file (.h5ad)"


def read(data: bytes, source: str, options: Options) -> TableBuilder:
    """Read the matrix of genes and the table of cells.

    Annotations of cells can be the target; they become features only if they are named in ``only``.

    Parameters
    ----------
    data : bytes
    source : str
        For messages.
    options : Options
        Not used.
    """
    contents = sandbox.read_contents("h5ad", data, source)
    matrix, genes, cells = contents.arrays["X"], contents.strings, contents.table
    if matrix.shape != (cells.num_rows, len(genes)) or 0 in matrix.shape:
        raise FileProblem(
            f"{printable(source)} has a matrix of shape {matrix.shape}, but {cells.num_rows} cells and "
            f"{len(genes)} genes: save the file again."
        )
    with file_problems(source, FORMAT):
        return _table_of(cells, genes, matrix)


# -- in the sandbox ---------------------------------------------------------------------------


def load_libraries() -> None:
    """Load the libraries."""
    import_optional("h5py", "h5ad", FORMAT)
    import_optional("anndata.io", "h5ad", FORMAT)


def read_contents(data: bytes, source: str) -> Contents:
    """The matrix of genes, their names, and the table of cells, which begins with the names of cells."""
    elements = import_optional("anndata.io", "h5ad", FORMAT)
    with open_hdf5(data, source, FORMAT) as file:
        missing = [name for name in ("X", "obs", "var") if name not in file]
        if missing:
            names = " and no ".join(missing)
            raise FileProblem(
                f"{printable(source)} is not an AnnData file, as it has no {names}: save it with anndata."
            )
        _check_sizes(file, source)
        genes = [str(name) for name in elements.read_elem(file["var"]).index]
        cells = elements.read_elem(file["obs"])
        matrix = _full(elements.read_elem(file["X"]), source)
    with file_problems(source, FORMAT):
        return Contents({"X": matrix}, genes, _annotations(cells, genes))


def _check_sizes(file: Any, source: str) -> None:
    """Refuse what does not fit: a data set may claim to be much larger than the file."""
    X = file["X"]
    shape = X.shape if hasattr(X, "shape") else X.attrs.get("shape", X.attrs.get("h5sparse_shape"))
    n_values = math.prod(map(int, () if shape is None else shape))
    check_memory(source, 16 * n_values, "the full matrix of genes")
    n_bytes = 0

    def count(name: str, item: Any) -> None:
        nonlocal n_bytes
        if hasattr(item, "shape"):
            n_bytes += math.prod(item.shape or ()) * (item.dtype.itemsize + 8)

    for name in ("X", "obs", "var"):
        if hasattr(file[name], "visititems"):
            file[name].visititems(count)
    check_memory(source, n_bytes, "its table of cells and genes")


def _full(matrix: Any, source: str) -> Values:
    full: Values = to_dense(matrix) if sparse.issparse(matrix) else np.asarray(matrix)
    if full.ndim != 2 or full.dtype.kind not in "fiub":
        raise FileProblem(
            f"{printable(source)} has an X of shape {full.shape} and type {full.dtype}: a matrix of numbers "
            "is needed."
        )
    return full


def _annotations(cells: Any, genes: list[str]) -> Any:
    index = str(cells.index.name or "index")
    arrays = {str(name): cells[name] for name in cells.columns}
    if index not in arrays and index not in genes:
        arrays = {index: cells.index.to_series(), **arrays}
    elif not arrays:  # a table without columns has no number of rows
        arrays = {f"{index} of the cells": cells.index.to_series()}
    return pa.table([_arrow_array(values) for values in arrays.values()], names=list(arrays))


def _arrow_array(values: Any) -> Any:
    try:
        return pa.Array.from_pandas(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value != value else str(value) for value in values], pa.large_string())


# -- in this process --------------------------------------------------------------------------


def _table_of(cells: Any, genes: list[str], matrix: Values) -> TableBuilder:
    table = TableBuilder([*cells.column_names, *genes])
    add_arrays(table, range(cells.num_columns), cells.columns)
    for index in range(cells.num_columns):
        table.exclude(index)
    add_matrix(table, range(cells.num_columns, len(table.names)), matrix)
    table.add_note(f"Features are the {len(genes)} genes; annotations of the cells can be the target.")
    return table
