"""One problem, one draw of folds and centres: what every density-ratio fit shares.

A subclass says how a ratio is fitted and scored at one kernel width (by least squares in
`least_squares_ratio`, by likelihood in `likelihood_ratio`); the search for the width is here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from l1lsmi._arrays import Array, HostArray, exp_in_place, namespace
from l1lsmi._numerics.model import Climb, Fit, Grid, Judgement, Model
from l1lsmi._numerics.sampling import stratified_folds
from l1lsmi._numerics.target import Target, median_positive
from l1lsmi._rows.folded import FoldedBlock, Layout, centers_of
from l1lsmi._rows.parted import fold_rows
from l1lsmi._rows.table import Table

#: Kernel widths that a set of features is judged at, as factors of its median distance. The score
#: can have two valleys, one of wide kernels that act as polynomials and one of narrow ones: every
#: other width is tried, then the neighbours of the best.
WIDTHS = tuple(2.0 ** (-i / 2) for i in range(-2, 7))
COARSE_WIDTHS = (1, 3, 5, 7)


@dataclass(frozen=True)
class Basis:
    """How the kernels around the centres are grouped, and what the target adds to each.

    Attributes
    ----------
    n_groups, n_each : int
        Centres by class, and how many in each; one group for regression.
    center_values : numpy.ndarray of shape (n_centers,) or None
        Standardised targets of the centres for regression, None for classes.
    target_sigma : float
        Width of the target's Gaussian kernel.
    """

    n_groups: int
    n_each: int
    center_values: HostArray | None
    target_sigma: float

    def grouped(self, kernels: Array, n_folds: int) -> Array:
        """Kernels of a block, (rows, centres), as an array (F, C, q, b)."""
        xp = namespace(kernels)
        return xp.permute_dims(xp.reshape(kernels, (n_folds, -1, self.n_groups, self.n_each)), (0, 2, 1, 3))

    def kernels(self, block: FoldedBlock, weights: HostArray, columns: HostArray, sigma: float) -> Array:
        """Feature kernels of a block, (F, C, q, b); weights and width enter as one."""
        return self.grouped(block.kernels((weights / sigma) ** 2, columns), block.n_folds)

    def kernels_at(self, exponents: Array, sigma: float, n_folds: int) -> Array:
        """The same from exponents of width 1, which stay."""
        return self.grouped(exp_in_place(exponents * sigma**-2), n_folds)

    def target_kernels(self, target: Target, block: FoldedBlock) -> Array:
        """Target kernels of a block; broadcast to (F, C, q, b)."""
        if self.center_values is None:
            groups = np.arange(self.n_groups)[None, :, None]
            same = block.pick(target.codes, -1)[:, None, :] == groups
            return block.table.place(same[..., None])
        assert target.values is not None
        values = block.table.place(block.pick(target.values, np.inf))
        gaps = values[:, None, :, None] - block.table.place(self.center_values)
        gaps /= self.target_sigma
        gaps *= gaps
        gaps *= -0.5
        return exp_in_place(gaps)


class DensityRatioDraw:
    """A target and a table seen through one random draw of folds and kernel centres.

    Weights are host arrays over ``columns``; only their squares over sigma squared enter the
    kernels.

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

    #: Steps of `refine_model`: half powers of 2 for the width, powers of 10 for the regularization.
    steps: ClassVar[tuple[tuple[int, int], ...]] = ((-1, 0), (1, 0))

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
        self._fold_of_center = np.where(centers >= 0, fold_of_row[centers], -1)
        self.grid = grid
        self.target_sigma = target_sigma
        at_centers = None if target.values is None else target.values[centers[0]]
        self.basis = Basis(centers.shape[0], centers.shape[1], at_centers, target_sigma)
        layout = Layout(n_folds, centers_of(table, centers), {"target_kernels": self.basis.target_kernels})
        self.rows = self._rows(table, target, fold_of_row, layout)

    def _rows(self, table: Table, target: Target, fold_of_row: HostArray, layout: Layout) -> Any:
        """Where sums over rows are taken; a fit that asks for more than sums needs them all at hand."""
        return fold_rows(table, target, fold_of_row, layout)

    # -- kernels ---------------------------------------------------------------------------

    def median_distance(self, weights: HostArray, columns: HostArray) -> float:
        """Median weighted distance between pairs of centres."""
        halves = self.rows.centers.half_distances(weights**2, columns)
        return math.sqrt(2 * median_positive(halves))

    # -- model selection -------------------------------------------------------------------

    def _fold_scores(
        self,
        weights: HostArray,
        columns: HostArray,
        sigmas: Sequence[float],
        regularizations: Sequence[float],
    ) -> list[HostArray]:
        """Cross-validation scores at every width, (folds, regularizations) each."""
        raise NotImplementedError

    def _scores_at(
        self, weights: HostArray, columns: HostArray, sigma: float
    ) -> Callable[[Sequence[float]], HostArray]:
        """The same at one width, for one set of regularizations after another."""
        return lambda regularizations: self._fold_scores(weights, columns, [sigma], regularizations)[0]

    def _score_widths(
        self, weights: HostArray, columns: HostArray, sigmas: Sequence[float], near: float | None
    ) -> list[Judgement]:
        """Best regularization at each width, near the given one, or else near that of the width before."""
        raise NotImplementedError

    def choose_model(self, weights: HostArray, columns: HostArray) -> Judgement:
        """Take the model of the grid with the lowest cross-validation score."""
        median = self.median_distance(weights, columns)
        sigmas = [factor * median for factor in self.grid.sigma_factors] + list(self.grid.sigmas)
        return self._best_model(weights, columns, sigmas, self.grid.regularizations)

    def refine_model(self, weights: HostArray, columns: HostArray, best: Judgement) -> Judgement:
        """Walk from a model off the grid for as long as the cross-validation score falls.

        It must fall by more than the standard error of the fall over the folds: where less
        regularization gains nothing that is certain, it makes estimates larger for no reason.
        """
        # The walk comes by places that it has seen, and by other regularizations of the same width.
        at_widths: dict[int, Callable[[Sequence[float]], HostArray]] = {}
        known: dict[tuple[int, int], HostArray] = {}

        def model_at(place: tuple[int, int]) -> Model:
            width, power = place
            return Model(best.model.sigma * 2 ** (width / 2), best.model.regularization * 10.0**power)

        def fold_scores(place: tuple[int, int]) -> HostArray:
            if place not in known:
                width, model = place[0], model_at(place)
                if width not in at_widths:
                    at_widths[width] = self._scores_at(weights, columns, model.sigma)
                known[place] = at_widths[width]([model.regularization])[:, 0]
            return known[place]

        place, improved = (0, 0), True
        present = fold_scores(place)
        while improved:
            improved = False
            for width, power in self.steps:
                step = (place[0] + width, place[1] + power)
                if self._allows(model_at(step)):
                    scores = fold_scores(step)
                    gains = present - scores
                    if gains.mean() > gains.std(ddof=1) / math.sqrt(gains.size):
                        present, place, improved = scores, step, True
        return Judgement(float(present.mean()), model_at(place))

    def _allows(self, model: Model) -> bool:
        """Tell whether a model can be computed with."""
        return True

    def _best_model(
        self,
        weights: HostArray,
        columns: HostArray,
        sigmas: Sequence[float],
        regularizations: Sequence[float],
    ) -> Judgement:
        found: list[Judgement] = []
        of_widths = self._fold_scores(weights, columns, sigmas, regularizations)
        for sigma, of_folds in zip(sigmas, of_widths, strict=True):
            scores = of_folds.mean(axis=0)
            i = int(np.argmin(scores))
            found.append(Judgement(float(scores[i]), Model(sigma, float(regularizations[i]))))
        return min(found, key=lambda judgement: judgement.cv_score)

    def _start_regularizations(self) -> Sequence[float]:
        """Candidates where a climb begins."""
        return (0.0,)

    def start_model(self, weights: HostArray, columns: HostArray, narrowness: float) -> Model:
        """A kernel whose squared width is the squared median distance over ``narrowness``."""
        sigma = self.median_distance(weights, columns) / math.sqrt(narrowness)
        return self._best_model(weights, columns, [sigma], self._start_regularizations()).model

    def choose_near(self, weights: HostArray, columns: HostArray, model: Model) -> Judgement:
        """The best model at the width of a given one or next to it: what fewer rows chose, or other folds."""
        sigmas = [model.sigma * factor for factor in (math.sqrt(0.5), 1.0, math.sqrt(2.0))]
        return self._best_model(weights, columns, sigmas, self._near_regularizations())

    def _near_regularizations(self) -> Sequence[float]:
        """Candidates where the width is known."""
        return (0.0,)

    def judge(self, columns: HostArray, near: Model | None = None) -> Judgement:
        """Cross-validation score of a set of features, all with weight 1, under its best model.

        With a model to begin with only its width is tried.
        """
        weights = np.ones(columns.size)
        if near is not None:
            return self._score_widths(weights, columns, [near.sigma], None)[0]
        median = self.median_distance(weights, columns)

        def at(widths: Sequence[int], near: float | None) -> list[tuple[float, int, float]]:
            sigmas = [WIDTHS[width] * median for width in widths]
            found = self._score_widths(weights, columns, sigmas, near)
            return [(j.cv_score, i, j.model.regularization) for i, j in zip(widths, found, strict=True)]

        best = min(at(COARSE_WIDTHS, None))
        score, width, regularization = min([best, *at((best[1] - 1, best[1] + 1), best[2])])
        return Judgement(score, Model(WIDTHS[width] * median, regularization))

    # -- values and gradients --------------------------------------------------------------

    def fit(self, weights: HostArray, columns: HostArray, model: Model, cv_score: float | None = None) -> Fit:
        """Fit the density ratio for given weights under a given model; the score may be known already."""
        raise NotImplementedError

    def value_and_gradient(
        self, weights: HostArray, columns: HostArray, model: Model
    ) -> tuple[float, HostArray]:
        """Estimate of the measure and its gradient in the weights."""
        raise NotImplementedError

    def climb(self, weights: HostArray, columns: HostArray, model: Model) -> Climb:
        """Evaluate minus the cross-validation score."""
        raise NotImplementedError

    def set_slopes(self, columns: HostArray, model: Model, candidates: HostArray) -> HostArray:
        """Slopes of minus the cross-validation score in the squared weights of ``candidates``.

        Taken where ``columns`` have weight 1 and all else weight 0; not zero for absent features,
        so it says which of them to try first.
        """
        raise NotImplementedError

    def neighbour_values(self, columns: HostArray, others: HostArray, sign: float, model: Model) -> HostArray:
        """Estimates for the sets with (sign 1) or without (sign -1) each of the others, under one model."""
        raise NotImplementedError

    def _weight_slopes(self, weights: HostArray, model: Model, in_squares: HostArray) -> HostArray:
        """Slopes in the weights from those in the squared weights over sigma squared."""
        # d(squared weight) = 2 w dw, and the exponent is the half distance over sigma squared.
        return np.asarray(2 * weights / model.sigma**2 * in_squares)
