"""The error of a support vector machine on a set of features, under the two protocols.

The paper's protocol is `svm_error`: the smallest cross-validation error over the grid, on the rows that
the features were selected on. The honest one is `held_out_error`: all choices are made on a training
part, and the error is that on rows never seen; `split_rows` makes the two parts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from l1lsmi.arrays import HostArray, is_foreign, to_numpy
from l1lsmi.evaluation.folds import choose_test_groups, draw_stratified, fold_rows
from l1lsmi.evaluation.machines import is_classes, predict
from l1lsmi.evaluation.predictor import Problem, loss_of, search
from l1lsmi.numerics.target import Target, median_root
from l1lsmi.rows import Table, standardize
from l1lsmi.validation import TASKS, check_features, check_target, check_xy, seed_of

__all__ = ["SVMError", "held_out_error", "split_rows", "svm_error"]

#: Share of the rows on the test side where n_train does not say.
TEST_SHARE = 0.3


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
    :math:`\exp(-\|x - x'\|^2 / 2\sigma^2)` is cross-validated for :math:`C = 10^{-3}, \dots, 10^4` and
    :math:`\sigma` the median distance times 1/5, 1/2, 1, 2, 5, and the smallest error is returned. It
    is the error on rows that also chose the cell, so that it is too small: good for comparing sets of
    features as the paper does, not for what to expect of new rows. See `held_out_error` for that.

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
    _check_task(task)
    X, target = check_xy(X, _required("y", y), task)
    problem, _ = _problem(to_numpy(X), y, target, cv, groups, random_state)
    choice = search(problem)
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
    _check_task(task)
    X, target = check_xy(X_train, _required("y_train", y_train), task)
    problem, standardized = _problem(to_numpy(X), y_train, target, cv, groups, random_state)
    others, truth = _check_test(X_test, y_test, X.shape[1], target)
    choice = search(problem)
    squares = cdist(standardized(others), standardized(to_numpy(X)), "sqeuclidean")
    predicted, _ = predict(
        problem.kernel(choice.sigma_factor),
        problem.y,
        problem.kernel(choice.sigma_factor, squares),
        choice.C,
    )
    return SVMError(
        _error(loss_of(predicted, truth), truth),
        choice.C,
        choice.sigma_factor,
        choice.n_fits + 1,
        choice.n_skipped,
    )


def split_rows(
    y: Any, *, n_train: int | None = None, groups: Any = None, task: str = "auto", random_state: Any = 0
) -> tuple[HostArray, HostArray]:
    """Split rows at random into a training and a test side.

    Classes are on both sides in proportion, as far as groups allow. Without groups, all rows that are not
    drawn for training are test rows. With groups, whole groups of together about 30 % of the rows are the
    test side, and the training rows are drawn from the others.

    Parameters
    ----------
    y : array-like of shape (n,)
    n_train : int or None, default=None
        Number of training rows; None takes 70 % of them, or all outside the test groups.
    groups : array-like of shape (n,) or None, default=None
        Rows with the same label are never on both sides.
    task : {"auto", "classification", "regression"}, default="auto"
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    train, test : ndarray of int
        Row numbers, sorted.

    Examples
    --------
    >>> from l1lsmi.evaluation import split_rows
    >>> y = ["a"] * 8 + ["b"] * 4
    >>> train, test = split_rows(y, n_train=6)
    >>> [y[row] for row in train], len(test)
    (['a', 'a', 'a', 'a', 'b', 'b'], 6)
    """
    _check_task(task)
    codes = check_target(_required("y", y), task).codes
    group_of_row = _check_groups(groups, codes.size)
    rng = np.random.default_rng(seed_of(random_state))
    rows = np.arange(codes.size)
    if group_of_row is None:
        pool, test = rows, rows
        most, wanted = codes.size - 1, round((1 - TEST_SHARE) * codes.size)
    else:
        if group_of_row.max() == 0:
            raise ValueError(
                "groups has one group only, which cannot be on both sides: pass at least 2 groups, or None."
            )
        in_test = choose_test_groups(codes, group_of_row, TEST_SHARE, rng)[group_of_row]
        pool, test = rows[~in_test], rows[in_test]
        most = wanted = pool.size
    n_train = wanted if n_train is None else n_train
    if not isinstance(n_train, Integral) or not 1 <= n_train <= most:
        where = "" if group_of_row is None else " outside the test groups"
        raise ValueError(
            f"n_train={n_train!r} cannot be drawn from {codes.size} rows: pass a whole number from 1 to "
            f"{most}, which is all there are{where}."
        )
    train = pool[draw_stratified(codes[pool], int(n_train), rng)]
    return train, np.setdiff1d(test, train) if group_of_row is None else test


# -- from data to a problem ---------------------------------------------------------------------


def _problem(
    X: HostArray, y: Any, target: Target, cv: int, groups: Any, random_state: Any
) -> tuple[Problem, Callable[[HostArray], HostArray]]:
    """The rows as distances and folds, and how to standardise others like them."""
    if not isinstance(cv, Integral) or isinstance(cv, bool) or not 2 <= cv <= X.shape[0]:
        raise ValueError(f"cv={cv!r} must be a whole number of folds from 2 to the {X.shape[0]} rows of X.")
    group_of_row = _check_groups(groups, X.shape[0])
    table = Table.of(X)
    varying = table.varying

    def standardized(rows: HostArray) -> HostArray:
        values = np.array(rows[:, varying], dtype=np.float64)
        return np.asarray(standardize(values, table.mean[varying], table.scale[varying]))

    z = standardized(X)
    squares = cdist(z, z, "sqeuclidean") if varying.size else np.zeros((X.shape[0], X.shape[0]))
    median = median_root(squares[np.triu_indices(X.shape[0], 1)])
    rng = np.random.default_rng(seed_of(random_state))
    folds = fold_rows(target.codes, group_of_row, int(cv), rng)
    truth = target.codes if target.is_classification else _numbers(y)
    return Problem(squares, median, truth, folds), standardized


def _error(loss: float, y: HostArray) -> float:
    return loss / y.size if is_classes(y) else float(np.sqrt(loss / y.size))


def _numbers(y: Any) -> HostArray:
    """The target as given: the tube of 0.1 is in its units."""
    return np.asarray(to_numpy(y) if is_foreign(y) else y, dtype=np.float64).ravel()


# -- what is refused ------------------------------------------------------------------------------


def _required(name: str, y: Any) -> Any:
    if y is None:
        raise ValueError(f"{name} is None: pass one label or number per row.")
    return y


def _check_task(task: Any) -> None:
    if task not in TASKS:
        raise ValueError(f"task={task!r} is not known: pass one of {', '.join(map(repr, TASKS))}.")


def _check_groups(groups: Any, n_rows: int) -> HostArray | None:
    """Number the groups from 0."""
    if groups is None:
        return None
    labels = np.asarray(to_numpy(groups) if is_foreign(groups) else groups)
    if labels.shape != (n_rows,):
        raise ValueError(f"groups has shape {labels.shape}, but there are {n_rows} rows: pass one per row.")
    return np.unique(labels, return_inverse=True)[1]


def _check_test(X: Any, y: Any, n_features: int, target: Target) -> tuple[HostArray, HostArray]:
    """Rows never seen, encoded as the training rows are."""
    values = np.atleast_1d(_required("y_test", to_numpy(y) if is_foreign(y) else np.asarray(y)))
    rows = to_numpy(X) if is_foreign(X) else np.asarray(X)
    # A single row is a test too; the check of tables wants two.
    double = rows.ndim == 2 and rows.shape[0] == 1
    X = to_numpy(check_features(np.repeat(rows, 2, axis=0) if double else X))[: 1 if double else None]
    if X.shape[1] != n_features or values.shape != (X.shape[0],):
        raise ValueError(
            f"X_test has shape {X.shape} and y_test {values.shape}: pass {n_features} features in each row, "
            "as in X_train, and one target per row."
        )
    if target.is_classification:
        return X, target.encode(values)
    numbers = _numbers(values)
    if not np.isfinite(numbers).all():
        raise ValueError("y_test contains NaN or infinity: drop those rows.")
    return X, numbers
