"""QPFS: the correlations, the quadratic programme against its optimality conditions, and the selector."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from l1lsmi._numerics.correlation import correlation_between, correlation_with_target
from l1lsmi._rows.table import Table
from l1lsmi._validation.target import check_target
from l1lsmi.baselines import QPFS, qpfs
from l1lsmi.baselines import _positive_part as positive_part
from l1lsmi.baselines import _simplex_qp as simplex_qp
from l1lsmi.baselines._simplex_qp import Hessian, minimise_on_simplex, nearest_positive, nystrom_factor
from tests.conftest import problem_data, to_library


def correlated_data(n=120, m=15, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) @ (np.eye(m) + 0.3 * rng.normal(size=(m, m)))
    return X, X[:, :4].sum(axis=1) / X[:, :4].std() + rng.normal(size=n)


def naive_parts(X, y):
    """Q and f with NumPy's own correlations, for a numeric target."""
    m = X.shape[1]
    Q = [[abs(np.corrcoef(X[:, i], X[:, j])[0, 1]) for j in range(m)] for i in range(m)]
    return np.array(Q), np.array([abs(np.corrcoef(X[:, j], y)[0, 1]) for j in range(m)])


def assert_optimal(Q, f, alpha, weights, tolerance=1e-8):
    slope = (1 - alpha) * Q @ weights - alpha * f
    level = weights @ slope
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1, abs=tolerance)
    assert slope.min() >= level - tolerance
    assert np.abs(slope - level)[weights > 0].max() <= tolerance


# -- correlations --------------------------------------------------------------------------------


def standardised(X):
    return Table.of(X).take(np.arange(X.shape[0]), np.arange(X.shape[1]))


def test_correlation_with_classes_derived_by_hand():
    # x is 0 for class a, half of the rows, and 1 for b and c, a quarter each. Its correlation with the
    # indicator of a is -1. That of b has mean 1/4 and deviation sqrt(3)/4, and the mean of its product
    # with the standardised x is 1/4: 1 / sqrt(3), as for c. In all 1/2 + 2 * 1/4 * 1 / sqrt(3).
    x = standardised(np.array([[0.0], [0.0], [1.0], [1.0]]))
    found = correlation_with_target(x, check_target(np.array(["a", "a", "b", "c"]), "auto"))
    np.testing.assert_allclose(found, 0.5 + 0.5 / math.sqrt(3), rtol=1e-14)


def test_correlation_with_classes_against_indicators():
    X, y = problem_data("classification")
    found = correlation_with_target(standardised(X), check_target(y, "classification"))
    for j in range(X.shape[1]):
        parts = [np.mean(y == c) * abs(np.corrcoef(X[:, j], y == c)[0, 1]) for c in np.unique(y)]
        assert found[j] == pytest.approx(sum(parts), rel=1e-12)


def test_correlations_with_a_numeric_target():
    X, y = correlated_data()
    Q, f = naive_parts(X, y)
    x = standardised(X)
    np.testing.assert_allclose(correlation_between(x, x[:, :3]), Q[:, :3], atol=1e-13)
    np.testing.assert_allclose(correlation_with_target(x, check_target(y, "regression")), f, atol=1e-13)


def test_two_classes_correlate_like_two_numbers():
    X, y = problem_data("classification")
    x = standardised(X)
    classes = correlation_with_target(x, check_target(y > 0, "classification"))
    numbers = correlation_with_target(x, check_target((y > 0) * 2.0 - 1, "regression"))
    np.testing.assert_allclose(classes, numbers, rtol=1e-12)


