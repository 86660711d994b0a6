"""Search on the rows of a split that a search may see, and predict the others from the sets that it finds."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._clock import Budget, check_time, while_time_is_left
from l1lsmi._numerics.constraints import Constraints
from l1lsmi._numerics.held_out import (
    N_CENTERS,
    additive_basis,
    centers_for_sizes,
    least_squares,
    predict_unseen,
)
from l1lsmi.strategies._base import Strategy
from l1lsmi.strategies._listening import heard_by
from l1lsmi.strategies._pieces import part_of
from l1lsmi.strategies._pools import in_pool, set_beyond, set_of_size
from l1lsmi.strategies._splits import Split
from l1lsmi.strategies.judged import Judged
from l1lsmi.strategies.selection import StopReason

#: Sets of at most so many features are searched for; larger ones go on in the order of the search.
MAX_SEARCHED = 40

#: A split, the number of columns to choose from, and orders of the columns that are known by now.
Item = tuple[Split, int, dict[bool, HostArray]]


def given(constraints: Constraints | None) -> dict[str, Any]:
    """The argument of a search with constraints: strategies of others may know nothing of them."""
    return {} if constraints is None else {"constraints": constraints}


@dataclass(frozen=True)
class SplitSearch:
    """Searches on the seen rows of splits, for sets of all sizes.

    Parameters
    ----------
    bind : callable
        ``bind(problem, rows)`` gives the problem on some rows, in memory.
    strategy : Strategy
    functions : numpy.ndarray of shape (n, q)
        Functions of the target that are predicted.
    sizes : numpy.ndarray of int
        Numbers of features, beginning with 0.
    budget : Budget
    constraints : Constraints or None
    """

    bind: Any
    strategy: Strategy
    functions: HostArray
    sizes: HostArray
    budget: Budget
    constraints: Constraints | None = None

    def __call__(self, problem: Any, item: Item) -> Judged | None:
        """Search on the seen rows of a split, and predict the unseen ones; None where the time is out."""
        if self.budget.spent():
            return None
        # The time that is left, in the budget of the thread that this runs in.
        budget = Budget(self.budget.left())
        parts = part_of("part of the rows", [self.sizes, self.key(item)])
        with while_time_is_left(budget), parts, heard_by(None):
            return self._predictions(problem, item[0], self._sets(problem, item, budget))
        return None

    def key(self, item: Item) -> Any:
        """What a part of the rows and a pool are known by."""
        return [item[0].seen, item[0].unseen, item[1]]

    def _sets(self, problem: Any, item: Item, budget: Budget) -> list[HostArray]:
        """The columns of a set of each size."""
        split, pool, known = item
        sizes, several = self.sizes, self.sizes.size > 2
        forced = 0 if self.constraints is None else len(self.constraints.forced)
        most = max(forced, min(int(sizes[-1]), MAX_SEARCHED)) if several else int(sizes[-1])
        some, allowed = in_pool(self.bind(problem, split.seen), pool, most, self.constraints, known)
        most = most if allowed is not None else min(most, some.columns.size)
        least = 0 if allowed is None else len(allowed.forced)
        sets: list[HostArray] = []
        for size in [*(n for n in self.strategy.searched_sizes if several and least <= n < most), most]:
            wanted = max(least, self.strategy.size_for_order(size)) if several else size
            ordering = copy(self.strategy)
            ordering.orders_down_to = int(sizes[len(sets) - 1]) if sets else 1
            selection = ordering.search(some, wanted, budget, **given(allowed))
            if selection.stop_reason == StopReason.INTERRUPTED:
                raise KeyboardInterrupt
            # Sizes in between come from the order of the next larger set.
            sets += [set_of_size(selection, j, allowed) for j in sizes[len(sets) :] if j <= size]
        if allowed is not None and not several:  # with a budget, a set may have fewer
            sets[-1] = np.concatenate([np.flatnonzero(selection.support), allowed.given])
        # Where fewer columns vary, the largest set is that of all further sizes.
        return sets + [set_beyond(selection, j, some.columns, allowed) for j in sizes[len(sets) :]]

    def _predictions(self, problem: Any, split: Split, sets: list[HostArray]) -> Judged:
        """Predict the unseen rows from the sets."""
        functions, weights = self.functions, problem.target.row_weights
        used = np.unique(np.concatenate(sets))
        values = to_numpy(problem.table.points(np.arange(problem.table.n_rows), used).values)
        places = [problem.table.places_of(used, one) for one in sets]
        given = () if self.constraints is None else self.constraints.given
        base = additive_basis(values[:, problem.table.places_of(used, given)]) if len(given) else None

        def predicted(rows: HostArray, learned: HostArray, n_centers: int = N_CENTERS) -> HostArray:
            """Predictions of some rows from each set, learned from others."""
            found = []
            of_known = None if weights is None else weights[learned]
            left, added = functions[learned], np.zeros(1)
            if base is not None:
                # Kernels of covariates may miss a part of what these explain. Features that depend on
                # covariates would seem to add it.
                coefficients = least_squares(base[learned], left, of_known)
                left, added = left - base[learned] @ coefficients, base[rows] @ coefficients
            for one in places:
                check_time()
                known, wanted = values[np.ix_(learned, one)], values[np.ix_(rows, one)]
                found.append(added + predict_unseen(known, left, wanted, of_known, n_centers))
            return np.array(found)

        if self.sizes.size == 2:
            of_unseen = predicted(split.unseen, split.seen)
            return Judged(sets, of_unseen, of_unseen[:, : split.n_next])
        of_unseen = np.empty((len(sets), split.unseen.size, functions.shape[1]))
        n_centers = centers_for_sizes(functions.shape[1])
        for block in np.unique(split.block_of_unseen):
            of_block = split.block_of_unseen == block
            others = np.sort(np.concatenate([split.seen, split.unseen[~of_block]]))
            of_unseen[:, of_block] = predicted(split.unseen[of_block], others, n_centers)
        if others.size == split.seen.size and n_centers == N_CENTERS:  # there is one block
            return Judged(sets, of_unseen, of_unseen[:, : split.n_next])
        return Judged(sets, of_unseen, predicted(split.unseen[: split.n_next], split.seen))
