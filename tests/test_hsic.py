"""The Hilbert-Schmidt criterion against the formula written out, and its shortcuts against each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import pdist, squareform

from l1lsmi._numerics.hsic import hsic, pair_terms
from l1lsmi._numerics.hsic.hsic import PairedRows
from l1lsmi._numerics.hsic.line import chebyshev_series, chebyshev_values, median_gap
from l1lsmi._numerics.model import Model
from l1lsmi._rows.medians import median_positive
from l1lsmi._rows.table import Table
from l1lsmi._validation.target import check_target
from l1lsmi.measures import HSIC
from tests.conftest import TASKS, problem_data, to_library

WIDTH = Model(1.3)


def median_distance(points):
    distances = pdist(points)
    middle = np.median(distances)
    return middle if middle > 0 else np.median(distances[distances > 0])


def gaussian(points, sigma=None):
    sigma = median_distance(points) if sigma is None else sigma
    return np.exp(-0.5 * squareform(pdist(points)) ** 2 / sigma**2)


def written_out(X, y, task, sigma=None, target_sigma=None):
    """tr(K H L H) / (n - 1)^2 with n x n matrices."""
    n = len(y)
    kernel = gaussian((X - X.mean(0)) / X.std(0), sigma)
    if task == "classification":
        target_kernel = np.equal.outer(y, y).astype(float)
    else:
        target_kernel = gaussian(((y - y.mean()) / y.std())[:, None], target_sigma)
    centring = np.eye(n) - 1 / n
    return np.trace(kernel @ centring @ target_kernel @ centring) / (n - 1) ** 2


def data(task, n=201):
    X, y = problem_data(task, n=n)
    X[:, 3] = np.random.default_rng(1).standard_cauchy(n)  # far points: a long series, or none
    X[:, 4] = X[:, 4] > 0
    return X, y


def paired(task, library=np, **widths):
    X, y = data(task)
    target = check_target(y, task)
    return HSIC(**widths).bind(Table.of(to_library(X, library)), target).draws([(0,)])


@pytest.mark.parametrize("task", TASKS)
def test_score_is_the_formula(task, library):
    X, y = data(task)
    for columns in ([0], [3], [4], [0, 1], [0, 3, 4], list(range(6))):
        score = HSIC(task=task, tails="keep").score(to_library(X[:, columns], library), y)
        assert score == pytest.approx(written_out(X[:, columns], y, task), rel=1e-11)


@pytest.mark.parametrize("task", TASKS)
def test_given_widths(task):
    X, y = data(task)
    score = HSIC(sigma=0.7, target_sigma=0.4, task=task).score(X[:, :3], y)
    assert score == pytest.approx(written_out(X[:, :3], y, task, 0.7, 0.4), rel=1e-10)


@pytest.mark.parametrize("task", TASKS)
def test_each_column_by_itself_needs_no_pairs(task, monkeypatch):
    X, y = data(task)
    expected = [written_out(X[:, [j]], y, task) for j in range(6)]
    np.testing.assert_allclose(HSIC(task=task, tails="keep").score_each(X, y), expected, rtol=1e-10)
    # Where a series would be too long, the sum is over all pairs.
    monkeypatch.setattr(hsic, "chebyshev_series", lambda half_length: None)
    np.testing.assert_allclose(HSIC(task=task, tails="keep").score_each(X, y), expected, rtol=1e-10)


@pytest.mark.parametrize("task", TASKS)
def test_neighbouring_sets_are_exact(task, library):
    pairs = paired(task, library)
    inside, others = np.array([0, 4]), np.array([1, 2, 3, 5])
    expected = [pairs.value_of_set(np.append(inside, j)) for j in others]
    np.testing.assert_allclose(pairs.score_neighbours(inside, others, 1.0), expected, rtol=1e-9)
    everything = np.arange(6)
    expected = [pairs.value_of_set(np.delete(everything, j)) for j in everything]
    np.testing.assert_allclose(pairs.score_neighbours(everything, everything, -1.0), expected, rtol=1e-9)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("seed", range(3))
def test_gradient_matches_finite_differences(task, seed, library):
    pairs = paired(task, library)
    weights = np.random.default_rng(seed).uniform(0.2, 1.5, size=4)
    columns = np.array([0, 1, 4, 5])
    value, gradient = pairs.value_and_gradient(weights, columns, WIDTH)
    assert value == pytest.approx(pairs.value(weights, columns, WIDTH.sigma), rel=1e-12)
    h = 1e-5
    expected = [
        (
            pairs.value(weights + h * e, columns, WIDTH.sigma)
            - pairs.value(weights - h * e, columns, WIDTH.sigma)
        )
        / (2 * h)
        for e in np.eye(4)
    ]
    assert np.abs(gradient - expected).max() <= 1e-6 * np.abs(expected).max()


def test_gradient_of_absent_features():
    pairs = paired("regression")
    columns, candidates = np.array([0, 2]), np.arange(6)
    gradient = pairs.set_gradient(columns, WIDTH, candidates)
    h = 1e-6
    for j in (1, 5):  # a small squared weight
        with_it = pairs.value(np.array([1.0, 1.0, h**0.5]), np.array([0, 2, j]), WIDTH.sigma)
        without = pairs.value(np.ones(2), columns, WIDTH.sigma)
        assert gradient[j] == pytest.approx((with_it - without) / h, rel=1e-3)


@pytest.mark.parametrize("task", TASKS)
def test_the_loss_of_a_set_is_minus_its_value(task):
    pairs, columns = paired(task), np.array([0, 2, 4])
    scored = pairs.score_set(columns)
    assert scored.loss == -pairs.value_of_set(columns)
    assert scored.model == Model(pairs.median_distance(np.ones(3), columns))
    assert scored.loss == pytest.approx(-pairs.value(np.ones(3), columns, scored.model.sigma), rel=1e-12)
    assert paired(task, sigma=0.7).score_set(columns).model == Model(0.7)


@pytest.mark.parametrize("task", TASKS)
def test_strips_do_not_matter(task, monkeypatch):
    whole = paired(task)
    columns = np.arange(3)
    expected = whole.value_of_set(columns), *whole.value_and_gradient(np.ones(3), columns, WIDTH)
    n_strips = len(list(pair_terms.strips(201)))
    monkeypatch.setattr(pair_terms, "STRIP_PAIRS", 700)
    assert len(list(pair_terms.strips(201))) > 10 * n_strips
    cut = paired(task)
    found = cut.value_of_set(columns), *cut.value_and_gradient(np.ones(3), columns, WIDTH)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def test_independence_scores_nothing_and_dependence_grows():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(500, 1)), rng.normal(size=500)
    scores = [HSIC().score(x, a * x[:, 0] ** 2 + noise) for a in (0.0, 0.5, 2.0)]
    assert scores[0] < 0.002
    assert scores[0] < scores[1] < scores[2]


def test_many_rows_take_the_median_of_some():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 2))
    pairs = HSIC().bind(Table.of(X), check_target(X[:, 0] > 0, "classification")).draws([(0,)])
    z = (X - X.mean(0)) / X.std(0)
    assert pairs.median_distance(np.ones(2), np.arange(2)) == pytest.approx(median_distance(z), rel=0.02)
    assert isinstance(pairs, PairedRows)


# -- points on a line -------------------------------------------------------------------------


@given(arrays(np.float64, st.integers(2, 60), elements=st.integers(-4, 4).map(float)))
def test_median_gap_with_ties(points):
    gaps = pdist(points[:, None])
    assert median_gap(points) == median_positive(gaps)


@pytest.mark.parametrize("kind", ["normal", "standard_cauchy", "exponential", "uniform"])
@pytest.mark.parametrize("n", [2, 3, 10, 101, 800])
def test_median_gap_is_that_of_all_pairs(kind, n):
    points = getattr(np.random.default_rng(n), kind)(size=n)
    assert median_gap(points) == pytest.approx(np.median(pdist(points[:, None])), rel=1e-12)


@pytest.mark.parametrize("half_length", [0.01, 1.0, 5.0, 20.0])
def test_the_series_is_the_kernel(half_length):
    s = np.linspace(-1, 1, 57)
    series = chebyshev_series(half_length)
    values = chebyshev_values(s, len(series))
    expected = np.exp(-0.5 * (half_length * (s[:, None] - s)) ** 2)
    np.testing.assert_allclose(values.T @ series @ values, expected, atol=1e-13)
    assert chebyshev_series(1e4) is None


@pytest.mark.parametrize("share_of_zeros", [0.0, 0.3, 0.6])
def test_median_of_many_numbers(share_of_zeros):
    rng = np.random.default_rng(0)
    values = rng.exponential(size=200_001) * (rng.random(200_001) >= share_of_zeros)
    expected = np.median(values) if share_of_zeros < 0.5 else np.median(values[values > 0])
    assert median_positive(values) == expected
    assert median_positive(np.sort(values)[::-1]) == expected


@pytest.mark.parametrize("seed", range(5))
def test_rare_indicators_have_exact_zeros_among_their_distances(seed):
    rng = np.random.default_rng(seed)
    X, y = (rng.random((150, 4)) < 0.05).astype(float), rng.integers(0, 2, 150)
    X = X[:, X.std(axis=0) > 0]
    assert HSIC(tails="keep").score(X, y) == pytest.approx(written_out(X, y, "classification"), rel=1e-6)
    pairs = HSIC().bind(Table.of(X), check_target(y, "classification")).draws([(0,)])
    inside, last = np.arange(X.shape[1] - 1), np.array([X.shape[1] - 1])
    whole = pairs.value_of_set(np.arange(X.shape[1]))
    assert pairs.score_neighbours(inside, last, 1.0)[0] == pytest.approx(whole, rel=1e-6)
    removed = pairs.score_neighbours(np.arange(X.shape[1]), last, -1.0)[0]
    assert removed == pytest.approx(pairs.value_of_set(inside), rel=1e-6)
