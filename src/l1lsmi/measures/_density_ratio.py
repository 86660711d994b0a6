"""What the two information measures share: both fit the density ratio p(x, y) / (p(x) p(y))."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from l1lsmi._arrays import Array, HostArray, gather, to_numpy
from l1lsmi._blas import single_threaded_blas
from l1lsmi._numerics.density_ratio import DensityRatioDraw
from l1lsmi._numerics.grids import SCREENING_REGULARIZATION
from l1lsmi._numerics.model import Fit, Grid, Model, ScoredModel
from l1lsmi._numerics.sampling import (
    balanced_centers,
    draw_with_rare,
    folds_of_part,
    stratified_folds,
    uniform_centers,
)
from l1lsmi._numerics.squared_loss.target_functions import MOST_VALUES, TargetFunctions
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import RowTable, Table
from l1lsmi._validation.features import check_pairs
from l1lsmi._validation.folds import check_folds, most_folds
from l1lsmi._validation.parameters import check_all_positive, seed_of
from l1lsmi._validation.several_targets import checked_survival, survival_columns
from l1lsmi._validation.target import TASKS, plain_target
from l1lsmi.measures._base import TAILS, Measure, MeasureProblem


class DensityRatioMeasure(Measure):
    """Base of the measures that fit a density ratio."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_basis": [Interval(Integral, 1, None, closed="left")],
        "centers": [StrOptions({"balanced", "uniform"})],
        "cv": [Interval(Integral, 2, None, closed="left"), HasMethods(["split", "get_n_splits"]), list],
        "sigma_factors": ["array-like"],
        "sigmas": ["array-like"],
        "target_sigma_factor": [Interval(Real, 1e-6, 1e6, closed="both")],
        "score_by": [StrOptions({"estimate", "cross_validation"})],
        "task": [StrOptions(set(TASKS))],
        "tails": TAILS,
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

    def estimate(self, X: Any, y: Any, sample_weight: Any = None) -> DensityRatioEstimate:
        """Fit the density ratio, and return the fit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows: a row of weight 2 counts as two copies of it. None is 1.

        Returns
        -------
        estimate : DensityRatioEstimate
        """
        with single_threaded_blas():
            problem = self._problem(X, y, sample_weight)
            draw, (model, fit) = problem.fit_set(problem.columns)
        return _estimate_of(problem, draw, model, fit)

    def _grid(self) -> Grid:
        """Candidates for model selection."""
        raise NotImplementedError

    def _draw_class(self) -> type[DensityRatioDraw]:
        """How the ratio is fitted."""
        raise NotImplementedError

    def bind(self, table: RowTable, target: Target, random_state: Any) -> DensityRatioProblem:
        """Bind the measure to data, for a strategy to search.

        Parameters
        ----------
        table : RowTable
        target : Target
        random_state : int, RandomState instance or None

        Returns
        -------
        problem : MeasureProblem
        """
        self._validate_params()
        table = self._scaled(table, target)
        for name, value in self.get_params().items():
            if self._parameter_constraints[name] == ["array-like"] and (name != "sigmas" or len(value)):
                check_all_positive(self, name)
        seed = seed_of(random_state)
        fold_of_row, n_folds = check_folds(self.cv, table.n_rows, target)
        target_sigma = 1.0
        if not target.is_classification:
            target_sigma = self.target_sigma_factor * target.median_distance(np.random.default_rng(seed))
        return DensityRatioProblem(
            table,
            target,
            seed=seed,
            n_basis=self.n_basis,
            centers=self.centers,
            fold_of_row=fold_of_row,
            draw_class=self._draw_class(),
            draw_options={"n_folds": n_folds, "grid": self._grid(), "target_sigma": target_sigma},
            # Rows that must be left out in one fold are not left out one by one.
            scorer_class=self._scorer_class() if fold_of_row is None else None,
            best_loss=self._best_loss(target) if fold_of_row is None else -math.inf,
            offset=self.offset if self.score_by == "cross_validation" else None,
        )

    def _scorer_class(self) -> Any:
        """Compares sets of features in a weighting; None compares them by the cross-validation score."""
        return None

    def _best_loss(self, target: Target) -> float:
        """A lower bound on the loss of any set."""
        return -math.inf


