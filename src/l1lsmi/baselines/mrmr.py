"""Minimum redundancy, maximum relevance (Peng, Long and Ding, 2005)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.utils._param_validation import Interval, StrOptions

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._base import Selector
from l1lsmi._clock import check_time
from l1lsmi._numerics.correlation import Whitened, correlation_between, f_statistic
from l1lsmi._numerics.discrete import States, discretise, discretise_any, is_discrete
from l1lsmi._numerics.ranking import rank, scatter
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Table, is_sparse_table
from l1lsmi._sparse import FEW_VALUES
from l1lsmi._validation.parameters import CATEGORICAL, check_numbers_only, seed_of
from l1lsmi._validation.target import TASKS
from l1lsmi.baselines._columns import all_columns, column_pieces, columns_of_any_kind, score_columns
from l1lsmi.baselines._neighbour_information import weighted_information

#: Default redundancy of each relevance.
DEFAULT_REDUNDANCY = {"discretised": "discretised", "knn": "knn", "f": "correlation"}
#: Lower limit of redundancies in quotients.
MIN_REDUNDANCY = 1e-3
#: Relative difference below which two scores are equal.
TOLERANCE = 1e-11
N_NEIGHBORS = 3

# Redundancy of every column with the given one.
Redundancy = Callable[[int], HostArray]


class MRMR(Selector):
    r"""Select features greedily by minimum redundancy and maximum relevance (mRMR).

    The first feature is the most relevant to the target. Each further one maximises the difference or the
    quotient of its relevance and its mean redundancy with the features selected so far. Only pairs of
    features are considered, so that interactions are not detected. Features are standardised internally;
    constant ones come last.

    With ``relevance="discretised"``, features may be categories and may have missing values. The levels of a
    category are its states, and "missing" is one more state. A category of more than 40 levels is first
    encoded as a number, by the means of the target in its levels.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, or a fraction of all features strictly between 0 and 1; None selects half.
    scheme : {"difference", "quotient"}, default="difference"
        "difference" is relevance minus mean redundancy; "quotient" is relevance over mean redundancy,
        where each redundancy is at least 0.001.
    relevance : {"discretised", "knn", "f"}, default="discretised"
        "discretised" is the plug-in estimate of the mutual information of states, in nats; "knn" is
        scikit-learn's nearest-neighbour estimate of the mutual information, which is slow; "f" is the F
        statistic.
    redundancy : {"auto", "discretised", "knn", "correlation"}, default="auto"
        "discretised" and "knn" are as for the relevance; "correlation" is the absolute Pearson correlation.
        "auto" is "correlation" for ``relevance="f"`` and otherwise the same as the relevance.
    n_bins : int or None, default=None
        Number of states of a discretised feature or target: bins with equal numbers of rows. None is three
        states: below, within and above one standard deviation around the mean. A feature or target is not
        discretised if it has at most 10 distinct values and there are at least twice as many rows.
    task : {"auto", "classification", "regression", "survival"}, default="auto"
        "auto" treats labels and up to 20 distinct integers as classes, everything else as a numeric target.
        With several targets, the task of each target is decided separately. "survival" takes times until an
        event, some of them censored, as a structured array or as columns (time, event), and uses their
        martingale residuals.
    random_state : int, RandomState instance or None, default=None
        Seed of the small noise by which "knn" separates equal values; nothing else is random.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns that are categories: names, indices or a mask. "from_dtype" takes columns of text and of
        categorical types. Only for ``relevance="discretised"`` without ``redundancy="knn"``.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        The selected features.
    order_ : ndarray of int, shape (n_selected,)
        The selected features in the order of their selection.
    relevance_ : ndarray of float, shape (n_features,)
        Relevance of every feature; 0 for constant ones.
    scores_ : ndarray of float, shape (n_features,)
        Difference or quotient of relevance and redundancy: for a selected feature, its value when the feature
        was selected; for the others, the value after the last selection. Minus infinity for constant
        features.
    ranking_ : ndarray of int, shape (n_features,)
        1 for selected features; 2 for the next one, and so on by decreasing score.
    warnings_ : list of str
        Warnings about the data, one sentence each: for instance about columns that give away the target,
        columns that only number the rows, or copies of other columns. `fit` issues them as one warning.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has column names.

    References
    ----------
    .. [1] H. Peng, F. Long and C. Ding, "Feature selection based on mutual information: criteria of
       max-dependency, max-relevance, and min-redundancy", IEEE Transactions on Pattern Analysis and
       Machine Intelligence 27, 2005.
    .. [2] C. Ding and H. Peng, "Minimum redundancy feature selection from microarray gene expression
       data", Journal of Bioinformatics and Computational Biology 3, 2005.

    Examples
    --------
    A copy of the best feature is relevant, but redundant.

    >>> import numpy as np
    >>> from l1lsmi.baselines import MRMR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 6))
    >>> X[:, 3] = X[:, 1] + 0.1 * rng.normal(size=300)
    >>> y = 2 * X[:, 1] + X[:, 4] > 0
    >>> MRMR(2).fit(X, y).order_
    array([1, 4])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "scheme": [StrOptions({"difference", "quotient"})],
        "relevance": [StrOptions(set(DEFAULT_REDUNDANCY))],
        "redundancy": [StrOptions({"auto", *DEFAULT_REDUNDANCY.values()})],
        "n_bins": [Interval(Integral, 2, None, closed="left"), None],
        "task": [StrOptions(set(TASKS))],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL,
    }
    order_: HostArray
    relevance_: HostArray
    scores_: HostArray
    ranking_: HostArray

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        scheme: str = "difference",
        relevance: str = "discretised",
        redundancy: str = "auto",
        n_bins: int | None = None,
        task: str = "auto",
        random_state: Any = None,
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.scheme = scheme
        self.relevance = relevance
        self.redundancy = redundancy
        self.n_bins = n_bins
        self.task = task
        self.random_state = random_state
        self.categorical_features = categorical_features

    def _takes_any_kind(self) -> bool:
        return bool(self.relevance == "discretised" and self.redundancy != "knn")

    def _learn(self, table: Table, target: Any, k: int) -> dict[str, Any]:
        kind = DEFAULT_REDUNDANCY[self.relevance] if self.redundancy == "auto" else self.redundancy
        if self.n_bins is not None and "discretised" not in (self.relevance, kind):
            raise ValueError(
                f"n_bins={self.n_bins!r} is not used with relevance={self.relevance!r} and "
                f"redundancy={self.redundancy!r}, which do not discretise: leave it at None."
            )
        if not self._takes_any_kind():
            cause = "relevance" if self.relevance != "discretised" else "redundancy"
            check_numbers_only(self.categorical_features, f"{cause}={getattr(self, cause)!r}")
        columns = table.varying
        parts = self._parts if table.kinds is None else self._parts_of_any_kind
        relevance, redundancy = parts(table, target, kind)
        chosen, scores = _greedy(relevance, redundancy, min(k, columns.size), self.scheme == "quotient")
        all_scores = scatter(scores, columns, table.n_columns)
        constant = np.setdiff1d(np.arange(table.n_columns), columns)
        order = np.concatenate([columns[chosen], constant[: k - chosen.size]])
        support = np.zeros(table.n_columns, dtype=bool)
        support[order] = True
        return {
            "support": support,
            "order": order,
            "relevance": scatter(relevance, columns, table.n_columns, 0.0),
            "scores": all_scores,
            "ranking": rank(support, np.round(all_scores, 12)),
        }

    def _max_dense_values(self, n_rows: int) -> int:
        # Nearest neighbours need all columns at a time.
        return super()._max_dense_values(n_rows) if "knn" in (self.relevance, self.redundancy) else FEW_VALUES

    def _parts_of_any_kind(self, table: Table, target: Target, kind: str) -> tuple[HostArray, Redundancy]:
        """`_parts` for columns that are categories or have missing values."""
        (x, n_levels), weights = columns_of_any_kind(table), target.row_weights
        states = States(discretise_any(x, n_levels, self.n_bins, weights), weights)
        relevance = _mean_over_targets(
            lambda one: states.information(_target_states(one, self.n_bins)), target
        )
        if kind == "discretised":
            return relevance, lambda j: states.information(states.codes[:, j])
        return relevance, Whitened.of(x, n_levels, weights).correlations_with

    def _parts(self, table: Table, target: Target, kind: str) -> tuple[HostArray, Redundancy]:
        """Relevance of every column, and the function that computes redundancies."""
        parts: dict[str, tuple[Any, Redundancy]] = {}
        if "discretised" in (self.relevance, kind):
            states = States(_states_of(table, self.n_bins, target.row_weights), target.row_weights)
            parts["discretised"] = (
                lambda: _mean_over_targets(
                    lambda one: states.information(_target_states(one, self.n_bins)), target
                ),
                lambda j: states.information(states.codes[:, j]),
            )
        if "knn" in (self.relevance, kind):
            neighbours = _NeighbourInformation(
                all_columns(table), target.row_weights, seed_of(self.random_state)
            )
            parts["knn"] = (
                partial(_mean_over_targets, neighbours.relevance, target),
                neighbours.redundancy,
            )
        if "f" in (self.relevance, kind) or "correlation" in (self.relevance, kind):
            whole = None if is_sparse_table(table) else all_columns(table)
            parts["f"] = parts["correlation"] = (
                lambda: score_columns(table, partial(f_statistic, target=target), whole),
                lambda j: _correlations(table, j, whole, target.row_weights),
            )
        return parts[self.relevance][0](), parts[kind][1]


