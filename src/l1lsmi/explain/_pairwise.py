"""Dependence between pairs of features."""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._clock import check_time
from l1lsmi._numerics.correlation import correlation_between, correlation_of_columns
from l1lsmi._numerics.discrete import is_discrete
from l1lsmi._numerics.ranking import best_first
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import RowTable
from l1lsmi.explain._subset_scorer import SubsetScorer
from l1lsmi.explain.sample import MIN_ROWS
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


def copied(table: RowTable, one: int, other: int, correlation: float) -> str | None:
    """What two columns are that are the same but for units or names of levels, in words; None if not."""
    if correlation <= COPY:
        return None
    levels = (0, 0) if table.kinds is None else tuple(table.kinds.n_levels[[one, other]].tolist())
    if levels[0] != levels[1]:
        return None
    return "it is a relabelled copy of" if levels[0] else "it is a rescaled copy of"


class PairwiseSMI:
    """Squared-loss mutual information between features.

    The estimate is not symmetric: one feature takes the part of the target. A category, or a feature with at
    most 10 values, is the target, as classes, where the other one has more values. Otherwise both directions
    are averaged, unless the first is below 0.01.

    Rows in which the target is missing are left out; where "missing" is a value of its own, it is one more
    class. With fewer than 20 rows left nothing is estimated, and the result is 0.

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
        check_time()
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
        found = correlation_between(
            np.asarray(table.take(rows, columns)), np.asarray(table.take(rows, others))
        )
        kinds = table.kinds
        if kinds is not None:
            x, plain = np.asarray(table.x), kinds.is_plain
            for a, one in enumerate(columns):
                for b in np.flatnonzero(~(plain[one] & plain[others])):
                    levels = int(kinds.n_levels[one]), int(kinds.n_levels[others[b]])
                    found[a, b] = correlation_of_columns(
                        x[:, one], levels[0], x[:, others[b]], levels[1], MIN_ROWS
                    )
        return found

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
            problem = self._bound(column, HSIC())
            hsic = np.zeros(varying.size) if problem is None else np.asarray(problem.score_each(varying))
            varying = np.unique(varying[[0, int(best_first(hsic)[0])]])
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
                self._problems[target] = self._bound(target, measure)
            problem = self._problems[target]
            score = 0.0 if problem is None else float(problem.score_set(np.array([column])))
            self._directed[key] = max(0.0, score)
        return self._directed[key]

    def _bound(self, column: int, measure: Any) -> Any:
        """A measure bound to a column as the target; None where too few rows have a value."""
        table = self._scorer.table
        values = np.asarray(table.x)[:, column]
        gone = np.isnan(values)
        if table.kinds is not None and table.kinds.as_value[column] and self._is_discrete(column):
            values, gone = np.where(gone, np.inf, values), np.zeros_like(gone)
        if gone.any():
            rows = np.flatnonzero(~gone)
            if rows.size < MIN_ROWS:
                return None
            values, table = values[rows], table.rows_of(rows)
        if self._is_discrete(column):
            return self._scorer.bind(Target.of_classes(values), measure, table)
        mean, scale = float(table.mean[column]), float(table.scale[column])
        return self._scorer.bind(Target.of_values(values, mean, scale), measure, table)

    def _is_discrete(self, column: int) -> bool:
        if column not in self._discrete:
            table = self._scorer.table
            if table.kinds is not None and table.kinds.is_category[column]:
                return True
            values = np.asarray(table.x)[:, column]
            self._discrete[column] = bool(is_discrete(values[~np.isnan(values)][:, None])[0])
        return self._discrete[column]
