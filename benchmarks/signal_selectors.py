"""The selectors of ``signal.py``: each a function of data, k and a seed, with its largest size.

All run on one thread.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale
from sklearn.svm import SVC, SVR

from l1lsmi import L1LSMI
from l1lsmi.baselines import MRMR

Select = Callable[[np.ndarray, np.ndarray, int, int], Sequence[int]]


@dataclass(frozen=True)
class Method:
    """A selector with its limits: beyond them it takes hours, or more memory than there is."""

    label: str
    select: Select
    max_rows: float = math.inf
    max_values: float = math.inf
    package: str | None = None

    def finishes(self, n: int, m: int) -> bool:
        return n <= self.max_rows and n * m <= self.max_values

    def missing(self) -> str | None:
        """Why it cannot run here; the package is imported, so that importing is in no measured time."""
        if self.package is not None:
            try:
                importlib.import_module(self.package)
            except ImportError as error:
                return f"{self.package} cannot be imported ({error})"
        return None


def is_classes(y: np.ndarray) -> bool:
    return y.dtype.kind == "i"


def highest(importance: np.ndarray, k: int) -> Sequence[int]:
    return np.argsort(-importance, kind="stable")[:k].tolist()


def l1lsmi(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Sequence[int]:
    return L1LSMI(k, random_state=seed).fit(X, y).get_support(indices=True).tolist()


def lightgbm(X: np.ndarray, y: np.ndarray, k: int, seed: int, **settings: float) -> Sequence[int]:
    """Columns by the total gain of their splits."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    booster = (LGBMClassifier if is_classes(y) else LGBMRegressor)(
        n_estimators=200,
        num_leaves=15,
        importance_type="gain",
        n_jobs=1,
        random_state=seed,
        verbosity=-1,
        **settings,
    )
    return highest(booster.fit(X, y).feature_importances_, k)


def lightgbm_hessian(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Sequence[int]:
    """The same where the second derivatives of a leaf sum to 1 at least, not to 0.001.

    With the default, noise collects the gain where a class is rare: its few rows leave most leaves with
    almost no second derivative, by which their values are divided. A numeric target gives the same columns
    either way, as each of its rows counts 1.
    """
    return lightgbm(X, y, k, seed, min_child_weight=1.0)


def random_forest(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Sequence[int]:
    """Columns by the mean decrease in impurity."""
    forest = RandomForestClassifier if is_classes(y) else RandomForestRegressor
    fitted = forest(n_estimators=200, min_samples_leaf=5, n_jobs=1, random_state=seed).fit(X, y)
    return highest(fitted.feature_importances_, k)


def mrmr(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Sequence[int]:
    return MRMR(k, random_state=seed).fit(X, y).get_support(indices=True).tolist()


def hsic_lasso(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Sequence[int]:
    """HSIC Lasso in blocks of 20 rows.

    Its path can end with fewer than k columns; those missing are filled up by the largest HSIC.
    """
    from pyHSICLasso import HSICLasso

    lasso = HSICLasso()
    np.random.seed(seed)  # noqa: NPY002 - it jitters equal columns by the global generator
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        # It says that the last rows do not fill a block.
        warnings.simplefilter("ignore", RuntimeWarning)
        lasso.input(scale(X), np.asarray(y if is_classes(y) else scale(y), dtype=float))
        run = lasso.classification if is_classes(y) else lasso.regression
        run(k, B=20, max_neighbors=0, n_jobs=1)
    order = [*lasso.get_index(), *np.argsort(-np.ravel(lasso.Xty), kind="stable")]
    return list(dict.fromkeys(int(j) for j in order))[:k]


def svm_permutation(X: np.ndarray, y: np.ndarray, k: int, seed: int, n_repeats: int = 3) -> Sequence[int]:
    """Columns by what an RBF SVM loses on a third of the rows, held out, when their values are shuffled.

    Shuffling one column changes one term of the squared distances, so that no kernel is computed anew.
    Classes count alike, however rare: otherwise every row would be predicted to be of the common class.
    """
    rng = np.random.default_rng(seed)
    X, m = scale(X), X.shape[1]
    if is_classes(y):
        svm, score, stratify = SVC(kernel="precomputed", class_weight="balanced"), balanced_accuracy_score, y
    else:
        svm, score, stratify, y = SVR(kernel="precomputed"), r2_score, None, scale(y)
    train, test = train_test_split(np.arange(y.size), test_size=1 / 3, random_state=seed, stratify=stratify)
    svm.fit(np.exp(-cdist(X[train], X[train], "sqeuclidean") / m), y[train])
    # Rows that are no support vectors have no part in a prediction, but their columns must be there.
    kernel = np.zeros((test.size, train.size))
    support = svm.support_
    exact = np.exp(-cdist(X[test], X[train[support]], "sqeuclidean") / m)
    lost = np.zeros(m)
    for j in range(m):
        now = np.subtract.outer(X[test, j], X[train[support], j]) ** 2
        for _ in range(n_repeats):
            then = np.subtract.outer(X[rng.permutation(test), j], X[train[support], j]) ** 2
            kernel[:, support] = exact * np.exp((now - then) / m)
            lost[j] -= score(y[test], svm.predict(kernel))
    return highest(lost, k)


METHODS: dict[str, Method] = {
    "l1lsmi": Method("L1LSMI", l1lsmi, max_values=2e8),
    "lightgbm": Method("LightGBM", lightgbm, max_values=2e8, package="lightgbm"),
    "lightgbm_hessian": Method("LightGBM h>=1", lightgbm_hessian, max_values=2e8, package="lightgbm"),
    "random_forest": Method("forest", random_forest, max_values=4e6),
    "mrmr": Method("mRMR", mrmr, max_values=2e8),
    "hsic_lasso": Method("HSIC Lasso", hsic_lasso, max_rows=4_000, max_values=1e6, package="pyHSICLasso"),
    "svm_permutation": Method("SVM", svm_permutation, max_rows=4_000, max_values=4e5),
}
