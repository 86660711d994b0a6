"""Rows that a search has not seen decide how many columns it may choose from, and how many it selects.

The rows are shuffled and cut into eight blocks. The first search sees four blocks, the next one five, then
six, then seven. The sets that a search finds are judged by how well they predict the target in all blocks
that this search has not seen (`_numerics/held_out`). With few rows, half of them may not show which features
act together. Sizes are then judged by eight searches, each of which sees all blocks but one.

The p-value of a search comes from the first block that it has not seen. If the target does not depend on the
features, this p-value is uniform given the rows of the blocks before. The four p-values are therefore
independent of each other, and can be combined.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._blas import single_threaded_blas
from l1lsmi._clock import Budget, while_time_is_left
from l1lsmi._numerics.constraints import Constraints
from l1lsmi._numerics.held_out import predicted_left_out
from l1lsmi._numerics.squared_loss.target_functions import TargetFunctions
from l1lsmi._numerics.terms.pool import chances_of_single_effects
from l1lsmi._progress import Progress
from l1lsmi._rows.table import is_large_sparse
from l1lsmi.strategies._base import Strategy
from l1lsmi.strategies._listening import StoppedByCallback, tell
from l1lsmi.strategies._parallel import cluster_of, computed
from l1lsmi.strategies._pieces import forget, part_of, recall_each
from l1lsmi.strategies._pools import in_order_beyond, in_pool, selectable, without_features
from l1lsmi.strategies._split_search import MAX_SEARCHED, SplitSearch, given
from l1lsmi.strategies._splits import make_blocks, make_splits, some_rows
from l1lsmi.strategies.judged import Judged, Validation, best_of, validations_of
from l1lsmi.strategies.selection import STOPPED, StopReason

#: Sizes of pools where columns outnumber rows, and how many columns at least they have for each feature that
#: is selected.
WIDE_POOLS = ((50, 2), (300, 6))
#: Elsewhere, how many columns they have for each feature that is selected, and which share of all at most.
NARROW_POOLS = (1, 3)
LARGEST_SHARE = 0.75
#: Number of features with which a pool is chosen, where their own number is chosen afterwards.
POOL_SIZE = 10
#: Up to so many rows, sizes are judged by searches that see all blocks of them but one.
FEW_ROWS = 200
#: Sets of at most so many features are judged at every size, larger ones at a few: by so many times the size
#: before, up to the largest set that is searched for and above it.
EVERY_SIZE = 12
LARGER = 1.2
MUCH_LARGER = 1.5
#: With a p-value of the search itself below this, unseen rows are not asked for one.
CLEAR = 1e-4
#: Share of a time limit that searches on parts of the rows may take.
SHARE = 0.6
#: With a number of features to choose, none are selected unless the p-value is below this.
STRONG_EVIDENCE = 0.02


def wide_pools(n_columns: int, k: int) -> list[int]:
    """Sizes of the pools to compare where columns outnumber rows; the last pool has all columns."""
    sizes = [max(size, least * k) for size, least in WIDE_POOLS]
    return [*(size for size in sizes if 2 * size <= n_columns), n_columns]


def narrow_pools(n_columns: int, k: int, n_units: int) -> list[int]:
    """The same where rows outnumber columns; the smallest pool has just enough columns for one set."""
    sizes = sorted({math.ceil(factor * k * n_columns / n_units) for factor in NARROW_POOLS})
    return [*(size for size in sizes if size <= LARGEST_SHARE * n_columns), n_columns]


def sizes_up_to(most: int, least: int = 0) -> HostArray:
    """Numbers of features whose sets are judged: 0, all small numbers from ``least`` on, some larger ones."""
    sizes = [0, least] if least else [0]
    searched = max(least, min(most, MAX_SEARCHED))
    while sizes[-1] < searched:
        last = sizes[-1]
        sizes.append(min(searched, last + 1 if last < EVERY_SIZE else max(last + 1, int(LARGER * last))))
    while sizes[-1] < most:
        sizes.append(min(most, math.ceil(MUCH_LARGER * sizes[-1])))
    return np.array(sizes)


def search_validated(
    bind: Any,
    strategy: Strategy,
    problem: Any,
    k: int | None,
    pool: int | str | None,
    *,
    budget: Budget,
    p_value: bool = True,
    groups: HostArray | None = None,
    seed: int = 0,
    constraints: Constraints | None = None,
) -> tuple[Any, Validation | None]:
    """Select features, and use unseen rows for decisions that need them.

    Unseen rows decide how many features are selected, if no number is given, and whether there is evidence of
    dependence. They also decide from how many columns the search may choose, if columns outnumber rows or the
    search itself has not found clear effects.

    Parameters
    ----------
    bind : callable
        ``bind(problem, rows)`` gives the problem on some rows, in memory.
    strategy : Strategy
    problem : MeasureProblem
    k : int or None
        Number of features; None if unseen rows choose it.
    pool : int, "auto" or None
        Number of columns with the largest single effects that the search may choose from; None for all.
    budget : Budget
        The clock, which runs already.
    p_value : bool
        Whether a p-value is computed from unseen rows if they have nothing else to decide.
    groups : numpy.ndarray of int, shape (n,) or None
    seed : int
    constraints : Constraints or None
        Which sets are allowed; numbers of features then count units: single features or groups.

    Returns
    -------
    selection : Selection
    validation : Validation or None
        None if nothing was decided by unseen rows.
    """
    task = _Task(bind, strategy, problem, groups, seed, constraints)
    n_columns = selectable(problem, constraints).size
    n_units = n_columns if constraints is None else constraints.max_size
    least = 0 if constraints is None else len(constraints.forced)
    # Without more rows than features, little can be learned from all of them.
    most = max(least, min(n_units, max(MAX_SEARCHED, problem.table.n_rows))) if k is None else k
    pools = [n_columns]
    if isinstance(pool, Integral):
        wanted = min(most, MAX_SEARCHED) if k is None else k
        wanted = wanted if constraints is None or not constraints.has_budget else least
        pools = [min(max(int(pool), wanted), n_columns)]
    elif pool == "auto" and strategy.compares_pools and n_columns > problem.table.n_rows:
        pools = wide_pools(n_columns, k or POOL_SIZE)
    # Where rows outnumber columns, pools depend on the number of features.
    narrow = len(pools) == 1 and pool == "auto" and strategy.has_p_value
    if k is not None and len(pools) == 1:
        pools = narrow_pools(n_columns, k, n_units) if narrow else pools
        asked = strategy.has_p_value and (p_value or len(pools) > 1)
        return _search_narrow(task, pools, k, budget, asked=asked)
    limit = budget.part(SHARE)
    few = problem.table.n_rows <= FEW_ROWS
    try:
        found = None
        if len(pools) > 1:
            size = max(least, min(k or POOL_SIZE, n_units))
            found = _best(task.judge(np.array([0, size]), pools, limit))
        if k is None and (found is not None or len(pools) == 1):
            pools_left, tested = (pools, True) if found is None else ([found.best_pool], False)
            sizes = sizes_up_to(max(least, min(most, pools_left[0])), least)
            of_sizes = task.judge(sizes, pools_left, limit, tested=tested, left_out=few)
            found = _joined(found, _best(of_sizes))
    except (KeyboardInterrupt, StoppedByCallback) as error:
        budget.cancelled = True
        selection = task.search(pools[0], k or max(least, min(POOL_SIZE, most)), budget)
        return replace(selection, stop_reason=_reason(error)), None
    best_pool = pools[0] if found is None else found.best_pool
    chosen = k or max(least, min(POOL_SIZE, most))
    nothing = False
    if k is None and found is not None:
        nothing = found.best_k == 0 or found.p_value >= STRONG_EVIDENCE
        chosen = (least or chosen) if nothing else found.best_k
    if k is None and (nothing or found is None) and is_large_sparse(problem.table):
        # A sample of the rows may have none of those in which rare values of the target and of columns meet.
        n_clear = np.count_nonzero(chances_of_single_effects(problem.table, problem.target) < CLEAR)
        if n_clear:
            most = min(most, MAX_SEARCHED)
            return task.search(best_pool, max(least, min(int(n_clear), most)), budget), None
    if narrow and found is not None and not nothing:
        pools = narrow_pools(n_columns, chosen, n_units)
        selection, of_pools = _search_narrow(task, pools, chosen, budget, asked=len(pools) > 1, tested=False)
        if of_pools is not None:
            found = replace(_with_pools_of(found, of_pools), frequency=of_pools.frequency)
    else:
        selection = task.search(best_pool, chosen, budget)
    if k is None and selection.stop_reason == StopReason.NOTHING_TO_CHOOSE:
        selection = replace(selection, stop_reason=StopReason.ALL_CHOSEN)
    if limit.spent() and selection.stop_reason not in STOPPED:
        selection = replace(selection, stop_reason=StopReason.TIME_LIMIT)
    if nothing and least:
        return replace(selection, stop_reason=StopReason.NO_EVIDENCE), found
    return (without_features(selection) if nothing else selection), found


@dataclass(frozen=True)
class _Task:
    """What is searched, and how: the arguments of `search_validated` that its steps share."""

    bind: Any
    strategy: Strategy
    problem: Any
    groups: HostArray | None
    seed: int
    constraints: Constraints | None

    def search(self, pool: int, k: int, budget: Budget) -> Any:
        """Search on all rows, among the columns with the largest single effects."""
        problem, constraints, by_effect = self.problem, self.constraints, dict[bool, HostArray]()
        # Where there is no time for that, there is none for a search among all columns either.
        with while_time_is_left(budget):
            problem, constraints = in_pool(problem, pool, k, constraints, by_effect)
        with part_of("pool", pool):
            selection = self.strategy.search(problem, k, budget, **given(constraints))
        if problem is self.problem:
            return selection
        (columns,) = by_effect.values()
        selection = in_order_beyond(selection, columns, pool)
        if selection.stop_reason == StopReason.NOTHING_TO_CHOOSE:
            selection = replace(selection, stop_reason=StopReason.WHOLE_POOL)
        if self.strategy.has_p_value and is_large_sparse(self.problem.table):
            # That of the search is for columns of the pool alone, and for sums over many rows of each kind.
            chances = chances_of_single_effects(self.problem.table, self.problem.target)
            selection = replace(selection, p_value=float(chances.min()))
        return selection

    def judge(
        self, sizes: HostArray, pools: Sequence[int], budget: Budget, **options: bool
    ) -> list[Validation] | None:
        """Search on parts of the rows, and judge the resulting sets on the other rows."""
        return validate(
            self.bind,
            self.strategy,
            self.problem,
            sizes,
            pools,
            groups=self.groups,
            seed=self.seed,
            budget=budget,
            constraints=self.constraints,
            **options,
        )

    def predicted_left_out(self, selection: Any) -> float:
        """Share of the target's variance that a set predicts in rows, or in groups, that are left out."""
        columns = np.flatnonzero(selection.support)
        if self.constraints is not None:
            columns = np.union1d(columns, self.constraints.given)
        rng = np.random.default_rng((self.seed, 7))
        problem, rows = _some_in_memory(self.problem, self.groups, self.bind, rng)
        blocks = None if self.groups is None else make_blocks(problem.target, self.groups[rows], rng)
        functions = TargetFunctions.of(problem.target, rng).of_rows(problem.target)
        values = to_numpy(problem.table.points(np.arange(problem.table.n_rows), columns).values)
        return predicted_left_out(values, functions, problem.target.row_weights, blocks)


