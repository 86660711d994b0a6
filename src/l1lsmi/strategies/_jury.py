"""Comparing sets of features with each other, on common ground."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from l1lsmi._numerics.optimization.swaps import promising_swaps
from l1lsmi.strategies._base import cluster_of
from l1lsmi.strategies._search import Problem

Set = tuple[int, ...]

#: Sets go to a cluster where to judge one takes so many seconds; below that, the way there costs too much.
WORTH_SENDING = 0.05


class Jury:
    """Judges sets of features with common jurors, each set once."""

    def __init__(self, problem: Problem, n_judges: int) -> None:
        self._problem = problem
        self.n_judges = n_judges
        self._jurors: dict[int, Any] = {}
        self._judgements: dict[tuple[int, Set], Any] = {}
        #: Sets that the first judge was asked about, in order: what is judged ahead is not asked for yet.
        self._asked: dict[Set, None] = {}
        self._cluster = cluster_of(problem)
        self._expected: list[Set] = []
        self._seconds = 0.0

    def juror(self, i: int = 0) -> Any:
        """Judge ``i``."""
        if i not in self._jurors:
            self._jurors[i] = self._problem.juror(i)
        return self._jurors[i]

    def judge(self, support: Set, i: int = 0) -> Any:
        """What judge ``i`` says."""
        if i == 0:
            self._asked[support] = None
        if i == 0 and (0, support) not in self._judgements and self._spreads():
            self._judge_on_cluster(support)
        if (i, support) not in self._judgements:
            juror, started = self.juror(i), time.perf_counter()
            self._judgements[i, support] = juror.judge(np.array(support))
            self._seconds = time.perf_counter() - started
        return self._judgements[i, support]

    def expect(self, supports: Sequence[Set]) -> None:
        """Say about which sets the first judge may be asked next, in order: a cluster takes some ahead."""
        self._expected = list(dict.fromkeys(supports))

    def remember(self, support: Set, verdict: Verdict) -> None:
        """Take over what the first judge said elsewhere."""
        self._judgements[0, support] = verdict.judgement
        self._seconds = verdict.seconds

    def _spreads(self) -> bool:
        return self._cluster is not None and self._seconds >= WORTH_SENDING

    def _judge_on_cluster(self, support: Set) -> None:
        """Judge a set, and beside it as many of those expected as workers are free for."""
        others = [s for s in self._expected if s != support and (0, s) not in self._judgements]
        if others:  # one alone is judged here
            some = [support, *others[: self._cluster.width() - 1]]
            verdicts = self._cluster.in_order(judged, self._problem, iter(some))
            for one, verdict in zip(some, verdicts, strict=True):
                self.remember(one, verdict)

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
        models = [self.judge(support).model for support in supports]
        if len(supports) > 1 and self._spreads():
            items = (((s,), (model,), candidates, width) for s, model in zip(supports, models, strict=True))
            found = self._cluster.in_order(_neighbours_elsewhere, self._problem, items)
            return [near for (near,) in found]
        return _neighbours(self.juror(), supports, models, candidates, width)


class Verdict(NamedTuple):
    """What the first judge says of a set, and how long it took."""

    judgement: Any
    seconds: float


# -- what workers do ---------------------------------------------------------------------------

#: First judges that are not at work: a judge has work space, so that threads do not share one.
_IDLE: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()


@contextmanager
def _a_juror(problem: Problem) -> Iterator[Any]:
    idle = _IDLE.setdefault(problem, [])
    try:
        juror = idle.pop()
    except IndexError:
        juror = problem.juror(0)
    yield juror
    idle.append(juror)


def judged(problem: Problem, support: Set) -> Verdict:
    """Judge a set by the first judge."""
    with _a_juror(problem) as juror:
        started = time.perf_counter()
        judgement = juror.judge(np.array(support))
        return Verdict(judgement, time.perf_counter() - started)


def _neighbours_elsewhere(problem: Problem, item: tuple[Any, ...]) -> list[list[Set]]:
    with _a_juror(problem) as juror:
        return _neighbours(juror, *item)


def _neighbours(
    juror: Any, supports: Sequence[Set], models: Sequence[Any], candidates: Any, width: int
) -> list[list[Set]]:
    if hasattr(juror, "neighbours_many"):
        found: list[list[Set]] = juror.neighbours_many(supports, models, candidates, width)
        return found
    slopes = (
        juror.set_slopes(np.array(s), model, candidates) for s, model in zip(supports, models, strict=True)
    )
    return [
        list(promising_swaps(s, of_s, candidates, width)) for s, of_s in zip(supports, slopes, strict=True)
    ]


def _is_lower(new: float, old: float) -> bool:
    """Tell a difference from rounding errors, which differ between machines."""
    return new < old - 1e-9 * abs(old)
