"""Which sets of features are allowed: units that go in or out together, limits of groups, costs and a budget.

Everything is in numbers of columns and of units. Apart from the number of units, every constraint that holds
for a set holds for its subsets that contain the forced units, and limits of groups make the allowed sets
those of a partition matroid: adding units one at a time while the limits allow it always reaches the
wanted number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from l1lsmi._arrays import HostArray

#: Costs that exceed a budget by no more than this share of it are rounding errors of their sum.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Constraints:
    """Units of columns that are selected together, and which sets of units are allowed.

    Attributes
    ----------
    n_columns : int
        Columns of the table.
    units : tuple of numpy.ndarray of int
        Columns of every unit, disjoint; columns of no unit are never selected.
    forced : tuple of int
        Units of every set.
    group_of : numpy.ndarray of int, shape (units,)
        The group of every unit, whose number in a set is limited.
    most_of : numpy.ndarray of int, shape (groups,)
        Units of each group at most.
    costs : numpy.ndarray of float, shape (units,)
    budget : float
        Sum of the costs at most; infinity where a number of units is asked for.
    given : numpy.ndarray of int
        Columns that are part of every set that is scored, and never selected: covariates.
    usable : numpy.ndarray of bool, shape (units,)
        Units that a search may choose from.
    """

    n_columns: int
    units: tuple[HostArray, ...]
    forced: tuple[int, ...]
    group_of: HostArray
    most_of: HostArray
    costs: HostArray
    budget: float
    given: HostArray
    usable: HostArray

    @classmethod
    def of(
        cls,
        n_columns: int,
        units: Iterable[Iterable[int]] | None = None,
        *,
        forced: Iterable[int] = (),
        group_of: HostArray | None = None,
        most_of: HostArray | None = None,
        costs: HostArray | None = None,
        budget: float = np.inf,
    ) -> Constraints:
        """Constraints of which some are not given: every column is a unit, and nothing is limited."""
        made = (
            tuple(np.arange(n_columns)[:, None])
            if units is None
            else tuple(np.array(sorted(unit), dtype=np.intp) for unit in units)
        )
        n = len(made)
        return cls(
            n_columns=n_columns,
            units=made,
            forced=tuple(sorted(int(u) for u in forced)),
            group_of=np.zeros(n, dtype=np.intp) if group_of is None else group_of,
            most_of=np.array([n]) if most_of is None else most_of,
            costs=np.ones(n) if costs is None else costs,
            budget=float(budget),
            given=np.empty(0, dtype=np.intp),
            usable=np.ones(n, dtype=bool),
        )

    def beside(self, n_given: int) -> Constraints:
        """The same constraints for a table with so many more columns, which are part of every set."""
        given = np.arange(self.n_columns, self.n_columns + n_given)
        return replace(self, n_columns=self.n_columns + n_given, given=given)

    def restricted_to(self, usable: HostArray) -> Constraints:
        """The same constraints for a search among some units, and the forced ones."""
        usable = self.usable & usable
        usable[list(self.forced)] = True
        return replace(self, usable=usable)

    def everywhere(self) -> Constraints:
        """The same constraints for a search among all units."""
        return replace(self, usable=np.ones(self.n_units, dtype=bool))

    @property
    def has_budget(self) -> bool:
        """Whether costs limit a set, whose number of units is then free."""
        return bool(np.isfinite(self.budget))

    @property
    def is_restrictive(self) -> bool:
        """Whether some set of columns is not allowed, or has columns beside it."""
        sizes = np.bincount(self.group_of, minlength=self.most_of.size)
        free = self.n_units == self.n_columns and not self.forced and not self.has_budget
        return not free or bool((sizes > self.most_of).any())

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.units)

    @cached_property
    def unit_of(self) -> HostArray:
        """The unit of every column, -1 for those of none."""
        found = np.full(self.n_columns, -1, dtype=np.intp)
        for number, unit in enumerate(self.units):
            found[unit] = number
        return found

    @cached_property
    def max_size(self) -> int:
        """The largest number of units of an allowed set."""
        return len(self.fill(-self.costs, self.n_units))

    # -- sets ------------------------------------------------------------------------------

    def allows(self, inside: Collection[int], k: int) -> bool:
        """Tell whether a set of ``k`` units is allowed; with a budget, of ``k`` units at most."""
        some = np.array(sorted(inside), dtype=np.intp)
        if not set(self.forced) <= set(inside) or not self.usable[some].all():
            return False
        if not (1 <= some.size <= k if self.has_budget else some.size == k):
            return False
        return bool((self._counts(some) <= self.most_of).all()) and self._fits(float(self.costs[some].sum()))

    def room(self, inside: Collection[int]) -> HostArray:
        """Units that may be added to a set, (units,)."""
        some = np.fromiter(inside, dtype=np.intp, count=len(inside))
        free = self.usable & (self._counts(some) < self.most_of)[self.group_of]
        free[some] = False
        if self.has_budget:
            left = self.budget * (1 + ROUNDING) - self.costs[some].sum()
            free &= self.costs <= left
        return np.asarray(free)

    def removable(self, inside: Collection[int], k: int) -> HostArray:
        """Units that may leave a set, which need not be allowed yet, on the way to an allowed one.

        Without a budget, those after which ``k`` allowed units are left; with one, those of groups that have
        too many units, or all where no group has.
        """
        some = np.fromiter(inside, dtype=np.intp, count=len(inside))
        counts = self._counts(some)
        leave = np.zeros(self.n_units, dtype=bool)
        leave[some] = True
        leave[list(self.forced)] = False
        over = (counts > self.most_of)[self.group_of]
        n_allowed = int(np.minimum(counts, self.most_of).sum())
        tight = over.any() if self.has_budget else n_allowed <= k
        return leave & over if tight else leave

    def fill(self, priority: HostArray, k: int, start: Iterable[int] = ()) -> list[int]:
        """Forced units, those of a start, then others by falling priority while limits allow it, up to ``k``.

        Units of the start that do not fit are left out.
        """
        order = [*self.forced, *start, *np.argsort(-priority, kind="stable").tolist()]
        counts, cost = np.zeros(self.most_of.size, dtype=np.intp), 0.0
        inside: dict[int, None] = {}
        for unit in order:
            if len(inside) >= k:
                break
            group, more = self.group_of[unit], float(self.costs[unit])
            fits = counts[group] < self.most_of[group] and self._fits(cost + more)
            if unit not in inside and self.usable[unit] and fits:
                inside[unit] = None
                counts[group] += 1
                cost += more
        return list(inside)

    def allowed_sets(self, k: int, among: HostArray) -> Iterator[tuple[int, ...]]:
        """All allowed sets of ``k`` units among some and the forced ones; with a budget, of up to ``k``."""
        others = [int(u) for u in np.flatnonzero(among & self.usable) if u not in self.forced]
        # Units of each group from a place on: a branch that cannot reach k units is not entered.
        later = np.zeros((len(others) + 1, self.most_of.size), dtype=np.intp)
        for place in range(len(others) - 1, -1, -1):
            later[place] = later[place + 1]
            later[place, self.group_of[others[place]]] += 1
        counts = self._counts(np.array(self.forced, dtype=np.intp))

        def branch(start: int, inside: tuple[int, ...], cost: float) -> Iterator[tuple[int, ...]]:
            if inside and (self.has_budget or len(inside) == k):
                yield tuple(sorted(inside))
            if len(inside) == k:
                return
            for place in range(start, len(others)):
                reach = int(np.minimum(counts + later[place], self.most_of).sum())
                if not self.has_budget and reach < k:
                    return
                unit = others[place]
                group, total = self.group_of[unit], cost + float(self.costs[unit])
                if counts[group] < self.most_of[group] and self._fits(total):
                    counts[group] += 1
                    yield from branch(place + 1, (*inside, unit), total)
                    counts[group] -= 1

        return branch(0, self.forced, float(self.costs[list(self.forced)].sum()))

    def _counts(self, some: HostArray) -> HostArray:
        return np.bincount(self.group_of[some], minlength=self.most_of.size)

    def _fits(self, cost: float) -> bool:
        return cost <= self.budget * (1 + ROUNDING)

    # -- columns ---------------------------------------------------------------------------

    def of_columns(self, values: HostArray) -> HostArray:
        """Means over the columns of every unit of values of all columns, (units,).

        Minus infinity stands for columns that do not vary, which do not count.
        """
        finite = (self.unit_of >= 0) & np.isfinite(values)
        units = self.unit_of[finite]
        counts = np.bincount(units, minlength=self.n_units)
        sums = np.bincount(units, values[finite], minlength=self.n_units)
        return np.where(counts > 0, sums / np.maximum(counts, 1), -np.inf)

    def selectable(self, columns: HostArray) -> HostArray:
        """Those of some columns that an allowed set may have."""
        return np.asarray(columns[self.unit_of[columns] >= 0])

    def prefix_sizes(self, order: HostArray) -> HostArray:
        """How many leading columns of an order of whole units the first 0, 1, 2, ... units have.

        -1 for numbers of units below that of the forced ones.
        """
        sizes, unit_of, place = [0], self.unit_of, 0
        while place < order.size:
            place += self.units[unit_of[order[place]]].size
            sizes.append(place)
        found = np.array(sizes)
        found[: len(self.forced)] = -1
        return found
