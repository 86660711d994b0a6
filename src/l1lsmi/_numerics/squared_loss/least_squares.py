r"""Least-squares density-ratio fits from sums over rows.

Shapes: F folds, C groups of basis functions, b basis functions per group, q rows per fold in a
block. For classes, a group holds the centres of one class: the delta kernel makes the Gram
matrix block diagonal, one block per group. For regression there is one group.

All arrays have a leading batch axis, one fit for each member.

The rows enter through two sums per fold only, the Gram matrices of the feature kernels
:math:`G_f = \sum_{i \in f} w_i k_i k_i^T` and :math:`s_f = \sum_{i \in f} w_i k_i \circ l_i` (`FoldSums`),
with row weights :math:`w_i` that are 1 unless there are some; :math:`n_f = \sum_{i \in f} w_i`. With the
target's own Gram matrix :math:`L_f` they give the paper's :math:`\hat H_f = G_f \circ L_f / n_f^2` and
:math:`\hat h_f = s_f / n_f`, because the basis is a product: the double sum over samples never has to be
formed. Training quantities are totals less the fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from l1lsmi._arrays import (
    Array,
    HostArray,
    asarray_like,
    astype_like,
    in_float64,
    namespace,
    positive_definite_solver,
    take_members,
)


class FoldSums(NamedTuple):
    """Sums over the rows of each fold."""

    gram: Array  # (..., F, C, b, b)
    joint: Array  # (..., F, C, b)


class RowGradient(NamedTuple):
    """How an objective depends on the rows of each fold, to first order.

    A change dk of the kernels k of a row with target kernels l changes the objective by the inner
    product of dk with ``linear * l - quadratic @ k``.
    """

    linear: Array  # (..., F or 1, C, b)
    quadratic: Array  # (..., F or 1, C, b, b), symmetric


@dataclass(frozen=True)
class TargetSums:
    """What the target contributes, computed once per problem.

    Attributes
    ----------
    test_factor, train_factor : array
        The target's Gram matrix over n squared, inside each fold and outside it; broadcasts to
        (r, F, C, b, b).
    factor : array
        The same over all rows, (r, 1, C, b, b).
    test_size, train_size : array of shape (r, F, 1, 1)
    size : float
        Number of rows, or the sum of their weights.
    """

    test_factor: Array
    train_factor: Array
    factor: Array
    test_size: Array
    train_size: Array
    size: float

    @classmethod
    def of(cls, target_gram: Array, fold_sizes: HostArray) -> TargetSums:
        """Normalise the target's Gram matrices, (r, F, C, 1 or b, 1 or b), by the fold sizes, (r, F)."""
        xp = namespace(target_gram)
        test = asarray_like(fold_sizes, target_gram, dtype=target_gram.dtype)[:, :, None, None]
        size = float(fold_sizes[0].sum())
        total = xp.sum(target_gram, axis=1, keepdims=True)
        return cls(
            test_factor=target_gram / test[..., None] ** 2,
            train_factor=(total - target_gram) / (size - test[..., None]) ** 2,
            factor=total / size**2,
            test_size=test,
            train_size=size - test,
            size=size,
        )

    def take(self, members: Sequence[int]) -> TargetSums:
        """Those of some members of the batch."""
        arrays = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "size"}
        return TargetSums(**{name: take_members(a, members) for name, a in arrays.items()}, size=self.size)


def fold_sums(kernel: Array, target_kernel: Array, row_weights: Array | None = None) -> FoldSums:
    """Sums over one block of rows.

    The sums are in float64, to be added to those of other blocks.

    Parameters
    ----------
    kernel : array of shape (..., F, C, q, b)
    target_kernel : array
        Broadcasts to the shape of ``kernel``.
    row_weights : array of shape (..., F, q) or None
    """
    xp = namespace(kernel)
    target_kernel = astype_like(target_kernel, kernel)
    weighted = weigh_rows(kernel, row_weights)
    gram = xp.matmul(xp.matrix_transpose(weighted), kernel)
    if target_kernel.shape[-1] == 1:
        joint = xp.matmul(xp.matrix_transpose(target_kernel), weighted)[..., 0, :]
    else:
        joint = xp.sum(weighted * target_kernel, axis=-2)
    return FoldSums(in_float64(gram), in_float64(joint))


