"""Forward selection around an RBF SVM (wrapper)."""

import warnings

import numpy as np
from sklearn import config_context
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from experiments.method import Method

# With more columns than this, later rounds try only the best of the previous rounds: all 617 columns with 26
# classes in every round would take about five minutes.
MANY_COLUMNS, CANDIDATES = 200, 60


def select(X, y, k, task, seed):
    """Add, k times, the column with which the 3-fold error of an SVM is smallest; the first of equals.

    The SVM has C = 1 and gamma = 1 / number of columns, on standardised data. Squared distances on the
    columns present are cached, and a candidate is dropped as soon as it cannot be the best.
    """
    X = StandardScaler().fit_transform(np.asarray(X, dtype=float))
    classes = task == "classification"
    y = y if classes else (y - y.mean()) / y.std()
    svm = (SVC if classes else SVR)(kernel="precomputed")
    folds = (StratifiedKFold if classes else KFold)(3, shuffle=True, random_state=seed % 2**32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class of fewer rows than folds
        folds = list(folds.split(X, y))
    present, chosen, errors = np.zeros((len(X), len(X))), [], np.zeros(X.shape[1])
    # Checks of the arguments would take longer than the fits.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        while len(chosen) < k:
            candidates = np.setdiff1d(np.argsort(errors, kind="stable"), chosen, assume_unique=True)
            candidates = candidates[: CANDIDATES if chosen and X.shape[1] > MANY_COLUMNS else None]
            best = np.inf
            for j in candidates:
                kernel = np.exp(-(present + _differences(X[:, j])) / (len(chosen) + 1))
                errors[j] = _error(svm, kernel, y, folds, best)
                best = min(best, errors[j])
            chosen.append(int(min(candidates, key=lambda j: (errors[j], j))))
            present += _differences(X[:, chosen[-1]])
    return chosen


def _differences(x):
    return np.subtract.outer(x, x) ** 2


def _error(svm, kernel, y, folds, best):
    """Sum over the folds; once above the best one, what it comes to if the other folds are alike."""
    total, done = 0.0, 0
    for train, test in folds:
        predicted = svm.fit(kernel[np.ix_(train, train)], y[train]).predict(kernel[np.ix_(test, train)])
        total += np.sum(predicted != y[test] if isinstance(svm, SVC) else (predicted - y[test]) ** 2)
        done += 1
        if total > best:
            break
    return total * len(folds) / done


METHOD = Method("svm_forward", "SVM forward", "wrapper", select, nested=True)
