"""Orthonormal functions of the target that terms are products with."""

from __future__ import annotations

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target

#: Functions of the target at most.
MAX_TARGET_FUNCTIONS = 6
#: The same of several targets: each of so many has its share.
MAX_OF_SEVERAL = 32


def target_functions(target: Target) -> HostArray:
    """Orthonormal functions of the target with mean 0, (n, b): contrasts of classes, or ranks."""
    weights = np.ones(target.n_rows) if target.row_weights is None else target.row_weights
    if target.is_classification:
        shares = target.class_shares()
        roots = np.sqrt(shares)
        # The first column is the constant function.
        basis = np.linalg.qr(np.column_stack([roots, np.diag(roots)[:, :-1]]))[0]
        return np.asarray((basis[:, 1:] / np.maximum(roots, 1e-300)[:, None])[target.codes])
    ranks = np.column_stack([_middle_ranks(column, weights) for column in target.columns.T])
    ranks -= weights @ ranks / weights.sum()
    covariance = ranks.T @ (ranks * weights[:, None]) / weights.sum()
    values, vectors = np.linalg.eigh(covariance)
    leading = np.flatnonzero(values > 1e-8 * values[-1])[::-1][:MAX_OF_SEVERAL]
    return np.asarray(ranks @ (vectors[:, leading] / np.sqrt(values[leading])))


def _middle_ranks(values: HostArray, weights: HostArray) -> HostArray:
    """Share of the rows below each value, and half of those that have it."""
    _, places = np.unique(values, return_inverse=True)
    shares = np.bincount(places.ravel(), weights) / weights.sum()
    return np.asarray((np.cumsum(shares) - shares / 2)[places.ravel()])
