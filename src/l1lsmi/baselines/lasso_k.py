"""The lasso with the penalty that leaves exactly k features (Tibshirani, 1996)."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import MultiTaskLasso
from sklearn.utils._param_validation import StrOptions

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._base import Selector
from l1lsmi._clock import check_time
from l1lsmi._numerics.ranking import rank, rounded, scatter, take_best
from l1lsmi._numerics.target import Target
from l1lsmi._rows.statistics import column_statistics, standardize
from l1lsmi._rows.table import Table
from l1lsmi._validation.encoding import encode_levels
from l1lsmi._validation.parameters import CATEGORICAL
from l1lsmi._validation.target import TASKS
from l1lsmi.baselines._lasso_path import lasso_path_until

#: Smallest penalty of the multi-task lasso, over the largest.
MIN_PENALTY = 1e-4
#: Maximum number of fits of the multi-task lasso.
MAX_BISECTIONS = 40
#: Standardised columns that are equal to so many decimals are copies.
N_DECIMALS = 8


class LassoK(Selector):
    """Select exactly k features by the lasso.

    The penalty is decreased, from a value at which no feature is active, until k features are active. Only
    linear dependence is detected. Features are standardised internally; constant ones come last.

    A numeric target, or two classes coded as two numbers, is predicted by the lasso. The selected features
    are those with non-zero coefficients at the first knot of its path (in the order of decreasing penalty)
    that has exactly k of them, as in `sklearn.linear_model.lars_path`. More than two classes are predicted
    jointly, by their centred indicators, with a penalty on the norm of all coefficients of a feature
    (multi-task lasso); the penalty is found by bisection. Several targets are predicted jointly in the same
    way: numeric targets are standardised, and classes become indicators.

    A category is encoded as one number, the mean of the target in its level, computed from other rows; a
    missing value counts as the mean.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, or a fraction of all features strictly between 0 and 1; None selects half.
    task : {"auto", "classification", "regression", "survival"}, default="auto"
        "auto" treats labels and up to 20 distinct integers as classes, everything else as a numeric target.
        With several targets, the task of each target is decided separately. "survival" takes times until an
        event, some of them censored, as a structured array or as columns (time, event), and uses their
        martingale residuals.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns that are categories: names, indices or a mask. "from_dtype" takes columns of text and of
        categorical types.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        The selected features.
    coef_ : ndarray of float, shape (n_features,) or (n_features, n_outputs)
        Coefficients of the standardised features. A numeric target, or two classes coded as 0 and 1, is
        standardised. More than two classes have one column each, for the centred indicator of the class.
        Several targets have their columns side by side.
    alpha_ : float
        The penalty, as defined by scikit-learn.
    n_active_ : int
        Number of active features, less than k if no penalty gives k.
    scores_ : ndarray of float, shape (n_features,)
        Norm of the sum of a feature's coefficients and the negative gradient of the squared loss. It is more
        than `alpha_` for active features, and at most `alpha_` for the others: the closer it is to `alpha_`,
        the closer the feature is to becoming active. Minus infinity for constant features.
    ranking_ : ndarray of int, shape (n_features,)
        1 for selected features; 2, 3, ... for the others by decreasing score.
    warnings_ : list of str
        Warnings about the data, one sentence each: for instance about columns that give away the target,
        columns that only number the rows, or copies of other columns. `fit` issues them as one warning.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has column names.

    Notes
    -----
    Of tied features, such as copies, the first becomes active. If no penalty gives k active features (k
    exceeds the number of rows, or of linearly independent features), the features with the next highest
    scores are added; those with equal scores are ordered by their correlation with the target.

    References
    ----------
    .. [1] R. Tibshirani, "Regression shrinkage and selection via the lasso", Journal of the Royal
       Statistical Society B 58, 1996.
    .. [2] B. Efron, T. Hastie, I. Johnstone and R. Tibshirani, "Least angle regression", Annals of
       Statistics 32, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.baselines import LassoK
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 6))
    >>> y = 2 * X[:, 1] - X[:, 4] + rng.normal(size=300)
    >>> selector = LassoK(2).fit(X, y)
    >>> selector.get_support(indices=True)
    array([1, 4])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "task": [StrOptions(set(TASKS))],
        "categorical_features": CATEGORICAL,
    }
    coef_: HostArray
    alpha_: float
    n_active_: int
    scores_: HostArray
    ranking_: HostArray

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        task: str = "auto",
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.categorical_features = categorical_features

    def _takes_any_kind(self) -> bool:
        return True

    def _learn(self, table: Table, target: Any, k: int) -> dict[str, Any]:
        columns, m = table.varying, table.n_columns
        x = to_numpy(table.take(np.arange(table.n_rows), columns))
        if table.kinds is not None:
            x = _numbers_of_any_kind(x, table.kinds.is_category[columns], target)
        y = _numbers(target)
        if target.row_weights is not None:
            # Least squares in which rows are multiplied by the roots of their weights.
            roots = np.sqrt(target.row_weights)
            x, y = x * roots[:, None], (y.T * roots).T
        fit = lasso_path_until if y.ndim == 1 else _multi_task_lasso
        distinct = _distinct_columns(x)
        coef, active = np.zeros((columns.size, *y.shape[1:])), np.zeros(columns.size, dtype=bool)
        coef[distinct], active[distinct], penalty = fit(x[:, distinct], y, min(k, distinct.size))
        scores = _norms(x.T @ (y - x @ coef) / table.n_rows + coef)
        # Active features first, then by score, of equal scores by correlation with the target.
        order = np.lexsort((-rounded(_norms(x.T @ y)), -np.round(scores, 10), ~active))
        priority = np.empty(columns.size)
        priority[order] = -np.arange(columns.size)
        priority = scatter(priority, columns, m)
        support = take_best(priority, k)
        full_coef = np.zeros((m, *y.shape[1:]))
        full_coef[columns] = coef
        return {
            "support": support,
            "coef": full_coef,
            "alpha": penalty,
            "n_active": int(active.sum()),
            "scores": scatter(scores, columns, m),
            "ranking": rank(support, priority),
        }


