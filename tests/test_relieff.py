"""ReliefF against its formulas in loops over pairs, and invariances of its scores."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from l1lsmi.baselines import ReliefF
from l1lsmi.baselines import _neighbours as neighbours
from l1lsmi.datasets import make_and_or, make_quad, make_xor
from tests.conftest import to_library


def mixed_data(n=60, seed=0):
    """Numeric, binary and categorical columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    X[:, 2:4] = X[:, 2:4] > 0.3
    X[:, 4] = np.round(X[:, 4])
    signal = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=n)
    return X, signal


def differences(X):
    """Differences in every feature between all pairs of rows."""
    n_values = np.array([np.unique(column).size for column in X.T])
    numeric = np.abs(X[:, None] - X) / np.ptp(X, axis=0)
    return np.where(n_values <= min(10, len(X) // 2), X[:, None] != X, numeric)


def equal_shares(distances, k):
    """Weights of the k nearest, averaged over the order of equidistant ones; k is their sum."""
    weights = np.zeros(distances.size)
    for position, value in enumerate(distances):
        nearer, equal = (distances < value).sum(), (distances == value).sum()
        weights[position] = np.clip((k - nearer) / equal, 0, 1)
    return weights


def naive_relieff(X, y, k, miss_weights="uniform"):
    difference = differences(X)
    distance = difference.sum(axis=2)
    score = np.zeros(X.shape[1])
    labels = np.unique(y)
    for i in range(len(X)):
        for label in labels:
            others = np.flatnonzero((y == label) & (np.arange(len(X)) != i))
            if others.size == 0:
                continue
            weights = equal_shares(distance[i, others].round(9), k)
            mean = weights @ difference[i, others] / weights.sum()
            prior = (y == label).sum() / (y != y[i]).sum()
            weight = prior if miss_weights == "prior" else 1 / (labels.size - 1)
            score += -mean if label == y[i] else weight * mean
    return score / len(X)


def naive_rrelieff(X, y, k):
    difference = differences(X)
    distance = difference.sum(axis=2)
    d_y = np.abs(y[:, None] - y) / np.ptp(y)
    n_dc, n_da, n_dcda, n = 0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0.0
    for i in range(len(X)):
        near = [j for j in np.argsort(distance[i]) if j != i][:k]
        weights = np.exp(-((np.arange(1, len(near) + 1) / 20) ** 2))
        for j, weight in zip(near, weights / weights.sum(), strict=True):
            n += weight
            n_dc += weight * d_y[i, j]
            n_da += weight * difference[i, j]
            n_dcda += weight * d_y[i, j] * difference[i, j]
    return n_dcda / n_dc - (n_da - n_dcda) / (n - n_dc)


@pytest.mark.parametrize("miss_weights", ["uniform", "prior"])
@pytest.mark.parametrize("n_neighbors", [1, 4, 10, 25, "all"])
@pytest.mark.parametrize("edges", [[0.2], [-0.7, 0.9]])
def test_classes_against_the_formula(edges, n_neighbors, miss_weights):
    X, signal = mixed_data()
    y = np.digitize(signal, edges)
    k = len(X) if n_neighbors == "all" else n_neighbors
    selector = ReliefF(2, n_neighbors=n_neighbors, miss_weights=miss_weights).fit(X, y)
    np.testing.assert_allclose(selector.scores_, naive_relieff(X, y, k, miss_weights), atol=1e-12)


def test_ties_against_the_formula():
    X, y = make_xor(80, random_state=0)
    np.testing.assert_allclose(ReliefF(2).fit(X, y).scores_, naive_relieff(X, y, 10), atol=1e-12)


@pytest.mark.parametrize("n_neighbors", [1, 10, "all"])
def test_numbers_against_the_formula(n_neighbors):
    X, y = mixed_data()
    k = len(X) if n_neighbors == "all" else n_neighbors
    selector = ReliefF(2, n_neighbors=n_neighbors).fit(X, y)
    np.testing.assert_allclose(selector.scores_, naive_rrelieff(X, y, k), atol=1e-12)


def test_equidistant_columns_get_the_mean_weight_of_their_ranks():
    distances = np.array([[3.0, 1.0, 1.0, np.inf, 2.0, 3.0, 3.0]])
    rows, columns, weights = neighbours.weighted_neighbours(distances, np.array([8.0, 4.0, 2.0, 1.0]))
    assert rows.tolist() == [0] * 6
    # Ranks 1 and 2 have the weights 8 + 4, rank 3 has 2, ranks 4 to 6 have 1 + 0 + 0.
    expected = dict(zip([1, 2, 4, 0, 5, 6], [6, 6, 2, 1 / 3, 1 / 3, 1 / 3], strict=True))
    assert dict(zip(columns.tolist(), weights.tolist(), strict=True)) == pytest.approx(expected)


def test_few_values_are_categorical():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 6, size=(80, 2)), rng.normal(size=(80, 2))]).astype(float)
    y = X[:, 0] > 2
    categorical = ReliefF(2).fit(X, y).scores_
    relabelled = X.copy()
    relabelled[:, 0] = rng.permutation(6)[X[:, 0].astype(int)]
    np.testing.assert_allclose(ReliefF(2).fit(relabelled, y).scores_, categorical, atol=1e-12)
    numeric = ReliefF(2, discrete_threshold=5).fit(X, y).scores_
    assert not np.allclose(numeric, categorical)
    assert not np.allclose(ReliefF(2, discrete_threshold=5).fit(relabelled, y).scores_, numeric)