def _search_narrow(
    task: _Task, pools: Sequence[int], k: int, budget: Budget, *, asked: bool, tested: bool = True
) -> tuple[Any, Validation | None]:
    """Search for k features where rows outnumber columns; unless effects are clear, unseen rows are asked.

    Searches on half of the rows favour small pools, as one on all rows finds more; predictions of rows left
    out favour large ones, as the set was chosen by all rows. The sum of both shares decides.
    """
    selection = task.search(pools[-1], k, budget)
    if not asked or selection.p_value < CLEAR or selection.stop_reason in STOPPED:
        return selection, None
    n_units = pools[-1] if task.constraints is None else task.constraints.max_size
    try:
        sizes = np.array([0, min(k, n_units)])
        validations = task.judge(sizes, pools, budget.part(1.0), tested=tested)
    except (KeyboardInterrupt, StoppedByCallback) as error:
        return replace(selection, stop_reason=_reason(error)), None
    if validations is None:  # the time is out, or rows are too few to be split
        reason = StopReason.TIME_LIMIT if budget.spent() else selection.stop_reason
        return replace(selection, stop_reason=reason), None
    found = validations[-1]
    best, highest = -math.inf, -math.inf
    for pool, validation in zip(reversed(pools), reversed(validations), strict=True):
        unseen = float(validation.mean[-1])
        # A set from a smaller pool is no better in rows that it was chosen by: it must be in unseen ones.
        if unseen <= highest or budget.spent():
            continue
        highest = unseen
        other = selection if pool == pools[-1] else task.search(pool, k, budget)
        if len(pools) == 1 or other.stop_reason in STOPPED:
            break
        value = unseen + task.predicted_left_out(other)
        if value > best:
            best, selection, found = value, other, validation
    if budget.spent():  # there are fewer splits, or pools, than there would be
        selection = replace(selection, stop_reason=StopReason.TIME_LIMIT)
    return selection, found


