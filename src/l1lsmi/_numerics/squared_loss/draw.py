"""Density ratios by regularised least squares, for a batch of draws of folds and centres."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np

from l1lsmi._arrays import Array, HostArray, namespace, to_numpy
from l1lsmi._numerics.density_ratio import DensityRatioDraw, weight_gradient
from l1lsmi._numerics.grids import (
    LEAST_REGULARIZATION,
    NEAR_REGULARIZATIONS,
    PATH_REGULARIZATION_RANGE,
    REFINEMENT_STEPS,
    SET_REGULARIZATIONS,
    START_REGULARIZATIONS,
)
from l1lsmi._numerics.model import Evaluation, Fit, Model, ModelBatch, ScoredModel
from l1lsmi._numerics.squared_loss import block_terms
from l1lsmi._numerics.squared_loss.least_squares import (
    FoldSums,
    TargetSums,
    fit_all_rows,
    held_out_gradient,
    held_out_scores,
    smi_gradient,
)
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import RowTable

#: From here on, products of kernels in float32 are accurate enough to be solved with. With less
#: regularization their rounding errors would be fitted: kernels are then multiplied in float64, block by
#: block.
FLOAT32_REGULARIZATION = 1e-3
#: Numbers in the sums that are taken in one pass over the rows at most.
MOST_SUMS = 2_000_000


class LeastSquaresDraw(DensityRatioDraw):
    """Fits by least squares: values and gradients in the weights cost four matrix products."""

    steps = REFINEMENT_STEPS
    is_batched = True

    def __init__(self, table: RowTable, target: Target, **draw: Any) -> None:
        super().__init__(table, target, **draw)
        self.target = TargetSums.of(self.rows.sum(block_terms.target_gram), self.rows.fold_sizes)
        self._precision = table.resources.precision

    def take(self, members: Sequence[int]) -> LeastSquaresDraw:
        """Some draws of the batch."""
        if list(members) == list(range(len(self.centers))):
            return self
        some = copy(self)
        some.centers, some.basis = self.centers[list(members)], self.basis.take(members)
        some.rows, some.target = self.rows.take(members), self.target.take(members)
        return some

    def _needs_float64(self, regularization: Any) -> bool:
        """Tell whether kernels must be multiplied in float64."""
        if self._precision == "float64":
            return False  # they are in float64 anyway
        return float(np.min(to_numpy(regularization))) < FLOAT32_REGULARIZATION

    def _width_sums(
        self, weights: HostArray, columns: HostArray, sigmas: Sequence[float], least: float
    ) -> list[FoldSums]:
        """Sums at several widths, for regularizations from ``least`` on."""
        # With cached rows there is a pass for each width, whose sums stay in cache; else one for all widths.
        at_a_time = [(sigma,) for sigma in sigmas] if self.rows.cached else [tuple(sigmas)]
        squares, float64 = self.asarray(weights[None] ** 2), self._needs_float64(np.array(least))
        columns = columns[None]
        found: list[FoldSums] = []
        for some in at_a_time:
            arguments: tuple[Any, ...] = (self.basis, squares, columns, some, float64)
            sums = self.rows.sum(block_terms.width_sums, *arguments, columns=columns)
            found.extend(FoldSums(*sums[i : i + 2]) for i in range(0, len(sums), 2))
        return found

    # -- model selection -------------------------------------------------------------------

    def _held_out(self, sums: FoldSums, regularizations: Sequence[float]) -> HostArray:
        """Cross-validation scores of the first draw, (folds, regularizations)."""
        return np.asarray(to_numpy(held_out_scores(sums, self.target, regularizations))[0])

    def _fold_scores(
        self,
        weights: HostArray,
        columns: HostArray,
        sigmas: Sequence[float],
        regularizations: Sequence[float],
    ) -> list[HostArray]:
        of_widths = self._width_sums(weights, columns, sigmas, min(regularizations))
        return [self._held_out(sums, regularizations) for sums in of_widths]

    def _scores_at(
        self, weights: HostArray, columns: HostArray, sigma: float
    ) -> Callable[[Sequence[float]], HostArray]:
        # The search may end at the least of them.
        sums = self._width_sums(weights, columns, [sigma], LEAST_REGULARIZATION)[0]
        return lambda regularizations: self._held_out(sums, regularizations)

    def _allows(self, model: Model) -> bool:
        return model.regularization >= LEAST_REGULARIZATION

    def _near_regularizations(self) -> Sequence[float]:
        return NEAR_REGULARIZATIONS

    def _score_widths(
        self, weights: HostArray, columns: HostArray, sigmas: Sequence[float], near: float | None
    ) -> list[ScoredModel]:
        found: list[ScoredModel] = []
        of_widths = self._width_sums(weights, columns, sigmas, SET_REGULARIZATIONS[0])
        for sigma, sums in zip(sigmas, of_widths, strict=True):
            # The best regularization changes slowly with the width.
            start = found[-1].model.regularization if near is None and found else near
            score, regularization = self._best_regularization(sums, start)
            found.append(ScoredModel(score, Model(sigma, regularization)))
        return found

    def _best_regularization(self, sums: FoldSums, near: float | None) -> tuple[float, float]:
        """Step through the regularizations from ``near`` for as long as the score falls."""
        scores: dict[int, float] = {}
        best = 1 if near is None else SET_REGULARIZATIONS.index(near)
        while True:
            around = [i for i in (best - 1, best, best + 1) if 0 <= i < len(SET_REGULARIZATIONS)]
            missing = [i for i in around if i not in scores]
            if missing:
                values = self._held_out(sums, [SET_REGULARIZATIONS[i] for i in missing])
                scores.update(zip(missing, values.mean(axis=0).tolist(), strict=True))
            lowest = min(around, key=lambda i: scores[i])
            if lowest == best:
                return scores[best], SET_REGULARIZATIONS[best]
            best = lowest

    # -- values and gradients --------------------------------------------------------------

    def _start_models(self, weights: Array, columns: HostArray, sigmas: list[float]) -> list[Model]:
        squares = (weights / self.asarray(np.array(sigmas))[:, None]) ** 2
        arguments: tuple[Any, ...] = (
            self.basis,
            squares,
            columns,
            self._needs_float64(np.array(START_REGULARIZATIONS)),
        )
        sums = self.rows.sum(block_terms.kernel_sums, *arguments, columns=columns)
        scores = to_numpy(held_out_scores(sums, self.target, START_REGULARIZATIONS))
        best = scores.mean(axis=1).argmin(axis=1)
        return [Model(sigma, START_REGULARIZATIONS[i]) for sigma, i in zip(sigmas, best, strict=True)]

    def fit(self, weights: HostArray, columns: HostArray, model: Model, cv_score: float | None = None) -> Fit:
        """Fit the density ratio; alpha is (C, b)."""
        squares = self.asarray((weights[None] / model.sigma) ** 2)
        arguments: tuple[Any, ...] = (
            self.basis,
            squares,
            columns[None],
            self._needs_float64(np.array(model.regularization)),
        )
        sums = self.rows.sum(block_terms.kernel_sums, *arguments, columns=columns)
        if cv_score is None:
            cv_score = float(self._held_out(sums, [model.regularization]).mean())
        alpha, value = fit_all_rows(sums, self.target, model.regularization)
        return Fit(to_numpy(alpha)[0], float(value[0]), cv_score)

    def value_and_gradient(
        self, weights: HostArray, columns: HostArray, model: Model
    ) -> tuple[float, HostArray]:
        """SMI estimate and its gradient in the weights."""
        squares = self.asarray((weights[None] / model.sigma) ** 2)
        float64 = self._needs_float64(np.array(model.regularization))
        arguments: tuple[Any, ...] = (self.basis, squares, columns[None], float64)
        sums = self.rows.sum(block_terms.kernel_sums, *arguments, columns=columns)
        alpha, smi = fit_all_rows(sums, self.target, model.regularization)
        arguments += (smi_gradient(alpha, self.target), columns[None])
        in_squares = self.rows.sum(block_terms.gradient_in_squares, *arguments, columns=columns)
        return float(smi[0]), weight_gradient(weights, model.sigma, to_numpy(in_squares)[0])

    def evaluate(
        self, weights: Array, last: Evaluation | None, columns: HostArray, models: ModelBatch
    ) -> Evaluation:
        """Minus the cross-validation score and its gradient; the regularization is to follow its gradient."""
        sigma = models.sigma[:, None]
        regularization = models.regularization if last is None else last.regularization
        arguments: tuple[Any, ...] = (
            self.basis,
            (weights / sigma) ** 2,
            columns,
            self._needs_float64(regularization),
        )
        sums = self.rows.sum(block_terms.kernel_sums, *arguments, columns=columns)
        score, gradient, along = held_out_gradient(sums, self.target, regularization)
        arguments += (gradient, columns)
        in_squares = self.rows.sum(block_terms.gradient_in_squares, *arguments, columns=columns)
        in_weights = weight_gradient(weights, sigma, in_squares)
        following = _moved_regularization(regularization, along, weights * in_weights)
        return Evaluation(weights, -score, in_weights, following, (sums, regularization))

    def estimate(self, evaluation: Evaluation, columns: HostArray, models: ModelBatch) -> HostArray:
        """SMI estimates where an evaluation was made, (r,)."""
        sums, regularization = evaluation.sums
        return to_numpy(fit_all_rows(sums, self.target, regularization)[1])

    def neighbour_values(self, columns: HostArray, others: HostArray, sign: float, model: Model) -> HostArray:
        """Estimates for the sets with (sign 1) or without (sign -1) each of the others, under one model."""
        at_a_time = max(1, MOST_SUMS // (self.centers[0].size * self.centers.shape[2]))
        float64 = self._needs_float64(np.array(model.regularization))
        values: list[float] = []
        for start in range(0, others.size, at_a_time):
            some = others[start : start + at_a_time]
            arguments: tuple[Any, ...] = (self.basis, columns, some, sign, model.sigma**-2, float64)
            found = self.rows.sum(block_terms.moved_sums, *arguments, columns=np.union1d(columns, some))
            for i in range(0, len(found), 2):
                sums = FoldSums(found[i], found[i + 1])
                values.append(float(fit_all_rows(sums, self.target, model.regularization)[1][0]))
        return np.array(values)

    def set_gradient(self, columns: HostArray, model: Model, candidates: HostArray) -> HostArray:
        """Gradient of minus the cross-validation score in the squared weights of ``candidates``."""
        squares = self.asarray(np.full((1, columns.size), model.sigma**-2))
        arguments: tuple[Any, ...] = (
            self.basis,
            squares,
            columns[None],
            self._needs_float64(np.array(model.regularization)),
        )
        sums = self.rows.sum(block_terms.kernel_sums, *arguments, columns=columns)
        _, gradient, _ = held_out_gradient(sums, self.target, model.regularization)
        arguments += (gradient, candidates[None])
        needed = np.union1d(columns, candidates)
        in_squares = self.rows.sum(block_terms.gradient_in_squares, *arguments, columns=needed)
        return np.asarray(to_numpy(in_squares)[0] / model.sigma**2)


def _moved_regularization(regularization: Array, along: Array, scaled_gradient: Array) -> Array:
    """Regularizations of the next step: uphill in their logarithm, beside the steepest weight."""
    xp = namespace(along)
    steepest = xp.max(xp.abs(scaled_gradient), axis=1)
    safe = xp.where(steepest > 0, steepest, xp.ones_like(steepest))
    move = xp.where(steepest > 0, xp.clip(3.0 * along / safe, -0.7, 0.7), xp.zeros_like(along))
    return xp.clip(regularization * xp.exp(move), *PATH_REGULARIZATION_RANGE)
