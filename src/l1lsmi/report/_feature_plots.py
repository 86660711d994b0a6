"""Data of the plots of selected features against the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target
from l1lsmi.report._names import decoded_target, printable
from l1lsmi.report._numbers import number, numbers, sig

#: Largest number of plots, and of dots in each.
MAX_PLOTS = 24
MAX_DOTS = 300
#: Largest number of classes; those with the most rows are shown.
MAX_CLASSES = 8
#: A feature with at most this many different values is plotted value by value.
MAX_VALUES = 6
#: Quantile bins of a feature, for each of which the median of the target is plotted.
N_BINS = 8
#: Percentage of values at either end that are clipped to the edge of the plot.
CLIPPED = 0.5
MAX_CLASS_NAME = 80


def feature_plots(
    X: HostArray, target: Target, ids: Sequence[int], rng: np.random.Generator
) -> dict[str, Any]:
    """Data of one plot per selected feature, and per target where there are several.

    Parameters
    ----------
    X : numpy.ndarray of float, shape (n, m)
    target : Target
    ids : sequence of int
        The selected features, in the order of the plots.
    rng : numpy.random.Generator
        Draws the rows that are plotted as dots.

    Returns
    -------
    plots : dict
        With the plots under "features", of the kind "boxes", "shares" or "scatter". Of several targets each
        has the name of its target under "of", and dots have the values of the target.
    """
    targets = target.each()[:MAX_PLOTS]
    plotted = list(ids[: max(1, MAX_PLOTS // len(targets))])
    result: dict[str, Any] = {
        "features": [],
        "target": None,
        "n_left_out": len(ids) - len(plotted),
        "n_classes_left_out": 0,
        "n_shown": 0,
    }
    if not target.parts:
        result["features"] = _against(X, target, plotted, rng, result)
        return result
    by_target = []
    for one, part in zip(targets, target.parts, strict=False):
        plots = _against(X, one, plotted, rng, result)
        for plot in plots:
            plot["of"] = printable(part.name, MAX_CLASS_NAME)
            if plot["kind"] == "scatter":
                plot["target"] = result["target"]
        by_target.append(plots)
        result["target"] = None
    result["features"] = [plot for plots in zip(*by_target, strict=True) for plot in plots]
    return result


def _against(
    X: HostArray, target: Target, ids: Sequence[int], rng: np.random.Generator, result: dict[str, Any]
) -> list[dict[str, Any]]:
    """Plots of features against one target; what they have in common goes into ``result``."""
    if target.is_classification:
        groups, names, n_left_out = _largest_classes(target)
        result["n_classes_left_out"] += n_left_out
        return [{"id": int(j), **_by_class(X[:, j], groups, names)} for j in ids]
    y = decoded_target(target)
    rows = np.sort(rng.choice(y.size, min(y.size, MAX_DOTS), replace=False))
    result["n_shown"] = int(rows.size)
    result["target"] = {"range": _range(y), "values": numbers(y[rows], 4)}
    return [{"id": int(j), **_by_value(X[:, j], y, rows)} for j in ids]


def _largest_classes(target: Target) -> tuple[list[HostArray], list[str], int]:
    """Row indices and names of the classes with the most rows, in the order of their labels."""
    assert target.classes is not None
    sizes = np.bincount(target.codes, minlength=target.classes.size)
    largest = np.sort(np.argsort(-sizes, kind="stable")[:MAX_CLASSES])
    groups = [np.flatnonzero(target.codes == code) for code in largest]
    names = [printable(target.classes[code], MAX_CLASS_NAME) for code in largest]
    return groups, names, int(sizes.size - largest.size)


def _by_class(x: HostArray, groups: list[HostArray], names: list[str]) -> dict[str, Any]:
    values = np.unique(x)
    if values.size > MAX_VALUES:
        boxes = [_box(name, x[rows]) for name, rows in zip(names, groups, strict=True)]
        return {"kind": "boxes", "boxes": boxes}
    counts = np.array([[np.count_nonzero(x[rows] == value) for rows in groups] for value in values])
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    by_value = zip(values, counts.sum(axis=1), shares, strict=True)
    listed = [{"value": _label(v), "rows": int(n), "shares": numbers(row, 4)} for v, n, row in by_value]
    return {"kind": "shares", "classes": names, "groups": listed}


def _by_value(x: HostArray, y: HostArray, rows: HostArray) -> dict[str, Any]:
    values = np.unique(x)
    if values.size <= MAX_VALUES:
        return {"kind": "boxes", "boxes": [_box(_label(value), y[x == value]) for value in values]}
    return {
        "kind": "scatter",
        "range": _range(x),
        "values": numbers(x[rows], 4),
        "trend": _trend(x, y),
    }


def _trend(x: HostArray, y: HostArray) -> list[dict[str, Any]]:
    order = np.argsort(x, kind="stable")
    bins = [rows for rows in np.array_split(order, min(N_BINS, max(1, x.size // 5))) if rows.size]
    return [
        {
            "at": number(np.median(x[rows])),
            "from": number(x[rows[0]]),
            "to": number(x[rows[-1]]),
            "middle": number(np.median(y[rows])),
            "rows": int(rows.size),
        }
        for rows in bins
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
    """The range of the values without the clipped ones, unless all others are equal."""
    low, high = np.percentile(values, [CLIPPED, 100 - CLIPPED])
    if low == high:
        low, high = values.min(), values.max()
    return [number(low), number(high)]


def _label(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e6 else sig(float(value))
