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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from l1lsmi._arrays import Array, HostArray, exp_in_place, in_float64, like, namespace, to_numpy, whitened
from l1lsmi._numerics.model import Judgement, Model
from l1lsmi._numerics.sampling import spread_centers
from l1lsmi._numerics.squared_loss.left_out_fits import (
    REGULARIZATIONS,
    FitSums,
    SlopeParts,
    Turned,
    adjoint_sums,
    all_losses,
    inverse_of,
    kernel_sums,
    left_out,
    row_slopes,
    turned,
    white_of,
)
from l1lsmi._numerics.target import Target, median_positive
from l1lsmi._rows.folded import FoldedBlock, FoldedRows, Layout, add_up, centers_of
from l1lsmi._rows.parted import RowsElsewhere, fold_rows
from l1lsmi._rows.table import Table

#: Kernel widths, as factors of the median distance in a set of features.
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
#: Width of the target's kernel over the median distance, and how many of its features are used.
TARGET_WIDTH = 2.0
N_FUNCTIONS = 8
#: Values of a numeric target that its functions are fitted to at most.
MOST_VALUES = 20_000
#: A model of its own is not expected to make the score of a neighbouring set better by more.
MARGIN = 1.05


@dataclass(frozen=True)
class TargetFunctions:
    """Functions of the target with mean 0, their variances adding up to 1.

    Class memberships, or the leading features of a Gaussian kernel of the values.

    Attributes
    ----------
    points : numpy.ndarray or None
        Values that the kernel is measured to; None for classes.
    width : float
        Of the kernel.
    features : numpy.ndarray of shape (points, q)
        From kernels to features.
    mean : numpy.ndarray of shape (q,)
    norm : float
    """

    points: HostArray | None
    width: float
    features: HostArray
    mean: HostArray
    norm: float

    @classmethod
    def of(cls, target: Target, rng: np.random.Generator) -> TargetFunctions:
        """Fit them to a target; to some of its values where there are many."""
        if target.values is None:
            shares = np.bincount(target.codes) / target.n_rows
            return cls(None, 0.0, np.eye(shares.size), shares, float(np.sqrt(1 - (shares**2).sum())))
        width = TARGET_WIDTH * target.median_distance(rng)
        values = target.values
        if values.size > MOST_VALUES:
            values = values[spread_centers(values, MOST_VALUES, rng)]
        points, features = _kernel_features(values, width)
        found = cls(points, width, features, np.zeros(features.shape[1]), 1.0)
        raw = found.of_values(values)
        mean = raw.mean(axis=0)
        return replace(found, mean=mean, norm=float(np.sqrt(((raw - mean) ** 2).sum() / values.size)))

    def of_values(self, values: Array) -> Array:
        """At some values of a numeric target, (n, q), on the device where they are."""
        gaps = values[:, None] - like(self.points, values)[None, :]
        gaps /= self.width
        gaps *= gaps
        gaps *= -0.5
        features = exp_in_place(gaps) @ like(self.features, values)
        return (features - like(self.mean, values)) / self.norm

    def of_rows(self, target: Target) -> HostArray:
        """At some rows, (n, q)."""
        if target.values is not None:
            return np.asarray(self.of_values(target.values))
        return np.asarray((self.features[target.codes] - self.mean) / self.norm)

    def attach(self, target: Target, block: FoldedBlock) -> Array:
        """At the rows of a block; 0 where there is none."""
        rows, x = block.rows.ravel(), block.table.x
        some = target.rows_of(np.maximum(rows, 0))
        functions = (
            like(self.of_rows(some), x) if some.values is None else self.of_values(like(some.values, x))
        )
        return functions * like((rows >= 0).astype(np.float64), x)[:, None]


def _kernel_features(values: HostArray, width: float) -> tuple[HostArray, HostArray]:
    """Leading features of a Gaussian kernel of numbers, by way of some of their quantiles."""
    some = np.unique(np.quantile(values, np.linspace(0, 1, 100), method="nearest"))
    kernel = np.exp(-0.5 * ((values[:, None] - some) / width) ** 2)
    among = np.exp(-0.5 * ((some[:, None] - some) / width) ** 2)
    size, vectors = np.linalg.eigh(among)
    kept = size > 1e-10 * size[-1]
    white = vectors[:, kept] / np.sqrt(size[kept])
    features = kernel @ white
    features -= features.mean(axis=0)
    _, leading = np.linalg.eigh(features.T @ features)
    return some, np.asarray(white @ leading[:, ::-1][:, :N_FUNCTIONS])


