"""Which features a report speaks of: only these have their names in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.report.names import shown


class Mentions:
    """Collects the numbers of features that parts of a report speak of.

    Parameters
    ----------
    names : sequence of str
        Names of all features.
    selected : numpy.ndarray of int
    weights : numpy.ndarray of float, or None
        Weights of all features, where the selector has any.
    """

    def __init__(self, names: Sequence[str], selected: HostArray, weights: HostArray | None) -> None:
        self.names = names
        self.weights = weights
        order = selected if weights is None else selected[np.argsort(-weights[selected], kind="stable")]
        #: Selected features, the heaviest first.
        self.selected = [int(j) for j in order]
        self._place = {j: place for place, j in enumerate(self.selected)}
        self._mentioned: dict[int, None] = {}

    def is_selected(self, j: int) -> bool:
        return int(j) in self._place

    def one(self, j: Any) -> int:
        """Speak of one feature."""
        self._mentioned[int(j)] = None
        return int(j)

    def some(self, columns: Iterable[Any], most: int) -> tuple[list[int], int]:
        """Speak of at most so many features, the selected ones first; says how many are left out."""
        ordered = sorted(map(int, columns), key=lambda j: self._place.get(j, len(self._place) + j))
        return [self.one(j) for j in ordered[:most]], max(0, len(ordered) - most)

    def listed(self) -> list[dict[str, Any]]:
        """Everything the page needs to know of the features it speaks of."""
        order = sorted(self._mentioned, key=lambda j: (self._place.get(j, len(self._place)), j))
        return [{"id": j, "name": shown(self.names[j]), "selected": self.is_selected(j)} for j in order]
