"""The rivals in ``experiments/methods``: k columns, the same for the same seed, with the obvious one."""

import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from tests.conftest import has_module

NAMES = [
    "boruta",
    "hsic_lasso",
    "lassonet",
    "lightgbm",
    "multisurf",
    "random_forest",
    "svm_forward",
    "svm_permutation",
]
# A class of two rows, fewer than there are folds, and numbers that do not follow each other.
LABELS = np.array([-3, 4, 5, 40])
OBVIOUS, CONSTANT, N_COLUMNS = 2, 1, 5
LARGEST_SEED = 2**32 - 1


def rival(name):
    """The method of that name; skips where a package that it needs is not installed."""
    method = import_module(f"experiments.methods.{name}").METHOD
    missing = [package for package in method.needs if not has_module(package)]
    if missing:
        pytest.skip(f"{name} needs {', '.join(missing)}")
    return method


def problem(task, n=120):
    """One column decides, two are noise, one is constant, and the last repeats the first."""
    rng = np.random.default_rng(3)
    X = rng.normal(loc=50.0, scale=[1.0, 0.0, 3.0, 0.1, 1.0], size=(n, N_COLUMNS))
    X[:, -1] = X[:, 0]
    if task == "regression":
        return X, 1000.0 + 7.0 * X[:, OBVIOUS] + rng.normal(size=n)
    y = np.digitize(X[:, OBVIOUS], [48.5, 51.5])
    y[:2] = 3
    return X, y


def assert_columns(selected, k):
    assert len(selected) == k == len({int(j) for j in selected})
    assert all(0 <= j < N_COLUMNS for j in selected)


@pytest.mark.parametrize("name", NAMES)
def test_classes_may_have_any_numbers(name, capfd):
    method = rival(name)
    X, y = problem("classification")
    selected = method.select(X, y, 2, "classification", LARGEST_SEED)
    assert_columns(selected, 2)
    assert selected[0] == OBVIOUS
    # Class labels do not matter, the same seed gives the same result, and so does a longer ranking.
    again = method.select(X.copy(), LABELS[y], 3 if method.nested else 2, "classification", LARGEST_SEED)
    assert list(again[:2]) == list(selected)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", NAMES)
def test_regression_up_to_all_columns(name, capfd):
    method = rival(name)
    X, y = problem("regression")
    assert list(method.select(X, y, 1, "regression", 0)) == [OBVIOUS]
    selected = method.select(X.astype(np.float32), y, N_COLUMNS - 1, "regression", 0)
    assert_columns(selected, N_COLUMNS - 1)
    assert OBVIOUS in selected
    assert_columns(method.select(X, y, N_COLUMNS, "regression", 0), N_COLUMNS)
    assert capfd.readouterr() == ("", "")


def test_packages_are_imported_when_they_are_used():
    imports = "; ".join(f"import experiments.methods.{name}" for name in NAMES)
    code = f"import sys; {imports}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    packages = {
        package for name in NAMES for package in import_module(f"experiments.methods.{name}").METHOD.needs
    }
    assert packages == {"boruta", "lassonet", "lightgbm", "pyHSICLasso", "skrebate"}
    assert not packages & set(run.stdout.split())


def interaction():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    return X, (X[:, 3] + X[:, 0] * X[:, 1] > 0).astype(int)


def plain_forward(X, y, k, seed):
    """What svm_forward does, with no kernel shared and no candidate left early."""
    X, chosen = StandardScaler().fit_transform(X), []
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    while len(chosen) < k:
        left = [j for j in range(X.shape[1]) if j not in chosen]
        svm = SVC(gamma=1 / (len(chosen) + 1))
        wrong = [np.sum(cross_val_predict(svm, X[:, [*chosen, j]], y, cv=folds) != y) for j in left]
        chosen.append(left[int(np.argmin(wrong))])
    return chosen


def test_forward_search_equals_the_plain_one():
    X, y = interaction()
    assert rival("svm_forward").select(X, y, 4, "classification", 7) == plain_forward(X, y, 4, 7)


def test_forward_search_leaves_hopeless_columns_out_only_where_there_are_many(monkeypatch):
    from experiments.methods import svm_forward

    X, y = interaction()
    fits = []

    class CountingSVC(SVC):
        def fit(self, X, y):
            fits.append(len(y))
            return super().fit(X, y)

    monkeypatch.setattr(svm_forward, "SVC", CountingSVC)
    whole = svm_forward.select(X, y, 2, "classification", 7)
    n_whole = len(fits)
    monkeypatch.setattr(svm_forward, "MANY_COLUMNS", 5)
    monkeypatch.setattr(svm_forward, "CANDIDATES", 1)
    short = svm_forward.select(X, y, 2, "classification", 7)
    # Six candidates on at most three folds, then five against one.
    assert len(fits) - n_whole < n_whole <= 3 * (6 + 5)
    assert short[0] == whole[0]


def test_permutation_importance_equals_the_plain_one():
    X, y = interaction()
    seed, rise = 11, np.zeros(X.shape[1])
    Z, rng = StandardScaler().fit_transform(X), np.random.default_rng(seed)
    for train, test in StratifiedKFold(3, shuffle=True, random_state=seed).split(Z, y):
        svm = SVC(gamma=1 / X.shape[1]).fit(Z[train], y[train])
        for j in range(X.shape[1]):
            for _ in range(5):
                shuffled = Z[test]
                shuffled[:, j] = Z[rng.permutation(test), j]
                rise[j] += np.sum(svm.predict(shuffled) != y[test]) - np.sum(svm.predict(Z[test]) != y[test])
    order = np.argsort(-rise, kind="stable")
    np.testing.assert_array_equal(rival("svm_permutation").select(X, y, 6, "classification", seed), order)


def test_hsic_lasso_is_filled_up_by_relevance(monkeypatch):
    method = rival("hsic_lasso")
    from pyHSICLasso import HSICLasso

    # Copies of the target with more and more noise: the more of it, the smaller HSIC.
    rng = np.random.default_rng(0)
    y = rng.normal(size=200)
    X = y[:, None] + rng.normal(size=(200, 4)) * [2.0, 0.5, 4.0, 1.0]
    monkeypatch.setattr(HSICLasso, "get_index", lambda self: [0])
    assert method.select(X, y, 3, "regression", 0) == [0, 1, 3]