def _numbers_of_any_kind(x: HostArray, is_category: HostArray, target: Target) -> HostArray:
    """Standardised columns: levels as means of the target in other rows, missing values at the mean."""
    x = np.array(x)
    for j in np.flatnonzero(is_category):
        codes = np.unique(x[:, j], return_inverse=True)[1].astype(np.float64)
        numbers = encode_levels(np.where(np.isnan(x[:, j]), np.nan, codes), target)[:, None]
        x[:, j] = standardize(numbers, *column_statistics(numbers, target.row_weights))[:, 0]
    return np.asarray(np.where(np.isnan(x), 0.0, x))


def _numbers(target: Target) -> HostArray:
    """The target standardised or, for more than two classes, as centred indicators."""
    if target.values is not None:
        return target.values
    assert target.classes is not None
    if target.classes.size == 2:
        mean = np.average(target.codes, weights=target.row_weights)
        variance = np.average((target.codes - mean) ** 2, weights=target.row_weights)
        return np.asarray((target.codes - mean) / np.sqrt(variance))
    return np.asarray(np.eye(target.classes.size)[target.codes] - target.class_shares())


def _distinct_columns(x: HostArray) -> HostArray:
    """The first of all standardised columns that are copies of one another, up to their sign."""
    first: dict[bytes, int] = {}
    for j, column in enumerate(np.round(x.T, N_DECIMALS)):
        # Adding zero turns -0.0 into 0.0.
        first.setdefault(min((column + 0.0).tobytes(), (0.0 - column).tobytes()), j)
    return np.array(list(first.values()))


def _norms(values: HostArray) -> HostArray:
    """Absolute values, or norms of rows."""
    return np.abs(values) if values.ndim == 1 else np.asarray(np.linalg.norm(values, axis=1))


def _multi_task_lasso(x: HostArray, y: HostArray, k: int) -> tuple[HostArray, HostArray, float]:
    """Coefficients, active columns and penalty of the fit with the most active columns, up to k.

    The penalty is halved until k columns are active, then bisected.
    """
    model = MultiTaskLasso(fit_intercept=False, warm_start=True, copy_X=False, tol=1e-8, max_iter=2000)
    x, y = np.asfortranarray(x), np.asfortranarray(y)
    above = largest = float(_norms(x.T @ y).max()) / y.shape[0]
    below = 0.0
    best: tuple[HostArray, HostArray, float]
    best = (np.zeros((x.shape[1], y.shape[1])), np.zeros(x.shape[1], dtype=bool), largest)
    for _ in range(MAX_BISECTIONS):
        check_time()
        penalty = above / 2 if below == 0 else float(np.sqrt(above * below))
        if penalty < MIN_PENALTY * largest:
            break
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            coef = np.array(model.set_params(alpha=penalty).fit(x, y).coef_.T)
        active = np.asarray(coef.any(axis=1))
        size = int(active.sum())
        if best[1].sum() <= size <= k:
            best = (coef, active, penalty)
        if size == k:
            break
        above, below = (penalty, below) if size < k else (above, penalty)
    return best