def _states_of(table: Table, n_bins: int | None, weights: HostArray | None) -> HostArray:
    """States of all columns, (n, m)."""
    if not is_sparse_table(table):
        return discretise(all_columns(table), n_bins, weights)
    # Whole numbers below the number of bins or of distinct values that count as few.
    kind = np.int16 if n_bins is None or n_bins < 2**15 else np.int32
    codes, start = np.empty((table.n_rows, table.varying.size), dtype=kind), 0
    for piece in column_pieces(table):
        check_time()
        codes[:, start : start + piece.shape[1]] = discretise(piece, n_bins, weights)
        start += piece.shape[1]
    return codes


def _correlations(table: Table, j: int, whole: HostArray | None, weights: HostArray | None) -> HostArray:
    """Absolute correlations of all columns with one."""
    rows, place = np.arange(table.n_rows), table.varying[j : j + 1]
    one = to_numpy(table.take(rows, place)) if whole is None else whole[:, j : j + 1]
    return score_columns(table, lambda z: correlation_between(z, one, weights)[:, 0], whole)


def _greedy(
    relevance: HostArray, redundancy: Redundancy, k: int, quotient: bool
) -> tuple[HostArray, HostArray]:
    """Select k columns one by one; return them in this order, and the score of every column.

    Each step computes only the redundancies with the column selected last.
    """
    free = np.ones(relevance.size, dtype=bool)
    total = np.zeros(relevance.size)
    scores = relevance.copy()
    chosen: list[int] = []
    while len(chosen) < k:
        check_time()
        best = scores[free].max()
        equal = free & (scores >= best - TOLERANCE * (abs(best) + (not quotient)))
        chosen.append(int(np.argmax(equal)))
        free[chosen[-1]] = False
        if not free.any():
            break
        latest = redundancy(chosen[-1])
        total += np.maximum(latest, MIN_REDUNDANCY) if quotient else latest
        mean = total / len(chosen)
        scores[free] = (relevance / mean if quotient else relevance - mean)[free]
    return np.array(chosen, dtype=np.intp), scores


