"""Minimum redundancy, maximum relevance (Peng, Long and Ding, 2005)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.utils._param_validation import Interval, StrOptions

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._base import Selector
from l1lsmi._numerics.constraints import Constraints
from l1lsmi._numerics.correlation import correlation_between, f_statistic
from l1lsmi._numerics.discrete import States, discretise, is_discrete
from l1lsmi._numerics.ranking import rank, scatter
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Table
from l1lsmi._validation.constraints import GROUP_PARAMETERS
from l1lsmi._validation.parameters import seed_of
from l1lsmi._validation.target import TASKS

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

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, or their fraction strictly between 0 and 1; None selects half.
    scheme : {"difference", "quotient"}, default="difference"
        "difference" is relevance minus mean redundancy; "quotient" is relevance over mean redundancy,
        where each redundancy is at least 0.001.
    relevance : {"discretised", "knn", "f"}, default="discretised"
        "discretised" is the plug-in mutual information of states, in nats; "knn" the mutual information by
        nearest neighbours of scikit-learn, which is slow; "f" the F statistic.
    redundancy : {"auto", "discretised", "knn", "correlation"}, default="auto"
        The first two as for the relevance; "correlation" is the absolute Pearson correlation. "auto" is
        "correlation" for ``relevance="f"`` and otherwise the same as the relevance.
    n_bins : int or None, default=None
        Number of states of a discretised feature or target: bins with equal numbers of rows. None is three
        states: below, within and above one standard deviation around the mean. A feature or target with at
        most 10 distinct values, and at most half as many as rows, is not discretised.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" treats labels and up to 20 distinct integers as classes, everything else as a numeric target.
    random_state : int, RandomState instance or None, default=None
        Seed of the small noise by which "knn" separates equal values; nothing else is random.
    must_include, must_exclude : array-like or None, default=None
        Features that are always selected, and features that never are: names, indices or a mask. Those of
        ``must_include`` count among the selected ones.
    feature_groups : array-like of shape (n_features,), dict or None, default=None
        Labels of the features, or names or indices of each group's features by its name; features without a
        group are groups of their own. All features of a group are selected or none, by
        the mean of their scores, and k counts groups, unless ``max_per_group`` is given.
    max_per_group : int, dict or None, default=None
        Maximum number of selected features of each group, or of those that a dict names; k then counts
        features.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        The selected features.
    order_ : ndarray of int, shape (n_selected,)
        The selected features in the order of their selection.
    relevance_ : ndarray of float, shape (n_features,)
        Relevance of every feature; 0 for constant ones.
    scores_ : ndarray of float, shape (n_features,)
        Difference or quotient of relevance and redundancy: for selected features at their selection, for
        the others after the last selection; minus infinity for constant ones.
    ranking_ : ndarray of int, shape (n_features,)
        1 for selected features; 2 for the next one, and so on by decreasing score.
    warnings_ : list of str
        What to know about the data, one sentence each: columns that give away the target or number the rows,
        and copies. `fit` warns of all of it at once.
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
        **GROUP_PARAMETERS,
        "scheme": [StrOptions({"difference", "quotient"})],
        "relevance": [StrOptions(set(DEFAULT_REDUNDANCY))],
        "redundancy": [StrOptions({"auto", *DEFAULT_REDUNDANCY.values()})],
        "n_bins": [Interval(Integral, 2, None, closed="left"), None],
        "task": [StrOptions(set(TASKS))],
        "random_state": ["random_state"],
    }

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
        must_include: Any = None,
        must_exclude: Any = None,
        feature_groups: Any = None,
        max_per_group: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.scheme = scheme
        self.relevance = relevance
        self.redundancy = redundancy
        self.n_bins = n_bins
        self.task = task
        self.random_state = random_state
        self.must_include = must_include
        self.must_exclude = must_exclude
        self.feature_groups = feature_groups
        self.max_per_group = max_per_group

    def _learn(
        self, table: Table, target: Any, k: int, constraints: Constraints | None = None
    ) -> dict[str, Any]:
        kind = DEFAULT_REDUNDANCY[self.relevance] if self.redundancy == "auto" else self.redundancy
        if self.n_bins is not None and "discretised" not in (self.relevance, kind):
            raise ValueError(
                f"n_bins={self.n_bins!r} is not used with relevance={self.relevance!r} and "
                f"redundancy={self.redundancy!r}, which do not discretise: leave it at None."
            )
        columns = table.varying if constraints is None else constraints.selectable(table.varying)
        x = to_numpy(table.take(np.arange(table.n_rows), columns))
        relevance, redundancy = self._parts(x, target, kind)
        quotient = self.scheme == "quotient"
        if constraints is None:
            chosen, scores = _greedy(relevance, redundancy, min(k, columns.size), quotient)
            constant = np.setdiff1d(np.arange(table.n_columns), columns)
            order = np.concatenate([columns[chosen], constant[: k - chosen.size]])
        else:
            order, scores = _greedy_units(relevance, redundancy, columns, k, quotient, constraints)
        all_scores = scatter(scores, columns, table.n_columns)
        support = np.zeros(table.n_columns, dtype=bool)
        support[order] = True
        return {
            "support": support,
            "order": order,
            "relevance": scatter(relevance, columns, table.n_columns, 0.0),
            "scores": all_scores,
            "ranking": rank(support, np.round(all_scores, 12)),
        }

    def _parts(self, x: HostArray, target: Target, kind: str) -> tuple[HostArray, Redundancy]:
        """Relevance of every column, and the function that computes redundancies."""
        parts: dict[str, tuple[Any, Redundancy]] = {}
        if "discretised" in (self.relevance, kind):
            states = States(discretise(x, self.n_bins))
            parts["discretised"] = (
                lambda: states.information(_target_states(target, self.n_bins)),
                lambda j: states.information(states.codes[:, j]),
            )
        if "knn" in (self.relevance, kind):
            neighbours = _NeighbourInformation(x, seed_of(self.random_state))
            parts["knn"] = (partial(neighbours.relevance, target), neighbours.redundancy)
        parts["f"] = parts["correlation"] = (
            partial(f_statistic, x, target),
            lambda j: correlation_between(x, x[:, j : j + 1])[:, 0],
        )
        return parts[self.relevance][0](), parts[kind][1]


class _Scores:
    """Relevance and redundancy with the columns selected so far.

    Each selection computes only the redundancies with the column selected last.
    """

    def __init__(self, relevance: HostArray, redundancy: Redundancy, quotient: bool) -> None:
        self._relevance, self._redundancy, self._quotient = relevance, redundancy, quotient
        self._total = np.zeros(relevance.size)
        self.free = np.ones(relevance.size, dtype=bool)
        self.chosen: list[int] = []
        self.values = relevance.copy()

    def select(self, column: int) -> None:
        self.chosen.append(column)
        self.free[column] = False
        if not self.free.any():
            return
        latest = self._redundancy(column)
        self._total += np.maximum(latest, MIN_REDUNDANCY) if self._quotient else latest
        mean = self._total / len(self.chosen)
        values = self._relevance / mean if self._quotient else self._relevance - mean
        self.values[self.free] = values[self.free]

    def first_best(self, values: HostArray, possible: HostArray) -> int:
        """The first of those with the highest value, up to rounding errors."""
        best = values[possible].max()
        equal = possible & (values >= best - TOLERANCE * (abs(best) + (not self._quotient)))
        return int(np.argmax(equal))


def _greedy(
    relevance: HostArray, redundancy: Redundancy, k: int, quotient: bool
) -> tuple[HostArray, HostArray]:
    """Select k columns one by one; return them in this order, and the score of every column."""
    scores = _Scores(relevance, redundancy, quotient)
    while len(scores.chosen) < k:
        scores.select(scores.first_best(scores.values, scores.free))
    return np.array(scores.chosen, dtype=np.intp), scores.values


def _greedy_units(
    relevance: HostArray,
    redundancy: Redundancy,
    columns: HostArray,
    k: int,
    quotient: bool,
    constraints: Constraints,
) -> tuple[HostArray, HostArray]:
    """The same for units of columns, the forced ones first, by the mean scores of their columns."""
    scores = _Scores(relevance, redundancy, quotient)
    inside: list[int] = []

    def enter(unit: int) -> None:
        inside.append(unit)
        for place in np.flatnonzero(np.isin(columns, constraints.units[unit])):
            scores.select(int(place))

    for unit in constraints.forced:
        enter(unit)
    while len(inside) < k:
        means = constraints.of_columns(scatter(scores.values, columns, constraints.n_columns))
        possible = constraints.room(inside)
        varying = possible & np.isfinite(means)
        enter(scores.first_best(means, varying) if varying.any() else int(np.argmax(possible)))
    order = np.concatenate([constraints.units[unit] for unit in inside])
    return order, scores.values


def _target_states(target: Target, n_bins: int | None) -> HostArray:
    return target.codes if target.values is None else discretise(target.values[:, None], n_bins)[:, 0]


class _NeighbourInformation:
    """Mutual information of columns with one another and with a target, by nearest neighbours."""

    def __init__(self, x: HostArray, seed: int) -> None:
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
        estimate = mutual_info_classif if discrete else mutual_info_regression
        return np.asarray(
            estimate(
                self.x,
                y,
                discrete_features=self.discrete,
                n_neighbors=min(N_NEIGHBORS, y.size - 1),
                random_state=self.seed,
            )
        )
