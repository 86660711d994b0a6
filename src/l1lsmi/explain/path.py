"""The search path of a selection: every radius or step with its features, weights and score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.explain._fitted import selected_columns
from l1lsmi.measures import SquaredMutualInformation


@dataclass(frozen=True, eq=False)
class PathStep:
    """One radius, or one step, of a search path.

    Attributes
    ----------
    size : int
        Number of features.
    support : numpy.ndarray of int
        The features.
    score : float
        Score by the selector's measure, higher is better; on held-out rows for measures with model
        selection.
    radius : float or None
        Bound on the sum of the weights; None for greedy and exhaustive searches.
    weights : numpy.ndarray of float, or None
        Weights of the features, in the order of ``support``; None where there is no radius.
    feature : int or None
        The feature that was added or removed by a greedy step.
    """

    size: int
    support: HostArray
    score: float
    radius: float | None = None
    weights: HostArray | None = None
    feature: int | None = None


@dataclass(frozen=True, eq=False)
class PathTable:
    """The search path of a selection.

    Attributes
    ----------
    kind : {"radii", "steps", "none"}
        "radii": one entry per radius. "steps": one entry per step of a greedy or exhaustive search.
        "none": the method has no path, like rankings and most baselines.
    steps : tuple of PathStep
        In the order of the search.
    restart : int or None
        The restart that the steps belong to, if ``kind`` is "radii".
    n_restarts : int
        Number of restarts; 0 where there are no radii.
    """

    kind: str
    steps: tuple[PathStep, ...]
    restart: int | None = None
    n_restarts: int = 0

    def lines(self, max_features: int = 30) -> tuple[HostArray, HostArray]:
        """Weights along the path, one row per feature.

        Parameters
        ----------
        max_features : int, default=30

        Returns
        -------
        columns : ndarray of int, shape (features,)
            In decreasing order of the number of steps that contain the feature, then of its total weight.
        weights : ndarray of float, shape (features, steps)
            0 if the feature is not in the support. On a path without weights, 1 if it is.

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
        if not self.steps:
            return np.empty(0, dtype=np.intp), np.empty((0, 0))
        n_features = 1 + max(int(step.support.max(initial=-1)) for step in self.steps)
        n_steps, total = np.zeros(n_features, dtype=np.intp), np.zeros(n_features)
        for step in self.steps:
            n_steps[step.support] += 1
            total[step.support] += 1.0 if step.weights is None else step.weights
        columns = np.lexsort((-total, -n_steps))[:max_features]
        columns = columns[n_steps[columns] > 0]
        return columns, np.array([_all_weights(step, n_features)[columns] for step in self.steps]).T


def path_table(selector: Any) -> PathTable:
    """The search path of a fitted selector.

    For the l1 strategies: the radii of the restart that comes closest to the selected set. The
    selected set can differ from the last step of the path, because it may come from effects of single
    features, pairs and triples, and because features are exchanged afterwards. For forward and backward
    search: every step. For exhaustive search: each set with a new highest score.

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
    >>> path.kind, [step.size for step in path.steps], path.steps[-1].support
    ('radii', [6, 5, 2], array([1, 4]))
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
    steps = tuple(
        PathStep(
            size=int(point.size),
            support=np.asarray(point.support, dtype=np.intp),
            # The empty set has score 0.
            score=float(offset - point.cv_score) if point.size else 0.0,
            radius=float(point.radius),
            weights=np.asarray(point.weights, dtype=np.float64),
        )
        for point in path
        if point.restart == closest.restart
    )
    return PathTable("radii", steps, int(closest.restart), len({point.restart for point in path}))


def _improvements(path: list[Any]) -> list[Any]:
    best, kept = -np.inf, []
    for point in path:
        if point.score > best:
            best = point.score
            kept.append(point)
    return kept


def _step(point: Any) -> PathStep:
    support = np.sort(np.asarray(point.support, dtype=np.intp))
    feature = None if point.feature is None else int(point.feature)
    return PathStep(size=int(point.size), support=support, score=float(point.score), feature=feature)


def _offset(selector: Any) -> float:
    """The constant that turns minus a cross-validation score into an estimate of the measure."""
    if hasattr(selector, "smi_"):
        return SquaredMutualInformation.offset
    measure = getattr(selector, "measure", None)
    if measure is None and hasattr(selector, "strategy"):
        return SquaredMutualInformation.offset
    return float(getattr(measure, "offset", 0.0))


def _all_weights(step: PathStep, n_features: int) -> HostArray:
    weights = np.zeros(n_features)
    weights[step.support] = 1.0 if step.weights is None else step.weights
    return weights
