"""What every measure shares: scores of given columns, and the tie to data that strategies work with."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.ranking import spread
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Table
from l1lsmi._validation.features import check_varying, check_xy


class MeasureProblem:
    """A measure bound to data.

    A subclass has the methods that its measure can offer; each strategy says which it needs:

    - ``score_each(columns)``: what every column says by itself;
    - ``score_set(columns)``: what a set of columns says together;
    - ``score_additions(columns, others)``, ``score_removals(columns, members)``: the same for the sets
      one column away, which may be cheaper and approximate (``neighbours_are_exact``);
    - ``draw(*key)``, ``rng(*key)``, ``best_cv_score``, ``score_of(fit)``: values and gradients in
      feature weights.

    Parameters
    ----------
    table : Table
    target : Target
    """

    #: Whether scores of neighbouring sets are those that `score_set` would give.
    neighbours_are_exact: ClassVar[bool] = True

    def __init__(self, table: Table, target: Target) -> None:
        self.table = table
        self.target = target

    @property
    def n_features(self) -> int:
        """Number of features, constant ones included."""
        return self.table.n_columns

    @property
    def columns(self) -> HostArray:
        """The features that vary."""
        return self.table.varying

    def juror(self, i: int) -> Any:
        """Judge ``i`` of sets of features in a weighting: a draw, unless there is something better.

        Parameters
        ----------
        i : int

        Returns
        -------
        juror : object
        """
        return self.draw(0, i)  # type: ignore[attr-defined]


class Measure(BaseEstimator):
    """Base of all measures: how much columns say about a target.

    A subclass has ``task`` and ``random_state`` (or no use for the latter) and says in ``bind`` what
    strategies can ask of it.
    """

    #: Whether sums over rows are all that it asks of them, so that they need not be in memory.
    visits_rows: ClassVar[bool] = False
    #: Why a strategy may find something missing; completes the sentence of the refusal.
    limits: ClassVar[str] = "use another strategy"
    task: str
    random_state: Any = None

    def bind(self, table: Table, target: Target, random_state: Any) -> Any:
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
        raise NotImplementedError

    def _problem(self, X: Any, y: Any) -> Any:
        self._validate_params()
        X, target = check_xy(X, y, self.task)
        table = Table.of(X)
        check_varying(table)
        return self.bind(table, target, self.random_state)

    def score(self, X: Any, y: Any) -> float:
        """Estimate how much all columns of X together say about y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        score : float
        """
        problem = self._problem(X, y)
        return float(problem.score_set(problem.columns))

    def score_each(self, X: Any, y: Any) -> HostArray:
        """Estimate how much every column of X by itself says about y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        scores : numpy.ndarray of shape (n_features,)
            0 for constant columns.
        """
        problem = self._problem(X, y)
        scores = np.asarray(problem.score_each(problem.columns))
        return spread(scores, problem.columns, problem.n_features, rest=0.0)
