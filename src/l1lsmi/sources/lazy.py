"""Columns of dask arrays and dataframes, without computing them."""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray, with_zeros
from l1lsmi._validation.columns import check_same_names
from l1lsmi._validation.features import check_finite
from l1lsmi.sources.opening import library_of


def select_columns(
    X: Any, columns: HostArray, n_features: int, names: Any = None, *, finite: bool = False
) -> Any:
    """Take some columns of a dask array or dataframe, without computing them.

    Parameters
    ----------
    X : dask array or dataframe
    columns : numpy.ndarray of int
    n_features : int
        Number of columns that X must have.
    names : array of str or None
        Names of the columns, if they are known; a dataframe must have the same names, in the same order.
    finite : bool, default=False
        Whether missing and infinite values are refused when the columns are computed.

    Returns
    -------
    dask array or dataframe

    Examples
    --------
    >>> import numpy as np
    >>> import dask.array as da
    >>> from l1lsmi.sources import select_columns
    >>> select_columns(da.ones((6, 3), chunks=2), np.array([0, 2]), 3).shape
    (6, 2)
    """
    if library_of(X) not in ("dask", "dask_expr"):
        raise ValueError(
            f"X is a {type(X).__name__}, from which columns cannot be selected: read the columns "
            "that get_feature_names_out() returns."
        )
    if X.shape[1] != n_features:
        raise ValueError(f"X has {X.shape[1]} features, but {n_features} features are expected as input.")
    if names is not None and hasattr(X, "columns"):
        check_same_names(X.columns, names)
    if hasattr(X, "columns"):
        checked = X.map_partitions(_finite, meta=X._meta) if finite else X
        return checked[[X.columns[j] for j in columns]]
    return (X.map_blocks(_finite, meta=X._meta) if finite else X)[:, columns]


def insert_zeros(X: Any, support: HostArray, *, allow_missing: bool = False) -> Any:
    """Insert columns of zeros among the columns of a dask array or dataframe, without computing them.

    Parameters
    ----------
    X : dask array or dataframe
    support : numpy.ndarray of bool, shape (m,)
        True at the places of the columns of X, False where a column of zeros is inserted.
    allow_missing : bool, default=False
        Whether values may be missing; infinite ones are refused when the columns are computed.

    Returns
    -------
    dask array

    Examples
    --------
    >>> import numpy as np
    >>> import dask.array as da
    >>> from l1lsmi.sources.lazy import insert_zeros
    >>> insert_zeros(da.ones((2, 1), chunks=1), np.array([False, True])).compute().tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """
    if library_of(X) not in ("dask", "dask_expr"):
        raise ValueError(f"X is a {type(X).__name__}: pass the output of transform.")
    values = X.to_dask_array() if hasattr(X, "columns") else X
    if values.ndim != 2 or values.shape[1] != support.sum():
        raise ValueError(
            f"X has shape {values.shape}, but {support.sum()} features are selected: pass the output of "
            "transform."
        )
    return values.map_blocks(
        _among_zeros, support, allow_missing, chunks=(values.chunks[0], (support.size,)), meta=values._meta
    )


def _finite(chunk: Any) -> Any:
    """The same rows, checked to be finite numbers."""
    values = np.asarray(chunk)
    if values.dtype.kind == "f":
        check_finite(values, list(chunk.columns) if hasattr(chunk, "columns") else None)
    return chunk


def _among_zeros(chunk: Any, support: HostArray, allow_missing: bool) -> HostArray:
    values = np.asarray(chunk)
    if values.dtype.kind == "f":
        check_finite(values, None, allow_missing=allow_missing)
    return np.asarray(with_zeros(values, support))
