"""A selection depends on the data, and not on how they are written down."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi._rows.canonical import order_in_memory
from l1lsmi._validation.rows import read_rows
from l1lsmi.baselines import MRMR
from l1lsmi.measures import MutualInformation, SquaredMutualInformation
from l1lsmi.strategies import Ranking

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
NAMES = np.array(["z", "m", "a"])
CHANGES = {
    "rows": lambda X, y, rng: (X[rows := rng.permutation(len(X))], y[rows]),
    "units": lambda X, y, rng: (X * 10.0 ** rng.uniform(-9, 9, X.shape[1]), y),
    "shifts": lambda X, y, rng: (X + rng.normal(size=X.shape[1]), y),
    "labels": lambda X, y, rng: (X, NAMES[y]),
    "copies": lambda X, y, rng: (np.repeat(X, 2, axis=0), np.repeat(y, 2)),
}
SELECTORS = {
    "L1LSMI": L1LSMI(2, n_basis=20, n_restarts=2, p_value=False),
    "L1HSIC": L1HSIC(2, p_value=False),
    "squared mutual information": FeatureSelector(
        SquaredMutualInformation(n_basis=10), Ranking(), 2, random_state=0
    ),
    "mutual information": FeatureSelector(
        MutualInformation(n_basis=5, cv=2, sigma_factors=(1.0,)), Ranking(), 2, random_state=0
    ),
    "neighbours": MRMR(2, relevance="knn", random_state=0),
}


def noise(n=30, m=6, seed=0):
    """Scores of uninformative features differ by what is drawn alone."""
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(size=(n, m)), 1), rng.integers(0, 3, n)


@pytest.mark.parametrize("change", [*CHANGES, "columns"])
@pytest.mark.parametrize("name", SELECTORS)
def test_the_same_set(name, change):
    if (name, change) == ("neighbours", "columns"):
        pytest.skip("the estimate is 0 for several uninformative columns, of which the first is taken")
    rng = np.random.default_rng(1)
    for seed in range(2):
        X, y = noise(seed=seed)
        expected = clone(SELECTORS[name]).fit(X, y).support_
        if change == "columns":
            columns = rng.permutation(X.shape[1])
            found = clone(SELECTORS[name]).fit(X[:, columns], y).support_
            np.testing.assert_array_equal(found, expected[columns])
        else:
            found = clone(SELECTORS[name]).fit(*CHANGES[change](X, y, rng)).support_
            np.testing.assert_array_equal(found, expected)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 40), st.integers(1, 12), st.integers(1, 6), st.integers(0, 10**6))
def test_the_order_of_rows(n, m, n_values, seed):
    """Also of few values, which many rows have in common."""
    rng = np.random.default_rng(seed)
    X = np.unique(rng.integers(0, n_values + 1, size=(n, m)), axis=0).astype(float)
    n = len(X)
    y = rng.integers(0, 3, n)
    order = ordered(X, y)
    rows, columns = rng.permutation(n), rng.permutation(m)
    np.testing.assert_array_equal(rows[ordered(X[rows], y[rows])], order)
    changed = (X * 10.0 ** rng.uniform(-9, 9, m) + rng.normal(size=m))[:, columns]
    changed_order = ordered(changed, np.array([5.0, 1.0, 3.0])[y])
    # Rows that are the same up to an exchange of columns may change places.
    same = [np.array_equal(np.sort(X[i]), np.sort(X[j])) for i, j in zip(order, changed_order, strict=True)]
    assert all(same)


def ordered(X, y):
    ties = X @ np.random.default_rng(0).normal(size=X.shape[1])
    is_category = np.zeros(X.shape[1], dtype=bool)
    return order_in_memory(X, np.arange(len(X)), is_category, np.asarray(y, dtype=float)[:, None], ties)


def test_names_of_classes_do_not_number_them():
    X, y = noise()
    one, other = read_rows(X, y, "auto").target, read_rows(X, NAMES[y], "auto").target
    np.testing.assert_array_equal(one.codes, other.codes)
    np.testing.assert_array_equal(NAMES[one.classes], other.classes)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_values_of_any_size_have_an_order(scale):
    X, y = noise()
    np.testing.assert_array_equal(ordered(X * scale, y), ordered(X, y))


def test_missing_values_have_an_order():
    X, y = noise()
    X[3, :] = np.nan
    X[:5, 1] = np.nan
    rows = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_array_equal(rows[ordered(X[rows], y[rows])], ordered(X, y))
