"""Features and target as the numerics take them: a table with what its columns are, and an encoded target."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from l1lsmi._arrays import Array, HostArray, is_non_numpy, namespace
from l1lsmi._numerics.missing import informative_missing
from l1lsmi._numerics.target import Target
from l1lsmi._rows.kinds import Kinds, missing_shares, shares_of
from l1lsmi._rows.table import Resources, Table
from l1lsmi._sparse import SparseMatrix
from l1lsmi._validation.columns import MAX_LEVELS, Columns, has_numbers_only, is_frame, read_array, read_frame
from l1lsmi._validation.encoding import encode_levels
from l1lsmi._validation.features import (
    check_features,
    check_names,
    check_same_rows,
    require_target,
    tell_features,
)
from l1lsmi._validation.sparse import is_sparse_frame
from l1lsmi._validation.target import check_target

#: What missing values are: nothing, a value of their own, or one of these for each column by its data.
MISSING = ("auto", "ignore", "value")


def check_table(
    X: Any,
    y: Any,
    task: str,
    estimator: Any = None,
    *,
    resources: Resources | None = None,
    categorical: Any = "from_dtype",
    missing: str = "auto",
    many_levels: bool = True,
) -> tuple[Table, Target]:
    """Check features of any kind and the target.

    Parameters
    ----------
    X, y : array-like or dataframe
    task : str
    estimator : estimator or None
        Gets the number and the names of the features, and the levels of categories as ``categories_``.
    resources : Resources or None
    categorical : "from_dtype", None, or columns
    missing : {"auto", "ignore", "value"}
    many_levels : bool
        Whether categories may have so many levels that they become numbers by the target.

    Returns
    -------
    table : Table
    target : Target
    """
    require_target(y, estimator)
    x, columns = check_columns(X, estimator, categorical)
    if columns is not None and not many_levels:
        _refuse_many_levels(columns)
    target = check_target(y, task)
    check_same_rows(int(x.shape[0]), target.n_rows)
    return make_table(x, columns, target, None, resources or Resources(), missing), target


def check_columns(
    X: Any, estimator: Any = None, categorical: Any = "from_dtype"
) -> tuple[Array, Columns | None]:
    """Check features of any kind.

    Returns
    -------
    x : array of shape (n, m)
        Numbers, NaN where a value is missing.
    columns : Columns or None
        None for a table of numbers.
    """
    check_names(X)
    columns: Columns | None = None
    by_type = categorical is None or isinstance(categorical, str)
    if is_frame(X) and not is_sparse_frame(X) and not (by_type and has_numbers_only(X)):
        columns = read_frame(X, categorical)
        x: Array = check_features(columns.x, None, allow_missing=True)
        if estimator is not None:
            tell_features(estimator, x.shape[1], columns.names)
    else:
        x = check_features(X, estimator, allow_missing=True, sparse=True)
        if not by_type:
            if is_non_numpy(x) or isinstance(x, SparseMatrix):
                raise ValueError(
                    "categorical_features is given, but X is sparse, or an array of a library other than "
                    "NumPy: pass a dense NumPy array or a dataframe."
                )
            columns = read_array(x, categorical)
            x = columns.x
    if estimator is not None:
        levels = None if columns is None else columns.levels
        estimator.categories_ = None if levels is None or not any(levels) else levels
    return x, columns


def make_table(
    x: Array,
    columns: Columns | None,
    target: Target | None,
    weights: HostArray | None,
    resources: Resources,
    missing: str,
) -> Table:
    """A table of checked columns, with what they are, and rows with weights."""
    kinds: Kinds | None = None
    if columns is not None:
        columns = columns if target is None else _with_few_levels(columns, target)
        x, kinds = columns.x, columns.kinds(weights)
    elif not isinstance(x, SparseMatrix) and bool(namespace(x).any(namespace(x).isnan(x))):
        kinds = Kinds.numbers(missing_shares(x, weights))
    table = Table.of(x, resources, weights, kinds)
    if kinds is None or target is None or missing == "ignore" or not kinds.missing_share.any():
        return table
    said = informative_missing(table, target, kinds) if missing == "auto" else kinds.missing_share > 0
    if not said.any():
        return table
    return Table.of(x, resources, weights, kinds.with_missing_as_value(said))


def with_missing_decided(table: Any, target: Target | None, missing: str) -> Any:
    """A table that is not in memory, with what the missing values of its columns say."""
    kinds = table.kinds
    if kinds is None or target is None or missing == "ignore" or not kinds.missing_share.any():
        return table
    said = informative_missing(table, target, kinds) if missing == "auto" else kinds.missing_share > 0
    kinds = kinds.with_missing_as_value(said)
    if not kinds.as_value.any():
        return table
    # A value that is always the same, or missing, tells two rows apart.
    return replace(table, kinds=kinds, scale=np.where((table.scale == 0) & kinds.as_value, 1.0, table.scale))


def _refuse_many_levels(columns: Columns) -> None:
    for j, levels in enumerate(columns.levels):
        if levels is not None and len(levels) > MAX_LEVELS:
            name = str(j) if columns.names is None else columns.names[j]
            raise ValueError(
                f"X has a category of {len(levels)} levels in column {name!r}. With more than {MAX_LEVELS} "
                "levels it would be target-encoded, which is not possible because the target is permuted: "
                "drop the column, or merge its levels."
            )


def _with_few_levels(columns: Columns, target: Target) -> Columns:
    """Categories of very many levels as numbers."""
    # Levels of rows that are left out do not count.
    many = [
        j
        for j, some in enumerate(columns.levels)
        if some is not None
        and len(some) > MAX_LEVELS < np.count_nonzero(shares_of(columns.x[:, j], len(some)))
    ]
    if not many:
        return columns
    x: HostArray = np.array(columns.x)
    levels = list(columns.levels)
    for j in many:
        x[:, j], levels[j] = encode_levels(x[:, j], target), None
    return replace(columns, x=x, levels=levels)
