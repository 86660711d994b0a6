"""The fits against the paper's formulas written out, and gradients against finite differences."""

import numpy as np
import pytest

from l1lsmi._arrays import to_numpy
from l1lsmi._numerics.grids import SET_REGULARIZATIONS, SET_WIDTHS
from l1lsmi._numerics.model import Model, ModelBatch
from l1lsmi._numerics.squared_loss.block_terms import kernel_sums
from l1lsmi._numerics.squared_loss.least_squares import held_out_scores
from tests.conftest import TASKS, assert_close, make_draw, problem_data

COLUMNS = np.arange(6)
MODEL = Model(sigma=1.3, regularization=0.02)


def evaluate(draw, weights, model=MODEL):
    """Value, gradient, next regularization and estimate of the only draw of a batch."""
    models = ModelBatch(*(draw.asarray(np.array([v])) for v in (model.sigma, model.regularization)))
    evaluation = draw.evaluate(draw.asarray(weights[None]), None, COLUMNS[None], models)
    value, gradient = float(evaluation.value[0]), to_numpy(evaluation.gradient)[0]
    estimate = float(draw.estimate(evaluation, COLUMNS[None], models)[0])
    return value, gradient, float(evaluation.regularization[0]), estimate


def basis(draw, task, weights, data):
    """All basis functions of a draw, phi_l(x_i, y_j), as an array (n, n, b)."""
    X, y = data
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    centers = draw.centers[draw.centers >= 0]
    distance = ((weights * (z[:, None] - z[centers])) ** 2).sum(axis=2)
    of_x = np.exp(-distance / (2 * MODEL.sigma**2))
    if task == "classification":
        of_y = (y[:, None] == y[centers]).astype(float)
    else:
        scaled = (y - y.mean()) / y.std()
        gaps = np.abs(scaled[:, None] - scaled)[np.triu_indices(y.size, 1)]
        of_y = np.exp(-((scaled[:, None] - scaled[centers]) ** 2) / (2 * np.median(gaps) ** 2))
    return of_x[:, None, :] * of_y[None, :, :]


def hessian_and_joint(phi, rows):
    part = phi[np.ix_(rows, rows)]
    n = rows.size
    return np.einsum("ijl,ijk->lk", part, part) / n**2, part[np.arange(n), np.arange(n)].mean(axis=0)


@pytest.mark.parametrize("task", TASKS)
def test_value_is_the_papers_double_sum(task):
    data = problem_data(task, n=63)
    draw = make_draw(task, n=63, n_basis=12)
    weights = np.linspace(0.2, 0.9, 6)
    phi = basis(draw, task, weights, data)
    hessian, joint = hessian_and_joint(phi, np.arange(63))
    alpha = np.linalg.solve(hessian + MODEL.regularization * np.eye(joint.size), joint)
    got_alpha, value, _ = draw.fit(weights, COLUMNS, MODEL)
    np.testing.assert_allclose(value, 0.5 * joint @ alpha - 0.5, rtol=1e-10)
    np.testing.assert_allclose(got_alpha[draw.centers[0] >= 0], alpha, rtol=1e-8)


@pytest.mark.parametrize("task", TASKS)
def test_cross_validation_is_the_papers_sum_over_folds(task):
    data = problem_data(task, n=63)
    draw = make_draw(task, n=63, n_basis=12)
    weights = np.linspace(0.2, 0.9, 6)
    phi = basis(draw, task, weights, data)
    scores = []
    for fold in draw.rows.blocks[0].rows[0]:
        test = fold[fold >= 0]
        train = np.setdiff1d(np.arange(63), test)
        hessian, joint = hessian_and_joint(phi, train)
        alpha = np.linalg.solve(hessian + MODEL.regularization * np.eye(joint.size), joint)
        hessian, joint = hessian_and_joint(phi, test)
        scores.append(0.5 * alpha @ hessian @ alpha - joint @ alpha)
    np.testing.assert_allclose(-evaluate(draw, weights)[0], np.mean(scores), rtol=1e-10)
    np.testing.assert_allclose(draw.fit(weights, COLUMNS, MODEL).cv_score, np.mean(scores), rtol=1e-10)


