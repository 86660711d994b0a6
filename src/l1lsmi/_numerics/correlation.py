"""Absolute Pearson correlation, between columns and with a target of either kind."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target


def correlation_between(left: HostArray, right: HostArray, row_weights: HostArray | None = None) -> HostArray:
    """Absolute correlation of every column of ``left`` with every one of ``right``.

    Parameters
    ----------
    left, right : numpy.ndarray of shape (n, m), (n, p)
        Standardised columns.
    row_weights : numpy.ndarray of shape (n,) or None

    Returns
    -------
    numpy.ndarray of shape (m, p)
    """
    if row_weights is not None:
        right = right * row_weights[:, None]
    products: HostArray = left.T @ right
    np.abs(products, out=products)
    products /= left.shape[0] if row_weights is None else row_weights.sum()
    return np.minimum(products, 1.0, out=products)


def correlation_with_target(x: HostArray, target: Target) -> HostArray:
    r"""Absolute correlation of every column with the target.

    For classes it is the mean of the correlations with the class indicators, weighted by how frequent
    the classes are (Hall, 2000): :math:`\sum_c p_c |\rho(x, 1[y = c])|`. For several targets it is the mean
    of the correlations with each.

    Parameters
    ----------
    x : numpy.ndarray of shape (n, m)
        Standardised columns.
    target : Target

    Returns
    -------
    numpy.ndarray of shape (m,)
    """
    if target.values is not None:
        return np.asarray(correlation_between(x, target.columns, target.row_weights).mean(axis=1))
    sums, counts = class_sums(x, target)
    share = counts / target.weight
    # The columns have mean 0 and deviation 1, an indicator has deviation sqrt(p (1 - p)).
    each = np.abs(sums) / (target.weight * np.sqrt(share * (1 - share)))[:, None]
    return np.asarray(share @ np.minimum(each, 1.0))


def class_sums(x: HostArray, target: Target) -> tuple[HostArray, HostArray]:
    """Sums of every column over the rows of each class, (C, m), and the weight of these rows, (C,)."""
    assert target.classes is not None
    n, n_classes = target.n_rows, target.classes.size
    weights = np.ones(n) if target.row_weights is None else target.row_weights
    members = csr_array((weights, target.codes, np.arange(n + 1)), shape=(n, n_classes))
    return members.T @ x, np.bincount(target.codes, target.row_weights, minlength=n_classes)


def f_statistic(x: HostArray, target: Target) -> HostArray:
    """F statistic of every standardised column: analysis of variance for classes, else regression.

    It is kept finite where the target determines a column.
    """
    n = target.weight
    if target.values is None:
        sums, counts = class_sums(x, target)
        between, groups = (sums**2 / counts[:, None]).sum(axis=0) / n, counts.size
    else:
        between, groups = correlation_between(x, target.columns, target.row_weights)[:, 0] ** 2, 2
    within = np.maximum(1 - between, 1e-12)
    return np.asarray((between / (groups - 1)) / (within / max(n - groups, 1)))
