"""Features: tables of finite numbers, wherever they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike, fsdecode
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_feature_names, check_array, validate_data

from l1lsmi._arrays import (
    Array,
    HostArray,
    dense_values,
    device_of,
    is_non_numpy,
    namespace,
    to_device,
    to_numpy,
)
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import RowTable, Table
from l1lsmi._sparse import SparseMatrix
from l1lsmi._validation.columns import refuse_repeated_names
from l1lsmi._validation.digits import Digits, may_be_large
from l1lsmi._validation.lazy_frames import refuse_lazy
from l1lsmi._validation.sparse import (
    first_not_finite,
    frame_to_columns,
    is_sparse,
    is_sparse_frame,
    without_duplicates,
)
from l1lsmi._validation.target import check_target, is_missing


def check_xy(
    X: Any, y: Any, task: str, estimator: Any = None, *, sparse: bool = False
) -> tuple[Array, Target]:
    """Check features and target; the features stay in their own array library.

    Parameters
    ----------
    X, y : array-like
    task : str
    estimator : estimator or None
        Gets the number and the names of the features.
    sparse : bool
        Whether X may be sparse; it is then a `SparseMatrix` here.

    Returns
    -------
    X : array of shape (n, m), floating point
    target : Target
    """
    require_target(y, estimator)
    X = check_features(X, estimator)
    target = check_target(y, task)
    check_same_rows(int(X.shape[0]), target.n_rows)
    return X, target


def require_target(y: Any, estimator: Any = None) -> None:
    """Check that there is a target."""
    if y is None:
        who = type(estimator).__name__ if estimator is not None else "The measure"
        raise ValueError(
            f"{who} requires y to be passed, but the target y is None: pass what the features should predict."
        )


def check_same_rows(n_rows: int, n_targets: int) -> None:
    """Check that every row has a target."""
    if n_targets != n_rows:
        raise ValueError(f"X has {n_rows} rows, but y has {n_targets}: pass one target per row.")


def check_device(table: Any, device: str) -> Table:
    """Take a table that is in memory to a device."""
    if not isinstance(table, Table):
        raise ValueError(
            f"device={device!r} is given, but the rows of X are not in memory: pass device=None, or an array."
        )
    if isinstance(table.x, SparseMatrix):
        raise ValueError(
            f"device={device!r} is given, but X is sparse, and sparse data are processed on the CPU: leave "
            "device out, or pass X.toarray() if it fits into memory."
        )
    if is_non_numpy(table.x):
        raise ValueError(
            f"device={device!r} is given, but X is on a device already ({device_of(table.x)}): pass "
            "device=None."
        )
    # In float32 half as much travels and is held there; raw values could lose all their digits.
    as_it_is = table.resources.precision == "float64" or table.kinds is not None
    here: Table = table if as_it_is else table.copied_standardized()
    try:
        return replace(here, x=to_device(here.x, device))
    except ValueError as error:
        raise ValueError(f"device={device!r} {error}: pass another device, or None.") from None


def check_supports_out_of_core(selector: Any, X: Any, visits: bool) -> None:
    """Check that a selector can do with rows that are not in memory."""
    if not visits:
        is_path = isinstance(X, (str, bytes, PathLike))
        what = f"the path {fsdecode(X)!r}" if is_path else f"a {type(X).__name__}"
        raise ValueError(
            f"X is {what}, but {type(selector).__name__} needs all rows in memory: pass a table of numbers, "
            "for instance a sample drawn by l1lsmi.sources.read_sample, or use L1LSMI or L1HSIC."
        )


def check_all_rows(measure: Any, **given: Any) -> None:
    """Check that nothing is asked of a measure that looks at all rows at once which it cannot keep to."""
    usual = {"memory_limit": None, "precision": "float64"}
    for name, value in given.items():
        if value != usual[name]:
            raise ValueError(
                f"{name}={value!r} is given, but {type(measure).__name__} uses all rows at once, in "
                "float64: leave it out, or use the measure SquaredMutualInformation or HSIC."
            )


def tell_features(estimator: Any, n_features: int, names: list[str] | None) -> None:
    """Tell an estimator the number and the names of the features."""
    estimator.n_features_in_ = n_features
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def check_pairs(X: Any, y: HostArray, n_features: int, n_targets: int = 1) -> Array:
    """Check rows and targets that go together, of a known number of features and targets."""
    try:
        X = X if is_non_numpy(X) else np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"X cannot be read as a table of numbers ({error}): encode or drop values that are not numbers."
        ) from None
    if X.ndim != 2 or X.shape[1] != n_features:
        raise ValueError(
            f"X has shape {tuple(X.shape)}, but {n_features} features are expected in each row: pass the "
            "columns that the measure was fitted to."
        )
    if y.shape != ((X.shape[0],) if n_targets == 1 else (X.shape[0], n_targets)):
        targets = "one target" if n_targets == 1 else f"{n_targets} targets"
        raise ValueError(f"y has shape {y.shape}, but X has {X.shape[0]} rows: pass {targets} per row.")
    if not np.isfinite(to_numpy(X)).all():
        raise ValueError("Input X contains NaN or infinity: drop those rows.")
    return X


def check_features(
    X: Any, estimator: Any = None, *, allow_missing: bool = False, sparse: bool = False
) -> Array:
    """Check a table of finite real numbers with at least two rows; NaN is missing, where that is allowed."""
    if type(X).__module__.partition(".")[0] in ("dask", "dask_expr"):
        raise ValueError(
            f"X is a dask {type(X).__name__.lower()}, but all rows are needed in memory: pass X.compute()."
        )
    if is_non_numpy(X):
        return _check_foreign(X, estimator, allow_missing)
    if is_sparse(X):
        if not sparse:
            raise ValueError("X is a sparse matrix, which is not supported: pass X.toarray().")
        return _check_sparse(X, estimator)
    refuse_masked(X)
    if X is None or isinstance(X, (dict, set, str)):
        raise ValueError(
            f"X is a {type(X).__name__}: pass a table of numbers of shape (n_samples, n_features)."
        )
    names = check_names(X)
    refuse_dates(X, names)
    rules: dict[str, Any] = {
        "dtype": [np.float64, np.float32],
        "ensure_all_finite": False,
        "ensure_min_samples": 2,
    }
    try:
        # Numbers beyond the range of float64 become infinite, which is checked below.
        with np.errstate(over="ignore", invalid="ignore"):
            checked = (
                check_array(X, input_name="X", **rules)
                if estimator is None
                else validate_data(estimator, X, **rules)
            )
    except (TypeError, ValueError, OverflowError) as error:
        raise _explained(X, names, error) from None
    _check_digits(X if hasattr(X, "shape") else np.asarray(X))
    check_finite(checked, names, allow_missing=allow_missing)
    return checked


def refuse_masked(values: Any, what: str = "X") -> None:
    """Check that no values are masked: as numbers they would be what is under the mask."""
    rows = values if isinstance(values, (list, tuple)) else ()
    if np.ma.is_masked(values) or any(np.ma.is_masked(row) for row in rows):
        raise ValueError(f"{what} has masked values: fill them with NaN, or drop those rows.")


def _check_sparse(X: Any, estimator: Any) -> SparseMatrix:
    names = check_names(X)
    refuse_dates(X, names)
    frame = is_sparse_frame(X)
    matrix = frame_to_columns(X) if frame else X
    rules: dict[str, Any] = {
        "dtype": [np.float64, np.float32],
        "accept_sparse": "csc",
        "ensure_all_finite": False,
        "ensure_min_samples": 2,
    }
    try:
        if matrix.ndim != 2:
            raise ValueError(f"Expected 2D array, got a sparse array of shape {matrix.shape}")
        if matrix.format in ("csr", "csc"):
            matrix.check_format()
        checked = without_duplicates(check_array(matrix, input_name="X", **rules), X)
    except (TypeError, ValueError, OverflowError) as error:
        raise _explained(matrix, None, error) from None
    _check_sparse_digits(matrix, names)
    where = first_not_finite(checked)
    if where is not None:
        what = "NaN" if np.isnan(checked[where]) else "infinity"
        raise _not_finite(what, where[0], _label(names, where[1]))
    if estimator is not None:
        _check_feature_names(estimator, X, reset=True)
        estimator.n_features_in_ = int(checked.shape[1])
    return SparseMatrix.of(checked)


def _check_sparse_digits(matrix: Any, names: Sequence[Any] | None) -> None:
    if matrix.dtype.kind not in "iu":
        return
    columns, digits = matrix.tocsc(), Digits()
    if not may_be_large(columns.data):
        return
    for j in range(columns.shape[1]):
        values = columns.data[columns.indptr[j] : columns.indptr[j + 1]]
        if values.size < columns.shape[0]:
            values = np.append(values, np.zeros(1, dtype=values.dtype))
        digits.add_column(values, j, _label(names, j))
    digits.finish()


def _check_digits(X: Any) -> None:
    digits = Digits()
    digits.add(X)
    digits.finish()


def check_finite(
    values: HostArray, names: Sequence[Any] | None, start: int = 0, *, allow_missing: bool = False
) -> None:
    """Check that numbers are neither infinite nor, unless that is allowed, missing.

    ``start`` is the number of the first row.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        finite = bool(np.isfinite(values.sum()))
    if finite:
        return
    wrong = np.isinf(values) if allow_missing else ~np.isfinite(values)
    if not wrong.any():
        return
    row, column = np.argwhere(wrong)[0]
    what = "NaN" if np.isnan(values[row, column]) else "infinity"
    raise _not_finite(what, start + row, _label(names, column))