@pytest.mark.parametrize(
    ("make", "n_true", "least"), [(make_and_or, 4, 0.45), (make_quad, 2, 0.9), (make_xor, 2, 1.0)]
)
def test_known_problems(make, n_true, least):
    found = []
    for seed in range(15):
        X, y = make(400, random_state=seed)
        found.append(ReliefF(n_true).fit(X, y).support_[:n_true].mean())
    assert np.mean(found) >= least


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_order_and_scale_do_not_matter(task):
    X, y = make_xor(150, random_state=0)
    y = y if task == "classification" else y + 0.5 * X[:, 3]
    rng = np.random.default_rng(0)
    expected = ReliefF(2, task=task).fit(X, y).scores_
    rows, columns = rng.permutation(150), rng.permutation(10)
    moved = ReliefF(2, task=task).fit((1e6 + 1e3 * X)[rows][:, columns], 10 * y[rows])
    np.testing.assert_allclose(moved.scores_, expected[columns], atol=1e-12)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_blocks_and_threads_do_not_matter(task, monkeypatch):
    X, y = mixed_data(200)
    y = y > 0 if task == "classification" else y
    one_block = ReliefF(2).fit(X, y).scores_
    monkeypatch.setattr(neighbours, "BLOCK_SIZE", 200 * 7)
    monkeypatch.setattr(neighbours, "DIFFERENCE_BLOCK_SIZE", 100)
    alone = ReliefF(2).fit(X, y).scores_
    np.testing.assert_allclose(alone, one_block, atol=1e-13)
    np.testing.assert_array_equal(ReliefF(2, n_jobs=2).fit(X, y).scores_, alone)


def test_memory_is_linear_in_the_rows(monkeypatch):
    monkeypatch.setattr(neighbours, "BLOCK_SIZE", 2**16)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 50))
    y = X[:, 0] + rng.normal(size=2000) > 0
    peaks = []
    for n in (500, 1000, 2000):
        tracemalloc.start()
        ReliefF(2).fit(X[:n], y[:n])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] - peaks[1] < 3 * max(peaks[1] - peaks[0], 500 * 50 * 8)
    assert peaks[2] < 2000 * 2000 * 8 / 3


def test_the_only_row_of_a_class_has_misses_only():
    X, signal = mixed_data()
    y = np.digitize(signal, [0.0])
    y[7] = 2
    np.testing.assert_allclose(ReliefF(2).fit(X, y).scores_, naive_relieff(X, y, 10), atol=1e-12)


@pytest.mark.parametrize("y", [[0, 1], [0.5, 1.7]])
def test_two_rows_are_enough(y):
    selector = ReliefF(1).fit([[0.0, 1.0, 3.0], [0.0, 2.0, 1.0]], y)
    np.testing.assert_array_equal(selector.scores_, [-np.inf, 1.0, 1.0])
    assert selector.support_.tolist() == [False, True, False]
    assert selector.ranking_.tolist() == [3, 1, 2]


def test_few_rows_with_distinct_values_are_numeric():
    X = np.array([[0.0, 5.0], [0.1, 9.0], [0.9, 6.0], [1.0, 8.0]])
    assert ReliefF(1).fit(X, [0, 0, 1, 1]).support_.tolist() == [True, False]


def test_rows_whose_neighbours_all_have_the_same_target():
    X = np.array([[0.0, 0.0], [0.1, 0.3], [0.2, 0.1], [5.0, 4.0], [5.1, 4.2], [5.2, 4.1]])
    y = np.array([0.0, 0.0, 0.0, 1.5, 1.5, 1.5])
    scores = ReliefF(1, n_neighbors=2, task="regression").fit(X, y).scores_
    # No neighbour differs in y: only the second part is left, minus the mean difference.
    assert np.isfinite(scores).all()
    assert (scores < 0).all()


def test_other_libraries_get_the_same_scores(library):
    X, y = mixed_data()
    scores = ReliefF(2).fit(to_library(X, library), to_library(y, library)).scores_
    np.testing.assert_allclose(scores, ReliefF(2).fit(X, y).scores_, atol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "'n_neighbors' parameter of ReliefF .* Got 0 instead"),
        ({"n_neighbors": "some"}, "Got 'some' instead"),
        ({"miss_weights": "none"}, "Got 'none' instead"),
        ({"discrete_threshold": -1}, "Got -1 instead"),
        ({"n_jobs": 0}, "Got 0 instead"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        ReliefF(1, **parameters).fit([[0.0], [1.0]], [0, 1])


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(2, 25), m=st.integers(1, 8), k=st.integers(1, 8), data=st.data()
)
def test_exactly_k_are_selected(seed, n, m, k, data):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n, m)) * rng.integers(0, 2, size=m)
    X[:, 0] = np.arange(n)
    y = rng.permutation(np.arange(n) % data.draw(st.integers(2, n)))
    task = data.draw(st.sampled_from(["classification", "regression"]))
    selector = ReliefF(min(k, m), n_neighbors=data.draw(st.integers(1, 30)), task=task).fit(X, y)
    assert selector.support_.sum() == min(k, m)
    assert (selector.support_ == (selector.ranking_ == 1)).all()
    assert sorted(selector.ranking_[~selector.support_]) == list(range(2, m - min(k, m) + 2))
    varying = np.ptp(X, axis=0) > 0
    assert np.isfinite(selector.scores_[varying]).all()
    assert (np.abs(selector.scores_[varying]) <= 1 + 1e-12).all()
    assert (selector.scores_[~varying] == -np.inf).all()
