r"""How well a set of features predicts rows that were left out: what sets are compared by.

For any orthonormal functions :math:`\psi_j` of the target that are complete and have mean 0, the
squared-loss mutual information is :math:`\frac12\sum_j \mathrm{Var}\,E[\psi_j(Y) \mid X]`: half the
variance of the target's functions that the features explain. Here some functions of the target are
fitted by regularised least squares on kernels around some of the rows, and the score of a set is the
share of their variance that the fit leaves unexplained in rows it has not seen. For classes the
functions are the memberships, so that every row counts alike, whatever the size of its class; for
numbers they are the leading features of a Gaussian kernel of the target.

Every row is left out once, and no fit is done twice: with the fit :math:`\hat y = S y`, the error for a
row that was left out is its residual over :math:`1 - S_{ii}`.

With kernels :math:`K` (rows x centres), :math:`K_c` among the centres and :math:`A = K^TK + \lambda K_c`, the
fit is :math:`S = K A^{-1} K^T`. All regularizations :math:`\lambda` at one width share an eigendecomposition.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from l1lsmi.arrays import Array, HostArray, exp_in_place, like, namespace, to_numpy
from l1lsmi.numerics.model import Judgement, Model
from l1lsmi.numerics.sampling import spread_centers
from l1lsmi.numerics.target import Target, median_positive
from l1lsmi.rows import FoldedRows, Table

__all__ = ["Juror", "LeaveOneOut", "target_functions"]

#: Kernel widths, as factors of the median distance in a set of features.
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
REGULARIZATIONS = tuple(float(v) for v in np.logspace(-4, 2, 13))
#: Added to the kernels among the centres, which are singular where rows repeat.
RIDGE = 1e-6
#: A row that its own fit reproduces exactly says nothing about rows left out.
LEAST_REST = 1e-6
#: Width of the target's kernel over the median distance, and how many of its features are used.
TARGET_WIDTH = 2.0
N_FUNCTIONS = 8
#: A model of its own is not expected to make the score of a neighbouring set better by more.
MARGIN = 1.05
#: Rows at most by which exchanges are proposed; they are judged by all.
ROWS_TO_LOOK_AT = 2_000


def target_functions(target: Target, rng: np.random.Generator) -> HostArray:
    """Functions of the target with mean 0, (n, q), their variances adding up to 1.

    Class memberships, or the leading features of a Gaussian kernel of the values.
    """
    if target.values is None:
        functions = np.zeros((target.n_rows, int(target.codes.max()) + 1))
        functions[np.arange(target.n_rows), target.codes] = 1.0
    else:
        functions = _kernel_features(target.values, TARGET_WIDTH * target.median_distance(rng))
    functions -= functions.mean(axis=0)
    return np.asarray(functions / np.sqrt((functions**2).sum() / target.n_rows))


def _kernel_features(values: HostArray, width: float) -> HostArray:
    """Leading features of a Gaussian kernel of numbers, by way of some of their quantiles."""
    some = np.unique(np.quantile(values, np.linspace(0, 1, 100), method="nearest"))
    kernel = np.exp(-0.5 * ((values[:, None] - some) / width) ** 2)
    among = np.exp(-0.5 * ((some[:, None] - some) / width) ** 2)
    size, vectors = np.linalg.eigh(among)
    kept = size > 1e-10 * size[-1]
    features = kernel @ (vectors[:, kept] / np.sqrt(size[kept]))
    features -= features.mean(axis=0)
    _, leading = np.linalg.eigh(features.T @ features)
    return np.asarray(features @ leading[:, ::-1][:, :N_FUNCTIONS])


class _Kernels:
    """Kernel values block by block, the last those among the centres.

    Those of many blocks are worked out anew each time, which takes less memory than to keep them.
    """

    def __init__(self, exponents: list[Array], scale: float) -> None:
        self._exponents, self._scale = exponents, scale
        self._kept = [self._values(i) for i in range(len(exponents))] if len(exponents) <= 2 else None
        self.n_blocks = len(exponents) - 1

    def _values(self, i: int) -> Array:
        return exp_in_place(self._exponents[i] * self._scale)

    def __getitem__(self, i: int) -> Array:
        return self._values(i) if self._kept is None else self._kept[i]


class _Sums(NamedTuple):
    """What the rows contribute to a fit."""

    gram: Array  # (b, b)
    joint: Array  # (b, q)
    among: Array  # (b, b): kernels among the centres


class LeaveOneOut:
    """Judges sets of features by what they leave unexplained in rows left out.

    Parameters
    ----------
    table : Table
    target : Target
    n_basis : int
        Number of kernel centres, spread over the target's values.
    rng : numpy.random.Generator
    most_rows : int or None
        So many rows at most, spread over the target's values; None is all.
    """

    def __init__(
        self,
        table: Table,
        target: Target,
        n_basis: int,
        rng: np.random.Generator,
        most_rows: int | None = None,
    ) -> None:
        order = target.codes if target.values is None else target.values
        fold_of_row = np.zeros(table.n_rows, dtype=np.intp)
        if most_rows is not None and table.n_rows > most_rows:
            fold_of_row -= 1
            fold_of_row[spread_centers(order, most_rows, rng)] = 0
        self.n_rows = int(np.count_nonzero(fold_of_row == 0))
        centers = spread_centers(order, n_basis, rng)
        self.rows = FoldedRows(
            table,
            fold_of_row,
            1,
            centers,
            max_columns=max(centers.size, 50),
            append_centers=True,
        )
        functions = target_functions(target, rng)
        self._functions = [
            like(np.where(block.rows.T < 0, 0.0, functions[block.rows.ravel()]), table.x)
            for block in self.rows.blocks[:-1]
        ]

    # -- scores ----------------------------------------------------------------------------

    def judge(self, columns: HostArray) -> Judgement:
        """Score of a set of features, all with weight 1, at its best width and regularization.

        From the median distance the width goes to either side for as long as the score falls.
        """
        weights = np.ones(columns.size)
        median = np.sqrt(2 * median_positive(self.rows.center_half_distances(weights, columns)))
        exponents = self.rows.exponents(weights, columns)
        found: dict[int, Judgement] = {}

        def score(i: int) -> float:
            if i not in found:
                found[i] = self._judge_width(exponents, WIDTHS[i] * float(median))
            return found[i].cv_score

        best = len(WIDTHS) // 2
        while True:
            around = [i for i in (best, best - 1, best + 1) if 0 <= i < len(WIDTHS)]
            if min(around, key=score) == best:
                self.rows.forget()  # several judges and searches stand side by side
                return found[best]
            best = min(around, key=score)

    def _judge_width(self, exponents: list[Array], sigma: float) -> Judgement:
        xp = namespace(exponents[0])
        kernels = _Kernels(exponents, sigma**-2)
        sums = self._sum(kernels)
        # Coordinates in which the kernels among the centres are 1 and the Gram matrix is diagonal.
        ridge = RIDGE * like(np.eye(sums.among.shape[0]), sums.among)
        white = xp.matrix_transpose(xp.linalg.inv(xp.linalg.cholesky(sums.among + ridge)))
        del ridge
        size, turn = xp.linalg.eigh(xp.matrix_transpose(white) @ sums.gram @ white)
        turn = white @ turn
        joint = xp.matrix_transpose(turn) @ sums.joint
        del white, sums
        shrink = 1.0 / (clip_below(size, 0.0)[:, None] + like(np.array(REGULARIZATIONS), turn))
        n_functions = joint.shape[1]
        fits = xp.reshape(shrink[:, :, None] * joint[:, None, :], (turn.shape[0], -1))
        losses = 0.0
        for i, functions in enumerate(self._functions):
            turned = kernels[i] @ turn
            rest = clip_below(1.0 - (turned * turned) @ shrink, LEAST_REST)
            fitted = xp.reshape(turned @ fits, (turned.shape[0], -1, n_functions))
            residuals = functions[:, None, :] - fitted
            losses = losses + xp.sum(xp.sum(residuals * residuals, axis=2) / (rest * rest), axis=0)
        scores = to_numpy(losses) / self.n_rows
        i = int(np.argmin(scores))
        return Judgement(float(scores[i]), Model(sigma, REGULARIZATIONS[i]))

    def _sum(self, kernels: _Kernels) -> _Sums:
        gram: Any = 0.0
        joint: Any = 0.0
        for i, functions in enumerate(self._functions):
            kernel = kernels[i]
            turned = namespace(kernel).matrix_transpose(kernel)
            gram, joint = gram + turned @ kernel, joint + turned @ functions
        return _Sums(gram, joint, kernels[kernels.n_blocks])

    # -- one model for many sets -----------------------------------------------------------

    def _inverse(self, sums: _Sums, regularization: float) -> Array:
        xp = namespace(sums.gram)
        eye = like(np.eye(sums.gram.shape[0]), sums.gram)
        small = RIDGE * regularization + 1e-12 * float(xp.linalg.trace(sums.gram))
        return xp.linalg.inv(sums.gram + regularization * sums.among + small * eye)

    def _score(self, kernels: _Kernels, regularization: float) -> float:
        """Score of given kernels at one regularization."""
        sums = self._sum(kernels)
        xp = namespace(sums.gram)
        inverse = self._inverse(sums, regularization)
        coefficients = inverse @ sums.joint
        loss = 0.0
        for i, functions in enumerate(self._functions):
            kernel = kernels[i]
            rest = clip_below(1.0 - xp.sum((kernel @ inverse) * kernel, axis=1), LEAST_REST)
            residuals = (functions - kernel @ coefficients) / rest[:, None]
            loss += float(xp.sum(residuals * residuals))
        return loss / self.n_rows

    def set_slopes(self, columns: HostArray, model: Model, candidates: HostArray) -> HostArray:
        r"""Slopes of minus the score in the squared weights of ``candidates``.

        Taken where ``columns`` have weight 1 and all else weight 0. With residuals :math:`r_i`, the rest
        :math:`e_i = 1 - S_{ii}`, coefficients :math:`B = A^{-1}K^TY`, :math:`P = KA^{-1}`,
        :math:`U = r / e^2`, :math:`c_i = 2|r_i|^2/e_i^3`, :math:`G = P^TU` and
        :math:`Q = P^T\mathrm{diag}(c)P`,

        .. math:: dJ/dK = -2UB^T - 2rG^T + 2KGB^T + 2\,\mathrm{diag}(c)P - 2KQ, \quad
                  dJ/dK_c = \lambda(2GB^T - Q).
        """
        kernels = _Kernels(self.rows.exponents(np.ones(columns.size), columns), model.sigma**-2)
        sums = self._sum(kernels)
        xp = namespace(sums.gram)
        inverse = self._inverse(sums, model.regularization)
        coefficients = inverse @ sums.joint

        def parts(i: int) -> tuple[Array, Array, Array, Array]:
            kernel = kernels[i]
            projected = kernel @ inverse
            residuals = self._functions[i] - kernel @ coefficients
            rest = clip_below(1.0 - xp.sum(projected * kernel, axis=1), LEAST_REST)
            pull = 2 * xp.sum(residuals * residuals, axis=1) / rest**3
            return projected, residuals, residuals / (rest * rest)[:, None], pull[:, None]

        adjoint: Any = 0.0
        spread: Any = 0.0
        for i in range(kernels.n_blocks):
            projected, _, weighted, pull = parts(i)
            turned = xp.matrix_transpose(projected)
            adjoint, spread = adjoint + turned @ weighted, spread + turned @ (pull * projected)
        outer = 2 * adjoint @ xp.matrix_transpose(coefficients)
        turned_coefficients, turned_adjoint = xp.matrix_transpose(coefficients), xp.matrix_transpose(adjoint)

        def slope_of(i: int) -> Array:
            if i == kernels.n_blocks:
                return (outer - spread) * kernels[i] * (model.regularization / self.n_rows)
            projected, residuals, weighted, pull = parts(i)
            change = kernels[i] @ (outer - 2 * spread) + 2 * pull * projected
            change -= 2 * (weighted @ turned_coefficients + residuals @ turned_adjoint)
            return change * kernels[i] / self.n_rows

        slopes = self.rows.pull_back(slope_of, candidates) / model.sigma**2
        self.rows.forget()
        return slopes

    def neighbours(
        self, support: tuple[int, ...], model: Model, candidates: HostArray, width: int
    ) -> list[tuple[int, ...]]:
        """Sets one exchange away, in the order of their scores under the model of ``support``.

        The slopes choose the ``width`` features that may leave and those, four times as many, that may
        enter; all their exchanges are scored, and those come out that a model of their own could make
        better than ``support``.
        """
        present = np.isin(candidates, support)
        slopes = self.set_slopes(np.array(support), model, candidates)
        leave = candidates[present][np.argsort(slopes[present], kind="stable")[:width]]
        enter = candidates[~present][np.argsort(-slopes[~present], kind="stable")[: 4 * width]]
        scale = model.sigma**-2
        scores: dict[tuple[int, ...], float] = {}
        for i in leave:
            others = np.array([j for j in support if j != i], dtype=np.intp)
            moved = self.rows.moved_exponents(others, enter, 1, scale)
            for j, exponents in zip(enter, moved, strict=True):
                score = self._score(_Kernels(exponents, 1.0), model.regularization)
                scores[tuple(sorted((*others.tolist(), int(j))))] = score
        present_exponents = self.rows.exponents(np.ones(len(support)), np.array(support))
        hopeless = MARGIN * self._score(_Kernels(present_exponents, scale), model.regularization)
        self.rows.forget()
        return sorted((s for s in scores if scores[s] < hopeless), key=lambda s: scores[s])


class Juror:
    """Looks around with some kernels on some rows, and judges with twice as many kernels on all rows.

    Parameters
    ----------
    table : Table
    target : Target
    n_basis : int
    rng : numpy.random.Generator
    """

    #: No set can have a lower score.
    best_cv_score = 0.0

    def __init__(self, table: Table, target: Target, n_basis: int, rng: np.random.Generator) -> None:
        self._quick = LeaveOneOut(table, target, n_basis, rng, most_rows=ROWS_TO_LOOK_AT)
        self._careful = LeaveOneOut(table, target, 2 * n_basis, rng)
        self.judge = self._careful.judge
        self.set_slopes = self._quick.set_slopes
        self.neighbours = self._quick.neighbours


def clip_below(x: Array, least: float) -> Array:
    """The larger of each value and ``least``."""
    xp = namespace(x)
    return xp.where(x > least, x, least * xp.ones_like(x))
