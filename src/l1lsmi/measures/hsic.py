"""The Hilbert-Schmidt independence criterion."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.hsic.hsic import PairedRows, some_rows
from l1lsmi._numerics.hsic.line import median_gap
from l1lsmi._numerics.model import Fit
from l1lsmi._numerics.sampling import draw_spread
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Table
from l1lsmi._validation.parameters import seed_of
from l1lsmi._validation.target import TASKS
from l1lsmi.measures._base import Measure, MeasureProblem

WIDTH = Interval(Real, 1e-6, 1e6, closed="both")


class HSIC(Measure):
    r"""Hilbert-Schmidt independence criterion between features and a target.

    The biased estimate :math:`\mathrm{tr}(KHLH)/(n-1)^2` with Gaussian kernels on the features and on a
    numeric target, and the delta kernel on classes. It sees interactions and non-linear dependence at
    the scale of the kernel, which cannot be chosen from the data by cross-validation: by default it
    is the median distance between rows. Features are standardised inside.

    Parameters
    ----------
    sigma : float or None, default=None
        Kernel width of the standardised features; None takes the median distance between rows, worked
        out anew for every set of features (over at most 2,000 rows).
    target_sigma : float or None, default=None
        Kernel width of the standardised target in regression; None takes the median distance. No part
        in it for classes.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" takes numbers with fractions, or more than 20 different whole numbers, for regression.

    Notes
    -----
    A set of features costs a visit of all pairs of rows. A single feature costs far less: a
    Gaussian kernel on a line is worked out from a polynomial series, to rounding error. All of it are sums
    over blocks of rows, or over pairs of blocks, which need not be in memory.

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

    visits_rows: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "sigma": [WIDTH, None],
        "target_sigma": [WIDTH, None],
        "task": [StrOptions(set(TASKS))],
    }

    def __init__(
        self, *, sigma: float | None = None, target_sigma: float | None = None, task: str = "auto"
    ) -> None:
        self.sigma = sigma
        self.target_sigma = target_sigma
        self.task = task

    def bind(self, table: Table, target: Target, random_state: Any = None) -> HSICProblem:
        """Tie the measure to data, for a strategy to ask.

        Parameters
        ----------
        table : Table
        target : Target
        random_state : int, RandomState instance or None
            The measure itself is not random; strategies draw their starts from it.

        Returns
        -------
        problem : MeasureProblem
        """
        self._validate_params()
        target_sigma = self.target_sigma
        if target_sigma is None:
            target_sigma = 1.0 if target.values is None else median_gap(some_rows(target.values))
        return HSICProblem(table, target, self.sigma, target_sigma, seed_of(random_state))


class HSICProblem(MeasureProblem):
    """The measure bound to data; the same for every draw."""

    best_cv_score: ClassVar[float] = -math.inf

    def __init__(
        self, table: Table, target: Target, sigma: float | None, target_sigma: float, seed: int
    ) -> None:
        super().__init__(table, target)
        self._sigmas = (sigma, target_sigma)
        self._pairs = PairedRows(table, target, sigma=sigma, target_sigma=target_sigma)
        self._seed = seed

    def draw(self, *key: int) -> PairedRows:
        """All pairs of rows: nothing about them is random."""
        return self._pairs

    def on_sample(self, n_rows: int) -> HSICProblem:
        """The same problem on some rows, each class or range of the target in proportion.

        Parameters
        ----------
        n_rows : int

        Returns
        -------
        problem : HSICProblem
        """
        return self.on_rows(draw_spread(self.target.codes, self.target.values, n_rows, self.rng(4)))

    def on_rows(self, rows: HostArray) -> HSICProblem:
        """The same problem on given rows, which are then in memory.

        Parameters
        ----------
        rows : numpy.ndarray of int

        Returns
        -------
        problem : HSICProblem
        """
        return HSICProblem(self.table.rows_of(rows), self.target.rows_of(rows), *self._sigmas, self._seed)

    def rng(self, *key: int) -> np.random.Generator:
        """A generator of its own for every key."""
        return np.random.default_rng((self._seed, *key))

    def score_of(self, fit: Fit) -> float:
        """What a fit says."""
        return fit.value

    def score_each(self, columns: HostArray) -> HostArray:
        """What every column says by itself."""
        return self._pairs.score_each(columns)

    def score_set(self, columns: HostArray) -> float:
        """What a set of columns says together."""
        return self._pairs.score_set(columns)

    def score_additions(self, columns: HostArray, others: HostArray) -> HostArray:
        """What the set says with each of the others."""
        if columns.size == 0:
            return self.score_each(others)
        return self._pairs.score_neighbours(columns, others, 1.0)

    def score_removals(self, columns: HostArray, members: HostArray) -> HostArray:
        """What the set says without each of some of its members."""
        if columns.size == 2:
            return np.array([self.score_set(columns[columns != j]) for j in members])
        return self._pairs.score_neighbours(columns, members, -1.0)
