"""Models of kernel measures, and the results of fitting and evaluating them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from l1lsmi._arrays import Array, HostArray


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


class ScoredModel(NamedTuple):
    """The best model of a set of features, and its loss: lower is better."""

    loss: float
    model: Model


class Fit(NamedTuple):
    """Coefficients of the basis functions, the estimate of the measure, and its cross-validation score."""

    alpha: HostArray
    value: float
    cv_score: float


class ModelBatch(NamedTuple):
    """Models of a batch of restarts, where their arrays are."""

    sigma: Array  # (r,)
    regularization: Array  # (r,)


class Evaluation(NamedTuple):
    """An objective that is to rise, at one point for every member of a batch.

    ``regularization`` is that of the next step; ``sums`` is what `estimate` needs beside the weights.
    """

    weights: Array  # (r, w)
    value: Array  # (r,)
    gradient: Array  # (r, w)
    regularization: Array  # (r,)
    sums: Any = None
