"""Rows dealt to folds, and to a training and a test side, with the rows of a group kept together."""

from __future__ import annotations

import numpy as np

from l1lsmi.arrays import HostArray
from l1lsmi.numerics.sampling import stratified_folds

__all__ = ["choose_test_groups", "draw_stratified", "fold_rows"]


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
    counts = _class_counts(codes, groups)
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


def choose_test_groups(
    codes: HostArray, groups: HostArray, share: float, rng: np.random.Generator
) -> HostArray:
    """Choose whole groups at random so that about a share of the rows of every class is in them.

    Parameters
    ----------
    codes, groups : numpy.ndarray of int, shape (n,)
        Class and group of each row; at least two groups.
    share : float
    rng : numpy.random.Generator

    Returns
    -------
    chosen : numpy.ndarray of bool, shape (groups,)
        At least one group, never all. No class is left without a row outside, where that is possible.
    """
    counts = _class_counts(codes, groups)
    shares = counts / counts.sum(axis=0)
    chosen = np.zeros(counts.shape[0], dtype=bool)
    taken = np.zeros(counts.shape[1])
    order = rng.permutation(counts.shape[0])
    for group in order:
        after = taken + shares[group]
        closer = ((after - share) ** 2).sum() < ((taken - share) ** 2).sum()
        if closer and (after < 1 - 1e-9).all():
            chosen[group], taken = True, after
    if not chosen.any():
        # Every group holds most of some class: the one that takes least of any.
        chosen[order[np.argmin(shares[order].max(axis=1))]] = True
    return chosen


def draw_stratified(codes: HostArray, n_rows: int, rng: np.random.Generator) -> HostArray:
    """Draw row numbers without repetition, each class in proportion, and at least once if there is room."""
    sizes = np.bincount(codes)
    quota = sizes * (n_rows / codes.size)
    shares = np.floor(quota).astype(np.intp)
    by_remainder = np.argsort(shares - quota, kind="stable")
    shares[by_remainder[: n_rows - shares.sum()]] += 1
    for empty in np.flatnonzero((shares == 0) & (sizes > 0)):
        if shares.max() > 1:
            shares[[shares.argmax(), empty]] += [-1, 1]
    drawn = [rng.permutation(np.flatnonzero(codes == c))[:size] for c, size in enumerate(shares)]
    return np.sort(np.concatenate(drawn))


def _class_counts(codes: HostArray, groups: HostArray) -> HostArray:
    """Rows of each group and class; classes without rows are left out."""
    counts = np.zeros((groups.max() + 1, codes.max() + 1))
    np.add.at(counts, (groups, codes), 1.0)
    return counts[:, counts.any(axis=0)]
