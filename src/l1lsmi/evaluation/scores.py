"""Agreement of selected features with the true ones, and their redundancy."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from l1lsmi._arrays import to_numpy
from l1lsmi._numerics.correlation import correlation_between
from l1lsmi._rows.table import Table
from l1lsmi._validation.features import check_features


def f_measure(selected: Any, true: Any) -> float:
    """Agreement of the selected features with the true ones, from 0 to 1.

    The harmonic mean of precision and recall: twice the number of features that the two sets have in common,
    divided by the sum of their sizes.

    Parameters
    ----------
    selected, true : iterable of int
        Column numbers, in any order; duplicates are ignored.

    Returns
    -------
    float

    Examples
    --------
    >>> from l1lsmi.evaluation import f_measure
    >>> f_measure([0, 1, 7, 8], [0, 1, 2, 3])
    0.5
    """
    chosen, truth = set(_columns("selected", selected)), set(_columns("true", true))
    return 2 * len(chosen & truth) / (len(chosen) + len(truth))


def redundancy_rate(X: Any, selected: Any) -> float:
    """Mean absolute correlation over all pairs of selected features, from 0 to 1.

    Parameters
    ----------
    X : array-like of shape (n, m)
    selected : sequence of int
        Column numbers.

    Returns
    -------
    float
        0 for one feature. The correlation of a constant feature with another is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.evaluation import redundancy_rate
    >>> x = np.arange(4.0)
    >>> X = np.column_stack([x, -2 * x, [1, -1, -1, 1]])
    >>> round(redundancy_rate(X, [0, 1]), 6), round(redundancy_rate(X, [0, 1, 2]), 6)
    (1.0, 0.333333)
    """
    table = Table.of(to_numpy(check_features(X)))
    columns = np.array(_columns("selected", selected))
    if columns.min() < 0 or columns.max() >= table.n_columns or np.unique(columns).size < columns.size:
        raise ValueError(
            f"selected={columns.tolist()} must be distinct column numbers from 0 to {table.n_columns - 1}."
        )
    if columns.size == 1:
        return 0.0
    z = np.asarray(table.take(np.arange(table.n_rows), columns))
    z = np.where(table.scale[columns] > 0, z, 0.0)
    return float(correlation_between(z, z)[np.triu_indices(columns.size, 1)].mean())


def _columns(name: str, values: Any) -> list[int]:
    try:
        columns = list(values)
    except TypeError:
        columns = []
    if not columns or not all(
        isinstance(v, Integral) and not isinstance(v, (bool, np.bool_)) for v in columns
    ):
        raise ValueError(f"{name}={values!r} must be one or more column numbers, such as [0, 3].")
    return [int(v) for v in columns]
