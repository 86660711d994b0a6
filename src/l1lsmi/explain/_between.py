"""How much two features say about each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.correlation import correlation_between
from l1lsmi._numerics.discrete import is_discrete
from l1lsmi._numerics.ranking import best_first
from l1lsmi._numerics.target import Target
from l1lsmi.explain._study import Study
from l1lsmi.measures import HSIC

#: Less than for the target: pairs are many, and there is one column on either side.
LITTLE: dict[str, Any] = {"n_basis": 30, "sigma_factors": (0.4, 1.2), "regularizations": (1e-3, 1e-1)}
#: Columns that correlate more than this are copies, whatever an estimate makes of them.
COPY = 0.9999
#: A pair that says less than this in one direction is not asked in the other.
NOTHING = 0.01
#: Selected features that HSIC looks at for the nearest, those that correlate most.
MOST_BY_CORRELATION = 20


class Between:
    """Squared-loss mutual information of pairs of features in the rows of a study.

    A feature with few values (at most 10) is the target, as classes, where the other has more. Where both
    are alike in this, it is the mean of both directions: the estimate knows a feature from a target. Where
    the first of the two columns as a target is told less than 0.01, that is the answer.

    Parameters
    ----------
    study : Study
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        self._problems: dict[int, Any] = {}
        self._one_way: dict[tuple[int, int], float] = {}
        self._few: dict[int, bool] = {}

    def smi(self, one: int, other: int) -> float:
        """The same whichever comes first; 0 for a column that is constant."""
        first, last = sorted((one, other), key=lambda column: (not self._has_few_values(column), column))
        back = self._says(last, about=first)
        if self._has_few_values(first) != self._has_few_values(last) or back < NOTHING:
            return back
        return 0.5 * (back + self._says(first, about=last))

    def matrix(self, columns: HostArray) -> HostArray:
        """All pairs of some columns; nan on the diagonal."""
        values = np.full((columns.size, columns.size), np.nan)
        for a, b in zip(*np.triu_indices(columns.size, 1), strict=True):
            values[a, b] = values[b, a] = self.smi(int(columns[a]), int(columns[b]))
        return values

    def correlations(self, columns: HostArray, others: HostArray) -> HostArray:
        """Absolute correlations; 0 for columns that are constant."""
        rows = np.arange(self._study.n_rows)
        table = self._study.table
        return correlation_between(
            np.asarray(table.take(rows, columns)), np.asarray(table.take(rows, others))
        )

    def nearest(self, column: int, members: HostArray, correlations: HostArray) -> tuple[int, float]:
        """The member that shares most with a column, and how much: few are compared in full."""
        order = best_first(correlations)
        if correlations[order[0]] > COPY:
            return int(members[order[0]]), self.smi(column, int(members[order[0]]))
        members = members[order[:MOST_BY_CORRELATION]]
        varying = members[self._study.table.scale[members] > 0]
        if varying.size == 0 or self._study.table.scale[column] == 0:
            return int(members[0]), 0.0
        if varying.size > 2:
            quick = self._study.bind(self._as_target(column), HSIC()).score_each(varying)
            # The nearest by either look, which is often the same.
            varying = np.unique(varying[[0, int(best_first(np.asarray(quick))[0])]])
        shared = np.array([self.smi(column, int(member)) for member in varying])
        best = int(best_first(shared)[0])
        return int(varying[best]), float(shared[best])

    def _says(self, column: int, about: int) -> float:
        key = (column, about)
        if key not in self._one_way:
            table = self._study.table
            if table.scale[column] == 0 or table.scale[about] == 0:
                return 0.0
            if about not in self._problems:
                measure = self._study.quick(**LITTLE)
                self._problems[about] = self._study.bind(self._as_target(about), measure)
            self._one_way[key] = max(0.0, float(self._problems[about].score_set(np.array([column]))))
        return self._one_way[key]

    def _as_target(self, column: int) -> Target:
        table = self._study.table
        values = np.asarray(table.x)[:, column]
        if self._has_few_values(column):
            return Target.of_classes(values)
        return Target.of_values(values, float(table.mean[column]), float(table.scale[column]))

    def _has_few_values(self, column: int) -> bool:
        if column not in self._few:
            self._few[column] = bool(is_discrete(np.asarray(self._study.table.x)[:, [column]])[0])
        return self._few[column]
