"""Least-squares fits whose errors are those of rows left out: the algebra, for one fit or a stack of them.

Kernels are (..., rows, centres), sums (..., centres, centres); axes in front are fits of their own.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from l1lsmi._arrays import (
    Array,
    like,
    namespace,
    positive_definite_inverse,
    positive_definite_solve,
    whitening,
)

REGULARIZATIONS = tuple(float(v) for v in np.logspace(-4, 2, 13))
#: Added to the kernels among the centres, which are singular where rows repeat.
RIDGE = 1e-6
#: A row that its own fit reproduces exactly says nothing about rows left out.
LEAST_REST = 1e-6
#: Numbers in the arrays of a stack of fits at most.
MOST_NUMBERS = 2**27


class FitSums(NamedTuple):
    """What the rows contribute to a fit, and the kernels among the centres."""

    gram: Array  # (..., b, b)
    joint: Array  # (..., b, q)
    among: Array  # (..., b, b)


class Turned(NamedTuple):
    """A fit at all regularizations, in coordinates in which the Gram matrix is diagonal."""

    turn: Array  # (b, b)
    shrink: Array  # (b, regularizations)
    fits: Array  # (b, regularizations * q)


class LeftOut(NamedTuple):
    """Rows as a fit sees them: P, residuals r, errors r / e of the rows left out, and the rest e."""

    projected: Array
    residuals: Array
    errors: Array
    rest: Array


class SlopeParts(NamedTuple):
    """What the slopes of a row depend on beside itself."""

    inverse: Array
    coefficients: Array
    adjoint: Array  # G
    quadratic: Array  # 2 G B' - 2 Q


def kernel_sums(kernel: Array, functions: Array) -> tuple[Array, Array]:
    """Gram matrix of the kernels, and their products with the functions of the target."""
    across = namespace(kernel).matrix_transpose(kernel)
    return across @ kernel, across @ functions


def white_of(among: Array) -> Array:
    """Coordinates in which the kernels among the centres are 1.

    Gram matrices are those of kernels in these coordinates: turned afterwards, they would have lost the
    digits that keep them positive where centres are close to each other.
    """
    return whitening(among + RIDGE * like(np.eye(among.shape[-1]), among))


def turned(white: Array, gram: Array, joint: Array) -> Turned:
    """All regularizations of one fit, by one eigendecomposition of its sums in white coordinates."""
    xp = namespace(gram)
    size, turn = xp.linalg.eigh(gram)
    joint = xp.matrix_transpose(turn) @ joint
    turn = white @ turn
    shrink = 1.0 / (clip_below(size, 0.0)[:, None] + like(np.array(REGULARIZATIONS), turn))
    fits = xp.reshape(shrink[:, :, None] * joint[:, None, :], (turn.shape[0], -1))
    return Turned(turn, shrink, fits)


def all_losses(kernel: Array, functions: Array, fit: Turned) -> Array:
    """Squared errors of the rows left out, for every regularization."""
    xp = namespace(kernel)
    values = kernel @ fit.turn
    residuals = xp.reshape(values @ fit.fits, (values.shape[0], -1, functions.shape[1]))
    # In place, as these are the largest arrays of a visit.
    residuals -= functions[:, None, :]
    residuals *= residuals
    values *= values
    rest = clip_below(1.0 - values @ fit.shrink, LEAST_REST)
    return xp.sum(xp.sum(residuals, axis=2) / (rest * rest), axis=0)


def whitened_losses(kernels: Array, functions: Array, among: Array) -> Array:
    """The same for a stack of fits, (stack, regularizations), by a factorisation for each regularization.

    A device does many of these at once, but eigendecompositions one by one.
    """
    xp = namespace(kernels)
    values = xp.matrix_transpose(white_of(among)) @ xp.matrix_transpose(kernels)  # (stack, b, rows)
    gram, joint = values @ xp.matrix_transpose(values), values @ functions
    eye = like(np.eye(gram.shape[-1]), gram)
    at_a_time = max(1, MOST_NUMBERS // math.prod(values.shape))
    losses = []
    for start in range(0, len(REGULARIZATIONS), at_a_time):
        some = like(np.array(REGULARIZATIONS[start : start + at_a_time]), gram)[:, None, None, None]
        solved = positive_definite_solve(
            gram + some * eye, xp.broadcast_to(values, (some.shape[0], *values.shape))
        )
        rest = clip_below(1.0 - xp.sum(values * solved, axis=-2), LEAST_REST)
        residuals = functions - xp.matrix_transpose(solved) @ joint
        losses.append(xp.sum(xp.sum(residuals * residuals, axis=-1) / (rest * rest), axis=-1))
    return xp.matrix_transpose(xp.concat(losses, axis=0))


def inverse_of(sums: FitSums, regularization: Any) -> Array:
    """Inverse of the regularised Gram matrix; regularizations of a stack have two axes more."""
    xp = namespace(sums.gram)
    eye = like(np.eye(sums.gram.shape[-1]), sums.gram)
    small = RIDGE * regularization + 1e-12 * xp.linalg.trace(sums.gram)[..., None, None]
    return positive_definite_inverse(sums.gram + regularization * sums.among + small * eye)


def left_out(kernel: Array, functions: Array, inverse: Array, coefficients: Array) -> LeftOut:
    """What a fit makes of rows."""
    xp = namespace(kernel)
    projected = kernel @ inverse
    residuals = functions - kernel @ coefficients
    rest = clip_below(1.0 - xp.sum(projected * kernel, axis=-1), LEAST_REST)[..., None]
    return LeftOut(projected, residuals, residuals / rest, rest)


def _pull(rows: LeftOut) -> Array:
    """C."""
    return 2 * namespace(rows.rest).sum(rows.errors * rows.errors, axis=-1, keepdims=True) / rows.rest


def adjoint_sums(rows: LeftOut) -> tuple[Array, Array]:
    """G and Q."""
    across = namespace(rows.rest).matrix_transpose(rows.projected)
    return across @ (rows.errors / rows.rest), across @ (_pull(rows) * rows.projected)


def row_slopes(kernel: Array, rows: LeftOut, parts: SlopeParts) -> Array:
    """Slopes of the score, times the number of rows, in minus the exponents of the kernels, turned uphill."""
    xp = namespace(kernel)
    change = kernel @ parts.quadratic + 2 * _pull(rows) * rows.projected
    change -= 2 * (
        (rows.errors / rows.rest) @ xp.matrix_transpose(parts.coefficients)
        + rows.residuals @ xp.matrix_transpose(parts.adjoint)
    )
    return change * kernel


def clip_below(x: Array, least: float) -> Array:
    """The larger of each value and ``least``."""
    xp = namespace(x)
    return xp.where(x > least, x, least * xp.ones_like(x))
