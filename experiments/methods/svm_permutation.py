"""Permutation importance of an RBF SVM (wrapper)."""

import warnings

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from experiments.method import Method

N_REPEATS = 5


def select(X, y, k, task, seed):
    """Columns by the rise in 3-fold error when their held-out values are shuffled, mean of five shuffles.

    The SVM has C = 1 and gamma = 1 / number of columns, on standardised data. Shuffling one column changes
    one term of the squared distances, so that no kernel is computed from scratch.
    """
    rng = np.random.default_rng(seed)
    X = StandardScaler().fit_transform(np.asarray(X, dtype=float))
    rise = np.zeros(X.shape[1])
    classes = task == "classification"
    y = y if classes else (y - y.mean()) / y.std()
    folds = (StratifiedKFold if classes else KFold)(3, shuffle=True, random_state=seed % 2**32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class of fewer rows than folds
        folds = list(folds.split(X, y))
    for train, test in folds:
        kernel = np.exp(-cdist(X[test], X[train], "sqeuclidean") / X.shape[1])
        svm = (SVC if classes else SVR)(kernel="precomputed")
        svm.fit(np.exp(-cdist(X[train], X[train], "sqeuclidean") / X.shape[1]), y[train])

        def error(kernel, svm=svm, test=test):
            predicted = svm.predict(kernel)
            return np.sum(predicted != y[test]) if classes else np.sum((predicted - y[test]) ** 2)

        before = error(kernel)
        for j in range(X.shape[1]):
            now = np.subtract.outer(X[test, j], X[train, j]) ** 2
            for _ in range(N_REPEATS):
                then = np.subtract.outer(X[rng.permutation(test), j], X[train, j]) ** 2
                rise[j] += error(kernel * np.exp((now - then) / X.shape[1])) - before
    return np.argsort(-rise, kind="stable")[:k]


METHOD = Method("svm_permutation", "SVM permutation", "wrapper", select, nested=True)
