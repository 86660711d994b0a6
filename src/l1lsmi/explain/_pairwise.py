"""Dependence between pairs of features."""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.correlation import correlation_between
from l1lsmi._numerics.discrete import is_discrete
from l1lsmi._numerics.ranking import best_first
from l1lsmi._numerics.target import Target
from l1lsmi.explain._subset_scorer import SubsetScorer
from l1lsmi.measures import HSIC

#: Cheaper settings than for the target: there are many pairs, with one column on each side.
PAIR_SETTINGS: dict[str, Any] = {
    "n_basis": 30,
    "sigma_factors": (0.4, 1.2),
    "regularizations": (1e-3, 1e-1),
}
#: Columns with a higher absolute correlation are copies of each other.
COPY = 0.9999
#: Where one direction is below this, the other direction is not estimated.
NEGLIGIBLE = 0.01
#: Selected features with the highest correlation, which HSIC searches for the nearest one.
MAX_CANDIDATES = 20


class PairwiseSMI:
    """Squared-loss mutual information between features.

    The estimate is not symmetric: one feature takes the part of the target. A feature with at most 10
    values is the target, as classes, where the other one has more. Otherwise both directions are averaged,
    unless the first is below 0.01.

    Parameters
    ----------
    scorer : SubsetScorer
    """

    def __init__(self, scorer: SubsetScorer) -> None:
        self._scorer = scorer
        self._problems: dict[int, Any] = {}
        self._directed: dict[tuple[int, int], float] = {}
        self._discrete: dict[int, bool] = {}

    def smi(self, one: int, other: int) -> float:
        """Symmetric in its arguments; 0 for constant columns."""
        first, last = sorted((one, other), key=lambda column: (not self._is_discrete(column), column))
        forward = self._directed_smi(last, target=first)
        if self._is_discrete(first) != self._is_discrete(last) or forward < NEGLIGIBLE:
            return forward
        return 0.5 * (forward + self._directed_smi(first, target=last))

    def matrix(self, columns: HostArray) -> HostArray:
        """All pairs of some columns; nan on the diagonal."""
        values = np.full((columns.size, columns.size), np.nan)
        for a, b in zip(*np.triu_indices(columns.size, 1), strict=True):
            values[a, b] = values[b, a] = self.smi(int(columns[a]), int(columns[b]))
        return values

    def correlations(self, columns: HostArray, others: HostArray) -> HostArray:
        """Absolute correlations; 0 for constant columns."""
        rows = np.arange(self._scorer.n_rows)
        table = self._scorer.table
        return correlation_between(
            np.asarray(table.take(rows, columns)), np.asarray(table.take(rows, others))
        )

    def nearest(self, column: int, members: HostArray, correlations: HostArray) -> tuple[int, float]:
        """The member with the largest SMI with a column, of those nearest by correlation and by HSIC."""
        order = best_first(correlations)
        if correlations[order[0]] > COPY:
            return int(members[order[0]]), self.smi(column, int(members[order[0]]))
        members = members[order[:MAX_CANDIDATES]]
        varying = members[self._scorer.table.scale[members] > 0]
        if varying.size == 0 or self._scorer.table.scale[column] == 0:
            return int(members[0]), 0.0
        if varying.size > 2:
            hsic = self._scorer.bind(self._as_target(column), HSIC()).score_each(varying)
            varying = np.unique(varying[[0, int(best_first(np.asarray(hsic))[0])]])
        values = np.array([self.smi(column, int(member)) for member in varying])
        best = int(best_first(values)[0])
        return int(varying[best]), float(values[best])

    def _directed_smi(self, column: int, target: int) -> float:
        key = (column, target)
        if key not in self._directed:
            table = self._scorer.table
            if table.scale[column] == 0 or table.scale[target] == 0:
                return 0.0
            if target not in self._problems:
                measure = self._scorer.quick_measure(**PAIR_SETTINGS)
                self._problems[target] = self._scorer.bind(self._as_target(target), measure)
            self._directed[key] = max(0.0, float(self._problems[target].score_set(np.array([column]))))
        return self._directed[key]

    def _as_target(self, column: int) -> Target:
        table = self._scorer.table
        values = np.asarray(table.x)[:, column]
        if self._is_discrete(column):
            return Target.of_classes(values)
        return Target.of_values(values, float(table.mean[column]), float(table.scale[column]))

    def _is_discrete(self, column: int) -> bool:
        if column not in self._discrete:
            self._discrete[column] = bool(is_discrete(np.asarray(self._scorer.table.x)[:, [column]])[0])
        return self._discrete[column]
