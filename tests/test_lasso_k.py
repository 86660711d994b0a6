"""The lasso with exactly k features, against lars_path and the optimality conditions."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso, lars_path

from l1lsmi._rows.table import Table
from l1lsmi.baselines import LassoK
from l1lsmi.baselines import _lasso_path as lasso_path
from l1lsmi.baselines._lasso_path import lasso_path_until
from l1lsmi.datasets import make_quad
from tests.conftest import problem_data, to_library


def standardised(X):
    return Table.of(X).take(np.arange(X.shape[0]), np.arange(X.shape[1]))


def path_data(seed, kind):
    """Data with independent, mixed or cumulated columns; with the last two coefficients become zero again."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(20, 120)), int(rng.integers(3, 25))
    X = rng.normal(size=(n, m))
    if kind == "mixed":
        X = X @ rng.normal(size=(m, m))
    if kind == "cumulated":
        X = np.cumsum(X, axis=1)
    X = standardised(X)
    y = X @ (rng.normal(size=m) * (rng.random(m) < 0.5)) + rng.normal(size=n)
    return X, (y - y.mean()) / y.std()


def knots_of(X, y):
    """Penalties and coefficients of lars_path, with rounding errors set to zero."""
    alphas, _, coefs = lars_path(X, y, method="lasso")
    return alphas, np.where(np.abs(coefs) < 1e-12 * np.abs(coefs).max(), 0, coefs)


@pytest.mark.parametrize("kind", ["independent", "mixed", "cumulated"])
def test_first_knot_with_k_features_is_that_of_scikit_learn(kind):
    leaving = compared = 0
    for seed in range(12):
        X, y = path_data(seed, kind)
        alphas, coefs = knots_of(X, y)
        sizes = np.count_nonzero(coefs, axis=0)
        leaving += bool((np.diff(sizes) < 1).any())
        for k in range(1, X.shape[1] + 1):
            knots = np.flatnonzero(sizes == k)
            if knots.size == 0:
                continue
            selector = LassoK(k).fit(X, y)
            np.testing.assert_array_equal(selector.support_, coefs[:, knots[0]] != 0)
            np.testing.assert_allclose(selector.coef_, coefs[:, knots[0]], atol=1e-6)
            assert selector.alpha_ == pytest.approx(alphas[knots[0]], abs=1e-9)
            compared += 1
    assert compared > 80
    assert leaving > 3 or kind == "independent"


@pytest.mark.parametrize("kind", ["independent", "mixed", "cumulated"])
def test_coefficients_are_optimal(kind):
    for seed in range(20, 30):
        X, y = path_data(seed, kind)
        k = X.shape[1] // 2
        selector = LassoK(k).fit(X, y)
        slope = X.T @ (y - X @ selector.coef_) / y.size
        assert selector.n_active_ == k
        assert np.abs(slope).max() <= selector.alpha_ + 1e-9
        active = selector.support_
        np.testing.assert_allclose(
            slope[active], selector.alpha_ * np.sign(selector.coef_[active]), atol=1e-9
        )
        assert (selector.coef_[~active] == 0).all()
        np.testing.assert_allclose(selector.scores_, np.abs(slope + selector.coef_), atol=1e-9)


def assert_solution(X, y, coef, active, penalty):
    """The optimality conditions of the lasso."""
    slope = X.T @ (y - X @ coef) / y.size
    assert np.abs(slope).max() <= penalty + 1e-9
    np.testing.assert_allclose(np.abs(slope[active]), penalty, atol=1e-9)
    np.testing.assert_allclose(slope @ coef, penalty * np.abs(coef).sum(), atol=1e-9)
    assert (coef[~active] == 0).all()


@pytest.mark.parametrize("n_copies", [1, 2, 3])
def test_tied_columns_become_active_in_their_order(n_copies):
    # A factorial design: columns are orthogonal, and the first two correlate with y exactly alike.
    X = np.vstack([list(itertools.product([0.0, 1.0], repeat=4))] * n_copies)
    y = X[:, 0] * X[:, 1] + X[:, 2]
    X, y = standardised(X), (y - y.mean()) / y.std()
    for k, expected in enumerate([[2], [0, 2], [0, 1, 2], [0, 1, 2]], start=1):
        coef, active, penalty = lasso_path_until(X, y, k)
        assert np.flatnonzero(active).tolist() == expected
        assert_solution(X, y, coef, active, penalty)


