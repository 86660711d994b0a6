"""The search path as data of a plot: a limited number of features and steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.explain import PathStep, PathTable
from l1lsmi.report._feature_index import FeatureIndex
from l1lsmi.report._numbers import number, numbers

#: Largest numbers of lines and steps in the plot.
MAX_SELECTED_LINES = 20
MAX_LINES = 30
MAX_STEPS = 60
#: Largest number of features that are named per step.
MAX_NAMED = 8


def path_section(path: PathTable, index: FeatureIndex, *, chosen: bool = False) -> dict[str, Any] | None:
    """Steps and lines of a path; None for methods without a path.

    Parameters
    ----------
    path : PathTable
    index : FeatureIndex
    chosen : bool, default=False
        Whether the number of features was chosen on unseen rows: the search was for more features.

    Returns
    -------
    part : dict or None
    """
    if not path.steps:
        return None
    n_all = len(path.steps)
    drawn = np.unique(np.linspace(0, n_all - 1, min(n_all, MAX_STEPS)).round().astype(int))
    steps = [path.steps[s] for s in drawn]
    columns, n_visited = _columns(steps, index)
    weighted = path.kind == "radii"
    shares = np.array([_shares(step, columns, len(index.names)) for step in steps])
    return {
        "kind": "weights" if weighted else "sets",
        "stations": _entries(steps, index),
        "tracks": [_line(index.add(j), shares[:, i], weighted) for i, j in enumerate(columns)],
        "n_tracks_left_out": n_visited - len(columns),
        "n_stations_left_out": n_all - len(steps),
        "remark": _remark(path, index, chosen),
    }


def _weights(step: PathStep) -> HostArray:
    """Shares of the features of a step in the total weight; equal shares without weights."""
    weights = np.ones(step.support.size) if step.weights is None else np.abs(step.weights)
    return np.asarray(weights / max(float(weights.sum()), np.finfo(float).tiny))


def _shares(step: PathStep, columns: list[int], n_features: int) -> HostArray:
    shares = np.zeros(n_features)
    shares[step.support] = _weights(step)
    return shares[columns]


def _columns(steps: Sequence[PathStep], index: FeatureIndex) -> tuple[list[int], int]:
    """Features to plot, the selected ones first, and the number of features on the path."""
    n_steps, total = np.zeros(len(index.names), dtype=np.intp), np.zeros(len(index.names))
    for step in steps:
        n_steps[step.support] += 1
        total[step.support] += _weights(step)
    selected = [j for j in index.selected if n_steps[j]][:MAX_SELECTED_LINES]
    order = np.lexsort((-total, -n_steps))[: MAX_LINES + len(index.selected)]
    others = [int(j) for j in order if n_steps[j] and not index.is_selected(j)]
    return [*selected, *others[: MAX_LINES - len(selected)]], int(np.count_nonzero(n_steps))


def _line(j: int, shares: HostArray, weighted: bool) -> dict[str, Any]:
    inside = shares > 0
    if not weighted:
        return {"id": j, "inside": inside.tolist()}
    # A line begins where the feature enters, and ends with the 0 of the step where it leaves.
    drawn = inside | np.append(False, inside[:-1])
    points = zip(numbers(shares, 4), drawn, strict=True)
    return {"id": j, "shares": [share if visible else None for share, visible in points]}


def _entries(steps: Sequence[PathStep], index: FeatureIndex) -> list[dict[str, Any]]:
    listed = []
    before = np.empty(0, dtype=np.intp)
    for step in steps:
        entered = np.setdiff1d(step.support, before)
        left = np.setdiff1d(before, step.support)
        listed.append(
            {
                "radius": number(step.radius),
                "size": int(step.size),
                "score": number(step.score),
                "entered": index.add_first(entered, MAX_NAMED)[0],
                "n_entered": int(entered.size),
                "left": index.add_first(left, MAX_NAMED)[0],
                "n_left": int(left.size),
            }
        )
        before = step.support
    return listed


def _remark(path: PathTable, index: FeatureIndex, chosen: bool) -> str | None:
    remarks = []
    if path.n_restarts > 1:
        remarks.append(f"Of {path.n_restarts} restarts, the one closest to the selected set is shown.")
    if chosen and path.steps[-1].size > len(index.selected):
        remarks.append(
            "The last step has more features than are selected, because a smaller number was chosen on "
            "unseen rows. The set was reduced to this number by elimination."
        )
    elif set(path.steps[-1].support.tolist()) != set(index.selected):
        remarks.append(
            "The selected set differs from the last step: a better set was found by exchanges of features "
            "after the path, or from effects of single features, pairs and triples."
        )
    return " ".join(remarks) or None
