"""The lasso with its penalty chosen so that exactly k features are left (Tibshirani, 1996)."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import MultiTaskLasso
from sklearn.utils._param_validation import StrOptions

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._base import Selector
from l1lsmi._numerics.ranking import rank, rounded, scatter, take_best
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Table
from l1lsmi._validation.target import TASKS
from l1lsmi.baselines._lasso_path import lasso_path_until

#: The smallest penalty of groups, over the largest.
LEAST = 1e-4
#: Halvings of the interval between two penalties of groups.
MOST_HALVINGS = 40
#: Columns whose correlation is within this of 1 are copies.
SAME = 1e-10


class LassoK(Selector):
    """Select exactly k features by the lasso.

    The penalty falls from where no feature is active to where k are: their number is what is asked for, and
    the penalty follows. It sees linear dependence alone. Features are standardised inside; constant ones come
    last.

    A quantity, or two classes as two numbers, is predicted by the lasso. The selected features are those
    with non-zero coefficients at the first knot of its path (in the order of falling penalty) that has
    exactly k of them, as `sklearn.linear_model.lars_path` gives them. More classes are predicted together,
    by their centred indicators, with a penalty on the norm of all coefficients of a feature (multi-task
    lasso); the penalty is found by bisection.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, or their share strictly between 0 and 1; None selects half.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" takes labels and up to 20 different whole numbers for classes, all else for a quantity.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        The selected features.
    coef_ : ndarray of float, shape (n_features,) or (n_features, n_classes)
        Coefficients of the standardised features: for the standardised target, where two classes are the
        numbers 0 and 1; or for the centred indicators of more classes.
    alpha_ : float
        The penalty, in the units of scikit-learn.
    n_active_ : int
        Features with coefficients: fewer than asked for where no penalty gives so many.
    scores_ : ndarray of float, shape (n_features,)
        Norm of the coefficients plus the slopes of the squared loss: more than `alpha_` for active
        features, at most `alpha_` for the others, which are the nearer to being active the closer they come.
        Minus infinity for constant features.
    ranking_ : ndarray of int, shape (n_features,)
        1 for selected features; 2, 3, ... for the others by falling score.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    Of features that tie, copies for instance, the first becomes active. Where no penalty gives k active
    features (more are asked for than there are rows, or features that do not depend on one another), those
    with the highest scores are added, of equal scores those that correlate most with the target.

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
    }

    def __init__(self, n_features_to_select: int | float | None = None, *, task: str = "auto") -> None:
        self.n_features_to_select = n_features_to_select
        self.task = task

    def _learn(self, table: Table, target: Any, k: int) -> dict[str, Any]:
        columns, m = table.varying, table.n_columns
        x = to_numpy(table.take(np.arange(table.n_rows), columns))
        y = _numbers(target)
        coef, active, penalty = _penalised(x, y, min(k, columns.size))
        scores = _norms(x.T @ (y - x @ coef) / table.n_rows + coef)
        # Active features first, then by score, of equal scores by correlation with the target.
        order = np.lexsort((-rounded(_norms(x.T @ y)), -np.round(scores, 10), ~active))
        places = np.empty(columns.size)
        places[order] = -np.arange(columns.size)
        everywhere = scatter(places, columns, m)
        support = take_best(everywhere, k)
        coef_everywhere = np.zeros((m, *coef.shape[1:]))
        coef_everywhere[columns] = coef
        return {
            "support": support,
            "coef": coef_everywhere,
            "alpha": penalty,
            "n_active": int(active.sum()),
            "scores": scatter(scores, columns, m),
            "ranking": rank(support, everywhere),
        }


def _numbers(target: Target) -> HostArray:
    """What is to be predicted, standardised or, for more than two classes, as centred indicators."""
    if target.values is not None:
        return target.values
    assert target.classes is not None
    if target.classes.size == 2:
        return np.asarray((target.codes - target.codes.mean()) / target.codes.std())
    indicators = np.eye(target.classes.size)[target.codes]
    return np.asarray(indicators - indicators.mean(axis=0))


def _norms(values: HostArray) -> HostArray:
    """Absolute values, or norms of rows."""
    return np.abs(values) if values.ndim == 1 else np.asarray(np.sqrt((values**2).sum(axis=1)))


def _penalised(x: HostArray, y: HostArray, k: int) -> tuple[HostArray, HostArray, float]:
    """Coefficients, which columns are active, and the penalty: k of them, or fewer where that cannot be."""
    if y.ndim == 2:
        return _group_lasso(x, y, k)
    point = lasso_path_until(x, y, k)
    active = np.zeros(x.shape[1], dtype=bool)
    active[point.active] = True
    return point.coef, active, point.penalty


def _group_lasso(x: HostArray, y: HostArray, k: int) -> tuple[HostArray, HostArray, float]:
    """Halve the penalty until k columns are active, then bisect; keep the largest fit that has at most k."""
    model = MultiTaskLasso(fit_intercept=False, warm_start=True, copy_X=False, tol=1e-8, max_iter=2000)
    x, y = np.asfortranarray(x), np.asfortranarray(y)
    above = highest = float(_norms(x.T @ y).max()) / y.shape[0]
    below = 0.0
    best: tuple[HostArray, HostArray, float]
    best = (np.zeros((x.shape[1], y.shape[1])), np.zeros(x.shape[1], dtype=bool), highest)
    for _ in range(MOST_HALVINGS):
        penalty = above / 2 if below == 0 else float(np.sqrt(above * below))
        if penalty < LEAST * highest:
            break
        coef = _fit(model, x, y, penalty)
        active = np.asarray(coef.any(axis=1))
        size = int(active.sum())
        if best[1].sum() <= size <= k:
            best = (coef, active, penalty)
        if size == k:
            break
        above, below = (penalty, below) if size < k else (above, penalty)
    return best


def _fit(model: MultiTaskLasso, x: HostArray, y: HostArray, penalty: float) -> HostArray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.set_params(alpha=penalty).fit(x, y)
    model.coef_ = _merged(x, np.array(model.coef_.T)).T
    return np.array(model.coef_.T)


def _merged(x: HostArray, coef: HostArray) -> HostArray:
    """Give the first of several copies all that they have together, which is as good a fit."""
    active = np.flatnonzero(coef.any(axis=1))
    correlation = x[:, active].T @ x[:, active] / x.shape[0]
    for later in range(1, active.size):
        first = int(np.argmax(np.abs(correlation[: later + 1, later]) > 1 - SAME))
        if first < later:
            coef[active[first]] += np.sign(correlation[first, later]) * coef[active[later]]
            coef[active[later]] = 0.0
    return coef
