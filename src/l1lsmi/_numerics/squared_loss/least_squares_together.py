"""Several draws of one problem, climbed as one: what costs a launch each on a device costs one for all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from l1lsmi._arrays import (
    Array,
    HostArray,
    clip_in_place,
    exp_in_place,
    in_float64,
    like,
    matching,
    namespace,
    to_numpy,
)
from l1lsmi._numerics.model import Climbed, Model, Stretch
from l1lsmi._numerics.optimization.ascent import NEGLIGIBLE
from l1lsmi._numerics.squared_loss.least_squares import (
    FoldSums,
    TargetSums,
    fit_all_rows,
    fold_sums,
    held_out_scores,
    held_out_slopes,
    kernel_slopes,
)
from l1lsmi._numerics.squared_loss.least_squares_ratio import (
    CLIMB_REGULARIZATIONS,
    LeastSquaresDraw,
    start_regularizations,
)
from l1lsmi._numerics.target import median_positive
from l1lsmi._rows.table import Table


class LeastSquaresTogether:
    """Draws with the same number of rows, folds and centres, all rows of each in one block.

    Parameters
    ----------
    table : Table
    draws : sequence of LeastSquaresDraw
    """

    def __init__(self, table: Table, draws: Sequence[LeastSquaresDraw]) -> None:
        xp = namespace(table.x)
        self.table = table
        self.basis = draws[0].basis
        blocks = [draw.rows.blocks[0] for draw in draws]
        self.n_folds = blocks[0].n_folds
        self._rows = np.stack([np.maximum(block.rows.ravel(), 0) for block in blocks])
        self._centers = np.stack([np.maximum(block.centers.rows, 0) for block in blocks])
        self._real = np.stack([block.centers.rows >= 0 for block in blocks])
        self._row_offsets = xp.stack([block.offsets() for block in blocks])
        self._center_offsets = xp.stack([block.centers.offsets for block in blocks])
        self._target_kernels = xp.stack([block.attached["target_kernels"] for block in blocks])
        self._target = TargetSums.together([draw.target for draw in draws])

    # -- pieces ----------------------------------------------------------------------------

    def _padded(self, arrays: Sequence[HostArray], dtype: Any) -> HostArray:
        padded = np.zeros((len(arrays), max(a.size for a in arrays)), dtype=dtype)
        for row, values in zip(padded, arrays, strict=True):
            row[: values.size] = values
        return padded

    # -- where climbs begin ----------------------------------------------------------------

    def start_models(
        self, weights: Sequence[HostArray], columns: HostArray, narrowness: Sequence[float]
    ) -> list[Model]:
        """For each draw a kernel whose squared width is the squared median distance over a narrowness."""
        some = _Some(self, range(len(weights)), np.tile(columns, (len(weights), 1)))
        regularizations = start_regularizations()
        squares = np.stack(weights) ** 2
        halves = to_numpy(some.center_half_distances(squares))
        medians = [
            math.sqrt(2 * median_positive(_pairs(half, real)))
            for half, real in zip(halves, self._real, strict=True)
        ]
        sigmas = [median / math.sqrt(n) for median, n in zip(medians, narrowness, strict=True)]
        kernels = some.kernels(like(squares / np.array(sigmas)[:, None] ** 2, self.table.x))
        scores = held_out_scores(some.sums(kernels), some.target, regularizations)
        best = to_numpy(scores).mean(axis=1).argmin(axis=1)
        return [Model(sigma, float(regularizations[i])) for sigma, i in zip(sigmas, best, strict=True)]

    # -- climbs ----------------------------------------------------------------------------

    def climb(
        self, members: Sequence[int], stretches: Sequence[Stretch], k: int, step_size: float
    ) -> list[Climbed]:
        """Climb a stretch with each member, step by step together; one way to the device and one back."""
        x = self.table.x
        xp = namespace(x)
        some = _Some(self, members, self._padded([s.columns for s in stretches], np.intp))
        weights = like(self._padded([s.weights for s in stretches], np.float64), x)
        sizes = np.array([s.columns.size for s in stretches])
        present = like(np.arange(weights.shape[1]) < sizes[:, None], x)
        sigma = like(np.array([s.model.sigma for s in stretches]), x)[:, None]
        regularization = like(np.array([s.model.regularization for s in stretches]), x)
        last = like(np.array([s.max_iter for s in stretches]), x)
        moving = last >= 1
        evaluated, value, estimate = weights, regularization * 0.0, regularization * 0.0
        n_steps = regularization * 0.0
        for t in range(1, max(s.max_iter for s in stretches) + 1):
            moving = moving & (last >= t)
            evaluation = some.evaluate(weights, sigma, regularization)
            evaluated = xp.where(moving[:, None], weights, evaluated)
            value = xp.where(moving, evaluation[0], value)
            estimate = xp.where(moving, evaluation[3], estimate)
            regularization = xp.where(moving, evaluation[2], regularization)
            n_steps = n_steps + xp.astype(moving, n_steps.dtype)
            moved = _keep_largest(_stepped(weights, evaluation[1], step_size / math.sqrt(t)), present, k)
            weights = xp.where(moving[:, None], moved, weights)
            moving = moving & (xp.sum(xp.astype(weights > 0, xp.int64), axis=1) > 1)
        numbers = xp.stack([value, estimate, regularization, n_steps], axis=1)
        host = to_numpy(xp.concat([weights, evaluated, numbers], axis=1))
        return [self._climbed(row, s, weights.shape[1]) for row, s in zip(host, stretches, strict=True)]

    def _climbed(self, row: HostArray, stretch: Stretch, width: int) -> Climbed:
        size = stretch.columns.size
        value, estimate, regularization, n_steps = row[2 * width :].tolist()
        return Climbed(
            weights=row[:size].copy(),
            evaluated=row[width : width + size].copy(),
            value=value,
            estimate=estimate,
            model=Model(stretch.model.sigma, regularization),
            n_steps=int(n_steps),
        )


class _Some:
    """Some of the draws, each with columns of its own."""

    def __init__(self, whole: LeastSquaresTogether, members: Sequence[int], columns: HostArray) -> None:
        chosen = list(members)
        everyone = len(chosen) == len(whole._rows)
        x = whole.table.x
        index = None if everyone else like(np.array(chosen), x)

        def of(array: Array) -> Array:
            return array if index is None else namespace(array).take(array, index, axis=0)

        self._basis, self._n_folds = whole.basis, whole.n_folds
        self._values = whole.table.take_each(whole._rows[chosen], columns)
        self._centers = whole.table.take_each(whole._centers[chosen], columns)
        self._center_squares = self._centers * self._centers
        self._row_offsets, self._center_offsets = of(whole._row_offsets), of(whole._center_offsets)
        self._target_kernels = of(whole._target_kernels)
        self.target = whole._target.some(of)

    def center_half_distances(self, squares: HostArray) -> Array:
        """Half the weighted squared distances between centres, (r, b, b)."""
        v = like(squares, self._centers)[:, None, :]
        xp = namespace(v)
        # There are few of them: in float64 equal points are told from near ones.
        centers = in_float64(self._centers)
        half = 0.5 * xp.sum(centers * centers * v, axis=2)
        inner = (centers * v) @ xp.matrix_transpose(centers)
        distances = half[:, :, None] + half[:, None, :] - inner
        # Equal points come out at rounding errors instead of 0, which would pass for distances.
        small = 1e-12 * (half[:, :, None] + half[:, None, :])
        return xp.where(distances <= small, xp.zeros_like(distances), distances)

    def kernels(self, v: Array) -> Array:
        """Kernels for squared weights over squared widths, (r, F, C, q, b)."""
        xp = namespace(v)
        v = matching(v, self._centers)
        weighted = self._centers * v[:, None, :]
        exponents = self._values @ xp.matrix_transpose(weighted)
        row_term = ((self._values * self._values) @ v[:, :, None])[:, :, 0]
        exponents -= (0.5 * row_term + self._row_offsets)[:, :, None]
        center_term = 0.5 * xp.sum(weighted * self._centers, axis=2) + self._center_offsets
        exponents -= center_term[:, None, :]
        kernels = exp_in_place(clip_in_place(exponents, 0.0))
        shape = (kernels.shape[0], self._n_folds, -1, self._basis.n_groups, self._basis.n_each)
        return xp.permute_dims(xp.reshape(kernels, shape), (0, 1, 3, 2, 4))

    def sums(self, kernels: Array) -> FoldSums:
        return fold_sums(kernels, self._target_kernels)

    def evaluate(
        self, weights: Array, sigma: Array, regularization: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Minus the score, its gradient, the regularization for the next step, and the estimate."""
        xp = namespace(weights)
        kernels = self.kernels((weights / sigma) ** 2)
        sums = self.sums(kernels)
        score, slopes, along = held_out_slopes(sums, self.target, regularization)
        estimate = fit_all_rows(sums, self.target, regularization)[1]
        change = kernel_slopes(kernels, self._target_kernels, slopes)
        change = xp.reshape(change, (change.shape[0], -1, self._centers.shape[1]))
        gradient = 2 * weights / sigma**2 * self._pull_back(change)
        steepest = xp.max(xp.abs(weights * gradient), axis=1)
        safe = xp.where(steepest > 0, steepest, xp.ones_like(steepest))
        move = xp.where(steepest > 0, xp.clip(3.0 * along / safe, -0.7, 0.7), xp.zeros_like(along))
        following = xp.clip(regularization * xp.exp(move), *CLIMB_REGULARIZATIONS)
        return -score, gradient, following, estimate

    def _pull_back(self, slope: Array) -> Array:
        """Slopes in minus the exponents, carried back to the squared weights, (r, w)."""
        xp = namespace(slope)
        slope = matching(slope, self._values)
        of_rows, of_centers = xp.sum(slope, axis=2), xp.sum(slope, axis=1)
        cross = xp.matrix_transpose(slope) @ self._values
        total = (of_rows[:, None, :] @ (self._values * self._values))[:, 0, :]
        total += (of_centers[:, None, :] @ self._center_squares)[:, 0, :]
        return in_float64(0.5 * total - xp.sum(cross * self._centers, axis=1))


