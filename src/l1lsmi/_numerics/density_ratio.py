"""Density-ratio fits for a batch of random draws of folds and kernel centres.

A subclass fits and scores a ratio at one kernel width (by least squares in `squared_loss.draw`, by likelihood
in `likelihood.draw`); the search for the width is here. Kernels of the features are computed for the whole
batch; model selection works on the first draw of a batch, which is the only one on the processor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from l1lsmi._arrays import Array, HostArray, asarray_like, exp_in_place, namespace
from l1lsmi._numerics.grids import COARSE_SET_WIDTHS, NEAR_WIDTHS, SET_WIDTHS, WIDTH_STEPS
from l1lsmi._numerics.model import Evaluation, Fit, Grid, Model, ModelBatch, ScoredModel
from l1lsmi._numerics.target import Target
from l1lsmi._rows.blocks import Block, Centers, Layout
from l1lsmi._rows.layout import lay_out_rows
from l1lsmi._rows.table import RowTable


@dataclass(frozen=True)
class Basis:
    """How the kernels around the centres are grouped, and the kernels of the target.

    Attributes
    ----------
    n_groups, n_each : int
        Groups of centres, one for each class, and centres in each; one group for regression.
    center_values : numpy.ndarray of shape (r, n_centers) or (r, n_centers, t), or None
        Standardised targets of the centres for regression, None for classes.
    target_sigma : float
        Width of the target's Gaussian kernel.
    """

    n_groups: int
    n_each: int
    center_values: HostArray | None
    target_sigma: float

    def grouped(self, kernels: Array, n_folds: int) -> Array:
        """Kernels of a block, (r, rows, centres), as an array (r, F, C, q, b)."""
        xp = namespace(kernels)
        shape = (kernels.shape[0], n_folds, -1, self.n_groups, self.n_each)
        return xp.permute_dims(xp.reshape(kernels, shape), (0, 1, 3, 2, 4))

    def kernels_at(self, exponents: Array, sigma: float, n_folds: int) -> Array:
        """The same at another width, from exponents of width 1, which are not overwritten."""
        return self.grouped(exp_in_place(exponents * sigma**-2), n_folds)

    def target_kernels(self, target: Target, block: Block) -> Array:
        """Target kernels of a block; broadcast to (r, F, C, q, b)."""
        if self.center_values is None:
            groups = np.arange(self.n_groups)[:, None]
            same = block.pick(target.codes, -1)[:, :, None, :] == groups
            return block.table.asarray(same[..., None])
        assert target.values is not None
        values = block.pick(target.values, np.inf)
        if values.ndim == 3:
            return exp_in_place(-0.5 * self._squared_gaps(block, values, self.center_values))
        columns = range(values.shape[-1])
        gaps = [self._squared_gaps(block, values[..., j], self.center_values[..., j]) for j in columns]
        return exp_in_place(-0.5 * sum(gaps[1:], start=gaps[0]))

    def _squared_gaps(self, block: Block, values: HostArray, at_centers: HostArray) -> Array:
        """Squared differences of one target over its squared width, (r, F, 1, q, b)."""
        at_rows, centers = block.table.asarray(values), block.table.asarray(at_centers)
        gaps = at_rows[:, :, None, :, None] - centers[:, None, None, None, :]
        gaps /= self.target_sigma
        gaps *= gaps
        return gaps

    def take(self, members: Sequence[int]) -> Basis:
        """The basis of some draws of the batch."""
        values = self.center_values
        return replace(self, center_values=None if values is None else values[list(members)])


class DensityRatioDraw:
    """A target and a table seen through a batch of random draws of folds and kernel centres.

    Weights have a leading batch axis, (r, w), in the array library of the table; ``columns``, of the same
    shape, are on the host. Only weights over widths, squared, enter the kernels. Methods that
    take weights of shape (w,) look at the first draw.

    Parameters
    ----------
    table : RowTable
    target : Target
    centers : numpy.ndarray of int, shape (r, groups, most centres in a group)
        Rows that carry the kernels, by class; -1 where a class has fewer.
    fold_of_row : numpy.ndarray of int, shape (r, n)
    n_folds : int
    grid : Grid
        Candidates for :meth:`select_model`.
    target_sigma : float
        Width of the Gaussian kernel of the standardised target; not used for classes.
    """

    #: Steps of `refine_model`: half powers of 2 for the width, powers of 10 for the regularization.
    steps: ClassVar[tuple[tuple[int, int], ...]] = WIDTH_STEPS
    #: Whether a batch can have more than one draw.
    is_batched: ClassVar[bool] = False

    def __init__(
        self,
        table: RowTable,
        target: Target,
        *,
        centers: HostArray,
        fold_of_row: HostArray,
        n_folds: int,
        grid: Grid,
        target_sigma: float = 1.0,
    ) -> None:
        self.centers = centers
        self.grid = grid
        self.target_sigma = target_sigma
        n_draws, n_groups, n_each = centers.shape
        rows = centers.reshape(n_draws, -1)
        at_centers = None if target.values is None else target.values[np.maximum(rows, 0)]
        self.basis = Basis(n_groups, n_each, at_centers, target_sigma)
        attach = {"target_kernels": self.basis.target_kernels}
        self.rows = self._lay_out(
            table, target, fold_of_row, Layout(n_folds, Centers.of(table, rows), attach)
        )

    def _lay_out(self, table: RowTable, target: Target, fold_of_row: HostArray, layout: Layout) -> Any:
        """Rows that sums are taken over; a fit that needs more than sums keeps them in memory."""
        return lay_out_rows(table, target, fold_of_row, layout)

    def asarray(self, values: HostArray) -> Array:
        """Numbers in float64 where the weights are."""
        return asarray_like(values, self.rows.centers.table.x, dtype=None)

    # -- model selection -------------------------------------------------------------------

    def median_distance(self, weights: HostArray, columns: HostArray) -> float:
        """Median weighted distance between pairs of centres."""
        squares = self.asarray(weights[None] ** 2)
        return float(self.rows.centers.median_distances(squares, columns[None])[0])

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
    ) -> list[ScoredModel]:
        """Best regularization at each width, near the given one, or else near that of the width before."""
        raise NotImplementedError

    def select_model(self, weights: HostArray, columns: HostArray) -> ScoredModel:
        """The model of the grid with the lowest cross-validation score."""
        median = self.median_distance(weights, columns)
        sigmas = [factor * median for factor in self.grid.sigma_factors] + list(self.grid.sigmas)
        return self._best_model(weights, columns, sigmas, self.grid.regularizations)

    def refine_model(self, weights: HostArray, columns: HostArray, best: ScoredModel) -> ScoredModel:
        """Step from a model off the grid for as long as the cross-validation score falls.

        It must fall by more than the standard error of the difference over the folds: less regularization
        without a certain gain would only make estimates larger.
        """
        # The search returns to points that it has seen, and to other regularizations of the same width.
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
        return ScoredModel(float(present.mean()), model_at(place))

    def _allows(self, model: Model) -> bool:
        """Tell whether a model is numerically safe."""
        return True

    def _best_model(
        self,
        weights: HostArray,
        columns: HostArray,
        sigmas: Sequence[float],
        regularizations: Sequence[float],
    ) -> ScoredModel:
        found: list[ScoredModel] = []
        of_widths = self._fold_scores(weights, columns, sigmas, regularizations)
        for sigma, of_folds in zip(sigmas, of_widths, strict=True):
            scores = of_folds.mean(axis=0)
            i = int(np.argmin(scores))
            found.append(ScoredModel(float(scores[i]), Model(sigma, float(regularizations[i]))))
        return min(found, key=lambda scored: scored.loss)

    def select_model_near(self, weights: HostArray, columns: HostArray, model: Model) -> ScoredModel:
        """The best model at the width of a given one or next to it."""
        sigmas = [model.sigma * factor for factor in NEAR_WIDTHS]
        return self._best_model(weights, columns, sigmas, self._near_regularizations())

    def _near_regularizations(self) -> Sequence[float]:
        """Candidates where the width is known."""
        return (0.0,)

    def score_set(self, columns: HostArray, near: Model | None = None) -> ScoredModel:
        """Cross-validation score of a set of features, all with weight 1, under its best model.

        With a model to begin with only its width is tried.
        """
        weights = np.ones(columns.size)
        if near is not None:
            return self._score_widths(weights, columns, [near.sigma], None)[0]
        median = self.median_distance(weights, columns)

        def at(widths: Sequence[int], near: float | None) -> list[tuple[float, int, float]]:
            sigmas = [SET_WIDTHS[width] * median for width in widths]
            found = self._score_widths(weights, columns, sigmas, near)
            return [(s.loss, i, s.model.regularization) for i, s in zip(widths, found, strict=True)]

        best = min(at(COARSE_SET_WIDTHS, None))
        score, width, regularization = min([best, *at((best[1] - 1, best[1] + 1), best[2])])
        return ScoredModel(score, Model(SET_WIDTHS[width] * median, regularization))

    # -- values and gradients --------------------------------------------------------------

    def start_models(self, weights: Array, columns: HostArray, narrowness: Sequence[float]) -> list[Model]:
        """For each draw a kernel whose squared width is the squared median distance over a narrowness."""
        medians = self.rows.centers.median_distances(weights**2, columns)
        sigmas = [median / math.sqrt(n) for median, n in zip(medians, narrowness, strict=True)]
        return self._start_models(weights, columns, sigmas)

    def _start_models(self, weights: Array, columns: HostArray, sigmas: list[float]) -> list[Model]:
        """The best regularization for each draw at its width."""
        return [Model(sigma) for sigma in sigmas]

    def evaluate(
        self, weights: Array, last: Evaluation | None, columns: HostArray, models: ModelBatch
    ) -> Evaluation:
        """Minus the cross-validation score and its gradient in the weights."""
        raise NotImplementedError

    def estimate(self, evaluation: Evaluation, columns: HostArray, models: ModelBatch) -> HostArray:
        """Estimates of the measure where an evaluation was made, (r,)."""
        raise NotImplementedError

    def take(self, members: Sequence[int]) -> DensityRatioDraw:
        """Some draws of the batch."""
        if list(members) == list(range(len(self.centers))):
            return self
        raise NotImplementedError

    def fit(self, weights: HostArray, columns: HostArray, model: Model, cv_score: float | None = None) -> Fit:
        """Fit the density ratio for given weights under a given model; the score may be known already."""
        raise NotImplementedError

    def value_and_gradient(
        self, weights: HostArray, columns: HostArray, model: Model
    ) -> tuple[float, HostArray]:
        """Estimate of the measure and its gradient in the weights."""
        raise NotImplementedError

    def set_gradient(self, columns: HostArray, model: Model, candidates: HostArray) -> HostArray:
        """Gradient of minus the cross-validation score in the squared weights of ``candidates``.

        Taken where ``columns`` have weight 1 and all else weight 0; not zero for absent features,
        so it says which of them to try first.
        """
        raise NotImplementedError

    def neighbour_values(self, columns: HostArray, others: HostArray, sign: float, model: Model) -> HostArray:
        """Estimates for the sets with (sign 1) or without (sign -1) each of the others, under one model."""
        raise NotImplementedError


def weight_gradient(weights: Array, sigma: Any, in_squares: Array) -> Array:
    """Gradient in the weights from that in the squared weights over sigma squared."""
    # d(squared weight) = 2 w dw, and the exponent is half the distance over sigma squared.
    return 2 * weights / sigma**2 * in_squares
