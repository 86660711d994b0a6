"""Data of the plots of two features against the target, for the pairs with the strongest interactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import norm

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target
from l1lsmi.explain._values import gap_of_repeated
from l1lsmi.explain.sample import sample_target
from l1lsmi.report._feature_plots import CLIPPED, MAX_CLASS_NAME
from l1lsmi.report._names import decoded_target, printable
from l1lsmi.report._numbers import in_unit, number, numbers, sig
from l1lsmi.report._values import MISSING, ShownColumn

#: Largest number of plots, and of dots in each.
MAX_PLOTS = 3
MAX_DOTS = 600
#: Least number of dots of each class with a colour of its own, where it has as many rows.
MIN_DOTS = 30
#: Largest number of colours; of more classes, those with the fewest rows share the last one.
MAX_COLOURS = 7
#: Groups of rows with about as many rows each: of a numeric target, and of a feature.
N_COLOURS, N_BINS = 5, 3
#: Share of the range of most values beyond which values are drawn at the edge.
MARGIN = 0.3
#: Share of the gap between values that repeat by which `pairs.js` moves dots at most.
SPREAD = 0.3
#: Probability of at least one plot where no pair has an interaction.
LEVEL = 0.05
#: Least share of the highest z-score: a strong interaction raises the z-scores of other pairs.
LEAST_SHARE = 1 / 3

Groups = list[tuple[str, HostArray]]


def least_z(n_pairs: int) -> float:
    """The z-score that the strongest of so many pairs without an interaction exceeds with probability 5 %.

    Examples
    --------
    >>> from l1lsmi.report._pair_plots import least_z
    >>> round(least_z(1), 2), round(least_z(45), 2)
    (1.64, 3.06)
    """
    return float(norm.isf(LEVEL / max(n_pairs, 1)))


def pair_plots(
    column_of: Callable[[int], ShownColumn], target: Target, pairs: Sequence[dict[str, Any]], n_pairs: int
) -> dict[str, Any]:
    """Data of one plot per pair, and per target where there are several.

    Parameters
    ----------
    column_of : callable
        The column with a given number.
    target : Target
    pairs : sequence of dict
        Numbers "a" and "b" of two columns, and the z-score of their interaction as "value", strongest first.
    n_pairs : int
        Number of all pairs.

    Returns
    -------
    plots : dict
        With the plots under "pairs". Each has the axes of both features, the colour of each dot, and cells:
        groups of rows by both features, with the shares of the colours and the median of a numeric target.
    """
    targets, least = target.each()[:MAX_PLOTS], least_z(n_pairs)
    known = [pair for pair in pairs if pair["value"] is not None]
    clear = [pair for pair in known if pair["value"] > max(least, LEAST_SHARE * known[0]["value"])]
    sample = sample_target(target, MAX_DOTS, 0)
    names: list[str | None] = [printable(part.name, MAX_CLASS_NAME) for part in target.parts[:MAX_PLOTS]]
    names = names or [None]
    return {
        "least_z": number(least),
        "n_shown": int(sample.size),
        "pairs": [
            {**pair, "of": name, **_plot(column_of(pair["a"]), column_of(pair["b"]), one, sample)}
            for pair in clear[: max(1, MAX_PLOTS // len(targets))]
            for one, name in zip(targets, names, strict=True)
        ],
    }


def _plot(first: ShownColumn, second: ShownColumn, target: Target, sample: HostArray) -> dict[str, Any]:
    colours = _class_colours(target) if target.is_classification else _value_colours(decoded_target(target))
    rows = _with_all_classes(sample, colours) if target.is_classification else sample
    x, y = _Axis(first), _Axis(second)
    is_binary = target.is_classification and len(colours) == 2
    colour_of = np.zeros(target.n_rows, dtype=np.intp)
    for colour, (_, members) in enumerate(colours):
        colour_of[members] = colour
    return {
        "x": x.described(rows),
        "y": y.described(rows),
        "is_number": not target.is_classification,
        "colours": [name for name, _ in colours],
        # Of two classes the table has the share of the rarer one; of more, the most frequent one.
        "rarer": int(len(colours[1][1]) <= len(colours[0][1])) if is_binary else None,
        "dots": colour_of[rows].tolist(),
        "cells": list(_cells(x, y, target, colour_of, len(colours))),
    }


def _class_colours(target: Target) -> Groups:
    """Names and rows of the classes, in the order of their labels; the smallest ones together."""
    assert target.classes is not None
    sizes = np.bincount(target.codes, minlength=target.classes.size)
    n_single = sizes.size if sizes.size <= MAX_COLOURS else MAX_COLOURS - 1
    single = np.sort(np.argsort(-sizes, kind="stable")[:n_single])
    groups = [
        (printable(target.classes[code], MAX_CLASS_NAME), np.flatnonzero(target.codes == code))
        for code in single
    ]
    if n_single < sizes.size:
        others = np.flatnonzero(~np.isin(target.codes, single))
        groups.append((f"{sizes.size - n_single:,} other classes", others))
    return groups


def _with_all_classes(sample: HostArray, colours: Groups) -> HostArray:
    """A sample of the rows, with further rows of classes that have few in it."""
    rng = np.random.default_rng(0)
    rows = [sample]
    for _, members in colours[: MAX_COLOURS - 1]:
        others = np.setdiff1d(members, sample)
        n_wanted = max(0, MIN_DOTS - (members.size - others.size))
        rows.append(rng.choice(others, min(n_wanted, others.size), replace=False))
    return np.sort(np.concatenate(rows))


def _value_colours(y: HostArray) -> Groups:
    """Names and rows of groups of a numeric target, lowest values first."""
    return [
        (f"{sig(float(y[rows].min()))} to {sig(float(y[rows].max()))}", rows) for rows in _bins(y, N_COLOURS)
    ]


def _bins(values: HostArray, n: int) -> list[HostArray]:
    """Rows in at most n groups by their values, of about the same size; equal values are together."""
    known = np.flatnonzero(~np.isnan(values))
    if not known.size:
        return []
    edges = np.unique(np.quantile(values[known], np.arange(1, n) / n))
    group = np.searchsorted(edges, values[known], side="left")
    return [known[group == g] for g in np.unique(group)]


class _Axis:
    """A feature on an axis of the plot: its levels side by side, or its numbers."""

    def __init__(self, column: ShownColumn) -> None:
        self.column = column
        groups = column.groups()
        self.is_number = groups is None
        self.groups: Groups = groups if groups is not None else self._number_groups()

    def _number_groups(self) -> Groups:
        x = self.column.x
        shown = partial(in_unit, unit=self.column.unit)
        found = [
            (f"{shown(float(x[rows].min()))} to {shown(float(x[rows].max()))}", rows)
            for rows in _bins(x, N_BINS)
        ]
        if self.column.n_missing:
            found.append((MISSING, np.flatnonzero(~self.column.has_value)))
        return found

    def described(self, rows: HostArray) -> dict[str, Any]:
        """Labels of the groups; where numbers have their edges; and the values of the dots."""
        labels = [name for name, _ in self.groups]
        unit = {"unit": self.column.unit}
        if not self.is_number:
            place = np.zeros(self.column.x.size, dtype=np.intp)
            for i, (_, members) in enumerate(self.groups):
                place[members] = i
            values = place[rows].tolist()
            return {"labels": labels, "range": None, "edges": None, "values": values, "gap": 1.0, **unit}
        x = self.column.x
        ends = [members for name, members in self.groups if name != MISSING]
        edges = [(x[low].max() + x[high].min()) / 2 for low, high in pairwise(ends)]
        gap = gap_of_repeated(x)
        return {
            "labels": labels,
            "range": _range(x[self.column.has_value], SPREAD * gap),
            "edges": numbers(edges),
            "values": numbers(x[rows], 4),
            "gap": gap,
            **unit,
        }


def _range(values: HostArray, spread: float) -> list[float | None]:
    """The range of the values and their spread, without those that are far from the others."""
    low, high = np.percentile(values, [CLIPPED, 100 - CLIPPED])
    beyond = MARGIN * (high - low) if low < high else np.inf
    lowest, highest = max(values.min(), low - beyond), min(values.max(), high + beyond)
    return [number(lowest - spread), number(highest + spread)]


def _cells(
    x: _Axis, y: _Axis, target: Target, colour_of: HostArray, n_colours: int
) -> Iterator[dict[str, Any]]:
    """Rows by the groups of both features; cells without rows are left out."""
    values = None if target.is_classification else decoded_target(target)
    for i, (_, across) in enumerate(x.groups):
        inside = np.zeros(colour_of.size, dtype=bool)
        inside[across] = True
        for j, (_, up) in enumerate(y.groups):
            rows = up[inside[up]]
            if not rows.size:
                continue
            shares = np.bincount(colour_of[rows], minlength=n_colours) / rows.size
            yield {
                "i": i,
                "j": j,
                "rows": int(rows.size),
                "shares": numbers(shares, 4),
                "middle": None if values is None else number(np.median(values[rows])),
            }
