"""Models that predict held-out rows from coordinates of the selected features."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.held_out import predict_unseen
from l1lsmi._rows.statistics import column_statistics, standardize

#: From so many training rows on the default is gradient boosting, which uses all of them.
MANY_ROWS = 2_000
#: Rows that gradient boosting needs of a class.
LEAST_ROWS_OF_CLASS = 10
#: Names of the default models.
KERNEL_MODEL, BOOSTED_MODEL = "kernel ridge regression", "gradient boosting"


class Predictions(NamedTuple):
    """Predictions of test rows.

    Attributes
    ----------
    values : numpy.ndarray of shape (n,)
        Codes of classes, or numbers.
    scores : numpy.ndarray of shape (n, classes) or None
        Higher where a class is more likely; None for numbers, and for models without.
    are_probabilities : bool
    """

    values: HostArray
    scores: HostArray | None
    are_probabilities: bool


def model_name(model: Any, n_train: int) -> str:
    """Name of a model, or of the default for so many training rows."""
    if model is None:
        return KERNEL_MODEL if n_train < MANY_ROWS else BOOSTED_MODEL
    return type(model).__name__


def predict_rows(
    model: Any, train: HostArray, y: HostArray, test: HostArray, n_classes: int, rng: np.random.Generator
) -> Predictions:
    """Fit a model to training rows and predict test rows.

    Parameters
    ----------
    model : estimator or None
        None is the default for the number of rows.
    train, test : numpy.ndarray of shape (n, w)
        Coordinates: see `learned_coordinates`.
    y : numpy.ndarray of shape (n,)
        Codes of classes, or numbers.
    n_classes : int
        0 for numbers.
    rng : numpy.random.Generator

    Returns
    -------
    Predictions
    """
    if train.shape[1] == 0 or (y == y[0]).all():
        return _constant(y, len(test), n_classes)
    if model is None and len(train) < MANY_ROWS:
        return _kernel_model(train, y, test, n_classes, rng)
    if model is None:
        return _boosted(train, y, test, n_classes)
    return _estimator(clone(model), train, y, test, n_classes)


def _constant(y: HostArray, n_test: int, n_classes: int) -> Predictions:
    if not n_classes:
        return Predictions(np.full(n_test, y.mean()), None, False)
    shares = np.bincount(y, minlength=n_classes) / y.size
    return Predictions(np.full(n_test, shares.argmax()), np.tile(shares, (n_test, 1)), True)


def _kernel_model(
    train: HostArray, y: HostArray, test: HostArray, n_classes: int, rng: np.random.Generator
) -> Predictions:
    """Regularised least squares on Gaussian kernels; a class is that with the largest predicted indicator."""
    # The kernel centres are evenly spaced: the order of the rows must be random.
    order = rng.permutation(len(train))
    if n_classes:
        scores = predict_unseen(train[order], np.eye(n_classes)[y[order]], test)
        return Predictions(scores.argmax(axis=1), scores, False)
    mean, scale = column_statistics(y[:, None])
    if not scale[0]:
        return _constant(y, len(test), n_classes)
    predicted = predict_unseen(train[order], standardize(y[order, None], mean, scale), test)
    return Predictions(mean[0] + scale[0] * predicted[:, 0], None, False)


def _boosted(train: HostArray, y: HostArray, test: HostArray, n_classes: int) -> Predictions:
    """Gradient boosting that ends where a tenth of the training rows is predicted no better."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    make = HistGradientBoostingClassifier if n_classes else HistGradientBoostingRegressor
    if n_classes:
        # Of other classes, too few rows would be in the tenth; nothing could be learned from them either.
        known = np.bincount(y, minlength=n_classes)[y] >= LEAST_ROWS_OF_CLASS
        if np.unique(y[known]).size < 2:
            return _constant(y, len(test), n_classes)
        train, y = train[known], y[known]
    return _estimator(make(random_state=0, early_stopping=True), train, y, test, n_classes)


def _estimator(model: Any, train: HostArray, y: HostArray, test: HostArray, n_classes: int) -> Predictions:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence in each fold
        model.fit(train, y)
        values = np.asarray(model.predict(test))
        if not n_classes:
            return Predictions(values.astype(np.float64).ravel(), None, False)
        for method in ("predict_proba", "decision_function"):
            if hasattr(model, method):
                found = np.asarray(getattr(model, method)(test), dtype=np.float64)
                return Predictions(
                    values, _of_all_classes(found, model.classes_, n_classes), "proba" in method
                )
    return Predictions(values, None, False)


def _of_all_classes(found: HostArray, known: HostArray, n_classes: int) -> HostArray | None:
    """Scores with a column for each class, also for those that no training row has."""
    if found.ndim == 1:  # of the second of two classes
        found = np.column_stack([-found, found])
    if found.shape[1] != len(known):
        return None
    scores = np.full((len(found), n_classes), min(0.0, float(found.min())))
    scores[:, np.asarray(known, dtype=np.intp)] = found
    return scores
