"""Columns as features: numbers with their holes filled, categories as indicators."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from l1lsmi.files.problem import counted
from l1lsmi.files.table import Column, Values

CONSTANT_NOW = "left out: constant in the rows that are kept"


class Feature(NamedTuple):
    """The features that one column gives.

    Attributes
    ----------
    column : str
    names : list of str
    values : ndarray of float64, shape (len(names), n_rows)
    """

    column: str
    names: list[str]
    values: Values


def encode(columns: list[Column], rows: Values, uses: dict[str, str], notes: list[str]) -> list[Feature]:
    """Turn columns into features, in their order.

    Parameters
    ----------
    columns : list of Column
    rows : ndarray of int
        Rows that are kept. A column may be empty or constant in them, and is left out then.
    uses : dict of str to str
        Is told what became of each column.
    notes : list of str
        Is told where values were filled in.
    """
    found = {feature.column: feature for feature in _numbers(columns, rows, uses, notes)}
    n_holed = 0
    for column in columns:
        if not column.numeric:
            feature, has_holes = _indicators(column, rows)
            n_holed += has_holes and bool(feature.names)
            uses[column.name] = _use_of(feature)
            if feature.names:
                found[column.name] = feature
    if n_holed:
        notes.append(f"Missing values are a level of their own in {counted(n_holed, 'column')} of words.")
    return [found[column.name] for column in columns if column.name in found]


def _use_of(feature: Feature) -> str:
    count = len(feature.names)
    return counted(count, "indicator") if count else CONSTANT_NOW


def _numbers(columns: list[Column], rows: Values, uses: dict[str, str], notes: list[str]) -> list[Feature]:
    """All columns of numbers at once, as there may be very many."""
    numeric = [column for column in columns if column.numeric]
    if not numeric:
        return []
    matrix = np.stack([column.values for column in numeric])
    if len(rows) < matrix.shape[1]:
        matrix = matrix[:, rows]
    holes = np.isnan(matrix)
    holed = np.flatnonzero(holes.any(axis=1))
    if holed.size:
        medians = _medians(matrix[holed])
        matrix[holed] = np.where(holes[holed], medians[:, None], matrix[holed])
    # What is empty in the rows that are kept is NaN still, and equals nothing.
    varying = matrix.min(axis=1) < matrix.max(axis=1)
    features = []
    for place, column in enumerate(numeric):
        if varying[place]:
            uses[column.name] = "number of days" if column.kind == "date" else column.kind
            features.append(Feature(column.name, [column.name], matrix[place : place + 1]))
        else:
            uses[column.name] = CONSTANT_NOW
    filled = holed[varying[holed]]
    if filled.size:
        n_holes = counted(int(holes[filled].sum()), "missing value")
        notes.append(f"Filled in the median for {n_holes} of {counted(filled.size, 'column')}.")
    return features


def _medians(matrix: Values) -> Values:
    """Medians of rows, without their missing values."""
    # Missing values are sorted to the end.
    ordered = np.sort(matrix, axis=1)
    count = (~np.isnan(matrix)).sum(axis=1)
    rows = np.arange(len(matrix))
    low, high = (
        ordered[rows, np.maximum(count - 1, 0) // 2],
        ordered[rows, np.minimum(count // 2, matrix.shape[1] - 1)],
    )
    # Halves first: the sum of two large numbers may be infinite.
    return np.asarray(0.5 * low + 0.5 * high)


def _indicators(column: Column, rows: Values) -> tuple[Feature, bool]:
    """One feature for each level; one for two levels, none for one."""
    words = column.values[rows].tolist()
    levels = sorted(set(words) - {None})
    has_holes = None in words
    names = list(levels)
    if has_holes and levels:
        levels.append(None)
        names.append("missing" if "missing" not in names else "(missing)")
    chosen = range(len(levels)) if len(levels) > 2 else range(1, len(levels))
    code_of = {level: code for code, level in enumerate(levels)}
    codes = np.array(list(map(code_of.get, words)), dtype=np.float64)
    indicators = np.equal(codes, np.array(chosen, dtype=np.float64)[:, None]).astype(np.float64)
    return Feature(column.name, [f"{column.name} = {names[code]}" for code in chosen], indicators), has_holes
