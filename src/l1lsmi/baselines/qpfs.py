"""Quadratic programming feature selection (Rodriguez-Lujan et al., 2010)."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._base import Selector
from l1lsmi._clock import call_in_thread
from l1lsmi._numerics.correlation import (
    Whitened,
    correlation_between,
    correlation_of_values,
    correlation_with_target,
)
from l1lsmi._numerics.ranking import rank, scatter, take_best
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Table
from l1lsmi._validation.parameters import CATEGORICAL, seed_of
from l1lsmi._validation.target import TASKS
from l1lsmi.baselines._columns import columns_of_any_kind
from l1lsmi.baselines._positive_part import CorrelationMatrix, minimise_with_positive_part
from l1lsmi.baselines._simplex_qp import (
    Hessian,
    SimplexMinimum,
    minimise_on_simplex,
    nearest_positive,
    nystrom_factor,
)

#: With more features, eigenvalues of their correlations take so long that Ctrl-C must not wait for them.
QUICK = 500
#: Most features whose matrix Q is decomposed into eigenvectors.
MOST_DECOMPOSED = 2500
#: Most features of a sparse table whose matrix Q is computed.
MOST_SPARSE = 5000


class QPFS(Selector):
    r"""Select features by a quadratic program that weighs relevance against redundancy (QPFS).

    .. math:: \min_w \tfrac12 (1 - \alpha) w^\top Q w - \alpha f^\top w
        \quad\text{subject to}\quad w \ge 0,\ \sum_i w_i = 1

    where Q contains the absolute Pearson correlations between features, and f those between each feature and
    the target. The features with the largest weights are selected. Features are standardised internally;
    constant ones are left out and come last.

    The correlation of a category with a number is the correlation ratio, and the correlation of two
    categories is Cramer's V. A category of more than 40 levels is first encoded as a number, by the means of
    the target in its levels. In Q, a missing value counts as the mean; rows in which a feature is missing are
    left out of its correlation with the target.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, or a fraction of all features strictly between 0 and 1; None selects half.
    alpha : float or None, default=None
        Between 0 (only redundancy) and 1 (only relevance: features are ranked by their correlation with the
        target). None balances the two: it is mean(Q) / (mean(Q) + mean(f)).
    n_nystrom : int or None, default=None
        Number of randomly drawn features of the Nystrom approximation of Q, with which memory and time are
        linear in the number of features. None computes all of Q.
    task : {"auto", "classification", "regression", "survival"}, default="auto"
        "auto" treats labels and up to 20 distinct integers as classes, everything else as a numeric target.
        With several targets, the task of each target is decided separately. "survival" takes times until an
        event, some of them censored, as a structured array or as columns (time, event), and uses their
        martingale residuals. The correlation with classes is the mean of the correlations with the class
        indicators, weighted by the frequencies of the classes.
    random_state : int, RandomState instance or None, default=None
        Seed for drawing the features of ``n_nystrom``; nothing else is random.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns that are categories: names, indices or a mask. "from_dtype" takes columns of text and of
        categorical types.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        The selected features.
    weights_ : ndarray of float, shape (n_features,)
        Solution of the quadratic program.
    alpha_ : float
        The alpha that was used.
    objective_ : float
        Value of the objective at the solution.
    scores_ : ndarray of float, shape (n_features,)
        The weights of features with positive weights; minus the Karush-Kuhn-Tucker multipliers of the
        others, so that the features closest to a positive weight come first. With ``alpha=1`` the
        correlation with the target. Minus infinity for constant features.
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
    A matrix of absolute correlations can have negative eigenvalues, and usually does if there are more
    features than rows. The program is then not convex: Q is replaced by the nearest positive semi-definite
    matrix, in which these eigenvalues are 0. With more than 2,500 features, only products of this matrix with
    a few vectors are computed, by Lanczos steps: time grows with the square of the number of features and not
    with its cube, and the objective is accurate to about six digits, the weights to three. If the Lanczos
    steps do not converge, as with many features that are nearly copies of each other, the whole matrix is
    computed. Often few weights are positive; further features are then selected by their scores. Copies of a
    feature get equal weights.

    References
    ----------
    .. [1] I. Rodriguez-Lujan, R. Huerta, C. Elkan and C. Santa Cruz, "Quadratic programming feature
       selection", Journal of Machine Learning Research 11, 2010.
    .. [2] M. A. Hall, "Correlation-based feature selection for discrete and numeric class machine
       learning", International Conference on Machine Learning, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.baselines import QPFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 6))
    >>> X[:, 3] = X[:, 1] + 0.1 * rng.normal(size=300)
    >>> y = 2 * X[:, 1] + X[:, 4]
    >>> selector = QPFS(2).fit(X, y)
    >>> selector.get_support(indices=True)
    array([1, 4])
    >>> selector.weights_.round(2)
    array([0.05, 0.6 , 0.05, 0.  , 0.25, 0.05])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "alpha": [Interval(Real, 0, 1, closed="both"), None],
        "n_nystrom": [Interval(Integral, 1, None, closed="left"), None],
        "task": [StrOptions(set(TASKS))],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL,
    }
    weights_: HostArray
    alpha_: float
    objective_: float
    scores_: HostArray
    ranking_: HostArray

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        alpha: float | None = None,
        n_nystrom: int | None = None,
        task: str = "auto",
        random_state: Any = None,
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.n_nystrom = n_nystrom
        self.task = task
        self.random_state = random_state
        self.categorical_features = categorical_features

    def _takes_any_kind(self) -> bool:
        return True

    def _max_dense_values(self, n_rows: int) -> int:
        # The matrix Q, which is made unless a sample of its columns stands for it, grows with their square.
        most = super()._max_dense_values(n_rows)
        return most if self.n_nystrom is not None else min(most, MOST_SPARSE * n_rows)

    def _learn(self, table: Table, target: Any, k: int) -> dict[str, Any]:
        if self.n_nystrom is not None and self.n_nystrom > table.n_columns:
            raise ValueError(
                f"n_nystrom={self.n_nystrom!r} is more than the {table.n_columns} features of X: pass at "
                "most that many, or None to use all of them."
            )
        columns = table.varying
        if table.kinds is None:
            x: HostArray = to_numpy(table.take(np.arange(table.n_rows), columns))
            relevance = correlation_with_target(x, target)
            if target.row_weights is not None:
                # Products of columns are then weighted sums.
                x *= np.sqrt(target.row_weights)[:, None]
            solve = self._solve if x.shape[1] <= QUICK else partial(call_in_thread, self._solve)
            alpha, minimum = solve(x, relevance)
        else:
            x, n_levels = columns_of_any_kind(table)
            relevance = _relevance_of_any_kind(x, n_levels, target)
            alpha, minimum = self._solve(Whitened.of(x, n_levels, target.row_weights), relevance)
        scores = np.where(minimum.weights > 0, minimum.weights, -minimum.multipliers)
        # Rounded, so that copies of a feature tie.
        order = scatter(np.round(scores, 10) if alpha < 1 else relevance, columns, table.n_columns)
        support = take_best(order, k)
        return {
            "support": support,
            "weights": scatter(minimum.weights, columns, table.n_columns, 0.0),
            "alpha": alpha,
            "objective": minimum.objective,
            "scores": scatter(scores if alpha < 1 else relevance, columns, table.n_columns),
            "ranking": rank(support, order),
        }

    def _solve(self, x: HostArray | Whitened, relevance: HostArray) -> tuple[float, SimplexMinimum]:
        """The value of alpha, and the minimum."""
        if self.alpha == 1:
            return 1.0, _most_relevant(relevance)
        hessian, redundancy = self._hessian(x)
        alpha = redundancy / (redundancy + relevance.mean()) if self.alpha is None else self.alpha
        if alpha == 1:
            return 1.0, _most_relevant(relevance)
        linear = -alpha * relevance
        if isinstance(hessian, CorrelationMatrix):
            minimum = minimise_with_positive_part(hessian, 1 - alpha, linear)
            if minimum is not None:
                return float(alpha), minimum
            del hessian  # two matrices of this size are enough
            hessian = Hessian.of_matrix(nearest_positive(_correlations(x)))
        return float(alpha), minimise_on_simplex(hessian.scaled(1 - alpha), linear)

    def _hessian(self, x: HostArray | Whitened) -> tuple[Hessian | CorrelationMatrix, float]:
        """The matrix Q, made positive semi-definite unless it is large, and the mean of its entries."""
        m = x.n_columns if isinstance(x, Whitened) else x.shape[1]
        if self.n_nystrom is None and m > MOST_DECOMPOSED and not isinstance(x, Whitened):
            large = CorrelationMatrix(x)
            return large, large.mean()
        if self.n_nystrom is None:
            matrix = _correlations(x)
            return Hessian.of_matrix(nearest_positive(matrix)), float(matrix.mean())
        rng = np.random.default_rng(seed_of(self.random_state))
        sampled = np.sort(rng.choice(m, min(self.n_nystrom, m), replace=False))
        sample = _correlations(x, sampled)
        return Hessian.of_factor(nystrom_factor(sample, sampled)), float(sample.mean())


def _correlations(x: HostArray | Whitened, some: HostArray | None = None) -> HostArray:
    """Absolute correlations of all columns with some of them, or all."""
    if isinstance(x, Whitened):
        return x.correlations(some)
    return correlation_between(x, x if some is None else x[:, some])


def _relevance_of_any_kind(x: HostArray, n_levels: HostArray, target: Target) -> HostArray:
    """Absolute correlations of columns of any kind with the target, the mean over several targets."""
    targets, levels = target.each(), n_levels.tolist()
    return np.array(
        [
            np.mean([correlation_of_values(x[:, j], levels[j], one) for one in targets])
            for j in range(len(levels))
        ]
    )


def _most_relevant(relevance: HostArray) -> SimplexMinimum:
    """With alpha = 1 the programme is linear: the most relevant feature has the weight 1."""
    best = int(np.argmax(relevance))
    weights = np.zeros(relevance.size)
    weights[best] = 1.0
    return SimplexMinimum(weights, relevance[best] - relevance, -float(relevance[best]))
