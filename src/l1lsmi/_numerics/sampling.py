"""Random choices that every estimate shares: folds, kernel centres, starting weights."""

from __future__ import annotations

import numpy as np

from l1lsmi._arrays import HostArray

#: A numeric target is cut into so many ranges, each with its share of the rows drawn.
N_RANGES = 10
#: A class with a smaller share of the rows is rare: a sample keeps more of its rows.
RARE_SHARE = 0.05


def stratified_folds(group_of_row: HostArray, n_folds: int, rng: np.random.Generator) -> HostArray:
    """Assign rows to folds at random, every group spread as evenly as its size allows.

    Parameters
    ----------
    group_of_row : numpy.ndarray of int, shape (n,)
        Class of each row, 0 to C - 1; all zero where there are no classes.
    n_folds : int
    rng : numpy.random.Generator

    Returns
    -------
    fold_of_row : numpy.ndarray of int, shape (n,)
        Fold sizes differ by at most one, also when a class has fewer rows than folds.
    """
    shuffled = rng.permutation(group_of_row.size)
    by_group = shuffled[np.argsort(group_of_row[shuffled], kind="stable")]
    fold_of_row = np.empty(group_of_row.size, dtype=np.intp)
    # Dealing cards: the next class goes on where the last one stopped.
    fold_of_row[by_group] = np.arange(group_of_row.size) % n_folds
    return fold_of_row


def folds_of_part(fold_of_row: HostArray, least: int = 2) -> HostArray:
    """Number the folds of a part of the rows from 0, so that each has rows.

    Parameters
    ----------
    fold_of_row : numpy.ndarray of int, shape (n,)
        Of all rows, some of which have no row in the part.
    least : int
        A fold with fewer rows joins the next smallest one: rows that are in one fold stay in one.

    Returns
    -------
    fold_of_row : numpy.ndarray of int, shape (n,)
    """
    folds = np.unique(fold_of_row, return_inverse=True)[1].ravel()
    while (sizes := np.bincount(folds)).size > 1 and sizes.min() < least:
        smallest, following = np.argsort(sizes, kind="stable")[:2]
        folds = np.unique(np.where(folds == smallest, following, folds), return_inverse=True)[1].ravel()
    return np.asarray(folds)


def balanced_centers(group_of_row: HostArray, n_centers: int, rng: np.random.Generator) -> HostArray:
    """Draw kernel centres without overlap, the same number in every group as far as it has rows.

    Parameters
    ----------
    group_of_row : numpy.ndarray of int, shape (n,)
    n_centers : int
        Total over the groups; every group gets at least one.
    rng : numpy.random.Generator

    Returns
    -------
    centers : numpy.ndarray of int, shape (groups, most centres in a group)
        Row numbers, -1 where a group has fewer centres than the largest.
    """
    sizes = np.bincount(group_of_row)
    shares = _even_shares(sizes, max(min(n_centers, group_of_row.size), sizes.size))
    centers = np.full((sizes.size, shares.max()), -1)
    for group, share in enumerate(shares):
        centers[group, :share] = rng.permutation(np.flatnonzero(group_of_row == group))[:share]
    return centers


def uniform_centers(group_of_row: HostArray, n_centers: int, rng: np.random.Generator) -> HostArray:
    """Draw kernel centres without overlap from all rows alike, as the paper does.

    Parameters and result are as for `balanced_centers`; a group may come out empty.
    """
    chosen = rng.choice(group_of_row.size, size=min(n_centers, group_of_row.size), replace=False)
    shares = np.bincount(group_of_row[chosen], minlength=group_of_row.max() + 1)
    centers = np.full((shares.size, shares.max()), -1)
    for group, share in enumerate(shares):
        centers[group, :share] = chosen[group_of_row[chosen] == group]
    return centers