def test_columns_that_depend_on_active_ones_stay_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    X[:, 3] = X[:, :3].sum(axis=1) + 1e-6 * rng.normal(size=200)
    y = X[:, :3] @ [1, 2, -1] + rng.normal(size=200)
    selector = LassoK(5).fit(X, y)
    assert np.flatnonzero(selector.coef_).tolist() == [0, 1, 2, 4]
    assert np.abs(selector.coef_).max() < 1


@pytest.mark.filterwarnings("ignore::l1lsmi._warnings.DataWarning")
@pytest.mark.parametrize("seed", range(8))
def test_few_values_and_copies_give_solutions(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(100, 30)).astype(float)
    y = (X[:, :3].sum(axis=1) > 1).astype(float)
    copies = np.hstack([X, 5 - 3 * X[:, rng.permutation(30)]])
    for k in (1, 5, 15, 29):
        selector = LassoK(k).fit(copies, y)
        assert_solution(
            standardised(copies),
            (y - y.mean()) / y.std(),
            selector.coef_,
            selector.coef_ != 0,
            selector.alpha_,
        )
        assert selector.n_active_ == k
        assert (selector.coef_[30:] == 0).all()


def test_coordinate_descent_finds_the_same():
    X, y = path_data(5, "mixed")
    selector = LassoK(4).fit(X, y)
    assert selector.alpha_ > 0
    reference = Lasso(alpha=selector.alpha_, tol=1e-12, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(selector.coef_, reference.coef_, atol=1e-6)


def test_two_classes_are_two_numbers():
    X, y = problem_data("classification", n=150, m=8)
    labels = np.where(y > 1, "yes", "no")
    signs = np.where(y > 1, 1.0, -1.0)
    _, coefs = knots_of(standardised(X), signs - signs.mean())
    for k in range(1, 9):
        selector = LassoK(k).fit(X, labels)
        expected = coefs[:, np.flatnonzero(np.count_nonzero(coefs, axis=0) == k)[0]]
        np.testing.assert_array_equal(selector.support_, expected != 0)
        np.testing.assert_allclose(selector.coef_ * signs.std(), expected, atol=1e-8)


# -- more classes --------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3, 6])
def test_multi_task_coefficients_are_optimal(k):
    X, y = problem_data("classification", n=150, m=10)
    x, indicators = standardised(X), np.eye(3)[y]
    indicators -= indicators.mean(axis=0)
    selector = LassoK(k).fit(X, y)
    slope = x.T @ (indicators - x @ selector.coef_) / 150
    norms = np.linalg.norm(selector.coef_, axis=1)
    active = norms > 0
    assert selector.coef_.shape == (10, 3)
    assert active.sum() == selector.n_active_ == k
    np.testing.assert_array_equal(active, selector.support_)
    expected = selector.alpha_ * selector.coef_[active] / norms[active, None]
    np.testing.assert_allclose(slope[active], expected, atol=2e-4 * selector.alpha_)
    assert np.linalg.norm(slope[~active], axis=1).max() <= selector.alpha_ * (1 + 1e-4)


def test_multi_task_features_of_different_classes_are_found():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, size=200)
    X = rng.normal(size=(200, 12))
    X[:, [2, 5, 7]] += 2 * np.eye(4)[y][:, :3]
    assert LassoK(3).fit(X, y).get_support(indices=True).tolist() == [2, 5, 7]


@pytest.mark.filterwarnings("ignore::l1lsmi._warnings.DataWarning")
def test_multi_task_support_with_copies_is_filled():
    X, y = problem_data("classification", n=100, m=4)
    selector = LassoK(6).fit(np.hstack([X, X]), y)
    assert selector.support_.sum() == 6
    assert selector.support_[:4].all()
    assert selector.n_active_ == 4
    assert (selector.coef_[4:] == 0).all()