# -- the quadratic programme ---------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(400, 10), (120, 15), (40, 60), (60, 400)])
@pytest.mark.parametrize("alpha", [0.0, None, 0.9])
def test_weights_are_optimal(shape, alpha):
    X, y = correlated_data(*shape)
    selector = QPFS(3, alpha=alpha).fit(X, y)
    x = standardised(X)
    Q = nearest_positive(correlation_between(x, x))
    f = correlation_with_target(x, check_target(y, "regression"))
    assert_optimal(Q, f, selector.alpha_, selector.weights_)
    value = (1 - selector.alpha_) / 2 * selector.weights_ @ Q @ selector.weights_
    assert selector.objective_ == pytest.approx(value - selector.alpha_ * f @ selector.weights_, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_weights_are_those_of_another_solver(seed):
    X, y = correlated_data(m=8, seed=seed)
    Q, f = naive_parts(X, y)
    selector = QPFS(3).fit(X, y)
    assert selector.alpha_ == pytest.approx(Q.mean() / (Q.mean() + f.mean()), rel=1e-12)
    alpha = selector.alpha_
    reference = minimize(
        lambda w: (1 - alpha) / 2 * w @ Q @ w - alpha * f @ w,
        np.full(8, 1 / 8),
        jac=lambda w: (1 - alpha) * Q @ w - alpha * f,
        bounds=[(0, None)] * 8,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like},
        options={"ftol": 1e-15, "maxiter": 500},
    )
    np.testing.assert_allclose(selector.weights_, reference.x, atol=1e-6)
    assert selector.objective_ == pytest.approx(reference.fun, abs=1e-8)


def test_weights_derived_by_hand():
    # With Q = [[1, q], [q, 1]] equal slopes make w1 - w2 = alpha (f1 - f2) / ((1 - alpha) (1 - q)).
    q, f, alpha = 0.25, np.array([0.5, 0.4]), 0.5
    found = minimise_on_simplex(Hessian.of_matrix(np.array([[1, q], [q, 1]])).scaled(1 - alpha), -alpha * f)
    np.testing.assert_allclose(found.weights, [0.5 + 0.1 / 0.75 / 2, 0.5 - 0.1 / 0.75 / 2], rtol=1e-12)


@pytest.mark.parametrize("factored", [False, True])
def test_a_small_working_set_gives_the_same(monkeypatch, factored):
    rng = np.random.default_rng(0)
    factor = rng.random(size=(80, 30))
    linear = -rng.random(80) * 5
    hessian = Hessian.of_factor(factor) if factored else Hessian.of_matrix(factor @ factor.T)
    expected = minimise_on_simplex(hessian, linear)
    monkeypatch.setattr(simplex_qp, "WORKING_SET", 2)
    found = minimise_on_simplex(hessian, linear)
    assert (expected.weights > 0).sum() > 2
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-9)
    np.testing.assert_allclose(found.multipliers, expected.multipliers, atol=1e-9)
    assert found.objective == pytest.approx(expected.objective, abs=1e-11)


def test_negative_eigenvalues_become_zero():
    x = standardised(correlated_data(20, 30)[0])
    Q = correlation_between(x, x)
    values, vectors = np.linalg.eigh(Q)
    assert values[0] < -0.01
    expected = sum(max(v, 0) * np.outer(u, u) for v, u in zip(values, vectors.T, strict=True))
    np.testing.assert_allclose(nearest_positive(Q), expected, atol=1e-12)
    good = np.array([[1.0, 0.5], [0.5, 1.0]])
    assert nearest_positive(good) is good


def test_nystrom_is_exact_where_the_sample_has_the_rank():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(40, 3))
    matrix = factor @ factor.T
    sampled = np.array([1, 5, 17, 30])
    found = nystrom_factor(matrix[:, sampled], sampled)
    assert found.shape[1] == 3
    np.testing.assert_allclose(found @ found.T, matrix, atol=1e-9)


@pytest.mark.parametrize("shape", [(120, 15), (20, 30)])
def test_nystrom_of_all_features_is_the_whole_problem(shape):
    X, y = correlated_data(*shape)
    whole = QPFS(5).fit(X, y)
    sampled = QPFS(5, n_nystrom=shape[1], random_state=0).fit(X, y)
    assert sampled.alpha_ == pytest.approx(whole.alpha_, rel=1e-12)
    np.testing.assert_allclose(sampled.weights_, whole.weights_, atol=1e-8)
    np.testing.assert_array_equal(sampled.ranking_, whole.ranking_)


