"""Rows dealt to folds, with the rows of a group kept together."""

from __future__ import annotations

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.sampling import stratified_folds


def fold_rows(
    codes: HostArray, groups: HostArray | None, n_folds: int, rng: np.random.Generator
) -> HostArray:
    """Deal rows to folds at random, classes spread as evenly as can be.

    Parameters
    ----------
    codes : numpy.ndarray of int, shape (n,)
        Class of each row; all zero where there are none.
    groups : numpy.ndarray of int, shape (n,), or None
        Rows of a group, 0 to G - 1, share a fold. One group only is the same as none.
    n_folds : int
        As many folds as groups are made where there are fewer groups.
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
    # Large groups first: the small ones then even out what they left.
    order = shuffled[np.argsort(-counts[shuffled].sum(axis=1), kind="stable")]
    held = np.zeros((n_folds, counts.shape[1]))
    fold_of_group = np.empty(counts.shape[0], dtype=np.intp)
    for group in order:
        # The fold with the fewest rows of the same classes, then the smallest: empty ones come first.
        shared = (held * counts[group] / counts.sum(axis=0)).sum(axis=1)
        fold = np.lexsort((held.sum(axis=1), shared))[0]
        fold_of_group[group] = fold
        held[fold] += counts[group]
    return fold_of_group[groups]


def class_counts(codes: HostArray, groups: HostArray) -> HostArray:
    """Rows of each group and class; classes without rows are left out."""
    counts = np.zeros((groups.max() + 1, codes.max() + 1))
    np.add.at(counts, (groups, codes), 1.0)
    return counts[:, counts.any(axis=0)]
