"""Columns as features: missing numbers imputed, categories as indicators."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from l1lsmi._messages import counted
from l1lsmi.files.table import Column, Values

CONSTANT_IN_ROWS = "left out: constant in the rows that are kept"


class Features(NamedTuple):
    """The features of one column.

    Attributes
    ----------
    column : str
    names : list of str
    values : ndarray of float64, shape (len(names), n_rows)
    """

    column: str
    names: list[str]
    values: Values


def encode(columns: list[Column], rows: Values, uses: dict[str, str], notes: list[str]) -> list[Features]:
    """Turn columns into features, in their order.

    Parameters
    ----------
    columns : list of Column
    rows : ndarray of int
        Rows that are kept. Columns that are empty or constant in them are left out.
    uses : dict of str to str
        How each column is used is added to it.
    notes : list of str
        Where values were imputed is added to it.
    """
    encoded = {features.column: features for features in _numeric(columns, rows, uses, notes)}
    n_incomplete = 0
    for column in columns:
        if not column.numeric:
            features, has_missing = _indicators(column, rows)
            n_features = len(features.names)
            uses[column.name] = counted(n_features, "indicator") if n_features else CONSTANT_IN_ROWS
            if n_features:
                n_incomplete += has_missing
                encoded[column.name] = features
    if n_incomplete:
        notes.append(f"Missing values are a level of their own in {counted(n_incomplete, 'column')} of text.")
    return [encoded[column.name] for column in columns if column.name in encoded]


def _numeric(columns: list[Column], rows: Values, uses: dict[str, str], notes: list[str]) -> list[Features]:
    """All numeric columns at once, as there may be very many."""
    numeric = [column for column in columns if column.numeric]
    if not numeric:
        return []
    matrix = np.stack([column.values for column in numeric])
    if len(rows) < matrix.shape[1]:
        matrix = matrix[:, rows]
    missing = np.isnan(matrix)
    incomplete = np.flatnonzero(missing.any(axis=1))
    if incomplete.size:
        medians = _medians(matrix[incomplete])
        matrix[incomplete] = np.where(missing[incomplete], medians[:, None], matrix[incomplete])
    # A column without values in the rows that are kept is still NaN, and not less than itself.
    varying = matrix.min(axis=1) < matrix.max(axis=1)
    features = []
    for index, column in enumerate(numeric):
        if varying[index]:
            uses[column.name] = "number of days" if column.kind == "date" else column.kind
            features.append(Features(column.name, [column.name], matrix[index : index + 1]))
        else:
            uses[column.name] = CONSTANT_IN_ROWS
    imputed = incomplete[varying[incomplete]]
    if imputed.size:
        n_missing = counted(int(missing[imputed].sum()), "missing value")
        notes.append(f"Filled in the median for {n_missing} of {counted(imputed.size, 'column')}.")
    return features


def _medians(matrix: Values) -> Values:
    """Medians of rows without their missing values; `numpy.nanmedian` overflows and warns."""
    ordered = np.sort(matrix, axis=1)  # NaN last
    count = (~np.isnan(matrix)).sum(axis=1)
    middle = np.stack([np.maximum(count - 1, 0) // 2, np.minimum(count // 2, matrix.shape[1] - 1)], axis=1)
    # Halved before they are added: the sum of two large numbers may be infinite.
    return np.asarray((0.5 * np.take_along_axis(ordered, middle, axis=1)).sum(axis=1))


def _indicators(column: Column, rows: Values) -> tuple[Features, bool]:
    """One feature for each level; one for two levels, none for one. And whether values are missing."""
    values = column.values[rows].tolist()
    levels = sorted(set(values) - {None})
    has_missing = None in values
    names = list(levels)
    if has_missing and levels:
        levels.append(None)
        names.append("missing" if "missing" not in names else "(missing)")
    first = 0 if len(levels) > 2 else 1
    code_of = {level: code for code, level in enumerate(levels)}
    codes = np.array(list(map(code_of.get, values)), dtype=np.float64)
    indicators = np.equal(codes, np.arange(first, len(levels))[:, None]).astype(np.float64)
    return Features(
        column.name, [f"{column.name} = {name}" for name in names[first:]], indicators
    ), has_missing
