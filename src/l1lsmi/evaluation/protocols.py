"""The error of a support vector machine on a set of features, by two protocols.

The paper's protocol is `svm_error`: the smallest cross-validation error over a grid of hyperparameters, on
the rows that the features were selected on. This error is optimistic. `held_out_error` is the error on test
rows that were used neither for selection nor for tuning; `split_rows` splits the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target
from l1lsmi._rows.medians import median_root
from l1lsmi._validation.columns import Columns
from l1lsmi._validation.folds import check_groups
from l1lsmi._validation.parameters import seed_of
from l1lsmi._validation.target import check_target
from l1lsmi.evaluation._checks import (
    check_any_kind,
    check_cv,
    check_one_target,
    check_task,
    check_test,
    encoded_test,
    numbers_of,
    required,
)
from l1lsmi.evaluation._coordinates import learned_coordinates
from l1lsmi.evaluation._folds import fold_rows
from l1lsmi.evaluation._grid_search import Problem, grid_search, loss_of
from l1lsmi.evaluation._svm import fit_predict, is_classes


@dataclass(frozen=True)
class SVMError:
    """Error of a support vector machine, and its hyperparameters.

    Attributes
    ----------
    error : float
        Error rate, or root mean squared error in regression.
    C : float
        Penalty parameter: the upper bound on the dual coefficients.
    sigma_factor : float
        Kernel width, as a multiple of the median distance between rows.
    n_fits : int
        Number of support vector machines fitted.
    n_skipped : int
        Number of support vector machines in the grid that were not fitted, because they could not be the
        best.
    """

    error: float
    C: float
    sigma_factor: float
    n_fits: int
    n_skipped: int


def svm_error(
    X: Any,
    y: Any,
    *,
    task: str = "auto",
    cv: int = 5,
    groups: Any = None,
    random_state: Any = 0,
    categorical_features: Any = "from_dtype",
) -> SVMError:
    r"""Smallest cross-validation error over a grid: the paper's protocol.

    Features are standardised. A support vector machine with the Gaussian kernel
    :math:`\exp(-\|x - x'\|^2 / 2\sigma^2)` is cross-validated for :math:`C = 10^{-3}, \ldots, 10^4` and
    :math:`\sigma` the median distance times 1/5, 1/2, 1, 2, 5, and the smallest error is returned. The same
    rows choose the hyperparameters, so that the error is biased downwards: it is suitable for comparing sets
    of features as in the paper, but not for estimating the error on new rows, which `held_out_error` does.
    The solver stops after at most 5000 iterations; only the largest values of C reach this limit.

    Parameters
    ----------
    X : array-like or dataframe of shape (n, k)
        The selected features. Constant ones are left out. Categories become indicators of their levels. A
        missing value is replaced by the mean, and marked by a further indicator.
    y : array-like of shape (n,)
        In regression the half-width of the tube (epsilon) is 0.1, in units of ``y``.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" treats labels and up to 20 distinct integers as classes, everything else as a numeric target.
    cv : int, default=5
        Number of folds, stratified by class.
    groups : array-like of shape (n,) or None, default=None
        Rows with the same label are in the same fold. There are at most as many folds as groups; a single
        group is ignored.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds.
    categorical_features : "from_dtype", None, or names, numbers or a mask of columns, default="from_dtype"
        Columns that are categories; "from_dtype" takes columns of text and of categorical types.

    Returns
    -------
    SVMError
        The error is computed over the rows of all folds. Of hyperparameters with the same error, those with
        the smallest C are reported, and of these the ones with the largest width.

    Examples
    --------
    >>> from l1lsmi.datasets import make_xor
    >>> from l1lsmi.evaluation import svm_error
    >>> X, y = make_xor(200, random_state=0)
    >>> round(svm_error(X[:, [0, 1]], y).error, 3), svm_error(X[:, [0, 2]], y).error > 0.3
    (0.0, True)
    """
    check_task(task)
    rows, target = check_any_kind(X, required("y", y), task, categorical_features)
    check_one_target(target, "y", "svm_error")
    problem, _ = _problem(rows, y, target, cv, groups, random_state)
    best = grid_search(problem)
    return SVMError(_error(best.loss, problem.y), *best[1:])


def held_out_error(
    X_train: Any,
    y_train: Any,
    X_test: Any,
    y_test: Any,
    *,
    task: str = "auto",
    cv: int = 5,
    groups: Any = None,
    random_state: Any = 0,
    chosen: SVMError | None = None,
    categorical_features: Any = "from_dtype",
) -> SVMError:
    """Error on held-out test rows.

    Only the training rows are used to standardise, to compute the median distance and to search the grid of
    `svm_error` by cross-validation. The best support vector machine is fitted to all training rows.

    Parameters
    ----------
    X_train : array-like or dataframe of shape (n, k)
        The selected features, as in `svm_error`. Features that are constant in the training rows are
        left out.
    y_train : array-like of shape (n,)
    X_test : array-like or dataframe of shape (rows, k)
        A level of a category that is not in the training rows is treated as different from all levels there.
    y_test : array-like of shape (rows,)
        A row of a class that is not in the training rows always counts as an error.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" depends on ``y_train``.
    cv : int, default=5
    groups : array-like of shape (n,) or None, default=None
        Training rows with the same label are in the same fold.
    random_state : int, RandomState instance or None, default=0
    chosen : SVMError or None, default=None
        Result of `svm_error` on the training rows, if available: its hyperparameters are used without a
        search, and the folds are not used.
    categorical_features : "from_dtype", None, or names, numbers or a mask of columns, default="from_dtype"
        Columns of X_train that are categories.

    Returns
    -------
    SVMError
        Of hyperparameters with the same error in cross-validation, those with the smallest C are chosen,
        and of these the ones with the largest width, which give the smoothest function.

    Examples
    --------
    >>> from l1lsmi.datasets import make_xor
    >>> from l1lsmi.evaluation import held_out_error
    >>> X, y = make_xor(300, random_state=0)
    >>> held_out_error(X[:200, :2], y[:200], X[200:, :2], y[200:]).error
    0.0
    """
    check_task(task)
    train, target = check_any_kind(X_train, required("y_train", y_train), task, categorical_features)
    check_one_target(target, "y_train", "held_out_error")
    problem, coordinates = _problem(train, y_train, target, cv, groups, random_state)
    others, truth = check_test(X_test, y_test, train, target)
    return _error_on(problem, coordinates(others), coordinates(train.x), truth, chosen)


def error_on_rows(
    columns: Columns,
    y: HostArray,
    train: HostArray,
    test: HostArray,
    support: HostArray,
    *,
    task: str,
    cv: int,
    groups: HostArray | None,
) -> float:
    """`held_out_error` of some columns of data in which the levels of categories are numbered already."""
    known = columns.part(train, support)
    target = check_target(y[train], task)
    problem, coordinates = _problem(known, y[train], target, cv, groups, 0)
    others, truth = columns.part(test, support).x, encoded_test(y[test], target)
    return _error_on(problem, coordinates(others), coordinates(known.x), truth, None).error


def _error_on(
    problem: Problem, others: HostArray, rows: HostArray, truth: HostArray, chosen: SVMError | None
) -> SVMError:
    """Error on test rows, by coordinates of them and of the training rows."""
    best = chosen or grid_search(problem)
    squares = _squared_distances(others, rows)
    factor = best.sigma_factor
    kernel = np.vstack([problem.kernel(factor), problem.kernel(factor, squares)])
    train, test = np.split(np.arange(kernel.shape[0]), [problem.y.size])
    predicted, _ = fit_predict(kernel, train, test, problem.y, best.C)
    error = _error(loss_of(predicted, truth), truth)
    n_fits, n_skipped = (best.n_fits, best.n_skipped) if chosen is None else (0, 0)
    return SVMError(error, best.C, factor, n_fits + 1, n_skipped)


def _problem(
    train: Columns, y: Any, target: Target, cv: int, groups: Any, random_state: Any
) -> tuple[Problem, Callable[[HostArray], HostArray]]:
    """Distances and folds of the rows, and a function that gives other rows coordinates in the same way."""
    n_rows = train.x.shape[0]
    n_folds = check_cv(cv, n_rows)
    group_of_row = check_groups(groups, n_rows, at_least=1)
    coordinates = learned_coordinates(train)
    z = coordinates(train.x)
    squares = _squared_distances(z, z)
    median = median_root(squares[np.triu_indices(n_rows, 1)])
    rng = np.random.default_rng(seed_of(random_state))
    folds = fold_rows(target.codes, group_of_row, n_folds, rng)
    truth = target.codes if target.is_classification else numbers_of(y)
    return Problem(squares, median, truth, folds), coordinates


def _squared_distances(rows: HostArray, others: HostArray) -> HostArray:
    """Squared distances: exactly 0 between equal rows, and 0 everywhere without columns."""
    if rows.shape[1] == 0:
        return np.zeros((rows.shape[0], others.shape[0]))
    return np.asarray(cdist(rows, others, "sqeuclidean"))


def _error(loss: float, y: HostArray) -> float:
    return loss / y.size if is_classes(y) else float(np.sqrt(loss / y.size))
