"""Density ratios by regularised least squares, seen through one draw of folds and centres."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from l1lsmi._arrays import Array, HostArray, exp_in_place, in_float64, namespace, to_numpy
from l1lsmi._numerics.density_ratio import Basis, DensityRatioDraw
from l1lsmi._numerics.model import Climb, Fit, Judgement, Model
from l1lsmi._numerics.squared_loss.least_squares import (
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
from l1lsmi._numerics.target import Target
from l1lsmi._rows.folded import FoldedBlock
from l1lsmi._rows.table import Table

#: Regularizations that a set of features is judged at.
REGULARIZATIONS = tuple(float(v) for v in np.logspace(-4, 0, 5))
#: Below this, rounding errors of the Gram matrix are no longer small beside the regularization.
LEAST_REGULARIZATION = 1e-11
#: From here on, products of kernels in float32 are good enough to be solved with. Less regularization
#: than their rounding errors would fit to these: kernels are then multiplied in float64, block by block.
ROUGH_REGULARIZATION = 1e-3
#: Numbers in the sums that are taken in one visit of the rows at most.
MOST_SUMS = 2_000_000
#: The climb keeps the regularization in this range: below it, wide kernels turn into
#: polynomials of low degree, which see no interactions.
CLIMB_REGULARIZATIONS = (1e-3, 10.0)


class LeastSquaresDraw(DensityRatioDraw):
    """Fits by least squares: values and gradients in the weights cost four matrix products."""

    # Many rows support less regularization than any fixed grid has.
    steps = ((0, -1), (0, 1), *DensityRatioDraw.steps)

    def __init__(self, table: Table, target: Target, **draw: Any) -> None:
        super().__init__(table, target, **draw)

        grams = self.rows.sum(_target_gram)
        self.target = TargetSums.of(grams, self.rows.fold_sizes.tolist())

    def _sums(self, weights: HostArray, columns: HostArray, model: Model) -> FoldSums:
        arguments = (self.basis, weights, columns, model.sigma, _is_rough(model.regularization))
        return FoldSums(*self.rows.sum(_kernel_sums, *arguments, columns=columns))

    def _width_sums(
        self, weights: HostArray, columns: HostArray, sigmas: Sequence[float], least: float
    ) -> list[FoldSums]:
        """Sums at several widths, for regularizations from ``least`` on."""
        # Rows at hand are visited for each width, whose sums stay in cache; others once for all widths.
        at_a_time = [(sigma,) for sigma in sigmas] if self.rows.at_hand else [tuple(sigmas)]
        found: list[FoldSums] = []
        for some in at_a_time:
            arguments = (self.basis, weights, columns, some, _is_rough(least))
            sums = self.rows.sum(_width_sums, *arguments, columns=columns)
            found.extend(FoldSums(*sums[i : i + 2]) for i in range(0, len(sums), 2))
        return found

    # -- model selection -------------------------------------------------------------------

    def _fold_scores(
        self,
        weights: HostArray,
        columns: HostArray,
        sigmas: Sequence[float],
        regularizations: Sequence[float],
    ) -> list[HostArray]:
        return [
            to_numpy(held_out_scores(sums, self.target, regularizations))
            for sums in self._width_sums(weights, columns, sigmas, min(regularizations))
        ]

    def _scores_at(
        self, weights: HostArray, columns: HostArray, sigma: float
    ) -> Callable[[Sequence[float]], HostArray]:
        # The walk may lead to the least of them.
        sums = self._width_sums(weights, columns, [sigma], LEAST_REGULARIZATION)[0]
        return lambda regularizations: to_numpy(held_out_scores(sums, self.target, regularizations))

    def _allows(self, model: Model) -> bool:
        return model.regularization >= LEAST_REGULARIZATION

    def _near_regularizations(self) -> Sequence[float]:
        # Many rows support less regularization than few.
        return (1e-6, 1e-5, *REGULARIZATIONS)

    def _start_regularizations(self) -> Sequence[float]:
        return start_regularizations()

    def _score_widths(
        self, weights: HostArray, columns: HostArray, sigmas: Sequence[float], near: float | None
    ) -> list[Judgement]:
        found: list[Judgement] = []
        of_widths = self._width_sums(weights, columns, sigmas, REGULARIZATIONS[0])
        for sigma, sums in zip(sigmas, of_widths, strict=True):
            # The best regularization changes slowly with the width.
            start = found[-1].model.regularization if near is None and found else near
            score, regularization = self._best_regularization(sums, start)
            found.append(Judgement(score, Model(sigma, regularization)))
        return found

    def _best_regularization(self, sums: FoldSums, near: float | None) -> tuple[float, float]:
        """Walk through the regularizations from ``near`` for as long as the score falls."""
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
                return scores[best], REGULARIZATIONS[best]
            best = lowest

    # -- values and gradients --------------------------------------------------------------

    def fit(self, weights: HostArray, columns: HostArray, model: Model, cv_score: float | None = None) -> Fit:
        """Fit the density ratio; alpha is (C, b)."""
        sums = self._sums(weights, columns, model)
        if cv_score is None:
            scores = held_out_scores(sums, self.target, [model.regularization])
            cv_score = float(to_numpy(scores).mean())
        alpha, value = fit_all_rows(sums, self.target, model.regularization)
        return Fit(to_numpy(alpha), float(value), cv_score)

    def value_and_gradient(
        self, weights: HostArray, columns: HostArray, model: Model
    ) -> tuple[float, HostArray]:
        """SMI estimate and its gradient in the weights."""
        sums = self._sums(weights, columns, model)
        alpha, smi = fit_all_rows(sums, self.target, model.regularization)
        slopes = smi_slopes(alpha, self.target)
        in_squares = self._pull_back(weights, columns, model, slopes, columns)
        return float(smi), self._weight_slopes(weights, model, in_squares)

    def climb(self, weights: HostArray, columns: HostArray, model: Model) -> Climb:
        """Evaluate minus the cross-validation score; the regularization moves uphill too."""
        sums = self._sums(weights, columns, model)
        score, slopes, along = held_out_slopes(sums, self.target, model.regularization)
        in_squares = self._pull_back(weights, columns, model, slopes, columns)
        gradient = self._weight_slopes(weights, model, in_squares)
        steepest = float(np.abs(weights * gradient).max())
        move = min(max(3.0 * float(along) / steepest, -0.7), 0.7) if steepest > 0 else 0.0
        low, high = CLIMB_REGULARIZATIONS
        regularization = min(max(model.regularization * math.exp(move), low), high)

        def estimate() -> float:
            return float(fit_all_rows(sums, self.target, model.regularization)[1])

        return Climb(weights, -float(score), gradient, Model(model.sigma, regularization), estimate)

    def neighbour_values(self, columns: HostArray, others: HostArray, sign: float, model: Model) -> HostArray:
        """Estimates for the sets with (sign 1) or without (sign -1) each of the others, under one model."""
        at_a_time = max(1, MOST_SUMS // (self.centers.size * self.centers.shape[1]))
        values: list[float] = []
        for start in range(0, others.size, at_a_time):
            some = others[start : start + at_a_time]
            needed = np.union1d(columns, some)
            rough = _is_rough(model.regularization)
            arguments = (self.basis, columns, some, sign, model.sigma**-2, rough)
            found = self.rows.sum(_moved_sums, *arguments, columns=needed)
            for i in range(0, len(found), 2):
                sums = FoldSums(found[i], found[i + 1])
                values.append(float(fit_all_rows(sums, self.target, model.regularization)[1]))
        return np.array(values)

    def _pull_back(
        self, weights: HostArray, columns: HostArray, model: Model, slopes: RowSlopes, candidates: HostArray
    ) -> HostArray:
        rough = _is_rough(model.regularization)
        arguments = (self.basis, weights, columns, model.sigma, slopes, candidates, rough)
        needed = columns if candidates is columns else np.union1d(columns, candidates)
        return to_numpy(self.rows.sum(_slopes_in_squares, *arguments, columns=needed))

    def set_slopes(self, columns: HostArray, model: Model, candidates: HostArray) -> HostArray:
        """Slopes of minus the cross-validation score in the squared weights of ``candidates``."""
        weights = np.ones(columns.size)
        sums = self._sums(weights, columns, model)
        _, slopes, _ = held_out_slopes(sums, self.target, model.regularization)
        return self._pull_back(weights, columns, model, slopes, candidates) / model.sigma**2


def start_regularizations() -> list[float]:
    """Regularizations that a climb may begin with."""
    return [r for r in REGULARIZATIONS if r >= CLIMB_REGULARIZATIONS[0]]


def _is_rough(regularization: float) -> bool:
    return regularization >= ROUGH_REGULARIZATION


# -- what a block of rows contributes ----------------------------------------------------------
# Kernels are multiplied as they are where the regularization is rough, else in float64.


def _target_gram(block: FoldedBlock) -> Array:
    """Gram matrix of the target kernels; for classes, where they are 0 or 1, a count."""
    kernels = block.attached["target_kernels"]
    xp = namespace(kernels)
    if kernels.shape[-1] == 1:
        return xp.sum(kernels, axis=2, keepdims=True, dtype=xp.float64)
    kernels = in_float64(kernels)  # once for all steps
    return xp.matmul(xp.matrix_transpose(kernels), kernels)


def _kernel_sums(
    block: FoldedBlock, basis: Basis, weights: HostArray, columns: HostArray, sigma: float, rough: bool
) -> FoldSums:
    kernels = basis.kernels(block, weights, columns, sigma)
    return fold_sums(kernels if rough else in_float64(kernels), block.attached["target_kernels"])


def _width_sums(
    block: FoldedBlock,
    basis: Basis,
    weights: HostArray,
    columns: HostArray,
    sigmas: tuple[float, ...],
    rough: bool,
) -> tuple[Array, ...]:
    """Sums at several widths, one after the other: distances are worked out once."""
    exponents = block.exponents(weights**2, columns)
    found: list[Array] = []
    for sigma in sigmas:
        kernels = basis.kernels_at(exponents, sigma, block.n_folds)
        kernels = kernels if rough else in_float64(kernels)
        found.extend(fold_sums(kernels, block.attached["target_kernels"]))
    return tuple(found)


def _slopes_in_squares(
    block: FoldedBlock,
    basis: Basis,
    weights: HostArray,
    columns: HostArray,
    sigma: float,
    slopes: RowSlopes,
    candidates: HostArray,
    rough: bool,
) -> Array:
    """Slopes of the objective in the squared weights over sigma squared."""
    kernels = basis.kernels(block, weights, columns, sigma)
    kernels = kernels if rough else in_float64(kernels)
    change = kernel_slopes(kernels, block.attached["target_kernels"], slopes)
    return block.pull_back(namespace(change).reshape(change, (-1, block.centers.size)), candidates)


def _moved_sums(
    block: FoldedBlock,
    basis: Basis,
    columns: HostArray,
    others: HostArray,
    sign: float,
    scale: float,
    rough: bool,
) -> tuple[Array, ...]:
    """Sums for the sets one column away, one after the other."""
    target_kernels = _foldless_target_kernels(block)
    found: list[Array] = []
    for exponents in block.moved_exponents(columns, others, sign, scale):
        kernels = exp_in_place(exponents)
        kernels = kernels if rough else in_float64(kernels)
        # No folds are needed for the value: all rows go into one product per group.
        found.extend(fold_sums(basis.grouped(kernels, 1), target_kernels))
    return tuple(found)


def _foldless_target_kernels(block: FoldedBlock) -> Array:
    if "foldless_target_kernels" not in block.attached:
        kernels = block.attached["target_kernels"]
        xp = namespace(kernels)
        n_folds, n_groups, n_rows, n_each = kernels.shape
        by_group = xp.permute_dims(kernels, (1, 0, 2, 3))
        foldless = xp.reshape(by_group, (1, n_groups, n_folds * n_rows, n_each))
        block.attached["foldless_target_kernels"] = foldless
    return block.attached["foldless_target_kernels"]
