"""Scores of sets of features by the leave-one-out loss: some rows propose exchanges, all rows compare."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.model import Model, ScoredModel
from l1lsmi._numerics.optimization.exchanges import NO_HINTS, FeatureSet, Hints
from l1lsmi._numerics.squared_loss.leave_one_out import LeaveOneOutLoss
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import RowTable

#: Rows at most from which exchanges are proposed; they are compared on all rows.
PROPOSAL_ROWS = 2_000


class LeaveOneOutScorer:
    """Proposes exchanges from few kernels on some rows, and scores with twice as many kernels on all rows.

    Parameters
    ----------
    table : RowTable
    target : Target
    n_basis : int
    rng : numpy.random.Generator
    known_rows : numpy.ndarray of int or None
        Rows that centres are drawn from; None is all.
    """

    #: No set can have a lower loss.
    best_loss = 0.0

    def __init__(
        self,
        table: RowTable,
        target: Target,
        n_basis: int,
        rng: np.random.Generator,
        known_rows: HostArray | None = None,
    ) -> None:
        self._proposing = LeaveOneOutLoss(table, target, n_basis, rng, PROPOSAL_ROWS, known_rows)
        self._comparing = LeaveOneOutLoss(table, target, 2 * n_basis, rng, None, known_rows)

    def score_sets(self, sets: Sequence[FeatureSet], near: Model | None = None) -> list[ScoredModel]:
        """Losses of sets of the same size."""
        return self._comparing.score_sets(sets, near)

    def set_gradient(self, columns: HostArray, model: Model, candidates: HostArray) -> HostArray:
        """Gradient of minus the loss in the squared weights of ``candidates``."""
        support = tuple(int(j) for j in columns)
        return np.asarray(self._proposing.set_gradients([support], [model], candidates)[0])

    def neighbours(
        self,
        sets: Sequence[FeatureSet],
        models: Sequence[Model],
        candidates: HostArray,
        width: int,
        hints: Hints = NO_HINTS,
    ) -> list[list[FeatureSet]]:
        """For each set those one exchange away that may be better, the best first."""
        return self._proposing.neighbours(sets, models, candidates, width, hints)
