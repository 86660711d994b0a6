"""Random folds with all rows of a group in one fold."""

from __future__ import annotations

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.sampling import stratified_folds


def fold_rows(
    codes: HostArray, groups: HostArray | None, n_folds: int, rng: np.random.Generator
) -> HostArray:
    """Assign rows to folds at random, each class as evenly as possible.

    Parameters
    ----------
    codes : numpy.ndarray of int, shape (n,)
        Class of each row; all zero for regression.
    groups : numpy.ndarray of int, shape (n,), or None
        Group of each row, 0 to G - 1; all rows of a group get the same fold. A single group is ignored.
    n_folds : int
        At most the number of groups is used.
    rng : numpy.random.Generator

    Returns
    -------
    fold_of_row : numpy.ndarray of int, shape (n,)
        No fold is empty.
    """
    if groups is None or groups.max() == 0:
        return stratified_folds(codes, n_folds, rng)
    counts = class_counts(codes, groups)
    n_folds = min(n_folds, counts.shape[0])
    shuffled = rng.permutation(counts.shape[0])
    # Large groups first: small ones can balance the folds.
    order = shuffled[np.argsort(-counts[shuffled].sum(axis=1), kind="stable")]
    fold_counts = np.zeros((n_folds, counts.shape[1]))
    fold_of_group = np.empty(counts.shape[0], dtype=np.intp)
    for group in order:
        # The fold with the fewest rows of the same classes, then the smallest: empty ones come first.
        overlap = (fold_counts * counts[group] / counts.sum(axis=0)).sum(axis=1)
        fold = np.lexsort((fold_counts.sum(axis=1), overlap))[0]
        fold_of_group[group] = fold
        fold_counts[fold] += counts[group]
    return fold_of_group[groups]


def class_counts(codes: HostArray, groups: HostArray) -> HostArray:
    """Number of rows of each group and class; classes without rows are left out."""
    counts = np.zeros((groups.max() + 1, codes.max() + 1))
    np.add.at(counts, (groups, codes), 1.0)
    return counts[:, counts.any(axis=0)]