def test_nystrom_of_many_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3000))
    y = X[:, 5] + X[:, 2000] + 0.5 * rng.normal(size=200)
    selector = QPFS(2, n_nystrom=50, random_state=0).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [5, 2000]
    again = QPFS(2, n_nystrom=50, random_state=0).fit(X, y)
    np.testing.assert_array_equal(selector.weights_, again.weights_)
    other = QPFS(2, n_nystrom=50, random_state=1).fit(X, y)
    assert (other.scores_ != selector.scores_).any()


# -- many features -------------------------------------------------------------------------------


def wide_data(kind, n=50, m=300):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, m))
    if kind == "factors":
        X = rng.normal(size=(n, 5)) @ rng.normal(size=(5, m)) + rng.normal(size=(n, m))
    elif kind == "few values":
        X = rng.integers(0, 3, size=(n, m)).astype(float)
    elif kind == "copies":
        X[:, m // 2 :] = -3 * X[:, : m - m // 2] + 1
    elif kind == "constant columns":
        X[:, ::7] = 2.0
    elif kind == "more rows":
        X = rng.normal(size=(4 * m, m))
    y = X[:, 1] + X[:, 2] + 0.5 * X[:, 5] + rng.normal(size=len(X))
    return X, y


@pytest.mark.filterwarnings("ignore::l1lsmi._warnings.DataWarning")
@pytest.mark.parametrize(
    "kind", ["normal", "factors", "few values", "copies", "constant columns", "more rows"]
)
@pytest.mark.parametrize("alpha", [None, 0.2])
def test_lanczos_steps_give_what_the_decomposition_gives(monkeypatch, kind, alpha):
    X, y = wide_data(kind)
    expected = QPFS(20, alpha=alpha).fit(X, y)
    monkeypatch.setattr(qpfs, "MOST_DECOMPOSED", 10)
    found = QPFS(20, alpha=alpha).fit(X, y)
    assert found.alpha_ == pytest.approx(expected.alpha_, rel=1e-7)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6, abs=1e-6)
    np.testing.assert_array_equal(found.support_, expected.support_)
    np.testing.assert_allclose(found.weights_, expected.weights_, atol=1e-3 * expected.weights_.max())
    if kind == "copies":
        np.testing.assert_allclose(found.weights_[:150], found.weights_[150:], atol=1e-10)
    if kind == "constant columns":
        assert (found.weights_[::7] == 0).all()


@pytest.mark.parametrize("m", [300, 2000])
def test_products_with_the_negative_part(m):
    x = standardised(wide_data("factors", m=m)[0])
    values, vectors = np.linalg.eigh(correlation_between(x, x))
    v = np.random.default_rng(0).random(m)
    found = positive_part._Lanczos(positive_part.CorrelationMatrix(x), v, 300, 0.0)
    expected = vectors @ (np.maximum(-values, 0) * (vectors.T @ v))
    assert np.linalg.norm(found.negative - expected) <= 2e-2 * np.linalg.norm(expected)
    assert v @ found.negative == pytest.approx(v @ expected, rel=1e-3)


def test_where_lanczos_steps_do_not_converge_the_matrix_is_decomposed(monkeypatch):
    X, y = wide_data("factors", m=200)
    expected = QPFS(20, alpha=0.4).fit(X, y)
    monkeypatch.setattr(qpfs, "MOST_DECOMPOSED", 10)
    monkeypatch.setattr(positive_part, "MOST_ITERATIONS", 1)
    found = QPFS(20, alpha=0.4).fit(X, y)
    np.testing.assert_array_equal(found.weights_, expected.weights_)


def test_copies_are_found():
    rng = np.random.default_rng(0)
    x = standardised(rng.normal(size=(30, 8))[:, [0, 1, 2, 0, 3, 1, 0, 4]])
    x[:, 3] *= -1
    assert sorted(map(sorted, positive_part._copies(x))) == [[0, 3, 6], [1, 5]]