class LeaveOneOut:
    """Judges sets of features by what they leave unexplained in rows left out.

    Parameters
    ----------
    table : Table or RowsElsewhere
    target : Target
    n_basis : int
        Number of kernel centres, spread over the target's values.
    rng : numpy.random.Generator
    most_rows : int or None
        So many rows at most, spread over the target's values, all in float64; None is all, in the
        precision of the table.
    known_rows : numpy.ndarray of int or None
        Rows that centres and the few rows are taken from; None is all.
    """

    def __init__(
        self,
        table: Table | RowsElsewhere,
        target: Target,
        n_basis: int,
        rng: np.random.Generator,
        most_rows: int | None = None,
        known_rows: HostArray | None = None,
    ) -> None:
        known = np.arange(table.n_rows) if known_rows is None else known_rows
        order = (target.codes if target.values is None else target.values)[known]
        some: Table | RowsElsewhere = table
        of_some = target
        if most_rows is not None and table.n_rows > most_rows:
            rows = np.sort(known[spread_centers(order, most_rows, rng)])
            some, of_some = table.rows_of(rows), target.rows_of(rows)
        elif most_rows is not None and not isinstance(table, Table):
            some = table.rows_of(np.arange(table.n_rows))
        self.n_rows = some.n_rows
        # Slopes, which only few rows are asked for, lose more digits than scores.
        exact = most_rows is not None
        centers = centers_of(table, known[spread_centers(order, n_basis, rng)], exact)
        some = some.exact if exact and isinstance(some, Table) else some
        self.functions = TargetFunctions.of(target, rng)
        layout = Layout(1, centers, {"functions": self.functions.attach})
        one_fold = np.zeros(some.n_rows, dtype=np.intp)
        # Exchanges are looked for among some rows, which are at hand.
        fold: Any = fold_rows if most_rows is None else FoldedRows
        self.rows = fold(some, of_some, one_fold, layout)
        self._among = centers.block()

    def _forget(self) -> None:
        """Give memory back: several judges and searches stand side by side."""
        self.rows.forget()
        self._among.forget()

    # -- scores ----------------------------------------------------------------------------

    def judge(self, columns: HostArray, near: Model | None = None) -> Judgement:
        """Score of a set of features, all with weight 1, at its best width and regularization.

        From the median distance the width goes to either side for as long as the score falls; with a
        model to begin with only its width is tried.
        """
        weights = np.ones(columns.size)
        if near is not None:
            (judgement,) = self._judge_widths(weights, columns, [near.sigma])
            self._forget()
            return judgement
        median = float(np.sqrt(2 * median_positive(self.rows.centers.half_distances(weights, columns))))
        found: dict[int, Judgement] = {}
        best = len(WIDTHS) // 2
        while True:
            missing = [i for i in widths_around(best) if i not in found]
            judgements = self._judge_widths(weights, columns, [WIDTHS[i] * median for i in missing])
            found.update(zip(missing, judgements, strict=True))
            lowest = min(widths_around(best), key=lambda i: found[i].cv_score)
            if lowest == best:
                self._forget()
                return found[best]
            best = lowest

    def _judge_widths(
        self, weights: HostArray, columns: HostArray, sigmas: Sequence[float]
    ) -> list[Judgement]:
        """Best regularization at each width: two visits of the rows, however many there are."""
        if not sigmas:
            return []
        scales = tuple(sigma**-2 for sigma in sigmas)
        among = self._among.exponents(weights, columns)
        whites = [white_of(in_float64(exp_in_place(among * scale))) for scale in scales]
        sums = self.rows.sum(_sums_at, weights, columns, scales, whites, columns=columns)
        fits = [turned(white, *sums[2 * i : 2 * i + 2]) for i, white in enumerate(whites)]
        losses = self.rows.sum(_losses_at, weights, columns, scales, fits, columns=columns)
        found = []
        for sigma, loss in zip(sigmas, losses, strict=True):
            scores = to_numpy(loss) / self.n_rows
            i = int(np.argmin(scores))
            found.append(Judgement(float(scores[i]), Model(sigma, REGULARIZATIONS[i])))
        return found

    # -- one model for many sets -----------------------------------------------------------

    def _score(self, exponents: Sequence[Array], scale: float, regularization: float) -> float:
        """Score of given exponents, block by block and last among the centres, at one regularization."""
        kernels = [in_float64(exp_in_place(e * scale)) for e in exponents]
        functions = [block.attached["functions"] for block in self.rows.blocks]
        gram, joint = add_up(map(kernel_sums, kernels[:-1], functions))
        sums = FitSums(gram, joint, kernels[-1])
        inverse = inverse_of(sums, regularization)
        coefficients = inverse @ sums.joint
        loss = 0.0
        for kernel, of_rows in zip(kernels[:-1], functions, strict=True):
            errors = left_out(kernel, of_rows, inverse, coefficients).errors
            loss += float(namespace(kernel).sum(errors * errors))
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
        weights = np.full(columns.size, 1 / model.sigma)
        among = self._among.kernels(weights**2, columns)
        gram, joint = self.rows.sum(_sums_of, weights, columns, columns=columns)
        sums = FitSums(gram, joint, among)
        xp = namespace(sums.gram)
        inverse = inverse_of(sums, model.regularization)
        coefficients = inverse @ sums.joint
        adjoint, spread = self.rows.sum(_adjoint, weights, columns, inverse, coefficients, columns=columns)
        outer = 2 * adjoint @ xp.matrix_transpose(coefficients)
        slopes = SlopeParts(inverse, coefficients, adjoint, outer - 2 * spread)
        needed = np.union1d(columns, candidates)
        total = self.rows.sum(_slopes_in_squares, weights, columns, slopes, candidates, columns=needed)
        total = total + self._among.pull_back((outer - spread) * among * model.regularization, candidates)
        self._forget()
        return to_numpy(total) / (self.n_rows * model.sigma**2)

    def neighbours(
        self, support: tuple[int, ...], model: Model, candidates: HostArray, width: int
    ) -> list[tuple[int, ...]]:
        """Sets one exchange away, in the order of their scores under the model of ``support``.

        The slopes choose the ``width`` features that may leave and those, four times as many, that may
        enter; all their exchanges are scored, and those come out that a model of their own could make
        better than ``support``.
        """
        slopes = self.set_slopes(np.array(support), model, candidates)
        leave, enter = _who_moves(support, slopes, candidates, width)
        scale = model.sigma**-2
        scores: dict[tuple[int, ...], float] = {}
        blocks = [*self.rows.blocks, self._among]
        for i in leave:
            others = np.array([j for j in support if j != i], dtype=np.intp)
            moved = (block.moved_exponents(others, enter, 1, scale) for block in blocks)
            for j, exponents in zip(enter, zip(*moved, strict=True), strict=True):
                score = self._score(exponents, 1.0, model.regularization)
                scores[tuple(sorted((*others.tolist(), int(j))))] = score
        columns = np.array(support)
        present_exponents = [block.exponents(np.ones(columns.size), columns) for block in blocks]
        hopeless = MARGIN * self._score(present_exponents, scale, model.regularization)
        self._forget()
        return sorted((s for s in scores if scores[s] < hopeless), key=lambda s: scores[s])