def spread_rows(values: HostArray, n_centers: int, rng: np.random.Generator) -> HostArray:
    """Draw kernel centres without overlap, evenly over the order of some values; ties at random.

    Parameters
    ----------
    values : numpy.ndarray of shape (n,)
        The target: classes get as many centres as their share of the rows, quantiles alike.
    n_centers : int
    rng : numpy.random.Generator

    Returns
    -------
    centers : numpy.ndarray of int, shape (n_centers or n,)
    """
    order = np.lexsort((rng.random(values.size), values))
    n_centers = min(n_centers, values.size)
    edges = np.linspace(0, values.size, n_centers + 1)
    return np.asarray(order[(edges[:-1] + rng.random() * np.diff(edges)).astype(np.intp)])


def draw_stratified(codes: HostArray, n_rows: int, rng: np.random.Generator) -> HostArray:
    """Draw row numbers without repetition, each class in proportion, and once at least if rows suffice."""
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


def draw_spread(
    codes: HostArray, values: HostArray | None, n_rows: int, rng: np.random.Generator
) -> HostArray:
    """Draw row numbers without repetition, each class or range of a numeric target in proportion."""
    if values is not None:
        ranges = np.empty(values.size, dtype=np.intp)
        ranges[np.argsort(values, kind="stable")] = np.arange(values.size) * N_RANGES // values.size
        codes = ranges * (codes.max() + 1) + codes
    return draw_stratified(np.unique(codes, return_inverse=True)[1].ravel(), n_rows, rng)


def draw_with_rare(
    codes: HostArray, strata: HostArray, values: HostArray | None, n_rows: int, rng: np.random.Generator
) -> tuple[HostArray, HostArray | None]:
    """Draw row numbers that keep rare classes: all their rows, up to an equal share of half of the sample.

    A class with less than a twentieth of the rows gets up to an even share of half of the sample, the others
    theirs in proportion.

    Parameters
    ----------
    codes : numpy.ndarray of int, shape (n,)
        Class of each row; all zero for numbers.
    strata : numpy.ndarray of int, shape (n,)
        Groups that have their share of every class.
    values : numpy.ndarray of shape (n,) or None
        A numeric target, each range of which has its share.
    n_rows : int
    rng : numpy.random.Generator

    Returns
    -------
    rows : numpy.ndarray of int
        In order.
    weights : numpy.ndarray of float or None
        Rows that each row stands for; None where no class is rare.
    """
    sizes = np.bincount(codes)
    rare = (sizes < RARE_SHARE * codes.size) & (sizes > 0)
    if not rare.any():
        return draw_spread(codes * (strata.max() + 1) + strata, values, n_rows, rng), None
    shares = np.where(rare, np.minimum(sizes, n_rows // (2 * sizes.size)), 0)
    drawn = []
    for code in np.flatnonzero(rare):
        inside = np.flatnonzero(codes == code)
        drawn.append(inside[draw_stratified(strata[inside], int(shares[code]), rng)])
    others = np.flatnonzero(~rare[codes])
    if others.size:
        groups = codes[others] * (strata.max() + 1) + strata[others]
        drawn.append(others[draw_spread(groups, None, int(min(n_rows - shares.sum(), others.size)), rng)])
    rows = np.sort(np.concatenate(drawn))
    kept = np.bincount(codes[rows], minlength=sizes.size)
    return rows, (sizes / np.maximum(kept, 1))[codes[rows]]


def _even_shares(sizes: HostArray, total: int) -> HostArray:
    """Share ``total`` among groups evenly, no group above its size (water filling)."""
    shares = np.zeros_like(sizes)
    for rank, group in enumerate(np.argsort(sizes, kind="stable")):
        still_open = sizes.size - rank
        shares[group] = min(sizes[group], (total - shares.sum()) // still_open)
    return shares


def random_weights(ranks: HostArray, rng: np.random.Generator) -> HostArray:
    """Draw the paper's starting point, w proportional to 1 + U(0, 1), with sum 1, for columns with ranks."""
    weights = 1.0 + rng.random(ranks.size)[ranks]
    return np.asarray(weights / weights.sum())
