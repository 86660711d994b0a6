"""Several sets of features judged as one: on a device a launch costs more than the arithmetic of a set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from l1lsmi._arrays import (
    Array,
    HostArray,
    clip_in_place,
    exp_in_place,
    gather_each,
    in_float64,
    like,
    matching,
    namespace,
    to_numpy,
)
from l1lsmi._numerics.model import Judgement, Model
from l1lsmi._numerics.squared_loss.leave_one_out import MARGIN, WIDTHS, LeaveOneOut, exchanges, widths_around
from l1lsmi._numerics.squared_loss.left_out_fits import (
    REGULARIZATIONS,
    FitSums,
    SlopeParts,
    adjoint_sums,
    inverse_of,
    kernel_sums,
    left_out,
    row_slopes,
    whitened_losses,
)
from l1lsmi._numerics.target import median_positive
from l1lsmi._rows.table import Table, standardize

Set = tuple[int, ...]

#: Numbers in the arrays of a step at most: rows by centres for every set and width, a few times over.
MOST_NUMBERS = 2**28
#: Columns that slopes are worked out for at a time are as many as have so many numbers.
MOST_VALUES = 2**27


class LeaveOneOutTogether:
    """The same judgements as those of a `LeaveOneOut` whose rows are one block, for many sets at a time.

    Parameters
    ----------
    table : Table
        What the rows of the judge are of; slopes in the weights of columns are in its precision.
    judge : LeaveOneOut
    """

    def __init__(self, table: Table, judge: LeaveOneOut) -> None:
        (block,) = judge.rows.blocks
        self.table, self.n_rows = table, judge.n_rows
        self._block, self._center_table = block, judge.rows.centers.table
        self._centers = judge.rows.centers.places
        self._rows = np.maximum(block.rows.ravel(), 0)
        self._functions = block.attached["functions"]

    # -- kernels ---------------------------------------------------------------------------

    def _exponents(self, columns: HostArray) -> tuple[Array, Array]:
        """Minus half the squared distances of rows to centres, and in float64 those among the centres."""
        rows, centers = (
            table.take_each(np.tile(places, (len(columns), 1)), columns)
            for table, places in ((self._block.table, self._rows), (self._center_table, self._centers))
        )
        of_rows = _distances(rows, centers) - self._block.offsets()[None, :, None]
        centers = in_float64(centers)
        return of_rows, _distances(centers, centers)

    # -- judgements ------------------------------------------------------------------------

    def judge(self, sets: Sequence[Set]) -> list[Judgement]:
        """Scores of sets of the same size, each at its best width and regularization."""
        at_a_time = max(1, MOST_NUMBERS // (9 * self._rows.size * self._centers.size))
        found: list[Judgement] = []
        for start in range(0, len(sets), at_a_time):
            found.extend(self._judge_some(np.array(sets[start : start + at_a_time])))
        return found

    def _judge_some(self, columns: HostArray) -> list[Judgement]:
        exponents, among = self._exponents(columns)
        medians = _median_distances(among)
        found: list[dict[int, Judgement]] = [{} for _ in columns]
        best = [len(WIDTHS) // 2] * len(columns)
        pending = list(range(len(columns)))
        while pending:
            asked = [(s, i) for s in pending for i in widths_around(best[s]) if i not in found[s]]
            sigmas = [WIDTHS[i] * medians[s] for s, i in asked]
            judgements = self._scores(exponents, among, [s for s, _ in asked], sigmas) if asked else []
            for (s, i), judgement in zip(asked, judgements, strict=True):
                found[s][i] = judgement
            moved = []
            for s in pending:
                lowest = min(widths_around(best[s]), key=lambda i, of=found[s]: of[i].cv_score)  # type: ignore[misc]
                if lowest != best[s]:
                    best[s] = lowest
                    moved.append(s)
            pending = moved
        return [of[i] for of, i in zip(found, best, strict=True)]

    def _scores(
        self, exponents: Array, among: Array, places: list[int], sigmas: list[float]
    ) -> list[Judgement]:
        xp = namespace(exponents)
        index = like(np.array(places), exponents)
        scale = like(np.array(sigmas) ** -2.0, exponents)[:, None, None]
        kernels = in_float64(exp_in_place(xp.take(exponents, index, axis=0) * matching(scale, exponents)))
        whole = exp_in_place(xp.take(among, index, axis=0) * scale)
        losses = to_numpy(whitened_losses(kernels, self._functions, whole)) / self.n_rows
        best = losses.argmin(axis=1)
        return [
            Judgement(float(loss[i]), Model(sigma, REGULARIZATIONS[i]))
            for loss, i, sigma in zip(losses, best, sigmas, strict=True)
        ]

    # -- exchanges -------------------------------------------------------------------------

    def neighbours(
        self, sets: Sequence[Set], models: Sequence[Model], candidates: HostArray, width: int
    ) -> list[list[Set]]:
        """For each set those one exchange away, in the order of their scores under its model."""
        slopes = self._slopes(np.array(sets), models, candidates)
        proposals = [
            exchanges(support, of_set, candidates, width)
            for support, of_set in zip(sets, slopes, strict=True)
        ]
        # The set itself is scored with its neighbours: those that are much worse are not worth a model.
        asked = [[support, *near] for support, near in zip(sets, proposals, strict=True)]
        flat = [support for some in asked for support in some]
        owners = [model for some, model in zip(asked, models, strict=True) for _ in some]
        scores = iter(self._scores_under(flat, owners))
        found = []
        for some in asked:
            own, *of_others = (next(scores) for _ in some)
            near = [pair for pair in zip(of_others, some[1:], strict=True) if pair[0] < MARGIN * own]
            found.append([support for _, support in sorted(near, key=lambda pair: pair[0])])
        return found

    def _scores_under(self, sets: list[Set], models: list[Model]) -> list[float]:
        """Scores of sets under given models."""
        at_a_time = max(1, MOST_NUMBERS // (6 * self._rows.size * self._centers.size))
        found: list[float] = []
        for start in range(0, len(sets), at_a_time):
            inside = slice(start, start + at_a_time)
            kernels, sums, regularization = self._fit_sums(np.array(sets[inside]), models[inside])
            inverse = inverse_of(sums, regularization)
            errors = left_out(kernels, self._functions, inverse, inverse @ sums.joint).errors
            losses = namespace(errors).sum(errors * errors, axis=(-2, -1))
            found.extend((to_numpy(losses) / self.n_rows).tolist())
        return found

    def _fit_sums(self, columns: HostArray, models: Sequence[Model]) -> tuple[Array, FitSums, Array]:
        exponents, among = self._exponents(columns)
        scale = like(np.array([model.sigma**-2 for model in models]), exponents)[:, None, None]
        kernels = in_float64(exp_in_place(exponents * matching(scale, exponents)))
        gram, joint = kernel_sums(kernels, self._functions)
        regularization = like(np.array([model.regularization for model in models]), exponents)
        return kernels, FitSums(gram, joint, exp_in_place(among * scale)), regularization[:, None, None]

    def _slopes(self, columns: HostArray, models: Sequence[Model], candidates: HostArray) -> HostArray:
        """Slopes of minus the scores in the squared weights of candidates: see `LeaveOneOut.set_slopes`."""
        kernels, sums, regularization = self._fit_sums(columns, models)
        xp = namespace(kernels)
        inverse = inverse_of(sums, regularization)
        coefficients = inverse @ sums.joint
        rows = left_out(kernels, self._functions, inverse, coefficients)
        adjoint, spread = adjoint_sums(rows)
        outer = 2 * adjoint @ xp.matrix_transpose(coefficients)
        parts = SlopeParts(inverse, coefficients, adjoint, outer - 2 * spread)
        of_rows = row_slopes(kernels, rows, parts)
        of_centers = (outer - spread) * sums.among * regularization
        per_piece = max(1, MOST_VALUES // self._rows.size)
        found = []
        for start in range(0, candidates.size, per_piece):
            some = candidates[start : start + per_piece]
            x = self._values(self._block.table, self._rows, some)
            c = self._values(self._center_table, self._centers, some)
            found.append(_pulled(matching(of_rows, x), x, c) + _pulled(matching(of_centers, c), c, c))
        total = to_numpy(found[0] if len(found) == 1 else xp.concat(found, axis=1))
        return np.asarray(total / (self.n_rows * np.array([model.sigma**2 for model in models])[:, None]))

    def _values(self, table: Table, rows: HostArray, columns: HostArray) -> Array:
        z = in_float64(gather_each(table.x, rows[None, :], columns[None, :])[0, ...])
        z = standardize(z, table.mean[columns], table.scale[columns])
        return namespace(z).astype(z, self.table.dtype, copy=False)


def _distances(points: Array, centers: Array) -> Array:
    """Minus half the squared distances, (sets, points, centres)."""
    xp = namespace(points)
    products = points @ xp.matrix_transpose(centers)
    products -= 0.5 * xp.sum(points * points, axis=2)[:, :, None]
    products -= 0.5 * xp.sum(centers * centers, axis=2)[:, None, :]
    return clip_in_place(products, 0.0)


def _median_distances(among: Array) -> list[float]:
    """Median distance between centres for each set, from minus half the squared distances."""
    xp = namespace(among)
    n_sets, n_centers, _ = among.shape
    pairs = np.flatnonzero(np.triu(np.ones((n_centers, n_centers), dtype=bool), 1))
    if pairs.size == 0:
        return [1.0] * n_sets
    halves = xp.take(xp.reshape(-among, (n_sets, -1)), like(pairs, among), axis=1)
    # Equal points come out at rounding errors instead of 0, which would pass for distances.
    small = 1e-12 * xp.max(halves, axis=1, keepdims=True)
    halves = xp.sort(xp.where(halves <= small, xp.zeros_like(halves), halves), axis=1)
    middle = halves[:, (pairs.size - 1) // 2 : pairs.size // 2 + 1]
    found = to_numpy(xp.stack([middle[:, 0], middle[:, -1]], axis=1))
    return [
        float(np.sqrt(2 * (two.mean() if two[1] > 0 else median_positive(to_numpy(halves[i, :])))))
        for i, two in enumerate(found)
    ]


def _pulled(slopes: Array, points: Array, centers: Array) -> Array:
    """Half the sum of slope times squared gap for each column, (sets, columns)."""
    xp = namespace(slopes)
    squares = xp.sum(slopes, axis=2) @ (points * points) + xp.sum(slopes, axis=1) @ (centers * centers)
    cross = xp.matrix_transpose(slopes) @ points
    return in_float64(0.5 * squares - xp.sum(cross * centers, axis=1))
