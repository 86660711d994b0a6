"""What strategies need from a measure that is bound to data.

Every strategy names one of these protocols in ``needs``. They are checked once, before a search begins, and
so is what ``draws`` and ``set_scorer`` return; the error lists what is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from l1lsmi._arrays import Array, HostArray
from l1lsmi._numerics.model import Evaluation, Fit, Model, ModelBatch, ScoredModel
from l1lsmi._numerics.optimization.exchanges import NO_HINTS, Hints
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import RowTable


class Features(Protocol):
    """Needed by all strategies.

    ``columns`` are the features that vary; ``on_rows`` gives the same problem on some rows, in memory.
    """

    @property
    def table(self) -> RowTable: ...
    @property
    def n_features(self) -> int: ...
    @property
    def columns(self) -> HostArray: ...
    def on_rows(self, rows: HostArray) -> Any: ...


class ScoresEach(Features, Protocol):
    """Scores of single columns: needed by `Ranking`."""

    def score_each(self, columns: HostArray) -> HostArray: ...


class ScoresAdditions(ScoresEach, Protocol):
    """Scores of sets that grow: needed by `Forward` and `Exhaustive`.

    Scores of neighbouring sets may be approximate, unless ``neighbours_are_exact``.
    """

    neighbours_are_exact: bool

    def score_set(self, columns: HostArray) -> float: ...
    def score_additions(self, columns: HostArray, others: HostArray) -> HostArray: ...


class ScoresRemovals(Features, Protocol):
    """Scores of sets that shrink: needed by `Backward`."""

    neighbours_are_exact: bool

    def score_set(self, columns: HostArray) -> float: ...
    def score_removals(self, columns: HostArray, members: HostArray) -> HostArray: ...


class Draws(Protocol):
    """A batch of random draws of a weightable measure: model selection, values and gradients.

    Methods on a batch take weights (r, w) that ``asarray`` has converted, and columns (r, w) on the host. The
    other methods use the first draw, and take weights and columns of shape (w,).

    - ``take(members)``: some draws of the batch;
    - ``start_models(weights, columns, narrowness)``: an initial model for every draw;
    - ``evaluate(weights, last, columns, models)``: the objective to maximise, and its gradient in the
      weights; models may follow from the last evaluation;
    - ``estimate(evaluation, columns, models)``: estimates of the measure at an evaluation, (r,);
    - ``value_and_gradient(weights, columns, model)``: estimate of the measure and its gradient;
    - ``select_model(weights, columns)``, ``select_model_near(weights, columns, model)``: the best model;
    - ``score_set(columns, near=None)``: loss of a set of features with equal weights;
    - ``set_gradient(columns, model, candidates)``: gradient of minus that loss in the squared weights of
      candidates, absent ones included;
    - ``fit(weights, columns, model)``: the estimate and its cross-validation score.
    """

    def asarray(self, values: HostArray) -> Array: ...
    def take(self, members: Sequence[int]) -> Draws: ...
    def start_models(
        self, weights: Array, columns: HostArray, narrowness: Sequence[float]
    ) -> list[Model]: ...
    def evaluate(
        self, weights: Array, last: Evaluation | None, columns: HostArray, models: ModelBatch
    ) -> Evaluation: ...
    def estimate(self, evaluation: Evaluation, columns: HostArray, models: ModelBatch) -> HostArray: ...
    def value_and_gradient(
        self, weights: HostArray, columns: HostArray, model: Model
    ) -> tuple[float, HostArray]: ...
    def select_model(self, weights: HostArray, columns: HostArray) -> ScoredModel: ...
    def select_model_near(self, weights: HostArray, columns: HostArray, model: Model) -> ScoredModel: ...
    def score_set(self, columns: HostArray, near: Model | None = None) -> ScoredModel: ...
    def set_gradient(self, columns: HostArray, model: Model, candidates: HostArray) -> HostArray: ...
    def fit(self, weights: HostArray, columns: HostArray, model: Model) -> Fit: ...


class SetScorer(Protocol):
    """Compares sets of features of the same size by a loss, and proposes exchanges of features.

    - ``score_sets(sets, near=None)``: losses and models; with ``near``, at the width of that model;
    - ``set_gradient(columns, model, candidates)``: gradient of minus the loss;
    - ``neighbours(sets, models, candidates, width, hints)``: for each set, the sets that differ from
      it by one exchange, best first; hints are features that should be tried, and features that must stay.
    """

    def score_sets(self, sets: Sequence[tuple[int, ...]], near: Model | None = None) -> list[ScoredModel]: ...
    def set_gradient(self, columns: HostArray, model: Model, candidates: HostArray) -> HostArray: ...
    def neighbours(
        self,
        sets: Sequence[tuple[int, ...]],
        models: Sequence[Model],
        candidates: HostArray,
        width: int,
        hints: Hints = NO_HINTS,
    ) -> list[list[tuple[int, ...]]]: ...


class Weightable(Features, Protocol):
    """Values and gradients in feature weights: needed by `L1Path` and `L1Paper`.

    - ``draws(keys)``: a batch of random draws, each of which depends on its key alone (`Draws`);
    - ``batch_size()``: how many draws to process at once;
    - ``rng(*key)``: a separate generator for every key;
    - ``set_scorer(i)``: scorer ``i`` of sets of features (`SetScorer`);
    - ``best_loss``: a lower bound on the losses of all sets;
    - ``target``: the encoded target;
    - ``restricted_to(columns)``: the same problem, in which a search uses some features only;
    - ``loss_functions()``: functions of the target whose unexplained variance is the loss of a set, or None;
    - ``score_of(fit)``: the score of a fit;
    - ``on_sample(n_rows)``: the problem on a sample of the rows, and the problem on all rows that goes with
      it.
    """

    @property
    def best_loss(self) -> float: ...
    @property
    def target(self) -> Target: ...
    def loss_functions(self) -> HostArray | None: ...
    def restricted_to(self, columns: HostArray) -> Any: ...
    def draws(self, keys: Sequence[tuple[int, ...]]) -> Draws: ...
    def batch_size(self) -> int: ...
    def rng(self, *key: int) -> np.random.Generator: ...
    def set_scorer(self, i: int) -> SetScorer: ...
    def score_of(self, fit: Fit) -> float: ...
    def on_sample(self, n_rows: int) -> tuple[Any, Any]: ...


def missing_members(protocol: type, thing: object) -> list[str]:
    """Names of the members of a protocol that an object lacks."""
    names: dict[str, None] = {}
    for cls in reversed(protocol.__mro__):
        if getattr(cls, "_is_protocol", False) and cls is not Protocol:
            members = [*getattr(cls, "__annotations__", {}), *vars(cls)]
            names.update(dict.fromkeys(name for name in members if not name.startswith("_")))
    return [name for name in names if not hasattr(thing, name)]