def _stepped(weights: Array, gradient: Array, length: float) -> Array:
    """One step of `relative_step` for each."""
    xp = namespace(weights)
    steepest, largest = xp.max(xp.abs(gradient), axis=1), xp.max(weights, axis=1)
    moves = steepest * largest > NEGLIGIBLE
    safe = xp.where(moves, steepest, xp.ones_like(steepest))
    scale = xp.where(moves, length * largest / safe, xp.zeros_like(largest))
    return weights + scale[:, None] * gradient


def _keep_largest(moved: Array, present: Array, k: int) -> Array:
    """Cut at zero, but leave the ``k`` largest of each a trace of weight."""
    xp = namespace(moved)
    nothing = xp.zeros_like(moved)
    positive = xp.where(present & (moved > 0), moved, nothing)
    if moved.shape[1] <= k:
        needed = present
    else:
        # 1e300 stands for infinity, which some libraries do not sort. Of equal weights, and all that reached
        # zero are equal, the first are taken: a place among the k is not shared.
        order = xp.argsort(xp.where(present, -moved, nothing + 1e300), axis=1)
        needed = present & (xp.argsort(order, axis=1) < k)
    too_few = xp.sum(xp.astype(positive > 0, xp.int64), axis=1, keepdims=True) < k
    trace = 1e-3 * xp.max(positive, axis=1, keepdims=True) + nothing
    return xp.where(too_few & needed & (positive < trace), trace, positive)


def _pairs(halves: HostArray, real: HostArray) -> HostArray:
    inside = np.flatnonzero(real)
    return halves[np.ix_(inside, inside)][np.triu_indices(inside.size, 1)]
