"""Exchanges of one chosen feature for one absent feature."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from l1lsmi._arrays import HostArray

FeatureSet: TypeAlias = tuple[int, ...]


class Hints(NamedTuple):
    """What is known about features from elsewhere.

    Attributes
    ----------
    enter : tuple of int
        Features that may enter a set whatever a gradient is.
    stay : tuple of int
        Features that never leave a set.
    """

    enter: FeatureSet = ()
    stay: FeatureSet = ()


NO_HINTS = Hints()


class Moves(NamedTuple):
    """Features that may leave a set, and features that may enter it.

    Attributes
    ----------
    support : tuple of int
    leave, enter : list of int
    """

    support: FeatureSet
    leave: list[int]
    enter: list[int]

    @classmethod
    def of(
        cls,
        support: FeatureSet,
        gradient: HostArray,
        candidates: HostArray,
        n: int,
        hints: Hints = NO_HINTS,
    ) -> Moves:
        """The ``n`` least useful features may leave, and the ``n`` most useful ones enter, or as hinted.

        Parameters
        ----------
        support : tuple of int
        gradient : numpy.ndarray
            Gradient of the criterion in the squared weight of each candidate.
        candidates : numpy.ndarray of int
            Every feature that may be used.
        n : int
        hints : Hints
        """
        present = np.isin(candidates, support)
        least_useful = candidates[present][np.argsort(gradient[present], kind="stable")]
        leave = [int(i) for i in least_useful if i not in hints.stay][:n]
        enter = candidates[~present][np.argsort(-gradient[~present], kind="stable")[:n]]
        both = dict.fromkeys([*enter.tolist(), *(j for j in hints.enter if j not in support)])
        return cls(support, leave, list(both))

    def smaller(self) -> list[FeatureSet]:
        """The set without each feature that may leave."""
        return [tuple(j for j in self.support if j != i) for i in self.leave]

    def larger(self) -> list[FeatureSet]:
        """The set with each feature that may enter."""
        return [tuple(sorted((*self.support, j))) for j in self.enter]

    def exchanges(self, without: HostArray, within: HostArray, n: int) -> list[FeatureSet]:
        """The ``n`` exchanges with the lowest sum of the losses without one feature and with the other."""
        total = (without[:, None] + within).ravel()
        found = []
        for place in np.argsort(total, kind="stable")[:n].tolist():
            i, j = divmod(place, len(self.enter))
            found.append(tuple(sorted((set(self.support) - {self.leave[i]}) | {self.enter[j]})))
        return found


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
