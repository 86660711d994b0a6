"""Support vector machines on rows whose kernel matrix is known."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

from l1lsmi._arrays import HostArray

#: Half-width of the tube in which regression errors cost nothing, in units of the target.
EPSILON = 0.1
#: Maximum number of solver iterations in one fit of two classes, or of a regression. Only the largest C need
#: more, up to millions; twenty times as many left the smallest error of most grids unchanged, changed the
#: others by at most two rows in 400, or 0.3 %, either way, and took several times as long.
MAX_ITERATIONS = 5_000


def is_classes(y: HostArray) -> bool:
    """Whether a target is codes of classes (integers) rather than numbers."""
    return y.dtype.kind in "iu"


def fit_predict(
    kernel: HostArray, train: HostArray, test: HostArray, y: HostArray, C: float
) -> tuple[HostArray, float]:
    """Fit a support vector machine to the training rows and predict the test rows.

    Parameters
    ----------
    kernel : numpy.ndarray of shape (n, t)
        Kernel of all rows with the t training rows.
    train, test : numpy.ndarray of int
        Row numbers.
    y : numpy.ndarray of shape (t,)
        Target of the training rows; integers are classes.
    C : float
        Upper bound on the dual coefficients.

    Returns
    -------
    predicted : numpy.ndarray of shape (test rows,)
    largest : float
        The largest dual coefficient.
    """
    if (y == y[0]).all():
        return np.full(test.size, y[0]), 0.0
    if not is_classes(y) and np.ptp(y) <= 2 * EPSILON:
        # No row is outside the tube: there are no support vectors, and the intercept is its middle.
        return np.full(test.size, (y.max() + y.min()) / 2), 0.0
    # A kernel function of row numbers: scikit-learn checks a precomputed matrix at every fit, which takes
    # longer than a small fit itself.
    settings: dict[str, Any] = {"kernel": lambda rows, _: kernel[rows], "C": C, "max_iter": MAX_ITERATIONS}
    svm = SVC(**settings) if is_classes(y) else SVR(epsilon=EPSILON, **settings)
    with config_context(assume_finite=True, skip_parameter_validation=True), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        predicted = svm.fit(train, y).predict(test)
    return predicted, float(np.abs(svm.dual_coef_).max())
