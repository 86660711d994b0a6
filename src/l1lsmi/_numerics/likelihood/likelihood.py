r"""Density ratios by maximum likelihood, as a convex problem solved by an interior-point method.

The ratio is :math:`r(x, y) = \sum_l \alpha_l \varphi_l(x, y)` with non-negative coefficients and mean
1 over independent pairs, :math:`u^T\alpha = 1`. Maximising :math:`\sum_i s_i \log r_i` under these
constraints is the same as minimising :math:`-\sum_i s_i \log r_i + u^T\alpha` over
:math:`\alpha \ge 0`: scaling alpha shows that the sum takes care of itself. Besides the kernels there
is a constant basis function (one for each class), so that independence is a ratio the model can
have and the estimate is never negative.

Shapes: P problems that share the rows (one for each fold left out, or one for all rows), F folds, C
groups, q rows per fold in a block, b basis functions, the constant one last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from l1lsmi._arrays import Array, asarray_like, namespace, positive_definite_solver
from l1lsmi._clock import check_time

#: Weight of the logarithmic barrier where the interior-point method ends; b times as much is the
#: distance of the likelihood from its maximum. Scores of rows left out need less than estimates.
BARRIER = 1e-9
SCORE_BARRIER = 1e-6
#: How far from zero the conditions for an optimum may be left, over the barrier.
SLACK = 1e-2
#: Share of the way to the boundary that a step may take.
INSIDE = 0.99
#: Factor by which the barrier falls in a step.
FALL = 0.15
#: Basis functions with a smaller mean over independent pairs than this take no part.
VANISHING = 1e-12


class RatioBlock(NamedTuple):
    """Some rows of every fold, or points that the folds share and rows are put on."""

    joint: Array  # (F, C, q, b): basis functions at the pairs that were observed; (1, C, q, b) at points
    row_weights: Array  # (F, C, q): weights (1) of the rows of the group, 0 for others and placeholders


class Split(NamedTuple):
    """Which folds each problem is fitted to, and the means over independent pairs there."""

    train: Array  # (P, F): 1 for folds that are fitted to, over the number of rows in all of them
    means: Array  # (P, C, b): u


class Ratios(NamedTuple):
    """Fitted ratios: coefficients, and what gradients need of the last Newton step."""

    alpha: Array  # (P, C, b)
    dual: Array  # (P, C, b): the barrier over alpha
    solve: Callable[[Array], Array]


def _at_rows(block: RatioBlock, alpha: Array) -> Array:
    """Ratios of every problem at every row, (F, C, q, P)."""
    xp = namespace(alpha)
    return xp.matmul(block.joint, xp.permute_dims(alpha, (1, 2, 0)))


def _safe(ratios: Array, weights: Array) -> Array:
    """Ratios with 1 in the place of rows that take no part, which may have a ratio of 0."""
    xp = namespace(ratios)
    return xp.where(weights != 0, ratios, xp.ones_like(ratios))


def _row_weights(block: RatioBlock, split: Split) -> Array:
    """Weight of every row in the likelihood of every problem, (F, C, q, P)."""
    return _weighted_folds(block, split.train)


def _weighted_folds(block: RatioBlock, of_folds: Array) -> Array:
    """Weights of the rows times those of their folds, (P, F), in every problem: (F, C, q, P).

    Points that folds share have the sums over the folds, (1, C, q, P).
    """
    xp = namespace(of_folds)
    if block.joint.shape[0] != block.row_weights.shape[0]:
        return xp.permute_dims(xp.tensordot(of_folds, block.row_weights, axes=([1], [0])), (1, 2, 0))[
            None, ...
        ]
    return block.row_weights[..., None] * xp.matrix_transpose(of_folds)[:, None, None, :]


def _sum(blocks: Sequence[RatioBlock], term: Callable[[RatioBlock], Array]) -> Array:
    total = term(blocks[0])
    for block in blocks[1:]:
        total = total + term(block)
    return total


def _pulled(block: RatioBlock, row_values: Array) -> Array:
    """Sum of basis functions over rows with values (F, C, q, P); gives (P, C, b)."""
    xp = namespace(row_values)
    total = xp.sum(xp.matmul(xp.matrix_transpose(block.joint), row_values), axis=0)
    return xp.permute_dims(total, (2, 0, 1))


def _hessian(block: RatioBlock, row_values: Array) -> Array:
    """Sum of outer products of basis functions, weighted by row, (P, C, b, b)."""
    xp = namespace(row_values)
    each = [
        xp.sum(xp.matmul(xp.matrix_transpose(block.joint * row_values[..., p : p + 1]), block.joint), axis=0)
        for p in range(row_values.shape[-1])
    ]
    return xp.stack(each, axis=0)


def fit_ratios(
    blocks: Sequence[RatioBlock], split: Split, least_barrier: float = BARRIER, max_iter: int = 50
) -> Ratios:
    """Fit every problem by a primal-dual interior-point method, in about a dozen steps.

    Works on ``beta = u alpha``, which is of order one whatever the width of the kernels.
    """
    xp = namespace(split.means)
    used = split.means > VANISHING
    means = xp.where(used, split.means, xp.ones_like(split.means))
    one = xp.astype(used, xp.float64)
    n_basis = xp.sum(one, axis=-1, keepdims=True)
    beta = one / xp.clip(n_basis, min=1.0) + (1 - one)
    barrier = 1.0 / split.means.shape[-1]
    dual = barrier * means / beta
    for _ in range(max_iter):
        check_time()
        beta, dual, slack, solve = _step(blocks, split, beta, dual, means, one, barrier)
        if barrier <= least_barrier and slack <= SLACK * least_barrier:
            break
        barrier = max(FALL * barrier, least_barrier)
    return Ratios(one * beta / means, one * dual, solve)


def _step(
    blocks: Sequence[RatioBlock],
    split: Split,
    beta: Array,
    dual: Array,
    means: Array,
    one: Array,
    barrier: float,
) -> tuple[Array, Array, float, Callable[[Array], Array]]:
    """One Newton step on the conditions for an optimum, kept inside the positive numbers.

    Returns the new point, how far from optimal the old one was, and the solver of the old one.
    """
    xp = namespace(beta)
    alpha = one * beta / means

    def terms(block: RatioBlock) -> tuple[Array, Array]:
        weights = _row_weights(block, split)
        ratios = _safe(_at_rows(block, alpha), weights)
        pull = weights / ratios
        return _pulled(block, pull), _hessian(block, pull / ratios)

    first, second = (
        terms(blocks[0])
        if len(blocks) == 1
        else tuple(sum(parts[1:], parts[0]) for parts in zip(*map(terms, blocks), strict=True))
    )
    scale = one / means
    gradient = 1 - scale * first
    diagonal = asarray_like(np.eye(beta.shape[-1]), beta) * (dual / beta)[..., None]
    solve = positive_definite_solver(scale[..., :, None] * second * scale[..., None, :] + diagonal)
    # The barrier leaves a trace of basis functions that the likelihood has no use for. In proportion to
    # their means, it is the same trace for all, also of those that have hardly any rows near.
    push = barrier * means / beta
    move = solve(push - gradient)
    turn = push - dual - dual / beta * move
    off_path = xp.abs(one * (beta * dual / means - barrier))
    slack = float(xp.max(xp.stack([xp.abs(one * (gradient - dual)), off_path])))
    new = beta + _length(beta, move) * move, dual + _length(dual, turn) * turn
    return *new, slack, lambda right: scale * solve(scale * right)


def _length(point: Array, move: Array) -> Array:
    """Longest step of each problem that stays inside, at most 1; (P, C, 1)."""
    xp = namespace(point)
    outward = xp.where(move < 0, -point / xp.where(move < 0, move, -xp.ones_like(move)), xp.inf)
    return xp.clip(INSIDE * xp.min(outward, axis=-1, keepdims=True), max=1.0)


def _normalised(alpha: Array, means: Array) -> Array:
    """Coefficients whose ratio has mean 1 over independent pairs; groups add up."""
    xp = namespace(alpha)
    return alpha / xp.sum(alpha * means, axis=(1, 2), keepdims=True)


def mutual_information(blocks: Sequence[RatioBlock], split: Split, alpha: Array) -> float:
    """Mean logarithm of the normalised ratio over the rows of a single problem, at least 0."""
    xp = namespace(alpha)
    normalised = _normalised(alpha, split.means)

    def term(block: RatioBlock) -> Array:
        weights = _row_weights(block, split)
        return xp.sum(weights * xp.log(_safe(_at_rows(block, normalised), weights)))

    return max(float(_sum(blocks, term)), 0.0)


class RowGradient(NamedTuple):
    """Gradient of an objective in the rows.

    ``joint`` is the gradient in the basis functions at the rows of each block, (F, C, q, b); ``means``
    that in the means over independent pairs of each problem, (P, C, b).
    """

    joint: list[Array]
    means: Array


def _spread(row_values: Array, coefficients: Array) -> Array:
    """Sum over problems of row values (F, C, q, P) times coefficients (P, C, b)."""
    xp = namespace(row_values)
    return xp.matmul(row_values, xp.permute_dims(coefficients, (1, 0, 2)))


def row_gradient(blocks: Sequence[RatioBlock], split: Split, ratios: Ratios) -> RowGradient:
    """Gradient of the estimate in the rows, by the envelope theorem at the optimal coefficients."""
    alpha = _normalised(ratios.alpha, split.means)

    def joint(block: RatioBlock) -> Array:
        weights = _row_weights(block, split)
        return _spread(weights / _safe(_at_rows(block, alpha), weights), alpha)

    return RowGradient([joint(block) for block in blocks], -alpha)


class _Test(NamedTuple):
    """Held-out rows of each problem."""

    weights: Array  # (P, F): 1 over the weight for the fold left out, 0 elsewhere
    smoothing: Array  # (P,): share of independence that is mixed in, 1 over the rows fitted to


def _test_of(split: Split, fold_sizes: Array) -> _Test:
    xp = namespace(split.train)
    sizes = asarray_like(fold_sizes, split.train, dtype=xp.float64)
    out = xp.astype(split.train == 0, xp.float64)
    return _Test(out / sizes, 1.0 / (1.0 + xp.matmul(xp.astype(split.train > 0, xp.float64), sizes)))


def _smoothed(block: RatioBlock, alpha: Array, test: _Test, weights: Array) -> Array:
    """Ratios mixed with a little independence: no row is impossible because none was like it."""
    mixed = (1 - test.smoothing) * _at_rows(block, alpha) + test.smoothing
    return _safe(mixed, weights)


def held_out(blocks: Sequence[RatioBlock], split: Split, alpha: Array, fold_sizes: Array) -> Array:
    """Minus the mean log ratio of the rows that each problem left out, (P,)."""
    xp = namespace(alpha)
    test = _test_of(split, fold_sizes)
    normalised = _normalised(alpha, split.means)

    def term(block: RatioBlock) -> Array:
        weights = _weighted_folds(block, test.weights)
        logs = xp.log(_smoothed(block, normalised, test, weights))
        return xp.sum(weights * logs, axis=(0, 1, 2))

    return -_sum(blocks, term)


def held_out_gradient(
    blocks: Sequence[RatioBlock], split: Split, ratios: Ratios, fold_sizes: Array
) -> tuple[float, RowGradient]:
    r"""Score of rows left out, and the gradient of minus the score in the rows.

    The coefficients follow from :math:`G(\alpha) = u - \sum_i s_i p_i / r_i - \mu u/\alpha = 0`. With the
    gradient a of minus the score in alpha and the adjoint :math:`\lambda = (\partial G/\partial\alpha)^{-1}
    a`, a change of the rows adds :math:`-\lambda^T dG` to the change at fixed coefficients: :math:`-\lambda^T
    du + \sum_i s_i \big(dp_i^T\lambda / r_i - (p_i^T\lambda)(dp_i^T\alpha)/r_i^2\big)`.
    """
    xp = namespace(ratios.alpha)
    test = _test_of(split, fold_sizes)
    # The score is the mean over the folds.
    weights = xp.matrix_transpose(test.weights)[:, None, None, :] / fold_sizes.shape[0]
    total = xp.sum(ratios.alpha * split.means, axis=(1, 2), keepdims=True)
    alpha = ratios.alpha / total

    def pull(block: RatioBlock) -> Array:
        smoothed = _smoothed(block, alpha, test, block.row_weights[..., None])
        return block.row_weights[..., None] * weights * (1 - test.smoothing) / smoothed

    pulls = [pull(block) for block in blocks]
    slope = _pulled(blocks[0], pulls[0])
    for block, of_rows in zip(blocks[1:], pulls[1:], strict=True):
        slope = slope + _pulled(block, of_rows)
    along = xp.sum(slope * alpha, axis=(1, 2), keepdims=True)
    adjoint = ratios.solve((slope - along * split.means) / total)

    def joint(block: RatioBlock, of_rows: Array) -> Array:
        weights = _row_weights(block, split)
        at_rows = _safe(_at_rows(block, ratios.alpha), weights)
        fitted = weights / at_rows
        bend = fitted / at_rows * _at_rows(block, adjoint)
        return _spread(of_rows, alpha) + _spread(fitted, adjoint) - _spread(bend, ratios.alpha)

    slopes = [joint(*each) for each in zip(blocks, pulls, strict=True)]
    score = float(xp.mean(held_out(blocks, split, ratios.alpha, fold_sizes)))
    return score, RowGradient(slopes, (ratios.dual - 1) * adjoint - along * alpha)