def weigh_rows(kernel: Array, row_weights: Array | None) -> Array:
    """Kernels (..., F, C, q, b) times the weights of their rows, (..., F, q)."""
    if row_weights is None:
        return kernel
    return kernel * astype_like(row_weights, kernel)[..., None, :, None]


def _regularized(matrices: Array, regularization: Any) -> Array:
    """Add a multiple of the identity: the same for all, or an array with one for each member of the batch."""
    xp = namespace(matrices)
    if getattr(regularization, "ndim", 0):
        shape = (*regularization.shape, *(1 for _ in range(matrices.ndim - regularization.ndim)))
        regularization = xp.reshape(regularization, shape)
    return matrices + regularization * asarray_like(
        xp.eye(matrices.shape[-1], dtype=matrices.dtype), matrices
    )


def fit_all_rows(sums: FoldSums, target: TargetSums, regularization: Any) -> tuple[Array, Array]:
    r"""Fit on all rows: :math:`\hat\alpha = (\hat H + \lambda I)^{-1} \hat h` and the SMI estimate.

    Returns
    -------
    alpha : array of shape (..., C, b)
    smi : array of shape (...)
        :math:`\frac12 \hat h^T \hat\alpha - \frac12`.
    """
    xp = namespace(sums.gram)
    hessian = xp.sum(sums.gram, axis=-4) * target.factor[..., 0, :, :, :]
    joint = xp.sum(sums.joint, axis=-3) / target.size
    alpha = positive_definite_solver(_regularized(hessian, regularization))(joint)
    return alpha, 0.5 * xp.sum(joint * alpha, axis=(-2, -1)) - 0.5


def smi_gradient(alpha: Array, target: TargetSums) -> RowGradient:
    """Gradient of the SMI estimate in the rows, by the envelope theorem at the optimal alpha."""
    outer = alpha[..., :, None] * alpha[..., None, :]
    return RowGradient(alpha[..., None, :, :] / target.size, outer[..., None, :, :, :] * target.factor)


class _Split(NamedTuple):
    """H and h inside each fold and outside it; H inside is left as its two factors."""

    test_gram: Array
    test_factor: Array
    test_joint: Array
    train_hessian: Array
    train_joint: Array


def _split(sums: FoldSums, target: TargetSums) -> _Split:
    xp = namespace(sums.gram)
    train_hessian = xp.sum(sums.gram, axis=-4, keepdims=True) - sums.gram
    train_hessian *= target.train_factor
    train_joint = xp.sum(sums.joint, axis=-3, keepdims=True) - sums.joint
    return _Split(
        sums.gram,
        target.test_factor,
        sums.joint / target.test_size,
        train_hessian,
        train_joint / target.train_size,
    )


def _is_scalar(factor: Array) -> bool:
    """Tell whether a factor of b x b matrices is one number each, as for classes."""
    return bool(factor.shape[-1] == 1)


def _weighted_product(gram: Array, factor: Array, right: Array) -> Array:
    """(gram * factor) @ right, without the elementwise product where it can be avoided."""
    xp = namespace(gram)
    if _is_scalar(factor):
        return xp.matmul(gram, right) * factor
    return xp.matmul(gram * factor, right)


def _weighted_outer(left: Array, right: Array, factor: Array) -> Array:
    """(left @ right) * factor for thin left (b x r) and right (r x b)."""
    xp = namespace(left)
    if _is_scalar(factor):
        return xp.matmul(left * factor, right)
    product = xp.matmul(left, right)
    product *= factor
    return product


