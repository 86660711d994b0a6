r"""Least-squares density-ratio fits from sums over rows.

Shapes: F folds, C groups of basis functions, b basis functions per group, q rows per fold in a
block. For classes, a group holds the centres of one class: the delta kernel makes the Gram
matrix block diagonal, one block per group. For regression there is one group.

All functions take further axes in front, one fit for each of their places.

The rows enter through two sums per fold only, the Gram matrices of the feature kernels
:math:`G_f = \sum_{i \in f} k_i k_i^T` and :math:`s_f = \sum_{i \in f} k_i \circ l_i` (`FoldSums`).
With the target's own Gram matrix :math:`L_f` they give the paper's
:math:`\hat H_f = G_f \circ L_f / n_f^2` and :math:`\hat h_f = s_f / n_f`, because the basis is a
product: the double sum over samples never has to be formed. Training quantities are totals less
the fold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from l1lsmi._arrays import Array, in_float64, like, matching, namespace, positive_definite_solver


class FoldSums(NamedTuple):
    """Sums over the rows of each fold."""

    gram: Array  # (..., F, C, b, b)
    joint: Array  # (..., F, C, b)


class RowSlopes(NamedTuple):
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
        (F, C, b, b).
    factor : array
        The same over all rows, (1, C, b, b).
    test_size, train_size : array of shape (F, 1, 1)
    size : float
    """

    test_factor: Array
    train_factor: Array
    factor: Array
    test_size: Array
    train_size: Array
    size: float

    @classmethod
    def of(cls, target_gram: Array, fold_sizes: Sequence[int]) -> TargetSums:
        """Normalise the target's Gram matrix of every fold, (F, C, 1 or b, 1 or b)."""
        xp = namespace(target_gram)
        test = like(list(fold_sizes), target_gram, dtype=target_gram.dtype)[:, None, None]
        size = float(sum(fold_sizes))
        total = xp.sum(target_gram, axis=0, keepdims=True)
        return cls(
            test_factor=target_gram / test[..., None] ** 2,
            train_factor=(total - target_gram) / (size - test[..., None]) ** 2,
            factor=total / size**2,
            test_size=test,
            train_size=size - test,
            size=size,
        )

    @classmethod
    def together(cls, sums: Sequence[TargetSums]) -> TargetSums:
        """Those of several problems, stacked in front."""
        xp = namespace(sums[0].factor)

        def stacked(name: str) -> Array:
            return xp.stack([getattr(one, name) for one in sums])

        arrays = {name: stacked(name) for name in _ARRAYS}
        return cls(**arrays, size=sums[0].size)

    def some(self, of: Callable[[Array], Array]) -> TargetSums:
        """The same with some of what was stacked."""
        return TargetSums(**{name: of(getattr(self, name)) for name in _ARRAYS}, size=self.size)


_ARRAYS = ("test_factor", "train_factor", "factor", "test_size", "train_size")


def fold_sums(kernel: Array, target_kernel: Array) -> FoldSums:
    """Sum one block of rows: ``kernel`` is (..., F, C, q, b), ``target_kernel`` broadcasts to it.

    The sums are in float64, to be added to those of other blocks.
    """
    xp = namespace(kernel)
    target_kernel = matching(target_kernel, kernel)
    gram = xp.matmul(xp.matrix_transpose(kernel), kernel)
    if target_kernel.shape[-1] == 1:
        joint = xp.matmul(xp.matrix_transpose(target_kernel), kernel)[..., 0, :]
    else:
        joint = xp.sum(kernel * target_kernel, axis=-2)
    return FoldSums(in_float64(gram), in_float64(joint))


def _regularized(matrices: Array, regularization: Any) -> Array:
    """Add a multiple of the identity: the same for all, or an array of one for each place in front."""
    xp = namespace(matrices)
    if getattr(regularization, "ndim", 0):
        shape = (*regularization.shape, *(1 for _ in range(matrices.ndim - regularization.ndim)))
        regularization = xp.reshape(regularization, shape)
    return matrices + regularization * like(xp.eye(matrices.shape[-1], dtype=matrices.dtype), matrices)


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


def smi_slopes(alpha: Array, target: TargetSums) -> RowSlopes:
    """Slopes of the SMI estimate in the rows, by the envelope theorem at the optimal alpha."""
    outer = alpha[..., :, None] * alpha[..., None, :]
    return RowSlopes(alpha[..., None, :, :] / target.size, outer[..., None, :, :, :] * target.factor)


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


def held_out_slopes(
    sums: FoldSums, target: TargetSums, regularization: Any
) -> tuple[Array, RowSlopes, Array]:
    r"""Slopes of :math:`-\hat J` in the rows and in the logarithm of the regularization.

    With :math:`\alpha_f = A_f^{-1} h_{-f}`, :math:`A_f = H_{-f} + \lambda I` and the adjoint
    :math:`\beta_f = A_f^{-1}(h_f - H_f\alpha_f)`,

    .. math:: d(-\hat J_f) = \alpha_f^T dh_f - \tfrac12\alpha_f^T dH_f\alpha_f
              + \beta_f^T dh_{-f} - \beta_f^T dH_{-f}\alpha_f - \lambda\beta_f^T\alpha_f\, d\log\lambda.

    A row of fold g is test data once and training data F - 1 times, so its slopes collect its own
    test term and the training terms of all other folds.

    Returns
    -------
    score : array of shape (...)
        The paper's cross-validation score, lower is better.
    slopes : RowSlopes
        Of minus the score.
    regularization_slope : array of shape (...)
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
    return score, RowSlopes(linear, quadratic), slope


def kernel_slopes(kernel: Array, target_kernel: Array, slopes: RowSlopes) -> Array:
    """Slopes in minus the exponent of each kernel value of a block, (..., F, q, C, b)."""
    xp = namespace(kernel)
    change = xp.matmul(kernel, matching(slopes.quadratic, kernel))
    linear = matching(slopes.linear, kernel)[..., None, :]
    target_kernel = matching(target_kernel, kernel)
    if target_kernel.shape[-1] == 1:
        change -= xp.matmul(target_kernel, linear)
    else:
        change -= linear * target_kernel
    # Rows before groups, as the kernels lie in memory: the product comes out in one piece.
    front = tuple(range(kernel.ndim - 3))
    rows_first = (*front, kernel.ndim - 2, kernel.ndim - 3, kernel.ndim - 1)
    return xp.permute_dims(kernel, rows_first) * xp.permute_dims(change, rows_first)
