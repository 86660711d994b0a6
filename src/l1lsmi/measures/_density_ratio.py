"""What the two measures of information share: both fit the density ratio p(x, y) / (p(x) p(y))."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from l1lsmi._arrays import Array, HostArray, is_foreign, steady_blas, to_numpy
from l1lsmi._numerics.density_ratio import DensityRatioDraw
from l1lsmi._numerics.model import Fit, Grid, Judgement, Model
from l1lsmi._numerics.sampling import balanced_centers, draw_spread, uniform_centers
from l1lsmi._numerics.target import Target
from l1lsmi._rows.folded import DEVICE_BLOCK_ROWS
from l1lsmi._rows.table import Table, standardize
from l1lsmi._validation.features import check_pairs
from l1lsmi._validation.folds import check_folds
from l1lsmi._validation.parameters import check_all_positive, seed_of
from l1lsmi._validation.target import TASKS
from l1lsmi.measures._base import Measure, MeasureProblem

#: Neighbouring sets are compared under the model of the present one, with no more regularization than
#: this: a set that says little is regularised until all its neighbours look alike.
SCREENING_REGULARIZATION = 1e-2


class DensityRatioMeasure(Measure):
    """Base of the measures that fit a density ratio."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_basis": [Interval(Integral, 1, None, closed="left")],
        "centers": [StrOptions({"balanced", "uniform"})],
        "cv": [Interval(Integral, 2, None, closed="left"), HasMethods(["split", "get_n_splits"])],
        "sigma_factors": ["array-like"],
        "sigmas": ["array-like"],
        "target_sigma_factor": [Interval(Real, 1e-6, 1e6, closed="both")],
        "score_by": [StrOptions({"estimate", "cross_validation"})],
        "task": [StrOptions(set(TASKS))],
        "random_state": ["random_state"],
    }
    #: What the measure is where the cross-validation score is 0.
    offset: ClassVar[float]
    score_by: str
    n_basis: int
    centers: str
    cv: Any
    sigma_factors: Any
    sigmas: Any
    target_sigma_factor: float

    def estimate(self, X: Any, y: Any) -> DensityRatioEstimate:
        """Fit the density ratio and keep everything about it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        estimate : DensityRatioEstimate
        """
        with steady_blas():
            problem = self._problem(X, y)
            draw, (model, fit) = problem.fit_set(problem.columns)
        return _estimate_of(problem, draw, model, fit)

    def _grid(self) -> Grid:
        """Candidates for model selection."""
        raise NotImplementedError

    def _draw_class(self) -> type[DensityRatioDraw]:
        """How the ratio is fitted."""
        raise NotImplementedError

    def bind(self, table: Table, target: Target, random_state: Any) -> DensityRatioProblem:
        """Tie the measure to data, for a strategy to ask.

        Parameters
        ----------
        table : Table
        target : Target
        random_state : int, RandomState instance or None

        Returns
        -------
        problem : MeasureProblem
        """
        self._validate_params()
        for name, value in self.get_params().items():
            if self._parameter_constraints[name] == ["array-like"] and (name != "sigmas" or len(value)):
                check_all_positive(self, name)
        seed = seed_of(random_state)
        fold_of_row, n_folds = check_folds(self.cv, table.n_rows, target)
        median = 1.0
        if not target.is_classification:
            median = self.target_sigma_factor * target.median_distance(np.random.default_rng(seed))
        return DensityRatioProblem(
            table,
            target,
            seed=seed,
            n_basis=self.n_basis,
            centers=self.centers,
            draw_class=self._draw_class(),
            draw_options={
                "n_folds": n_folds,
                "fold_of_row": fold_of_row,
                "grid": self._grid(),
                "target_sigma": median,
            },
            # Rows that are to be left out together are not left out one by one.
            juror_class=self._juror_class() if fold_of_row is None else None,
            together_class=self._together_class(),
            best_cv_score=self._best_cv_score(target) if fold_of_row is None else -math.inf,
            offset=self.offset if self.score_by == "cross_validation" else None,
        )

    def _juror_class(self) -> Any:
        """What compares sets of features in a weighting; None leaves it to the cross-validation score."""
        return None

    def _together_class(self) -> Any:
        """What works on several draws as one; None where there is no such thing."""
        return None

    def _best_cv_score(self, target: Target) -> float:
        """A lower bound on what a judge may say of any set."""
        return -math.inf


