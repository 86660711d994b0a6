"""Pearson correlation, the measure that looks at one column at a time."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._numerics.correlation import correlation_of_values, correlation_with_target
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import RowTable, is_sparse_table
from l1lsmi._validation.parameters import check_scores_sets
from l1lsmi._validation.target import TASKS
from l1lsmi.measures._base import Measure, MeasureProblem

#: Values of a sparse table that are dense at a time.
DENSE_VALUES = 2**22


class Pearson(Measure):
    r"""Absolute Pearson correlation of a column with the target.

    For classes, the correlations with the class indicators, weighted by the shares of the classes:
    :math:`\sum_c p_c\,|\rho(X_j, 1[y = c])|`. It detects linear dependence only, and scores columns one at a
    time: the score of several columns is the mean of their scores, and the score for several targets is the
    mean over the targets. For a category it is the correlation ratio, the correlation with the means of the
    target in its levels; missing values are left out.

    Parameters
    ----------
    task : {"auto", "classification", "regression", "survival"}, default="auto"
        "auto" means regression if the target has fractions or more than 20 different whole numbers, and
        classification otherwise. With several targets, the task of each target is decided separately.
        "survival" takes times until an event, some of them censored, as a structured array or as columns
        (time, event), and uses their martingale residuals.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.measures import Pearson
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0]])
    >>> Pearson().score_each(X, [0.1, 1.1, 2.1, 3.1])
    array([1., 0.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"task": [StrOptions(set(TASKS))]}
    limits = (
        "it scores one feature at a time, and the score of a set is only the mean over its features; "
        "use Ranking, or a measure of sets"
    )

    def __init__(self, *, task: str = "auto") -> None:
        self.task = task

    def score(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> float:
        """Mean of the absolute correlations of the columns of X with y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows: a row of weight 2 counts as two copies of it. None is 1.
        covariates : None
            Not supported: columns are scored one at a time.

        Returns
        -------
        score : float
        """
        if covariates is not None:
            check_scores_sets(self)
        return float(np.mean(self.score_each(X, y, sample_weight)))

    def bind(self, table: RowTable, target: Target, random_state: Any = None) -> PearsonProblem:
        """Bind the measure to data, for a strategy to search.

        Parameters
        ----------
        table : RowTable
        target : Target
        random_state : None
            Nothing is drawn at random.

        Returns
        -------
        problem : MeasureProblem
        """
        return PearsonProblem(table, target)


class PearsonProblem(MeasureProblem):
    """The measure bound to data: only scores of single columns."""

    def score_each(self, columns: HostArray) -> HostArray:
        """Score of every column alone."""
        table, rows = self.table.locate(np.arange(self.table.n_rows))
        kinds = table.kinds
        if kinds is not None:
            found = np.empty(columns.size)
            plain = kinds.is_plain[columns]
            if plain.any():
                x = to_numpy(table.take(rows, columns[plain]))
                found[plain] = correlation_with_target(x, self.target)
            for i in np.flatnonzero(~plain):
                x = to_numpy(table.x[:, int(columns[i])])
                found[i] = correlation_of_values(x, int(kinds.n_levels[columns[i]]), self.target)
            return found
        # A few columns at a time: a wide table is never copied whole, nor a long sparse one.
        n_parts = max(1, columns.size // 1000)
        if is_sparse_table(table):
            n_parts = max(n_parts, min(columns.size, columns.size * table.n_rows // DENSE_VALUES))
        parts = np.array_split(columns, n_parts)
        return np.concatenate(
            [correlation_with_target(to_numpy(table.take(rows, part)), self.target) for part in parts]
        )