class DensityRatioProblem(MeasureProblem):
    """The measure bound to data: makes draws of centres and folds."""

    neighbours_are_exact = False

    def __init__(
        self,
        table: RowTable,
        target: Target,
        *,
        seed: int,
        n_basis: int,
        centers: str,
        fold_of_row: HostArray | None,
        draw_class: type[DensityRatioDraw],
        draw_options: dict[str, Any],
        scorer_class: Any,
        best_loss: float,
        offset: float | None,
    ) -> None:
        super().__init__(table, target)
        self.seed = seed
        self.n_basis = n_basis
        self.centers = centers
        self.best_loss = best_loss
        self._fold_of_row = fold_of_row
        self._scorer_class = scorer_class
        self._offset = offset
        self._draw_class = draw_class
        self._draw_options = draw_options
        #: Rows to draw kernel centres from: those of a sample of the rows, which are in memory.
        self._known_rows: HostArray | None = None
        self._idle: list[DensityRatioDraw] = []
        self._models: dict[tuple[int, ...], Model] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Draws have buffers, and can be made again: they are not pickled."""
        return {**vars(self), "_idle": []}

    def rng(self, *key: int) -> np.random.Generator:
        """A generator of its own for every key."""
        return np.random.default_rng((self.seed, *key))

    def draws(self, keys: Sequence[tuple[int, ...]]) -> DensityRatioDraw:
        """A batch of draws of centres and folds, each of which depends on its key alone.

        Parameters
        ----------
        keys : sequence of tuple of int

        Returns
        -------
        draws : DensityRatioDraw
        """
        centers, folds = [], []
        for key in keys:
            rng = self.rng(0, *key)
            centers.append(self._draw_centers(rng))
            n_folds = self._draw_options["n_folds"]
            given = self._fold_of_row
            folds.append(stratified_folds(self.target.codes, n_folds, rng) if given is None else given)
        most = max(each.shape[1] for each in centers)
        padded = [np.pad(c, ((0, 0), (0, most - c.shape[1])), constant_values=-1) for c in centers]
        return self._draw_class(
            self.table,
            self.target,
            centers=np.stack(padded),
            fold_of_row=np.stack(folds),
            **self._draw_options,
        )

    def _draw_centers(self, rng: np.random.Generator) -> HostArray:
        draw_centers = uniform_centers if self.centers == "uniform" else balanced_centers
        known = self._known_rows
        codes = self.target.codes if known is None else self.target.codes[known]
        centers = draw_centers(codes, self.n_basis, rng)
        return centers if known is None else np.where(centers < 0, -1, known[centers])

    def batch_size(self) -> int:
        """How many draws are worth working on at once.

        Returns
        -------
        int
        """
        if not self._draw_class.is_batched:
            return 1
        n_centers = max(self.n_basis, int(self.target.codes.max()) + 1)
        # Columns three times, and rows by centres half a dozen times, are in memory in a step.
        numbers = self.table.n_rows * (3 * self.table.n_columns + 6 * n_centers)
        return self.table.batch_size(self.table.resources.number_bytes * numbers)

    def on_sample(self, n_rows: int) -> tuple[DensityRatioProblem, DensityRatioProblem]:
        """The problem on a sample of the rows, and the problem on all rows with centres from the sample.

        Each class or range of the target, and each fold, has its share of the sample; of rare classes more
        rows are kept, and rows are weighted accordingly.

        Parameters
        ----------
        n_rows : int

        Returns
        -------
        sample, whole : DensityRatioProblem
        """
        target = self.target
        strata = np.zeros(target.n_rows, dtype=np.intp) if self._fold_of_row is None else self._fold_of_row
        values = None if target.is_classification else target.ordered()
        rows, weights = draw_with_rare(target.codes, strata, values, n_rows, self.rng(4))
        whole, sample = copy(self), self.on_rows(rows)
        whole._known_rows, whole._idle, whole._models = rows, [], {}
        if weights is not None:
            sample.target = sample.target.weighted(weights)
        return sample, whole

    def on_rows(self, rows: HostArray) -> DensityRatioProblem:
        """The same problem on given rows, which are then in memory.

        Parameters
        ----------
        rows : numpy.ndarray of int

        Returns
        -------
        problem : DensityRatioProblem
        """
        some = copy(self)
        some.table, some.target = self.table.rows_of(rows), self.target.rows_of(rows)
        n_folds = min(self._draw_options["n_folds"], most_folds(rows.size))
        if self._fold_of_row is not None:
            folds = folds_of_part(self._fold_of_row[rows])
            # All rows of the part may be in one fold. Folds are drawn then, as without groups.
            some._fold_of_row = folds if folds.max() > 0 else None
            n_folds = int(folds.max()) + 1 if folds.max() > 0 else n_folds
        some._draw_options = {**self._draw_options, "n_folds": n_folds}
        some._known_rows, some._idle, some._models = None, [], {}
        return some

    def _with_table(self, table: Any) -> DensityRatioProblem:
        some: DensityRatioProblem = super()._with_table(table)
        some._idle, some._models = [], {}
        return some

    def loss_functions(self) -> HostArray | None:
        """Functions of the target whose unexplained variance is the loss of a set of features, (n, q)."""
        if self._scorer_class is None:
            return None
        functions, target = TargetFunctions.of(self.target, self.rng(6)), self.target
        starts = range(0, target.n_rows, MOST_VALUES)
        return np.concatenate([functions.of_rows(target.slice_of(i, i + MOST_VALUES)) for i in starts])

    def set_scorer(self, i: int) -> Any:
        """Scorer ``i`` of sets of features."""
        if self._scorer_class is None:
            return super().set_scorer(i)
        return self._scorer_class(self.table, self.target, self.n_basis, self.rng(3, i), self._known_rows)

    @contextmanager
    def _common_draw(self) -> Iterator[DensityRatioDraw]:
        """The draw that sets are scored on; threads get copies of it, because it has buffers."""
        try:
            draw = self._idle.pop()
        except IndexError:
            draw = self.draws([(0,)])
        yield draw
        self._idle.append(draw)

    def fit_set(self, columns: HostArray) -> tuple[DensityRatioDraw, tuple[Model, Fit]]:
        """Choose a model for a set of columns and fit it."""
        weights = np.ones(columns.size)
        with self._common_draw() as draw:
            cv_score, model = _selected(draw, columns)
            fit = draw.fit(weights, columns, model, cv_score)
        self._models[tuple(sorted(columns.tolist()))] = model
        return draw, (model, fit)

    def score_set(self, columns: HostArray) -> float:
        """Score of a set of columns, under the model that cross-validation selects."""
        with single_threaded_blas():
            if self._offset is None:
                _, (_, fit) = self.fit_set(columns)
                return self.score_of(fit)
            # The score of rows left out needs no fit to all rows.
            with self._common_draw() as draw:
                cv_score, model = _selected(draw, columns)
        self._models[tuple(sorted(columns.tolist()))] = model
        return self._offset - cv_score

    def score_of(self, fit: Fit) -> float:
        """Score of a fit, by the estimate or by cross-validation."""
        return fit.value if self._offset is None else self._offset - fit.cv_score

    def score_each(self, columns: HostArray) -> HostArray:
        """Score of every column alone."""
        return np.array([self.score_set(columns[i : i + 1]) for i in range(columns.size)])

    def score_additions(self, columns: HostArray, others: HostArray) -> HostArray:
        """Scores of the set with each of the others, under one model for all."""
        return self._score_neighbours(columns, others, 1)

    def score_removals(self, columns: HostArray, members: HostArray) -> HostArray:
        """Scores of the set without each of some of its members, under one model for all."""
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
            # The set was scored in another process, with the same model.
            self._models[key] = _selected(draw, columns).model
        model = self._models[key]
        sigma = model.sigma * math.sqrt(max(columns.size + sign, 1) / columns.size)
        return Model(sigma, min(model.regularization, SCREENING_REGULARIZATION))


def _selected(draw: DensityRatioDraw, columns: HostArray) -> ScoredModel:
    """The model of a set of columns."""
    weights = np.ones(columns.size)
    return draw.refine_model(weights, columns, draw.select_model(weights, columns))


@dataclass(frozen=True)
class DensityRatioEstimate:
    """A fitted density ratio, and the estimate of the measure.

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
        Added to the sum of kernels, by class.
    centers : numpy.ndarray of shape (n_centers, n_features)
        Feature values of the kernel centres, as given.
    center_targets : numpy.ndarray of shape (n_centers,) or (n_centers, n_targets)
        Their targets: class labels, or values as given; martingale residuals of a survival target.
    target_sigma : float
        Kernel width of the standardised target; 1 for classes, where it is not used.
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
        y : array-like of shape (n_pairs,) or (n_pairs, n_targets)
            Of a survival target times and events, as it was given.

        Returns
        -------
        ratio : numpy.ndarray of shape (n_pairs,)
        """
        y = _further_targets(self._target, y)
        n_targets = max(1, len(self._target.parts))
        X = np.array(to_numpy(check_pairs(X, y, self.centers.shape[1], n_targets)), dtype=np.float64)
        columns = self._table.varying
        rows = self._table.standardize(X[:, columns], columns)
        centers = self._table.standardize(self.centers[:, columns], columns)
        squared = (rows**2).sum(1)[:, None] - 2 * rows @ centers.T + (centers**2).sum(1)
        kernel = np.exp(-0.5 * np.maximum(squared, 0.0) / self.sigma**2)
        at_rows = self._target.encode(y)
        at_centers = self._target.encode(self.center_targets)
        if self._target.is_classification:
            constant = np.where(at_rows >= 0, self.constant[at_rows], 0.0)
            return np.asarray((kernel * (at_rows[:, None] == at_centers)) @ self.alpha + constant)
        n = len(X)
        squares = cdist(at_rows.reshape(n, -1), at_centers.reshape(len(self.alpha), -1), "sqeuclidean")
        ratio = (kernel * np.exp(-0.5 * squares / self.target_sigma**2)) @ self.alpha + self.constant[0]
        known = np.isfinite(at_rows.reshape(n, -1)).all(axis=1)
        return np.where(known, ratio, 0.0)


def _further_targets(target: Target, y: Any) -> HostArray:
    """Targets of further rows, as `Target.encode` takes them: (n,) or (n, t)."""
    if target.hazard is not None:
        return target.hazard.residuals(*checked_survival(*survival_columns(y)))
    if len(y):
        return plain_target(y)
    return np.empty((0, len(target.parts)) if target.parts else 0)


def _estimate_of(
    problem: DensityRatioProblem, draw: DensityRatioDraw, model: Model, fit: Fit
) -> DensityRatioEstimate:
    real = draw.centers[0].ravel() >= 0
    rows = draw.centers[0].ravel()[real]
    target = problem.target
    table, places = problem.table.locate(rows)
    n_each = draw.centers.shape[2]
    constant = fit.alpha[:, n_each:].ravel()
    return DensityRatioEstimate(
        value=fit.value,
        sigma=model.sigma,
        regularization=model.regularization,
        cv_score=fit.cv_score,
        alpha=fit.alpha[:, :n_each].ravel()[real],
        constant=constant if constant.size else np.zeros(fit.alpha.shape[0]),
        centers=to_numpy(gather(table.x, places, None)).astype(np.float64),
        center_targets=target.rows_of(rows).decoded(),
        target_sigma=draw.target_sigma,
        _table=table,
        _target=target,
    )
