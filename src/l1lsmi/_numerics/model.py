"""Words that every kernel measure answers in: a model, a judgement, a fit, a step of a climb."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from l1lsmi._arrays import HostArray


@dataclass(frozen=True)
class Model:
    """Hyper-parameters of a kernel measure; a measure without regularization has 0 there."""

    sigma: float
    regularization: float = 0.0

    def rescaled(self, factor: float) -> Model:
        """The same kernels for weights that are ``factor`` times as large."""
        return Model(self.sigma * factor, self.regularization)


@dataclass(frozen=True)
class Grid:
    """Candidates for model selection.

    Attributes
    ----------
    sigma_factors : sequence of float
        Kernel widths over the median distance of the weighted rows.
    sigmas : sequence of float
        Further kernel widths, absolute: they tie the radius of the weights to a scale.
    regularizations : sequence of float
    """

    sigma_factors: Sequence[float]
    sigmas: Sequence[float]
    regularizations: Sequence[float]


class Judgement(NamedTuple):
    """How good a set of features is, lower is better, and the model that shows it."""

    cv_score: float
    model: Model


class Fit(NamedTuple):
    """Coefficients of the basis functions, the estimate of the measure, and its score."""

    alpha: HostArray
    value: float
    cv_score: float


class Stretch(NamedTuple):
    """What is to be climbed at one radius: from where, with which model, in how many steps at most."""

    weights: HostArray
    columns: HostArray
    model: Model
    max_iter: int


class Climbed(NamedTuple):
    """Where a stretch led.

    ``weights`` come after the last step; ``evaluated``, ``value`` and ``estimate`` are those of the last
    evaluation, before it; ``model`` is the one for the next step.
    """

    weights: HostArray
    evaluated: HostArray
    value: float
    estimate: float
    model: Model
    n_steps: int


class Climb(NamedTuple):
    """One evaluation on the way up.

    ``weights`` is where it was made, ``value`` is minus the score that is to fall, ``gradient`` its
    gradient in the weights, ``model`` the one for the next step; ``estimate()`` works out the
    estimate of the measure at this point.
    """

    weights: HostArray
    value: float
    gradient: HostArray
    model: Model
    estimate: Callable[[], float]