# -- paths without a knot of k features ------------------------------------------------------------


def test_more_features_than_the_rank_are_filled_by_correlation():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 20)), rng.normal(size=8)
    selector = LassoK(12).fit(X, y)
    assert selector.n_active_ == 7
    assert selector.alpha_ == 0
    assert selector.support_.sum() == 12
    correlation = np.abs([np.corrcoef(column, y)[0, 1] for column in X.T])
    filled = selector.support_ & (selector.coef_ == 0)
    assert filled.sum() == 5
    assert correlation[filled].min() > correlation[~selector.support_].max()


@pytest.mark.filterwarnings("ignore::l1lsmi._warnings.DataWarning")
def test_of_copies_the_first_is_active():
    X, y = path_data(0, "independent")
    m = X.shape[1]
    single = LassoK(3).fit(X, y)
    double = LassoK(3).fit(np.hstack([X, X]), y)
    np.testing.assert_allclose(double.coef_[:m], single.coef_, atol=1e-10)
    assert (double.coef_[m:] == 0).all()
    assert LassoK(m + 2).fit(np.hstack([X, -X]), y).support_[:m].all()


def test_a_truncated_path_is_filled(monkeypatch):
    X, y = path_data(5, "mixed")  # coefficients become zero and non-zero again: more knots than features
    assert lasso_path_until(X, y, X.shape[1])[1].all()
    monkeypatch.setattr(lasso_path, "MAX_KNOTS", 1)
    assert not lasso_path_until(X, y, X.shape[1])[1].all()
    assert LassoK(X.shape[1]).fit(X, y).support_.all()


def test_constant_columns_come_last():
    X, y = path_data(1, "independent")
    X[:, 2] = 3.0
    m = X.shape[1]
    selector = LassoK(2).fit(X, y)
    assert selector.ranking_[2] == m - 1
    assert selector.scores_[2] == -np.inf
    assert LassoK(m - 1).fit(X, y).support_.tolist() == [j != 2 for j in range(m)]
    assert LassoK(m).fit(X, y).support_.all()


def test_the_next_to_enter_ranks_second():
    X, y = path_data(4, "independent")
    for k in range(1, 5):
        selector = LassoK(k).fit(X, y)
        entering = LassoK(k + 1).fit(X, y).support_ & ~selector.support_
        assert selector.ranking_[entering].tolist() == [2]


def test_scale_and_offset_do_not_matter():
    X, y = path_data(5, "mixed")
    expected = LassoK(3).fit(X, y)
    scale = 10.0 ** np.random.default_rng(0).integers(-4, 5, size=X.shape[1])
    moved = LassoK(3).fit(X * scale - 5, 1e6 * y + 3)
    np.testing.assert_allclose(moved.coef_, expected.coef_, atol=1e-6)
    np.testing.assert_array_equal(moved.ranking_, expected.ranking_)


def test_quadratic_dependence_is_not_detected():
    found = [LassoK(2).fit(*make_quad(400, random_state=seed)).support_[:2].mean() for seed in range(20)]
    assert 0.45 < np.mean(found) < 0.85  # 0.66 in the paper


@given(st.integers(2, 12), st.integers(1, 6), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_exactly_k_are_selected(n, m, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, m)).astype(float)
    X[0, 0], X[1, 0] = 0.5, -0.5
    k = int(rng.integers(1, m + 1))
    for y in (np.arange(n) % 2, np.arange(n) % 3, rng.normal(size=n)):
        selector = LassoK(k).fit(X, y)
        assert selector.support_.sum() == k
        assert selector.n_active_ <= k
        assert sorted(selector.ranking_[~selector.support_]) == list(range(2, m - k + 2))
        assert np.isfinite(selector.coef_).all()


def test_other_array_libraries(library):
    X, y = problem_data("regression")
    selector = LassoK(3).fit(to_library(X, library), to_library(y, library))
    np.testing.assert_allclose(selector.coef_, LassoK(3).fit(X, y).coef_, atol=1e-9)
