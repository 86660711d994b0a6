"""Sections of a report as JSON data, from the explanations of a selection."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target
from l1lsmi.explain import Contributions, Interactions, Redundancy, Rejected, ScoreBySize
from l1lsmi.explain._evidence import (
    curve_of,
    evidence,
    has_evidence,
    how_many,
    told_dispensable,
    told_stop_reason,
)
from l1lsmi.report._feature_index import FeatureIndex
from l1lsmi.report._names import printable
from l1lsmi.report._numbers import number, numbers, unbroken
from l1lsmi.report._pair_plots import pair_plots
from l1lsmi.report._values import ShownColumn

#: Largest numbers of table rows.
MAX_SELECTED = 100
MAX_IN_SET = 60
MAX_PAIRS = 40
MAX_COLUMNS = 300
#: Largest ranking that is part of the page, in features and in characters.
MAX_RANKED = 2000
MAX_CHARACTERS = 100_000
LEVELS = re.compile(r" with \d+ levels?$")


def selected_section(
    selector: Any, contributions: Contributions | None, index: FeatureIndex, n_rows: int
) -> dict[str, Any]:
    """The selected features with their weights and contributions, and what unseen rows say about them."""
    weights, known = index.weights, {}
    if contributions is not None:
        known = {int(j): place for place, j in enumerate(contributions.columns)}
    rows = [
        {
            "id": index.add(j),
            "weight": None if weights is None else number(weights[j]),
            **contribution_of(contributions, known.get(j)),
        }
        for j in index.selected[:MAX_SELECTED]
    ]
    has_weights = weights is not None
    return {
        "n_selected": len(index.selected),
        "p_value": number(getattr(selector, "p_value_", None)),
        "has_evidence": has_evidence(selector),
        "evidence": unbroken(evidence(selector) or "") or None,
        "how_many": unbroken(how_many(selector) or "") or None,
        "dispensable": unbroken(told_dispensable(selector, contributions) or "") or None,
        "stop_reason": told_stop_reason(selector),
        "has_weights": has_weights,
        "weights_missing": not has_weights and hasattr(selector, "weights_"),
        "rows": rows,
        "n_left_out": len(index.selected) - len(rows),
        "n_rows": n_rows if contributions is None else contributions.n_rows,
    }


def contribution_of(contributions: Contributions | None, place: int | None) -> dict[str, float | None]:
    """What is known about the contribution of one feature."""
    if contributions is None or place is None:
        return dict.fromkeys(("contribution", "standard_error", "alone", "frequency"))
    frequency = contributions.frequency
    return {
        "contribution": number(contributions.lost[place]),
        "standard_error": number(contributions.standard_error[place]),
        "alone": number(contributions.alone[place]),
        "frequency": None if frequency is None else number(frequency[place]),
    }


def sizes_section(curve: ScoreBySize, index: FeatureIndex) -> dict[str, Any]:
    """The set and the score of each size."""
    sets = zip(curve.sets, curve.scores, [None] * curve.sizes.size, strict=True)
    return _sizes(sets, index, unseen=False, n_rows=curve.n_rows)


def unseen_section(selector: Any, index: FeatureIndex, n_rows: int) -> dict[str, Any] | None:
    """The set of each size, and what such sets predict in unseen rows; None where sizes are not compared."""
    validation = curve_of(selector)
    if validation is None:
        return None
    sizes = getattr(selector, "order_sizes_", None)  # with constraints, k may count groups
    ends = validation.k if sizes is None else np.maximum(sizes[np.minimum(validation.k, sizes.size - 1)], 0)
    columns = [selector.order_[:k] for k in ends]
    sets = zip(columns, validation.mean, validation.standard_error, strict=True)
    return _sizes(sets, index, unseen=True, n_rows=n_rows)


def _sizes(
    sets: Iterable[tuple[HostArray, float, float | None]], index: FeatureIndex, *, unseen: bool, n_rows: int
) -> dict[str, Any]:
    listed = []
    for columns, score, error in sets:
        ids, n_left_out = index.add_first(columns, MAX_IN_SET)
        numbered = {"size": int(columns.size), "score": number(score), "error": number(error)}
        listed.append({**numbered, "ids": ids, "n_left_out": n_left_out})
    return {"unseen": unseen, "sets": listed, "asked": len(index.selected), "n_rows": n_rows}


def redundancy_section(found: Redundancy, index: FeatureIndex) -> dict[str, Any]:
    """Features that are not selected, with reasons, and the redundancy of the selected ones."""
    rejected = [
        {
            "id": index.add(feature.column),
            "kind": feature.kind,
            "reason": _short_reason(feature),
            "nearest": index.add(feature.nearest),
            "shared": number(feature.smi),
            "correlation": number(feature.correlation),
            "alone": number(feature.alone),
            "gain": number(feature.gain),
        }
        for feature in found.rejected
    ]
    return {
        "rejected": rejected,
        "n_left_out": int(found.n_rejected_in) - len(rejected),
        "n_rows": found.n_rows,
        **_matrix(found.columns, found.smi, index),
    }


def _short_reason(feature: Rejected) -> str:
    """The reason without the name of the feature, which the table shows beside it."""
    reason = feature.reason.removeprefix(feature.name).removeprefix(" is not selected because")
    return reason.strip()


def interactions_section(
    found: Interactions,
    index: FeatureIndex,
    column_of: Callable[[int], ShownColumn],
    target: Target,
    *,
    plotted: bool,
) -> dict[str, Any] | None:
    """Interactions of pairs, and plots of the strongest ones where asked for; None for a single feature."""
    if found.columns.size < 2:
        return None
    # Below 0 there is no more than chance.
    matrix = _matrix(found.columns, np.maximum(found.z, 0.0), index)
    pairs = matrix["pairs"]
    n_pairs = len(pairs) + matrix["n_pairs_left_out"]
    return {
        "n_rows": found.n_rows_in,
        "n_left_out": len(index.selected) - int(found.columns.size),
        **matrix,
        "plots": pair_plots(column_of, target, pairs if plotted else [], n_pairs),
    }


def _matrix(columns: HostArray, matrix: HostArray, index: FeatureIndex) -> dict[str, Any]:
    """A symmetric matrix in the order of the weights, and a list of its largest entries."""
    ids, _ = index.add_first(columns, columns.size)
    place = {int(j): i for i, j in enumerate(columns)}
    order = [place[j] for j in ids]
    matrix = np.array(matrix, dtype=np.float64)[np.ix_(order, order)]
    np.fill_diagonal(matrix, np.nan)
    first, second = np.triu_indices(len(ids), 1)
    values = matrix[first, second]
    strongest = np.argsort(-np.abs(values), kind="stable")[:MAX_PAIRS]
    pairs = [{"a": ids[first[p]], "b": ids[second[p]], "value": number(values[p])} for p in strongest]
    return {
        "ids": ids,
        "matrix": numbers(matrix, 4),
        "pairs": pairs,
        "n_pairs_left_out": int(values.size) - len(pairs),
    }


def columns_section(table: Any, index: FeatureIndex) -> dict[str, Any] | None:
    """How the columns of the file were used."""
    if table is None:
        return None
    names = getattr(table, "feature_names", None)
    selected = set() if names is None else {names[j] for j in index.selected}
    # Categories are one kind, whatever their number of levels.
    counts = Counter(printable(LEVELS.sub("", column.used_as), 80) for column in table.columns)
    listed = [
        {
            "name": printable(column.name),
            "kind": str(column.kind),
            "n_missing": int(column.n_missing),
            "used_as": printable(column.used_as),
            "chosen": column.name in selected,
        }
        for column in table.columns[:MAX_COLUMNS]
    ]
    return {
        "n_columns": len(table.columns),
        "counts": [{"used_as": used_as, "n": n} for used_as, n in counts.most_common(20)],
        "listed": listed,
        "n_left_out": len(table.columns) - len(listed),
    }


def ranking_section(selector: Any, index: FeatureIndex) -> list[str] | None:
    """Names of all features, best first; None without a ranking, or where it is too long."""
    ranking = getattr(selector, "ranking_", None)
    if ranking is None or len(index.names) > MAX_RANKED:
        return None
    others = [int(j) for j in np.argsort(ranking, kind="stable") if not index.is_selected(j)]
    names = [printable(index.names[j]) for j in [*index.selected, *others]]
    return names if sum(map(len, names)) <= MAX_CHARACTERS else None
