"""Categories of very many levels as numbers, by the target."""

from __future__ import annotations

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target

N_FOLDS = 5


def encode_levels(codes: HostArray, target: Target) -> HostArray:
    r"""Numbers for the levels of a category: means of the target in other rows, shrunk.

    The rows are cut at random into five parts. The number of a level in one part comes from the targets of
    the other four, so that no row takes part in its own number. With the variances :math:`\sigma^2` within
    levels and :math:`\tau^2` between their means, a level of weight w gets
    :math:`(w \bar y_l + \lambda \bar y) / (w + \lambda)`, :math:`\lambda = \sigma^2 / \tau^2`, where
    :math:`\bar y_l` is the mean of the level and :math:`\bar y` that of all rows. For more than two classes,
    or several targets, it is the leading principal component of the numbers of each.

    Parameters
    ----------
    codes : numpy.ndarray of shape (n,)
        Numbers of levels, NaN where missing.
    target : Target

    Returns
    -------
    numbers : numpy.ndarray of shape (n,)
        NaN where missing.
    """
    rows = np.flatnonzero(~np.isnan(codes))
    numbers = np.full(codes.size, np.nan)
    if rows.size < 2:
        return numbers
    some, levels = target.rows_of(rows), codes[rows].astype(np.intp)
    functions = some.columns if some.values is not None else np.eye(int(target.codes.max()) + 1)[some.codes]
    weights = np.ones(rows.size) if some.row_weights is None else some.row_weights
    fold_of_row = np.random.default_rng(0).permutation(rows.size) % N_FOLDS
    found = np.empty_like(functions)
    for fold in range(N_FOLDS):
        inside, others = fold_of_row == fold, fold_of_row != fold
        means = _shrunk_means(levels[others], functions[others], weights[others], int(levels.max()) + 1)
        found[inside] = means[levels[inside]]
    found -= weights @ found / weights.sum()
    leading = np.linalg.svd(found * np.sqrt(weights)[:, None], full_matrices=False)[2][0]
    numbers[rows] = found @ (leading * np.sign(leading[np.abs(leading).argmax()]))
    return numbers


def _shrunk_means(levels: HostArray, functions: HostArray, weights: HostArray, n_levels: int) -> HostArray:
    """Means of functions in every level, shrunk towards their means in all rows, (levels, b)."""
    total = weights.sum()
    mean = weights @ functions / total
    gaps = functions - mean
    counts = np.bincount(levels, weights, minlength=n_levels)
    sums = np.stack([np.bincount(levels, weights * gap, minlength=n_levels) for gap in gaps.T], axis=1)
    means = sums / np.maximum(counts, 1e-300)[:, None]
    within = (weights @ (gaps - means[levels]) ** 2) / max(total - np.count_nonzero(counts), 1.0)
    # The variance of the means of levels is that between levels and what is left of that within them.
    of_means = (counts @ means**2 - (np.count_nonzero(counts) - 1) * within) / total
    shrinkage = within / np.maximum(of_means, 1e-6 * within + 1e-300)
    # A level that no row has here, beside levels that do not vary within, has the mean of all rows.
    return np.asarray(mean + sums / np.maximum(counts[:, None] + shrinkage, 1e-300))