def check_varying(table: Table | RowTable) -> None:
    """Check that there is a feature to select."""
    if table.varying.size == 0:
        raise ValueError(f"X has only constant columns ({table.n_columns} of them): pass columns that vary.")


def _check_foreign(X: Array, estimator: Any, allow_missing: bool) -> Array:
    try:
        given, X = X, dense_values(X)
    except ValueError as error:
        raise ValueError(f"X {error}.") from None
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got X with shape {tuple(X.shape)}: pass one row per sample.")
    if X.shape[0] < 2 or X.shape[1] < 1:
        raise ValueError(
            f"Found array X with n_samples={X.shape[0]} and {X.shape[1]} features: at least 2 rows and 1 "
            "feature are required."
        )
    refuse_not_finite(X, allow_missing=allow_missing)
    if given.dtype != X.dtype:
        _check_digits(to_numpy(given))
    if estimator is not None:
        estimator.n_features_in_ = int(X.shape[1])
    return X


def refuse_not_finite(X: Array, *, allow_missing: bool = False) -> None:
    """Check that no value of an array of any library is infinite nor, unless that is allowed, missing."""
    xp = namespace(X)
    if not xp.isdtype(X.dtype, "real floating"):
        return
    wrong = xp.isinf(X) if allow_missing else ~xp.isfinite(X)
    if bool(xp.any(wrong)):
        row, column = np.argwhere(to_numpy(wrong))[0]
        raise _not_finite("infinity" if allow_missing else "NaN or infinity", row, str(column))


