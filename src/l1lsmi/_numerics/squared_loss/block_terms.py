"""Sums over a block of rows for least-squares fits.

``squares`` are squared weights, over squared widths unless widths are passed as well. Kernels are multiplied
in the precision of the table, or in float64 where that is needed.
"""

from __future__ import annotations

from l1lsmi._arrays import Array, HostArray, exp_in_place, in_float64, namespace
from l1lsmi._numerics.density_ratio import Basis
from l1lsmi._numerics.squared_loss.least_squares import (
    FoldSums,
    RowGradient,
    fold_sums,
    kernel_gradient,
    weigh_rows,
)
from l1lsmi._rows.blocks import Block


def _in(kernels: Array, float64: bool) -> Array:
    return in_float64(kernels) if float64 else kernels


def target_gram(block: Block) -> Array:
    """Gram matrix of the target kernels, (r, F, C, b, b); for classes, where they are 0 or 1, a count."""
    kernels = block.attached["target_kernels"]
    xp = namespace(kernels)
    kernels = in_float64(kernels)
    weighted = weigh_rows(kernels, block.row_weights)
    if kernels.shape[-1] == 1:
        return xp.sum(weighted, axis=3, keepdims=True)
    return xp.matmul(xp.matrix_transpose(weighted), kernels)


def kernel_sums(block: Block, basis: Basis, squares: Array, columns: HostArray, float64: bool) -> FoldSums:
    kernels = _in(basis.grouped(block.kernels(squares, columns), block.n_folds), float64)
    return fold_sums(kernels, block.attached["target_kernels"], block.row_weights)


def width_sums(
    block: Block, basis: Basis, squares: Array, columns: HostArray, sigmas: tuple[float, ...], float64: bool
) -> tuple[Array, ...]:
    """Sums at several widths, one after the other: distances are computed once."""
    exponents = block.exponents(squares, columns)
    found: list[Array] = []
    for sigma in sigmas:
        kernels = _in(basis.kernels_at(exponents, sigma, block.n_folds), float64)
        found.extend(fold_sums(kernels, block.attached["target_kernels"], block.row_weights))
    return tuple(found)


def gradient_in_squares(
    block: Block,
    basis: Basis,
    squares: Array,
    columns: HostArray,
    float64: bool,
    gradient: RowGradient,
    candidates: HostArray,
) -> Array:
    """Gradient of the objective in the squared weights over sigma squared."""
    kernels = _in(basis.grouped(block.kernels(squares, columns), block.n_folds), float64)
    change = kernel_gradient(kernels, block.attached["target_kernels"], gradient, block.row_weights)
    shape = (change.shape[0], -1, block.centers.size)
    return block.pull_back(namespace(change).reshape(change, shape), candidates)


def moved_sums(
    block: Block,
    basis: Basis,
    columns: HostArray,
    others: HostArray,
    sign: float,
    scale: float,
    float64: bool,
) -> tuple[Array, ...]:
    """Sums for the sets one column away, one after the other."""
    target_kernels, row_weights = _without_folds(block)
    found: list[Array] = []
    for exponents in block.moved_exponents(columns, others, sign, scale):
        kernels = _in(exp_in_place(exponents), float64)
        # No folds are needed for the value: all rows go into one product per group.
        found.extend(fold_sums(basis.grouped(kernels, 1), target_kernels, row_weights))
    return tuple(found)


def _without_folds(block: Block) -> tuple[Array, Array | None]:
    """Target kernels, (1, 1, C, rows, b), and row weights, (1, 1, rows), of a block as one fold."""
    if "target_kernels_without_folds" not in block.attached:
        kernels = block.attached["target_kernels"]
        xp = namespace(kernels)
        n_draws, n_folds, n_groups, n_rows, n_each = kernels.shape
        by_group = xp.permute_dims(kernels, (0, 2, 1, 3, 4))
        flat = xp.reshape(by_group, (n_draws, 1, n_groups, n_folds * n_rows, n_each))
        block.attached["target_kernels_without_folds"] = flat
    weights = block.row_weights
    if weights is not None:
        weights = namespace(weights).reshape(weights, (weights.shape[0], 1, -1))
    return block.attached["target_kernels_without_folds"], weights
