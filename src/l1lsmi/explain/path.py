"""The way to a selection: every radius or step with its features, weights and score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.explain._study import selected_columns
from l1lsmi.measures import SquaredMutualInformation


@dataclass(frozen=True, eq=False)
class Station:
    """One stop on the way.

    Attributes
    ----------
    size : int
        Number of features.
    support : numpy.ndarray of int
        Those features.
    score : float
        What the selector's measure says there, higher is better: by rows left out where the measure
        chooses a model.
    radius : float or None
        Bound on the sum of the weights; None for steps.
    weights : numpy.ndarray of float, or None
        Weights of the features, in the order of ``support``; None for steps.
    feature : int or None
        The feature that a step added or took away.
    """

    size: int
    support: HostArray
    score: float
    radius: float | None = None
    weights: HostArray | None = None
    feature: int | None = None


@dataclass(frozen=True, eq=False)
class PathTable:
    """The way to a selection.

    Attributes
    ----------
    kind : {"radii", "steps", "none"}
        What the stations are. "none" where the method has no path: rankings and most baselines.
    stations : tuple of Station
        In the order in which they were visited.
    restart : int or None
        The restart that they belong to, for radii.
    n_restarts : int
        How many restarts there were; 0 where there are no radii.
    """

    kind: str
    stations: tuple[Station, ...]
    restart: int | None = None
    n_restarts: int = 0

    def lines(self, max_features: int = 30) -> tuple[HostArray, HostArray]:
        """Weights of the features that held out longest, one line each.

        Parameters
        ----------
        max_features : int, default=30

        Returns
        -------
        columns : ndarray of int, shape (features,)
            The features, those that held out longest first, of equals the heaviest.
        weights : ndarray of float, shape (features, stations)
            0 where a feature is not in the support; 1 where it is and there are no weights.

        Examples
        --------
        >>> import numpy as np
        >>> from l1lsmi import L1LSMI
        >>> from l1lsmi.explain import path_table
        >>> X = np.random.default_rng(0).normal(size=(200, 6))
        >>> selector = L1LSMI(2, random_state=0).fit(X, X[:, 1] * X[:, 4] > 0)
        >>> columns, weights = path_table(selector).lines(3)
        >>> sorted(columns[:2].tolist()), weights.shape[0]
        ([1, 4], 3)
        """
        if not self.stations:
            return np.empty(0, dtype=np.intp), np.empty((0, 0))
        n_features = 1 + max(int(station.support.max(initial=-1)) for station in self.stations)
        stays, total = np.zeros(n_features, dtype=np.intp), np.zeros(n_features)
        for station in self.stations:
            stays[station.support] += 1
            total[station.support] += 1.0 if station.weights is None else station.weights
        columns = np.lexsort((-total, -stays))[:max_features]
        columns = columns[stays[columns] > 0]
        return columns, np.array([_weights_at(station, n_features)[columns] for station in self.stations]).T


def path_table(selector: Any) -> PathTable:
    """The stations of the search that led to the selection.

    Of a weighting, the radii of the restart that ended closest to the selected set; the set itself may
    differ from its last station where exchanges made it better. Of a forward or backward search, every
    step. Of an exhaustive search, the sets that were better than all before them.

    Parameters
    ----------
    selector : fitted selector

    Returns
    -------
    PathTable

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.explain import path_table
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> selector = L1LSMI(2, random_state=0).fit(X, X[:, 1] * X[:, 4] > 0)
    >>> path = path_table(selector)
    >>> path.kind, [station.size for station in path.stations], path.stations[-1].support
    ('radii', [6, 5, 3, 2], array([1, 4]))
    """
    selected = selected_columns(selector)
    path = list(getattr(selector, "path_", ()))
    if not path:
        return PathTable("none", ())
    if hasattr(path[0], "radius"):
        return _radii(path, set(selected.tolist()), _offset(selector))
    steps = path if len({point.size for point in path}) > 1 or len(path) == 1 else _improvements(path)
    return PathTable("steps", tuple(_step(point) for point in steps))


def _radii(path: list[Any], selected: set[int], offset: float) -> PathTable:
    closest = min(path, key=lambda point: len(selected ^ set(point.support.tolist())))
    stations = tuple(
        Station(
            size=int(point.size),
            support=np.asarray(point.support, dtype=np.intp),
            # No features say nothing.
            score=float(offset - point.cv_score) if point.size else 0.0,
            radius=float(point.radius),
            weights=np.asarray(point.weights, dtype=np.float64),
        )
        for point in path
        if point.restart == closest.restart
    )
    return PathTable("radii", stations, int(closest.restart), len({point.restart for point in path}))


def _improvements(path: list[Any]) -> list[Any]:
    best, kept = -np.inf, []
    for point in path:
        if point.score > best:
            best = point.score
            kept.append(point)
    return kept


def _step(point: Any) -> Station:
    support = np.sort(np.asarray(point.support, dtype=np.intp))
    feature = None if point.feature is None else int(point.feature)
    return Station(size=int(point.size), support=support, score=float(point.score), feature=feature)


def _offset(selector: Any) -> float:
    """What is to be added to minus a cross-validation score to make it what the measure estimates."""
    if hasattr(selector, "smi_"):
        return SquaredMutualInformation.offset
    measure = getattr(selector, "measure", None)
    if measure is None and hasattr(selector, "strategy"):
        return SquaredMutualInformation.offset
    return float(getattr(measure, "offset", 0.0))


def _weights_at(station: Station, n_features: int) -> HostArray:
    weights = np.zeros(n_features)
    weights[station.support] = 1.0 if station.weights is None else station.weights
    return weights
