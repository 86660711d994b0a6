"""Chosen features against the target: quartiles, shares and dots, worked out so that the page only draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target
from l1lsmi.report.names import plain_target, shown
from l1lsmi.report.numbers import number, numbers, sig

#: Pictures at most, and dots in each.
MOST_PLOTS = 24
MOST_DOTS = 300
#: Classes at most; those with most rows.
MOST_CLASSES = 8
#: A feature with no more different values than this is shown value by value.
MOST_VALUES = 6
#: Stretches of a feature, each with equally many rows, over which the middle of the target is shown.
N_STRETCHES = 8
#: The share of values at either end that lie on the edge of the picture.
EDGE = 0.5
LONGEST_CLASS = 80


def feature_plots(
    X: HostArray, target: Target, ids: Sequence[int], rng: np.random.Generator
) -> dict[str, Any]:
    """Everything that the small pictures of the chosen features show.

    Parameters
    ----------
    X : numpy.ndarray of float, shape (n, m)
    target : Target
    ids : sequence of int
        The chosen features, in the order in which they are shown.
    rng : numpy.random.Generator
        Draws the rows that are shown as dots.

    Returns
    -------
    plots : dict
        With a picture per feature under "features", each of the kind "boxes", "shares" or "scatter".
    """
    plotted = list(ids[:MOST_PLOTS])
    result: dict[str, Any] = {
        "features": [],
        "target": None,
        "n_left_out": len(ids) - len(plotted),
        "n_classes_left_out": 0,
        "n_shown": 0,
    }
    if target.is_classification:
        groups, names, n_left_out = _largest_classes(target)
        result["n_classes_left_out"] = n_left_out
        for j in plotted:
            result["features"].append({"id": int(j), **_by_class(X[:, j], groups, names)})
        return result
    y = plain_target(target)
    rows = np.sort(rng.choice(y.size, min(y.size, MOST_DOTS), replace=False))
    result["n_shown"] = int(rows.size)
    result["target"] = {"range": _range(y), "values": numbers(y[rows], 4)}
    for j in plotted:
        result["features"].append({"id": int(j), **_by_value(X[:, j], y, rows)})
    return result


def _largest_classes(target: Target) -> tuple[list[HostArray], list[str], int]:
    """Rows of each class, for the classes with most rows, in the order of their labels."""
    assert target.classes is not None
    sizes = np.bincount(target.codes, minlength=target.classes.size)
    largest = np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLASSES])
    groups = [np.flatnonzero(target.codes == code) for code in largest]
    names = [shown(target.classes[code], LONGEST_CLASS) for code in largest]
    return groups, names, int(sizes.size - largest.size)


def _by_class(x: HostArray, groups: list[HostArray], names: list[str]) -> dict[str, Any]:
    values = np.unique(x)
    if values.size > MOST_VALUES:
        boxes = [_box(name, x[rows]) for name, rows in zip(names, groups, strict=True)]
        return {"kind": "boxes", "boxes": boxes}
    counts = np.array([[np.count_nonzero(x[rows] == value) for rows in groups] for value in values])
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    rows_of = zip(values, counts.sum(axis=1), shares, strict=True)
    listed = [{"value": _word(v), "rows": int(n), "shares": numbers(row, 4)} for v, n, row in rows_of]
    return {"kind": "shares", "classes": names, "groups": listed}


def _by_value(x: HostArray, y: HostArray, rows: HostArray) -> dict[str, Any]:
    values = np.unique(x)
    if values.size <= MOST_VALUES:
        return {"kind": "boxes", "boxes": [_box(_word(value), y[x == value]) for value in values]}
    return {
        "kind": "scatter",
        "range": _range(x),
        "values": numbers(x[rows], 4),
        "trend": _trend(x, y),
    }


def _trend(x: HostArray, y: HostArray) -> list[dict[str, Any]]:
    order = np.argsort(x, kind="stable")
    stretches = [part for part in np.array_split(order, min(N_STRETCHES, max(1, x.size // 5))) if part.size]
    return [
        {
            "at": number(np.median(x[part])),
            "from": number(x[part[0]]),
            "to": number(x[part[-1]]),
            "middle": number(np.median(y[part])),
            "rows": int(part.size),
        }
        for part in stretches
    ]


def _box(name: str, values: HostArray) -> dict[str, Any]:
    low, q1, middle, q3, high = np.percentile(values, [5, 25, 50, 75, 95])
    return {
        "group": name,
        "rows": int(values.size),
        "low": number(low),
        "q1": number(q1),
        "middle": number(middle),
        "q3": number(q3),
        "high": number(high),
    }


def _range(values: HostArray) -> list[float | None]:
    """From end to end, without the farthest values unless nothing else is left."""
    low, high = np.percentile(values, [EDGE, 100 - EDGE])
    if low == high:
        low, high = values.min(), values.max()
    return [number(low), number(high)]


def _word(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e6 else sig(float(value))
