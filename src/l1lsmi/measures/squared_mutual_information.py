"""Squared-loss mutual information, estimated by a least-squares density ratio (LSMI)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from l1lsmi.arrays import Array, HostArray, is_foreign, steady_blas, to_numpy
from l1lsmi.numerics.least_squares_ratio import LeastSquaresDraw
from l1lsmi.numerics.model import Fit, Grid, Model
from l1lsmi.numerics.sampling import balanced_centers, uniform_centers
from l1lsmi.numerics.target import Target
from l1lsmi.rows import Table, standardize
from l1lsmi.validation import (
    TASKS,
    check_all_positive,
    check_folds,
    check_pairs,
    check_varying,
    check_xy,
    seed_of,
)

__all__ = ["SquaredMutualInformation", "SquaredMutualInformationEstimate"]

# The candidates of the paper's experiments with artificial data.
SIGMA_FACTORS = (0.2, 0.5, 1.0, 2.0, 5.0)
SIGMAS = tuple(factor / math.sqrt(2) for factor in SIGMA_FACTORS)
REGULARIZATIONS = tuple(10.0 ** (-4 + 1.25 * i) for i in range(5))


class SquaredMutualInformation(BaseEstimator):
    r"""Squared-loss mutual information between features and a target.

    .. math:: I_s = \frac12 \iint \Big(\frac{p(x, y)}{p(x)p(y)} - 1\Big)^2 p(x)p(y)\,dx\,dy

    It is zero exactly when features and target are independent, and it sees interactions and
    non-linear dependence. The density ratio is fitted directly, as a sum of kernels around some of
    the rows, by regularised least squares; the kernel width and the regularization are chosen by
    cross-validation: the best candidates first, then a walk from there for as long as the score
    falls. Features are standardised inside.

    Parameters
    ----------
    n_basis : int, default=100
        Number of kernel centres, drawn from the rows.
    centers : {"balanced", "uniform"}, default="balanced"
        "balanced" draws as evenly over the classes as they allow; "uniform" draws from all rows alike,
        as the paper does.
    cv : int or splitter, default=5
        Number of folds, stratified for classes; or a splitter whose test parts cover every row once
        (its training parts are not used).
    sigma_factors : sequence of float, default=(0.2, 0.5, 1, 2, 5)
        Candidate kernel widths over the median distance between (weighted) centres.
    sigmas : sequence of float, default=(0.2, 0.5, 1, 2, 5) over the root of 2
        Further candidates, absolute.
    regularizations : sequence of float, default=5 values from 1e-4 to 10
        Candidate regularizations.
    target_sigma_factor : float, default=1.0
        For regression, the kernel width of the target over the median distance of its values (of
        400 of them where there are more).
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" takes numbers with fractions, or more than 20 different whole numbers, for regression.
    random_state : int, RandomState instance or None, default=None
        Draws the centres and the folds.

    Examples
    --------
    Neither input of an exclusive or says anything alone; together they say everything, and no
    measurement of two classes can exceed 1/2.

    >>> import numpy as np
    >>> from l1lsmi.measures import SquaredMutualInformation
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(400, 2))
    >>> y = X[:, 0] ^ X[:, 1]
    >>> smi = SquaredMutualInformation(random_state=0)
    >>> f"{abs(smi.score(X[:, :1], y)):.2f} {smi.score(X, y):.2f}"
    '0.00 0.50'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_basis": [Interval(Integral, 1, None, closed="left")],
        "centers": [StrOptions({"balanced", "uniform"})],
        "cv": [Interval(Integral, 2, None, closed="left"), HasMethods(["split", "get_n_splits"])],
        "sigma_factors": ["array-like"],
        "sigmas": ["array-like"],
        "regularizations": ["array-like"],
        "target_sigma_factor": [Interval(Real, 1e-6, 1e6, closed="both")],
        "task": [StrOptions(set(TASKS))],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_basis: int = 100,
        centers: str = "balanced",
        cv: Any = 5,
        sigma_factors: Sequence[float] = SIGMA_FACTORS,
        sigmas: Sequence[float] = SIGMAS,
        regularizations: Sequence[float] = REGULARIZATIONS,
        target_sigma_factor: float = 1.0,
        task: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_basis = n_basis
        self.centers = centers
        self.cv = cv
        self.sigma_factors = sigma_factors
        self.sigmas = sigmas
        self.regularizations = regularizations
        self.target_sigma_factor = target_sigma_factor
        self.task = task
        self.random_state = random_state

    def score(self, X: Any, y: Any) -> float:
        """Estimate the squared-loss mutual information of all columns of X with y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        smi : float
        """
        return self.estimate(X, y).value

    def estimate(self, X: Any, y: Any) -> SquaredMutualInformationEstimate:
        """Fit the density ratio and keep everything about it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        estimate : SquaredMutualInformationEstimate
        """
        self._validate_params()
        X, target = check_xy(X, y, self.task)
        with steady_blas():
            problem = self.bind(Table.of(X), target, self.random_state)
            draw = problem.draw(0)
            weights = np.ones(problem.columns.size)
            judgement = draw.choose_model(weights, problem.columns)
            judgement = draw.refine_model(weights, problem.columns, judgement)
            fit = draw.fit(weights, problem.columns, judgement.model)
        return _estimate_of(problem, draw, judgement.model, fit)

    def bind(self, table: Table, target: Target, random_state: Any) -> SquaredMutualInformationProblem:
        """Tie the measure to data, for a strategy to ask.

        Parameters
        ----------
        table : Table
        target : Target
        random_state : int, RandomState instance or None
        """
        self._validate_params()
        for name in ("sigma_factors", "sigmas", "regularizations"):
            check_all_positive(self, name)
        check_varying(table)
        seed = seed_of(random_state)
        rng = np.random.default_rng(seed)
        fold_of_row, n_folds = check_folds(self.cv, table.n_rows, target)
        return SquaredMutualInformationProblem(
            table,
            target,
            n_basis=self.n_basis,
            centers=self.centers,
            n_folds=n_folds,
            fold_of_row=fold_of_row,
            grid=Grid(tuple(self.sigma_factors), tuple(self.sigmas), tuple(self.regularizations)),
            target_sigma=1.0
            if target.is_classification
            else self.target_sigma_factor * target.median_distance(rng),
            seed=seed,
        )


