"""Comparing sets of features with each other, on common draws of folds and centres."""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi.strategies._search import Draw, Problem

__all__ = ["Jury"]


class Jury:
    """Judges sets of features on common draws, each set once."""

    def __init__(self, problem: Problem, n_judges: int) -> None:
        self._problem = problem
        self.n_judges = n_judges
        self._draws: dict[int, Draw] = {}
        self._judgements: dict[tuple[int, tuple[int, ...]], Any] = {}

    def draw(self, i: int = 0) -> Draw:
        """The draw of judge ``i``."""
        if i not in self._draws:
            self._draws[i] = self._problem.draw(0, i)
        return self._draws[i]

    def judge(self, support: tuple[int, ...], i: int = 0) -> Any:
        """What judge ``i`` says."""
        if (i, support) not in self._judgements:
            self._judgements[i, support] = self.draw(i).judge(np.array(support))
        return self._judgements[i, support]

    def cv_score(self, support: tuple[int, ...]) -> float:
        """Mean score over the judges."""
        return float(np.mean([self.judge(support, i).cv_score for i in range(self.n_judges)]))

    def prefers(self, new: tuple[int, ...], old: tuple[int, ...]) -> bool:
        """Tell whether ``new`` is better; a set that loses with the first judge is not heard further."""
        return _is_lower(self.judge(new).cv_score, self.judge(old).cv_score) and _is_lower(
            self.cv_score(new), self.cv_score(old)
        )


def _is_lower(new: float, old: float) -> bool:
    """Tell a difference from rounding errors, which differ between machines."""
    return new < old - 1e-9 * abs(old)
