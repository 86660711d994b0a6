"""Density ratios by maximum likelihood, for one draw of folds and centres."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from l1lsmi._arrays import Array, HostArray, asarray_like, exp_in_place, is_non_numpy, namespace, to_numpy
from l1lsmi._numerics.density_ratio import DensityRatioDraw, weight_gradient
from l1lsmi._numerics.likelihood.likelihood import (
    SCORE_BARRIER,
    RatioBlock,
    RowGradient,
    Split,
    fit_ratios,
    held_out,
    held_out_gradient,
    mutual_information,
    row_gradient,
)
from l1lsmi._numerics.likelihood.nodes import ColumnNodes
from l1lsmi._numerics.model import Evaluation, Fit, Model, ModelBatch, ScoredModel
from l1lsmi._numerics.target import Target
from l1lsmi._rows.blocks import Block, Layout
from l1lsmi._rows.layout import CachedRows
from l1lsmi._rows.parts import add_up
from l1lsmi._rows.table import RowTable


class _OnNodes(NamedTuple):
    """One column on nodes: the basis functions there, and sums of the kernels over the rows of each fold."""

    blocks: list[RatioBlock]
    sums: Array  # (F, C, b)


class LikelihoodDraw(DensityRatioDraw):
    """Fits by likelihood: about a dozen Newton steps for an estimate, as many for all folds."""

    def __init__(self, table: RowTable, target: Target, **draw: Any) -> None:
        # The interior-point method ends where the conditions for an optimum hold to more digits than
        # float32 has.
        table = table.locate(np.arange(table.n_rows))[0].exact
        super().__init__(table, target, **draw)
        x = table.x
        sizes = self.rows.fold_sizes[0]
        folds = np.arange(sizes.size)
        self._fold_sizes = asarray_like(sizes, x)
        left_out = 1.0 - np.eye(sizes.size)
        # Which folds each problem is fitted to, over the number of rows in them.
        self._left_out = asarray_like(left_out / (left_out @ sizes)[:, None], x)
        self._all_rows = asarray_like(np.full((1, sizes.size), 1.0 / sizes.sum()), x)
        # A row left out must not be a centre: its kernel would be far higher there than anywhere that the
        # fit has seen.
        centers, fold_of_row = self.centers[0], draw["fold_of_row"][0]
        fold_of_center = np.where(centers >= 0, fold_of_row[centers], -1)
        self._outside = asarray_like((fold_of_center != folds[:, None, None]).astype(np.float64), x)
        self._target_kernels = [block.attached["target_kernels"][0, ...] for block in self.rows.blocks]
        self._row_weights = [_row_weights(block) for block in self.rows.blocks]
        self._target_sums = self._sums(self._target_kernels)
        self._is_classification = target.is_classification
        self._groups = draw["fold_of_row"][0] * self.centers.shape[1] + target.codes
        self._groups[draw["fold_of_row"][0] < 0] = -1
        self._weight_of_row = target.row_weights
        self._column: tuple[int, ColumnNodes] | None = None
        #: Scores of the last weights and columns, by width: a search begins at the width that another found.
        self._scored: tuple[HostArray, HostArray, dict[float, HostArray]] | None = None
        # Of the rows in each group: 1 for those of its class, or for all.
        self._present = (
            [kernel[..., 0] for kernel in self._target_kernels]
            if target.is_classification
            else [asarray_like((b.rows[0] >= 0).astype(np.float64), x)[:, None, :] for b in self.rows.blocks]
        )

    # -- kernels and sums over rows ----------------------------------------------------------

    def _lay_out(self, table: RowTable, target: Target, fold_of_row: HostArray, layout: Layout) -> CachedRows:
        return CachedRows.of(table.locate(np.empty(0, dtype=np.intp))[0], target, fold_of_row, layout)

    def _kernels(self, weights: HostArray, columns: HostArray, sigma: float) -> list[Array]:
        """Kernel values of every block, (F, C, q, b)."""
        squares = self.asarray((weights[None] / sigma) ** 2)
        columns = columns[None]
        return [
            self.basis.grouped(block.kernels(squares, columns), block.n_folds)[0, ...]
            for block in self.rows.blocks
        ]

    def _sums(self, kernels: list[Array]) -> Array:
        """Weighted sums over the rows of each fold, (F, C, b)."""
        pairs = zip(kernels, self._row_weights, strict=True)
        return add_up(namespace(k).sum(_weighted(k, w), axis=2) for k, w in pairs)

    def _blocks(self, kernels: list[Array]) -> list[RatioBlock]:
        xp = namespace(kernels[0])
        parts = zip(kernels, self._target_kernels, self._present, self._row_weights, strict=True)
        return [
            RatioBlock(
                xp.concat([kernel * target, present[..., None]], axis=-1),
                present if weights is None else present * weights,
            )
            for kernel, target, present, weights in parts
        ]

    def _on_nodes(self, weights: HostArray, columns: HostArray, sigma: float) -> _OnNodes | None:
        """One column on nodes, where that is exact to all digits that matter and less work."""
        table = self.rows.centers.table
        if not self._is_classification or columns.size != 1 or is_non_numpy(table.x):
            return None
        if table.kinds is not None and not table.kinds.is_plain[columns].all():
            return None
        if self._column is None or self._column[0] != columns[0]:
            values = table.take(np.arange(table.n_rows), columns)[:, 0]
            shape = (self._fold_sizes.shape[0], self.centers.shape[1])
            nodes = ColumnNodes(values, self._groups, shape, self._weight_of_row)
            self._column = int(columns[0]), nodes
        # The width over the weight, because only their quotient enters the kernels.
        width = sigma / max(abs(float(weights[0])), 1e-300)
        nodes_at = self._column[1].at(width)
        if nodes_at is None:
            return None
        centers = self.centers[0]
        at_centers = table.take(np.maximum(centers, 0).ravel(), columns).reshape(centers.shape)
        gaps = (nodes_at.points[:, None] - at_centers[:, None, :]) / width
        kernels = np.exp(-0.5 * gaps**2) * (centers >= 0)[:, None, :]
        joint = np.concatenate([kernels, np.ones((*kernels.shape[:2], 1))], axis=-1)
        sums = np.tensordot(nodes_at.weights.sum(axis=1), kernels, axes=([1], [1]))
        return _OnNodes([RatioBlock(joint[None], nodes_at.weights)], sums)

    def _split(self, kernels: list[Array], train: Array) -> Split:
        return self._split_of(self._sums(kernels), train)

    def _split_of(self, sums: Array, train: Array) -> Split:
        xp = namespace(train)

        def mean(of_folds: Array) -> Array:
            return xp.tensordot(train, of_folds, axes=([1], [0]))

        means = mean(sums) * mean(self._target_sums)
        if train is self._left_out:
            means = means * self._outside
        # The constant function of a class has the share of the class as its mean, else 1.
        constant = mean(self._target_sums) if self._is_classification else xp.ones_like(means[..., :1])
        return Split(train, xp.concat([means, constant], axis=-1))

    # -- model selection -------------------------------------------------------------------

    def _held_out(self, kernels: list[Array]) -> HostArray:
        return self._held_out_of(self._blocks(kernels), self._split(kernels, self._left_out))

    def _held_out_of(self, blocks: list[RatioBlock], split: Split) -> HostArray:
        ratios = fit_ratios(blocks, split, SCORE_BARRIER)
        return to_numpy(held_out(blocks, split, ratios.alpha, self._fold_sizes))

    def _fold_scores(
        self,
        weights: HostArray,
        columns: HostArray,
        sigmas: Sequence[float],
        regularizations: Sequence[float],
    ) -> list[HostArray]:
        known = self._known_scores(weights, columns)
        exponents: list[Array] = []
        for sigma in sigmas:
            if sigma in known:
                continue
            on_nodes = self._on_nodes(weights, columns, sigma)
            if on_nodes is not None:
                split = self._split_of(on_nodes.sums, self._left_out)
                known[sigma] = self._held_out_of(on_nodes.blocks, split)
                continue
            if not exponents:
                squares = self.asarray(weights[None] ** 2)
                exponents = [block.exponents(squares, columns[None]) for block in self.rows.blocks]
            n_folds = self.rows.fold_sizes.shape[1]
            known[sigma] = self._held_out(
                [self.basis.kernels_at(e, sigma, n_folds)[0, ...] for e in exponents]
            )
        # There is nothing to regularise: one score for all.
        return [np.repeat(known[sigma][:, None], len(regularizations), axis=1) for sigma in sigmas]

    def _known_scores(self, weights: HostArray, columns: HostArray) -> dict[float, HostArray]:
        last = self._scored
        if last is None or not (np.array_equal(last[0], weights) and np.array_equal(last[1], columns)):
            self._scored = last = weights.copy(), columns.copy(), {}
        return last[2]

    def _score_widths(
        self, weights: HostArray, columns: HostArray, sigmas: Sequence[float], near: float | None
    ) -> list[ScoredModel]:
        scores = self._fold_scores(weights, columns, sigmas, [0.0])
        return [ScoredModel(float(s.mean()), Model(sigma)) for sigma, s in zip(sigmas, scores, strict=True)]

    # -- values and gradients --------------------------------------------------------------

    def fit(self, weights: HostArray, columns: HostArray, model: Model, cv_score: float | None = None) -> Fit:
        """Fit the density ratio; alpha is (C, b + 1), the constant functions last."""
        on_nodes = self._on_nodes(weights, columns, model.sigma)
        if on_nodes is None:
            kernels = self._kernels(weights, columns, model.sigma)
            blocks, sums = self._blocks(kernels), self._sums(kernels)
        else:
            blocks, sums = on_nodes
        split = self._split_of(sums, self._all_rows)
        alpha = fit_ratios(blocks, split).alpha
        value = mutual_information(blocks, split, alpha)
        total = namespace(alpha).sum(alpha * split.means)
        if cv_score is None:
            cv_score = float(self._held_out_of(blocks, self._split_of(sums, self._left_out)).mean())
        return Fit(to_numpy(alpha[0, ...] / total), value, cv_score)

    def neighbour_values(self, columns: HostArray, others: HostArray, sign: float, model: Model) -> HostArray:
        """Estimates for the sets with (sign 1) or without (sign -1) each of the others, under one model."""
        scale = model.sigma**-2
        moved = (block.moved_exponents(columns, others, sign, scale) for block in self.rows.blocks)
        sets = zip(*moved, strict=True)
        return np.array([self._value([exp_in_place(e) for e in exponents]) for exponents in sets])

    def _value(self, kernels: list[Array]) -> float:
        n_folds = self.rows.fold_sizes.shape[1]
        folded = [self.basis.grouped(kernel, n_folds)[0, ...] for kernel in kernels]
        blocks, split = self._blocks(folded), self._split(folded, self._all_rows)
        return mutual_information(blocks, split, fit_ratios(blocks, split).alpha)

    def value_and_gradient(
        self, weights: HostArray, columns: HostArray, model: Model
    ) -> tuple[float, HostArray]:
        """Estimate of the mutual information and its gradient in the weights."""
        kernels = self._kernels(weights, columns, model.sigma)
        blocks, split = self._blocks(kernels), self._split(kernels, self._all_rows)
        ratios = fit_ratios(blocks, split)
        gradient = row_gradient(blocks, split, ratios)
        in_squares = self._pull_back(kernels, gradient, self._all_rows, columns)
        value = mutual_information(blocks, split, ratios.alpha)
        return value, weight_gradient(weights, model.sigma, in_squares)

    def evaluate(
        self, weights: Array, last: Evaluation | None, columns: HostArray, models: ModelBatch
    ) -> Evaluation:
        """Minus the cross-validation score and its gradient in the weights."""
        (one,), (of_one,), (sigma,) = to_numpy(weights), columns, to_numpy(models.sigma)
        score, in_squares = self._held_out_gradient(self._kernels(one, of_one, float(sigma)), of_one)
        gradient = weight_gradient(one, float(sigma), in_squares)[None]
        value = self.asarray(np.array([-score]))
        return Evaluation(weights, value, self.asarray(gradient), models.regularization)

    def estimate(self, evaluation: Evaluation, columns: HostArray, models: ModelBatch) -> HostArray:
        """Estimate of the mutual information where an evaluation was made."""
        model = Model(float(models.sigma[0]))
        return np.array([self.fit(to_numpy(evaluation.weights)[0], columns[0], model, 0.0).value])

    def set_gradient(self, columns: HostArray, model: Model, candidates: HostArray) -> HostArray:
        """Gradient of minus the cross-validation score in the squared weights of ``candidates``."""
        kernels = self._kernels(np.ones(columns.size), columns, model.sigma)
        return np.asarray(self._held_out_gradient(kernels, candidates)[1] / model.sigma**2)

    def _held_out_gradient(self, kernels: list[Array], columns: HostArray) -> tuple[float, HostArray]:
        blocks, split = self._blocks(kernels), self._split(kernels, self._left_out)
        ratios = fit_ratios(blocks, split, SCORE_BARRIER)
        score, gradient = held_out_gradient(blocks, split, ratios, self._fold_sizes)
        return score, self._pull_back(kernels, gradient, self._left_out, columns)

    def _pull_back(
        self, kernels: list[Array], gradient: RowGradient, train: Array, columns: HostArray
    ) -> HostArray:
        xp = namespace(train)
        # A mean over pairs is the mean of the kernel times that of the target kernel.
        target_means = xp.tensordot(train, self._target_sums, axes=([1], [0]))
        through_means = gradient.means[..., :-1] * target_means
        per_row = xp.tensordot(train, through_means, axes=([0], [0]))

        def term(i: int) -> Array:
            change = gradient.joint[i][..., :-1] * self._target_kernels[i]
            change = change + _weighted(per_row[:, :, None, :], self._row_weights[i])
            # Rows before groups; a growing exponent makes the kernel smaller.
            change = xp.permute_dims(-kernels[i] * change, (0, 2, 1, 3))
            change = xp.reshape(change, (1, -1, self.centers[0].size))
            return self.rows.blocks[i].pull_back(change, columns[None])

        return np.asarray(to_numpy(add_up(map(term, range(len(kernels)))))[0])


def _row_weights(block: Block) -> Array | None:
    """Weights of the rows of a block, (F, 1, q), where there are any."""
    weights = block.row_weights
    return None if weights is None else weights[0, ...][:, None, :]


def _weighted(values: Array, row_weights: Array | None) -> Array:
    """Values (F, C, q, b) times the weights of the rows, (F, 1, q)."""
    return values if row_weights is None else values * row_weights[..., None]
