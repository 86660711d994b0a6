"""One-for-one exchanges between chosen and absent features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from l1lsmi._arrays import HostArray

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
    starts: Sequence[Set],
    neighbours: Callable[[Sequence[Set]], Sequence[Iterable[Set]]],
    improves: Callable[[Set, Set], bool],
    out_of_time: Callable[[], bool],
    max_rounds: int,
) -> list[Set]:
    """Exchange features of several sets for as long as it helps, one exchange of each set in a round.

    Parameters
    ----------
    starts : sequence of tuple of int
    neighbours : callable
        For some sets the sets to try around each.
    improves : callable
        ``improves(new, old)``.
    out_of_time : callable
    max_rounds : int

    Returns
    -------
    best : list of tuple of int
        Where each start led.
    """
    best = list(starts)
    moving = list(range(len(best)))
    for _ in range(max_rounds):
        if not moving or out_of_time():
            break
        moved = []
        for place, around in zip(moving, neighbours([best[i] for i in moving]), strict=True):
            for candidate in around:
                if out_of_time():
                    return best
                if improves(candidate, best[place]):
                    best[place] = candidate
                    moved.append(place)
                    break
        moving = moved
    return best
