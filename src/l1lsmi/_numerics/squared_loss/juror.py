"""Who compares sets of features: some rows to look around, all rows to judge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from l1lsmi._arrays import HostArray, is_foreign
from l1lsmi._numerics.model import Judgement, Model
from l1lsmi._numerics.squared_loss.leave_one_out import LeaveOneOut
from l1lsmi._numerics.squared_loss.leave_one_out_together import LeaveOneOutTogether
from l1lsmi._numerics.target import Target
from l1lsmi._rows.folded import DEVICE_BLOCK_ROWS
from l1lsmi._rows.parted import RowsElsewhere
from l1lsmi._rows.table import Table

Set = tuple[int, ...]

#: Rows at most by which exchanges are proposed; they are judged by all.
ROWS_TO_LOOK_AT = 2_000


class Juror:
    """Looks around with some kernels on some rows, and judges with twice as many kernels on all rows.

    Parameters
    ----------
    table : Table or RowsElsewhere
    target : Target
    n_basis : int
    rng : numpy.random.Generator
    known_rows : numpy.ndarray of int or None
        Rows that centres are taken from; None is all.
    """

    #: No set can have a lower score.
    best_cv_score = 0.0

    def __init__(
        self,
        table: Table | RowsElsewhere,
        target: Target,
        n_basis: int,
        rng: np.random.Generator,
        known_rows: HostArray | None = None,
    ) -> None:
        self._quick = LeaveOneOut(table, target, n_basis, rng, ROWS_TO_LOOK_AT, known_rows)
        self._careful = LeaveOneOut(table, target, 2 * n_basis, rng, None, known_rows)
        self.judge = self._careful.judge
        self.set_slopes = self._quick.set_slopes
        self._together: tuple[LeaveOneOutTogether, LeaveOneOutTogether] | None = None
        few = table.n_rows <= DEVICE_BLOCK_ROWS and self._careful.rows.at_hand
        if isinstance(table, Table) and is_foreign(table.x) and few:
            quick, careful = (LeaveOneOutTogether(table, judge) for judge in (self._quick, self._careful))
            self._together = quick, careful

    def judge_many(self, sets: Sequence[Set]) -> list[Judgement]:
        """Judge sets of the same size: together on a device, else one by one."""
        if self._together is not None:
            return self._together[1].judge(sets)
        return [self.judge(np.array(support)) for support in sets]

    def neighbours_many(
        self, sets: Sequence[Set], models: Sequence[Model], candidates: HostArray, width: int
    ) -> list[list[Set]]:
        """For each set those one exchange away that are promising, the best first."""
        if self._together is not None:
            return self._together[0].neighbours(sets, models, candidates, width)
        return [
            self._quick.neighbours(support, model, candidates, width)
            for support, model in zip(sets, models, strict=True)
        ]
