"""SPEC and the Laplacian score against their formulas with dense matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import rankdata

from l1lsmi.baselines import SPEC, LaplacianScore
from l1lsmi.baselines import _graphs as graphs
from l1lsmi.baselines import _neighbours as neighbours
from l1lsmi.datasets import make_and_or, make_quad
from tests.conftest import problem_data, to_library

CRITERIA = ["phi1", "phi2", "phi3"]


def dense_graph(X, y, kind, n_neighbors=5, sigma=None):
    """Dense weights: 1 / class size, or Gaussian kernels of neighbours in at least one direction."""
    if kind == "classes":
        return (y[:, None] == y) / (y[:, None] == y).sum(axis=1)
    points = rankdata(y)[:, None] if kind == "numbers" else (X - X.mean(axis=0)) / X.std(axis=0)
    distance = cdist(points, points)
    near = np.zeros(distance.shape, dtype=bool)
    for i, row in enumerate(distance):
        # Ranks are evenly spaced: of two neighbours at the same distance the lower one is taken.
        nearest = np.lexsort((points[:, 0], row))
        near[i, nearest[nearest != i][:n_neighbors]] = True
    width = np.median(distance[near]) if sigma is None else sigma
    return np.where(near | near.T, np.exp(-(distance**2) / (2 * width**2)), 0.0)


def naive_laplacian_score(X, S):
    D, ones = np.diag(S.sum(axis=1)), np.ones(len(S))
    scores = []
    for f in X.T:
        f = f - (f @ D @ ones) / (ones @ D @ ones)
        scores.append((f @ (D - S) @ f) / (f @ D @ f))
    return np.array(scores)


def naive_spec(X, S, criterion, n_eigenvectors):
    root = np.sqrt(S.sum(axis=1))
    values, vectors = np.linalg.eigh(np.eye(len(S)) - S / np.outer(root, root))
    trivial = root / np.linalg.norm(root)
    scores = []
    for f in (X - X.mean(axis=0)).T / X.std(axis=0)[:, None]:
        f = root * f / np.linalg.norm(root * f)
        alpha = f @ vectors
        phi1 = (alpha**2 * values).sum()
        if criterion == "phi3":
            # Without the trivial eigenvector, which is in the span of the first ones.
            some = slice(0, n_eigenvectors + 1)
            scores.append(((2 - values[some]) * alpha[some] ** 2).sum() - 2 * (f @ trivial) ** 2)
        else:
            scores.append(-phi1 if criterion == "phi1" else -phi1 / (1 - (f @ trivial) ** 2))
    return np.array(scores)


def problem(kind, n=70):
    X, y = problem_data("classification" if kind == "classes" else "regression", n=n)
    return 3.0 * X + 1.0, y, "unsupervised" if kind == "features" else "supervised"


@pytest.mark.parametrize("parameters", [{}, {"n_neighbors": 3, "sigma": 0.7}])
@pytest.mark.parametrize("kind", ["classes", "numbers", "features"])
def test_laplacian_score_against_the_formula(kind, parameters):
    X, y, graph = problem(kind)
    scores = LaplacianScore(2, graph=graph, **parameters).fit(X, y).scores_
    expected = -naive_laplacian_score(X, dense_graph(X, y, kind, **parameters))
    np.testing.assert_allclose(scores, expected, rtol=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("kind", ["classes", "numbers", "features"])
def test_spec_against_the_formula(kind, criterion):
    X, y, graph = problem(kind)
    scores = SPEC(2, graph=graph, criterion=criterion, n_eigenvectors=3).fit(X, y).scores_
    count = np.unique(y).size - 1 if kind == "classes" else 3
    np.testing.assert_allclose(
        scores, naive_spec(X, dense_graph(X, y, kind), criterion, count), rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("kind", ["numbers", "features"])
def test_leading_eigenvectors_by_an_iterative_solver(kind, monkeypatch):
    X, y, graph = problem(kind, n=300)
    exact = SPEC(2, graph=graph, n_neighbors=12).fit(X, y).scores_
    monkeypatch.setattr(graphs, "DENSE_ROWS", 0)
    iterated = SPEC(2, graph=graph, n_neighbors=12).fit(X, y).scores_
    np.testing.assert_allclose(iterated, exact, rtol=1e-5)
    assert (iterated != exact).any()


def test_more_components_than_eigenvectors_are_all_summed():
    rng = np.random.default_rng(0)
    X = 100.0 * np.repeat(rng.normal(size=(5, 4)), 12, axis=0) + rng.normal(size=(60, 4))
    S = dense_graph(X, None, "features")
    assert np.linalg.matrix_rank(np.diag(S.sum(axis=1)) - S) == 55
    for n_eigenvectors in (1, 3, 4):
        scores = SPEC(2, graph="unsupervised", n_eigenvectors=n_eigenvectors).fit(X).scores_
        np.testing.assert_allclose(scores, naive_spec(X, S, "phi3", 4), rtol=1e-7)


def clustered_rows(n_groups, n=40):
    """Groups of rows so far from each other that similarities between them are lost in rounding errors."""
    rng = np.random.default_rng(0)
    centers = 40.0 * np.column_stack([rng.permutation(n_groups) for _ in range(4)])
    return np.repeat(centers, n, axis=0) + rng.normal(size=(n_groups * n, 4))


@pytest.mark.parametrize("ways", ["dense", "products and inverse"])
@pytest.mark.parametrize("n_groups", [3, 5, 12])
def test_eigenvalues_that_cluster_at_zero(n_groups, ways, monkeypatch):
    if ways != "dense":
        monkeypatch.setattr(graphs, "DENSE_ROWS", 0)
        monkeypatch.setattr(graphs, "MAX_RESTARTS", 2)
    X = clustered_rows(n_groups)
    scores = SPEC(2, graph="unsupervised", n_neighbors=60).fit(X).scores_
    S = dense_graph(X, None, "features", n_neighbors=60)
    expected = naive_spec(X, S, "phi3", max(4, n_groups - 1))
    np.testing.assert_allclose(scores, expected, rtol=1e-5)


def test_products_that_do_not_converge_give_way_to_the_inverse(monkeypatch):
    """A long chain of groups has many eigenvalues that are nearly 0."""
    monkeypatch.setattr(graphs, "DENSE_ROWS", 0)
    monkeypatch.setattr(graphs, "MAX_RESTARTS", 1)
    position = np.repeat(np.arange(150.0), 3) * 6 + np.random.default_rng(0).normal(size=450)
    X = np.column_stack([position, position**2, np.sin(position)])
    X = np.column_stack([X, np.random.default_rng(1).normal(size=450)])
    asked = []
    iterated = graphs._iterated
    monkeypatch.setattr(graphs, "_iterated", lambda *args: asked.append(args[-1]) or iterated(*args))
    scores = SPEC(2, graph="unsupervised").fit(X).scores_
    monkeypatch.setattr(graphs, "DENSE_ROWS", 1000)
    np.testing.assert_allclose(scores, SPEC(2, graph="unsupervised").fit(X).scores_, rtol=1e-6)
    assert asked == [False, True]


@pytest.mark.parametrize("n_columns", [1, 3, 30])
def test_nearest_rows_by_order_tree_and_product(n_columns, monkeypatch):
    monkeypatch.setattr(neighbours, "BLOCK_SIZE", 7 * 90)
    points = np.random.default_rng(0).normal(size=(90, n_columns))
    found, distances = neighbours.nearest_rows(points, 4)
    everything = cdist(points, points)
    np.fill_diagonal(everything, np.inf)
    expected = np.argsort(everything, axis=1)[:, :4]
    np.testing.assert_array_equal(np.sort(found), np.sort(expected))
    np.testing.assert_allclose(distances, np.take_along_axis(everything, found, axis=1))


@pytest.mark.parametrize("n_columns", [1, 2, 20])
def test_equal_rows_are_not_their_own_neighbours(n_columns):
    found, distances = neighbours.nearest_rows(np.zeros((30, n_columns)), 3)
    assert (found != np.arange(30)[:, None]).all()
    assert (distances == 0).all()


@pytest.mark.filterwarnings("ignore::l1lsmi._warnings.DataWarning")
@pytest.mark.parametrize("selector", [LaplacianScore(2), *(SPEC(2, criterion=c) for c in CRITERIA)], ids=str)
@pytest.mark.parametrize("kind", ["classes", "numbers", "features"])
def test_the_smooth_feature_is_found(selector, kind):
    rng = np.random.default_rng(0)
    hidden = np.repeat([-3.0, 0.0, 3.0], 40) + 0.1 * rng.normal(size=120)
    X = rng.normal(size=(120, 6))
    X[:, [1, 4]] = hidden[:, None] * [1.0, -2.0] + 0.2 * rng.normal(size=(120, 2))
    y = np.repeat([0, 1, 2], 40) if kind == "classes" else hidden
    selector.set_params(graph="unsupervised" if kind == "features" else "supervised")
    assert selector.fit(X, y).get_support(indices=True).tolist() == [1, 4]


def test_all_criteria_rank_alike_for_classes():
    X, y = make_and_or(200, random_state=0)
    expected = LaplacianScore(4).fit(X, y)
    assert expected.get_support(indices=True).tolist()[-3:] == [7, 8, 9]
    for criterion in CRITERIA:
        selector = SPEC(4, criterion=criterion).fit(X, y)
        np.testing.assert_array_equal(selector.ranking_, expected.ranking_)


def test_phi2_is_the_laplacian_score():
    X, y = make_quad(150, random_state=0)
    for graph in ("supervised", "unsupervised"):
        expected = LaplacianScore(2, graph=graph).fit(X, y).scores_
        np.testing.assert_array_equal(SPEC(2, graph=graph, criterion="phi2").fit(X, y).scores_, expected)


@pytest.mark.parametrize("Estimator", [LaplacianScore, SPEC])
@pytest.mark.parametrize("kind", ["classes", "numbers", "features"])
def test_order_and_scale_do_not_matter(Estimator, kind):
    X, y, graph = problem(kind)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    scale = 10.0 ** rng.integers(-5, 5, X.shape[1])
    expected = Estimator(2, graph=graph).fit(X, y).scores_
    moved = Estimator(2, graph=graph).fit((7.0 + X * scale)[rows][:, columns], y[rows]).scores_
    np.testing.assert_allclose(moved, expected[columns], rtol=1e-6)


@pytest.mark.parametrize("Estimator", [LaplacianScore, SPEC])
def test_without_a_target(Estimator):
    X, y, _ = problem("features")
    alone = Estimator(2, graph="unsupervised").fit(X)
    np.testing.assert_array_equal(alone.scores_, Estimator(2, graph="unsupervised").fit(X, y).scores_)
    np.testing.assert_array_equal(alone.fit_transform(X), X[:, alone.support_])
    assert not alone.__sklearn_tags__().target_tags.required
    with pytest.raises(ValueError, match="requires y to be passed"):
        Estimator(2).fit(X)


@pytest.mark.parametrize("Estimator", [LaplacianScore, SPEC])
@pytest.mark.parametrize("y", [[0, 1], [0.5, 1.7], None])
def test_two_rows_are_enough(Estimator, y):
    graph = "unsupervised" if y is None else "supervised"
    selector = Estimator(1, graph=graph).fit([[0.0, 1.0, 3.0], [0.0, 2.0, 1.0]], y)
    assert selector.support_.tolist() == [False, True, False]
    assert selector.ranking_.tolist() == [3, 1, 2]
    assert np.isfinite(selector.scores_[1:]).all()


@pytest.mark.parametrize("selector", [LaplacianScore(2), *(SPEC(2, criterion=c) for c in CRITERIA)], ids=str)
def test_a_row_without_similar_rows(selector):
    X = np.random.default_rng(0).normal(size=(80, 4))
    X[0, :2] = 1e6
    X[:, 3] = np.arange(80) == 0
    selector.set_params(graph="unsupervised", sigma=0.01)
    scores = selector.fit(X).scores_
    assert np.isfinite(scores).all()
    assert scores.argmin() == 3


def test_a_class_of_one_row():
    X, y, _ = problem("classes")
    y = y.copy()
    y[3] = 9
    expected = -naive_laplacian_score(X, dense_graph(X, y, "classes"))
    np.testing.assert_allclose(LaplacianScore(2).fit(X, y).scores_, expected, rtol=1e-9)


@pytest.mark.parametrize("Estimator", [LaplacianScore, SPEC])
def test_other_libraries_get_the_same_scores(Estimator, library):
    X, y, _ = problem("numbers")
    scores = Estimator(2).fit(to_library(X, library), to_library(y, library)).scores_
    np.testing.assert_allclose(scores, Estimator(2).fit(X, y).scores_, rtol=1e-9)


@pytest.mark.parametrize(
    ("Estimator", "parameters", "message"),
    [
        (SPEC, {"graph": "full"}, "'graph' parameter of SPEC .* Got 'full' instead"),
        (SPEC, {"criterion": "phi4"}, "Got 'phi4' instead"),
        (SPEC, {"n_eigenvectors": 0}, "Got 0 instead"),
        (SPEC, {"n_neighbors": 0}, "Got 0 instead"),
        (LaplacianScore, {"sigma": 0.0}, "'sigma' parameter of LaplacianScore .* Got 0.0 instead"),
        (LaplacianScore, {"n_neighbors": 1.5}, "Got 1.5 instead"),
        (LaplacianScore, {"graph": None}, "Got None instead"),
    ],
)
def test_bad_parameters(Estimator, parameters, message):
    with pytest.raises(ValueError, match=message):
        Estimator(1, **parameters).fit([[0.0], [1.0]], [0, 1])


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(2, 25), m=st.integers(1, 8), k=st.integers(1, 8), data=st.data()
)
def test_exactly_k_are_selected(seed, n, m, k, data):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, m)) * rng.integers(0, 2, size=m)
    X[:, 0] = np.arange(n)
    y = rng.permutation(np.arange(n) % data.draw(st.integers(2, n)))
    selector = data.draw(
        st.sampled_from([LaplacianScore(), SPEC(criterion="phi1"), SPEC(), SPEC(n_eigenvectors=20)])
    )
    selector.set_params(
        n_features_to_select=min(k, m),
        graph=data.draw(st.sampled_from(["supervised", "unsupervised"])),
        task=data.draw(st.sampled_from(["classification", "regression"])),
        n_neighbors=data.draw(st.integers(1, 30)),
    )
    selector.fit(X, y)
    assert selector.support_.sum() == min(k, m)
    assert (selector.support_ == (selector.ranking_ == 1)).all()
    varying = np.ptp(X, axis=0) > 0
    assert np.isfinite(selector.scores_[varying]).all()
    assert (selector.scores_[~varying] == -np.inf).all()
