"""What a search may choose from, and the sets of all sizes that it found, with constraints or without."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.constraints import Constraints
from l1lsmi._numerics.terms.pool import by_single_effect
from l1lsmi.strategies.selection import StopReason


def selectable(problem: Any, constraints: Constraints | None) -> HostArray:
    """Columns that vary and may be selected."""
    columns: HostArray = problem.columns
    return columns if constraints is None else constraints.selectable(columns)


def in_pool(
    problem: Any,
    pool: int,
    k: int,
    constraints: Constraints | None,
    known: dict[bool, HostArray] | None = None,
) -> tuple[Any, Constraints | None]:
    """A problem, or its constraints, restricted to columns with the largest single effects.

    A pool that leaves nothing to choose has the columns with the largest trends: no search tells which of
    several shapes of an effect is one by chance.
    With constraints, it is restricted to the units of these columns, and those that an allowed set of ``k``
    needs; single effects are those beside covariates. Orders of the columns are kept in ``known``, by whether
    they are those of trends.
    """
    columns = selectable(problem, constraints)
    if pool >= columns.size:
        return problem, constraints
    given = None if constraints is None or not constraints.given.size else constraints.given
    known = {} if known is None else known
    trends = pool <= k
    if trends not in known:
        known[trends] = by_single_effect(problem.table, problem.target, columns, given, trends=trends)
    order = known[trends]
    if constraints is None:
        return problem.restricted_to(np.sort(order[:pool])), None
    strength = np.full(constraints.n_units, -1.0)
    np.maximum.at(strength, constraints.unit_of[order], np.arange(order.size, 0, -1.0))
    by_strength = np.argsort(-strength, kind="stable")
    sizes = np.cumsum([constraints.units[u].size for u in by_strength])
    usable = np.zeros(constraints.n_units, dtype=bool)
    usable[by_strength[: int(np.searchsorted(sizes, pool)) + 1]] = True
    usable[constraints.fill(strength, k)] = True
    return problem, constraints.restricted_to(usable)


def in_order_beyond(selection: Any, by_effect: HostArray, pool: int) -> Any:
    """A selection from a pool whose order goes on with the other columns, by falling single effects.

    Parameters
    ----------
    selection : Selection
    by_effect : numpy.ndarray of int
        All columns that may be selected, those of the pool first.
    pool : int
        Number of columns of the pool.

    Returns
    -------
    Selection
    """
    inside = np.isin(selection.order, by_effect[:pool])
    constant = np.setdiff1d(selection.order, by_effect)
    order = np.concatenate([selection.order[inside], by_effect[pool:], constant])
    ranking = np.ones(selection.ranking.size, dtype=selection.ranking.dtype)
    others = order[~selection.support[order]]
    ranking[others] = np.arange(2, others.size + 2)
    return replace(selection, order=order, ranking=ranking)


def set_of_size(selection: Any, j: int, constraints: Constraints | None) -> HostArray:
    """The columns of the set of ``j`` features or units, and covariates; of fewer where there are no more."""
    order: HostArray = selection.order
    if constraints is None:
        return order[:j]
    sizes = constraints.prefix_sizes(order)
    n_columns = 0 if j == 0 else sizes[min(max(j, len(constraints.forced)), sizes.size - 1)]
    return np.concatenate([order[:n_columns], constraints.given])


def set_beyond(selection: Any, j: int, columns: HostArray, constraints: Constraints | None) -> HostArray:
    """A set with the next columns of its order, up to ``j`` features or allowed units, and covariates."""
    order = selection.order[np.isin(selection.order, columns)]
    if constraints is None:
        return np.asarray(order[:j])
    units = constraints.unit_of[order]
    inside = constraints.fill(np.zeros(constraints.n_units), j, dict.fromkeys(units[units >= 0].tolist()))
    return np.concatenate([*(constraints.units[unit] for unit in inside), constraints.given])


def without_features(selection: Any) -> Any:
    """The same selection with no features."""
    m, nothing = selection.support.size, dict[str, Any](score=0.0, stop_reason=StopReason.NO_EVIDENCE)
    if hasattr(selection, "weights"):
        nothing |= {"weights": np.zeros(m), "estimate": 0.0, "radius": 0.0}
    order = np.concatenate([selection.order, np.setdiff1d(np.arange(m), selection.order)])
    ranking = np.empty(m, dtype=np.intp)
    ranking[order] = np.arange(2, m + 2)
    return replace(selection, support=np.zeros(m, dtype=bool), ranking=ranking, **nothing)


def without_covariates(selection: Any, validation: Any, n_features: int) -> tuple[Any, Any]:
    """A selection and its validation without the last columns, which are covariates."""
    changed: dict[str, Any] = {
        "support": selection.support[:n_features],
        "ranking": selection.ranking[:n_features],
        "path": tuple(_without(point, n_features) for point in selection.path),
    }
    for name in ("weights", "scores"):
        if hasattr(selection, name):
            changed[name] = getattr(selection, name)[:n_features]
    if validation is not None:
        validation = replace(validation, frequency=validation.frequency[:n_features])
    return replace(selection, **changed), validation


def _without(point: Any, n_features: int) -> Any:
    """A step, or what was found at a radius, without covariates."""
    inside = point.support < n_features
    changed: dict[str, Any] = {"support": point.support[inside], "size": int(inside.sum())}
    if hasattr(point, "weights"):
        changed["weights"] = point.weights[inside]
    return point._replace(**changed) if hasattr(point, "_replace") else replace(point, **changed)
