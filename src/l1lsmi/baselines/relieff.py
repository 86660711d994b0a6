"""ReliefF: features that differ between near rows of different classes and agree within a class."""

from __future__ import annotations

from itertools import islice
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.utils._param_validation import Interval, StrOptions

from l1lsmi._arrays import HostArray, call_single_threaded, single_threaded_blas
from l1lsmi._base import Selector
from l1lsmi._numerics.ranking import learned_from_scores
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Table
from l1lsmi._validation.target import TASKS
from l1lsmi.baselines._neighbours import MixedColumns, row_slices, weigh_nearest

#: In regression the neighbour of rank r weighs exp(-(r / RANK_SIGMA)^2).
RANK_SIGMA = 20


class ReliefF(Selector):
    r"""Select features by how they differ between each row and its nearest rows.

    For classes (ReliefF), a feature scores by its mean difference from the nearest rows of the other
    classes, less that from the nearest rows of the same class. For a numeric target (RReliefF), it
    scores by how far differences of the feature go along with differences of the target among nearest
    rows. Near means near in all features, so that interactions are seen; redundancy is not.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, or their share strictly between 0 and 1; None selects half.
    n_neighbors : int or "all", default=10
        Nearest rows of each class that a row is compared with, or nearest rows in regression; "all" compares
        with all of them. A class with fewer rows gives all it has.
    miss_weights : {"uniform", "prior"}, default="uniform"
        How much each of the other classes counts in a row's mean difference from them: all the same, or
        :math:`p_c / (1 - p_{\text{own}})`, their share of the rows outside the own class. The same
        for two classes; not used in regression.
    discrete_threshold : int, default=10
        Values of a feature with at most so many different ones either differ or do not; those of all
        others differ by their distance over the range of the feature. In fewer than twice as
        many rows, the threshold is half the rows.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" takes labels and up to 20 different whole numbers for classes, all else for a quantity.
    n_jobs : int or None, default=None
        Blocks of rows are worked on side by side in threads; the result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        The selected features.
    ranking_ : ndarray of int, shape (n_features,)
        1 for selected features; 2, 3, ... for the others by falling score.
    scores_ : ndarray of float, shape (n_features,)
        From -1 to 1, higher is better, about 0 or less for noise; minus infinity for constant features.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    Distances are sums of the differences of all features. Rows at the same distance share the places
    that they take up among the nearest, so that scores do not depend on the order of the rows. A row that is
    alone in its class is compared with other classes only. In regression the neighbour of rank r
    weighs :math:`\exp(-(r / 20)^2)`. All pairs of rows are compared: time grows with the square of the
    number of rows, memory with the number itself.

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
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_neighbors: int | str = 10,
        miss_weights: str = "uniform",
        discrete_threshold: int = 10,
        task: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.miss_weights = miss_weights
        self.discrete_threshold = discrete_threshold
        self.task = task
        self.n_jobs = n_jobs

    def _learn(self, table: Table, target: Target, k: int) -> dict[str, Any]:
        # Class by class: the members of a class are then a slice.
        order = np.argsort(target.codes, kind="stable")
        columns = MixedColumns.of(table, order, self.discrete_threshold)
        near = table.n_rows if isinstance(self.n_neighbors, str) else self.n_neighbors
        if target.values is not None:
            y = target.values / np.ptp(target.values)
            scores = _value_scores(self._sum_blocks(_value_term, columns, y, near))
        else:
            sizes = np.bincount(target.codes)
            shares = _class_shares(sizes, self.miss_weights)
            if near >= sizes.max():
                scores = _score_against_all(columns, sizes, shares) / table.n_rows
            else:
                scores = self._sum_blocks(_class_term, columns, sizes, near, shares) / table.n_rows
        return learned_from_scores(scores, table.varying, table.n_columns, k)

    def _sum_blocks(self, term: Any, columns: MixedColumns, *arguments: Any) -> Any:
        """Add up the terms of all blocks of rows, in their order whatever ``n_jobs`` is."""
        blocks = iter(row_slices(columns.n_rows, columns.n_rows))
        total: Any = 0
        # A few at a time, as not every backend of joblib hands results out one by one.
        at_a_time = 8 * effective_n_jobs(self.n_jobs)
        with single_threaded_blas(), Parallel(n_jobs=self.n_jobs, prefer="threads") as parallel:
            while some := list(islice(blocks, at_a_time)):
                for found in parallel(
                    delayed(call_single_threaded)(term, columns, block, *arguments) for block in some
                ):
                    total = total + found
        return total


def _class_shares(class_sizes: HostArray, miss_weights: str) -> HostArray:
    """How much the difference of a row (its class) from each class counts; shares of misses add up to 1."""
    n_classes = class_sizes.size
    if miss_weights == "prior":
        shares = class_sizes / (class_sizes.sum() - class_sizes)[:, None]
    else:
        shares = np.full((n_classes, n_classes), 1 / (n_classes - 1))
    shares[np.diag_indices(n_classes)] = -1.0
    return np.asarray(shares)


def _class_term(
    columns: MixedColumns, block: slice, class_sizes: HostArray, near: int, shares: HostArray
) -> HostArray:
    distances = columns.distances(block)
    code_of_row = np.repeat(np.arange(class_sizes.size), class_sizes)[block]
    total = np.zeros(columns.values.shape[1])
    for code, (size, stop) in enumerate(zip(class_sizes, np.cumsum(class_sizes), strict=True)):
        start = stop - size
        rows, others, weights = weigh_nearest(distances[:, start:stop], np.ones(min(near, size)))
        found = np.maximum(1, np.minimum(near, size - (code_of_row == code)))
        scale = shares[code_of_row, code] / found
        total += columns.differences(rows + block.start, others + start, weights * scale[rows])
    return total


def _score_against_all(columns: MixedColumns, class_sizes: HostArray, shares: HostArray) -> HostArray:
    """What `_class_term` adds up to if every row is compared with all others."""
    found = np.maximum(1, class_sizes - np.eye(class_sizes.size))
    return np.asarray(np.einsum("jab,ab->j", columns.differences_between(class_sizes), shares / found))


def _value_term(columns: MixedColumns, block: slice, y: HostArray, near: int) -> HostArray:
    # Ranks past 6 sigma weigh less than rounding errors.
    ranks = np.arange(1, min(near, columns.n_rows - 1, 6 * RANK_SIGMA) + 1)
    rank_weights = np.exp(-((ranks / RANK_SIGMA) ** 2))
    rows, others, weights = weigh_nearest(columns.distances(block), rank_weights / rank_weights.sum())
    rows = rows + block.start
    weights = np.stack([weights, weights * np.abs(y[rows] - y[others])])
    return np.column_stack([columns.differences(rows, others, weights), weights.sum(axis=1)])


def _value_scores(sums: HostArray) -> HostArray:
    """W = N_dCdA / N_dC - (N_dA - N_dCdA) / (N - N_dC) of RReliefF; a part that is 0/0 counts nothing.

    ``sums`` holds N_dA of each column and N, then N_dCdA of each column and N_dC.
    """
    (*feature, everything), (*both, target) = sums
    along, against = np.array(both), np.array(feature) - np.array(both)
    along = along / target if target > 0 else np.zeros_like(along)
    against = against / (everything - target) if everything > target else np.zeros_like(against)
    return np.asarray(along - against)
