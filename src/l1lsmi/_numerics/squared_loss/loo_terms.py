"""Sums over a block of rows for the leave-one-out loss.

``squares`` are squared weights, over squared widths unless widths are passed as well. Distances are in the
precision of the table. What is made of kernels is in float64, block by block: with little regularization,
rounding errors of float32 products would be fitted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from l1lsmi._arrays import Array, HostArray, asarray_like, exp_in_place, in_float64, namespace, whitened
from l1lsmi._numerics.squared_loss.loo_algebra import (
    AllFits,
    GradientParts,
    adjoint_sums,
    all_losses,
    kernel_sums,
    left_out,
    row_gradient,
)
from l1lsmi._rows.blocks import Block


class Kernels(NamedTuple):
    """Kernels to compute from cached exponents: of which sets of a batch, at which widths."""

    members: tuple[int, ...]
    scales: tuple[float, ...]

    def of(self, exponents: Array) -> Array:
        """Kernels in float64, (members, rows, centres)."""
        if exponents.shape[0] > 1:
            index = asarray_like(np.array(self.members), exponents)
            exponents = namespace(exponents).take(exponents, index, axis=0)
        scale = asarray_like(np.array(self.scales), exponents, dtype=exponents.dtype)[:, None, None]
        return in_float64(exp_in_place(exponents * scale))


def _parts(block: Block) -> tuple[Array, Array | None]:
    """Functions of the target and weights of the rows, (1, rows, 1)."""
    weights = block.row_weights
    if weights is not None:
        weights = in_float64(namespace(weights).reshape(weights, (1, -1, 1)))
    return block.attached["functions"], weights


def _kernel(block: Block, squares: Array, columns: HostArray) -> Array:
    return in_float64(block.kernels(squares, columns))


def sums_of(block: Block, squares: Array, columns: HostArray) -> tuple[Array, Array]:
    """Sums at the widths that are in the squared weights."""
    return kernel_sums(_kernel(block, squares, columns), *_parts(block))


def sums_at(
    block: Block, squares: Array, columns: HostArray, kernels: list[Kernels], whites: list[Array]
) -> tuple[Array, ...]:
    """Sums in white coordinates, one after the other: distances are computed once."""
    exponents = block.exponents(squares, columns)
    found: list[Array] = []
    for some, white in zip(kernels, whites, strict=True):
        found.extend(kernel_sums(whitened(some.of(exponents), white), *_parts(block)))
    return tuple(found)


def losses_at(
    block: Block, squares: Array, columns: HostArray, kernels: list[Kernels], fits: list[AllFits]
) -> tuple[Array, ...]:
    """Sums of squared leave-one-out errors at every regularization."""
    exponents = block.exponents(squares, columns)
    return tuple(
        all_losses(some.of(exponents), *_parts(block), fit) for some, fit in zip(kernels, fits, strict=True)
    )


def squared_errors(
    block: Block, squares: Array, columns: HostArray, inverse: Array, coefficients: Array
) -> Array:
    functions, row_weights = _parts(block)
    errors = left_out(_kernel(block, squares, columns), functions, row_weights, inverse, coefficients).errors
    errors = errors * errors
    return namespace(errors).sum(errors if row_weights is None else errors * row_weights, axis=(-2, -1))


def adjoint(
    block: Block, squares: Array, columns: HostArray, inverse: Array, coefficients: Array
) -> tuple[Array, Array]:
    """G and Q."""
    functions, row_weights = _parts(block)
    kernel = _kernel(block, squares, columns)
    return adjoint_sums(left_out(kernel, functions, row_weights, inverse, coefficients), row_weights)


def gradient_in_squares(
    block: Block, squares: Array, columns: HostArray, parts: GradientParts, candidates: HostArray
) -> Array:
    functions, row_weights = _parts(block)
    kernel = _kernel(block, squares, columns)
    rows = left_out(kernel, functions, row_weights, parts.inverse, parts.coefficients)
    return block.pull_back(row_gradient(kernel, rows, row_weights, parts), candidates)
