"""Splits of the rows into those that a search sees and those that judge it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.sampling import draw_spread
from l1lsmi._numerics.target import Target

#: Blocks of rows, and how many of them the first search sees.
N_BLOCKS = 8


N_SEEN = 4


ALTERNATING = (0, 4, 1, 5, 2, 6, 3, 7)


#: Of more rows than this, so many are drawn.
MAX_ROWS = 4_000


#: Ranges of a numeric target that every block has its share of.
N_RANGES = 10


class Split(NamedTuple):
    """Rows that a search sees and those that it does not, the ``n_next`` rows of the next block first."""

    seen: HostArray
    unseen: HostArray
    block_of_unseen: HostArray
    n_next: int  # 0 where the split has no p-value
    judges: bool = True  # whether its unseen rows compare sizes and pools


def some_rows(target: Target, groups: HostArray | None, rng: np.random.Generator) -> HostArray:
    """All rows, or some of many: each class or range in proportion, or whole groups."""
    if target.n_rows <= MAX_ROWS:
        return np.arange(target.n_rows)
    if groups is None:
        values = None if target.is_classification else target.ordered()
        return draw_spread(target.codes, values, MAX_ROWS, rng)
    _, codes = np.unique(groups, return_inverse=True)
    order = rng.permutation(codes.max() + 1)
    total = np.cumsum(np.bincount(codes.ravel())[order])
    kept = order[: max(N_BLOCKS, int(np.searchsorted(total, MAX_ROWS)))]
    return np.flatnonzero(np.isin(codes.ravel(), kept))


def make_splits(
    target: Target,
    groups: HostArray | None,
    rng: np.random.Generator,
    *,
    tested: bool = True,
    left_out: bool = False,
) -> list[Split]:
    """Parts of the rows for searches.

    Parameters
    ----------
    target : Target
    groups : numpy.ndarray of int, shape (n,) or None
        Rows of a group are never split.
    rng : numpy.random.Generator
    tested : bool
        Whether there are searches that see more and more blocks, which give p-values.
    left_out : bool
        Whether searches that see all blocks but one are those that judge.

    Returns
    -------
    list of Split
    """
    block_of_row = make_blocks(target, groups, rng)
    splits = []
    for block in range(N_SEEN, N_BLOCKS):
        near, far = np.flatnonzero(block_of_row == block), np.flatnonzero(block_of_row > block)
        last = block == N_BLOCKS - 1  # it sees all blocks but one, too
        if last or tested or not left_out:
            seen, unseen = np.flatnonzero(block_of_row < block), np.concatenate([near, far])
            splits.append(Split(seen, unseen, block_of_row[unseen], near.size, last or not left_out))
    if left_out:
        for block in range(N_BLOCKS - 1):
            seen, unseen = np.flatnonzero(block_of_row != block), np.flatnonzero(block_of_row == block)
            splits.append(Split(seen, unseen, block_of_row[unseen], 0))
    ordered = target.ordered()
    return [split for split in splits if split.unseen.size and np.ptp(ordered[split.seen]) > 0]


def make_blocks(target: Target, groups: HostArray | None, rng: np.random.Generator) -> HostArray:
    """A block for every row: classes or ranges of the target spread evenly, groups kept together."""
    if groups is not None:
        _, codes = np.unique(groups, return_inverse=True)
        sizes = np.bincount(codes.ravel())
        block_of_group, filled = np.zeros(sizes.size, dtype=np.intp), np.zeros(N_BLOCKS)
        for group in rng.permutation(sizes.size):
            block_of_group[group] = filled.argmin()
            filled[block_of_group[group]] += sizes[group]
        return np.asarray(block_of_group[codes.ravel()])
    strata = target.codes
    if not target.is_classification:
        strata = np.empty(target.n_rows, dtype=np.intp)
        strata[np.argsort(target.ordered(), kind="stable")] = (
            np.arange(target.n_rows) * N_RANGES // target.n_rows
        )
    block_of_row = np.empty(target.n_rows, dtype=np.intp)
    for number, stratum in enumerate(np.unique(strata)):
        rows = rng.permutation(np.flatnonzero(strata == stratum))
        # Blocks that all searches see take turns with the others, so that every class is on both sides.
        block_of_row[rows] = np.roll(ALTERNATING, -2 * number)[np.arange(rows.size) % N_BLOCKS]
    return block_of_row
