r"""Leave-one-out errors of regularised least-squares fits: the algebra, for a batch of fits.

Kernels are (r, rows, centres), sums (r, centres, centres); functions of the target are (1, rows, q). With
kernels :math:`K` (rows x centres), row weights :math:`W`, the kernel of the centres :math:`K_c` and
:math:`A = K^TWK + \lambda K_c`, coefficients are :math:`B = A^{-1}K^TWY`, residuals :math:`r_i = y_i - k_iB`,
leverages :math:`h_i = w_ik_iA^{-1}k_i^T`, and the error of a row that is left out, with all of its weight, is
:math:`r_i / e_i` with :math:`e_i = 1 - h_i`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from l1lsmi._arrays import (
    Array,
    asarray_like,
    namespace,
    positive_definite_inverse,
    shifted_inverse_factors,
    whitening,
)

#: Added to the kernel of the centres, which is singular where rows repeat.
RIDGE = 1e-6
#: A row with a leverage of 1 has no leave-one-out error: the smallest one minus leverage.
LEAST_ONE_MINUS_LEVERAGE = 1e-6


class FitSums(NamedTuple):
    """Sums over the rows for a fit, and the kernel of the centres."""

    gram: Array  # (r, b, b)
    joint: Array  # (r, b, q)
    center_kernel: Array  # (r, b, b)


class AllFits(NamedTuple):
    """Fits at all regularizations, in bases in which the inverses of A are diagonal."""

    basis: Array  # (G, r, b, b)
    diagonal: Array  # (G, r, b, L / G)
    coefficients: Array  # (G, r, b, (L / G) q)


class LeftOut(NamedTuple):
    """Rows in a fit: P = K A^-1, residuals r, leave-one-out errors r / e, and e."""

    projected: Array
    residuals: Array
    errors: Array
    one_minus_leverage: Array


class GradientParts(NamedTuple):
    """What the gradient of a row depends on beside the row itself."""

    inverse: Array
    coefficients: Array
    adjoint: Array  # G
    quadratic: Array  # 2 G B' - 2 Q


def weighted(x: Array, row_weights: Array | None) -> Array:
    """Rows (..., rows, columns) times their weights, (..., rows, 1)."""
    return x if row_weights is None else x * row_weights


def kernel_sums(kernel: Array, functions: Array, row_weights: Array | None) -> tuple[Array, Array]:
    """Gram matrix of the kernels, and their products with the functions of the target."""
    across = namespace(kernel).matrix_transpose(weighted(kernel, row_weights))
    return across @ kernel, across @ functions


def center_whitening(center_kernel: Array) -> Array:
    """Coordinates in which the kernel of the centres is the identity.

    Kernels are transformed before their Gram matrices are formed. The Gram matrices of untransformed kernels
    are not positive definite in floating point where centres are close to each other.
    """
    return whitening(center_kernel, RIDGE)


def fit_all(white: Array, gram: Array, joint: Array, regularizations: Sequence[float]) -> AllFits:
    """Fits at all regularizations from sums in white coordinates."""
    xp = namespace(gram)
    basis, diagonal = shifted_inverse_factors(gram, regularizations)
    joint = xp.matrix_transpose(basis) @ joint
    coefficients = diagonal[..., :, None] * joint[..., None, :]
    shape = (*coefficients.shape[:-2], -1)
    return AllFits(white @ basis, diagonal, xp.reshape(coefficients, shape))


def all_losses(kernel: Array, functions: Array, row_weights: Array | None, fits: AllFits) -> Array:
    """Sums of squared leave-one-out errors at every regularization, (r, regularizations)."""
    xp = namespace(kernel)
    values = kernel @ fits.basis  # (G, r, rows, b)
    shape = (*values.shape[:-1], -1, functions.shape[-1])
    residuals = xp.reshape(values @ fits.coefficients, shape)
    # In place, as these are the largest arrays of a pass.
    residuals -= functions[..., :, None, :]
    residuals *= residuals
    values *= values
    leverage = weighted(values @ fits.diagonal, row_weights)
    remaining = clip_below(1.0 - leverage, LEAST_ONE_MINUS_LEVERAGE)
    errors = xp.sum(residuals, axis=-1) / (remaining * remaining)
    losses = xp.sum(weighted(errors, row_weights), axis=-2)  # (G, r, L / G)
    return xp.reshape(xp.permute_dims(losses, (1, 0, 2)), (losses.shape[1], -1))


def inverse_of(sums: FitSums, regularization: Array) -> Array:
    """Inverses of A for one regularization of each fit, (r, 1, 1)."""
    xp = namespace(sums.gram)
    eye = asarray_like(np.eye(sums.gram.shape[-1]), sums.gram)
    small = RIDGE * regularization + 1e-12 * xp.linalg.trace(sums.gram)[..., None, None]
    return positive_definite_inverse(sums.gram + regularization * sums.center_kernel + small * eye)


def left_out(
    kernel: Array, functions: Array, row_weights: Array | None, inverse: Array, coefficients: Array
) -> LeftOut:
    """Leave-one-out errors of rows."""
    xp = namespace(kernel)
    projected = kernel @ inverse
    residuals = functions - kernel @ coefficients
    leverage = weighted(xp.sum(projected * kernel, axis=-1, keepdims=True), row_weights)
    remaining = clip_below(1.0 - leverage, LEAST_ONE_MINUS_LEVERAGE)
    return LeftOut(projected, residuals, residuals / remaining, remaining)


def _leverage_gradient(rows: LeftOut, row_weights: Array | None) -> Array:
    """c, (r, rows, 1)."""
    squares = namespace(rows.errors).sum(rows.errors * rows.errors, axis=-1, keepdims=True)
    # Once for the weight of the error, and once for that of the leverage.
    return weighted(weighted(2 * squares / rows.one_minus_leverage, row_weights), row_weights)


def adjoint_sums(rows: LeftOut, row_weights: Array | None) -> tuple[Array, Array]:
    """G and Q."""
    across = namespace(rows.projected).matrix_transpose(rows.projected)
    residual_gradient = weighted(rows.errors / rows.one_minus_leverage, row_weights)
    return across @ residual_gradient, across @ (_leverage_gradient(rows, row_weights) * rows.projected)


def row_gradient(kernel: Array, rows: LeftOut, row_weights: Array | None, parts: GradientParts) -> Array:
    """Gradient of minus the sum of squared errors in minus the exponents of the kernels."""
    xp = namespace(kernel)
    change = weighted(kernel @ parts.quadratic, row_weights)
    change += 2 * _leverage_gradient(rows, row_weights) * rows.projected
    of_residuals = (rows.errors / rows.one_minus_leverage) @ xp.matrix_transpose(parts.coefficients)
    of_residuals += rows.residuals @ xp.matrix_transpose(parts.adjoint)
    change -= 2 * weighted(of_residuals, row_weights)
    return change * kernel


def clip_below(x: Array, least: Any) -> Array:
    """The larger of each value and ``least``."""
    xp = namespace(x)
    return xp.where(x > least, x, least * xp.ones_like(x))
