"""Data of the plots of selected features against the target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target
from l1lsmi.report._names import decoded_target, printable
from l1lsmi.report._numbers import number, numbers
from l1lsmi.report._values import ShownColumn

#: Largest number of plots, and of dots in each.
MAX_PLOTS = 24
MAX_DOTS = 300
#: Largest number of classes; those with the most rows are shown.
MAX_CLASSES = 8
#: Quantile bins of a feature, for each of which the median of the target is plotted.
N_BINS = 8
#: Percentage of values at either end that are clipped to the edge of the plot.
CLIPPED = 0.5
MAX_CLASS_NAME = 80


def feature_plots(
    column_of: Callable[[int], ShownColumn], target: Target, ids: Sequence[int], rng: np.random.Generator
) -> dict[str, Any]:
    """Data of one plot per selected feature, and per target where there are several.

    Parameters
    ----------
    column_of : callable
        The column with a given number.
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
        result["features"] = _against(column_of, target, plotted, rng, result)
        return result
    by_target = []
    for one, part in zip(targets, target.parts, strict=False):
        plots = _against(column_of, one, plotted, rng, result)
        for plot in plots:
            plot["of"] = printable(part.name, MAX_CLASS_NAME)
            if plot["kind"] == "scatter":
                plot["target"] = result["target"]
        by_target.append(plots)
        result["target"] = None
    result["features"] = [plot for plots in zip(*by_target, strict=True) for plot in plots]
    return result


def _against(
    column_of: Callable[[int], ShownColumn],
    target: Target,
    ids: Sequence[int],
    rng: np.random.Generator,
    result: dict[str, Any],
) -> list[dict[str, Any]]:
    """Plots of features against one target; what they have in common goes into ``result``."""
    if target.is_classification:
        groups, names, n_left_out = _largest_classes(target)
        result["n_classes_left_out"] += n_left_out
        return [_entry(j, column := column_of(j), _by_class(column, groups, names)) for j in ids]
    y = decoded_target(target)
    rows = np.sort(rng.choice(y.size, min(y.size, MAX_DOTS), replace=False))
    result["n_shown"] = int(rows.size)
    result["target"] = {"range": _range(y), "values": numbers(y[rows], 4)}
    return [_entry(j, column := column_of(j), _by_value(column, y, rows)) for j in ids]


def _entry(j: int, column: ShownColumn, plot: dict[str, Any]) -> dict[str, Any]:
    return {"id": int(j), "n_missing": column.n_missing, "unit": column.unit, **plot}


def _largest_classes(target: Target) -> tuple[list[HostArray], list[str], int]:
    """Row indices and names of the classes with the most rows, in the order of their labels."""
    assert target.classes is not None
    sizes = np.bincount(target.codes, minlength=target.classes.size)
    largest = np.sort(np.argsort(-sizes, kind="stable")[:MAX_CLASSES])
    groups = [np.flatnonzero(target.codes == code) for code in largest]
    names = [printable(target.classes[code], MAX_CLASS_NAME) for code in largest]
    return groups, names, int(sizes.size - largest.size)


def _by_class(column: ShownColumn, classes: list[HostArray], names: list[str]) -> dict[str, Any]:
    groups = column.groups()
    if groups is None:
        with_values = [rows[column.has_value[rows]] for rows in classes]
        boxes = [
            _box(name, column.x[rows]) for name, rows in zip(names, with_values, strict=True) if rows.size
        ]
        return {"kind": "boxes", "boxes": boxes}
    counts = np.array([[np.isin(rows, group).sum() for rows in classes] for _, group in groups])
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    by_value = zip(groups, counts.sum(axis=1), shares, strict=True)
    listed = [{"value": name, "rows": int(n), "shares": numbers(row, 4)} for (name, _), n, row in by_value]
    return {"kind": "shares", "classes": names, "groups": listed}


def _by_value(column: ShownColumn, y: HostArray, rows: HostArray) -> dict[str, Any]:
    groups = column.groups()
    if groups is not None:
        # The numbers are those of the target.
        return {"kind": "boxes", "boxes": [_box(name, y[group]) for name, group in groups], "unit": None}
    x = column.x[column.has_value]
    return {
        "kind": "scatter",
        "range": _range(x),
        "values": numbers(column.x[rows], 4),
        "trend": _trend(x, y[column.has_value]),
    }


def _trend(x: HostArray, y: HostArray) -> list[dict[str, Any]]:
    n_bins = min(N_BINS, max(1, x.size // 5))
    _, which, counts = np.unique(x, return_inverse=True, return_counts=True)
    # Equal values are in one bin: that of their middle rank.
    bin_of = (n_bins * (counts.cumsum() - counts / 2) / max(x.size, 1)).astype(np.intp)
    order = np.argsort(which, kind="stable")
    ends = np.flatnonzero(np.diff(bin_of[which[order]])) + 1
    bins = [rows for rows in np.split(order, ends) if rows.size]
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
