"""The Hilbert-Schmidt independence criterion."""

from __future__ import annotations

from copy import copy
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.hsic.hsic import PairedRows, some_rows
from l1lsmi._numerics.hsic.line import median_gap
from l1lsmi._numerics.residual_target import residual_target
from l1lsmi._numerics.sampling import draw_with_rare
from l1lsmi._numerics.target import Target
from l1lsmi._rows.medians import weighted_median_distance
from l1lsmi._rows.table import RowTable
from l1lsmi._validation.parameters import seed_of
from l1lsmi._validation.target import TASKS
from l1lsmi.measures._base import TAILS, Measure, WeightableProblem

#: Kernel width of residuals with variance 1: nearly their product, so that means alone count. How far
#: residuals spread may depend on covariates.
NEARLY_LINEAR = 10.0
WIDTH = Interval(Real, 1e-6, 1e6, closed="both")


class HSIC(Measure):
    r"""Hilbert-Schmidt independence criterion between features and a target.

    The biased estimate :math:`\mathrm{tr}(KHLH)/(n-1)^2` with Gaussian kernels on the features and on a
    numeric target, and the delta kernel on classes. It detects interactions and non-linear dependence at the
    scale of the kernel width, which cannot be chosen by cross-validation: by default it is the median
    distance between rows. Features are standardised internally.

    With covariates, the target is replaced by residuals: class indicators, or smooth functions of a numeric
    target, minus their kernel regressions on the covariates. The kernel on the residuals has a fixed width.
    Without this, copies of covariates would increase the criterion.

    Parameters
    ----------
    sigma : float or None, default=None
        Kernel width of the standardised features; None takes the median distance between rows, computed for
        every set of features (over at most 2,000 rows).
    target_sigma : float or None, default=None
        Kernel width of the standardised target in regression; None takes the median distance. Not
        used for classes.
    task : {"auto", "classification", "regression", "survival"}, default="auto"
        "auto" means regression if the target has fractions or more than 20 different whole numbers, and
        classification otherwise. With several targets, the task of each target is decided separately.
        "survival" takes times until an event, some of them censored, as a structured array or as columns
        (time, event), and uses their martingale residuals.
    tails : {"clip", "keep"}, default="clip"
        "clip" clips columns with heavy tails before they are standardised, at three standard deviations of
        the clipped values, and scales down columns in which most values are equal; other columns are not
        changed. "keep" changes no columns.

    Notes
    -----
    The score of a set of features is a sum over all pairs of rows. A single feature takes far less time: a
    one-dimensional Gaussian kernel is computed from a polynomial series, exact to rounding error. All
    computations are sums over blocks of rows, or over pairs of blocks, which need not be in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.measures import HSIC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X[:, 1] ** 2
    >>> int(np.argmax(HSIC().score_each(X, y)))
    1
    """

    supports_out_of_core: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "sigma": [WIDTH, None],
        "target_sigma": [WIDTH, None],
        "task": [StrOptions(set(TASKS))],
        "tails": TAILS,
    }

    def __init__(
        self,
        *,
        sigma: float | None = None,
        target_sigma: float | None = None,
        task: str = "auto",
        tails: str = "clip",
    ) -> None:
        self.sigma = sigma
        self.target_sigma = target_sigma
        self.task = task
        self.tails = tails

    def bind(self, table: RowTable, target: Target, random_state: Any = None) -> HSICProblem:
        """Bind the measure to data, for a strategy to search.

        Parameters
        ----------
        table : RowTable
        target : Target
        random_state : int, RandomState instance or None
            Seed of the starts that strategies draw; the measure itself is not random.

        Returns
        -------
        problem : MeasureProblem
        """
        self._validate_params()
        table = self._scaled(table, target)
        target_sigma = self.target_sigma
        if target_sigma is None:
            target_sigma = 1.0 if target.values is None else _median_distance(target)
        return HSICProblem(table, target, self.sigma, target_sigma, seed_of(random_state))


def _median_distance(target: Target) -> float:
    """Median distance between the values of two rows, over the pairs of a sample."""
    some = target.rows_of(some_rows(np.arange(target.n_rows)))
    if some.row_weights is None and some.columns.shape[1] == 1:
        return median_gap(some.columns[:, 0])
    weights = np.ones(some.n_rows) if some.row_weights is None else some.row_weights
    return weighted_median_distance(some.columns, weights)


class HSICProblem(WeightableProblem):
    """HSIC bound to data. Nothing in it is random: all draws are the same."""

    def __init__(
        self, table: RowTable, target: Target, sigma: float | None, target_sigma: float, seed: int
    ) -> None:
        self._pairs = PairedRows(table, target, sigma=sigma, target_sigma=target_sigma)
        super().__init__(table, target, self._pairs, seed)
        self._covariates: HostArray | None = None
        self._seed = seed
        self._sigmas = (sigma, target_sigma)

    def beside(self, covariates: HostArray) -> HSICProblem:
        """The same problem, with the kernel of the residuals of the target given covariates.

        Parameters
        ----------
        covariates : numpy.ndarray of shape (n, q)

        Returns
        -------
        problem : HSICProblem
        """
        other = copy(self)
        left = residual_target(self.target, covariates)
        other._pairs = PairedRows(self.table, left, sigma=self._sigmas[0], target_sigma=NEARLY_LINEAR)
        other._draws, other._covariates = other._pairs, covariates
        return other

    def on_sample(self, n_rows: int) -> tuple[HSICProblem, HSICProblem]:
        """The problem on a sample of the rows, stratified by the target, and this problem.

        Parameters
        ----------
        n_rows : int

        Returns
        -------
        sample, whole : HSICProblem
        """
        target = self.target
        values = None if target.is_classification else target.ordered()
        one_stratum = np.zeros(target.n_rows, dtype=np.intp)
        rows, weights = draw_with_rare(target.codes, one_stratum, values, n_rows, self.rng(4))
        some = target.rows_of(rows)
        some = some if weights is None else some.weighted(weights)
        return self._with(self.table.rows_of(rows), some, rows), self

    def on_rows(self, rows: HostArray) -> HSICProblem:
        """The same problem on given rows, which are then in memory.

        Parameters
        ----------
        rows : numpy.ndarray of int

        Returns
        -------
        problem : HSICProblem
        """
        return self._with(self.table.rows_of(rows), self.target.rows_of(rows), rows)

    def _with(self, table: RowTable, target: Target, rows: HostArray) -> HSICProblem:
        other = HSICProblem(table, target, *self._sigmas, self._seed)
        other = other if self._covariates is None else other.beside(self._covariates[rows])
        other._restricted_to = self._restricted_to
        return other

    def _with_table(self, table: Any) -> HSICProblem:
        return self._with(table, self.target, np.arange(self.target.n_rows))

    def score_each(self, columns: HostArray) -> HostArray:
        """Score of every column alone."""
        return self._pairs.score_each(columns)

    def score_set(self, columns: HostArray) -> float:
        """Score of a set of columns."""
        return self._pairs.value_of_set(columns)

    def score_additions(self, columns: HostArray, others: HostArray) -> HostArray:
        """Scores of the set with each of the other columns added."""
        if columns.size == 0:
            return self.score_each(others)
        return self._pairs.score_neighbours(columns, others, 1.0)

    def score_removals(self, columns: HostArray, members: HostArray) -> HostArray:
        """Scores of the set with each of the given members removed."""
        if columns.size == 2:
            return np.array([self.score_set(columns[columns != j]) for j in members])
        return self._pairs.score_neighbours(columns, members, -1.0)
