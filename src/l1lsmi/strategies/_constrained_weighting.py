"""`L1Path` and `L1Paper` among the sets that constraints allow.

Terms and weights on a shrinking ball propose columns, with those of every set always present. A proposal is
made an allowed set by taking its units in order while limits allow it, and the best sets are improved by a
local search among allowed sets. Where there are few allowed sets, all of them are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._clock import Budget, while_time_is_left
from l1lsmi.strategies._base import Advance, Begin
from l1lsmi.strategies._constrained import Constrained
from l1lsmi.strategies._final_weights import N_ALTERNATIVES, N_WEAKEST, NOT_FITTED, fitted_best, on_all_rows
from l1lsmi.strategies._parallel import Piece, in_order
from l1lsmi.strategies._pieces import remember, remembered
from l1lsmi.strategies._unit_exchanges import UnitExchanges, UnitSet, losses_near, weakest_units
from l1lsmi.strategies._units import Units
from l1lsmi.strategies._weighting import Outcome, WeightingSearch, WeightingState
from l1lsmi.strategies.selection import StopReason, WeightedSelection

#: Up to so many allowed sets are all compared, for each set that is refined otherwise.
ENUMERATED = 10


@dataclass
class ConstrainedState(WeightingState):
    """What restarts found, and the allowed sets that were made of it."""

    inside: UnitSet = ()
    votes: Counter[UnitSet] = field(default_factory=Counter)
    since: int = 0

    @property
    def has_answer(self) -> bool:
        return bool(self.inside) or self.latest is not None


class ConstrainedSearch(NamedTuple):
    """Units, and what a weighting works with on their columns."""

    units: Units
    search: WeightingSearch

    def key(self, inside: UnitSet) -> tuple[int, ...]:
        """The columns of a set of units."""
        return tuple(int(j) for j in self.units.columns_of(inside))

    def loss(self, inside: UnitSet) -> float:
        """Loss of a set of units."""
        return self.search.scores.score(self.key(inside)).loss

    def prefers(self, new: UnitSet, old: UnitSet) -> bool:
        """Tell whether a set is better than another."""
        return not old or self.search.scores.prefers(self.key(new), self.key(old))


class ConstrainedWeighting(Constrained):
    """What `L1Path` and `L1Paper` share among allowed sets."""

    def _n_steps(self, problem: Any, k: int) -> int:
        return int(self.strategy.n_restarts)

    def _start(self, problem: Any, k: int) -> ConstrainedState:
        return ConstrainedState(StopReason.RESTARTS, n_features=problem.n_features)

    def _prepare(self, problem: Any) -> Any:
        units = Units(problem, self.constraints, self.strategy.n_jobs)
        restricted = problem.restricted_to(units.all_columns())
        units.problem = restricted
        return ConstrainedSearch(units, self.strategy._prepare(restricted))

    def _only_forced(self, units: Units, k: int, state: ConstrainedState) -> bool:
        """Whether there is no unit to choose: then the forced ones are the answer."""
        if min(k, units.max_size) > len(self.constraints.forced):
            return False
        state.inside = self.constraints.forced
        state.reason, state.finished = StopReason.NOTHING_TO_CHOOSE, True
        return True

    def _piece(self, data: ConstrainedSearch, problem: Any, k: int, budget: Budget) -> Piece:
        """What restarts are kept as."""
        wanted, held = self._n_columns(data.units, k), data.units.held
        return Piece("restart", [wanted, problem.table.n_rows, problem.columns, held], budget)

    def _n_columns(self, units: Units, k: int) -> int:
        """How many columns a set of ``k`` units has, roughly: paths end with so many."""
        sizes = [units.columns[u].size for u in np.flatnonzero(units.alive)]
        n_free = max(1, k - len(self.constraints.forced))
        wanted = units.held.size + int(np.ceil(n_free * np.mean(sizes)))
        return max(1, min(wanted, units.all_columns().size - 1))

    def _proposed(self, units: Units, priority: HostArray, k: int) -> list[UnitSet]:
        """Allowed sets of units in the order of the sum, of the largest, and of the sum for each cost.

        With a budget, units of no priority are left out.
        """
        at_least = np.maximum(priority, 0.0)
        total = np.array([at_least[some].sum() for some in units.columns])
        largest = np.array([at_least[some].max(initial=0.0) for some in units.columns])
        orders = [total, largest, total / self.constraints.costs]
        n_orders = 3 if self.constraints.has_budget else 2
        found: dict[UnitSet, None] = {}
        for order in orders[:n_orders]:
            allowed = self.constraints
            if allowed.has_budget and (order > 0).any():
                allowed = allowed.restricted_to(order > 0)
            inside = allowed.fill(np.where(units.alive, order, -1.0), min(k, units.max_size))
            if inside:
                found[tuple(sorted(inside))] = None
        return list(found)

    def _consider(
        self, data: ConstrainedSearch, k: int, state: ConstrainedState, priority: HostArray
    ) -> None:
        """Take in the allowed sets that a proposal makes."""
        state.since += 1
        for inside in self._proposed(data.units, priority, k):
            state.votes[inside] += 1
            if self._prefers(data, inside, state.inside):
                state.inside, state.since = inside, 0

    def _prefers(self, data: ConstrainedSearch, new: UnitSet, old: UnitSet) -> bool:
        return data.prefers(new, old)

    # -- the answer ------------------------------------------------------------------------

    def _result(self, data: ConstrainedSearch, k: int, state: ConstrainedState, budget: Budget) -> Any:
        units, search = data.units, data.search
        survival = np.where(state.survival() > 0, state.survival(), 0.0)
        priority = np.array([survival[some].sum() for some in units.columns])
        priority = np.where(units.alive, priority, -np.inf)
        inside = state.inside
        if not inside:  # stopped before the first proposal
            latest = state.latest if state.latest is not None else np.zeros(state.n_features)
            proposed = self._proposed(units, latest, k)
            inside = proposed[0] if proposed else tuple(sorted(units.filled((), priority, k)))
        if search.explored.table is not search.whole.table and not budget.spent():
            with while_time_is_left(budget):
                inside = self._best_on_all_rows(data, inside, k, state, budget)
        state.best = data.key(inside)
        fields = self._weights(data, state, budget)
        order = sorted(inside)
        if self.strategy.orders_features and not budget.spent():
            order = self._order(data, inside, budget)
        filled = units.filled(order, priority, k)
        p_value = 1.0 if search.terms is None else search.terms.p_value
        return WeightedSelection(
            path=state.points,
            n_iter=max(1, state.n_iter),
            stop_reason=state.reason,
            p_value=p_value,
            **fields,
            **units.answer(filled, priority),
        )

    def _weights(self, data: ConstrainedSearch, state: ConstrainedState, budget: Budget) -> dict[str, Any]:
        """Weights and scores of the best set, the scores less those of the covariates alone."""
        search, given = data.search, data.units.given
        if not state.best:  # nothing that varies is selected
            nothing = dict.fromkeys(("score", "estimate", "cv_score", "regularization", "radius"), 0.0)
            return {**nothing, "sigma": 1.0, "weights": np.zeros(state.n_features)}
        weights, model, fit, draw = fitted_best(search.whole, search.explored, search.draw, state, budget)
        value, cv_score, score = fit.value, fit.cv_score, search.whole.score_of(fit)
        if given.size:
            alone = NOT_FITTED
            with while_time_is_left(budget.with_grace()):
                ones = np.ones(given.size)
                alone = draw.fit(ones, given, draw.select_model(ones, given).model)
            value, cv_score = value - alone.value, cv_score - alone.cv_score
            score -= search.whole.score_of(alone)
        return {
            "score": score,
            "estimate": value,
            "cv_score": cv_score,
            "sigma": model.sigma,
            "regularization": model.regularization,
            "radius": float(weights.sum() - weights[given].sum()),
            "weights": weights,
        }

    def _best_on_all_rows(
        self, data: ConstrainedSearch, inside: UnitSet, k: int, state: ConstrainedState, budget: Budget
    ) -> UnitSet:
        """Compare the best sets of a sample on all rows."""
        search = data.search
        others = sorted((s for s in state.votes if s != inside and data.key(s)), key=data.loss)
        score_near, losses = on_all_rows(search.whole), dict[UnitSet, float]()
        for one in [s for s in (inside, *others[:N_ALTERNATIVES]) if data.key(s)]:
            if losses and budget.spent():
                break
            scored = score_near(data.key(one), search.scores.score(data.key(one)).model)
            losses[one] = search.scores.mean_with_terms(data.key(one), scored).loss
        return min(losses, key=lambda s: losses[s]) if losses else inside

    def _order(self, data: ConstrainedSearch, inside: UnitSet, budget: Budget) -> list[int]:
        """The units of a set, those first that stay longest while the others are eliminated."""
        units, scores = data.units, data.search.scores
        varying = [u for u in inside if units.columns[u].size]
        if not varying:
            return sorted(inside)
        model = scores.score(data.key(inside)).model

        def losses(sets: list[UnitSet]) -> list[float]:
            return losses_near(scores, [data.key(s) for s in sets], model)

        weakest = partial(_weakest, units, scores)
        order = units.elimination_order(varying, losses, budget, weakest)
        return [*order, *(u for u in inside if u not in order)]


def _weakest(units: Units, scores: Any, present: list[int], free: list[int]) -> list[int]:
    return weakest_units(units, scores, present, free, N_WEAKEST)


class ConstrainedPath(ConstrainedWeighting):
    """Proposals of terms and restarts, then a local search among allowed sets."""

    def _steps(
        self, data: ConstrainedSearch, k: int, state: ConstrainedState, budget: Budget
    ) -> Iterator[Advance | Begin]:
        if self._only_forced(data.units, k, state):
            return
        data = self._start_from_terms(data, k, state, budget)
        if self._compare_all(data, k, state, budget) or self._is_perfect(data, state):
            yield Advance(-data.loss(state.inside), best=data.key(state.inside))
            return
        for outcome in self._restarts(data, k, state, budget):
            state.outcomes.append(outcome)
            self._consider(data, k, state, outcome.survival + outcome.weights)
            yield Advance(-data.loss(state.inside), best=data.key(state.inside))
            if budget.spent() or self._is_perfect(data, state):
                return
            if state.votes[state.inside] >= self.strategy.agreement:
                state.reason = StopReason.AGREED
            elif state.since >= self.strategy.patience(data.search, data.key(state.inside), k):
                state.reason = StopReason.IN_VAIN
            if state.reason != StopReason.RESTARTS:
                break
        yield Begin("comparing similar sets")
        self._refine(data, k, state, budget)

    def _start_from_terms(
        self, data: ConstrainedSearch, k: int, state: ConstrainedState, budget: Budget
    ) -> ConstrainedSearch:
        """Begin with the set whose effects of single features, pairs and triples explain most."""
        units, search = data.units, data.search
        terms, held = search.terms, units.held
        if terms is None:
            return data
        found = terms.search(self._n_columns(units, k), budget.spent, held, units.given)
        if found is None:
            return data
        promising = terms.promising(search.whole.n_features)
        state.strength = np.zeros(state.n_features)
        state.strength[list(promising)] = np.arange(len(promising), 0, -1)
        useful = np.zeros(state.n_features, dtype=bool)
        useful[terms.possible_columns()] = True
        some = self.constraints.restricted_to(np.array([useful[c].any() for c in units.columns]))
        unused = units.alive & ~some.usable
        if unused.any() and some.usable.sum() >= 2 * k and some.max_size >= min(k, units.max_size):
            fewer = Units(units.problem, some, units.n_jobs)
            search.explored = search.explored.restricted_to(fewer.all_columns())
            fewer.problem = search.explored
            data, self.constraints = ConstrainedSearch(fewer, search), some
        priority = state.strength.copy()
        priority[list(found)] += len(promising) + 1
        inside = self._proposed(data.units, priority, k)[0]
        search.scores.use_terms = self.strategy.terms_may_score(search) and search.scores.terms_suffice(
            data.key(inside)
        )
        self._consider(data, k, state, priority)
        # Terms that explain less than kernels do, and not much, say little about the best set.
        if not search.scores.use_terms and not self.strategy.mostly_explained(data.loss(inside)):
            state.votes = Counter(dict.fromkeys(state.votes, 0))
        return data

    def _compare_all(self, data: ConstrainedSearch, k: int, state: ConstrainedState, budget: Budget) -> bool:
        """Compare all allowed sets, where there are few."""
        units = data.units
        sets = self.constraints.allowed_sets(min(k, units.max_size), units.alive)
        most = ENUMERATED * int(self.strategy.n_refined)
        some = list(islice(sets, most + 1))
        if len(some) > most:
            return False
        for inside in (s for s in some if data.key(s)):
            state.votes[inside] += 1
            if data.prefers(inside, state.inside):
                state.inside = inside
            if budget.spent():
                return True
        state.reason, state.finished = StopReason.ALL_SCORED, True
        return True

    def _is_perfect(self, data: ConstrainedSearch, state: ConstrainedState) -> bool:
        if not state.inside or not self.strategy.is_perfect(data.search, data.loss(state.inside)):
            return False
        state.reason, state.finished = StopReason.PERFECT, True
        return True

    def _restarts(
        self, data: ConstrainedSearch, k: int, state: ConstrainedState, budget: Budget
    ) -> Iterator[Outcome]:
        """Outcomes of the restarts, whose paths never drop columns of every set."""
        problem, run, batches = self.strategy.restarts(
            data.search, self._n_columns(data.units, k), state, budget, data.units.held
        )
        n_jobs = self.strategy.n_jobs if problem.batch_size() == 1 else 1
        for outcomes, _ in in_order(run, problem, batches, n_jobs, self._piece(data, problem, k, budget)):
            yield from outcomes

    def _refine(self, data: ConstrainedSearch, k: int, state: ConstrainedState, budget: Budget) -> None:
        """Improve the best sets by moves of units for as long as it helps."""
        scores, terms, strategy = data.search.scores, data.search.terms, self.strategy
        hinted: list[int] = []
        stay: list[int] = []
        if terms is not None:
            unit_of = self.constraints.unit_of
            columns = np.array(terms.promising(4 * strategy.exchange_width), dtype=np.intp)
            hinted = [u for u in dict.fromkeys(unit_of[columns].tolist()) if u >= 0]
            if scores.use_terms and not self.constraints.has_budget:
                certain = unit_of[np.array(terms.certain, dtype=np.intp)]
                stay = [int(u) for u in certain if u >= 0]
        exchanges = UnitExchanges(data.units, scores, k, strategy.exchange_width, hinted, stay, budget)
        starts = sorted((s for s in state.votes if data.key(s)), key=data.loss)
        starts = starts[: strategy.n_starts(data.search)]
        for start in starts:
            refined = exchanges.improved(start, strategy.max_exchanges)
            state.votes[refined] += 1
            if data.prefers(refined, state.inside):
                state.inside = refined
        # What a search with another number of restarts ended with.
        for inside in remembered(f"best of {k}"):
            if data.prefers(inside, state.inside):
                state.inside = inside
        if budget.spent():
            state.reason = StopReason.TIME_LIMIT
        else:
            state.finished = True
            remember(f"best of {k}", strategy.n_restarts, state.inside)


class ConstrainedPaper(ConstrainedWeighting):
    """Restarts of Algorithm 1, the allowed sets nearest to what they end with compared by the estimate."""

    def _steps(
        self, data: ConstrainedSearch, k: int, state: ConstrainedState, budget: Budget
    ) -> Iterator[Advance]:
        if self._only_forced(data.units, k, state):
            return
        problem, wanted = data.search.explored, self._n_columns(data.units, k)
        self._values = self.strategy.set_values(problem)
        run = partial(self.strategy.run_restart, k=wanted, budget=budget, state=state, held=data.units.held)
        indices, piece = range(self.strategy.n_restarts), self._piece(data, problem, k, budget)
        for visited in in_order(run, problem, indices, self.strategy.n_jobs, piece):
            nearest = min(visited, key=lambda o: (abs(len(o.support) - wanted), len(o.support)))
            state.outcomes.append(nearest)
            largest = max(1e-300, float(nearest.weights.max()))
            self._consider(
                data, k, state, nearest.survival + 2 * len(nearest.points) * nearest.weights / largest
            )
            yield Advance(self._values(data.key(state.inside)), best=data.key(state.inside))
        state.finished = True

    def _prefers(self, data: ConstrainedSearch, new: UnitSet, old: UnitSet) -> bool:
        return not old or self._values(data.key(new)) > self._values(data.key(old)) * (1 + 1e-9)
