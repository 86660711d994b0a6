"""Errors for several targets, or for times until an event: the mean over targets of standardised errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target
from l1lsmi._validation.columns import Columns
from l1lsmi.evaluation.protocols import error_on_rows


def needs_standardised_error(target: Target) -> bool:
    """Whether a target has no error in units of its own."""
    return bool(target.parts) or target.hazard is not None


def standardised_error(
    columns: Columns,
    support: HostArray,
    target: Target,
    train: HostArray,
    test: HostArray,
    groups: HostArray | None,
) -> float:
    """Mean over targets of the error on test rows, over that of a constant prediction for all rows.

    Every target has a support vector machine of its own, tuned on the training rows. The error is that of
    `held_out_error`, over the standard deviation of a number, or over the share of the rows outside the most
    frequent class.

    Parameters
    ----------
    columns : Columns
    support : numpy.ndarray of int
        The selected columns; without any, the prediction is constant.
    target : Target
    train, test : numpy.ndarray of int
    groups : numpy.ndarray of int, shape (n,) or None

    Returns
    -------
    error : float
        1 is no better than a constant prediction.
    """
    of_train = None if groups is None else groups[train]
    errors = [_error(columns, support, one, train, test, of_train) for one in target.each()]
    return float(np.mean(errors))


def _error(
    columns: Columns,
    support: HostArray,
    target: Target,
    train: HostArray,
    test: HostArray,
    groups: HostArray | None,
) -> float:
    y = target.codes if target.values is None else target.values
    guess = 1 - float(target.class_shares().max()) if target.values is None else float(y.std())
    if support.size == 0 or (y[train] == y[train[0]]).all():
        return _constant_error(y[train], y[test], target.is_classification) / guess
    task = "classification" if target.is_classification else "regression"
    options: dict[str, Any] = {"task": task, "cv": min(5, train.size), "groups": groups}
    return error_on_rows(columns, y, train, test, support, **options) / guess


def _constant_error(train: HostArray, test: HostArray, is_classification: bool) -> float:
    """Error of the most frequent class, or of the mean, of the training rows."""
    if is_classification:
        return float(np.mean(test != np.bincount(train).argmax()))
    return float(np.sqrt(np.mean((test - train.mean()) ** 2)))
