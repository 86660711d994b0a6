"""Any measure with any strategy."""

from __future__ import annotations

from os import PathLike
from typing import Any, ClassVar

from l1lsmi._validation.features import check_all_rows
from l1lsmi.measures import Measure, SquaredMutualInformation
from l1lsmi.selectors._combined import PartsSelector
from l1lsmi.strategies import L1Path, Strategy


class FeatureSelector(PartsSelector):
    """Select features by any measure and any strategy that fit together.

    Parameters
    ----------
    measure : Measure or None, default=None
        How strongly the target depends on a set of features: `Pearson`, `HSIC`, `MutualInformation`,
        `SquaredMutualInformation` (which is what None stands for), or one of your own.
    strategy : Strategy or None, default=None
        How to search for the best set: `Ranking`, `Forward`, `Backward`, `Exhaustive`, `L1Paper`, `L1Path`
        (which is what None stands for), or one of your own.
    n_features_to_select : int, float, "auto" or None, default=None
        Number of features, or their share strictly between 0 and 1; None selects half. "auto" chooses the
        number by rows that the search has not seen, of 50 features at most: the smallest within one standard
        error of the best. Where these rows give no evidence that any features predict the target, none are
        selected, with a warning.
    pool : int, "auto" or None, default="auto"
        Number of columns, those with the largest single effects, that the search may choose from; None is
        all. "auto" decides it by rows that the search has not seen where columns outnumber rows: 50, 300 or
        all of them (more where many features are selected). Otherwise, and with `Ranking` and
        `L1Paper`, it is all columns.
        Of a sparse X with more than 67 million values, zeros included, the effects of all columns come from
        the non-zeros, and "auto" is 300 to 1,000 columns whatever the strategy, fewer of more rows.
    p_value : bool, default=True
        Whether rows that the search has not seen give a p-value where they have nothing else to decide and
        the effects in all rows are not clear. False saves these searches.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categories, compared as equal or not: names, numbers or a mask. "from_dtype" takes
        columns of text and of categorical types of a dataframe; ordered categories are numbers, by rank.
        Categories of more than 40 levels become numbers, cross-fitted means of the target.
    missing : {"auto", "ignore", "value"}, default="auto"
        What missing values are. "ignore": they say nothing, and are at the mean distance from all others.
        "value": "missing" is a value of its own. "auto" decides for each column, by a test of whether the
        target depends on which of its values are missing.
    class_weight : dict, "balanced" or None, default=None
        Weights of classes, by which the weights of their rows are multiplied: a class that is not in the dict
        has weight 1, and "balanced" gives all classes the same sum of weights. None weights all rows alike.
    memory_limit : int or None, default=None
        Bytes that may be used beside X, by a measure that supports out-of-core data:
        `SquaredMutualInformation` or `HSIC`; see `L1LSMI` and `L1HSIC`.
    device : str or None, default=None
        Where to work on X that is in memory, such as "cuda": it is copied there, by torch or else by CuPy.
        None works where X is.
    precision : {"float64", "float32"}, default="float64"
        Data type of distances and kernels, of a measure that supports out-of-core data.
    random_state : int, RandomState instance or None, default=None
        Draws whatever the parts draw at random; None takes that of the measure. Up to 2,000 rows, `L1Path`
        draws nothing from it: another seed gives the same answer.
    must_include, must_exclude : array-like or None, default=None
        Features of every set, and features of none: names, indices or a mask. Those of ``must_include``
        count among the features that are selected.
    feature_groups : array-like of shape (n_features,), dict or None, default=None
        Labels of the features, or names or indices of each group's features by its name; features without a
        group are groups of their own. All features of a group are selected or none, and k counts groups,
        unless ``max_per_group`` is given.
    max_per_group : int, dict or None, default=None
        At most so many features of each group, or of those that a dict names, are selected: k then counts
        features.
    costs : array-like of shape (n_features,), dict or None, default=None
        Positive costs of the features, or of those that a dict names; others cost 1.
    budget : float or None, default=None
        In place of a number of features: the best set whose costs sum to at most this is selected. With
        ``n_features_to_select="auto"``, unseen rows also decide how many of them.
    checkpoint : str, path or None, default=None
        A file that keeps what the search has found, so that a fit that was killed, called again with the same
        data and parameters, goes on from there and gives the same answer. It is made if it does not exist,
        and refused if it belongs to other data or parameters; ``n_features_to_select``, ``n_restarts``,
        ``time_limit``, ``n_jobs`` and ``verbose`` may be others.
    warm_start : bool, default=False
        Whether another fit to the same data uses what this one has found, without a file: for instance with
        more restarts, or another number of features.
    callbacks : callable, list of callables or None, default=None
        Called after every step with the number of the step, the best set so far (indices), its score and the
        seconds since the fit began; one that returns True ends the search with the best set so far. Searches
        on parts of the rows are a step each, with the score NaN. Callbacks of scikit-learn, from version 1.9
        on, are set by ``set_callbacks``.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        The selected features.
    ranking_ : ndarray of int, shape (n_features,)
        1 for selected features; 2, 3, ... for the others, the most promising first.
    order_ : ndarray of int, shape (n_features,)
        All features, those first that smaller sets keep longest: the first k are the set of k features.
    order_sizes_ : ndarray of int or None
        With constraints: how many features of ``order_`` the set of 0, 1, 2, ... features (or groups) has,
        -1 below the number of must-includes; ``order_`` then begins with these, and has no features that no
        allowed set could add to it. None without constraints.
    validation_ : Validation or None
        How well sets of k features predict the target in rows that the search has not seen: arrays ``k``,
        ``mean``, ``standard_error`` and ``per_split``, and what they decided, ``best_k`` and ``best_pool``.
        None where these rows had nothing to decide: the number of features and the pool are given, and the
        strategy is not `L1Path` or the effects in all rows are clear; or where the search was stopped.
    p_value_ : float or None
        Probability of predictions that agree as well with the target in rows that the search has not seen, if
        it does not depend on the features; where there is no ``validation_``, upper bound on the probability
        of effects as large in all rows. Above 0.05 there is a warning. None where it is not known.
    frequency_ : ndarray of float, shape (n_features,), or None
        Share of the searches on parts of the rows that selected a feature; None without ``validation_``.
    pool_size_ : int
        Number of columns that the search could choose from.
    score_ : float
        Score of the selected set; the mean over its features with `Ranking`. With `L1Path` and `L1Paper` it
        is that of the weighted features. With covariates, its gain over that of the covariates alone.
    path_ : list
        Steps of the search: every set of a forward, backward or exhaustive search with its score
        (`Step`), every radius of a weighting.
    stop_reason_ : str
        Why the search ended, in a sentence.
    scores_ : ndarray of float, shape (n_features,)
        With `Ranking`: the score of every feature alone.
    estimate_, weights_, cv_score_, sigma_, regularization_, radius_, n_iter_
        With `L1Path` and `L1Paper`: see `L1LSMI`.
    warnings_ : list of str
        What to know about the data, one sentence each: columns that give away the target or number the rows,
        and copies. `fit` warns of all of it at once.
    categories_ : list or None
        For each feature the levels of a category, the most frequent first, or None; None without categories.
    n_covariates_ : int
        Covariates that vary, 0 where none are given. With covariates, scores are differences: those of the
        selected features and the covariates together, less those of the covariates alone; ``validation_``
        and ``p_value_`` are about what features predict beyond covariates, whose weights are left out of
        ``weights_``, ``radius_`` and ``path_``.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    See Also
    --------
    L1LSMI : Weighting with squared-loss mutual information, the method to begin with.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi import FeatureSelector
    >>> from l1lsmi.measures import HSIC
    >>> from l1lsmi.strategies import Backward
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(200, 6))
    >>> y = X[:, 2] ^ X[:, 5]
    >>> FeatureSelector(HSIC(), Backward(), n_features_to_select=2).fit(X, y).get_support(indices=True)
    array([2, 5])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PartsSelector._parameter_constraints,
        "measure": [Measure, None],
        "strategy": [Strategy, None],
    }
    score_: float

    def __init__(
        self,
        measure: Measure | None = None,
        strategy: Strategy | None = None,
        n_features_to_select: int | float | str | None = None,
        *,
        pool: int | str | None = "auto",
        p_value: bool = True,
        categorical_features: Any = "from_dtype",
        missing: str = "auto",
        class_weight: Any = None,
        memory_limit: int | None = None,
        device: str | None = None,
        precision: str = "float64",
        random_state: Any = None,
        must_include: Any = None,
        must_exclude: Any = None,
        feature_groups: Any = None,
        max_per_group: Any = None,
        costs: Any = None,
        budget: float | None = None,
        checkpoint: str | PathLike[str] | None = None,
        warm_start: bool = False,
        callbacks: Any = None,
    ) -> None:
        self.measure = measure
        self.strategy = strategy
        self.n_features_to_select = n_features_to_select
        self.pool = pool
        self.p_value = p_value
        self.categorical_features = categorical_features
        self.missing = missing
        self.class_weight = class_weight
        self.memory_limit = memory_limit
        self.device = device
        self.precision = precision
        self.random_state = random_state
        self.must_include = must_include
        self.must_exclude = must_exclude
        self.feature_groups = feature_groups
        self.max_per_group = max_per_group
        self.costs = costs
        self.budget = budget
        self.checkpoint = checkpoint
        self.warm_start = warm_start
        self.callbacks = callbacks

    def _validate_params(self) -> None:
        super()._validate_params()
        for part in (self.measure, self.strategy):
            if part is not None:
                part._validate_params()
        if not self._supports_out_of_core():
            check_all_rows(self.measure, memory_limit=self.memory_limit, precision=self.precision)

    def _task(self) -> str:
        return "auto" if self.measure is None else self.measure.task

    def _n_jobs(self) -> int | None:
        return getattr(self.strategy, "n_jobs", None)

    def _supports_out_of_core(self) -> bool:
        return self.measure is None or self.measure.supports_out_of_core

    def _make_measure(self) -> Measure:
        return SquaredMutualInformation() if self.measure is None else self.measure

    def _make_strategy(self) -> Strategy:
        return L1Path() if self.strategy is None else self.strategy
