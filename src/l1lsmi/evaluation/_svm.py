"""One support vector machine: learn from a kernel matrix, predict the rows of another.

LIBSVM does the work, through scikit-learn. The checks of scikit-learn take longer than a small fit, and a
grid has hundreds of small fits on matrices that are known to be in order. So its binding is called
without them, after a trial that shows that it gives what the public classes give; if a release of
scikit-learn should change it, the public classes are used.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

from l1lsmi._arrays import HostArray

#: Half the width of the tube in which regression errors cost nothing, in units of the target.
EPSILON = 0.1
#: Steps of the solver in one fit of two classes, or of a regression. Only the largest C ask for more, up
#: to millions; twenty times as many steps left the smallest error of most grids as it was, moved the others
#: by at most two rows in 400, or 0.3 %, either way, and took several times as long.
MAX_ITERATIONS = 5_000
#: What LIBSVM stops at, and the memory for kernel values in MB: its own and scikit-learn's defaults.
RULES = {"tol": 1e-3, "cache_size": 200.0}


def is_classes(y: HostArray) -> bool:
    """Whether a target is codes of classes (integers) rather than numbers."""
    return y.dtype.kind in "iu"


def predict(train: HostArray, y: HostArray, test: HostArray, C: float) -> tuple[HostArray, float]:
    """Learn from a kernel matrix, and predict the rows of another.

    Parameters
    ----------
    train : numpy.ndarray of shape (n, n), in C order
    y : numpy.ndarray of shape (n,)
        Integers are classes.
    test : numpy.ndarray of shape (rows, n), in C order
    C : float
        Bound on the dual coefficients.

    Returns
    -------
    predicted : numpy.ndarray of shape (rows,)
    largest : float
        The largest dual coefficient.
    """
    if (y == y[0]).all():
        return np.full(test.shape[0], y[0]), 0.0
    if not is_classes(y) and np.ptp(y) <= 2 * EPSILON:
        # All targets fit into the tube: LIBSVM keeps no rows, and its middle is the prediction.
        return np.full(test.shape[0], (y.max() + y.min()) / 2), 0.0
    return _bare(train, y, test, C) if _bare_agrees() else _public(train, y, test, C)


def _public(train: HostArray, y: HostArray, test: HostArray, C: float) -> tuple[HostArray, float]:
    rules: dict[str, Any] = {"kernel": "precomputed", "C": C, "max_iter": MAX_ITERATIONS, **RULES}
    machine = SVC(**rules) if is_classes(y) else SVR(epsilon=EPSILON, **rules)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(train, y)
    return machine.predict(test), float(np.abs(machine.dual_coef_).max())


def _bare(train: HostArray, y: HostArray, test: HostArray, C: float) -> tuple[HostArray, float]:
    from sklearn.svm import _libsvm

    # The numbers of C-SVC and epsilon-SVR in LIBSVM.
    kind = {"svm_type": 0 if is_classes(y) else 3, "kernel": "precomputed"}
    targets = y.astype(np.float64)
    model = _libsvm.fit(train, targets, C=C, epsilon=EPSILON, max_iter=MAX_ITERATIONS, **kind, **RULES)
    predicted = _libsvm.predict(test, *model[:7], **kind)
    return predicted.astype(y.dtype), float(np.abs(model[3]).max())


@cache
def _bare_agrees() -> bool:
    """Whether the binding is there and gives exactly what the public classes give."""
    x = np.linspace(0.0, 3.0, 12)
    kernel = np.exp(-((x[:, None] - x) ** 2))
    try:
        for y in (np.arange(12) % 3, np.sin(5 * x)):
            # The public class first: it also tells LIBSVM to print nothing.
            public, bare = _public(kernel, y, kernel, 1.0), _bare(kernel, y, kernel, 1.0)
            if not np.array_equal(bare[0], public[0]) or bare[1] != public[1]:
                return False
    except (ImportError, AttributeError, TypeError, ValueError, IndexError):
        return False
    return True
