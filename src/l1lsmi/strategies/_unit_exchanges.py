"""Local search among allowed sets of units: units enter, leave and are exchanged, one or two at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, product, zip_longest
from typing import NamedTuple

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._clock import Budget
from l1lsmi._numerics.model import Model
from l1lsmi._numerics.optimization.exchanges import FeatureSet
from l1lsmi.strategies._scores import ScoreCache
from l1lsmi.strategies._units import Units

UnitSet = tuple[int, ...]

#: Units that may leave or enter in a round, for each unit of the exchange width.
PER_WIDTH = 4
#: Moves of one unit and of two whose loss is computed under the model of the present set.
N_SINGLE = 16
N_DOUBLE = 24
#: Of so many units that may enter, all pairs are scored: two may be useful together only.
N_PAIRED = 10
#: So many of these are scored in full.
SHORTLIST = 4
#: A model of its own is not expected to lower the loss of a neighbouring set by more than this share.
MARGIN = 0.05


class Move(NamedTuple):
    """Units that leave and units that enter, and the loss that their single effects add up to."""

    expected: float
    leave: UnitSet
    enter: UnitSet


class UnitExchanges:
    """Improves allowed sets by the losses of a cache.

    Parameters
    ----------
    units : Units
    scores : ScoreCache
    k : int
        Units of a set; with a budget, units at most.
    width : int
        Four times as many units may leave or enter.
    hinted : sequence of int
        Units that may enter whatever their gradient is.
    stay : sequence of int
        Units that never leave, beside the forced ones.
    budget : Budget
    """

    def __init__(
        self,
        units: Units,
        scores: ScoreCache,
        k: int,
        width: int,
        hinted: Iterable[int],
        stay: Iterable[int],
        budget: Budget,
    ) -> None:
        self._units, self._scores, self._k, self._budget = units, scores, k, budget
        self._n_moved = PER_WIDTH * width
        self._hinted = list(hinted)
        self._stay = {*stay, *units.constraints.forced}

    def key(self, inside: Iterable[int]) -> FeatureSet:
        """The columns of a set of units."""
        return tuple(int(j) for j in self._units.columns_of(list(inside)))

    def improved(self, start: UnitSet, max_rounds: int) -> UnitSet:
        """Where moves that lower the loss lead from an allowed set."""
        best = start
        for _ in range(max_rounds):
            for other in self._neighbours(best):
                if self._budget.spent():
                    return best
                if self._scores.prefers(self.key(other), self.key(best)):
                    best = other
                    break
            else:
                break
        return best

    def _neighbours(self, inside: UnitSet) -> Iterator[UnitSet]:
        """Allowed sets near a set, the most promising first: by moves of one unit, then of two."""
        scored = self._scores.score(self.key(inside))
        leave, enter = self._candidates(inside)
        without = self._losses_near([[u for u in inside if u != i] for i in leave], scored.model)
        within = self._losses_near([[*inside, j] for j in enter], scored.model)
        lost: dict[UnitSet, float] = {
            (i,): loss - scored.loss for i, loss in zip(leave, without, strict=True)
        }
        gained: dict[UnitSet, float] = {
            (j,): loss - scored.loss for j, loss in zip(enter, within, strict=True)
        }
        seen: set[UnitSet] = set()
        for two, n in ((False, N_SINGLE), (True, N_DOUBLE)):
            if two:
                pairs = list(combinations(enter[:N_PAIRED], 2))
                within = self._losses_near([[*inside, *pair] for pair in pairs], scored.model)
                gained |= {p: loss - scored.loss for p, loss in zip(pairs, within, strict=True)}
                lost |= {(i, j): lost[i,] + lost[j,] for i, j in combinations(leave, 2)}
            moves = sorted(self._moves(lost, gained, two))
            near = [s for s in self._allowed(inside, moves, n) if s not in seen]
            seen.update(near)
            losses = self._losses_near(near, scored.model)
            most = scored.loss + MARGIN * abs(scored.loss)
            promising = sorted((loss, s) for loss, s in zip(losses, near, strict=True) if loss < most)
            yield from (s for _, s in promising[:SHORTLIST])

    def _candidates(self, inside: UnitSet) -> tuple[list[int], list[int]]:
        """Units that may leave, those with the lowest gradient, and units that may enter, the highest."""
        units = self._units
        columns = units.all_columns()
        gradient = np.zeros(units.problem.n_features)
        gradient[columns] = self._scores.gradient(self.key(inside), columns)
        of_units = np.array([gradient[some].sum() for some in units.columns])
        free = [u for u in inside if u not in self._stay and units.alive[u]]
        leave = sorted(free, key=lambda u: of_units[u])[: self._n_moved]
        others = np.flatnonzero(units.alive)
        others = others[~np.isin(others, inside)]
        best = others[np.argsort(-of_units[others], kind="stable")][: self._n_moved].tolist()
        hinted = [u for u in self._hinted if u not in inside and units.alive[u]]
        # In turn: the gradient does not see units that are useful together only.
        both = [u for pair in zip_longest(best, hinted) for u in pair if u is not None]
        return leave, list(dict.fromkeys(both))

    def _moves(self, lost: dict[UnitSet, float], gained: dict[UnitSet, float], two: bool) -> Iterator[Move]:
        """Exchanges of one unit, or of two; with a budget, numbers of units may change."""
        free = self._units.constraints.has_budget
        nothing: dict[UnitSet, float] = {(): 0.0} if free else {}
        for (out, worse), (into, better) in product((lost | nothing).items(), (gained | nothing).items()):
            same = len(out) == len(into)
            if max(len(out), len(into)) == 1 + two and (same or free):
                yield Move(worse + better, out, into)

    def _allowed(self, inside: UnitSet, moves: list[Move], n: int) -> list[UnitSet]:
        """The first ``n`` allowed sets that moves lead to."""
        found: list[UnitSet] = []
        for move in moves:
            other = tuple(sorted({*inside, *move.enter} - set(move.leave)))
            if self._units.constraints.allows(other, self._k) and self.key(other):
                found.append(other)
                if len(found) == n:
                    break
        return found

    def _losses_near(self, sets: Iterable[Iterable[int]], model: Model) -> list[float]:
        """Losses of sets of units at the width of a model; 0 for no columns."""
        return losses_near(self._scores, [self.key(inside) for inside in sets], model)


def losses_near(scores: ScoreCache, keys: list[FeatureSet], model: Model) -> list[float]:
    """Losses of sets of columns at the width of a model, in batches of the same size."""
    found = dict.fromkeys(keys, 0.0)
    for size in sorted({len(key) for key in found if key}):
        some = [key for key in found if len(key) == size]
        for key, scored in zip(some, scores.score_near(some, model), strict=True):
            found[key] = scores.with_terms(key, scored).loss
    return [found[key] for key in keys]


def weakest_units(
    units: Units, scores: ScoreCache, present: list[int], free: list[int], most: int
) -> list[int]:
    """Those of the units that may leave a set with the lowest gradient, where there are many."""
    if len(free) <= 2 * most:
        return free
    columns = units.columns_of(present)
    gradient: HostArray = np.zeros(units.problem.n_features)
    gradient[columns] = scores.gradient(tuple(int(j) for j in columns), columns)
    return sorted(free, key=lambda u: gradient[units.columns[u]].sum())[:most]
