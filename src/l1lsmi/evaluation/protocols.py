"""The error of a support vector machine on a set of features, under the two protocols.

The paper's protocol is `svm_error`: the smallest cross-validation error over the grid, on the rows that
the features were selected on. The honest one is `held_out_error`: all choices are made on a training
part, and the error is that on rows never seen; `split_rows` makes the two parts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._numerics.target import Target, median_root
from l1lsmi._rows.table import Table, standardize
from l1lsmi._validation.features import check_xy
from l1lsmi._validation.parameters import seed_of
from l1lsmi.evaluation._checks import check_cv, check_groups, check_task, check_test, numbers_of, required
from l1lsmi.evaluation._folds import fold_rows
from l1lsmi.evaluation._grid_search import Problem, grid_search, loss_of
from l1lsmi.evaluation._svm import fit_predict, is_classes


@dataclass(frozen=True)
class SVMError:
    """Error of a support vector machine, and how it was found.

    Attributes
    ----------
    error : float
        Error rate, or root mean squared error in regression.
    C : float
        Bound on the dual coefficients in the chosen cell of the grid.
    sigma_factor : float
        Kernel width in the chosen cell, over the median distance between rows.
    n_fits : int
        Support vector machines that were fitted.
    n_skipped : int
        Those of the grid that could not change the choice and were not.
    """

    error: float
    C: float
    sigma_factor: float
    n_fits: int
    n_skipped: int


def svm_error(
    X: Any, y: Any, *, task: str = "auto", cv: int = 5, groups: Any = None, random_state: Any = 0
) -> SVMError:
    r"""Smallest cross-validation error over a grid: the paper's protocol.

    Features are standardised. A support vector machine with the Gaussian kernel
    :math:`\exp(-\|x - x'\|^2 / 2\sigma^2)` is cross-validated for :math:`C = 10^{-3}, \ldots, 10^4` and
    :math:`\sigma` the median distance times 1/5, 1/2, 1, 2, 5, and the smallest error is returned. It
    is the error on rows that also chose the cell, so that it is too small: good for comparing sets of
    features as the paper does, not for what to expect of new rows. See `held_out_error` for that. The
    solver is stopped after 5000 steps, which only the largest C reach.

    Parameters
    ----------
    X : array-like of shape (n, k)
        The selected features. Constant ones are left out.
    y : array-like of shape (n,)
        Regression counts no error within 0.1 of the target, in the units of ``y``.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" takes labels and up to 20 different whole numbers for classes, all else for a quantity.
    cv : int, default=5
        Number of folds; classes are spread evenly over them.
    groups : array-like of shape (n,) or None, default=None
        Rows with the same label share a fold. Fewer groups than ``cv`` make as many folds as groups; one
        group is the same as none.
    random_state : int, RandomState instance or None, default=0
        Deals the rows to the folds.

    Returns
    -------
    SVMError
        Errors are counted over the rows of all folds together. Of cells with the same error, the one with
        the smallest C is reported, then that with the largest width.

    Examples
    --------
    >>> from l1lsmi.datasets import make_xor
    >>> from l1lsmi.evaluation import svm_error
    >>> X, y = make_xor(200, random_state=0)
    >>> round(svm_error(X[:, [0, 1]], y).error, 3), svm_error(X[:, [0, 2]], y).error > 0.3
    (0.0, True)
    """
    check_task(task)
    X, target = check_xy(X, required("y", y), task)
    problem, _ = _problem(to_numpy(X), y, target, cv, groups, random_state)
    choice = grid_search(problem)
    return SVMError(_error(choice.loss, problem.y), *choice[1:])


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
) -> SVMError:
    """Error on rows never seen: the honest protocol.

    The grid of `svm_error` is searched by cross-validation on the training rows, which alone say how to
    standardise and what the median distance is. The best cell is fitted to all of them.

    Parameters
    ----------
    X_train : array-like of shape (n, k)
        The selected features. Those that are constant here are left out.
    y_train : array-like of shape (n,)
    X_test : array-like of shape (rows, k)
    y_test : array-like of shape (rows,)
        A class that the training rows do not have is always an error.
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" looks at ``y_train``.
    cv : int, default=5
    groups : array-like of shape (n,) or None, default=None
        Training rows with the same label share a fold.
    random_state : int, RandomState instance or None, default=0
    chosen : SVMError or None, default=None
        What `svm_error` said of the training rows, where it was asked already: its cell of the grid is
        taken, and nothing is searched. The folds play no part then.

    Returns
    -------
    SVMError
        Of cells with the same error in cross-validation, the one with the smallest C is chosen, then that
        with the largest width, which is the smoothest.

    Examples
    --------
    >>> from l1lsmi.datasets import make_xor
    >>> from l1lsmi.evaluation import held_out_error
    >>> X, y = make_xor(300, random_state=0)
    >>> held_out_error(X[:200, :2], y[:200], X[200:, :2], y[200:]).error
    0.0
    """
    check_task(task)
    X, target = check_xy(X_train, required("y_train", y_train), task)
    problem, standardized = _problem(to_numpy(X), y_train, target, cv, groups, random_state)
    others, truth = check_test(X_test, y_test, X.shape[1], target)
    choice = chosen or grid_search(problem)
    squares = _squared_distances(standardized(others), standardized(to_numpy(X)))
    factor = choice.sigma_factor
    kernel = np.vstack([problem.kernel(factor), problem.kernel(factor, squares)])
    train, test = np.split(np.arange(kernel.shape[0]), [problem.y.size])
    predicted, _ = fit_predict(kernel, train, test, problem.y, choice.C)
    error = _error(loss_of(predicted, truth), truth)
    n_fits, n_skipped = (choice.n_fits, choice.n_skipped) if chosen is None else (0, 0)
    return SVMError(error, choice.C, factor, n_fits + 1, n_skipped)


def _problem(
    X: HostArray, y: Any, target: Target, cv: int, groups: Any, random_state: Any
) -> tuple[Problem, Callable[[HostArray], HostArray]]:
    """The rows as distances and folds, and how to standardise others like them."""
    n_folds = check_cv(cv, X.shape[0])
    group_of_row = check_groups(groups, X.shape[0])
    table = Table.of(X)
    varying = table.varying

    def standardized(rows: HostArray) -> HostArray:
        values = np.array(rows[:, varying], dtype=np.float64)
        return np.asarray(standardize(values, table.mean[varying], table.scale[varying]))

    z = standardized(X)
    squares = _squared_distances(z, z)
    median = median_root(squares[np.triu_indices(X.shape[0], 1)])
    rng = np.random.default_rng(seed_of(random_state))
    folds = fold_rows(target.codes, group_of_row, n_folds, rng)
    truth = target.codes if target.is_classification else numbers_of(y)
    return Problem(squares, median, truth, folds), standardized


def _squared_distances(rows: HostArray, others: HostArray) -> HostArray:
    """Exactly 0 for rows that are the same; 0 for all where no column varies."""
    if rows.shape[1] == 0:
        return np.zeros((rows.shape[0], others.shape[0]))
    return np.asarray(cdist(rows, others, "sqeuclidean"))


def _error(loss: float, y: HostArray) -> float:
    return loss / y.size if is_classes(y) else float(np.sqrt(loss / y.size))
