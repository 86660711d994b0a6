"""What selectors that score features on a similarity graph of the rows have in common."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from l1lsmi._arrays import HostArray
from l1lsmi._base import Selector
from l1lsmi._numerics.ranking import learned_from_scores
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Table
from l1lsmi._sparse import FEW_VALUES
from l1lsmi._validation.parameters import CATEGORICAL
from l1lsmi._validation.target import TASKS
from l1lsmi.baselines._columns import Scorer, score_coordinates


class GraphSelector(Selector):
    """Scores of features on a graph of the rows, from the target or from all features.

    Subclasses have the parameters below and say in `_scorer` how columns are scored.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "graph": [StrOptions({"supervised", "unsupervised"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "sigma": [Interval(Real, 1e-12, 1e12, closed="both"), None],
        "task": [StrOptions(set(TASKS))],
        "categorical_features": CATEGORICAL,
    }

    graph: str
    ranking_: HostArray
    scores_: HostArray

    def _takes_any_kind(self) -> bool:
        return True

    def _max_dense_values(self, n_rows: int) -> int:
        # A graph from the target needs a few columns at a time, one from all features all of them.
        return FEW_VALUES if self._uses_target() else super()._max_dense_values(n_rows)

    def _uses_target(self) -> bool:
        return bool(self.graph == "supervised")

    def _learn(
        self, table: Table, target: Target | None, k: int, row_weights: HostArray | None = None
    ) -> dict[str, Any]:
        weights = row_weights if target is None else target.row_weights
        targets = [None] if target is None else target.each()
        scores = [score_coordinates(table, self._scorer(table, one, weights)) for one in targets]
        return learned_from_scores(np.mean(scores, axis=0), table.varying, table.n_columns, k)

    def _scorer(self, table: Table, target: Target | None, weights: HostArray | None) -> Scorer:
        """How columns are scored, higher is better, on the graph of one target or of all features."""
        raise NotImplementedError
