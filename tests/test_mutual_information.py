"""Mutual information: known values, the optimality of the fit, gradients, and the shared interface."""

import numpy as np
import pytest
from sklearn.base import clone

from l1lsmi._arrays import to_numpy
from l1lsmi._numerics.likelihood import nodes
from l1lsmi._numerics.likelihood.likelihood import fit_ratios
from l1lsmi._numerics.likelihood.nodes import ColumnNodes
from l1lsmi._numerics.model import Model, ModelBatch
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Table
from l1lsmi._validation.target import check_target
from l1lsmi.measures import MutualInformation
from tests.conftest import TASKS, problem_data, to_library

MODEL = Model(0.9)
COLUMNS = np.array([0, 1, 2, 4])


def make_draw(task, library=np, n_basis=41, **data):
    X, y = problem_data(task, **data)
    measure = MutualInformation(n_basis=n_basis)
    return measure.bind(Table.of(to_library(X, library)), check_target(y, task), 0).draws([(0,)])


def evaluate(draw, weights, columns=COLUMNS, model=MODEL):
    """Value, gradient and estimate for the only draw of a batch."""
    models = ModelBatch(draw.asarray(np.array([model.sigma])), draw.asarray(np.zeros(1)))
    evaluation = draw.evaluate(draw.asarray(weights[None]), None, columns[None], models)
    estimate = draw.estimate(evaluation, columns[None], models)
    return float(evaluation.value[0]), to_numpy(evaluation.gradient)[0], float(estimate[0])


def random_weights(seed, size=4):
    return np.random.default_rng(seed).uniform(0.3, 1.3, size=size)


def central_differences(function, weights, h=1e-4):
    return np.array(
        [(function(weights + h * e) - function(weights - h * e)) / (2 * h) for e in np.eye(weights.size)]
    )


def test_discrete_pair():
    # Features and classes with this joint distribution share sum p log(p / (p_x p_y)) nats.
    joint = np.array([[0.2, 0.1], [0.1, 0.25], [0.05, 0.3]])
    exact = np.sum(joint * np.log(joint / (joint.sum(1, keepdims=True) * joint.sum(0))))
    cells = np.random.default_rng(0).choice(6, p=joint.ravel(), size=4000)
    X, y = (cells // 2)[:, None].astype(float), cells % 2
    estimate = MutualInformation(random_state=0).estimate(X, y)
    assert estimate.value == pytest.approx(exact, abs=0.01)
    assert -estimate.cv_score == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.5])
def test_bivariate_normal(correlation):
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    y = correlation * x + np.sqrt(1 - correlation**2) * rng.normal(size=2000)
    value = MutualInformation(random_state=0).score(x[:, None], y)
    assert value == pytest.approx(-0.5 * np.log(1 - correlation**2), abs=0.04)


@pytest.mark.parametrize("task", TASKS)
def test_the_fit_is_optimal(task, library):
    """Conditions for an optimum: means over pairs, less the pull of the rows, is 0 where alpha is not."""
    draw = make_draw(task, library)
    kernels = draw._kernels(np.ones(4), COLUMNS, MODEL.sigma)
    blocks, split = draw._blocks(kernels), draw._split(kernels, draw._all_rows)
    alpha = np.asarray(fit_ratios(blocks, split).alpha)[0]
    means, pull = np.asarray(split.means)[0], np.zeros_like(alpha)
    for block in blocks:
        joint, present = np.asarray(block.joint), np.asarray(block.row_weights)
        ratio = np.einsum("fcqb,cb->fcq", joint, alpha)
        pull += np.einsum("fcqb,fcq->cb", joint, present / np.where(present > 0, ratio, 1)) / 203
    assert (alpha >= 0).all()
    assert np.sum(alpha * means) == pytest.approx(1.0, abs=1e-6)
    slack = (means - pull) / np.where(means > 0, means, 1)
    assert slack.min() > -1e-6
    assert np.abs(slack * alpha * means).max() < 1e-7


@pytest.mark.parametrize("task", TASKS)
def test_the_ratio_is_normalised_and_gives_the_value(task):
    X, y = problem_data(task)
    estimate = MutualInformation(n_basis=41, random_state=0).estimate(X[:, :3], y)
    at_pairs = estimate.density_ratio(X[:, :3], y)
    assert np.log(at_pairs).mean() == pytest.approx(estimate.value, abs=1e-8)
    n = len(y)
    rows, targets = np.repeat(np.arange(n), n), np.tile(np.arange(n), n)
    assert estimate.density_ratio(X[rows, :3], y[targets]).mean() == pytest.approx(1.0, abs=1e-8)
    assert at_pairs.min() >= 0


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("seed", range(2))
def test_gradients_match_finite_differences(task, seed, library):
    draw, weights = make_draw(task, library), random_weights(seed)
    value, gradient = draw.value_and_gradient(weights, COLUMNS, MODEL)
    expected = central_differences(lambda w: draw.value_and_gradient(w, COLUMNS, MODEL)[0], weights)
    assert np.abs(gradient - expected).max() <= 1e-5 * np.abs(expected).max()
    objective, gradient, estimate = evaluate(draw, weights)
    expected = central_differences(lambda w: evaluate(draw, w)[0], weights)
    assert np.abs(gradient - expected).max() <= 1e-4 * np.abs(expected).max()
    fit = draw.fit(weights, COLUMNS, MODEL)
    assert (fit.value, fit.cv_score) == pytest.approx((value, -objective))
    assert estimate == pytest.approx(value)