# -- the selector --------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_relevance_alone_ranks_by_correlation(task):
    X, y = problem_data(task)
    selector = QPFS(2, alpha=1.0).fit(X, y)
    correlation = correlation_with_target(standardised(X), check_target(y, task))
    order = np.argsort(-correlation)
    assert set(np.flatnonzero(selector.support_)) == set(order[:2])
    assert selector.ranking_[order].tolist() == [1, 1, 2, 3, 4, 5]
    assert selector.weights_[order].tolist() == [1, 0, 0, 0, 0, 0]
    assert selector.objective_ == pytest.approx(-correlation.max())


def test_further_features_are_selected_by_their_multipliers():
    X, y = correlated_data(400, 10)
    selector = QPFS(7).fit(X, y)
    Q, f = naive_parts(X, y)
    slope = (1 - selector.alpha_) * Q @ selector.weights_ - selector.alpha_ * f
    positive = selector.weights_ > 0
    assert positive.sum() < 7
    filled = selector.support_ & ~positive
    assert selector.support_[positive].all()
    assert slope[filled].max() < slope[~selector.support_].min()
    level = selector.weights_ @ slope
    np.testing.assert_allclose(selector.scores_[~positive], level - slope[~positive], atol=1e-10)


@pytest.mark.filterwarnings("ignore::l1lsmi._warnings.DataWarning")
def test_copies_have_equal_weights():
    X, y = correlated_data(m=6)
    single = QPFS(3, alpha=0.4).fit(X, y)
    double = QPFS(3, alpha=0.4).fit(np.hstack([X, X]), y)
    np.testing.assert_allclose(double.weights_[:6], double.weights_[6:], atol=1e-10)
    np.testing.assert_allclose(2 * double.weights_[:6], single.weights_, atol=1e-9)
    best = int(np.argmax(single.weights_))
    assert QPFS(1, alpha=0.4).fit(np.hstack([X, X]), y).get_support(indices=True).tolist() == [best]


def test_constant_columns_come_last():
    X, y = correlated_data(m=6)
    expected = QPFS(3).fit(X, y)
    selector = QPFS(3).fit(np.insert(X, 2, 7.0, axis=1), y)
    assert selector.ranking_[2] == 5
    assert selector.weights_[2] == 0
    np.testing.assert_allclose(np.delete(selector.weights_, 2), expected.weights_, atol=1e-12)
    assert QPFS(7).fit(np.insert(X, 2, 7.0, axis=1), y).support_.all()


def test_scale_and_sign_do_not_matter():
    X, y = correlated_data(m=6)
    expected = QPFS(3).fit(X, y)
    moved = QPFS(3).fit(X * np.array([1e5, -1, 1e-5, -3, 2, 1]) + 4, -3 * y)
    np.testing.assert_allclose(moved.weights_, expected.weights_, atol=1e-8)


def test_more_nystrom_features_than_there_are_is_refused():
    X, y = correlated_data(m=6)
    with pytest.raises(ValueError, match=r"n_nystrom=7 is more than the 6 features of X"):
        QPFS(2, n_nystrom=7).fit(X, y)


def test_importing_does_not_load_the_solver():
    code = "import sys, l1lsmi.baselines; print('piqp' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


@given(st.integers(2, 12), st.integers(1, 6), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_exactly_k_are_selected(n, m, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, m)).astype(float)
    X[0, 0], X[1, 0] = 0.5, -0.5
    k = int(rng.integers(1, m + 1))
    for y in (np.arange(n) % 2, rng.normal(size=n)):
        selector = QPFS(k, n_nystrom=[None, 1][seed % 2], random_state=0).fit(X, y)
        assert selector.support_.sum() == k
        assert sorted(selector.ranking_[~selector.support_]) == list(range(2, m - k + 2))
        assert selector.weights_.sum() == pytest.approx(1)


def test_other_array_libraries(library):
    X, y = problem_data("regression")
    selector = QPFS(3).fit(to_library(X, library), to_library(y, library))
    np.testing.assert_allclose(selector.weights_, QPFS(3).fit(X, y).weights_, atol=1e-9)