class DensityRatioProblem(MeasureProblem):
    """The measure bound to data: hands out draws of centres and folds."""

    neighbours_are_exact = False

    def __init__(
        self,
        table: Table,
        target: Target,
        *,
        seed: int,
        n_basis: int,
        centers: str,
        draw_class: type[DensityRatioDraw],
        draw_options: dict[str, Any],
        juror_class: Any,
        together_class: Any,
        best_cv_score: float,
        offset: float | None,
    ) -> None:
        super().__init__(table, target)
        self.seed = seed
        self.n_basis = n_basis
        self.centers = centers
        self.best_cv_score = best_cv_score
        self._juror_class = juror_class
        self._together_class = together_class
        self._offset = offset
        self._draw_class = draw_class
        self._draw_options = draw_options
        #: Rows to take kernel centres from: those of a sample, once there is one, which are at hand.
        self._known_rows: HostArray | None = None
        self._idle: list[DensityRatioDraw] = []
        self._models: dict[tuple[int, ...], Model] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Draws have work space, and can be made again: they stay behind."""
        return {**vars(self), "_idle": []}

    def rng(self, *key: int) -> np.random.Generator:
        """A generator of its own for every key."""
        return np.random.default_rng((self.seed, *key))

    def draw(self, *key: int) -> DensityRatioDraw:
        """Centres and folds that depend on the key alone."""
        rng = self.rng(0, *key)
        draw_centers = uniform_centers if self.centers == "uniform" else balanced_centers
        known = self._known_rows
        codes = self.target.codes if known is None else self.target.codes[known]
        centers = draw_centers(codes, self.n_basis, rng)
        if known is not None:
            centers = np.where(centers < 0, -1, known[centers])
        return self._draw_class(self.table, self.target, centers=centers, rng=rng, **self._draw_options)

    def n_together(self) -> int:
        """How many draws a device is to work on at a time; 1 in memory, where nothing is gained by it.

        Returns
        -------
        int
        """
        table = self.table
        if self._together_class is None or not isinstance(table, Table) or not is_foreign(table.x):
            return 1
        n_centers = max(self.n_basis, int(self.target.codes.max()) + 1)
        if table.n_rows > DEVICE_BLOCK_ROWS:
            return 1
        # Columns three times, and rows by centres half a dozen times, are alive in a step.
        each = table.means.number_bytes * table.n_rows * (3 * table.n_columns + 6 * n_centers)
        return max(1, table.means.kept_bytes(table.x) // each)

    def draws_together(self, keys: Sequence[tuple[int, ...]]) -> Any:
        """Draws by their keys, to be worked on as one.

        Parameters
        ----------
        keys : sequence of tuple of int

        Returns
        -------
        draws : LeastSquaresTogether
        """
        assert self._together_class is not None
        return self._together_class(self.table, [self.draw(*key) for key in keys])

    def on_sample(self, n_rows: int) -> DensityRatioProblem:
        """The same problem on some rows, each class or range of the target, and each fold, in proportion.

        Parameters
        ----------
        n_rows : int

        Returns
        -------
        problem : DensityRatioProblem
        """
        fold_of_row, codes = self._draw_options["fold_of_row"], self.target.codes
        if fold_of_row is not None:
            codes = codes * self._draw_options["n_folds"] + fold_of_row
        rows = draw_spread(codes, self.target.values, n_rows, self.rng(4))
        self._known_rows = rows
        return self.on_rows(rows)

    def on_rows(self, rows: HostArray) -> DensityRatioProblem:
        """The same problem on given rows, which are then in memory.

        Parameters
        ----------
        rows : numpy.ndarray of int

        Returns
        -------
        problem : DensityRatioProblem
        """
        fold_of_row = self._draw_options["fold_of_row"]
        sample = copy(self)
        sample.table, sample.target = self.table.rows_of(rows), self.target.rows_of(rows)
        if fold_of_row is not None:
            sample._draw_options = {**self._draw_options, "fold_of_row": fold_of_row[rows]}
        sample._known_rows, sample._idle, sample._models = None, [], {}
        return sample

    def juror(self, i: int) -> Any:
        """Judge ``i`` of sets of features."""
        if self._juror_class is None:
            return self.draw(0, i)
        return self._juror_class(self.table, self.target, self.n_basis, self.rng(3, i), self._known_rows)

    @contextmanager
    def _common_draw(self) -> Iterator[DensityRatioDraw]:
        """The draw that sets are scored on; threads get copies of it, because it has work space."""
        try:
            draw = self._idle.pop()
        except IndexError:
            draw = self.draw(0)
        yield draw
        self._idle.append(draw)

    def fit_set(self, columns: HostArray) -> tuple[DensityRatioDraw, tuple[Model, Fit]]:
        """Choose a model for a set of columns and fit it."""
        weights = np.ones(columns.size)
        with self._common_draw() as draw:
            judgement = _chosen(draw, columns)
            fit = draw.fit(weights, columns, judgement.model, judgement.cv_score)
        self._models[tuple(sorted(columns.tolist()))] = judgement.model
        return draw, (judgement.model, fit)

    def score_set(self, columns: HostArray) -> float:
        """What a set of columns says together, under the model that cross-validation chooses."""
        with steady_blas():
            _, (_, fit) = self.fit_set(columns)
        return self.score_of(fit)

    def score_of(self, fit: Fit) -> float:
        """What a fit says, by the estimate or by cross-validation."""
        return fit.value if self._offset is None else self._offset - fit.cv_score

    def score_each(self, columns: HostArray) -> HostArray:
        """What every column says by itself."""
        return np.array([self.score_set(columns[i : i + 1]) for i in range(columns.size)])

    def score_additions(self, columns: HostArray, others: HostArray) -> HostArray:
        """What the set says with each of the others, under one model for all."""
        return self._score_neighbours(columns, others, 1)

    def score_removals(self, columns: HostArray, members: HostArray) -> HostArray:
        """What the set says without each of some of its members, under one model for all."""
        return self._score_neighbours(columns, members, -1)

    def _score_neighbours(self, columns: HostArray, others: HostArray, sign: int) -> HostArray:
        with self._common_draw() as draw:
            model = self._screening_model(draw, columns, sign)
            return draw.neighbour_values(columns, others, sign, model)

    def _screening_model(self, draw: DensityRatioDraw, columns: HostArray, sign: int) -> Model:
        """The model of the present set, its width grown or shrunk as distances do."""
        if columns.size == 0:  # nothing to go by yet: the median distance within one column is near 1
            return Model(1.0, SCREENING_REGULARIZATION)
        key = tuple(sorted(columns.tolist()))
        if key not in self._models:
            # The set was scored elsewhere, by another process: its model is what it was there.
            self._models[key] = _chosen(draw, columns).model
        model = self._models[key]
        sigma = model.sigma * math.sqrt(max(columns.size + sign, 1) / columns.size)
        return Model(sigma, min(model.regularization, SCREENING_REGULARIZATION))


def _chosen(draw: DensityRatioDraw, columns: HostArray) -> Judgement:
    """The model of a set of columns."""
    weights = np.ones(columns.size)
    return draw.refine_model(weights, columns, draw.choose_model(weights, columns))


@dataclass(frozen=True)
class DensityRatioEstimate:
    """A fitted density ratio and what it says.

    Attributes
    ----------
    value : float
        The estimate of the measure.
    sigma, regularization : float
        Chosen by cross-validation; sigma is in units of the standardised features.
    cv_score : float
        Their cross-validation score, lower is better.
    alpha : numpy.ndarray of shape (n_centers,)
        Coefficients of the kernels.
    constant : numpy.ndarray of shape (n_classes,), or (1,) for regression
        What is added to the sum of kernels, by class.
    centers : numpy.ndarray of shape (n_centers, n_features)
        Feature values of the kernel centres, as given.
    center_targets : numpy.ndarray of shape (n_centers,)
        Their targets: class labels, or values as given.
    target_sigma : float
        Kernel width of the standardised target; 1 for classes, where it plays no part.
    """

    value: float
    sigma: float
    regularization: float
    cv_score: float
    alpha: HostArray
    constant: HostArray
    centers: HostArray
    center_targets: HostArray
    target_sigma: float
    _table: Table
    _target: Target

    def density_ratio(self, X: Array, y: Array) -> HostArray:
        """Estimate p(x, y) / (p(x) p(y)) for pairs of rows and targets.

        Parameters
        ----------
        X : array-like of shape (n_pairs, n_features)
        y : array-like of shape (n_pairs,)

        Returns
        -------
        ratio : numpy.ndarray of shape (n_pairs,)
        """
        X = np.array(to_numpy(check_pairs(X, y, self.centers.shape[1])), dtype=np.float64)
        y = to_numpy(y) if is_foreign(y) else np.asarray(y)
        columns = self._table.varying
        mean, scale = self._table.mean[columns], self._table.scale[columns]
        rows = standardize(X[:, columns], mean, scale)
        centers = standardize(self.centers[:, columns], mean, scale)
        squared = (rows**2).sum(1)[:, None] - 2 * rows @ centers.T + (centers**2).sum(1)
        kernel = np.exp(-0.5 * np.maximum(squared, 0.0) / self.sigma**2)
        at_rows = self._target.encode(y)
        at_centers = self._target.encode(self.center_targets)
        if self._target.is_classification:
            constant = np.where(at_rows >= 0, self.constant[at_rows], 0.0)
            return np.asarray((kernel * (at_rows[:, None] == at_centers)) @ self.alpha + constant)
        target_kernel = np.exp(-0.5 * ((at_rows[:, None] - at_centers) / self.target_sigma) ** 2)
        return np.asarray((kernel * target_kernel) @ self.alpha + self.constant[0])


def _estimate_of(
    problem: DensityRatioProblem, draw: DensityRatioDraw, model: Model, fit: Fit
) -> DensityRatioEstimate:
    real = draw.centers.ravel() >= 0
    rows = draw.centers.ravel()[real]
    table, target = problem.table, problem.target
    if target.classes is not None:
        center_targets = target.classes[target.codes[rows]]
    else:
        assert target.values is not None
        center_targets = target.values[rows] * target.scale + target.mean
    n_each = draw.centers.shape[1]
    constant = fit.alpha[:, n_each:].ravel()
    return DensityRatioEstimate(
        value=fit.value,
        sigma=model.sigma,
        regularization=model.regularization,
        cv_score=fit.cv_score,
        alpha=fit.alpha[:, :n_each].ravel()[real],
        constant=constant if constant.size else np.zeros(fit.alpha.shape[0]),
        centers=to_numpy(table.x)[rows].astype(np.float64),
        center_targets=center_targets,
        target_sigma=draw.target_sigma,
        _table=table,
        _target=target,
    )
