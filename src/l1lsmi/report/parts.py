"""Parts of a report: what explanations and comparisons say, as plain lists and numbers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.explain import Contributions, Interactions, Redundancy, ScoreBySize
from l1lsmi.report.mentions import Mentions
from l1lsmi.report.names import shown
from l1lsmi.report.numbers import number, numbers

#: A score that is higher by less than this share is as good as the same.
CLEARLY = 0.05
#: Rows of a table at most.
MOST_CHOSEN = 100
MOST_IN_SET = 60
MOST_PAIRS = 40
MOST_COLUMNS = 300
#: The whole ranking is part of the page up to so many features and characters.
MOST_RANKED = 2000
MOST_CHARACTERS = 100_000


def chosen_part(selector: Any, contributions: Contributions, mentions: Mentions) -> dict[str, Any]:
    """The selected features with what each is worth."""
    worth = {
        int(j): (number(alone), number(lost))
        for j, alone, lost in zip(contributions.columns, contributions.alone, contributions.lost, strict=True)
    }
    weights = mentions.weights
    rows = [
        {
            "id": mentions.one(j),
            "weight": None if weights is None else number(weights[j]),
            "alone": worth[j][0],
            "lost": worth[j][1],
        }
        for j in mentions.selected[:MOST_CHOSEN]
    ]
    n_useful = getattr(selector, "n_useful_features_", None)
    has_weights = weights is not None
    return {
        "n_selected": len(mentions.selected),
        "score": number(contributions.score),
        "n_useful": None if n_useful is None else int(n_useful),
        "stop_reason": getattr(selector, "stop_reason_", None),
        "estimate": number(getattr(selector, "smi_", None)),
        "has_weights": has_weights,
        "weights_missing": not has_weights and hasattr(selector, "weights_"),
        "rows": rows,
        "n_left_out": len(mentions.selected) - len(rows),
        "n_rows": contributions.n_rows,
    }


def sizes_part(curve: ScoreBySize, mentions: Mentions) -> dict[str, Any]:
    """The set and the score of each size."""
    sets = []
    for size, columns, score in zip(curve.sizes, curve.sets, curve.scores, strict=True):
        ids, n_left_out = mentions.some(columns, MOST_IN_SET)
        sets.append({"size": int(size), "score": number(score), "ids": ids, "n_left_out": n_left_out})
    return {
        "sets": sets,
        "knee": int(curve.knee),
        "better": _better(curve),
        "asked": int(curve.n_selected),
        "n_rows": curve.n_rows,
    }


def _better(curve: ScoreBySize) -> int | None:
    """The size of the best set that is smaller than the selected one, where it clearly scores higher."""
    own = float(curve.scores[curve.sizes == curve.n_selected][0])
    smaller = curve.sizes < curve.n_selected
    if not smaller.any() or curve.scores[smaller].max() <= (1 + CLEARLY) * own:
        return None
    return int(curve.sizes[smaller][np.argmax(curve.scores[smaller])])


def redundancy_part(found: Redundancy, mentions: Mentions) -> dict[str, Any]:
    """Rejected features with the reason, and what the selected ones share."""
    rejected = [
        {
            "id": mentions.one(feature.column),
            "kind": feature.kind,
            # The name stands beside the sentence already.
            "reason": feature.reason.removeprefix(feature.name).strip(),
            "nearest": mentions.one(feature.nearest),
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
        **_matrix(found.columns, found.smi, mentions),
    }


def interactions_part(found: Interactions, mentions: Mentions) -> dict[str, Any] | None:
    """What pairs say beyond their sum; None where there is no pair."""
    if found.columns.size < 2:
        return None
    return {
        "n_rows": found.n_rows,
        "n_left_out": len(mentions.selected) - int(found.columns.size),
        **_matrix(found.columns, found.matrix, mentions),
    }


def _matrix(columns: HostArray, matrix: HostArray, mentions: Mentions) -> dict[str, Any]:
    """A square table with its rows in the order of the weights, and its largest entries as a list."""
    ids, _ = mentions.some(columns, columns.size)
    place = {int(j): i for i, j in enumerate(columns)}
    order = [place[j] for j in ids]
    matrix = np.array(matrix, dtype=np.float64)[np.ix_(order, order)]
    np.fill_diagonal(matrix, np.nan)
    first, second = np.triu_indices(len(ids), 1)
    values = matrix[first, second]
    strongest = np.argsort(-np.abs(values), kind="stable")[:MOST_PAIRS]
    pairs = [{"a": ids[first[p]], "b": ids[second[p]], "value": number(values[p])} for p in strongest]
    return {
        "ids": ids,
        "matrix": numbers(matrix, 4),
        "pairs": pairs,
        "n_pairs_left_out": int(values.size) - len(pairs),
    }


def columns_part(table: Any, mentions: Mentions) -> dict[str, Any] | None:
    """What became of the columns of the file."""
    if table is None:
        return None
    sources = getattr(table, "source_columns", None)
    chosen = set() if sources is None else {sources[j] for j in mentions.selected}
    counts = Counter(shown(column.used_as, 80) for column in table.columns)
    listed = [
        {
            "name": shown(column.name),
            "kind": str(column.kind),
            "n_missing": int(column.n_missing),
            "used_as": shown(column.used_as),
            "chosen": column.name in chosen,
        }
        for column in table.columns[:MOST_COLUMNS]
    ]
    return {
        "n_columns": len(table.columns),
        "counts": [{"used_as": used_as, "n": n} for used_as, n in counts.most_common(20)],
        "listed": listed,
        "n_left_out": len(table.columns) - len(listed),
    }


def ranking_part(selector: Any, mentions: Mentions) -> list[str] | None:
    """Names of all features, the best first, where there is a ranking and it is small."""
    ranking = getattr(selector, "ranking_", None)
    if ranking is None or len(mentions.names) > MOST_RANKED:
        return None
    others = [int(j) for j in np.argsort(ranking, kind="stable") if not mentions.is_selected(j)]
    names = [shown(mentions.names[j]) for j in [*mentions.selected, *others]]
    return names if sum(map(len, names)) <= MOST_CHARACTERS else None
