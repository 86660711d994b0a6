"""Rows that a search has not seen decide how many columns it may choose from, and how many it selects.

The rows are shuffled and cut into eight blocks. The first search sees the first half of them, the next one
five blocks, then six, then seven. The sets that they find are judged by how well they predict the target in
all blocks that the search has not seen (`_numerics/held_out`). Half of few rows may not show which features
act together: there, sizes are judged by searches that see all blocks but one, each block in turn.

The p-value comes from the block next to those that a search has seen: given the rows before it, the p-value
of a block is uniform where the target does not depend on the features, so that the four p-values are
independent of each other, and can be combined.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._blas import single_threaded_blas
from l1lsmi._clock import Budget, check_time, while_time_is_left
from l1lsmi._numerics.constraints import Constraints
from l1lsmi._numerics.held_out import predict_unseen
from l1lsmi._numerics.squared_loss.target_functions import TargetFunctions
from l1lsmi._numerics.terms.pool import chances_of_single_effects
from l1lsmi._progress import Progress
from l1lsmi._rows.table import is_large_sparse
from l1lsmi.strategies._base import Strategy
from l1lsmi.strategies._listening import StoppedByCallback, heard_by, tell
from l1lsmi.strategies._parallel import cluster_of, computed
from l1lsmi.strategies._pieces import forget, part_of, recall_each
from l1lsmi.strategies._pools import in_pool, selectable, set_of_size, without_features
from l1lsmi.strategies._splits import Split, make_splits, some_rows
from l1lsmi.strategies.judged import Judged, Validation, summary
from l1lsmi.strategies.selection import STOPPED, StopReason

#: Sizes of pools, and how many features at least they have for each that is selected.
POOLS = ((50, 2), (300, 6))
#: Features at most that their number is chosen from, and how many there are where a pool is chosen first.
MAX_SELECTED = 40
POOL_SIZE = 10
#: Up to so many rows, sizes are judged by searches that see all blocks of them but one.
FEW_ROWS = 200
#: Sets of at most so many features are judged at every size, larger ones at a few.
EVERY_SIZE = 12
LARGER = 1.2
#: With a p-value of the search itself below this, unseen rows are not asked for one.
CLEAR = 1e-4
#: Share of a time limit that searches on parts of the rows may take.
SHARE = 0.6
#: With a number of features to choose, none are selected unless the p-value is below this.
STRONG_EVIDENCE = 0.02


def pool_sizes(n_columns: int, k: int) -> list[int]:
    """Numbers of columns that a search may be restricted to, all of them last."""
    sizes = [max(size, least * k) for size, least in POOLS]
    return [*(size for size in sizes if 2 * size <= n_columns), n_columns]


def sizes_up_to(most: int, least: int = 0) -> HostArray:
    """Numbers of features whose sets are judged: none, small ones from the least, then fewer and fewer."""
    sizes = [0, least] if least else [0]
    while sizes[-1] < most:
        last = sizes[-1]
        sizes.append(min(most, last + 1 if last < EVERY_SIZE else max(last + 1, int(LARGER * last))))
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
    """Select features, with unseen rows where they have something to decide.

    They decide how many columns the search may choose from where columns outnumber rows, how many
    features are selected where no number is given, and whether there is evidence of dependence where the
    search itself has not found clear effects.

    Parameters
    ----------
    bind : callable
        ``bind(problem, rows)`` gives the problem on some rows, in memory.
    strategy : Strategy
    problem : MeasureProblem
    k : int or None
        None chooses the number of features.
    pool : int, "auto" or None
        Number of columns with the largest single effects that the search may choose from; None is all.
    budget : Budget
        The clock, which runs already.
    p_value : bool
        Whether unseen rows are asked for a p-value where that is all that they have to decide.
    groups : numpy.ndarray of int, shape (n,) or None
    seed : int
    constraints : Constraints or None
        Which sets are allowed; numbers of features are then numbers of their units.

    Returns
    -------
    selection : Selection
    validation : Validation or None
        None where unseen rows had nothing to decide.
    """
    n_columns = selectable(problem, constraints).size
    n_units = n_columns if constraints is None else constraints.max_size
    least = 0 if constraints is None else len(constraints.forced)
    most = max(least, min(n_units, MAX_SELECTED)) if k is None else k
    pools = [n_columns]
    if pool == "auto" and strategy.compares_pools and n_columns > problem.table.n_rows:
        pools = pool_sizes(n_columns, k or POOL_SIZE)
    elif isinstance(pool, Integral):
        wanted = most if constraints is None or not constraints.has_budget else least
        pools = [min(max(int(pool), wanted), n_columns)]
    options: dict[str, Any] = {"groups": groups, "seed": seed, "constraints": constraints}
    search = partial(_search_in_pool, strategy, problem, constraints)
    if k is not None and len(pools) == 1:
        selection = search(pools[0], k, budget)
        asked = p_value and strategy.has_p_value and selection.p_value >= CLEAR
        if not asked or selection.stop_reason in STOPPED:
            return selection, None
        sizes = np.array([0, min(k, n_units)])
        try:
            found = validate(bind, strategy, problem, sizes, pools, budget=budget.part(1.0), **options)
        except (KeyboardInterrupt, StoppedByCallback) as error:
            return replace(selection, stop_reason=_reason(error)), None
        if budget.spent():  # there are fewer splits than there would be
            selection = replace(selection, stop_reason=StopReason.TIME_LIMIT)
        return selection, found
    limit = budget.part(SHARE)
    judge: Any = partial(validate, bind, strategy, problem, budget=limit, **options)
    left_out = problem.table.n_rows <= FEW_ROWS
    try:
        found = None
        if len(pools) > 1:
            found = judge(np.array([0, max(least, min(k or POOL_SIZE, n_units))]), pools)
        if k is None and (found is not None or len(pools) == 1):
            pools_left, tested = (pools, True) if found is None else ([found.best_pool], False)
            of_sizes = judge(sizes_up_to(most, least), pools_left, tested=tested, left_out=left_out)
            found = _joined(found, of_sizes)
    except (KeyboardInterrupt, StoppedByCallback) as error:
        budget.cancelled = True
        selection = search(pools[0], k or max(least, min(POOL_SIZE, most)), budget)
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
            return search(best_pool, max(least, min(int(n_clear), most)), budget), None
    selection = search(best_pool, chosen, budget)
    if limit.spent() and selection.stop_reason not in STOPPED:
        selection = replace(selection, stop_reason=StopReason.TIME_LIMIT)
    if nothing and least:
        return replace(selection, stop_reason=StopReason.NO_EVIDENCE), found
    return (without_features(selection) if nothing else selection), found


def _reason(error: BaseException) -> str:
    """Why searches on parts of the rows ended."""
    return StopReason.CALLBACK if isinstance(error, StoppedByCallback) else StopReason.INTERRUPTED


def _joined(of_pools: Validation | None, of_sizes: Validation | None) -> Validation | None:
    """The choice of a number of features after that of a pool, which has the p-value."""
    if of_pools is None or of_sizes is None:
        return of_sizes
    kept = {name: getattr(of_pools, name) for name in ("pool", "pool_mean", "best_pool", "p_value")}
    return replace(of_sizes, **kept)


def _search_in_pool(
    strategy: Strategy, problem: Any, constraints: Constraints | None, pool: int, k: int, budget: Budget
) -> Any:
    """Search among the columns with the largest single effects."""
    whole = problem
    # Where there is no time for that, there is none for a search among all columns either.
    with while_time_is_left(budget):
        problem, constraints = in_pool(problem, pool, k, constraints)
    with part_of("pool", pool):
        selection = _search(strategy, problem, k, budget, constraints)
    if pool < whole.columns.size and strategy.has_p_value and is_large_sparse(whole.table):
        # That of the search is for the columns of the pool alone, and for sums over many rows of each kind.
        chances = chances_of_single_effects(whole.table, whole.target)
        selection = replace(selection, p_value=float(chances.min()))
    return selection


def _search(strategy: Strategy, problem: Any, k: int, budget: Budget, constraints: Constraints | None) -> Any:
    # Strategies of others may know nothing of constraints.
    given = {} if constraints is None else {"constraints": constraints}
    return strategy.search(problem, k, budget, **given)


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
) -> Validation | None:
    """Search on parts of the rows, and judge what is found by the others.

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
    Validation or None
        None where the time limit left no split.
    """
    rng = np.random.default_rng((seed, 7))
    rows = some_rows(problem.target, groups, rng)
    if rows.size < problem.table.n_rows or not problem.table.in_memory:
        problem = bind(problem, rows)
    groups = None if groups is None else groups[rows]
    splits = make_splits(problem.target, groups, rng, tested=tested, left_out=left_out)
    functions = TargetFunctions.of(problem.target, rng).of_rows(problem.target)
    quick = strategy.quick()
    quick.orders_features = sizes.size > 2
    judge = partial(
        _judge,
        bind=bind,
        strategy=quick,
        functions=functions,
        sizes=sizes,
        budget=budget,
        constraints=constraints,
    )
    effects: list[dict[int, HostArray]] = [{} for _ in splits]
    items = [(split, pool, known) for split, known in zip(splits, effects, strict=True) for pool in pools]
    # A cluster works on the restarts of each search.
    n_jobs = getattr(strategy, "n_jobs", None)

    def compute(some: Iterator[Any]) -> Iterator[Judged | None]:
        if cluster_of(problem) is not None:
            return (judge(problem, item) for item in some)
        return computed(judge, problem, some, n_jobs)

    judged = recall_each("judged", sizes, items, compute, budget, _key)
    found: list[Judged] = []
    with (
        single_threaded_blas(),
        Progress(len(items), getattr(strategy, "verbose", 0), "search", "testing on unseen rows") as progress,
    ):
        for item, one in zip(items, judged, strict=True):
            if one is None:
                break
            found.append(one)
            forget("part of the rows", [sizes, _key(item)])
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
    given = (results, splits, functions, sizes, pools, groups, weights, problem.n_features, rng)
    return summary(*given, least=least, beside=beside)


def _judge(
    problem: Any,
    item: tuple[Split, int, dict[int, HostArray]],
    *,
    bind: Any,
    strategy: Strategy,
    functions: HostArray,
    sizes: HostArray,
    budget: Budget,
    constraints: Constraints | None = None,
) -> Judged | None:
    """Search on the seen rows of a split, and predict the unseen ones from sets of all sizes."""
    if budget.spent():
        return None
    # The time that is left, in the budget of the thread that this runs in.
    budget = Budget(budget.left())
    parts = part_of("part of the rows", [sizes, _key(item)])
    with while_time_is_left(budget), parts, heard_by(None):
        return _judged(problem, item, bind, strategy, functions, sizes, budget, constraints)
    return None


def _key(item: tuple[Split, int, dict[int, HostArray]]) -> Any:
    """What a part of the rows and a pool are known by."""
    return [item[0].seen, item[0].unseen, item[1]]


def _judged(
    problem: Any,
    item: tuple[Split, int, dict[int, HostArray]],
    bind: Any,
    strategy: Strategy,
    functions: HostArray,
    sizes: HostArray,
    budget: Budget,
    constraints: Constraints | None,
) -> Judged:
    split, pool, known = item
    some, allowed = in_pool(bind(problem, split.seen), pool, int(sizes[-1]), constraints, known)
    most = int(sizes[-1]) if allowed is not None else min(int(sizes[-1]), some.columns.size)
    least = 0 if allowed is None else len(allowed.forced)
    several = sizes.size > 2
    searched = [*(n for n in strategy.searched_sizes if several and least <= n < most), most]
    sets: list[HostArray] = []
    for size in searched:
        wanted = max(least, strategy.size_for_order(size)) if several else size
        ordering = copy(strategy)
        ordering.orders_down_to = int(sizes[len(sets) - 1]) if sets else 1
        selection = _search(ordering, some, wanted, budget, allowed)
        if selection.stop_reason == StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        # Sizes in between come from the order of the next larger set.
        sets += [set_of_size(selection, j, allowed) for j in sizes[len(sets) :] if j <= size]
    if allowed is not None and not several:  # with a budget, a set may have fewer
        sets[-1] = np.concatenate([np.flatnonzero(selection.support), allowed.given])
    sets += [sets[-1]] * (sizes.size - len(sets))  # of columns that vary there are no more
    used = np.unique(np.concatenate(sets))
    values = to_numpy(problem.table.points(np.arange(problem.table.n_rows), used).values)
    places = [problem.table.places_of(used, one) for one in sets]
    seen, unseen = values[split.seen], values[split.unseen]
    of_seen = functions[split.seen]
    weights = problem.target.rows_of(split.seen).row_weights
    predictions = []
    for one in places:
        check_time()
        predictions.append(predict_unseen(seen[:, one], of_seen, unseen[:, one], weights))
    return Judged(sets, np.array(predictions))