def _some_in_memory(
    problem: Any, groups: HostArray | None, bind: Any, rng: np.random.Generator
) -> tuple[Any, HostArray]:
    """The problem on all rows, or on some of many, in memory; and which rows these are."""
    rows = some_rows(problem.target, groups, rng)
    if rows.size < problem.table.n_rows or not problem.table.in_memory:
        problem = bind(problem, rows)
    return problem, rows


def _best(validations: Sequence[Validation] | None) -> Validation | None:
    """That of the best pool, where there was time for any."""
    return None if validations is None else best_of(validations)


def _reason(error: BaseException) -> str:
    """Why searches on parts of the rows ended."""
    return StopReason.CALLBACK if isinstance(error, StoppedByCallback) else StopReason.INTERRUPTED


def _joined(of_pools: Validation | None, of_sizes: Validation | None) -> Validation | None:
    """The choice of a number of features after that of a pool, which has the p-value."""
    if of_pools is None or of_sizes is None:
        return of_sizes
    return replace(_with_pools_of(of_sizes, of_pools), p_value=of_pools.p_value)


def _with_pools_of(found: Validation, of_pools: Validation) -> Validation:
    """The same judgement of sizes, with the choice of a pool."""
    kept = {name: getattr(of_pools, name) for name in ("pool", "pool_mean", "best_pool")}
    return replace(found, **kept)


