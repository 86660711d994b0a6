"""Exchanges of one chosen feature for one absent feature."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from l1lsmi._arrays import HostArray

FeatureSet: TypeAlias = tuple[int, ...]


def exchanges(
    support: FeatureSet, gradient: HostArray, candidates: HostArray, width: int
) -> list[FeatureSet]:
    """Sets one exchange away: each of ``width`` features may leave, each of four times as many may enter.

    Parameters
    ----------
    support : tuple of int
    gradient : numpy.ndarray
        Gradient of the criterion in the squared weight of each candidate.
    candidates : numpy.ndarray of int
        Every feature that may be used.
    width : int
    """
    present = np.isin(candidates, support)
    leave = candidates[present][np.argsort(gradient[present], kind="stable")[:width]]
    enter = candidates[~present][np.argsort(-gradient[~present], kind="stable")[: 4 * width]]
    return [tuple(sorted({*support, int(j)} - {int(i)})) for i in leave for j in enter]


def promising_exchanges(
    support: FeatureSet, gradient: HostArray, candidates: HostArray, width: int
) -> Iterator[FeatureSet]:
    """Sets one exchange away that are better by the gradient, the most promising first.

    Parameters
    ----------
    support : tuple of int
        The present set, in order.
    gradient : numpy.ndarray
        Gradient of the criterion in the squared weight of each candidate.
    candidates : numpy.ndarray of int
        Every feature that may be used.
    width : int
        How many of the least useful present and the most useful absent features to pair.
    """
    present = np.isin(candidates, support)
    leave = np.flatnonzero(present)[np.argsort(gradient[present], kind="stable")[:width]]
    enter = np.flatnonzero(~present)[np.argsort(-gradient[~present], kind="stable")[:width]]
    gains = {(i, j): gradient[j] - gradient[i] for i in leave for j in enter}
    for i, j in sorted(gains, key=lambda pair: -gains[pair]):
        if gains[i, j] > 0:
            yield tuple(sorted((set(support) - {int(candidates[i])}) | {int(candidates[j])}))


def refine_by_exchanges(
    starts: Sequence[FeatureSet],
    neighbours: Callable[[Sequence[FeatureSet]], Sequence[Iterable[FeatureSet]]],
    improves: Callable[[FeatureSet, FeatureSet], bool],
    out_of_time: Callable[[], bool],
    max_rounds: int,
) -> list[FeatureSet]:
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
