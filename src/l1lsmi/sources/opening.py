"""Recognise what X is, and open it."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any, NamedTuple

from l1lsmi._rows.table import Resources, RowTable


class OpenRows(NamedTuple):
    """An out-of-core table, its target, the names of its columns, and the weights of its rows.

    ``levels`` has the levels of each category, and None for each numeric column; it is None if all columns
    are numeric.
    """

    table: RowTable
    y: Any
    names: list[str] | None
    sample_weight: Any = None
    levels: list[list[Any] | None] | None = None


def computed_targets(y: Any) -> Any:
    """Bring the targets of all rows into memory; a dask collection is computed.

    Parameters
    ----------
    y : object

    Returns
    -------
    y : object

    Examples
    --------
    >>> import dask.array as da
    >>> from l1lsmi.sources import computed_targets
    >>> computed_targets(da.arange(3, chunks=2)), computed_targets([0, 1])
    (array([0, 1, 2]), [0, 1])
    """
    return y.compute() if library_of(y) in ("dask", "dask_expr") else y


def library_of(thing: object) -> str:
    """Name of the package that defines the type of an object."""
    return type(thing).__module__.split(".")[0]


def is_out_of_core(X: object) -> bool:
    """Tell whether the rows of X are out-of-core: on disk, on a cluster, or given in blocks.

    Parameters
    ----------
    X : object

    Returns
    -------
    bool
        True for a path, a dataset or table of pyarrow, a dask collection, and a function that returns blocks.

    Examples
    --------
    >>> from l1lsmi.sources import is_out_of_core
    >>> is_out_of_core("measurements.parquet"), is_out_of_core([[1.0, 2.0]])
    (True, False)
    """
    if isinstance(X, (str, bytes, PathLike)) or library_of(X) in ("dask", "dask_expr", "pyarrow"):
        return True
    return callable(X) and not isinstance(X, type) and not hasattr(X, "shape")


def as_table(X: Any) -> Any:
    """Convert a record batch of pyarrow to a table; return any other object unchanged.

    Parameters
    ----------
    X : object

    Returns
    -------
    X : object

    Examples
    --------
    >>> import pyarrow as pa
    >>> from l1lsmi.sources.opening import as_table
    >>> as_table(pa.record_batch({"a": [1, 2]})).shape
    (2, 1)
    """
    if library_of(X) != "pyarrow" or type(X).__name__ != "RecordBatch":
        return X
    from pyarrow import Table

    return Table.from_batches([X])


def split_named(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Split a pyarrow table into features, target and weights; the last two may be names of its columns.

    Parameters
    ----------
    X : pyarrow.Table
    y : array-like, str or list of str
    sample_weight : array-like, str or None

    Returns
    -------
    X : pyarrow.Table
    y : array-like
    sample_weight : array-like or None

    Examples
    --------
    >>> import pyarrow as pa
    >>> from l1lsmi.sources.opening import split_named
    >>> X, y, _ = split_named(pa.table({"a": [1.5, 2.5], "y": [0, 1]}), "y", None)
    >>> X.column_names, y.tolist()
    (['a'], [0, 1])
    """
    from l1lsmi.sources.arrow import split_table

    return split_table(X, y, sample_weight)


def open_rows(
    X: Any,
    y: Any,
    resources: Resources | None = None,
    sample_weight: Any = None,
    categorical: Any = "from_dtype",
) -> OpenRows:
    """Open out-of-core rows, and pass over them once for the column statistics.

    Parameters
    ----------
    X : path, pyarrow dataset or table, dask array or dataframe, or callable
        The path of a Parquet or Feather file, or of a directory of such files. A callable takes no arguments
        and returns an iterator of blocks, and is called again for every pass over the rows. A block is an
        array or dataframe of shape (rows, features), a tuple of such a block and its targets, or a tuple of a
        block, its targets and the weights of its rows. Missing values are NaN or null. Columns of text or of
        a dictionary type are categories with at most 40 levels, which are counted in the first pass.
    y : array-like, dask collection, str, list of str or None
        Targets of all rows; for files and dataframes, the name of the target column, or the names of several;
        None if the blocks have targets.
    resources : Resources or None
    sample_weight : array-like, dask collection, str or None, default=None
        Weights of all rows, or the name of the column of weights; None if the blocks have weights, or rows
        are not weighted.
    categorical : "from_dtype", None, or columns
        The parameter ``categorical_features`` of a selector.

    Returns
    -------
    OpenRows

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.sources import open_rows
    >>> x = np.arange(12.0).reshape(6, 2)
    >>> rows = open_rows(lambda: iter([(x[:4], x[:4, 0]), (x[4:], x[4:, 0])]), None)
    >>> rows.table.n_rows, rows.y.tolist()
    (6, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0])
    """
    resources = resources or Resources()
    return _opener(X)(X, computed_targets(y), resources, computed_targets(sample_weight), categorical)


def _opener(X: Any) -> Callable[[Any, Any, Resources, Any, Any], OpenRows]:
    # Each library is loaded by those who use it.
    if library_of(X) in ("dask", "dask_expr"):
        from l1lsmi.sources.dask import open_dask

        return open_dask
    if callable(X) and not isinstance(X, (str, PathLike)):
        from l1lsmi.sources.blocks import open_blocks

        return open_blocks
    from l1lsmi.sources.arrow import open_arrow

    return open_arrow
