"""Complementary halves of the rows."""

from __future__ import annotations

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.sampling import stratified_folds


def draw_halves(
    codes: HostArray, groups: HostArray | None, rng: np.random.Generator
) -> tuple[HostArray, HostArray]:
    """Divide the rows at random into two halves, each class as evenly as possible.

    Parameters
    ----------
    codes : numpy.ndarray of int, shape (n,)
        Class of each row; all zero for a numeric target.
    groups : numpy.ndarray of int, shape (n,), or None
        Groups, numbered from 0, that are not divided. Their order is random and each goes to the half that
        has fewer rows of its classes, so that the halves are of about the same size, and vary from draw to
        draw.
    rng : numpy.random.Generator

    Returns
    -------
    halves : tuple of two numpy.ndarray of int
        Row numbers, sorted.
    """
    if groups is None:
        half_of_row = stratified_folds(codes, 2, rng)
    else:
        counts = np.zeros((groups.max() + 1, codes.max() + 1))
        np.add.at(counts, (groups, codes), 1.0)
        counts /= np.maximum(counts.sum(axis=0), 1.0)
        half_of_group = np.empty(len(counts), dtype=np.intp)
        filled = np.zeros((2, counts.shape[1]))
        for group in rng.permutation(len(counts)):
            excess = float((filled[0] - filled[1]) @ counts[group])
            half = int(rng.integers(2)) if abs(excess) < 1e-12 else int(excess > 0)
            half_of_group[group] = half
            filled[half] += counts[group]
        half_of_row = half_of_group[groups]
        if half_of_row.min() == half_of_row.max():
            # Groups without a class in common: any one of them is better than none.
            half_of_row[groups == rng.integers(len(counts))] = 1 - half_of_row[0]
    return np.flatnonzero(half_of_row == 0), np.flatnonzero(half_of_row == 1)