def central_differences(function, weights, step=1e-6):
    steps = step * np.eye(weights.size)
    return np.array([(function(weights + s) - function(weights - s)) / (2 * step) for s in steps])


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("task", TASKS)
def test_gradients_match_finite_differences(task, seed, library):
    draw = make_draw(task, library, n=83, n_basis=17, seed=seed)
    weights = np.random.default_rng(seed).uniform(0.1, 0.8, size=6)
    value, gradient = draw.value_and_gradient(weights, COLUMNS, MODEL)
    expected = central_differences(lambda w: draw.value_and_gradient(w, COLUMNS, MODEL)[0], weights)
    assert np.abs(gradient - expected).max() <= 1e-6 * np.abs(expected).max()
    _, gradient, _, estimate = evaluate(draw, weights)
    expected = central_differences(lambda w: evaluate(draw, w)[0], weights)
    assert np.abs(gradient - expected).max() <= 1e-6 * np.abs(expected).max()
    np.testing.assert_allclose(estimate, value, rtol=1e-12)


@pytest.mark.parametrize("task", TASKS)
def test_gradient_of_absent_features_matches_finite_differences(task):
    draw = make_draw(task)
    present = np.array([0, 2])
    gradient = draw.set_gradient(present, MODEL, COLUMNS)

    def value(squares):
        arguments = (draw.basis, squares[None] / MODEL.sigma**2, COLUMNS[None], False)
        sums = draw.rows.sum(kernel_sums, *arguments, columns=COLUMNS)
        return -float(held_out_scores(sums, draw.target, [MODEL.regularization]).mean())

    # Squared weights cannot be negative: differences to the right, of second order.
    squares, h = np.isin(COLUMNS, present).astype(float), 1e-4
    expected = np.array(
        [
            (-3 * value(squares) + 4 * value(squares + h * e) - value(squares + 2 * h * e)) / (2 * h)
            for e in np.eye(6)
        ]
    )
    assert np.abs(gradient - expected).max() <= 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("task", TASKS)
def test_regularization_moves_uphill(task):
    draw = make_draw(task)
    weights = np.full(6, 0.5)
    for start in (0.001, 0.3):
        before, _, following, _ = evaluate(draw, weights, Model(1.3, start))
        after, *_ = evaluate(draw, weights, Model(1.3, start * (following / start) ** 0.01))
        assert after >= before


@pytest.mark.parametrize("task", TASKS)
def test_blocks_of_rows_change_nothing(task, monkeypatch):
    weights = np.linspace(0.2, 0.9, 6)
    whole = evaluate(make_draw(task), weights)
    monkeypatch.setattr("l1lsmi._rows.table.BLOCK_ROWS", 23)
    draw = make_draw(task)
    assert len(draw.rows.blocks) > 5
    cut = evaluate(draw, weights)
    np.testing.assert_allclose(cut[0], whole[0], rtol=1e-10)
    np.testing.assert_allclose(cut[1], whole[1], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("task", TASKS)
def test_all_libraries_agree(task, library):
    weights = np.linspace(0.2, 0.9, 6)
    host, other = make_draw(task), make_draw(task, library)
    assert_close(evaluate(other, weights)[1], evaluate(host, weights)[1], rtol=1e-9)
    assert other.score_set(COLUMNS).model.sigma == pytest.approx(host.score_set(COLUMNS).model.sigma)
    assert other.select_model(weights, COLUMNS).loss == pytest.approx(
        host.select_model(weights, COLUMNS).loss, rel=1e-9
    )


@pytest.mark.parametrize("task", TASKS)
def test_a_set_is_scored_under_the_best_model_of_the_grid(task):
    draw = make_draw(task)
    columns = np.array([0, 1, 2])
    median = draw.median_distance(np.ones(3), columns)
    sigmas = [width * median for width in SET_WIDTHS]
    everywhere = draw._best_model(np.ones(3), columns, sigmas, SET_REGULARIZATIONS)
    assert draw.score_set(columns).loss == pytest.approx(everywhere.loss, rel=1e-9)