def widths_around(best: int) -> list[int]:
    """A width and those next to it."""
    return [i for i in (best, best - 1, best + 1) if 0 <= i < len(WIDTHS)]


def _who_moves(
    support: tuple[int, ...], slopes: HostArray, candidates: HostArray, width: int
) -> tuple[HostArray, HostArray]:
    """The features that may leave a set, and those that may enter it."""
    present = np.isin(candidates, support)
    leave = candidates[present][np.argsort(slopes[present], kind="stable")[:width]]
    enter = candidates[~present][np.argsort(-slopes[~present], kind="stable")[: 4 * width]]
    return leave, enter


def exchanges(
    support: tuple[int, ...], slopes: HostArray, candidates: HostArray, width: int
) -> list[tuple[int, ...]]:
    """Sets one exchange away that the slopes speak for."""
    leave, enter = _who_moves(support, slopes, candidates, width)
    return [tuple(sorted({*support, int(j)} - {int(i)})) for i in leave for j in enter]


# -- what a block of rows contributes ----------------------------------------------------------
# Distances are in the precision of the table. What is made of kernels is in float64, block by block: a fit
# with little regularization tells rounding errors of float32 products from nothing else.


def _kernel(block: FoldedBlock, weights: HostArray, columns: HostArray) -> Array:
    return in_float64(block.kernels(weights**2, columns))


def _sums_of(block: FoldedBlock, weights: HostArray, columns: HostArray) -> tuple[Array, Array]:
    """Sums at one width, which is in the weights."""
    return kernel_sums(_kernel(block, weights, columns), block.attached["functions"])


def _sums_at(
    block: FoldedBlock, weights: HostArray, columns: HostArray, scales: tuple[float, ...], whites: list[Array]
) -> tuple[Array, ...]:
    """Sums in white coordinates at several widths, one after the other: distances are worked out once."""
    exponents = block.exponents(weights**2, columns)
    found: list[Array] = []
    for scale, white in zip(scales, whites, strict=True):
        kernel = in_float64(exp_in_place(exponents * scale))
        found.extend(kernel_sums(whitened(kernel, white), block.attached["functions"]))
    return tuple(found)


def _losses_at(
    block: FoldedBlock, weights: HostArray, columns: HostArray, scales: tuple[float, ...], fits: list[Turned]
) -> tuple[Array, ...]:
    """Squared errors of the rows left out, for every width and regularization."""
    exponents, functions = block.exponents(weights**2, columns), block.attached["functions"]
    return tuple(
        all_losses(in_float64(exp_in_place(exponents * scale)), functions, fit)
        for scale, fit in zip(scales, fits, strict=True)
    )


def _adjoint(
    block: FoldedBlock, weights: HostArray, columns: HostArray, inverse: Array, coefficients: Array
) -> tuple[Array, Array]:
    """G and Q."""
    kernel = _kernel(block, weights, columns)
    return adjoint_sums(left_out(kernel, block.attached["functions"], inverse, coefficients))


def _slopes_in_squares(
    block: FoldedBlock, weights: HostArray, columns: HostArray, parts: SlopeParts, candidates: HostArray
) -> Array:
    kernel = _kernel(block, weights, columns)
    rows = left_out(kernel, block.attached["functions"], parts.inverse, parts.coefficients)
    return block.pull_back(row_slopes(kernel, rows, parts), candidates)
