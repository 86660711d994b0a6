"""Density ratios by maximum likelihood, seen through one draw of folds and centres."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from l1lsmi._arrays import Array, HostArray, exp_in_place, like, namespace, to_numpy
from l1lsmi._numerics.density_ratio import DensityRatioDraw
from l1lsmi._numerics.likelihood.likelihood import (
    SCORE_BARRIER,
    RatioBlock,
    RowSlopes,
    Split,
    fit_ratios,
    held_out,
    held_out_slopes,
    mutual_information,
    row_slopes,
)
from l1lsmi._numerics.model import Climb, Fit, Judgement, Model
from l1lsmi._numerics.target import Target
from l1lsmi._rows.folded import FoldedRows, Layout, add_up
from l1lsmi._rows.table import Table


class LikelihoodDraw(DensityRatioDraw):
    """Fits by likelihood: about a dozen Newton steps for an estimate, as many for all folds."""

    def __init__(self, table: Table, target: Target, **draw: Any) -> None:
        # The interior-point method ends where the conditions for an optimum hold to more digits than
        # float32 has.
        table = table.exact
        super().__init__(table, target, **draw)
        xp = namespace(table.x)
        n_folds = self.rows.fold_sizes.size
        sizes = self.rows.fold_sizes.astype(np.float64)
        left_out = 1.0 - np.eye(n_folds)
        # Which folds each problem is fitted to, over the number of rows in them.
        self._left_out = like(left_out / (left_out @ sizes)[:, None], table.x)
        self._all_rows = like(np.full((1, n_folds), 1.0 / sizes.sum()), table.x)
        # A row left out must not be a centre: its kernel would be far higher there than anywhere that the
        # fit has seen.
        folds = np.arange(n_folds)[:, None, None]
        self._outside = like((self._fold_of_center != folds).astype(np.float64), table.x)
        self._target_kernels = [block.attached["target_kernels"] for block in self.rows.blocks]
        self._target_sums = add_up(xp.sum(kernel, axis=2) for kernel in self._target_kernels)
        is_row = [like((b.rows >= 0).astype(np.float64), table.x)[:, None, :] for b in self.rows.blocks]
        self._present = (
            [kernel[..., 0] for kernel in self._target_kernels] if target.is_classification else is_row
        )

    # -- rows as the likelihood sees them ----------------------------------------------------

    def _rows(self, table: Table, target: Target, fold_of_row: HostArray, layout: Layout) -> FoldedRows:
        return FoldedRows(table, target, fold_of_row, layout)

    def _kernels(self, weights: HostArray, columns: HostArray, sigma: float) -> list[Array]:
        """Kernel values of every block, (F, C, q, b)."""
        return [self.basis.kernels(block, weights, columns, sigma) for block in self.rows.blocks]

    def _blocks(self, kernels: list[Array]) -> list[RatioBlock]:
        xp = namespace(kernels[0])
        return [
            RatioBlock(xp.concat([kernel * target, present[..., None]], axis=-1), present)
            for kernel, target, present in zip(kernels, self._target_kernels, self._present, strict=True)
        ]

    def _split(self, kernels: list[Array], train: Array) -> Split:
        xp = namespace(train)
        sums = add_up(xp.sum(kernel, axis=2) for kernel in kernels)

        def mean(of_folds: Array) -> Array:
            return xp.tensordot(train, of_folds, axes=([1], [0]))

        means = mean(sums) * mean(self._target_sums)
        if train is self._left_out:
            means = means * self._outside
        # The constant function of a class has the share of the class as its mean, else 1.
        constant = mean(self._target_sums) if self._is_classification() else xp.ones_like(means[..., :1])
        return Split(train, xp.concat([means, constant], axis=-1))

    def _is_classification(self) -> bool:
        return bool(self._target_kernels[0].shape[-1] == 1)

    def _fold_sizes(self) -> list[int]:
        return [int(size) for size in self.rows.fold_sizes]

    # -- model selection -------------------------------------------------------------------

    def _held_out(self, kernels: list[Array]) -> HostArray:
        blocks, split = self._blocks(kernels), self._split(kernels, self._left_out)
        ratios = fit_ratios(blocks, split, SCORE_BARRIER)
        return to_numpy(held_out(blocks, split, ratios.alpha, self._fold_sizes()))

    def _fold_scores(
        self,
        weights: HostArray,
        columns: HostArray,
        sigmas: Sequence[float],
        regularizations: Sequence[float],
    ) -> list[HostArray]:
        n_folds = self.rows.fold_sizes.size
        exponents = [block.exponents(weights**2, columns) for block in self.rows.blocks]
        found = []
        for sigma in sigmas:
            # There is nothing to regularise: one score for all.
            scores = self._held_out([self.basis.kernels_at(e, sigma, n_folds) for e in exponents])
            found.append(np.repeat(scores[:, None], len(regularizations), axis=1))
        return found

    def _score_widths(
        self, weights: HostArray, columns: HostArray, sigmas: Sequence[float], near: float | None
    ) -> list[Judgement]:
        scores = self._fold_scores(weights, columns, sigmas, [0.0])
        return [Judgement(float(s.mean()), Model(sigma)) for sigma, s in zip(sigmas, scores, strict=True)]

    # -- values and gradients --------------------------------------------------------------

    def fit(self, weights: HostArray, columns: HostArray, model: Model, cv_score: float | None = None) -> Fit:
        """Fit the density ratio; alpha is (C, b + 1), the constant functions last."""
        kernels = self._kernels(weights, columns, model.sigma)
        blocks, split = self._blocks(kernels), self._split(kernels, self._all_rows)
        alpha = fit_ratios(blocks, split).alpha
        value = mutual_information(blocks, split, alpha)
        total = namespace(alpha).sum(alpha * split.means)
        if cv_score is None:
            cv_score = float(self._held_out(kernels).mean())
        return Fit(to_numpy(alpha[0, ...] / total), value, cv_score)

    def neighbour_values(self, columns: HostArray, others: HostArray, sign: float, model: Model) -> HostArray:
        """Estimates for the sets with (sign 1) or without (sign -1) each of the others, under one model."""
        scale = model.sigma**-2
        moved = (block.moved_exponents(columns, others, sign, scale) for block in self.rows.blocks)
        sets = zip(*moved, strict=True)
        return np.array([self._value([exp_in_place(e) for e in exponents]) for exponents in sets])

    def _value(self, kernels: list[Array]) -> float:
        folded = [self.basis.grouped(kernel, self.rows.fold_sizes.size) for kernel in kernels]
        blocks, split = self._blocks(folded), self._split(folded, self._all_rows)
        return mutual_information(blocks, split, fit_ratios(blocks, split).alpha)

    def value_and_gradient(
        self, weights: HostArray, columns: HostArray, model: Model
    ) -> tuple[float, HostArray]:
        """Estimate of the mutual information and its gradient in the weights."""
        kernels = self._kernels(weights, columns, model.sigma)
        blocks, split = self._blocks(kernels), self._split(kernels, self._all_rows)
        ratios = fit_ratios(blocks, split)
        slopes = row_slopes(blocks, split, ratios)
        in_squares = self._pull_back(kernels, slopes, self._all_rows, columns)
        value = mutual_information(blocks, split, ratios.alpha)
        return value, self._weight_slopes(weights, model, in_squares)

    def climb(self, weights: HostArray, columns: HostArray, model: Model) -> Climb:
        """Evaluate minus the cross-validation score."""
        kernels = self._kernels(weights, columns, model.sigma)
        score, in_squares = self._held_out_slopes(kernels, columns)
        gradient = self._weight_slopes(weights, model, in_squares)

        def estimate() -> float:
            return self.fit(weights, columns, model).value

        return Climb(weights, -score, gradient, model, estimate)

    def set_slopes(self, columns: HostArray, model: Model, candidates: HostArray) -> HostArray:
        """Slopes of minus the cross-validation score in the squared weights of ``candidates``."""
        kernels = self._kernels(np.ones(columns.size), columns, model.sigma)
        return self._held_out_slopes(kernels, candidates)[1] / model.sigma**2

    def _held_out_slopes(self, kernels: list[Array], columns: HostArray) -> tuple[float, HostArray]:
        blocks, split = self._blocks(kernels), self._split(kernels, self._left_out)
        ratios = fit_ratios(blocks, split, SCORE_BARRIER)
        score, slopes = held_out_slopes(blocks, split, ratios, self._fold_sizes())
        return score, self._pull_back(kernels, slopes, self._left_out, columns)

    def _pull_back(
        self, kernels: list[Array], slopes: RowSlopes, train: Array, columns: HostArray
    ) -> HostArray:
        xp = namespace(train)
        # A mean over pairs is the mean of the kernel times that of the target kernel.
        target_means = xp.tensordot(train, self._target_sums, axes=([1], [0]))
        through_means = slopes.means[..., :-1] * target_means
        per_row = xp.tensordot(train, through_means, axes=([0], [0]))

        def term(i: int) -> Array:
            change = slopes.joint[i][..., :-1] * self._target_kernels[i] + per_row[:, :, None, :]
            # Rows before groups; a growing exponent makes the kernel smaller.
            change = xp.permute_dims(-kernels[i] * change, (0, 2, 1, 3))
            return self.rows.blocks[i].pull_back(xp.reshape(change, (-1, self.centers.size)), columns)

        return to_numpy(add_up(map(term, range(len(kernels)))))