def held_out_scores(sums: FoldSums, target: TargetSums, regularizations: Sequence[float]) -> Array:
    r"""The paper's cross-validation score :math:`\hat J`, (..., folds, regularizations); lower is better."""
    xp = namespace(sums.gram)
    split = _split(sums, target)
    alphas = [
        positive_definite_solver(_regularized(split.train_hessian, value))(split.train_joint)
        for value in regularizations
    ]
    alpha = xp.stack(alphas, axis=-1)  # (..., F, C, b, regularizations)
    product = _weighted_product(split.test_gram, split.test_factor, alpha)
    losses = (0.5 * product - split.test_joint[..., None]) * alpha
    return xp.sum(losses, axis=(-3, -2))


def held_out_gradient(
    sums: FoldSums, target: TargetSums, regularization: Any
) -> tuple[Array, RowGradient, Array]:
    r"""Gradient of :math:`-\hat J` in the rows and in the logarithm of the regularization.

    With :math:`\alpha_f = A_f^{-1} h_{-f}`, :math:`A_f = H_{-f} + \lambda I` and the adjoint
    :math:`\beta_f = A_f^{-1}(h_f - H_f\alpha_f)`,

    .. math:: d(-\hat J_f) = \alpha_f^T dh_f - \tfrac12\alpha_f^T dH_f\alpha_f
              + \beta_f^T dh_{-f} - \beta_f^T dH_{-f}\alpha_f - \lambda\beta_f^T\alpha_f\, d\log\lambda.

    A row of fold g is test data once and training data F - 1 times, so its gradient collects its own
    test term and the training terms of all other folds.

    Returns
    -------
    score : array of shape (...)
        The paper's cross-validation score, lower is better.
    gradient : RowGradient
        Of minus the score.
    regularization_gradient : array of shape (...)
        Of minus the score.
    """
    xp = namespace(sums.gram)
    split = _split(sums, target)
    n_folds = sums.gram.shape[-4]
    solve = positive_definite_solver(_regularized(split.train_hessian, regularization))
    alpha = solve(split.train_joint)
    product = _weighted_product(split.test_gram, split.test_factor, alpha[..., None])[..., 0]
    score = xp.sum((0.5 * product - split.test_joint) * alpha, axis=(-3, -2, -1)) / n_folds
    beta = solve(split.test_joint - product) / n_folds

    train_linear = beta / target.train_size
    linear = alpha / (n_folds * target.test_size) - train_linear
    linear += xp.sum(train_linear, axis=-3, keepdims=True)
    # beta alpha^T + alpha beta^T as one thin product
    train_quadratic = _weighted_outer(
        xp.stack([alpha, beta], axis=-1), xp.stack([beta, alpha], axis=-2), target.train_factor
    )
    quadratic = _weighted_outer(alpha[..., :, None], (alpha / n_folds)[..., None, :], target.test_factor)
    quadratic -= train_quadratic
    quadratic += xp.sum(train_quadratic, axis=-4, keepdims=True)
    slope = -regularization * xp.sum(alpha * beta, axis=(-3, -2, -1))
    return score, RowGradient(linear, quadratic), slope


def kernel_gradient(
    kernel: Array, target_kernel: Array, gradient: RowGradient, row_weights: Array | None = None
) -> Array:
    """Gradient in minus the exponent of each kernel value of a block, (..., F, q, C, b)."""
    xp = namespace(kernel)
    change = xp.matmul(kernel, astype_like(gradient.quadratic, kernel))
    linear = astype_like(gradient.linear, kernel)[..., None, :]
    target_kernel = astype_like(target_kernel, kernel)
    if target_kernel.shape[-1] == 1:
        change -= xp.matmul(target_kernel, linear)
    else:
        change -= linear * target_kernel
    change = weigh_rows(change, row_weights)
    # Rows before groups, as the kernels lie in memory: the product comes out contiguous.
    front = tuple(range(kernel.ndim - 3))
    rows_first = (*front, kernel.ndim - 2, kernel.ndim - 3, kernel.ndim - 1)
    return xp.permute_dims(kernel, rows_first) * xp.permute_dims(change, rows_first)
