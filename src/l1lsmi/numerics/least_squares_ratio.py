"""Density ratios by regularised least squares, seen through one draw of folds and centres."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from l1lsmi.arrays import Array, HostArray, namespace, to_numpy
from l1lsmi.numerics.density_ratio import DensityRatioDraw
from l1lsmi.numerics.least_squares import (
    FoldSums,
    RowSlopes,
    TargetSums,
    fit_all_rows,
    fold_sums,
    held_out_scores,
    held_out_slopes,
    kernel_slopes,
    smi_slopes,
)
from l1lsmi.numerics.model import Climb, Fit, Judgement, Model
from l1lsmi.numerics.target import Target
from l1lsmi.rows import Table

__all__ = ["LeastSquaresDraw"]

#: Regularizations that a set of features is judged at.
REGULARIZATIONS = tuple(float(v) for v in np.logspace(-4, 0, 5))
#: Below this, rounding errors of the Gram matrix are no longer small beside the regularization.
LEAST_REGULARIZATION = 1e-11
#: The climb keeps the regularization in this range: below it, wide kernels turn into
#: polynomials of low degree, which see no interactions.
CLIMB_REGULARIZATIONS = (1e-3, 10.0)


class LeastSquaresDraw(DensityRatioDraw):
    """Fits by least squares: values and gradients in the weights cost four matrix products."""

    # Many rows support less regularization than any fixed grid has.
    steps = ((1.0, 0.1), (1.0, 10.0), *DensityRatioDraw.steps)

    def __init__(self, table: Table, target: Target, **draw: Any) -> None:
        super().__init__(table, target, **draw)

        def gram(_: int, kernel: Array) -> Array:
            xp = namespace(kernel)
            if target.is_classification:
                return xp.sum(kernel, axis=2, keepdims=True)
            return xp.matmul(xp.matrix_transpose(kernel), kernel)

        grams = self.rows.sum(gram, self._target_kernels)
        self.target = TargetSums.of(grams, self.rows.fold_sizes.tolist())
        self._foldless: list[Array] | None = None

    # -- sums ------------------------------------------------------------------------------

    def _sums(self, exponents: list[Array], sigma: float) -> FoldSums:
        def term(_: int, exponent: Array, target_kernel: Array) -> FoldSums:
            return fold_sums(self._kernel(exponent, sigma), target_kernel)

        return FoldSums(*self.rows.sum(term, exponents, self._target_kernels))

    def _sum_kernels(self, kernels: list[Array]) -> FoldSums:
        def term(_: int, kernel: Array, target_kernel: Array) -> FoldSums:
            return fold_sums(kernel, target_kernel)

        return FoldSums(*self.rows.sum(term, kernels, self._target_kernels))

    # -- model selection -------------------------------------------------------------------

    def _fold_scores(
        self, exponents: list[Array], sigma: float, regularizations: Sequence[float]
    ) -> HostArray:
        return to_numpy(held_out_scores(self._sums(exponents, sigma), self.target, regularizations))

    def _allows(self, model: Model) -> bool:
        return model.regularization >= LEAST_REGULARIZATION

    def _start_regularizations(self) -> Sequence[float]:
        return [r for r in REGULARIZATIONS if r >= CLIMB_REGULARIZATIONS[0]]

    def _score_width(self, exponents: list[Array], sigma: float, near: float | None) -> Judgement:
        """Walk through the regularizations from ``near`` for as long as the score falls."""
        sums = self._sums(exponents, sigma)
        scores: dict[int, float] = {}
        best = 1 if near is None else REGULARIZATIONS.index(near)
        while True:
            around = [i for i in (best - 1, best, best + 1) if 0 <= i < len(REGULARIZATIONS)]
            missing = [i for i in around if i not in scores]
            if missing:
                values = held_out_scores(sums, self.target, [REGULARIZATIONS[i] for i in missing])
                scores.update(zip(missing, to_numpy(values).mean(axis=0).tolist(), strict=True))
            lowest = min(around, key=lambda i: scores[i])
            if lowest == best:
                return Judgement(scores[best], Model(sigma, REGULARIZATIONS[best]))
            best = lowest

    # -- values and gradients --------------------------------------------------------------

    def fit(self, weights: HostArray, columns: HostArray, model: Model, cv_score: float | None = None) -> Fit:
        """Fit the density ratio; alpha is (C, b)."""
        sums = self._sum_kernels(self._kernels(weights, columns, model.sigma))
        if cv_score is None:
            scores = held_out_scores(sums, self.target, [model.regularization])
            cv_score = float(to_numpy(scores).mean())
        alpha, value = fit_all_rows(sums, self.target, model.regularization)
        return Fit(to_numpy(alpha), value, cv_score)

    def value_and_gradient(
        self, weights: HostArray, columns: HostArray, model: Model
    ) -> tuple[float, HostArray]:
        """SMI estimate and its gradient in the weights."""
        kernels = self._kernels(weights, columns, model.sigma)
        sums = self._sum_kernels(kernels)
        alpha, smi = fit_all_rows(sums, self.target, model.regularization)
        in_squares = self._pull_back(kernels, smi_slopes(alpha, self.target), columns)
        return smi, self._weight_slopes(weights, model, in_squares)

    def climb(self, weights: HostArray, columns: HostArray, model: Model) -> Climb:
        """Evaluate minus the cross-validation score; the regularization moves uphill too."""
        kernels = self._kernels(weights, columns, model.sigma)
        sums = self._sum_kernels(kernels)
        score, slopes, slope = held_out_slopes(sums, self.target, model.regularization)
        gradient = self._weight_slopes(weights, model, self._pull_back(kernels, slopes, columns))
        steepest = float(np.abs(weights * gradient).max())
        move = min(max(3.0 * slope / steepest, -0.7), 0.7) if steepest > 0 else 0.0
        low, high = CLIMB_REGULARIZATIONS
        regularization = min(max(model.regularization * math.exp(move), low), high)

        def estimate() -> float:
            return fit_all_rows(sums, self.target, model.regularization)[1]

        return Climb(weights, -score, gradient, Model(model.sigma, regularization), estimate)

    def _value(self, kernels: list[Array], model: Model) -> float:
        # No folds are needed for the value: all rows of a block go into one product per group.
        def term(_: int, kernel: Array, target_kernel: Array) -> FoldSums:
            xp = namespace(kernel)
            by_group = xp.reshape(kernel, (1, kernel.shape[0], *self.centers.shape))
            return fold_sums(xp.permute_dims(by_group, (0, 2, 1, 3)), target_kernel)

        sums = FoldSums(*self.rows.sum(term, kernels, self._foldless_target_kernels()))
        return fit_all_rows(sums, self.target, model.regularization)[1]

    def _foldless_target_kernels(self) -> list[Array]:
        if self._foldless is None:
            self._foldless = []
            for kernel in self._target_kernels:
                xp = namespace(kernel)
                n_folds, n_groups, n_rows, n_each = kernel.shape
                by_group = xp.permute_dims(kernel, (1, 0, 2, 3))
                self._foldless.append(xp.reshape(by_group, (1, n_groups, n_folds * n_rows, n_each)))
        return self._foldless

    def _pull_back(self, kernels: list[Array], slopes: RowSlopes, columns: HostArray) -> HostArray:
        def slope_of(i: int) -> Array:
            change = kernel_slopes(kernels[i], self._target_kernels[i], slopes)
            return namespace(change).reshape(change, (-1, self.centers.size))

        return self.rows.pull_back(slope_of, columns)

    def set_slopes(self, columns: HostArray, model: Model, candidates: HostArray) -> HostArray:
        """Slopes of minus the cross-validation score in the squared weights of ``candidates``."""
        kernels = self._kernels(np.ones(columns.size), columns, model.sigma)
        _, slopes, _ = held_out_slopes(self._sum_kernels(kernels), self.target, model.regularization)
        return self._pull_back(kernels, slopes, candidates) / model.sigma**2
