"""Sparse matrices of SciPy and data frames with sparse columns, as compressed columns of finite numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_array, issparse
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_array

from l1lsmi._arrays import HostArray


def is_sparse_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas some of whose columns are sparse."""
    two_dimensional = hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2
    return two_dimensional and any(_is_sparse_type(kind) for kind in set(getattr(X, "dtypes", ())))


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix, or a data frame with sparse columns."""
    return issparse(X) or is_sparse_frame(X)


def _is_sparse_type(kind: Any) -> bool:
    return hasattr(kind, "fill_value") and hasattr(kind, "subtype")


def frame_to_columns(frame: Any) -> Any:
    """A data frame as compressed columns, converted one column at a time."""
    n_rows, values, rows, sizes = len(frame), [], [], []
    for place, name in enumerate(frame.columns):
        try:
            stored, places = _entries(frame.iloc[:, place].array, n_rows)
        except (TypeError, ValueError):
            raise ValueError(
                f"X has values that are not numbers in column {str(name)!r}: encode or drop them before "
                "fitting."
            ) from None
        values.append(stored)
        rows.append(places)
        sizes.append(places.size)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    joined = np.concatenate(values) if values else np.empty(0)
    places = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)
    return csc_array((joined, places, starts), shape=(n_rows, len(sizes)))


def frame_to_rows(estimator: Any, frame: Any) -> Any:
    """A data frame with the columns that an estimator was fitted to, as compressed rows for its transform."""
    _check_feature_names(estimator, frame, reset=False)
    _check_n_features(estimator, frame, reset=False)
    return check_array(frame_to_columns(frame).tocsr(), dtype=None, accept_sparse="csr", input_name="X")


def keeps_frames(estimator: Any) -> bool:
    """Whether the output of an estimator is set to be data frames."""
    return bool(_get_output_config("transform", estimator=estimator)["dense"] != "default")


def _entries(column: Any, n_rows: int) -> tuple[HostArray, HostArray]:
    """Non-zeros of a column, and their rows."""
    kind = column.dtype
    if _is_sparse_type(kind) and kind.fill_value == 0:
        # A column of nothing but zeros may have no index of integers.
        places = np.asarray(column.sp_index.to_int_index().indices, dtype=np.int32)
        return np.asarray(column.sp_values, dtype=np.float64), places
    dense = np.asarray(column, dtype=np.float64)
    places = np.flatnonzero(dense).astype(np.int32)
    return dense[places], places


def without_duplicates(matrix: Any, given: Any) -> Any:
    """Compressed columns in which no entry comes twice; what was given is not written to."""
    if matrix.has_canonical_format:
        return matrix
    if issparse(given) and hasattr(given, "data") and np.shares_memory(matrix.data, given.data):
        matrix = matrix.copy()
    matrix.sum_duplicates()
    return matrix


def first_not_finite(matrix: Any) -> tuple[int, int] | None:
    """Row and column of the first value of compressed columns that is missing or infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(matrix.data.sum()):
            return None
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if not bad.size:
        return None
    columns = np.searchsorted(matrix.indptr, bad, side="right") - 1
    first = np.lexsort((columns, matrix.indices[bad]))[0]
    return int(matrix.indices[bad[first]]), int(columns[first])