def _not_finite(what: str, row: int, column: str) -> ValueError:
    return ValueError(
        f"Input X contains {what}, first in row {row} of column {column}: drop or impute such values "
        "before fitting."
    )


def check_names(X: Any) -> list[Any] | None:
    """Names of the columns, each of which is there once; None without names."""
    refuse_lazy(X)
    # A table of pyarrow has names under another name.
    columns = getattr(X, "column_names", getattr(X, "columns", None))
    if columns is None:
        return None
    names = list(columns)
    refuse_repeated_names(names)
    kinds = sorted({"str" if isinstance(one, str) else type(one).__name__ for one in names})
    if len(kinds) > 1 and "str" in kinds:
        raise ValueError(
            f"X has column names of different types, {' and '.join(kinds)}: convert all names to strings."
        )
    return names


def _label(names: Sequence[Any] | None, column: int) -> str:
    return str(column) if names is None else repr(str(names[column]))


def refuse_dates(X: Any, names: Sequence[Any] | None, what: str = "X") -> None:
    """Check that neither an array nor a column of a dataframe has dates or times."""
    kinds = list(X.dtypes) if names is not None and hasattr(X, "dtypes") else [getattr(X, "dtype", "")]
    for column, kind in enumerate(kinds):
        if str(kind).lower().startswith(("date", "time", "duration")):
            where = f" in column {_label(names, column)}" if names is not None else ""
            raise ValueError(f"{what} has dates or times{where}: turn them into numbers before fitting.")


def _explained(X: Any, names: list[Any] | None, error: Exception) -> ValueError | TypeError:
    """Name the column that could not be made numbers of; other errors keep their words."""
    words = str(error)
    if "could not convert" not in words and "float()" not in words:
        first_line = words.splitlines()[0].rstrip(":. ")
        return ValueError(f"X cannot be used, pass a table of shape (n_samples, n_features): {first_line}.")
    try:
        table = np.asarray(X, dtype=object)
        columns = range(table.shape[1])
    except (TypeError, ValueError, IndexError):
        return ValueError(f"X has values that are not numbers: encode or drop them before fitting. ({words})")
    for column in columns:
        for row, value in enumerate(table[:, column]):
            if is_missing(value):
                return _not_finite("NaN", row, _label(names, column))
            try:
                float(value)
            except ValueError:
                return ValueError(
                    f"X has text in column {_label(names, column)}, first {str(value)[:60]!r} in row {row}: "
                    "encode or drop it before fitting."
                )
            except TypeError:
                return TypeError(
                    f"X has a {type(value).__name__} in row {row} of column {_label(names, column)}, where "
                    "the argument must be a string or a real number: encode or drop it before fitting."
                )
    return ValueError(f"X has values that are not numbers: encode or drop them before fitting. ({words})")
