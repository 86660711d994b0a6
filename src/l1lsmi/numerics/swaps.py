"""One-for-one exchanges between chosen and absent features."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from l1lsmi.arrays import HostArray

__all__ = ["promising_swaps", "refine_by_swaps"]

Set = tuple[int, ...]


def promising_swaps(inside: Set, slopes: HostArray, candidates: HostArray, width: int) -> Iterator[Set]:
    """Sets one exchange away that the slopes say are better, the most promising first.

    Parameters
    ----------
    inside : tuple of int
        The present set, in order.
    slopes : numpy.ndarray
        Slope of the criterion in the squared weight of each candidate.
    candidates : numpy.ndarray of int
        Every feature that may be used.
    width : int
        How many of the least useful present and the most useful absent features to pair.
    """
    present = np.isin(candidates, inside)
    leave = np.flatnonzero(present)[np.argsort(slopes[present], kind="stable")[:width]]
    enter = np.flatnonzero(~present)[np.argsort(-slopes[~present], kind="stable")[:width]]
    gains = {(i, j): slopes[j] - slopes[i] for i in leave for j in enter}
    for i, j in sorted(gains, key=lambda pair: -gains[pair]):
        if gains[i, j] > 0:
            yield tuple(sorted((set(inside) - {int(candidates[i])}) | {int(candidates[j])}))


def refine_by_swaps(
    start: Set,
    neighbours: Callable[[Set], Iterator[Set]],
    improves: Callable[[Set, Set], bool],
    out_of_time: Callable[[], bool],
    max_rounds: int,
) -> tuple[Set, int]:
    """Exchange features for as long as it helps.

    Parameters
    ----------
    start : tuple of int
    neighbours : callable
        Sets to try around a set.
    improves : callable
        ``improves(new, old)``.
    out_of_time : callable
    max_rounds : int

    Returns
    -------
    best : tuple of int
    n_swaps : int
    """
    best, n_swaps = start, 0
    for _ in range(max_rounds):
        found = None
        for candidate in neighbours(best):
            if out_of_time():
                return best, n_swaps
            if improves(candidate, best):
                found = candidate
                break
        if found is None:
            break
        best, n_swaps = found, n_swaps + 1
    return best, n_swaps
