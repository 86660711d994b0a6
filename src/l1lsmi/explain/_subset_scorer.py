"""Scores of feature subsets of a fitted selector, on a sample of the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from l1lsmi._arrays import HostArray, gather, to_numpy
from l1lsmi._clock import check_time
from l1lsmi._numerics.ranking import best_first
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Resources, RowTable, Table
from l1lsmi._rows.tails import clip_tails
from l1lsmi._validation.features import check_varying
from l1lsmi._validation.parameters import check_measure, seed_of
from l1lsmi._validation.tables import make_table
from l1lsmi.explain._fitted import (
    NO_FEATURES,
    column_names,
    fitted_weights,
    read_columns,
    selected_columns,
    task_of,
)
from l1lsmi.explain.pair_terms import terms_of
from l1lsmi.explain.sample import encode_target, sample_seeded
from l1lsmi.measures import Measure, SquaredMutualInformation

#: Settings with which a score takes a third to a fifth of the default time and sets keep their order.
QUICK: dict[str, Any] = {
    "n_basis": 70,
    "sigma_factors": (0.3, 0.8, 2.0),
    "sigmas": (),
    "regularizations": (1e-3, 1e-2, 1e-1),
}


class SubsetScorer:
    """Validated data of one selection, with a cache of subset scores.

    Parameters
    ----------
    selector : fitted selector
    X, y : array-like
        The data the selector was fitted to, or other rows with the same columns.
    measure : Measure or None
        Scores the sets; None is squared-loss mutual information with quick settings.
    max_rows : int
    random_state : int, RandomState instance or None
    feature_names : sequence of str or None
        None takes the names of the selector.
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
        if not self.selected.size:
            raise ValueError(f"{NO_FEATURES}: there is nothing to explain.")
        self.names = column_names(selector, feature_names)
        checked, columns = read_columns(selector, X)
        target = encode_target(y, task_of(selector))
        if target.n_rows != checked.shape[0]:
            raise ValueError(
                f"X has {checked.shape[0]} rows, but y has {target.n_rows}: pass one target per row."
            )
        # One seed, so that all scores use the same rows, folds and kernel centers.
        self.seed = seed_of(random_state)
        self.rows = sample_seeded(target, max_rows, self.seed)
        self.n_rows_in = target.n_rows
        # What missing values say is decided from all rows, as it is in a fit.
        missing = getattr(selector, "missing", "auto")
        self._all_rows, self._all_targets = (
            make_table(checked, columns, target, None, Resources(), missing),
            target,
        )
        self.table = _sampled(self._all_rows, self.rows)
        check_varying(self.table)
        self._clipped: RowTable | None = None
        self.target = _target_rows(target, self.rows)
        self.measure = self.quick_measure() if measure is None else measure
        check_measure(self.measure)
        self.problem = self.bind(self.target)
        if not hasattr(self.problem, "score_set"):
            raise ValueError(
                f"measure={self.measure!r} cannot score sets of features: pass a measure that can, such as "
                "SquaredMutualInformation() or HSIC()."
            )
        self._scores: dict[tuple[int, ...], float] = {}

    @property
    def n_rows(self) -> int:
        return int(self.rows.size)

    def sampled(self, max_rows: int) -> tuple[HostArray, Table, Target]:
        """A sample of another size: row numbers, features and target."""
        rows = sample_seeded(self._all_targets, max_rows, self.seed)
        return rows, _sampled(self._all_rows, rows), _target_rows(self._all_targets, rows)

    def pair_z(self, columns: HostArray) -> HostArray:
        """z-scores of interactions of some columns, from all rows, (columns, columns)."""
        whole = self._all_rows
        kinds = None if whole.kinds is None else whole.kinds.columns_of(columns)
        table = Table.of(gather(whole.x, np.arange(self.n_rows_in), columns), kinds=kinds)
        names = tuple(self.names[j] for j in columns)
        return terms_of(table, self._all_targets, names, self.seed).pair_z

    def quick_measure(self, **settings: Any) -> SquaredMutualInformation:
        """Squared-loss mutual information with quick settings, and fewer folds for few rows."""
        n_folds = min(5, max(2, self.n_rows // 4))
        return SquaredMutualInformation(**{**QUICK, "cv": n_folds, **settings})

    def bind(self, target: Target, measure: Any = None, table: Table | None = None) -> Any:
        """Bind a measure to the sampled rows and a target."""
        measure = self.measure if measure is None else measure
        table = self.table if table is None else table
        if table is self.table and getattr(measure, "tails", "keep") == "clip":
            # Once for all targets, as it takes longer than the scores of a few columns of many.
            if self._clipped is None:
                self._clipped = clip_tails(self.table, self.target)
            return clone(measure).set_params(tails="keep").bind(self._clipped, target, self.seed)
        return measure.bind(table, target, self.seed)

    def varying(self, columns: Iterable[int]) -> HostArray:
        """Columns that are not constant in the sampled rows, sorted."""
        unique = np.unique(np.fromiter(columns, dtype=np.intp))
        return unique[self.table.scale[unique] > 0]

    def score(self, columns: Iterable[int]) -> float:
        """Score of a set of columns, at least 0; the empty set and constant columns score 0."""
        check_time()
        inside = self.varying(columns)
        key = tuple(inside.tolist())
        if key not in self._scores:
            self._scores[key] = max(0.0, float(self.problem.score_set(inside))) if inside.size else 0.0
        return self._scores[key]

    def score_each(self, columns: Iterable[int]) -> HostArray:
        """Score of each column alone."""
        return np.array([self.score((column,)) for column in columns])

    def top_selected(self, limit: int) -> HostArray:
        """At most `limit` selected features: the largest weights, or the highest scores alone."""
        if self.selected.size <= limit:
            return self.selected
        weights = fitted_weights(self.selector)
        strength = self.score_each(self.selected) if weights is None else weights[self.selected]
        return np.sort(self.selected[best_first(strength)[:limit]])


def _sampled(table: Table, rows: HostArray) -> Table:
    """Some rows as a table with column statistics of its own."""
    x = np.asarray(to_numpy(gather(table.x, rows, None)), dtype=np.float64)
    return Table.of(x, kinds=None if table.kinds is None else table.kinds.rows_of(x))


def _target_rows(target: Target, rows: HostArray) -> Target:
    """Some rows of an encoded target; classes without rows are dropped from the codes."""
    if target.parts:
        return target.rows_of(rows)
    if target.values is not None:
        values = target.values[rows]
        return Target.of_values(values, float(values.mean()), float(values.std()) or 1.0)
    assert target.classes is not None
    return Target.of_classes(target.classes[target.codes[rows]])
