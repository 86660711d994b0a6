"""Scores of sets of features by the cross-validation score of a draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.model import Model, ScoredModel
from l1lsmi._numerics.optimization.exchanges import NO_HINTS, FeatureSet, Hints, promising_exchanges


class DrawScorer:
    """Compares sets of features by one draw, and proposes exchanges by its gradient.

    Parameters
    ----------
    draw : object
        Has ``score_set`` and ``set_gradient``.
    """

    def __init__(self, draw: Any) -> None:
        self._draw = draw

    def score_sets(self, sets: Sequence[FeatureSet], near: Model | None = None) -> list[ScoredModel]:
        """Losses of sets, each under its best model, or at the width of a given one."""
        return [self._draw.score_set(np.array(support), near) for support in sets]

    def set_gradient(self, columns: HostArray, model: Model, candidates: HostArray) -> HostArray:
        """Gradient of minus the loss in the squared weights of ``candidates``."""
        gradient: HostArray = self._draw.set_gradient(columns, model, candidates)
        return gradient

    def neighbours(
        self,
        sets: Sequence[FeatureSet],
        models: Sequence[Model],
        candidates: HostArray,
        width: int,
        hints: Hints = NO_HINTS,
    ) -> list[list[FeatureSet]]:
        """For each set those one exchange away that are better by the gradient, the most promising first.

        The gradient decides which features enter, hinted or not.
        """
        found = []
        for support, model in zip(sets, models, strict=True):
            gradient = self.set_gradient(np.array(support), model, candidates)
            near = promising_exchanges(support, gradient, candidates, width)
            found.append([other for other in near if set(hints.stay) & set(support) <= set(other)])
        return found
