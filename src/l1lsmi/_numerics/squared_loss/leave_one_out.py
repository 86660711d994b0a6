r"""The leave-one-out loss of a set of features, by which sets are compared.

Some functions of the target (`target_functions`) are fitted by regularised least squares on kernels around
some of the rows, and the loss of a set is the share of their variance that the fit leaves unexplained in rows
that were left out. Every row is left out once, and no fit is done twice: with the fit :math:`\hat y = S y`,
the error of a row that is left out is its residual over :math:`1 - S_{ii}` (`loo_algebra`). All
regularizations :math:`\lambda` at one width share two passes over the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from l1lsmi._arrays import (
    Array,
    HostArray,
    asarray_like,
    namespace,
    to_numpy,
)
from l1lsmi._numerics.grids import LOO_REGULARIZATIONS, LOO_WIDTHS
from l1lsmi._numerics.model import Model, ScoredModel
from l1lsmi._numerics.optimization.exchanges import NO_HINTS, FeatureSet, Hints, Moves
from l1lsmi._numerics.sampling import spread_rows
from l1lsmi._numerics.squared_loss import loo_terms
from l1lsmi._numerics.squared_loss.loo_algebra import (
    FitSums,
    GradientParts,
    center_whitening,
    fit_all,
    inverse_of,
)
from l1lsmi._numerics.squared_loss.loo_terms import Kernels
from l1lsmi._numerics.squared_loss.target_functions import TargetFunctions
from l1lsmi._numerics.target import Target
from l1lsmi._rows.blocks import Centers, Layout
from l1lsmi._rows.layout import CachedRows, lay_out_rows
from l1lsmi._rows.table import RowTable

#: A model of its own is not expected to lower the loss of a neighbouring set by more than this factor.
MARGIN = 1.05
#: Exchanges that are scored, for each unit of width.
N_EXCHANGES = 4
#: Arrays of rows by centres that are in memory at a time, for each set.
ARRAYS_PER_SET = 9


class LeaveOneOutLoss:
    """Leave-one-out losses of sets of features, for many sets of the same size at a time.

    Parameters
    ----------
    table : RowTable
    target : Target
    n_basis : int
        Number of kernel centres, spread over the target's values.
    rng : numpy.random.Generator
    max_rows : int or None
        So many rows at most, spread over the target's values, all in float64; None is all, in the
        precision of the table.
    known_rows : numpy.ndarray of int or None
        Rows that centres and the few rows are drawn from; None is all.
    """

    def __init__(
        self,
        table: RowTable,
        target: Target,
        n_basis: int,
        rng: np.random.Generator,
        max_rows: int | None = None,
        known_rows: HostArray | None = None,
    ) -> None:
        known = np.arange(table.n_rows) if known_rows is None else known_rows
        order = target.ordered()[known]
        some, of_some = table, target
        if max_rows is not None and table.n_rows > max_rows:
            rows = np.sort(known[spread_rows(order, max_rows, rng)])
            some, of_some = table.rows_of(rows), target.rows_of(rows)
        self.weight = of_some.weight
        # Gradients, which only few rows are used for, lose more digits than losses.
        exact = max_rows is not None
        centers = Centers.of(table, known[spread_rows(order, n_basis, rng)][None], exact)
        self.functions = TargetFunctions.of(target, rng)
        layout = Layout(1, centers, {"functions": self.functions.attach})
        one_fold = np.zeros((1, some.n_rows), dtype=np.intp)
        self.rows: Any
        if exact:
            in_memory, _ = some.locate(np.arange(some.n_rows))
            self.rows = CachedRows.of(in_memory.exact, of_some, one_fold, layout)
        else:
            self.rows = lay_out_rows(some, of_some, one_fold, layout)
        self._centers = centers.block()
        array_bytes = 8 * some.n_rows * centers.size
        self._sets_at_once = some.batch_size(ARRAYS_PER_SET * array_bytes)
        # A device keeps the rows in the basis of every regularization.
        self._kernels_at_once = some.batch_size(3 * len(LOO_REGULARIZATIONS) * array_bytes)

    def _clear_cache(self) -> None:
        """Free memory: several losses and searches exist at the same time."""
        self.rows.clear_cache()
        self._centers.clear_cache()

    # -- losses ----------------------------------------------------------------------------

    def score_sets(self, sets: Sequence[FeatureSet], near: Model | None = None) -> list[ScoredModel]:
        """Losses of sets of the same size, all weights 1, each at its best width and regularization.

        From the median distance the width goes to either side for as long as the loss falls; with a
        model to begin with only its width is tried.
        """
        found: list[ScoredModel] = []
        for some in _batches(sets, self._sets_at_once):
            columns = np.array(some)
            squares = self._asarray(np.ones(columns.shape))
            if near is None:
                found += self._score_batch(squares, columns)
            else:
                asked = [(member, near.sigma) for member in range(len(some))]
                found += self._score_widths(squares, columns, asked)
        self._clear_cache()
        return found

    def _score_batch(self, squares: Array, columns: HostArray) -> list[ScoredModel]:
        medians = self.rows.centers.median_distances(squares, columns)
        found: list[dict[int, ScoredModel]] = [{} for _ in columns]
        best = [len(LOO_WIDTHS) // 2] * len(columns)
        pending = list(range(len(columns)))
        while pending:
            asked = [(s, i) for s in pending for i in _widths_around(best[s]) if i not in found[s]]
            sigmas = [(s, LOO_WIDTHS[i] * medians[s]) for s, i in asked]
            for (s, i), scored in zip(asked, self._score_widths(squares, columns, sigmas), strict=True):
                found[s][i] = scored
            moved = []
            for s in pending:
                losses = {i: found[s][i].loss for i in _widths_around(best[s])}
                lowest = min(losses, key=losses.__getitem__)
                if lowest != best[s]:
                    best[s] = lowest
                    moved.append(s)
            pending = moved
        return [of_set[i] for of_set, i in zip(found, best, strict=True)]

    def _score_widths(
        self, squares: Array, columns: HostArray, asked: Sequence[tuple[int, float]]
    ) -> list[ScoredModel]:
        """Best regularization for each member and width: two passes over the rows, however many there are."""
        if not asked:
            return []
        kernels = [
            Kernels(tuple(s for s, _ in some), tuple(sigma**-2 for _, sigma in some))
            for some in _batches(asked, self._kernels_at_once)
        ]
        of_centers = self._centers.exponents(squares, columns)
        whites = [center_whitening(some.of(of_centers)) for some in kernels]
        sums = self.rows.sum(loo_terms.sums_at, squares, columns, kernels, whites, columns=columns)
        grams, joints = sums[::2], sums[1::2]
        fits = [
            fit_all(white, gram, joint, LOO_REGULARIZATIONS)
            for white, gram, joint in zip(whites, grams, joints, strict=True)
        ]
        losses = self.rows.sum(loo_terms.losses_at, squares, columns, kernels, fits, columns=columns)
        found = np.concatenate([to_numpy(some) for some in losses]) / self.weight
        return [
            ScoredModel(float(loss[i]), Model(sigma, LOO_REGULARIZATIONS[i]))
            for (_, sigma), loss, i in zip(asked, found, found.argmin(axis=1), strict=True)
        ]

    # -- one model for every set -----------------------------------------------------------

    def _asarray(self, values: HostArray) -> Array:
        return asarray_like(values, self.rows.centers.table.x)

    def _fit_sums(self, columns: HostArray, models: Sequence[Model]) -> tuple[Array, FitSums, Array]:
        """Squared weights, sums over the rows and regularizations of sets under their models."""
        sigma = np.array([model.sigma for model in models])[:, None]
        squares = self._asarray((np.ones(columns.shape) / sigma) ** 2)
        gram, joint = self.rows.sum(loo_terms.sums_of, squares, columns, columns=columns)
        regularization = self._asarray(np.array([model.regularization for model in models]))[:, None, None]
        return squares, FitSums(gram, joint, self._centers.kernels(squares, columns)), regularization

    def losses_under(self, sets: Sequence[FeatureSet], models: Sequence[Model]) -> list[float]:
        """Losses of sets of the same size under given models."""
        found: list[float] = []
        pairs = list(zip(sets, models, strict=True))
        for some in _batches(pairs, self._sets_at_once):
            columns = np.array([support for support, _ in some])
            squares, sums, regularization = self._fit_sums(columns, [model for _, model in some])
            inverse = inverse_of(sums, regularization)
            arguments = (squares, columns, inverse, inverse @ sums.joint)
            losses = self.rows.sum(loo_terms.squared_errors, *arguments, columns=columns)
            found += (to_numpy(losses) / self.weight).tolist()
        self._clear_cache()
        return found

    def set_gradients(
        self, sets: Sequence[FeatureSet], models: Sequence[Model], candidates: HostArray
    ) -> HostArray:
        r"""Gradients of minus the losses in the squared weights of ``candidates``, (sets, candidates).

        Taken where the features of a set have weight 1 and all else weight 0. With
        :math:`U_i = w_i r_i / e_i^2`, :math:`c_i = 2 w_i^2|r_i|^2/e_i^3`, :math:`P = KA^{-1}`,
        :math:`G = P^TU` and :math:`Q = P^T\mathrm{diag}(c)P`,

        .. math:: dJ/dK = -2UB^T - 2WrG^T + 2WKGB^T + 2\,\mathrm{diag}(c)P - 2WKQ, \quad
                  dJ/dK_c = \lambda(2GB^T - Q).
        """
        columns = np.array(sets)
        squares, sums, regularization = self._fit_sums(columns, models)
        xp = namespace(sums.gram)
        inverse = inverse_of(sums, regularization)
        coefficients = inverse @ sums.joint
        arguments = (squares, columns, inverse, coefficients)
        adjoint, q = self.rows.sum(loo_terms.adjoint, *arguments, columns=columns)
        outer = 2 * adjoint @ xp.matrix_transpose(coefficients)
        parts = GradientParts(inverse, coefficients, adjoint, outer - 2 * q)
        needed, wanted = np.union1d(columns, candidates), candidates[None]
        arguments = (squares, columns, parts, wanted)
        total = self.rows.sum(loo_terms.gradient_in_squares, *arguments, columns=needed)
        of_centers = (outer - q) * sums.center_kernel * regularization
        total = to_numpy(total + self._centers.pull_back(of_centers, wanted))
        self._clear_cache()
        sigma = np.array([model.sigma for model in models])[:, None]
        return np.asarray(total / (self.weight * sigma**2))

    def neighbours(
        self,
        sets: Sequence[FeatureSet],
        models: Sequence[Model],
        candidates: HostArray,
        width: int,
        hints: Hints = NO_HINTS,
    ) -> list[list[FeatureSet]]:
        """For each set those one exchange away, in the order of their losses under its model.

        The gradient chooses the features that may leave and enter, four times ``width`` of each, beside
        the hints. Sets without one feature or with one more are scored, and then
        the exchanges that promise most; those are returned that could be better than the set under a model
        of their own.
        """
        gradients = [
            gradient
            for some in _batches(list(zip(sets, models, strict=True)), self._sets_at_once)
            for gradient in self.set_gradients([s for s, _ in some], [m for _, m in some], candidates)
        ]
        moves = [
            Moves.of(support, gradient, candidates, 4 * width, hints)
            for support, gradient in zip(sets, gradients, strict=True)
        ]
        own = self._losses_of([[support] for support in sets], models)
        smaller = self._losses_of([move.smaller() for move in moves], models)
        larger = self._losses_of([move.larger() for move in moves], models)
        asked = [
            move.exchanges(np.array(without), np.array(within), N_EXCHANGES * width)
            for move, without, within in zip(moves, smaller, larger, strict=True)
        ]
        found = []
        for (loss,), some, losses in zip(own, asked, self._losses_of(asked, models), strict=True):
            near = [pair for pair in zip(losses, some, strict=True) if pair[0] < MARGIN * loss]
            found.append([support for _, support in sorted(near, key=lambda pair: pair[0])])
        return found

    def _losses_of(self, asked: Sequence[Sequence[FeatureSet]], models: Sequence[Model]) -> list[list[float]]:
        """Losses of some sets, all of the same size, under each model."""
        flat = [support for some in asked for support in some]
        of_flat = [model for some, model in zip(asked, models, strict=True) for _ in some]
        losses = iter(self.losses_under(flat, of_flat) if flat and flat[0] else [1.0] * len(flat))
        return [[next(losses) for _ in some] for some in asked]


def _widths_around(best: int) -> list[int]:
    """A width and those next to it."""
    return [i for i in (best, best - 1, best + 1) if 0 <= i < len(LOO_WIDTHS)]


def _batches(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
