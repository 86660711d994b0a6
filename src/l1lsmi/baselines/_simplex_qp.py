"""Convex quadratic programmes on the simplex: minimise w'Hw / 2 + c'w with w >= 0 and sum(w) = 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, lapack, lstsq

from l1lsmi._arrays import HostArray
from l1lsmi._clock import check_time

#: Initial number of weights in the working set, and maximum number added in an iteration.
WORKING_SET = 300
#: Eigenvalues below this fraction of the largest are treated as zero.
RANK_TOLERANCE = 1e-10
#: Tolerance on negative multipliers, over the largest entry of the gradient.
DUAL_TOLERANCE = 1e-12
#: Rows of a matrix up to which memory for its decomposition does not matter.
MOST_IN_FULL = 2500


@dataclass(frozen=True)
class SimplexMinimum:
    """The minimum: weights, Karush-Kuhn-Tucker multipliers of w >= 0, and the value of the objective."""

    weights: HostArray
    multipliers: HostArray
    objective: float


@dataclass(frozen=True)
class Hessian:
    """A positive semi-definite matrix, given by its submatrices and its products with sparse vectors.

    Attributes
    ----------
    block : callable
        The submatrix of some indices.
    product : callable
        The matrix times a vector that is non-zero at some indices.
    """

    block: Callable[[HostArray], HostArray]
    product: Callable[[HostArray, HostArray], HostArray]

    @classmethod
    def of_matrix(cls, matrix: HostArray) -> Hessian:
        """The matrix itself."""
        return cls(lambda some: matrix[np.ix_(some, some)], lambda some, w: matrix[:, some] @ w)

    @classmethod
    def of_factor(cls, factor: HostArray) -> Hessian:
        """The product of a factor with its transpose, which is never formed."""
        return cls(
            lambda some: factor[some] @ factor[some].T,
            lambda some, w: factor @ (factor[some].T @ w),
        )

    def scaled(self, scale: float) -> Hessian:
        """The matrix times a number."""
        return Hessian(lambda some: scale * self.block(some), lambda some, w: scale * self.product(some, w))


def nearest_positive(matrix: HostArray) -> HostArray:
    """The nearest positive semi-definite matrix in the Frobenius norm: negative eigenvalues become 0."""
    if _is_positive(matrix):
        return matrix
    if len(matrix) <= MOST_IN_FULL:
        values, vectors = np.linalg.eigh(matrix)
        return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
    # The usual driver needs two more matrices of this size.
    values, vectors = eigh(matrix, driver="evr", check_finite=False)
    factor = vectors[:, values > 0]
    factor *= np.sqrt(values[values > 0])
    del vectors
    return np.asarray(factor @ factor.T)


def _is_positive(matrix: HostArray) -> bool:
    """Whether a symmetric matrix is positive semi-definite up to rounding errors."""
    shifted = matrix.copy()
    shifted.flat[:: len(matrix) + 1] += RANK_TOLERANCE
    # A symmetric matrix read by columns is itself: .T spares LAPACK a copy.
    return bool(lapack.dpotrf(shifted.T, overwrite_a=1, clean=0)[1] == 0)


def nystrom_factor(columns: HostArray, sampled: HostArray) -> HostArray:
    """Factor V of the Nystrom approximation V V' of a matrix, from a sample of its columns.

    With all columns sampled V V' is `nearest_positive` of the matrix.

    Parameters
    ----------
    columns : numpy.ndarray of shape (m, r)
        Sampled columns of a symmetric matrix.
    sampled : numpy.ndarray of int, shape (r,)
        Their indices.
    """
    values, vectors = np.linalg.eigh(columns[sampled])
    keep = values > RANK_TOLERANCE * values[-1]
    return np.asarray(columns @ (vectors[:, keep] / np.sqrt(values[keep])))


def minimise_on_simplex(
    hessian: Hessian, linear: HostArray, first: HostArray | None = None
) -> SimplexMinimum:
    """Minimise over a working set of weights, and add weights with negative multipliers until there are none.

    Parameters
    ----------
    hessian : Hessian
    linear : numpy.ndarray of shape (m,)
    first : numpy.ndarray of int, or None
        The first working set, in order; None takes the weights with the smallest linear terms.
    """
    working = np.sort(np.argsort(linear, kind="stable")[:WORKING_SET]) if first is None else first
    best = np.inf
    while True:
        check_time()
        w = _minimise_dense(hessian.block(working), linear[working])
        gradient = hessian.product(working, w) + linear
        level = float(w @ gradient[working])
        objective = (level + float(w @ linear[working])) / 2
        violated = np.flatnonzero(gradient < level - DUAL_TOLERANCE * np.abs(gradient).max())
        violated = np.setdiff1d(violated, working)
        # The objective decreases in every iteration, up to rounding errors.
        if violated.size == 0 or objective >= best:
            break
        best = objective
        n_added = max(WORKING_SET, working.size)
        steepest = violated[np.argsort(gradient[violated], kind="stable")[:n_added]]
        working = np.union1d(working[w > 0], steepest)
    weights = np.zeros(linear.size)
    weights[working] = w
    multipliers = np.where(weights > 0, 0.0, np.maximum(gradient - level, 0.0))
    return SimplexMinimum(weights, multipliers, objective)


def _minimise_dense(matrix: HostArray, linear: HostArray) -> HostArray:
    """Solve by an interior-point method, then by the linear system of the positive weights."""
    import piqp

    m = linear.size
    solver = piqp.DenseSolver()
    for name in ("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel"):
        setattr(solver.settings, name, 1e-13)
    # Weights are of the order of 1 / m: the solver gets them multiplied by m.
    solver.setup(
        P=np.asfortranarray(matrix / m),
        c=linear,
        A=np.ones((1, m), order="F"),
        b=np.array([float(m)]),
        x_l=np.zeros(m),
    )
    solver.solve()
    w = np.maximum(solver.result.x, 0.0) / m
    positive = w > np.maximum(solver.result.z_bl / m, 1e-14)
    w = np.where(positive, w, 0.0) / w[positive].sum()
    return _polished(matrix, linear, positive, w)


def _polished(matrix: HostArray, linear: HostArray, positive: HostArray, w: HostArray) -> HostArray:
    """Weights from the optimality conditions of the positive ones, or ``w`` if some would be negative."""
    exact = _stationary(matrix[np.ix_(positive, positive)], linear[positive])
    if exact.min() <= 0:
        return w
    polished = np.zeros_like(w)
    polished[positive] = exact / exact.sum()
    return polished


def _stationary(matrix: HostArray, linear: HostArray) -> HostArray:
    """Weights w with the sum 1 for which all entries of matrix @ w + linear are equal.

    Of several solutions that of smallest norm is returned: copies of a column get equal weights.
    """
    size = linear.size
    factor, singular = lapack.dpotrf(matrix)
    if not singular and factor.diagonal().min() ** 2 > RANK_TOLERANCE * matrix.diagonal().max():
        solved = lapack.dpotrs(factor, np.column_stack([np.ones(size), linear]))[0]
        return np.asarray(solved[:, 0] * (1 + solved[:, 1].sum()) / solved[:, 0].sum() - solved[:, 1])
    system = np.pad(matrix, (0, 1), constant_values=1.0)
    system[size, size] = 0.0
    right = np.append(-linear, 1.0)
    return np.asarray(lstsq(system, right, cond=RANK_TOLERANCE, lapack_driver="gelsy")[0][:size])
