"""Comparing sets of features with each other, on common ground."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from l1lsmi.numerics.swaps import promising_swaps
from l1lsmi.strategies._search import Problem

__all__ = ["Jury"]

Set = tuple[int, ...]


class Jury:
    """Judges sets of features with common jurors, each set once."""

    def __init__(self, problem: Problem, n_judges: int) -> None:
        self._problem = problem
        self.n_judges = n_judges
        self._jurors: dict[int, Any] = {}
        self._judgements: dict[tuple[int, Set], Any] = {}
        #: Sets that the first judge was asked about, in order: what is judged ahead is not asked for yet.
        self._asked: dict[Set, None] = {}

    def juror(self, i: int = 0) -> Any:
        """Judge ``i``."""
        if i not in self._jurors:
            self._jurors[i] = self._problem.juror(i)
        return self._jurors[i]

    def judge(self, support: Set, i: int = 0) -> Any:
        """What judge ``i`` says."""
        if i == 0:
            self._asked[support] = None
        if (i, support) not in self._judgements:
            self._judgements[i, support] = self.juror(i).judge(np.array(support))
        return self._judgements[i, support]

    def best_first(self, size: int) -> list[Set]:
        """Sets of a size that the first judge was asked about, the best first.

        Whatever was judged ahead beside them: the answer must not depend on where the rows are.
        """
        asked = [support for support in self._asked if len(support) == size]
        return sorted(asked, key=lambda support: self._judgements[0, support].cv_score)

    def cv_score(self, support: Set) -> float:
        """Mean score over the judges."""
        return float(np.mean([self.judge(support, i).cv_score for i in range(self.n_judges)]))

    def prefers(self, new: Set, old: Set) -> bool:
        """Tell whether ``new`` is better; a set that loses with the first judge is not heard further."""
        return _is_lower(self.judge(new).cv_score, self.judge(old).cv_score) and _is_lower(
            self.cv_score(new), self.cv_score(old)
        )

    def slopes(self, support: Set, candidates: Any) -> Any:
        """How much the score would gain by a little of every candidate."""
        return self.juror().set_slopes(np.array(support), self.judge(support).model, candidates)

    def judge_all(self, supports: Sequence[Set]) -> None:
        """Let the first judge see several sets of the same size, where it does better with many at a time."""
        unseen = [s for s in dict.fromkeys(supports) if (0, s) not in self._judgements]
        if unseen and hasattr(self.juror(), "judge_many"):
            for support, judgement in zip(unseen, self.juror().judge_many(unseen), strict=True):
                self._judgements[0, support] = judgement

    def neighbours(self, supports: Sequence[Set], candidates: Any, width: int) -> list[list[Set]]:
        """Sets one exchange away, the most promising first; a juror may know better than by slopes."""
        if hasattr(self.juror(), "neighbours_many"):
            models = [self.judge(support).model for support in supports]
            found: list[list[Set]] = self.juror().neighbours_many(supports, models, candidates, width)
            return found
        return [
            list(promising_swaps(support, self.slopes(support, candidates), candidates, width))
            for support in supports
        ]


def _is_lower(new: float, old: float) -> bool:
    """Tell a difference from rounding errors, which differ between machines."""
    return new < old - 1e-9 * abs(old)
