"""One problem, one draw of folds and centres: everything asked of it is a few sums over rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from l1lsmi.arrays import Array, HostArray, exp_in_place, like, namespace, to_numpy
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
from l1lsmi.numerics.sampling import stratified_folds
from l1lsmi.numerics.target import Target, median_positive
from l1lsmi.rows import FoldedRows, Table

__all__ = ["Climb", "DensityRatioDraw", "Grid", "Judgement", "Model"]

#: Kernel widths that a set of features is judged at, as factors of its median distance, and the
#: regularizations beside them. The score can have two valleys, one of wide kernels that act as
#: polynomials and one of narrow ones: every other width is tried, then the neighbours of the best.
WIDTHS = tuple(2.0 ** (-i / 2) for i in range(-2, 7))
COARSE_WIDTHS = (1, 3, 5, 7)
REGULARIZATIONS = tuple(float(v) for v in np.logspace(-4, 0, 5))
#: Below this, rounding errors of the Gram matrix are no longer small beside the regularization.
LEAST_REGULARIZATION = 1e-11
#: The climb keeps the regularization in this range: below it, wide kernels turn into
#: polynomials of low degree, which see no interactions.
CLIMB_REGULARIZATIONS = (1e-3, 10.0)


@dataclass(frozen=True)
class Model:
    """Hyper-parameters of a density-ratio fit."""

    sigma: float
    regularization: float

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
    """How good a set of features is, and the model that shows it."""

    cv_score: float
    model: Model


class Fit(NamedTuple):
    """Coefficients of the basis functions, shape (C, b), the SMI estimate and its score."""

    alpha: HostArray
    value: float
    cv_score: float


class Climb(NamedTuple):
    """One evaluation on the way up.

    ``weights`` is where it was made, ``value`` is minus the cross-validation score, ``gradient`` its
    gradient in the weights, ``model`` the one for the next step; ``estimate()`` works out the SMI
    estimate at this point.
    """

    weights: HostArray
    value: float
    gradient: HostArray
    model: Model
    estimate: Callable[[], float]


class DensityRatioDraw:
    """A target and a table seen through one random draw of folds and kernel centres.

    Weights are host arrays over ``columns``; only their squares over sigma squared enter the
    kernels. Values and gradients in the weights cost four matrix products.

    Parameters
    ----------
    table : Table
    target : Target
    fold_of_row : numpy.ndarray of int or None
        Folds to use; None draws them, stratified.
    n_folds : int
    grid : Grid
        Candidates for :meth:`choose_model`.
    centers : numpy.ndarray of int, shape (groups, most centres in a group)
        Rows that carry the kernels, by class; -1 where a class has fewer.
    target_sigma : float
        Width of the Gaussian kernel of the standardised target; no part in it for classes.
    rng : numpy.random.Generator
    """

    def __init__(
        self,
        table: Table,
        target: Target,
        *,
        centers: HostArray,
        n_folds: int,
        grid: Grid,
        rng: np.random.Generator,
        fold_of_row: HostArray | None = None,
        target_sigma: float = 1.0,
    ) -> None:
        if fold_of_row is None:
            fold_of_row = stratified_folds(target.codes, n_folds, rng)
        self.centers = centers
        self.rows = FoldedRows(
            table,
            fold_of_row,
            n_folds,
            self.centers.ravel(),
            # Standardised columns and their squares: two of the n x b arrays that are held.
            max_columns=max(centers.size, 50),
        )
        self.grid = grid
        self.target_sigma = target_sigma
        if target.values is None:
            self._target_kernels = self._delta_kernels(target.codes)
            grams = self.rows.sum(
                lambda _, k: namespace(k).sum(k, axis=2, keepdims=True), self._target_kernels
            )
        else:
            self._target_kernels = self._gaussian_kernels(target.values)
            grams = self.rows.sum(
                lambda _, k: namespace(k).matmul(namespace(k).matrix_transpose(k), k),
                self._target_kernels,
            )
        self.target = TargetSums.of(grams, self.rows.fold_sizes.tolist())

    def _delta_kernels(self, codes: HostArray) -> list[Array]:
        groups = np.arange(self.centers.shape[0])[None, :, None]
        return [
            like((block[:, None, :] == groups).astype(np.float64)[..., None], self.rows.table.x)
            for block in self.rows.take_all(codes, -1)
        ]

    def _gaussian_kernels(self, values: HostArray) -> list[Array]:
        at_centers = values[self.centers[0]]
        return [
            like(
                np.exp(-0.5 * ((block[:, None, :, None] - at_centers) / self.target_sigma) ** 2),
                self.rows.table.x,
            )
            for block in self.rows.take_all(values, np.inf)
        ]

    # -- kernels and sums ------------------------------------------------------------------

    def median_distance(self, weights: HostArray, columns: HostArray) -> float:
        """Median weighted distance between pairs of centres."""
        halves = self.rows.center_half_distances(weights**2, columns)
        return math.sqrt(2 * median_positive(halves))

    def _kernels(self, weights: HostArray, columns: HostArray, sigma: float) -> list[Array]:
        """Kernel values of every block, (F, C, q, b); weights and width enter as one."""
        return [self._kernel(e) for e in self.rows.exponents((weights / sigma) ** 2, columns)]

    def _kernel(self, exponent: Array, sigma: float | None = None) -> Array:
        """Kernel values of one block; without a width they replace the exponents."""
        xp = namespace(exponent)
        n_folds, (n_groups, n_each) = self.rows.fold_sizes.size, self.centers.shape
        kernel = exp_in_place(exponent if sigma is None else exponent * sigma**-2)
        return xp.permute_dims(xp.reshape(kernel, (n_folds, -1, n_groups, n_each)), (0, 2, 1, 3))

    def _sums(self, exponents: list[Array], sigma: float) -> FoldSums:
        def term(_: int, exponent: Array, target_kernel: Array) -> FoldSums:
            return fold_sums(self._kernel(exponent, sigma), target_kernel)

        return FoldSums(*self.rows.sum(term, exponents, self._target_kernels))

    # -- model selection -------------------------------------------------------------------

    def choose_model(self, weights: HostArray, columns: HostArray) -> Judgement:
        """Take the sigma and regularization of the grid with the lowest cross-validation score."""
        median = self.median_distance(weights, columns)
        sigmas = [factor * median for factor in self.grid.sigma_factors] + list(self.grid.sigmas)
        return self._best_model(weights, columns, sigmas, self.grid.regularizations)

    def refine_model(self, weights: HostArray, columns: HostArray, best: Judgement) -> Judgement:
        """Walk from a model off the grid for as long as the cross-validation score falls.

        Steps are a factor of 10 in the regularization and of the root of 2 in the width; many rows
        support less regularization than any fixed grid has.
        """
        exponents = self.rows.exponents(weights**2, columns)
        improved = True
        while improved:
            improved = False
            for width, factor in ((1.0, 0.1), (1.0, 10.0), (math.sqrt(0.5), 1.0), (math.sqrt(2.0), 1.0)):
                model = Model(best.model.sigma * width, best.model.regularization * factor)
                if model.regularization < LEAST_REGULARIZATION:
                    continue
                sums = self._sums(exponents, model.sigma)
                score = float(held_out_scores(sums, self.target, [model.regularization])[0])
                if score < best.cv_score:
                    best, improved = Judgement(score, model), True
        return best

    def _best_model(
        self,
        weights: HostArray,
        columns: HostArray,
        sigmas: Sequence[float],
        regularizations: Sequence[float],
    ) -> Judgement:
        exponents = self.rows.exponents(weights**2, columns)
        found: list[Judgement] = []
        for sigma in sigmas:
            scores = to_numpy(held_out_scores(self._sums(exponents, sigma), self.target, regularizations))
            i = int(np.argmin(scores))
            found.append(Judgement(float(scores[i]), Model(sigma, float(regularizations[i]))))
        return min(found, key=lambda judgement: judgement.cv_score)

    def start_model(self, weights: HostArray, columns: HostArray, narrowness: float) -> Model:
        """A kernel whose squared width is the squared median distance over ``narrowness``."""
        sigma = self.median_distance(weights, columns) / math.sqrt(narrowness)
        inside = [r for r in REGULARIZATIONS if r >= CLIMB_REGULARIZATIONS[0]]
        return self._best_model(weights, columns, [sigma], inside).model

    def judge(self, columns: HostArray) -> Judgement:
        """Cross-validation score of a set of features, all with weight 1, under its best model."""
        weights = np.ones(columns.size)
        exponents = self.rows.exponents(weights, columns)
        median = self.median_distance(weights, columns)

        def at(width: int, start: int) -> tuple[float, int, int]:
            sums = self._sums(exponents, WIDTHS[width] * median)
            score, regularization = self._walk_regularizations(sums, start)
            return score, width, regularization

        coarse = [at(COARSE_WIDTHS[0], 1)]
        for width in COARSE_WIDTHS[1:]:
            coarse.append(at(width, coarse[-1][2]))  # the best regularization changes slowly
        best = min(coarse)
        score, width, regularization = min([best, *(at(best[1] + side, best[2]) for side in (-1, 1))])
        return Judgement(score, Model(WIDTHS[width] * median, REGULARIZATIONS[regularization]))

    def _walk_regularizations(self, sums: FoldSums, start: int) -> tuple[float, int]:
        """Lowest score and its place, walking from ``start`` for as long as the score falls."""
        scores: dict[int, float] = {}
        best = start
        while True:
            around = [i for i in (best - 1, best, best + 1) if 0 <= i < len(REGULARIZATIONS)]
            missing = [i for i in around if i not in scores]
            if missing:
                values = held_out_scores(sums, self.target, [REGULARIZATIONS[i] for i in missing])
                scores.update(zip(missing, to_numpy(values).tolist(), strict=True))
            lowest = min(around, key=lambda i: scores[i])
            if lowest == best:
                return scores[best], best
            best = lowest

    # -- values and gradients --------------------------------------------------------------

    def fit(self, weights: HostArray, columns: HostArray, model: Model) -> Fit:
        """Fit the density ratio for given weights under a given model."""
        sums = self._sum_kernels(self._kernels(weights, columns, model.sigma))
        score = held_out_scores(sums, self.target, [model.regularization])
        alpha, value = fit_all_rows(sums, self.target, model.regularization)
        return Fit(to_numpy(alpha), value, float(score[0]))

    def value_and_gradient(
        self, weights: HostArray, columns: HostArray, model: Model
    ) -> tuple[float, HostArray]:
        """SMI estimate and its gradient in the weights."""
        kernels = self._kernels(weights, columns, model.sigma)
        sums = self._sum_kernels(kernels)
        alpha, smi = fit_all_rows(sums, self.target, model.regularization)
        slopes = smi_slopes(alpha, self.target)
        return smi, self._gradient(weights, columns, model, kernels, slopes)

    def climb(self, weights: HostArray, columns: HostArray, model: Model) -> Climb:
        """Evaluate minus the cross-validation score; the regularization moves uphill too."""
        kernels = self._kernels(weights, columns, model.sigma)
        sums = self._sum_kernels(kernels)
        score, slopes, slope = held_out_slopes(sums, self.target, model.regularization)
        gradient = self._gradient(weights, columns, model, kernels, slopes)
        steepest = float(np.abs(weights * gradient).max())
        move = min(max(3.0 * slope / steepest, -0.7), 0.7) if steepest > 0 else 0.0
        low, high = CLIMB_REGULARIZATIONS
        regularization = min(max(model.regularization * math.exp(move), low), high)

        def estimate() -> float:
            return fit_all_rows(sums, self.target, model.regularization)[1]

        return Climb(weights, -score, gradient, Model(model.sigma, regularization), estimate)

    def _sum_kernels(self, kernels: list[Array]) -> FoldSums:
        def term(_: int, kernel: Array, target_kernel: Array) -> FoldSums:
            return fold_sums(kernel, target_kernel)

        return FoldSums(*self.rows.sum(term, kernels, self._target_kernels))

    def _gradient(
        self,
        weights: HostArray,
        columns: HostArray,
        model: Model,
        kernels: list[Array],
        slopes: RowSlopes,
    ) -> HostArray:
        # d(squared weight) = 2 w dw, and the exponent is the half distance over sigma squared.
        slopes_in_squares = self._pull_back(kernels, slopes, columns)
        return np.asarray(2 * weights / model.sigma**2 * slopes_in_squares)

    def _pull_back(self, kernels: list[Array], slopes: RowSlopes, columns: HostArray) -> HostArray:
        def slope_of(i: int) -> Array:
            change = kernel_slopes(kernels[i], self._target_kernels[i], slopes)
            return namespace(change).reshape(change, (-1, self.centers.size))

        return self.rows.pull_back(slope_of, columns)

    def set_slopes(self, columns: HostArray, model: Model, candidates: HostArray) -> HostArray:
        """Slopes of minus the cross-validation score in the squared weights of ``candidates``.

        Taken where ``columns`` have weight 1 and all else weight 0; not zero for absent features,
        so it says which of them to try first.
        """
        weights = np.ones(columns.size)
        kernels = self._kernels(weights, columns, model.sigma)
        _, slopes, _ = held_out_slopes(self._sum_kernels(kernels), self.target, model.regularization)
        return self._pull_back(kernels, slopes, candidates) / model.sigma**2
