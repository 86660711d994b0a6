"""The path of a search as lines that can be drawn: some features, some stations, nothing hidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.explain import PathStep, PathTable
from l1lsmi.report.mentions import Mentions
from l1lsmi.report.numbers import number, numbers

#: Lines and stations that a picture has room for.
MOST_SELECTED_TRACKS = 20
MOST_TRACKS = 30
MOST_STATIONS = 60
#: Features that are named where they come in or leave.
MOST_NAMED = 8


def path_part(path: PathTable, mentions: Mentions) -> dict[str, Any] | None:
    """PathSteps and lines of a path; None for methods without one.

    Parameters
    ----------
    path : PathTable
    mentions : Mentions

    Returns
    -------
    part : dict or None
    """
    if not path.steps:
        return None
    n_all = len(path.steps)
    drawn = np.unique(np.linspace(0, n_all - 1, min(n_all, MOST_STATIONS)).round().astype(int))
    stations = [path.steps[s] for s in drawn]
    tracks, n_visited = _tracks(stations, mentions)
    weighted = path.kind == "radii"
    shares = np.array([_shares(station, tracks, len(mentions.names)) for station in stations])
    return {
        "kind": "weights" if weighted else "sets",
        "stations": _stations(stations, mentions),
        "tracks": [_track(mentions.one(j), shares[:, t], weighted) for t, j in enumerate(tracks)],
        "n_tracks_left_out": n_visited - len(tracks),
        "n_stations_left_out": n_all - len(stations),
        "remark": _remark(path, mentions),
    }


def _weights(station: PathStep) -> HostArray:
    """Shares of the features of a station in all weight; equal shares where there are no weights."""
    weights = np.ones(station.support.size) if station.weights is None else np.abs(station.weights)
    return np.asarray(weights / max(float(weights.sum()), np.finfo(float).tiny))


def _shares(station: PathStep, tracks: list[int], n_features: int) -> HostArray:
    everywhere = np.zeros(n_features)
    everywhere[station.support] = _weights(station)
    return everywhere[tracks]


def _tracks(stations: Sequence[PathStep], mentions: Mentions) -> tuple[list[int], int]:
    """Selected features, heaviest first, then those that stayed longest; and how many there ever were."""
    stays, total = np.zeros(len(mentions.names), dtype=np.intp), np.zeros(len(mentions.names))
    for station in stations:
        stays[station.support] += 1
        total[station.support] += _weights(station)
    selected = [j for j in mentions.selected if stays[j]][:MOST_SELECTED_TRACKS]
    order = np.lexsort((-total, -stays))[: MOST_TRACKS + len(mentions.selected)]
    others = [int(j) for j in order if stays[j] and not mentions.is_selected(j)]
    return [*selected, *others[: MOST_TRACKS - len(selected)]], int(np.count_nonzero(stays))


def _track(j: int, shares: HostArray, weighted: bool) -> dict[str, Any]:
    inside = shares > 0
    if not weighted:
        return {"id": j, "inside": inside.tolist()}
    # A line begins where the feature came in, goes down to zero where it leaves, and ends there.
    drawn = inside | np.append(False, inside[:-1])
    shown = zip(numbers(shares, 4), drawn, strict=True)
    return {"id": j, "shares": [share if visible else None for share, visible in shown]}


def _stations(stations: Sequence[PathStep], mentions: Mentions) -> list[dict[str, Any]]:
    listed = []
    before = np.empty(0, dtype=np.intp)
    for station in stations:
        entered = np.setdiff1d(station.support, before)
        left = np.setdiff1d(before, station.support)
        listed.append(
            {
                "radius": number(station.radius),
                "size": int(station.size),
                "score": number(station.score),
                "entered": mentions.some(entered, MOST_NAMED)[0],
                "n_entered": int(entered.size),
                "left": mentions.some(left, MOST_NAMED)[0],
                "n_left": int(left.size),
            }
        )
        before = station.support
    return listed


def _remark(path: PathTable, mentions: Mentions) -> str | None:
    said = []
    if path.n_restarts > 1:
        said.append(f"Of {path.n_restarts} restarts, the one that ended closest to the chosen set is shown.")
    if set(path.steps[-1].support.tolist()) != set(mentions.selected):
        said.append("Exchanges of single features made the set better after its last station.")
    return " ".join(said) or None
