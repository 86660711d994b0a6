"""Warnings about data, before features are selected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from l1lsmi._validation.tables import check_table
from l1lsmi._warnings import data_warnings as warnings_of
from l1lsmi.explain._fitted import checked_names


def data_warnings(
    X: Any, y: Any, *, task: str = "auto", feature_names: Sequence[str] | None = None
) -> list[str]:
    """Find columns that give away the target, number the rows or are copies, without selecting features.

    Every selector does the same in ``fit`` and stores the result as ``warnings_``.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Rows in the order of the file: row numbers give away the target if the rows are sorted by the target.
    y : array-like of shape (n,) or (n, t)
    task : {"auto", "classification", "regression", "survival"}, default="auto"
    feature_names : sequence of str or None, default=None
        None takes the column names of X, or x0, x1, ...

    Returns
    -------
    warnings : list of str
        One sentence each.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.explain import data_warnings
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> y = X[:, 0] + X[:, 1] + rng.normal(size=200)
    >>> X[:, 3] = np.exp(y)
    >>> for sentence in data_warnings(X, y, feature_names=["age", "dose", "site", "outcome"]):
    ...     print(sentence.split(": ")[0] + ": ...")
    Column 'outcome' gives away the target, as it is a monotone function of the target: ...
    """
    if feature_names is None and hasattr(X, "columns"):
        feature_names = list(X.columns)
    table, target = check_table(X, y, task)
    names = None if feature_names is None else checked_names(feature_names, table.n_columns)
    return warnings_of(table, target, names)
