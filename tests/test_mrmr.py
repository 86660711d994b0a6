"""mRMR against its definition in loops, and its relevance and redundancy."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_selection import f_classif, f_regression, mutual_info_classif

from l1lsmi._numerics import discrete
from l1lsmi._numerics.correlation import f_statistic
from l1lsmi._numerics.discrete import States, discretise
from l1lsmi._rows.table import Table
from l1lsmi._validation.target import check_target
from l1lsmi.baselines import MRMR
from l1lsmi.datasets import make_and_or, make_quad
from tests.conftest import problem_data, to_library

TASKS = ["classification", "regression"]


def mixed_data(task, seed=0, n=150):
    """Continuous, three-valued and redundant columns."""
    X, y = problem_data(task, n=n, m=6, seed=seed)
    rng = np.random.default_rng(seed)
    X[:, 3] = X[:, 2] + 0.2 * rng.normal(size=n)
    X[:, 4] = np.digitize(X[:, 0], [-0.5, 0.5])
    return X, y


def standardised(X):
    return Table.of(X).take(np.arange(X.shape[0]), np.arange(X.shape[1]))


# -- naive versions ------------------------------------------------------------------------------


def naive_states(column):
    if len(set(column)) <= 10:
        return [sorted(set(column)).index(value) for value in column]
    mean, deviation = np.mean(column), np.std(column)
    return [0 if v <= mean - deviation else 1 if v <= mean + deviation else 2 for v in column]


def naive_information(a, b):
    n, both, left, right = len(a), Counter(zip(a, b, strict=True)), Counter(a), Counter(b)
    return sum(c / n * math.log(c * n / (left[i] * right[j])) for (i, j), c in both.items())


def naive_mrmr(relevance, redundancy, k, scheme):
    """Indices in order of selection, all sums from scratch in every step."""
    chosen = [int(np.argmax(relevance))]
    while len(chosen) < k:
        best, best_value = -1, -math.inf
        for j in range(len(relevance)):
            if j in chosen:
                continue
            pairs = [redundancy(i, j) for i in chosen]
            if scheme == "difference":
                value = relevance[j] - sum(pairs) / len(pairs)
            else:
                value = relevance[j] / (sum(max(p, 0.001) for p in pairs) / len(pairs))
            if value > best_value + 1e-12:
                best, best_value = j, value
        chosen.append(best)
    return chosen


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("scheme", ["difference", "quotient"])
@pytest.mark.parametrize("seed", range(3))
def test_discretised_against_loops(task, scheme, seed):
    X, y = mixed_data(task, seed)
    states = [naive_states(column) for column in X.T]
    y_states = y.tolist() if task == "classification" else naive_states(y)
    relevance = [naive_information(column, y_states) for column in states]
    expected = naive_mrmr(relevance, lambda i, j: naive_information(states[i], states[j]), 5, scheme)
    selector = MRMR(5, scheme=scheme).fit(X, y)
    assert selector.order_.tolist() == expected
    np.testing.assert_allclose(selector.relevance_, relevance, atol=1e-11)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("scheme", ["difference", "quotient"])
@pytest.mark.parametrize("seed", range(5))
def test_f_and_correlation_against_loops(task, scheme, seed):
    X, y = mixed_data(task, seed)
    relevance = (f_classif if task == "classification" else f_regression)(X, y)[0]
    expected = naive_mrmr(
        relevance, lambda i, j: abs(np.corrcoef(X[:, i], X[:, j])[0, 1]), X.shape[1], scheme
    )
    assert MRMR(6, scheme=scheme, relevance="f").fit(X, y).order_.tolist() == expected


def test_orthogonal_columns_have_the_minimum_redundancy():
    # The columns are orthogonal, except that the third is correlated with the first.
    signs = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]], dtype=float)
    base = np.kron(signs, np.ones((2, 1)))[:, 1:]
    noise = np.tile([1.0, -1.0], 4)
    X = np.column_stack([base[:, 0], base[:, 1], base[:, 2] + 0.3 * base[:, 0]])
    y = 5 * base[:, 0] + base[:, 1] + 3 * base[:, 2] + noise
    # The third is far more relevant than the second, but its redundancy matters more in a quotient.
    parameters = {"relevance": "f", "task": "regression"}
    assert MRMR(2, scheme="difference", **parameters).fit(X, y).order_.tolist() == [0, 2]
    selector = MRMR(2, scheme="quotient", **parameters).fit(X, y)
    assert selector.order_.tolist() == [0, 1]
    assert selector.scores_[1] == pytest.approx(selector.relevance_[1] / 0.001)


# -- the parts -----------------------------------------------------------------------------------


def test_information_derived_by_hand():
    # The states of the first column are those of y, balanced: log 2. The second is independent of y. The
    # third is 1 for one row in four, with y = 1: H(y) - 3/4 H(1/3) = log 2 - 1/4 (log 3 + 2 log(3/2)).
    codes = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]])
    found = States(codes).information(np.array([0, 0, 1, 1]))
    third = math.log(2) - (math.log(3) + 2 * math.log(1.5)) / 4
    np.testing.assert_allclose(found, [math.log(2), 0, third], atol=1e-12)


def test_batches_give_the_same_as_the_whole(monkeypatch):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, rng.integers(1, 6, size=23), size=(90, 23))
    y = rng.integers(0, 3, size=90)
    expected = States(codes).information(y)
    monkeypatch.setattr(discrete, "MOST_VALUES", 16 * 90 * 3)
    states = States(codes)
    assert states._kept is None
    assert len(list(states._pieces())) > 3
    np.testing.assert_array_equal(states.information(y), expected)


def test_bins_have_equal_numbers_of_rows():
    x = standardised(np.random.default_rng(0).normal(size=(120, 3)))
    codes = discretise(x, 4)
    for column, values in zip(codes.T, x.T, strict=True):
        assert np.bincount(column).tolist() == [30, 30, 30, 30]
        assert (np.diff(column[np.argsort(values)]) >= 0).all()


def test_few_values_are_not_discretised():
    x = standardised(np.column_stack([np.arange(200) % 10, np.arange(200) % 11]).astype(float))
    codes = discretise(x, None)
    assert codes[:, 0].tolist() == (np.arange(200) % 10).tolist()
    assert codes[:, 1].max() == 2


@pytest.mark.parametrize("task", TASKS)
def test_f_statistic_is_that_of_scikit_learn(task):
    X, y = mixed_data(task)
    expected = (f_classif if task == "classification" else f_regression)(X, y)[0]
    np.testing.assert_allclose(f_statistic(standardised(X), check_target(y, task)), expected, rtol=1e-9)


def test_f_statistic_stays_finite():
    y = np.arange(20.0)
    found = f_statistic(standardised(np.column_stack([y, -y, y**2])), check_target(y, "regression"))
    assert np.isfinite(found).all()
    assert (found[:2] > 1e10).all()


def test_nearest_neighbours_are_those_of_scikit_learn():
    X, y = mixed_data("classification")
    selector = MRMR(3, relevance="knn", random_state=0).fit(X, y)
    again = MRMR(3, relevance="knn", random_state=0).fit(X, y)
    mask = np.arange(6) == 4
    expected = mutual_info_classif(X, y, discrete_features=mask, random_state=0)
    np.testing.assert_allclose(selector.relevance_, expected, atol=1e-6)
    np.testing.assert_array_equal(selector.scores_, again.scores_)
    assert 3 not in selector.order_ or 2 not in selector.order_


# -- the selector --------------------------------------------------------------------------------


def test_one_feature_is_the_most_relevant():
    X, y = mixed_data("regression")
    selector = MRMR(1).fit(X, y)
    assert selector.order_.tolist() == [int(np.argmax(selector.relevance_))]


def test_more_features_continue_the_order():
    X, y = mixed_data("classification")
    longest = MRMR(6).fit(X, y).order_
    for k in range(1, 6):
        selector = MRMR(k).fit(X, y)
        np.testing.assert_array_equal(selector.order_, longest[:k])
        assert selector.ranking_[longest[k]] == 2


@pytest.mark.filterwarnings("ignore::l1lsmi._warnings.DataWarning")
def test_a_copy_is_selected_late():
    X, y = problem_data("regression")
    X = np.column_stack([X, X[:, 2]])
    for parameters in ({"relevance": "f", "scheme": "quotient"}, {"scheme": "difference"}):
        order = MRMR(7, **parameters).fit(X, y).order_.tolist()
        assert order.index(2) < order.index(6)
        assert order.index(6) > 1


def test_constant_columns_come_last():
    X, y = problem_data("classification")
    X[:, 1] = 3.0
    selector = MRMR(3).fit(X, y)
    assert selector.ranking_[1] == 4
    assert selector.relevance_[1] == 0
    everything = MRMR(6).fit(X, y)
    assert everything.order_[-1] == 1
    assert everything.support_.all()


def test_scale_and_offset_do_not_matter():
    X, y = mixed_data("classification")
    for parameters in ({}, {"n_bins": 5}, {"relevance": "f"}):
        expected = MRMR(4, **parameters).fit(X, y)
        moved = MRMR(4, **parameters).fit(X * 10.0 ** np.arange(-3, 3) + 7, y)
        np.testing.assert_array_equal(moved.order_, expected.order_)
        np.testing.assert_allclose(moved.scores_, expected.scores_, rtol=1e-6)


def test_unused_bins_are_refused():
    X, y = problem_data("regression")
    with pytest.raises(ValueError, match=r"n_bins=5 is not used with relevance='f'"):
        MRMR(2, relevance="f", n_bins=5).fit(X, y)
    MRMR(2, relevance="f", redundancy="discretised", n_bins=5).fit(X, y)


def test_redundancy_can_be_mixed():
    X, y = mixed_data("regression", n=200)
    own = MRMR(5).fit(X, y)
    mixed = MRMR(5, redundancy="correlation").fit(X, y)
    np.testing.assert_array_equal(own.relevance_, mixed.relevance_)
    first, second = mixed.order_[:2]
    correlation = abs(np.corrcoef(X[:, first], X[:, second])[0, 1])
    assert mixed.scores_[second] == pytest.approx(mixed.relevance_[second] - correlation)


def test_many_classes_by_neighbours():
    X = np.random.default_rng(0).normal(size=(30, 3))
    labels = np.array([f"c{i}" for i in np.minimum(np.arange(30), 27)])  # one class has three rows
    assert MRMR(2, relevance="knn", task="classification", random_state=0).fit(X, labels).support_.sum() == 2


def test_toy_problems_of_the_paper():
    for seed in range(5):
        assert MRMR(2).fit(*make_quad(400, random_state=seed)).get_support(indices=True).tolist() == [0, 1]
        # The noisy copies of the target are most informative alone, but the true features determine it.
        assert MRMR(4).fit(*make_and_or(400, random_state=seed)).support_[7:].all()


@given(st.integers(2, 12), st.integers(1, 6), st.integers(0, 10**6), st.sampled_from(["discretised", "f"]))
@settings(max_examples=60, deadline=None)
def test_exactly_k_are_selected(n, m, seed, relevance):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, m)).astype(float)
    X[0, 0], X[1, 0] = 0.5, -0.5
    k = int(rng.integers(1, m + 1))
    for y in (np.arange(n) % 2, rng.normal(size=n)):
        selector = MRMR(k, relevance=relevance, scheme=["difference", "quotient"][seed % 2]).fit(X, y)
        assert selector.support_.sum() == k
        assert sorted(selector.order_) == np.flatnonzero(selector.support_).tolist()
        assert sorted(selector.ranking_[~selector.support_]) == list(range(2, m - k + 2))
        assert not np.isnan(selector.scores_).any()


def test_other_array_libraries(library):
    X, y = problem_data("classification")
    selector = MRMR(3).fit(to_library(X, library), to_library(y, library))
    np.testing.assert_array_equal(selector.order_, MRMR(3).fit(X, y).order_)
