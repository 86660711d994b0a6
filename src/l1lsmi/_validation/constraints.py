"""Constraints on the selected set, from names, indices, masks and groups; and covariates."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from l1lsmi._arrays import HostArray, is_non_numpy, to_numpy
from l1lsmi._messages import suggestion
from l1lsmi._numerics.constraints import Constraints
from l1lsmi._validation.columns import Columns, is_frame, read_frame
from l1lsmi._validation.features import refuse_masked
from l1lsmi._validation.parameters import check_share
from l1lsmi._validation.target import is_missing

#: Parameters of every selector whose set can be constrained.
CONSTRAINT_PARAMETERS: dict[str, list[Any]] = {
    "must_include": ["array-like", None],
    "must_exclude": ["array-like", None],
    "feature_groups": ["array-like", dict, None],
    "max_per_group": [Interval(Integral, 1, None, closed="left"), dict, None],
    "costs": ["array-like", dict, None],
    "budget": [Interval(Real, 0, None, closed="neither"), None],
}
#: Those that have a meaning where features have scores that are not gains: no costs.
GROUP_PARAMETERS = {name: CONSTRAINT_PARAMETERS[name] for name in list(CONSTRAINT_PARAMETERS)[:4]}


def check_constraints(selector: Any, n_features: int, names: Sequence[str] | None) -> Constraints | None:
    """The constraints that a selector's parameters ask for; None where they ask for none.

    Parameters
    ----------
    selector : object
        Has the parameters of `CONSTRAINT_PARAMETERS`.
    n_features : int
    names : sequence of str or None
        Names of the features, where they have any.

    Returns
    -------
    Constraints or None
    """
    given = {name: getattr(selector, name, None) for name in CONSTRAINT_PARAMETERS}
    if all(value is None for value in given.values()):
        return None
    _check_combination(selector, given)
    include = _columns("must_include", given["must_include"], n_features, names)
    exclude = _columns("must_exclude", given["must_exclude"], n_features, names)
    both = np.intersect1d(include, exclude)
    if both.size:
        raise ValueError(
            f"must_include and must_exclude both name {_label(both[0], names)}: remove it from one of them."
        )
    groups = _groups(given["feature_groups"], n_features, names)
    costs = _costs(given["costs"], n_features, names)
    if given["max_per_group"] is None:
        found = _of_whole_groups(groups, include, exclude, costs, given["budget"], n_features)
    else:
        found = _of_limited_groups(groups, include, exclude, costs, given, n_features)
    return found if found.is_restrictive else None


def check_n_units(value: Any, constraints: Constraints) -> int | None:
    """How many units are asked for: None where their number is to be chosen.

    With a budget, the number is only limited by what it allows.
    """
    most, n_forced = constraints.max_size, len(constraints.forced)
    if isinstance(value, str):
        return None
    if constraints.has_budget:
        return most
    what = _unit_name(constraints)
    if isinstance(value, Integral):
        if int(value) < n_forced:
            raise ValueError(
                f"n_features_to_select={value!r} is less than the {n_forced} {what} of must_include: pass at "
                f"least {n_forced}."
            )
        if int(value) > most:
            raise ValueError(
                f"n_features_to_select={value!r} is more than the {most} {what} that the constraints allow: "
                f"pass at most {most}."
            )
        return int(value)
    return int(np.clip(check_share("n_features_to_select", value, constraints.n_units), n_forced or 1, most))


def check_covariates(covariates: Any, n_rows: int) -> HostArray | None:
    """Numbers of the covariates, one row for each row of X, (n, q); constant ones are left out.

    A category of a dataframe becomes indicators of its levels. None where nothing is left.
    """
    values = (
        _indicators_of(read_frame(covariates))
        if is_frame(covariates, "covariates")
        else _numbers_of(covariates)
    )
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or values.shape[0] != n_rows or values.shape[1] == 0:
        raise ValueError(
            f"covariates has shape {values.shape}, but X has {n_rows} rows: pass one row of numbers for "
            "each row of X."
        )
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            f"covariates has a missing or infinite value, first in row {row} of column {column}: drop or "
            "impute such values before fitting."
        )
    varying = np.ptp(values, axis=0) > 0
    return values[:, varying] if varying.any() else None


def _numbers_of(covariates: Any) -> HostArray:
    refuse_masked(covariates, "covariates")
    try:
        values = to_numpy(covariates) if is_non_numpy(covariates) else np.asarray(covariates)
        if values.dtype == object:
            known = [np.nan if is_missing(value) else value for value in values.ravel()]
            values = np.array(known).reshape(values.shape)
        if values.dtype.kind not in "fiubO":
            raise ValueError(f"they are of type {values.dtype}")
        return np.asarray(values.astype(np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f"covariates must be numbers, or a dataframe with categories: {error}.") from None


def _indicators_of(columns: Columns) -> HostArray:
    """Numbers as they are, and an indicator for each level of a category, 0 for all where it is missing."""
    parts = []
    for values, levels in zip(columns.x.T, columns.levels, strict=True):
        if levels is None:
            parts.append(values[:, None])
        else:
            parts.append((values[:, None] == np.arange(len(levels))).astype(np.float64))
    return np.hstack(parts) if parts else columns.x


def check_selectable(constraints: Constraints, varying: HostArray) -> None:
    """Check that some feature which may be selected varies."""
    if not (constraints.unit_of[varying[varying < constraints.n_columns]] >= 0).any():
        raise ValueError(
            "X has only constant columns among the features that the constraints allow: allow features that "
            "vary."
        )


def _check_combination(selector: Any, given: dict[str, Any]) -> None:
    """Check which parameters are given together."""
    if given["max_per_group"] is not None and given["feature_groups"] is None:
        raise ValueError(
            f"max_per_group={given['max_per_group']!r} is given, but feature_groups is None: pass the groups."
        )
    if given["costs"] is not None and given["budget"] is None:
        raise ValueError("costs is given, but budget is None: pass the largest allowed total cost as budget.")
    wanted = selector.n_features_to_select
    if given["budget"] is not None and wanted is not None and not isinstance(wanted, str):
        raise ValueError(
            f"budget={given['budget']!r} and n_features_to_select={wanted!r} are both given: pass one."
        )


def _label(column: int, names: Sequence[str] | None) -> str:
    return f"column {column}" if names is None else repr(str(names[column]))


def _unit_name(constraints: Constraints) -> str:
    return "features" if all(unit.size == 1 for unit in constraints.units) else "groups"


def _columns(parameter: str, value: Any, n_features: int, names: Sequence[str] | None) -> HostArray:
    """Columns from names, indices or a mask, in order."""
    if value is None:
        return np.empty(0, dtype=np.intp)
    items = list(to_numpy(value).ravel() if is_non_numpy(value) else value)
    if items and all(isinstance(item, bool | np.bool_) for item in items):
        if len(items) != n_features:
            raise ValueError(
                f"{parameter} is a mask of length {len(items)}, but X has {n_features} features: pass one "
                "True or False for each feature."
            )
        return np.flatnonzero(items)
    return np.unique([_column(parameter, item, n_features, names) for item in items]).astype(np.intp)


def _column(parameter: str, item: Any, n_features: int, names: Sequence[str] | None) -> int:
    if isinstance(item, str):
        if names is None:
            raise ValueError(
                f"{parameter} names {item!r}, but X has no column names: pass indices, or X as a dataframe."
            )
        found = np.flatnonzero(np.asarray(names, dtype=object) == item)
        if not found.size:
            near = suggestion(item, [str(name) for name in names])
            raise ValueError(f"{parameter} names {item!r}, but X has no such column: {near}")
        return int(found[0])
    if isinstance(item, bool | np.bool_) or not isinstance(item, Integral):
        raise ValueError(
            f"{parameter} has {item!r}, which is not a name or index of a column: pass names, indices or a "
            "mask."
        )
    if not 0 <= int(item) < n_features:
        raise ValueError(
            f"{parameter} has index {int(item)}, but X has {n_features} features: pass 0 to {n_features - 1}."
        )
    return int(item)


def _groups(value: Any, n_features: int, names: Sequence[str] | None) -> dict[Hashable, list[int]]:
    """Columns of every group that is given; other columns are in none."""
    if value is None:
        return {}
    if isinstance(value, dict):
        found: dict[Hashable, list[int]] = {}
        taken: dict[int, Hashable] = {}
        for group, members in value.items():
            one = [members] if isinstance(members, str | Integral) else members
            found[group] = _columns(f"feature_groups[{group!r}]", one, n_features, names).tolist()
            for column in found[group]:
                if column in taken:
                    raise ValueError(
                        f"feature_groups has {_label(column, names)} in the groups {taken[column]!r} and "
                        f"{group!r}: leave it in one of them."
                    )
                taken[column] = group
        return {group: columns for group, columns in found.items() if columns}
    labels = list(to_numpy(value) if is_non_numpy(value) else value)
    if len(labels) != n_features:
        raise ValueError(
            f"feature_groups has {len(labels)} labels, but X has {n_features} features: pass one for each."
        )
    by_label: dict[Hashable, list[int]] = {}
    for column, label in enumerate(labels):
        label = label.item() if isinstance(label, np.generic) else label
        if label is not None:
            by_label.setdefault(label, []).append(column)
    return by_label


def _costs(value: Any, n_features: int, names: Sequence[str] | None) -> HostArray:
    """A positive cost of every column."""
    if isinstance(value, dict):
        columns = [_column("costs", key, n_features, names) for key in value]
        costs, items = np.ones(n_features), _numbers(list(value.values()))
        costs[columns] = items
    elif value is None:
        costs = np.ones(n_features)
    else:
        costs = _numbers(list(to_numpy(value) if is_non_numpy(value) else value))
        if costs.shape != (n_features,):
            raise ValueError(
                f"costs has shape {costs.shape}, but X has {n_features} features: pass one cost for each."
            )
    wrong = np.flatnonzero(~(np.isfinite(costs) & (costs > 0)))
    if wrong.size:
        raise ValueError(
            f"costs has {costs[wrong[0]]} for {_label(wrong[0], names)}: pass a positive number for each "
            "feature."
        )
    return costs


def _numbers(values: list[Any]) -> HostArray:
    try:
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"costs must be positive numbers: {error}.") from None


def _of_whole_groups(
    groups: dict[Hashable, list[int]],
    include: HostArray,
    exclude: HostArray,
    costs: HostArray,
    budget: float | None,
    n_features: int,
) -> Constraints:
    """Constraints by which all columns of a group are in or out together."""
    group_of = {column: group for group, columns in groups.items() for column in columns}
    units = [[j] for j in range(n_features) if j not in group_of]
    names: list[Hashable] = [None] * len(units)
    units += list(groups.values())
    names += list(groups)
    order = sorted(range(len(units)), key=lambda u: min(units[u]))
    kept: list[list[int]] = []
    forced: list[int] = []
    wanted, unwanted = set(include.tolist()), set(exclude.tolist())
    for u in order:
        members = set(units[u])
        if members & wanted and members & unwanted:
            raise ValueError(
                f"must_include and must_exclude both have columns of the group {names[u]!r}, which is "
                "selected as a whole or not at all: remove it from one of them."
            )
        if members & unwanted:
            continue
        if members & wanted:
            forced.append(len(kept))
        kept.append(units[u])
    cost_of = np.array([costs[unit].sum() for unit in kept])
    limit = np.inf if budget is None else float(budget)
    _check_something_left(len(kept))
    _check_budget(cost_of, forced, limit)
    return Constraints.of(n_features, kept, forced=forced, costs=cost_of, budget=limit)


def _of_limited_groups(
    groups: dict[Hashable, list[int]],
    include: HostArray,
    exclude: HostArray,
    costs: HostArray,
    given: dict[str, Any],
    n_features: int,
) -> Constraints:
    """Constraints by which single columns are selected, of every group so many at most."""
    limits = _limits(given["max_per_group"], groups)
    group_of = np.full(n_features, len(groups), dtype=np.intp)
    for number, (group, columns) in enumerate(groups.items()):
        group_of[columns] = number
        n_forced = int(np.isin(include, columns).sum())
        if n_forced > limits[number]:
            raise ValueError(
                f"must_include has {n_forced} columns of the group {group!r}, but max_per_group allows "
                f"{limits[number]}: remove some of them, or raise the limit."
            )
    kept = np.setdiff1d(np.arange(n_features), exclude)
    forced = np.searchsorted(kept, include)
    limit = np.inf if given["budget"] is None else float(given["budget"])
    _check_something_left(kept.size)
    _check_budget(costs[kept], forced.tolist(), limit)
    return Constraints.of(
        n_features,
        [[int(j)] for j in kept],
        forced=forced,
        group_of=group_of[kept],
        most_of=np.array([*limits, n_features]),
        costs=costs[kept],
        budget=limit,
    )


def _limits(value: Any, groups: dict[Hashable, list[int]]) -> list[int]:
    """The most columns of every group."""
    if not isinstance(value, dict):
        return [int(value)] * len(groups)
    for group, limit in value.items():
        if group not in groups:
            raise ValueError(
                f"max_per_group names {group!r}, but feature_groups has no such group: pass groups of "
                "feature_groups."
            )
        if isinstance(limit, bool) or not isinstance(limit, Integral) or limit < 1:
            raise ValueError(
                f"max_per_group has {limit!r} for the group {group!r}: pass a whole number of at least 1; to "
                "leave a group out, use must_exclude."
            )
    return [int(value.get(group, len(columns))) for group, columns in groups.items()]


def _check_something_left(n_units: int) -> None:
    if n_units == 0:
        raise ValueError("must_exclude leaves no features to select from: exclude fewer features.")


def _check_budget(costs: HostArray, forced: list[int], budget: float) -> None:
    """Check that what has to be selected, or at least something, can be paid for."""
    needed = float(costs[forced].sum()) if forced else float(costs.min())
    if needed > budget * (1 + 1e-9):
        what = "must_include" if forced else "the cheapest feature"
        raise ValueError(f"budget={budget:g} is less than {needed:g}, the cost of {what}: raise the budget.")
