"""The features that a report refers to: only their names are written to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from l1lsmi._arrays import HostArray
from l1lsmi.report._names import printable


class FeatureIndex:
    """Records the features that the sections of a report refer to.

    Parameters
    ----------
    names : sequence of str
        Names of all features.
    selected : numpy.ndarray of int
        In the order in which they are shown.
    weights : numpy.ndarray of float, or None
        Weights of all features, where the selector has weights.
    """

    def __init__(self, names: Sequence[str], selected: HostArray, weights: HostArray | None) -> None:
        self.names = names
        self.weights = weights
        self.selected = [int(j) for j in selected]
        self._place = {j: place for place, j in enumerate(self.selected)}
        self._used: set[int] = set()

    def is_selected(self, j: int) -> bool:
        return int(j) in self._place

    def add(self, j: Any) -> int:
        """Record a feature and return its id."""
        self._used.add(int(j))
        return int(j)

    def add_first(self, columns: Iterable[Any], limit: int) -> tuple[list[int], int]:
        """Record at most `limit` features, selected ones first; also count those that are left out."""
        ordered = sorted(map(int, columns), key=lambda j: self._place.get(j, len(self._place) + j))
        return [self.add(j) for j in ordered[:limit]], max(0, len(ordered) - limit)

    def entries(self) -> list[dict[str, Any]]:
        """The recorded features for the page, selected ones first."""
        order = sorted(self._used, key=lambda j: (self._place.get(j, len(self._place)), j))
        return [{"id": j, "name": printable(self.names[j]), "selected": self.is_selected(j)} for j in order]
