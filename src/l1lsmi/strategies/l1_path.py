"""A descending, warm-started path of l1 balls. With squared-loss mutual information this is l1-LSMI.

The search begins with the effects of single features, pairs and triples (`_numerics/terms`), which show even
weak effects among many features. Its first candidate is the set whose effects explain most of the target.
The restarts follow. Each begins with all features and a narrow kernel, because a wide kernel detects only
effects of single features, and a narrow one detects interactions as well. A restart makes ascent steps on the
cross-validation score itself, whose gradient costs no more than the gradient of the estimate. Then the radius
shrinks until the smallest weights are zero, and the restart continues from there. The width is not searched
for: the kernel depends only on the ratio of weights and width, so that the weights stay on their ball and the
width is adapted. Sets are compared by their leave-one-out loss, if the measure has one, and the best sets are
refined by exchanges of features.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice, zip_longest
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from l1lsmi._arrays import HostArray
from l1lsmi._clock import Budget
from l1lsmi._numerics.constraints import Constraints
from l1lsmi._numerics.grids import START_NARROWNESS
from l1lsmi._numerics.optimization.exchanges import NO_HINTS, FeatureSet, Hints, refine_by_exchanges
from l1lsmi._numerics.terms.search import TermSearch
from l1lsmi._validation.parameters import check_all_positive
from l1lsmi.strategies._base import COUNT, COUNT_OR_ZERO, UNSEEDED_ROWS, Advance, Begin
from l1lsmi.strategies._constrained_weighting import ConstrainedPath
from l1lsmi.strategies._parallel import Piece, cluster_of, in_order
from l1lsmi.strategies._path_restarts import PathSettings, run_restarts
from l1lsmi.strategies._pieces import recall, remember, remembered
from l1lsmi.strategies._weighting import L1Weighting, Outcome, WeightingSearch, WeightingState
from l1lsmi.strategies.protocols import Weightable
from l1lsmi.strategies.selection import StopReason

#: A loss this close to the best that any set could have cannot be improved noticeably.
NEARLY = 1e-3
#: Rows that paths climb on at most, by how much is left for them to find.
CLIMBED_ROWS = {"nothing": 1_000, "little": 2_000, "much": 4_000}
#: Restarts that end the search if none improves on the set from terms; where much is left, there is no limit.
PATIENCE = {"nothing": 1, "little": 2}
#: A set with a lower loss explains most of the target.
MOSTLY_EXPLAINED = 0.5
#: With fewer rows the path has much to find, unless terms are certain of every feature.
MANY_ROWS = 1_000
#: With more columns or rows than this, restarts and comparisons take long: so many in vain are enough,
#: and only the best set is refined.
WIDE = 1_000
LONG = 2_000
LARGE_PATIENCE = 2
#: Rows, and rows for each column, without which losses by terms are not used: some terms fit by chance.
TERM_ROWS = 500
ROWS_PER_COLUMN = 2
#: So many neighbours of a set are scored before it is taken for the best of them.
SHORTLIST = 4
#: Restarts of a search on a part of the rows.
QUICK_RESTARTS = 1
FRACTION = Interval(Real, 0, 1, closed="neither")


class L1Path(L1Weighting):
    """Choose features by weights on a path of shrinking l1 balls.

    The search first computes the effects of single features, pairs and triples. It then starts with all
    features, decreases the radius step by step while it maximises the cross-validation score, and compares
    and refines the sets that it ends with. Restarts are made as long as they may find something that the
    effects do not show. The strategy has its own candidates for the model (see `_numerics/grids.py`), and
    does not use those of the measure.

    With constraints, features that must be selected and covariates are part of all kernels and effects. The
    sets found by the effects and by the restarts are changed into allowed sets. The best of these are
    improved by exchanging one or two features or groups; with a budget, also by adding and removing features
    or groups. If only few sets are allowed, all of them are compared.

    Parameters
    ----------
    n_restarts : int, default=8
        Largest number of restarts; the search stops as soon as restarts agree.
    max_iter : int, default=4
        Largest number of ascent steps per radius.
    step_size : float, default=0.15
        Length of the first step at a radius, as a fraction of the largest weight.
    keep : float, default=0.85
        Share of the features that is kept when the radius is decreased; smaller if there are many features.
    narrowness : sequence of float, default=(8, 4, 16, 2)
        Squared median distance divided by the squared kernel width at which restarts begin; restarts use
        these values in turn.
    agreement : int, default=2
        Number of restarts that must end with the best set for the search to stop.
    n_scorers : int, default=1
        Number of draws of kernel centres on which sets are compared.
    n_refined : int, default=3
        How many of the sets found by the restarts are refined by exchanges.
    exchange_width : int, default=3
        Number of features that are tried for removal in an exchange; up to four times as many are tried as
        replacements.
    max_exchanges : int, default=50
        Largest number of exchanges for each set that is refined.
    terms : bool, default=True
        Whether the search begins with the effects of single features, pairs and triples.
    explore_rows : int or None, default=10_000
        With more rows than this, kernels are compared on a random sample of this size, stratified by class or
        range of the target; rare classes have more rows in it, with smaller weights. Effects of single
        features, pairs and triples are summed over all rows. All rows are also used to choose between the
        best three sets, to choose the model and to compute the scores. None compares kernels on all rows.
    time_limit : float or None, default=None
        Seconds after which the best set so far is returned.
    n_jobs : int or None, default=None
        Number of jobs that run restarts in parallel; the result does not depend on it.
    verbose : int, default=0
        1 shows progress.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.measures import SquaredMutualInformation
    >>> from l1lsmi.strategies import L1Path
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 1] * X[:, 4] > 0
    >>> selection = L1Path().select(SquaredMutualInformation(), X, y, 2, random_state=0)
    >>> np.flatnonzero(selection.support)
    array([1, 4])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **L1Weighting._parameter_constraints,
        "step_size": [FRACTION],
        "keep": [FRACTION],
        "narrowness": ["array-like"],
        "agreement": [COUNT],
        "n_scorers": [COUNT],
        "n_refined": [COUNT],
        "exchange_width": [COUNT],
        "max_exchanges": [COUNT_OR_ZERO],
        "terms": ["boolean"],
    }

    def __init__(
        self,
        *,
        n_restarts: int = 8,
        max_iter: int = 4,
        step_size: float = 0.15,
        keep: float = 0.85,
        narrowness: Sequence[float] = START_NARROWNESS,
        agreement: int = 2,
        n_scorers: int = 1,
        n_refined: int = 3,
        exchange_width: int = 3,
        max_exchanges: int = 50,
        terms: bool = True,
        explore_rows: int | None = 10_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.step_size = step_size
        self.keep = keep
        self.narrowness = narrowness
        self.agreement = agreement
        self.n_scorers = n_scorers
        self.n_refined = n_refined
        self.exchange_width = exchange_width
        self.max_exchanges = max_exchanges
        self.terms = terms
        self.explore_rows = explore_rows
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    has_p_value = True
    n_rows_unseeded = UNSEEDED_ROWS

    def quick(self) -> L1Path:
        """The same strategy for a search on a part of the rows: silent, in one thread, with few restarts.

        Returns
        -------
        strategy : L1Path
        """
        fewer: L1Path = (
            super().quick().set_params(n_restarts=min(self.n_restarts, QUICK_RESTARTS), n_refined=1)
        )
        return fewer

    def _validate_params(self) -> None:
        super()._validate_params()
        check_all_positive(self, "narrowness")

    # -- the search ------------------------------------------------------------------------

    def _steps(
        self, search: WeightingSearch, k: int, state: WeightingState, budget: Budget
    ) -> Iterator[Advance | Begin]:
        """Start from terms, run restarts until they agree or do not help, and refine the best sets."""
        if self._takes_all(search, k, state):
            return
        self._start_from_terms(search, k, state, budget)
        if state.finished:
            if state.reason != StopReason.TIME_LIMIT:
                assert state.best is not None
                yield Advance(-search.scores.score(state.best).loss, best=state.best)
            return
        scores = search.scores
        left = self._left_to_find(search, k, state)
        problem = self._climbed(search.explored, left)
        large = self._is_large(search.explored)
        votes = Counter(outcome.support for outcome in state.outcomes)
        if state.start is not None:
            # Terms that explain less than kernels do, and not much, say little about the best set.
            votes[state.start] += scores.use_terms or scores.score(state.start).loss < MOSTLY_EXPLAINED
        size, indices = problem.batch_size(), range(len(state.outcomes), self.n_restarts)
        batches = [indices[i : i + size] for i in range(0, len(indices), size)]
        options: dict[str, Any] = {"k": k, "settings": self._settings(), "budget": budget, "state": state}
        all_climb = problem is search.explored
        run = partial(run_restarts, scored=cluster_of(problem) is not None and all_climb, **options)
        piece = Piece("restart", [k, problem.table.n_rows, problem.columns], budget)
        # A device works on one batch at a time.
        for outcomes, timed in in_order(run, problem, batches, self.n_jobs if size == 1 else 1, piece):
            if timed is not None:
                scores.remember(outcomes[0].support, timed)
            scores.score_ahead([outcome.support for outcome in outcomes])
            for outcome in outcomes:
                self._consider(outcome, search, state, votes, budget)
                if state.reason != StopReason.TIME_LIMIT:
                    assert state.best is not None
                    yield Advance(-scores.score(state.best).loss, best=state.best)
                if state.reason != StopReason.RESTARTS:
                    break
            if state.finished:
                return
            if state.reason == StopReason.AGREED:
                break
            in_vain = state.since_best()
            if state.best == state.start and in_vain >= PATIENCE.get(left, self.n_restarts):
                state.reason = StopReason.TERMS
                break
            if large and in_vain >= LARGE_PATIENCE:
                state.reason = StopReason.IN_VAIN
                break
        n_different = len({outcome.support for outcome in state.outcomes})
        if state.reason == StopReason.RESTARTS and n_different == self.n_restarts > 1:
            state.reason = StopReason.DISAGREED
        yield Begin("comparing similar sets")
        self._refine(search, state, list(votes), budget, left)
        # What a search with another number of restarts ended with.
        for support in remembered(f"best of {k}"):
            if state.best is None or scores.prefers(support, state.best):
                state.best = support
        if not budget.spent():
            remember(f"best of {k}", self.n_restarts, state.best)

    # -- among allowed sets ----------------------------------------------------------------

    def _within(self, constraints: Constraints) -> ConstrainedPath:
        return ConstrainedPath(self, constraints)

    def terms_may_score(self, search: WeightingSearch) -> bool:
        """Whether there are enough rows to compute losses of sets from terms."""
        needed = max(TERM_ROWS, ROWS_PER_COLUMN * search.explored.columns.size)
        return bool(search.whole.table.n_rows >= needed)

    def mostly_explained(self, loss: float) -> bool:
        """Whether a set with this loss explains most of the target."""
        return loss < MOSTLY_EXPLAINED

    def is_perfect(self, search: WeightingSearch, loss: float) -> bool:
        """Whether no set can have a noticeably lower loss."""
        return loss < search.explored.best_loss + NEARLY

    def patience(self, search: WeightingSearch, best: FeatureSet, k: int) -> int:
        """Number of restarts without improvement after which the search ends."""
        left = self._left_to_find(search, len(best), WeightingState(StopReason.RESTARTS))
        most = LARGE_PATIENCE if self._is_large(search.explored) else self.n_restarts
        return min(most, PATIENCE.get(left, self.n_restarts))

    def n_starts(self, search: WeightingSearch) -> int:
        """How many sets are refined."""
        return 1 if self._is_large(search.explored) else self.n_refined

    def restarts(
        self, search: WeightingSearch, k: int, state: WeightingState, budget: Budget, held: HostArray
    ) -> tuple[Weightable, Any, list[range]]:
        """The problem on which restarts ascend, the function that runs a batch of them, and the batches."""
        problem = self._climbed(search.explored, self._left_to_find(search, k, state))
        size, indices = problem.batch_size(), range(self.n_restarts)
        batches = [indices[i : i + size] for i in range(0, len(indices), size)]
        options: dict[str, Any] = {"k": k, "settings": self._settings(), "budget": budget, "state": state}
        return problem, partial(run_restarts, held=held if held.size else None, **options), batches

    # -- parts of the search ---------------------------------------------------------------

    def _left_to_find(self, search: WeightingSearch, k: int, state: WeightingState) -> str:
        """How much the path may find that terms have not.

        Much where kernels explain more than the terms of the best set do: there are interactions of many
        features, or shapes that terms do not have.
        """
        if search.terms is None or not search.scores.use_terms:
            return "much"
        if len(search.terms.certain) >= k:
            return "nothing"
        return "little" if search.explored.table.n_rows > MANY_ROWS else "much"

    def _terms(self, problem: Weightable) -> TermSearch | None:
        if not self.terms:
            return None
        given = (problem.columns, problem.rng(5), problem.loss_functions(), recall)
        return TermSearch(problem.table, problem.target, *given)

    def _start_from_terms(
        self, search: WeightingSearch, k: int, state: WeightingState, budget: Budget
    ) -> None:
        """Begin with the set whose effects of single features, pairs and triples explain most."""
        found = None if search.terms is None else search.terms.search(k, budget.spent)
        if search.terms is None or found is None:
            return
        is_first = state.best is None
        others = (int(j) for j in search.explored.columns if int(j) not in found)
        state.start = tuple(sorted((*found, *islice(others, k - len(found)))))
        state.best = state.start if is_first else state.best
        promising = search.terms.promising(search.whole.n_features)
        state.strength = np.zeros(state.n_features)
        state.strength[list(promising)] = np.arange(len(promising), 0, -1)
        useful = search.terms.possible_columns()
        if useful.size >= 2 * k and useful.size < search.explored.columns.size:
            search.explored = search.explored.restricted_to(useful)
        search.scores.use_terms = self.terms_may_score(search) and search.scores.terms_suffice(state.start)
        if not is_first:
            return
        assert state.best is not None
        if budget.spent():
            state.reason, state.finished = StopReason.TIME_LIMIT, True
        elif search.scores.score(state.best).loss < search.explored.best_loss + NEARLY:
            state.reason, state.finished = StopReason.PERFECT, True

    def _is_large(self, problem: Weightable) -> bool:
        """Whether restarts and comparisons of sets take long."""
        return problem.columns.size > WIDE or problem.table.n_rows > LONG

    def _climbed(self, problem: Weightable, left: str) -> Weightable:
        """The problem that paths climb on: some of the rows, where there are many.

        Weak effects are found by terms, and sets are compared on all rows.
        """
        if problem.table.n_rows <= CLIMBED_ROWS[left]:
            return problem
        some: Weightable = problem.on_sample(CLIMBED_ROWS[left])[0]
        return some

    def _settings(self) -> PathSettings:
        return PathSettings(self.max_iter, self.step_size, self.keep, tuple(self.narrowness))

    def _consider(
        self,
        outcome: Outcome,
        search: WeightingSearch,
        state: WeightingState,
        votes: Counter[FeatureSet],
        budget: Budget,
    ) -> None:
        """Take in the outcome of a restart, and say in the state whether the search can end."""
        scores = search.scores
        state.outcomes.append(outcome)
        votes[outcome.support] += 1
        if budget.spent():
            state.best = state.best or outcome.support
            state.reason, state.finished = StopReason.TIME_LIMIT, True
            return
        if state.best is None or scores.prefers(outcome.support, state.best):
            state.best = outcome.support
        if scores.score(state.best).loss < search.explored.best_loss + NEARLY:
            state.reason, state.finished = StopReason.PERFECT, True
        elif votes[state.best] >= self.agreement:
            state.reason = StopReason.AGREED

    def _refine(
        self,
        search: WeightingSearch,
        state: WeightingState,
        found: list[FeatureSet],
        budget: Budget,
        left: str,
    ) -> None:
        """Exchange features of the best sets for as long as it helps; few where nothing is left to find.

        Features that terms are certain of stay, where terms explain as much as kernels do.
        """
        scores = search.scores
        hints = NO_HINTS
        if search.terms is not None and scores.use_terms:
            hints = Hints(search.terms.promising(4 * self.exchange_width), search.terms.certain)
        width = 1 if left == "nothing" else self.exchange_width
        n_refined = 1 if left == "nothing" or self._is_large(search.explored) else self.n_refined

        def neighbours(supports: Sequence[FeatureSet]) -> list[list[FeatureSet]]:
            near = scores.neighbours(supports, search.explored.columns, width, hints)
            shortlists = [some[:SHORTLIST] for some in near]
            # The first of every shortlist is certainly requested, the others if those before do not help.
            scores.expect([s for some in zip_longest(*shortlists) for s in some if s is not None])
            scores.score_ahead([support for some in shortlists for support in some])
            return shortlists

        starts = sorted(found, key=lambda support: scores.score(support).loss)[:n_refined]
        limits = (budget.spent, self.max_exchanges)
        for refined in refine_by_exchanges(starts, neighbours, scores.prefers, *limits):
            assert state.best is not None
            if scores.prefers(refined, state.best):
                state.best = refined
        if budget.spent():
            state.reason = StopReason.TIME_LIMIT
