"""Convex quadratic programmes over the simplex: minimise w'Hw / 2 + c'w with w >= 0 and sum(w) = 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, lstsq

from l1lsmi._arrays import HostArray

#: Weights that are solved for at first, and that are added at most in a round.
WORKING_SET = 300
#: Eigenvalues below this share of the largest count as zero.
RANK_TOLERANCE = 1e-10
#: How far a multiplier may be below zero, over the largest slope.
DUAL_TOLERANCE = 1e-12


@dataclass(frozen=True)
class SimplexMinimum:
    """The minimum: weights, Karush-Kuhn-Tucker multipliers of w >= 0, and the value."""

    weights: HostArray
    multipliers: HostArray
    objective: float


@dataclass(frozen=True)
class Hessian:
    """A positive semi-definite matrix: blocks of it, and products of some of its columns with weights.

    Attributes
    ----------
    block : callable
        Rows and columns of some indices.
    product : callable
        All rows of some columns, times weights of these.
    """

    block: Callable[[HostArray], HostArray]
    product: Callable[[HostArray, HostArray], HostArray]

    @classmethod
    def of_matrix(cls, matrix: HostArray) -> Hessian:
        """The matrix itself."""
        return cls(lambda some: matrix[np.ix_(some, some)], lambda some, w: matrix[:, some] @ w)

    @classmethod
    def of_factor(cls, factor: HostArray) -> Hessian:
        """Factor times its transpose, which is never formed."""
        return cls(
            lambda some: factor[some] @ factor[some].T,
            lambda some, w: factor @ (factor[some].T @ w),
        )

    def scaled(self, scale: float) -> Hessian:
        """The matrix times a number."""
        return Hessian(lambda some: scale * self.block(some), lambda some, w: scale * self.product(some, w))


def nearest_positive(matrix: HostArray) -> HostArray:
    """The nearest positive semi-definite matrix in the Frobenius norm: negative eigenvalues become 0."""
    shifted = matrix + RANK_TOLERANCE * np.eye(matrix.shape[0])
    if lapack.dpotrf(shifted, overwrite_a=1)[1] == 0:
        return matrix
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def nystrom_factor(columns: HostArray, sampled: HostArray) -> HostArray:
    """Factor V of a positive semi-definite V V' that continues sampled columns of a matrix to all.

    With every column sampled V V' is `nearest_positive` of the matrix.

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


def minimise_on_simplex(hessian: Hessian, linear: HostArray) -> SimplexMinimum:
    """Minimise over all weights by minimising over some of them, and adding those that would help.

    Parameters
    ----------
    hessian : Hessian
    linear : numpy.ndarray of shape (m,)
    """
    some = np.sort(np.argsort(linear, kind="stable")[:WORKING_SET])
    best = np.inf
    while True:
        w = _minimise_dense(hessian.block(some), linear[some])
        slope = hessian.product(some, w) + linear
        level = float(w @ slope[some])
        objective = (level + float(w @ linear[some])) / 2
        wanted = np.flatnonzero(slope < level - DUAL_TOLERANCE * np.abs(slope).max())
        wanted = np.setdiff1d(wanted, some)
        # Each round lowers the objective, but for rounding: then it is as low as it gets.
        if wanted.size == 0 or objective >= best:
            break
        best = objective
        steepest = wanted[np.argsort(slope[wanted], kind="stable")[: max(WORKING_SET, some.size)]]
        some = np.union1d(some[w > 0], steepest)
    weights = np.zeros(linear.size)
    weights[some] = w
    multipliers = np.where(weights > 0, 0.0, np.maximum(slope - level, 0.0))
    return SimplexMinimum(weights, multipliers, objective)


def _minimise_dense(matrix: HostArray, linear: HostArray) -> HostArray:
    """Interior point, then the linear system of the weights that it found to be positive."""
    import piqp

    m = linear.size
    solver = piqp.DenseSolver()
    for name in ("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel"):
        setattr(solver.settings, name, 1e-13)
    # Weights are of the order 1 / m: they are solved for in that unit.
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
    """Weights from the optimality conditions of the positive ones; those given where these do not hold."""
    exact = _stationary(matrix[np.ix_(positive, positive)], linear[positive])
    if exact.min() <= 0:
        return w
    polished = np.zeros_like(w)
    polished[positive] = exact / exact.sum()
    return polished


def _stationary(matrix: HostArray, linear: HostArray) -> HostArray:
    """Weights of sum 1 where matrix @ w + linear is the same for all.

    Of several the ones of smallest norm are taken: copies of a column share its weight equally.
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
