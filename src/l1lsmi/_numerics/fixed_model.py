"""Draws of a measure that selects no model and draws nothing at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.model import Evaluation, Fit, Model, ModelBatch, ScoredModel


class FixedModelDraws:
    """Everything that a weighting needs of a measure, from its value and its gradient.

    A subclass has ``value`` and ``gradient``, and may have ``scale_of``. Weights of shape (w,) multiply the
    standardised columns; ``sigma`` is the scale of the measure, such as a kernel width (a measure without one
    ignores it).

    - ``scale_of(weights, columns)``: the scale at which weighted columns are measured;
    - ``value(weights, columns, sigma)``: the measure;
    - ``gradient(weights, columns, candidates, sigma)``: the measure, and its gradient in the squared weights
      of ``candidates``, some of which may be absent from ``columns``.
    """

    def scale_of(self, weights: HostArray, columns: HostArray) -> float:
        """The scale at which weighted columns are measured.

        Parameters
        ----------
        weights : numpy.ndarray of shape (w,)
        columns : numpy.ndarray of int, shape (w,)

        Returns
        -------
        sigma : float
        """
        return 1.0

    def value(self, weights: HostArray, columns: HostArray, sigma: float) -> float:
        """The measure of weighted columns.

        Parameters
        ----------
        weights : numpy.ndarray of shape (w,)
        columns : numpy.ndarray of int, shape (w,)
        sigma : float

        Returns
        -------
        value : float
        """
        raise NotImplementedError

    def gradient(
        self, weights: HostArray, columns: HostArray, candidates: HostArray, sigma: float
    ) -> tuple[float, HostArray]:
        """The measure, and its gradient in the squared weights of candidates.

        Parameters
        ----------
        weights : numpy.ndarray of shape (w,)
        columns, candidates : numpy.ndarray of int
        sigma : float

        Returns
        -------
        value : float
        gradient : numpy.ndarray of shape (candidates,)
        """
        raise NotImplementedError

    # -- what `strategies.protocols.Draws` asks for ------------------------------------------

    def asarray(self, values: HostArray) -> HostArray:
        """Weights stay on the host."""
        return values

    def take(self, members: Sequence[int]) -> Any:
        """All restarts see the same rows, one restart at a time."""
        return self

    def start_models(
        self, weights: HostArray, columns: HostArray, narrowness: Sequence[float]
    ) -> list[Model]:
        """Models whose squared scale is the squared scale of the weighted columns over a narrowness."""
        return [
            Model(self.start_scale(w, c) / math.sqrt(n))
            for w, c, n in zip(weights, columns, narrowness, strict=True)
        ]

    def start_scale(self, weights: HostArray, columns: HostArray) -> float:
        """The scale that restarts begin near."""
        return self.scale_of(weights, columns)

    def evaluate(
        self, weights: HostArray, last: Evaluation | None, columns: HostArray, models: ModelBatch
    ) -> Evaluation:
        """The measure and its gradient in the weights."""
        (one,), (of_one,), (sigma,) = weights, columns, models.sigma
        value, gradient = self.value_and_gradient(one, of_one, Model(float(sigma)))
        return Evaluation(weights, np.array([value]), gradient[None], models.regularization)

    def estimate(self, evaluation: Evaluation, columns: HostArray, models: ModelBatch) -> HostArray:
        """The measure where an evaluation was made."""
        return np.asarray(evaluation.value)

    def value_and_gradient(
        self, weights: HostArray, columns: HostArray, model: Model
    ) -> tuple[float, HostArray]:
        """The measure and its gradient in the weights."""
        value, in_squares = self.gradient(weights, columns, columns, model.sigma)
        return value, np.asarray(2 * weights * in_squares)

    def select_model(self, weights: HostArray, columns: HostArray) -> ScoredModel:
        """The scale of the weighted columns, and minus the measure."""
        sigma = self.scale_of(weights, columns)
        return ScoredModel(-self.value(weights, columns, sigma), Model(sigma))

    def select_model_near(self, weights: HostArray, columns: HostArray, model: Model) -> ScoredModel:
        """The same as `select_model`: there is no choice."""
        return self.select_model(weights, columns)

    def score_set(self, columns: HostArray, near: Model | None = None) -> ScoredModel:
        """Minus the measure of a set of columns, all with weight 1, and its scale."""
        return self.select_model(np.ones(columns.size), columns)

    def set_gradient(self, columns: HostArray, model: Model, candidates: HostArray) -> HostArray:
        """Gradient in the squared weights of ``candidates``, where ``columns`` have weight 1."""
        return self.gradient(np.ones(columns.size), columns, candidates, model.sigma)[1]

    def fit(self, weights: HostArray, columns: HostArray, model: Model, cv_score: float | None = None) -> Fit:
        """The measure of weighted columns; there are no coefficients to fit."""
        value = self.value(weights, columns, model.sigma)
        return Fit(np.empty(0), value, -value if cv_score is None else cv_score)
