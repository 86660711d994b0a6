"""Losses of sets of features, each computed once."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.model import Model, ScoredModel
from l1lsmi._numerics.optimization.exchanges import NO_HINTS, FeatureSet, Hints
from l1lsmi.strategies._parallel import cluster_of
from l1lsmi.strategies._pieces import CODEC, recall, recall_each
from l1lsmi.strategies.protocols import SetScorer, Weightable

#: Sets are scored on a cluster where one takes so many seconds; below that, sending them costs too much.
WORTH_SENDING = 0.05
#: Terms explain nearly as much as kernels where the unexplained share is no larger than by this factor.
SUFFICIENT = 1.03


class ScoreCache:
    """Scores sets of features with common scorers, each set once.

    Parameters
    ----------
    problem : Weightable
    n_scorers : int
        Scorers whose mean loss a set must lower to be preferred.
    term_loss : callable or None
        Loss of a set by its terms, nan where there is none.
    """

    def __init__(
        self,
        problem: Weightable,
        n_scorers: int = 1,
        term_loss: Callable[[FeatureSet], float] | None = None,
    ) -> None:
        self._problem = problem
        self._term_loss = term_loss
        self.n_scorers = n_scorers
        self._scorers: dict[int, SetScorer] = {}
        self._scores: dict[tuple[int, FeatureSet], ScoredModel] = {}
        #: Whether the loss of a set is the mean of its losses by the scorer and by its terms. With a weak
        #: signal both are noisy and err in different ways; a strong one may not be made of terms.
        self.use_terms = False
        #: Sets that were requested of the first scorer, in order; others were scored ahead of their request.
        self._requested: dict[FeatureSet, None] = {}
        self._cluster = cluster_of(problem)
        self._batched = problem.batch_size() > 1
        self._expected: list[FeatureSet] = []
        self._seconds = 0.0

    def scorer(self, i: int = 0) -> SetScorer:
        """Scorer ``i``."""
        if i not in self._scorers:
            self._scorers[i] = self._problem.set_scorer(i)
        return self._scorers[i]

    def score(self, support: FeatureSet, i: int = 0) -> ScoredModel:
        """Loss and model of a set by scorer ``i``."""
        if i == 0:
            self._requested[support] = None
        if i == 0 and (0, support) not in self._scores and self._uses_cluster():
            self._score_on_cluster(support)
        if (i, support) not in self._scores:
            (self._scores[i, support],) = recall_each("score", i, [support], partial(self._computed, i))
        return self.with_terms(support, self._scores[i, support])

    def _computed(self, i: int, supports: Iterator[FeatureSet]) -> Iterator[ScoredModel]:
        for support in supports:
            scorer, started = self.scorer(i), time.perf_counter()
            (scored,) = scorer.score_sets([support])
            self._seconds = time.perf_counter() - started
            yield scored

    def _computed_on_cluster(self, supports: Iterator[FeatureSet]) -> Iterator[ScoredModel]:
        for timed in self._cluster.in_order(timed_score, self._problem, supports):
            self._seconds = timed.seconds
            yield timed.scored

    def score_near(self, supports: Sequence[FeatureSet], model: Model) -> list[ScoredModel]:
        """Losses of sets at the width of a model, by the first scorer."""
        return recall(
            "scores near",
            [tuple(supports), model],
            lambda: list(self.scorer().score_sets(supports, model)),
        )

    def expect(self, supports: Sequence[FeatureSet]) -> None:
        """Say which sets may be requested next, in order: a cluster scores some of them ahead."""
        self._expected = list(dict.fromkeys(supports))

    def score_ahead(self, supports: Sequence[FeatureSet]) -> None:
        """Score sets of the same size that may be requested, if a batch costs little more than one."""
        unseen = [s for s in dict.fromkeys(supports) if (0, s) not in self._scores]
        if unseen and self._batched:
            found = recall("scores", unseen, lambda: list(self.scorer().score_sets(unseen)))
            for support, scored in zip(unseen, found, strict=True):
                self._scores[0, support] = scored

    def with_terms(self, support: FeatureSet, scored: ScoredModel) -> ScoredModel:
        """The loss of a set by the scorer, or the mean of that and the loss by its terms."""
        return self.mean_with_terms(support, scored) if self.use_terms else scored

    def mean_with_terms(self, support: FeatureSet, scored: ScoredModel) -> ScoredModel:
        """The mean of the loss of a set by a scorer and by its terms, where these have losses."""
        of_terms = math.nan if self._term_loss is None else self._term_loss(support)
        return scored if math.isnan(of_terms) else ScoredModel((scored.loss + of_terms) / 2, scored.model)

    def terms_suffice(self, support: FeatureSet) -> bool:
        """Whether the terms of a set explain as much as the first scorer does, or nearly so."""
        of_terms = math.nan if self._term_loss is None else self._term_loss(support)
        return of_terms <= SUFFICIENT * self.score(support).loss

    def remember(self, support: FeatureSet, timed: TimedScore) -> None:
        """Take over a score of the first scorer that was computed in another process."""
        self._scores[0, support] = timed.scored
        self._seconds = timed.seconds

    def _uses_cluster(self) -> bool:
        return self._cluster is not None and self._seconds >= WORTH_SENDING

    def _score_on_cluster(self, support: FeatureSet) -> None:
        """Score a set, and at the same time as many of those expected as workers are free for."""
        others = [s for s in self._expected if s != support and (0, s) not in self._scores]
        if others:  # one alone is scored here
            some = [support, *others[: self._cluster.width() - 1]]
            found = recall_each("score", 0, some, self._computed_on_cluster)
            for one, scored in zip(some, found, strict=True):
                self._scores[0, one] = scored

    def best_first(self, size: int) -> list[FeatureSet]:
        """Sets of a size that were requested of the first scorer, the best first.

        Sets that were only scored ahead do not count: the answer must not depend on where it is computed.
        """
        requested = [support for support in self._requested if len(support) == size]
        return sorted(requested, key=lambda support: self.score(support).loss)

    def loss(self, support: FeatureSet) -> float:
        """Mean loss over the scorers."""
        return float(np.mean([self.score(support, i).loss for i in range(self.n_scorers)]))

    def prefers(self, new: FeatureSet, old: FeatureSet) -> bool:
        """Tell whether ``new`` is better; the other scorers are used only if the first one prefers it."""
        return _is_lower(self.score(new).loss, self.score(old).loss) and _is_lower(
            self.loss(new), self.loss(old)
        )

    def gradient(self, support: FeatureSet, candidates: HostArray) -> HostArray:
        """Gradient of minus the loss in the squared weight of every candidate."""
        model = self.score(support).model
        return recall(
            "gradient",
            [support, candidates],
            lambda: np.asarray(self.scorer().set_gradient(np.array(support), model, candidates)),
        )

    def neighbours(
        self,
        supports: Sequence[FeatureSet],
        candidates: HostArray,
        width: int,
        hints: Hints = NO_HINTS,
    ) -> list[list[FeatureSet]]:
        """Sets one exchange away from each set, the most promising first."""
        models = [self.score(support).model for support in supports]

        def compute() -> list[list[FeatureSet]]:
            if len(supports) > 1 and self._uses_cluster():
                options = (candidates, width, hints)
                items = (((s,), (model,), *options) for s, model in zip(supports, models, strict=True))
                return [near for (near,) in self._cluster.in_order(_neighbours, self._problem, items)]
            return self.scorer().neighbours(supports, models, candidates, width, hints)

        found = recall("neighbours", [tuple(supports), candidates, width, hints], compute)
        return [self._by_terms_too(near) for near in found]

    def _by_terms_too(self, near: list[FeatureSet]) -> list[FeatureSet]:
        """The same sets, those first that are best by the scorer or by their terms, in turn."""
        if not self.use_terms or self._term_loss is None:
            return near
        by_terms = sorted(near, key=self._term_loss)
        return list(dict.fromkeys(s for pair in zip(near, by_terms, strict=True) for s in pair))


@CODEC.record
class TimedScore(NamedTuple):
    """The score of a set by the first scorer, and how long it took."""

    scored: ScoredModel
    seconds: float


# -- tasks of workers ------------------------------------------------------------------------------

#: First scorers that are not in use: a scorer has buffers, so that threads do not share one.
_IDLE: WeakKeyDictionary[Any, list[SetScorer]] = WeakKeyDictionary()


@contextmanager
def _idle_scorer(problem: Weightable) -> Iterator[SetScorer]:
    idle = _IDLE.setdefault(problem, [])
    try:
        scorer = idle.pop()
    except IndexError:
        scorer = problem.set_scorer(0)
    yield scorer
    idle.append(scorer)


def timed_score(problem: Weightable, support: FeatureSet) -> TimedScore:
    """Score a set by the first scorer."""
    with _idle_scorer(problem) as scorer:
        started = time.perf_counter()
        (scored,) = scorer.score_sets([support])
        return TimedScore(scored, time.perf_counter() - started)


def _neighbours(problem: Weightable, item: tuple[Any, ...]) -> list[list[FeatureSet]]:
    with _idle_scorer(problem) as scorer:
        return scorer.neighbours(*item)


def _is_lower(new: float, old: float) -> bool:
    """Tell a difference from rounding errors, which differ between machines."""
    return new < old - 1e-9 * abs(old)