@dataclass(frozen=True)
class SquaredMutualInformationProblem:
    """The measure bound to data: hands out draws of centres and folds.

    ``best_cv_score`` is a lower bound on the cross-validation score of any set: with C classes the
    measure is at most (C - 1) / 2, and the score estimates minus the measure less 1/2.
    """

    table: Table
    target: Target
    n_basis: int
    centers: str
    n_folds: int
    fold_of_row: HostArray | None
    grid: Grid
    target_sigma: float
    seed: int

    @property
    def n_features(self) -> int:
        return self.table.n_columns

    @property
    def columns(self) -> HostArray:
        return self.table.varying

    @property
    def best_cv_score(self) -> float:
        return -self.target.classes.size / 2 if self.target.classes is not None else -math.inf

    def rng(self, *key: int) -> np.random.Generator:
        """A generator of its own for every key."""
        return np.random.default_rng((self.seed, *key))

    def draw(self, *key: int) -> LeastSquaresDraw:
        """Centres and folds that depend on the key alone."""
        rng = self.rng(0, *key)
        if self.centers == "uniform":
            centers = uniform_centers(self.target.codes, self.n_basis, rng)
        else:
            centers = balanced_centers(self.target.codes, self.n_basis, rng)
        return LeastSquaresDraw(
            self.table,
            self.target,
            centers=centers,
            n_folds=self.n_folds,
            fold_of_row=self.fold_of_row,
            grid=self.grid,
            target_sigma=self.target_sigma,
            rng=rng,
        )


@dataclass(frozen=True)
class SquaredMutualInformationEstimate:
    """A fitted density ratio and what it says.

    Attributes
    ----------
    value : float
        The estimate of the squared-loss mutual information.
    sigma, regularization : float
        Chosen by cross-validation; sigma is in units of the standardised features.
    cv_score : float
        Their cross-validation score, lower is better; minus it, less 1/2, estimates the measure too.
    alpha : numpy.ndarray of shape (n_centers,)
        Coefficients of the kernels.
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
        at_rows = self._target.encode(y)[:, None]
        at_centers = self._target.encode(self.center_targets)
        if self._target.is_classification:
            return np.asarray((kernel * (at_rows == at_centers)) @ self.alpha)
        target_kernel = np.exp(-0.5 * ((at_rows - at_centers) / self.target_sigma) ** 2)
        return np.asarray((kernel * target_kernel) @ self.alpha)


def _estimate_of(
    problem: SquaredMutualInformationProblem,
    draw: LeastSquaresDraw,
    model: Model,
    fit: Fit,
) -> SquaredMutualInformationEstimate:
    real = draw.centers.ravel() >= 0
    rows = draw.centers.ravel()[real]
    table, target = problem.table, problem.target
    if target.classes is not None:
        center_targets = target.classes[target.codes[rows]]
    else:
        assert target.values is not None
        center_targets = target.values[rows] * target.scale + target.mean
    return SquaredMutualInformationEstimate(
        value=fit.value,
        sigma=model.sigma,
        regularization=model.regularization,
        cv_score=fit.cv_score,
        alpha=fit.alpha.ravel()[real],
        centers=to_numpy(table.x)[rows].astype(np.float64),
        center_targets=center_targets,
        target_sigma=draw.target_sigma,
        _table=table,
        _target=target,
    )
