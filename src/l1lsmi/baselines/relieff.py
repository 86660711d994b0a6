"""ReliefF: features that differ between neighbours of different classes (Kononenko, 1994)."""

from __future__ import annotations

from itertools import islice
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.utils._param_validation import Interval, StrOptions

from l1lsmi._arrays import HostArray
from l1lsmi._base import Selector
from l1lsmi._blas import call_single_threaded, single_threaded_blas
from l1lsmi._clock import check_time
from l1lsmi._numerics.ranking import learned_from_scores
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Table
from l1lsmi._validation.parameters import CATEGORICAL
from l1lsmi._validation.target import TASKS
from l1lsmi.baselines._neighbours import MixedColumns, row_slices, weighted_neighbours

#: In regression the neighbour of rank r has the weight exp(-(r / RANK_SIGMA)^2).
RANK_SIGMA = 20


class ReliefF(Selector):
    r"""Select features by their differences between each row and its nearest neighbours.

    For classes (ReliefF), the score of a feature is its mean difference from the nearest neighbours in the
    other classes, minus its mean difference from the nearest neighbours in the same class. For a numeric
    target (RReliefF), it measures how strongly differences of the feature are associated with differences of
    the target among nearest neighbours. Neighbours are near in all features, so that interactions are
    detected; redundancy is not. The score for several targets is the mean over them.

    The difference of two levels of a category is 1, or 0 if they are equal. The difference of a value from a
    missing value is its mean difference from all values of the feature; the difference of two missing values
    is the mean over all pairs of values. A category of more than 40 levels is first encoded as a number, by
    the means of the target in its levels.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, or a fraction of all features strictly between 0 and 1; None selects half.
    n_neighbors : int or "all", default=10
        Number of nearest neighbours in each class, or in all rows for regression; "all" uses all rows. If a
        class has fewer rows, all of them are used.
    miss_weights : {"uniform", "prior"}, default="uniform"
        Weights of the other classes in the mean difference of a row from their rows: equal ("uniform"), or
        :math:`p_c / (1 - p_{\text{own}})` ("prior"), the fraction of class c among the rows of the other
        classes. Both give the same scores for two classes; not used in regression.
    discrete_threshold : int, default=10
        A feature with at most this many distinct values is categorical: the difference of two values is 1, or
        0 if they are equal. For other features, it is the absolute difference of the values divided by the
        range of the feature. The threshold is at most half the number of rows.
    task : {"auto", "classification", "regression", "survival"}, default="auto"
        "auto" treats labels and up to 20 distinct integers as classes, everything else as a numeric target.
        With several targets, the task of each target is decided separately. "survival" takes times until an
        event, some of them censored, as a structured array or as columns (time, event), and uses their
        martingale residuals.
    n_jobs : int or None, default=None
        Number of threads, which process blocks of rows; the result does not depend on it.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns that are categories: names, indices or a mask. "from_dtype" takes columns of text and of
        categorical types.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        The selected features.
    ranking_ : ndarray of int, shape (n_features,)
        1 for selected features; 2, 3, ... for the others by decreasing score.
    scores_ : ndarray of float, shape (n_features,)
        From -1 to 1, higher is better, about 0 or less for noise; minus infinity for constant features.
    warnings_ : list of str
        Warnings about the data, one sentence each: for instance about columns that give away the target,
        columns that only number the rows, or copies of other columns. `fit` issues them as one warning.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has column names.

    Notes
    -----
    Distances are sums of the differences of all features. Equidistant rows get equal weights, so that
    scores do not depend on the order of the rows. The only row of a class is compared with other classes
    only. In regression the neighbour of rank r has the weight :math:`\exp(-(r / 20)^2)`. All pairs of rows
    are compared: time is quadratic in the number of rows, memory is linear.

    References
    ----------
    I. Kononenko, "Estimating attributes: analysis and extensions of RELIEF", ECML 1994.

    M. Robnik-Sikonja and I. Kononenko, "An adaptation of Relief for attribute estimation in
    regression", ICML 1997.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.baselines import ReliefF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 8))
    >>> y = X[:, 2] * X[:, 5] > 0
    >>> ReliefF(2).fit(X, y).get_support(indices=True)
    array([2, 5])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), StrOptions({"all"})],
        "miss_weights": [StrOptions({"uniform", "prior"})],
        "discrete_threshold": [Interval(Integral, 0, None, closed="left")],
        "task": [StrOptions(set(TASKS))],
        "n_jobs": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Integral, None, -1, closed="right"),
            None,
        ],
        "categorical_features": CATEGORICAL,
    }
    ranking_: HostArray
    scores_: HostArray

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_neighbors: int | str = 10,
        miss_weights: str = "uniform",
        discrete_threshold: int = 10,
        task: str = "auto",
        n_jobs: int | None = None,
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.miss_weights = miss_weights
        self.discrete_threshold = discrete_threshold
        self.task = task
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features

    def _takes_any_kind(self) -> bool:
        return True

    def _learn(self, table: Table, target: Target, k: int) -> dict[str, Any]:
        scores = np.mean([self._score(table, one) for one in target.each()], axis=0)
        return learned_from_scores(scores, table.varying, table.n_columns, k)

    def _score(self, table: Table, target: Target) -> HostArray:
        """Scores of all features for one target."""
        # Sorted by class, the rows of a class are a slice.
        order = np.argsort(target.codes, kind="stable")
        weights = None if target.row_weights is None else target.row_weights[order]
        columns = MixedColumns.of(table, order, self.discrete_threshold, weights)
        near = table.n_rows if isinstance(self.n_neighbors, str) else self.n_neighbors
        if target.values is not None:
            y = target.values / np.ptp(target.values)
            return _value_scores(self._sum_blocks(_value_term, columns, y, near, weights))
        sizes = np.bincount(target.codes)
        class_weights = _class_weights(np.bincount(target.codes, target.row_weights), self.miss_weights)
        if near >= sizes.max():
            return _score_against_all(columns, sizes, class_weights, weights) / target.weight
        arguments = (sizes, near, class_weights, weights)
        return np.asarray(self._sum_blocks(_class_term, columns, *arguments) / target.weight)

    def _sum_blocks(self, term: Any, columns: MixedColumns, *arguments: Any) -> Any:
        """Sum the terms of all blocks of rows, in the same order for every ``n_jobs``."""
        blocks = iter(row_slices(columns.n_rows, columns.n_rows))
        total: Any = 0
        # In batches, because not every backend of joblib returns results one by one.
        batch_size = 8 * effective_n_jobs(self.n_jobs)
        with single_threaded_blas(), Parallel(n_jobs=self.n_jobs, prefer="threads") as parallel:
            while batch := list(islice(blocks, batch_size)):
                check_time()
                for result in parallel(
                    delayed(call_single_threaded)(term, columns, block, *arguments) for block in batch
                ):
                    total = total + result
        return total


def _class_weights(class_sizes: HostArray, miss_weights: str) -> HostArray:
    """Weights of the differences between two classes: -1 within a class, with the sum 1 over the others."""
    n_classes = class_sizes.size
    if miss_weights == "prior":
        class_weights = class_sizes / (class_sizes.sum() - class_sizes)[:, None]
    else:
        class_weights = np.full((n_classes, n_classes), 1 / (n_classes - 1))
    class_weights[np.diag_indices(n_classes)] = -1.0
    return np.asarray(class_weights)


def _class_term(
    columns: MixedColumns,
    block: slice,
    class_sizes: HostArray,
    near: int,
    class_weights: HostArray,
    row_weights: HostArray | None,
) -> HostArray:
    distances = columns.distances(block)
    code_of_row = np.repeat(np.arange(class_sizes.size), class_sizes)[block]
    total = np.zeros(columns.values.shape[1])
    for code, (size, stop) in enumerate(zip(class_sizes, np.cumsum(class_sizes), strict=True)):
        start = stop - size
        rows, others, weights = weighted_neighbours(distances[:, start:stop], np.ones(min(near, size)))
        found = np.maximum(1, np.minimum(near, size - (code_of_row == code)))
        scale = class_weights[code_of_row, code] / found
        if row_weights is not None:
            weights = _with_row_weights(rows, weights, row_weights[start:stop][others], row_weights[block])
        total += columns.differences(rows + block.start, others + start, weights * scale[rows])
    return total


def _with_row_weights(
    rows: HostArray, weights: HostArray, of_others: HostArray, of_rows: HostArray
) -> HostArray:
    """Weights of neighbours in proportion to those of their rows, with the same sum, times those of the rows.

    Parameters
    ----------
    rows : numpy.ndarray of int, shape (pairs,)
        Row of every pair.
    weights : numpy.ndarray of shape (pairs,)
        Weights of the neighbours by their ranks.
    of_others : numpy.ndarray of shape (pairs,)
        Weights of the neighbours as rows.
    of_rows : numpy.ndarray of shape (rows,)
    """
    before = np.bincount(rows, weights, of_rows.size)
    after = np.bincount(rows, weights * of_others, of_rows.size)
    factor = of_rows * before / np.where(after > 0, after, 1.0)
    return np.asarray(weights * of_others * factor[rows])


def _score_against_all(
    columns: MixedColumns, class_sizes: HostArray, class_weights: HostArray, row_weights: HostArray | None
) -> HostArray:
    """Sum of `_class_term` over all blocks if every row is compared with all others."""
    if row_weights is not None:
        member = np.repeat(np.eye(class_sizes.size), class_sizes, axis=0)
        of_class = row_weights @ member
        # Beside itself a row has this weight of its own class; if it is the only one, there is no difference.
        others = member @ of_class - row_weights
        alone = np.repeat(class_sizes == 1, class_sizes)
        within = row_weights / np.where(alone, 1.0, others)
        right = member * row_weights[:, None]
        between = columns.weighted_differences_between(right, right) / of_class
        own = columns.weighted_differences_between(member * within[:, None], right)
        each = np.where(np.eye(class_sizes.size, dtype=bool), own, between)
        return np.asarray(np.einsum("jab,ab->j", each, class_weights))
    found = np.maximum(1, class_sizes - np.eye(class_sizes.size))
    return np.asarray(np.einsum("jab,ab->j", columns.differences_between(class_sizes), class_weights / found))


def _value_term(
    columns: MixedColumns, block: slice, y: HostArray, near: int, row_weights: HostArray | None
) -> HostArray:
    # The weights of ranks above 6 sigma are below rounding errors.
    ranks = np.arange(1, min(near, columns.n_rows - 1, 6 * RANK_SIGMA) + 1)
    rank_weights = np.exp(-((ranks / RANK_SIGMA) ** 2))
    rows, others, weights = weighted_neighbours(columns.distances(block), rank_weights / rank_weights.sum())
    if row_weights is not None:
        weights = _with_row_weights(rows, weights, row_weights[others], row_weights[block])
    rows = rows + block.start
    weights = np.stack([weights, weights * np.abs(y[rows] - y[others])])
    return np.column_stack([columns.differences(rows, others, weights), weights.sum(axis=1)])


def _value_scores(sums: HostArray) -> HostArray:
    """W = N_dCdA / N_dC - (N_dA - N_dCdA) / (N - N_dC) of RReliefF, where 0/0 is 0.

    ``sums`` contains N_dA of each column and N, then N_dCdA of each column and N_dC.
    """
    (*feature, everything), (*both, target) = sums
    along, against = np.array(both), np.array(feature) - np.array(both)
    along = along / target if target > 0 else np.zeros_like(along)
    against = against / (everything - target) if everything > target else np.zeros_like(against)
    return np.asarray(along - against)