def _mean_over_targets(relevance: Callable[[Target], HostArray], target: Target) -> HostArray:
    return np.asarray(np.mean([relevance(one) for one in target.each()], axis=0))


def _target_states(target: Target, n_bins: int | None) -> HostArray:
    if target.values is None:
        return target.codes
    return discretise(target.values[:, None], n_bins, target.row_weights)[:, 0]


class _NeighbourInformation:
    """Mutual information of columns with one another and with a target, by nearest neighbours."""

    def __init__(self, x: HostArray, row_weights: HostArray | None, seed: int) -> None:
        self._weights = row_weights
        self.discrete = is_discrete(x)
        self.x, self.seed = x.copy(), seed
        self.x[:, self.discrete] = discretise(x[:, self.discrete], None)

    def relevance(self, target: Target) -> HostArray:
        return self._information(
            target.codes if target.values is None else target.values, target.values is None
        )

    def redundancy(self, j: int) -> HostArray:
        return self._information(self.x[:, j], bool(self.discrete[j]))

    def _information(self, y: HostArray, discrete: bool) -> HostArray:
        if discrete and np.unique(y).size == y.size:
            return np.zeros(self.x.shape[1])  # no class has two rows
        if self._weights is not None:
            k = min(N_NEIGHBORS, y.size - 1)
            return weighted_information(self.x, y, self.discrete, discrete, k, self._weights, self.seed)
        estimate = mutual_info_classif if discrete else mutual_info_regression
        with warnings.catch_warnings():
            # Of classes with few rows each: whether y has classes is decided before.
            warnings.filterwarnings("ignore", "The number of unique classes is greater", UserWarning)
            return np.asarray(
                estimate(
                    self.x,
                    y,
                    discrete_features=self.discrete,
                    n_neighbors=min(N_NEIGHBORS, y.size - 1),
                    random_state=self.seed,
                )
            )
