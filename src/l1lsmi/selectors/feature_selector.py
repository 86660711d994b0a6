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
        Number of features, or a share of all features strictly between 0 and 1; None selects half. "auto"
        uses rows that the search has not seen to choose the number: the smallest number that predicts nearly
        as well as the best. It is at most the number of rows, or 40 if there are fewer than 40 rows. If
        unseen rows give no evidence that any features predict the target, none are selected, with a warning.
    pool : int, "auto" or None, default="auto"
        Number of columns that the search may choose from: those with the largest effects of their own. None
        is all columns. "auto" uses rows that the search has not seen to choose the number. If columns
        outnumber rows, it is 50, 300 or all columns (more if many features are selected). Otherwise, with
        `L1Path`, if there are fewer than 500 rows or the effects in all rows are not clear, it is the number
        of features to select, three times this number, or all columns; else it is all columns. With `Ranking`
        and `L1Paper` it is always all columns. For a sparse X with more than 67 million values, zeros
        included, the effects are computed from the non-zero values. With any strategy, "auto" is then 300 to
        1,000 columns, fewer if there are more rows.
    p_value : bool, default=True
        Whether to search on parts of the rows if the only purpose is a p-value from unseen rows. This is the
        case if the effects in all rows are not clear, and unseen rows are not used anyway, to choose the
        number of features or the pool. False saves the time of these searches.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns that are categories, whose values are only equal or different: names, indices or a mask.
        "from_dtype" takes columns of text and of categorical types of a dataframe; ordered categories are
        numbers, by rank. Categories of more than 40 levels are encoded as numbers, by cross-fitted means of
        the target.
    missing : {"auto", "ignore", "value"}, default="auto"
        How missing values are treated. "ignore": a missing value carries no information, and has the mean
        distance from all other values. "value": "missing" is a value of its own. "auto" decides for each
        column, by a test of whether the target depends on which values are missing.
    class_weight : dict, "balanced" or None, default=None
        Weights of classes, by which the weights of their rows are multiplied: a class that is not in the dict
        has weight 1, and "balanced" gives all classes the same sum of weights. None weights all rows alike.
    memory_limit : int or None, default=None
        Bytes of memory that may be used in addition to X, by a measure that supports out-of-core data:
        `SquaredMutualInformation` or `HSIC`; see `L1LSMI` and `L1HSIC`.
    device : str or None, default=None
        Device to compute on, such as "cuda", for a dense X in main memory: X is copied there by torch, or
        else by CuPy. None computes where X is.
    precision : {"float64", "float32"}, default="float64"
        Data type of distances and kernels, for a measure that supports out-of-core data.
    random_state : int, RandomState instance or None, default=None
        Seed of the measure and of the strategy; None uses the ``random_state`` of the measure. With up to
        2,000 rows, `L1Path` uses no random numbers: every seed gives the same answer.
    must_include, must_exclude : array-like or None, default=None
        Features that are always selected, and features that never are: names, indices or a mask. The features
        of ``must_include`` are part of the number of features to select.
    feature_groups : array-like of shape (n_features,), dict or None, default=None
        The group label of each feature; or a dict with the names or indices of the features of each group,
        where every other feature is a group of its own. The features of a group are selected together or not
        at all, and k counts groups, unless ``max_per_group`` is given.
    max_per_group : int, dict or None, default=None
        Largest number of features that are selected from each group, or from each group that a dict names; k
        then counts features.
    costs : array-like of shape (n_features,), dict or None, default=None
        Positive costs of the features, or of those that a dict names; others cost 1.
    budget : float or None, default=None
        Largest total cost, in place of a number of features: the best set that costs at most this is
        selected. With ``n_features_to_select="auto"``, rows that the search has not seen also decide how many
        features are selected.
    checkpoint : str, path or None, default=None
        File in which the progress of the search is saved. A fit that was killed continues from this file when
        it is called again with the same data and parameters, and gives the same answer. The file is created
        if it does not exist, and refused if it belongs to other data or parameters; only
        ``n_features_to_select``, ``n_restarts``, ``time_limit``, ``n_jobs`` and ``verbose`` may differ.
    warm_start : bool, default=False
        Whether the next fit to the same data reuses the results of this fit, without a file: for instance
        with more restarts, or another number of features.
    callbacks : callable, list of callables or None, default=None
        Called after every step with the number of the step, the best set so far (indices), its score and the
        seconds since the fit began; a callback that returns True ends the search with the best set so far.
        Each search on a part of the rows is one step, with the score NaN. Callbacks of scikit-learn, from
        version 1.9 on, are set by ``set_callbacks``.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        The selected features.
    ranking_ : ndarray of int, shape (n_features,)
        1 for selected features; 2, 3, ... for the others, the most promising first.
    order_ : ndarray of int, shape (n_features,)
        All features, in an order in which the first k are the set of k features.
    order_sizes_ : ndarray of int or None
        With constraints: the set of j features (or groups) is the first ``order_sizes_[j]`` features of
        ``order_``. The entry is -1 if ``must_include`` has more than j features (or groups). ``order_``
        begins with the features in ``must_include``, and leaves out features that the constraints do not
        allow to be added. None without constraints.
    validation_ : Validation or None
        How well sets of k features predict the target in rows that the search has not seen: arrays ``k``,
        ``mean``, ``standard_error`` and ``per_split``, and the number of features and the pool chosen by
        these rows, ``best_k`` and ``best_pool``. None if these rows were not needed (see
        ``n_features_to_select``, ``pool`` and ``p_value``), or if the search was stopped.
    p_value_ : float or None
        Probability that predictions agree at least this well with the target in rows that the search has not
        seen, if the target does not depend on the features. Without ``validation_``, it is an upper bound on
        the probability of effects in all rows as large as those found, under the same condition. There is a
        warning if it is above 0.05. None if it is not known.
    frequency_ : ndarray of float, shape (n_features,), or None
        How often each feature was selected in the searches on parts of the rows, from 0 to 1; None without
        ``validation_``.
    pool_size_ : int
        Number of columns that the search could choose from: see ``pool``.
    score_ : float
        Score of the selected set; the mean over its features with `Ranking`. With `L1Path` and `L1Paper`, it
        is the score of the weighted features. With covariates, it is the gain over the score of the
        covariates alone.
    path_ : list
        Steps of the search: every set with its score (`Step`) for `Forward`, `Backward` and `Exhaustive`, and
        every radius for `L1Path` and `L1Paper`. Empty for `Ranking`.
    stop_reason_ : str
        Why the search ended, in a sentence.
    scores_ : ndarray of float, shape (n_features,)
        With `Ranking`: the score of every feature alone.
    estimate_, weights_, cv_score_, sigma_, regularization_, radius_, n_iter_
        With `L1Path` and `L1Paper`: see `L1LSMI`.
    warnings_ : list of str
        Warnings about the data, one sentence each: for instance about columns that give away the target,
        columns that only number the rows, or copies of other columns. `fit` issues them as one warning.
    categories_ : list or None
        One entry for each feature: the levels of a category, the most frequent first, or None for other
        features. None if there are no categories.
    n_covariates_ : int
        Number of covariates that vary; 0 if none are given. With covariates, a score is the score of selected
        features and covariates together, minus the score of the covariates alone. ``validation_`` and
        ``p_value_`` are about what features predict beyond covariates. The weights of covariates are not part
        of ``weights_``, ``radius_`` and ``path_``.
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
