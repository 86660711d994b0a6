"""How much two features say about each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi.arrays import HostArray
from l1lsmi.explain._study import Study
from l1lsmi.measures import HSIC
from l1lsmi.numerics.correlation import correlation_between
from l1lsmi.numerics.discrete import is_discrete
from l1lsmi.numerics.ranking import best_first
from l1lsmi.numerics.target import Target

__all__ = ["Between"]

#: Fewer kernels than for the target: pairs are many, and there is one column on either side.
N_BASIS = 50
#: Selected features that are looked at for the nearest: by correlation first, by HSIC next.
MOST_BY_CORRELATION = 20
SHORTLIST = 2


class Between:
    """Squared-loss mutual information of pairs of features in the rows of a study.

    A feature with few values (at most 10) is the target, as classes, where the other has more. Where both
    are alike in this, it is the mean of both directions: the estimate knows a feature from a target.

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
        few = self._has_few_values(one), self._has_few_values(other)
        if few[0] != few[1]:
            return self._says(other, one) if few[0] else self._says(one, other)
        return 0.5 * (self._says(one, other) + self._says(other, one))

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
        members = members[best_first(correlations)[:MOST_BY_CORRELATION]]
        varying = members[self._study.table.scale[members] > 0]
        if varying.size == 0 or self._study.table.scale[column] == 0:
            return int(members[0]), 0.0
        if varying.size > SHORTLIST:
            quick = self._study.bind(self._as_target(column), HSIC()).score_each(varying)
            varying = varying[best_first(np.asarray(quick))[:SHORTLIST]]
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
                measure = self._study.quick(n_basis=N_BASIS)
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