def validate(
    bind: Any,
    strategy: Strategy,
    problem: Any,
    sizes: HostArray,
    pools: Sequence[int],
    *,
    groups: HostArray | None,
    seed: int,
    budget: Budget,
    constraints: Constraints | None = None,
    tested: bool = True,
    left_out: bool = False,
) -> list[Validation] | None:
    """Search on parts of the rows, and judge the resulting sets on the other rows.

    Parameters
    ----------
    bind : callable
        ``bind(problem, rows)`` gives the problem on some rows, in memory.
    strategy : Strategy
    problem : MeasureProblem
        On all rows.
    sizes : numpy.ndarray of int
        Numbers of features, beginning with 0.
    pools : sequence of int
        Numbers of columns to choose from.
    groups : numpy.ndarray of int, shape (n,) or None
        Rows of a group are never split.
    seed : int
    budget : Budget
    constraints : Constraints or None
    tested : bool
        Whether the p-value is wanted.
    left_out : bool
        Whether sizes are judged by searches that see all blocks of rows but one.

    Returns
    -------
    list of Validation or None
        One for each pool; None if there was no time for any split, or too few rows to split.
    """
    rng = np.random.default_rng((seed, 7))
    problem, rows = _some_in_memory(problem, groups, bind, rng)
    groups = None if groups is None else groups[rows]
    splits = make_splits(problem.target, groups, rng, tested=tested, left_out=left_out)
    functions = TargetFunctions.of(problem.target, rng).of_rows(problem.target)
    quick = strategy.quick()
    quick.orders_features = sizes.size > 2
    judge = SplitSearch(bind, quick, functions, sizes, budget, constraints)
    effects: list[dict[bool, HostArray]] = [{} for _ in splits]
    items = [(split, pool, known) for split, known in zip(splits, effects, strict=True) for pool in pools]
    # A cluster works on the restarts of each search.
    n_jobs = getattr(strategy, "n_jobs", None)

    def compute(some: Iterator[Any]) -> Iterator[Judged | None]:
        if cluster_of(problem) is not None:
            return (judge(problem, item) for item in some)
        return computed(judge, problem, some, n_jobs)

    judged = recall_each("judged", sizes, items, compute, budget, judge.key)
    found: list[Judged] = []
    with (
        single_threaded_blas(),
        Progress(len(items), getattr(strategy, "verbose", 0), "search", "testing on unseen rows") as progress,
    ):
        for item, one in zip(items, judged, strict=True):
            if one is None:
                break
            found.append(one)
            forget("part of the rows", [sizes, judge.key(item)])
            progress.advance()
            if budget.spent():
                break
            if tell(one.sets[-1], np.nan):
                raise StoppedByCallback
    n_splits = len(found) // len(pools)
    if n_splits == 0:
        return None
    if n_splits < len(splits):  # then all that there are judge
        splits = [split._replace(judges=True) for split in splits[:n_splits]]
    results = [found[i * len(pools) : (i + 1) * len(pools)] for i in range(n_splits)]
    weights = problem.target.row_weights
    least = 0 if constraints is None else len(constraints.forced)
    beside = constraints is not None and constraints.given.size > 0
    found_in = (results, splits, functions, sizes, pools, groups, weights, problem.n_features, rng)
    return validations_of(*found_in, least=least, beside=beside)
