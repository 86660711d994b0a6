"""The scikit-learn estimators: validate, hand over, store what was learned.

Which parts make which method: `FeatureSelector` takes any measure and any strategy that fit together.
Those with a name of their own are

- `L1Weighting` x `SquaredMutualInformation`: l1-LSMI (`L1LSMI`);
- `L1Weighting` x `HSIC`: l1-HSIC (`L1HSIC`);
- `Ranking` x `Pearson`: correlation ranking (PC);
- `Forward` or `Backward` x `HSIC` or `SquaredMutualInformation`: F-HSIC, B-HSIC, F-LSMI, B-LSMI.
"""

from __future__ import annotations

import warnings
from dataclasses import fields
from numbers import Integral
from typing import Any, ClassVar

from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from l1lsmi.base import Selector
from l1lsmi.measures import HSIC, Measure, SquaredMutualInformation
from l1lsmi.rows import PRECISIONS, Means, Table
from l1lsmi.strategies import L1Weighting, Selection, Strategy
from l1lsmi.strategies.selection import StopReason
from l1lsmi.validation import check_device, check_needs

__all__ = ["FeatureSelector", "L1HSIC", "L1LSMI"]


def _pick(part: Any, *names: str) -> dict[str, list[Any]]:
    """Constraints that a part already puts on parameters which are handed through to it."""
    return {name: part._parameter_constraints[name] for name in names}


class _PartsSelector(Selector):
    """A selector made of a measure and a strategy."""

    stop_reason_: str

    def _search(
        self, measure: Measure, strategy: Strategy, table: Table, target: Any, k: int, random_state: Any
    ) -> dict[str, Any]:
        """Everything that the strategy finds, by name."""
        problem = measure.bind(table, target, random_state)
        check_needs(strategy, measure, problem)
        selection: Selection = strategy.search(problem, k)
        learned = {field.name: getattr(selection, field.name) for field in fields(selection)}
        return {**learned, "path": list(selection.path)}

    def _after_fit(self) -> None:
        if self.stop_reason_ in (StopReason.TIME_LIMIT, StopReason.INTERRUPTED):
            warnings.warn(self.stop_reason_, ConvergenceWarning, stacklevel=3)


class FeatureSelector(_PartsSelector):
    """Select features by any measure and any strategy that fit together.

    Parameters
    ----------
    measure : Measure or None, default=None
        How much a set of features says about the target: `Pearson`, `HSIC`, `MutualInformation`,
        `SquaredMutualInformation` (which is what None stands for), or one of your own.
    strategy : Strategy or None, default=None
        How to search for the best set: `Ranking`, `Forward`, `Backward`, `Exhaustive`, `L1Weighting`
        (which is what None stands for), or one of your own.
    n_features_to_select : int, float or None, default=None
        Number of features, or their share strictly between 0 and 1; None selects half.
    random_state : int, RandomState instance or None, default=None
        Draws whatever the parts draw at random; None takes that of the measure.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        The selected features.
    ranking_ : ndarray of int, shape (n_features,)
        1 for selected features; 2, 3, ... for the others, the most promising first.
    score_ : float
        What the measure says of the selected set; the mean over its features with `Ranking`. With
        `L1Weighting` it is what the measure says of the weighted features.
    path_ : list
        Stations of the search: every set of a forward, backward or exhaustive search with its score
        (`Step`), every radius of a weighting.
    stop_reason_ : str
        Why the search ended, in a sentence.
    scores_ : ndarray of float, shape (n_features,)
        With `Ranking`: what every feature says by itself.
    estimate_, weights_, cv_score_, sigma_, regularization_, radius_, n_useful_features_, n_iter_
        With `L1Weighting`: see `L1LSMI`.
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
        **Selector._parameter_constraints,
        "measure": [Measure, None],
        "strategy": [Strategy, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        measure: Measure | None = None,
        strategy: Strategy | None = None,
        n_features_to_select: int | float | None = None,
        *,
        random_state: Any = None,
    ) -> None:
        self.measure = measure
        self.strategy = strategy
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    def _validate_params(self) -> None:
        super()._validate_params()
        for part in (self.measure, self.strategy):
            if part is not None:
                part._validate_params()

    def _task(self) -> str:
        return "auto" if self.measure is None else self.measure.task

    def _visits_rows(self) -> bool:
        return self.measure is None or self.measure.visits_rows

    def _learn(self, table: Table, target: Any, k: int) -> dict[str, Any]:
        measure = SquaredMutualInformation() if self.measure is None else self.measure
        strategy = L1Weighting() if self.strategy is None else self.strategy
        random_state = measure.random_state if self.random_state is None else self.random_state
        return self._search(measure, strategy, table, target, k, random_state)


#: Parameters that a selector which weighs features hands on to its strategy.
_HANDED = ("algorithm", "n_restarts", "max_iter", "time_limit", "explore_rows", "n_jobs", "verbose")


class _L1Selector(_PartsSelector):
    """A selector that weighs features: hands its parameters through to `L1Weighting`."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "memory_limit": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
        "precision": [StrOptions(set(PRECISIONS))],
        **_pick(L1Weighting, *_HANDED),
    }
    precision: str
    random_state: Any
    memory_limit: int | None
    n_jobs: int | None

    def _weighting(self) -> L1Weighting:
        return L1Weighting(**{name: getattr(self, name) for name in _HANDED})

    def _read(self, X: Any, y: Any, checked: Selector) -> tuple[Any, Any]:
        table, target = super()._read(X, y, checked)
        device = getattr(self, "device", None)
        return (table if device is None else check_device(table, device)), target

    def _visits_rows(self) -> bool:
        return True

    def _means(self) -> Means:
        return Means(self.memory_limit, effective_n_jobs(self.n_jobs), precision=self.precision)


