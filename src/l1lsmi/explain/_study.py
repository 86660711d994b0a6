"""A fitted selector beside its data: checked once, cut to some rows, scores remembered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from l1lsmi._arrays import HostArray, gather, to_numpy
from l1lsmi._numerics.ranking import best_first
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Table
from l1lsmi._validation.features import check_features, check_varying
from l1lsmi._validation.parameters import check_measure, seed_of
from l1lsmi.explain.sample import known_target, sample_target
from l1lsmi.measures import Measure, SquaredMutualInformation
from l1lsmi.strategies.selection import StopReason

#: Settings that make one score three to five times as quick as the defaults, for the same order of sets.
QUICK: dict[str, Any] = {
    "n_basis": 70,
    "sigma_factors": (0.3, 0.8, 2.0),
    "sigmas": (),
    "regularizations": (1e-3, 1e-2, 1e-1),
}


class Study:
    """What all explanations of one selection share.

    Parameters
    ----------
    selector : fitted selector
    X, y : array-like
        What it was fitted to, or other rows of the same kind.
    measure : Measure or None
        What scores sets; None is squared-loss mutual information with quick settings.
    max_rows : int
    random_state : int, RandomState instance or None
    feature_names : sequence of str or None
        None takes those that the selector knows.
    """

    def __init__(
        self,
        selector: Any,
        X: Any,
        y: Any,
        *,
        measure: Measure | None = None,
        max_rows: int,
        random_state: Any = 0,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self.selector = selector
        self.selected = selected_columns(selector)
        self.names = column_names(selector, feature_names)
        checked = _checked_features(selector, X)
        whole = known_target(y, task_of(selector))
        if whole.n_rows != checked.shape[0]:
            raise ValueError(
                f"X has {checked.shape[0]} rows, but y has {whole.n_rows}: pass one target per row."
            )
        # One seed for all, so that every score is of the same rows, folds and kernels.
        self.seed = seed_of(random_state)
        self.rows = sample_target(whole, max_rows, self.seed)
        self.n_rows_in = whole.n_rows
        self.table = Table.of(np.asarray(to_numpy(gather(checked, self.rows, None)), dtype=np.float64))
        check_varying(self.table)
        self.target = _target_rows(whole, self.rows)
        self.measure = self.quick() if measure is None else measure
        check_measure(self.measure)
        self.problem = self.bind(self.target)
        if not hasattr(self.problem, "score_set"):
            raise ValueError(
                f"measure={self.measure!r} says nothing of sets of features: pass a measure that does, such "
                "as SquaredMutualInformation() or HSIC()."
            )
        self._scores: dict[tuple[int, ...], float] = {}

    @property
    def n_rows(self) -> int:
        return int(self.rows.size)

    def quick(self, **settings: Any) -> SquaredMutualInformation:
        """Squared-loss mutual information that is soon worked out; few rows make fewer folds."""
        n_folds = min(5, max(2, self.n_rows // 4))
        return SquaredMutualInformation(**{**QUICK, "cv": n_folds, **settings})

    def bind(self, target: Target, measure: Any = None, table: Table | None = None) -> Any:
        """Tie a measure to these rows and a target."""
        measure = self.measure if measure is None else measure
        return measure.bind(self.table if table is None else table, target, self.seed)

    def varying(self, columns: Iterable[int]) -> HostArray:
        """Those columns that are not constant in these rows, sorted."""
        wanted = np.unique(np.fromiter(columns, dtype=np.intp))
        return wanted[self.table.scale[wanted] > 0]

    def score(self, columns: Iterable[int]) -> float:
        """What columns say together of the target; no columns say nothing, and no set says less."""
        inside = self.varying(columns)
        key = tuple(inside.tolist())
        if key not in self._scores:
            self._scores[key] = max(0.0, float(self.problem.score_set(inside))) if inside.size else 0.0
        return self._scores[key]

    def alone(self, columns: Iterable[int]) -> HostArray:
        """What each column says by itself."""
        return np.array([self.score((column,)) for column in columns])

    def strongest(self, most: int) -> HostArray:
        """At most so many of the selected features, heaviest first, or by what they say alone."""
        if self.selected.size <= most:
            return self.selected
        weights = fitted_weights(self.selector)
        strength = self.alone(self.selected) if weights is None else weights[self.selected]
        return np.sort(self.selected[best_first(strength)[:most]])


def fitted_weights(selector: Any) -> HostArray | None:
    """Weights of all features, where they say something.

    A search that is stopped gives the best set so far, every feature of which may have the weight 1 because
    there was no time to weigh it.

    Parameters
    ----------
    selector : fitted selector

    Returns
    -------
    weights : numpy.ndarray of float, or None
        None for selectors without weights, and for those that were stopped before they had any.
    """
    weights = getattr(selector, "weights_", None)
    if weights is None:
        return None
    weights = np.asarray(weights)
    stopped = getattr(selector, "stop_reason_", None) in (StopReason.TIME_LIMIT, StopReason.INTERRUPTED)
    return None if stopped and bool((weights[weights > 0] == 1.0).all()) else weights


def selected_columns(selector: Any) -> HostArray:
    """Numbers of the selected features of a fitted selector."""
    if isinstance(selector, type) or not hasattr(selector, "get_support"):
        what = f"the class {selector.__name__}" if isinstance(selector, type) else repr(selector)[:60]
        raise ValueError(f"selector is {what}: pass a fitted selector, such as L1LSMI(5).fit(X, y).")
    check_is_fitted(selector)
    return np.flatnonzero(selector.get_support())


def task_of(selector: Any) -> str:
    """The task that a selector was told, "auto" where it was told none."""
    told = selector._task() if hasattr(selector, "_task") else getattr(selector, "task", "auto")
    return str(told)


def column_names(selector: Any, feature_names: Sequence[str] | None = None) -> tuple[str, ...]:
    """Names of all features: those given, those the selector knows, or x0, x1, ..."""
    n_features = int(selector.n_features_in_)
    if feature_names is None:
        known = getattr(selector, "feature_names_in_", None)
        return tuple(f"x{j}" for j in range(n_features)) if known is None else tuple(map(str, known))
    names = tuple(str(name) for name in feature_names)
    if len(names) != n_features:
        raise ValueError(f"feature_names has {len(names)} names, but there are {n_features} features.")
    return names


def _checked_features(selector: Any, X: Any) -> Any:
    checked = check_features(X)
    if checked.shape[1] != selector.n_features_in_:
        raise ValueError(
            f"X has {checked.shape[1]} features, but the selector was fitted to {selector.n_features_in_}: "
            "pass all the features, selected or not."
        )
    known, given = getattr(selector, "feature_names_in_", None), getattr(X, "columns", None)
    if known is not None and given is not None and [str(c) for c in given] != [str(c) for c in known]:
        raise ValueError(
            "X has other column names than those the selector was fitted to: pass the same columns."
        )
    return checked


def _target_rows(target: Target, rows: HostArray) -> Target:
    """Some rows of an encoded target; classes that are not among them leave no gap."""
    if target.values is not None:
        return Target.of_values(*_standard(target.values[rows]))
    assert target.classes is not None
    return Target.of_classes(target.classes[target.codes[rows]])


def _standard(values: HostArray) -> tuple[HostArray, float, float]:
    return values, float(values.mean()), float(values.std()) or 1.0