@pytest.mark.parametrize("task", TASKS)
def test_blocks_of_rows_do_not_matter(task, monkeypatch):
    whole = make_draw(task)
    monkeypatch.setattr("l1lsmi._rows.table.BLOCK_ROWS", 50)
    cut = make_draw(task)
    assert len(cut.rows.blocks) > len(whole.rows.blocks)
    weights = random_weights(0)
    for a, b in zip(
        cut.value_and_gradient(weights, COLUMNS, MODEL),
        whole.value_and_gradient(weights, COLUMNS, MODEL),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    a, b = (evaluate(draw, weights) for draw in (cut, whole))
    assert a[0] == pytest.approx(b[0], rel=1e-8)
    np.testing.assert_allclose(a[1], b[1], rtol=1e-4)


def test_the_estimate_is_never_negative():
    rng = np.random.default_rng(0)
    for seed in range(3):
        X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
        assert MutualInformation(n_basis=20, random_state=seed).estimate(X, y).value >= 0


def test_what_sets_are_compared_by():
    X, y = problem_data("regression")
    measure = MutualInformation(n_basis=30, random_state=0)
    estimate = measure.estimate(X, y)
    assert measure.score(X, y) == pytest.approx(-estimate.cv_score)
    plain = clone(measure).set_params(score_by="estimate")
    assert plain.score(X, y) == pytest.approx(estimate.value)
    assert estimate.value > -estimate.cv_score  # optimistic on the rows that were fitted to


@pytest.mark.parametrize("sizes", [(30, 1), (3, 1), (1, 1), (20, 1, 1)])
def test_a_class_that_is_missing_from_a_training_part(sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = np.random.default_rng(0).normal(size=(y.size, 2)) + y[:, None]
    measure = MutualInformation(n_basis=20, cv=2, random_state=0)
    assert np.isfinite(measure.score(X, y))
    draw = measure.bind(Table.of(X), check_target(y, "classification"), 0).draws([(0,)])
    value, gradient, _ = evaluate(draw, np.ones(2), np.arange(2), Model(1.0))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


# -- one column on nodes --------------------------------------------------------------------------


def columns_of_many_kinds(n=3000):
    """Columns of many and of few values, with copies of a row, far rows and gaps; classes of unequal size."""
    rng = np.random.default_rng(0)
    smooth = rng.normal(size=n)
    X = np.column_stack(
        [
            smooth,
            rng.integers(0, 5, size=n),
            np.where(rng.random(n) < 0.3, 0.0, rng.normal(size=n)),
            rng.standard_t(2, size=n),
            np.concatenate([rng.normal(-50, 1, n // 2), rng.uniform(50, 52, n - n // 2)]),
        ]
    )
    y = np.digitize(smooth + 0.3 * X[:, 1] + rng.normal(size=n), [-1.5, 1.0])
    return X, y


def without_nodes(monkeypatch):
    monkeypatch.setattr(nodes, "ROWS_PER_NODE", 10**9)


@pytest.mark.parametrize("score_by", ["cross_validation", "estimate"])
def test_scores_on_nodes_are_those_of_the_rows(monkeypatch, score_by):
    X, y = columns_of_many_kinds()
    measure = MutualInformation(n_basis=40, score_by=score_by, random_state=0)
    monkeypatch.setattr(nodes, "ROWS_PER_NODE", 2)
    found = measure.score_each(X, y)
    without_nodes(monkeypatch)
    np.testing.assert_allclose(found, measure.score_each(X, y), atol=1e-9)


@pytest.mark.parametrize("sigma", [0.05, 0.3, 2.0])
def test_fits_on_nodes_are_those_of_weighted_rows(monkeypatch, sigma):
    X, y = columns_of_many_kinds()
    weights = np.random.default_rng(1).uniform(0.0, 3.0, size=y.size)
    table, target = Table.of(X, None, weights), Target.of_classes(y, weights)
    draw = MutualInformation(n_basis=40).bind(table, target, 0).draws([(0,)])
    monkeypatch.setattr(nodes, "ROWS_PER_NODE", 1)
    for column in range(X.shape[1]):
        found = draw.fit(np.array([0.7]), np.array([column]), Model(sigma))
        with monkeypatch.context() as patch:
            without_nodes(patch)
            expected = draw.fit(np.array([0.7]), np.array([column]), Model(sigma))
        assert found.value == pytest.approx(expected.value, abs=1e-8)
        assert found.cv_score == pytest.approx(expected.cv_score, abs=1e-8)


def test_sums_over_nodes_are_sums_over_rows():
    rng = np.random.default_rng(0)
    values, groups = rng.normal(size=5000), rng.integers(-1, 6, size=5000)
    weights = rng.uniform(size=5000)
    points, of_points = ColumnNodes(values, groups, (3, 2), weights).at(0.4)
    assert points.size * nodes.ROWS_PER_NODE < values.size

    def function(x):
        return np.log(0.1 + np.exp(-0.5 * ((x - 0.3) / 0.4) ** 2))

    for group in range(6):
        inside = groups == group
        expected = weights[inside] @ function(values[inside])
        assert of_points[group // 2, group % 2] @ function(points) == pytest.approx(expected, rel=1e-7)
    assert ColumnNodes(values, groups, (3, 2), weights).at(0.001) is None


def test_few_values_are_their_own_nodes():
    values, groups = np.tile([3.0, 1.0, 2.0, 1.0], 25), np.tile([0, 1], 50)
    points, weights = ColumnNodes(values, groups, (1, 2), None).at(0.1)
    assert points.tolist() == [1, 2, 3]
    assert weights.tolist() == [[[0, 25, 25], [50, 0, 0]]]