class L1LSMI(_L1Selector):
    """Select features by l1-penalised squared-loss mutual information.

    Finds the set of exactly k features that together say most about the target: it sees
    interactions (an exclusive or, where no feature says anything alone) and non-linear dependence,
    and prefers features that add something to redundant ones. Features are standardised inside; constant
    features get weight 0.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, or their share strictly between 0 and 1; None selects half.
    algorithm : {"path", "paper"}, default="path"
        "path" follows a shrinking l1 ball from all features down and climbs on the cross-validation
        score; "paper" is Algorithm 1 of the paper.
    n_basis : int, default=100
        Number of kernel centres.
    n_restarts : int or None, default=None
        Restarts at most; None is 8 for "path", which stops as soon as restarts agree, and 20 for
        "paper".
    cv : int or splitter, default=5
        Number of folds for model selection, or a splitter that tests every row once, such as
        PredefinedSplit to keep groups together: sets of features are then compared by these folds
        alone, never by single rows left out. A splitter that shuffles needs a random_state of its own.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" takes labels and up to 20 different whole numbers for classes, all else for a
        quantity; integers with more than 20 different values are taken for a quantity with a
        warning.
    max_iter : int or None, default=None
        Ascent steps per radius at most; None is 4 for "path" and 100 for "paper".
    time_limit : float or None, default=None
        Seconds after which the best set so far is returned, with a warning.
    explore_rows : int or None, default=10_000
        Of more rows than this the search looks at a sample of so many, each class or range of the target in
        proportion; all rows decide between the best three sets, choose the model and give the scores.
        None searches on all rows.
    memory_limit : int or None, default=None
        Bytes that may be used beside X; rows that do not fit are worked out anew for every step instead of
        being kept. None keeps up to a quarter of a gigabyte, and on a device a part of its free memory.
    device : str or None, default=None
        Where to work on X that is in memory, such as "cuda": it is copied there, by torch or else by CuPy.
        None works where X is.
    precision : {"float64", "float32"}, default="float64"
        What distances and kernels are worked out in. "float32" takes about half the memory beside X, and less
        time where they are most of the work: with many columns or many rows. Means and scales of the columns,
        sums over rows, fits and weights are in float64 either way.
    random_state : int, RandomState instance or None, default=None
        Draws centres, folds and starts. The same number gives the same answer whatever ``n_jobs``
        or the number of BLAS threads.
    n_jobs : int or None, default=None
        Restarts run side by side in threads.
    verbose : int, default=0
        1 shows progress, as a bar where rich is installed.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        The selected features.
    weights_ : ndarray of float, shape (n_features,)
        Weights of the standardised features; 0 for those not selected.
    ranking_ : ndarray of int, shape (n_features,)
        1 for selected features; 2, 3, ... for the others, those that held out longest first.
    smi_ : float
        Estimate of the squared-loss mutual information of the weighted features with the target.
    cv_score_ : float
        Cross-validation score of the model behind it; lower is better.
    sigma_, regularization_ : float
        That model.
    radius_ : float
        Sum of the weights.
    path_ : list of PathPoint
        Every radius visited: restart, radius, size, support, weights, objective and cv_score.
    n_useful_features_ : int
        How many of the selected features earn their place by the cross-validation score; fewer
        than asked for where the data cannot give so many.
    n_iter_ : int
        Ascent steps taken.
    stop_reason_ : str
        Why the search ended, in a sentence.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    See Also
    --------
    l1lsmi.measures.SquaredMutualInformation : The measure by itself.

    Notes
    -----
    Columns are standardised by mean and standard deviation. A single value that is thousands of times as
    large as all others leaves little of the rest of its column: clip or transform such columns first.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 8))
    >>> y = X[:, 2] * X[:, 5] > 0
    >>> selector = L1LSMI(2, random_state=0).fit(X, y)
    >>> selector.get_support(indices=True)
    array([2, 5])
    >>> selector.transform(X).shape
    (300, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_L1Selector._parameter_constraints,
        **_pick(SquaredMutualInformation, "n_basis", "cv", "task"),
        "device": [str, None],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        algorithm: str = "path",
        n_basis: int = 100,
        n_restarts: int | None = None,
        cv: Any = 5,
        task: str = "auto",
        max_iter: int | None = None,
        time_limit: float | None = None,
        explore_rows: int | None = 10_000,
        memory_limit: int | None = None,
        device: str | None = None,
        precision: str = "float64",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.algorithm = algorithm
        self.n_basis = n_basis
        self.n_restarts = n_restarts
        self.cv = cv
        self.task = task
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.explore_rows = explore_rows
        self.memory_limit = memory_limit
        self.device = device
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, table: Table, target: Any, k: int) -> dict[str, Any]:
        measure = SquaredMutualInformation(
            n_basis=self.n_basis,
            centers="uniform" if self.algorithm == "paper" else "balanced",
            cv=self.cv,
            task=self.task,
        )
        learned = self._search(measure, self._weighting(), table, target, k, self.random_state)
        del learned["score"]  # cv_score says the same
        return {"smi": learned.pop("estimate"), **learned}


class L1HSIC(_L1Selector):
    """Select features by l1-penalised Hilbert-Schmidt independence.

    The same search as in `L1LSMI` with a measure that needs no model selection, and cannot have any:
    it sees dependence at the scale of one kernel width, the median distance between rows.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, or their share strictly between 0 and 1; None selects half.
    algorithm : {"path", "paper"}, default="path"
        "path" follows a shrinking l1 ball from all features down; "paper" is Algorithm 1 of the
        paper.
    sigma : float or None, default=None
        Kernel width of the standardised features by which sets are compared; None takes the median
        distance.
    n_restarts : int or None, default=None
        Restarts at most; None is 8 for "path", which stops as soon as restarts agree, and 20 for
        "paper".
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" takes labels and up to 20 different whole numbers for classes, all else for a
        quantity; integers with more than 20 different values are taken for a quantity with a
        warning.
    max_iter : int or None, default=None
        Ascent steps per radius at most; None is 4 for "path" and 100 for "paper".
    time_limit : float or None, default=None
        Seconds after which the best set so far is returned, with a warning.
    explore_rows : int or None, default=None
        Of more rows than this the search looks at a sample of so many, each class or range of the target in
        proportion; all rows decide between the best three sets, choose the model and give the scores.
        None searches on all rows, where every step visits all pairs of them: see the notes.
    memory_limit : int or None, default=None
        Bytes that may be used beside X, what medians take (2,000 rows, and a distance for each pair of
        them) and the targets. Blocks of rows are made so small that they fit; of rows that are not in
        memory as many are held at a time as fit, and all are read once for each time that takes. None is
        a quarter of a gigabyte.
    precision : {"float64", "float32"}, default="float64"
        What distances and kernels are worked out in. "float32" takes about half the memory beside X, and less
        time. Means and scales of the columns, sums over rows and weights are in float64 either way.
    random_state : int, RandomState instance or None, default=None
        Draws the starts.
    n_jobs : int or None, default=None
        Restarts run side by side in threads.
    verbose : int, default=0
        1 shows progress, as a bar where rich is installed.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        The selected features.
    weights_ : ndarray of float, shape (n_features,)
        Weights of the standardised features; 0 for those not selected.
    ranking_ : ndarray of int, shape (n_features,)
        1 for selected features; 2, 3, ... for the others, those that held out longest first.
    hsic_ : float
        The criterion for the weighted features.
    sigma_ : float
        The kernel width behind it.
    radius_ : float
        Sum of the weights.
    path_ : list of PathPoint
        Every radius visited: restart, radius, size, support, weights and objective.
    n_useful_features_ : int
        How many of the selected features the criterion is highest with.
    n_iter_ : int
        Ascent steps taken.
    stop_reason_ : str
        Why the search ended, in a sentence.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    A step visits all pairs of rows, in blocks: a second or so for 10,000 rows, and a hundred times as long
    for ten times the rows. Of more rows than that, ``explore_rows=5_000`` or so searches a sample; all pairs
    are then visited five times at the end. X need not be in memory: see `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi import L1HSIC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 8))
    >>> y = X[:, 2] * X[:, 5] > 0
    >>> L1HSIC(2, random_state=0).fit(X, y).get_support(indices=True)
    array([2, 5])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_L1Selector._parameter_constraints,
        **_pick(HSIC, "sigma", "task"),
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        algorithm: str = "path",
        sigma: float | None = None,
        n_restarts: int | None = None,
        task: str = "auto",
        max_iter: int | None = None,
        time_limit: float | None = None,
        explore_rows: int | None = None,
        memory_limit: int | None = None,
        precision: str = "float64",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.algorithm = algorithm
        self.sigma = sigma
        self.n_restarts = n_restarts
        self.task = task
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.explore_rows = explore_rows
        self.memory_limit = memory_limit
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, table: Table, target: Any, k: int) -> dict[str, Any]:
        measure = HSIC(sigma=self.sigma, task=self.task)
        learned = self._search(measure, self._weighting(), table, target, k, self.random_state)
        # What has no meaning for a measure without model selection.
        del learned["cv_score"], learned["regularization"], learned["estimate"]
        return {"hsic": learned.pop("score"), **learned}
