"""The leave-one-out loss of sets of features: the shortcut against fits without each row."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from l1lsmi._arrays import positive_definite_inverse, to_numpy, whitened, whitening
from l1lsmi._numerics.grids import LOO_REGULARIZATIONS, LOO_WIDTHS
from l1lsmi._numerics.model import Model
from l1lsmi._numerics.squared_loss import target_functions
from l1lsmi._numerics.squared_loss.leave_one_out import LeaveOneOutLoss
from l1lsmi._numerics.squared_loss.loo_algebra import (
    RIDGE,
    all_losses,
    center_whitening,
    fit_all,
    kernel_sums,
)
from l1lsmi._numerics.squared_loss.target_functions import TargetFunctions
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Resources, Table
from l1lsmi._validation.target import check_target
from tests.conftest import TASKS, assert_close, problem_data, to_library

COLUMNS = np.array([0, 2, 5])
MODEL = Model(1.3, 0.05)


def make_loss(task, library=np, n_basis=23, **data):
    X, y = problem_data(task, **data)
    return LeaveOneOutLoss(
        Table.of(to_library(X, library)), check_target(y, task), n_basis, np.random.default_rng(3)
    )


def score(loss, columns):
    """Loss and model of one set."""
    (scored,) = loss.score_sets([tuple(columns)])
    return scored


def gradient_of(loss, columns, model, candidates):
    return loss.set_gradients([tuple(columns)], [model], candidates)[0]


def standardized(task, **data):
    X, _ = problem_data(task, **data)
    return (X - X.mean(axis=0)) / X.std(axis=0)


def functions_at(target):
    return TargetFunctions.of(target, np.random.default_rng(0)).of_rows(target)


def functions_of(loss):
    """The target's functions in the order of the rows."""
    functions = np.concatenate([to_numpy(block.attached["functions"])[0] for block in loss.rows.blocks])
    rows = np.concatenate([block.rows.ravel() for block in loss.rows.blocks])
    return functions[rows >= 0][np.argsort(rows[rows >= 0])]


def kernel_between(a, b, sigma):
    return np.exp(-0.5 * ((a[:, None] - b) ** 2).sum(axis=2) / sigma**2)


def loss_by_refitting(task, loss, columns, model):
    """Leave every row out in turn and fit the rest; the centres stay."""
    Z, Y = standardized(task)[:, columns], functions_of(loss)
    kernel = kernel_between(Z, Z[loss.rows.centers.rows[0]], model.sigma)
    center_kernel = kernel[loss.rows.centers.rows[0]] + RIDGE * np.eye(loss.rows.centers.size)
    total = 0.0
    for i in range(len(Z)):
        others = np.arange(len(Z)) != i
        left = kernel[others].T @ kernel[others] + model.regularization * center_kernel
        coefficients = np.linalg.solve(left, kernel[others].T @ Y[others])
        total += ((Y[i] - kernel[i] @ coefficients) ** 2).sum()
    return total / len(Z)


@pytest.mark.parametrize("task", TASKS)
def test_loss_is_that_of_fits_without_each_row(task):
    loss = make_loss(task)
    found = score(loss, COLUMNS)
    assert found.loss == pytest.approx(loss_by_refitting(task, loss, COLUMNS, found.model), rel=1e-4)


@pytest.mark.parametrize("task", TASKS)
def test_a_set_is_scored_under_the_best_model_of_the_grid(task):
    loss = make_loss(task)
    found = score(loss, COLUMNS)
    center = standardized(task)[loss.rows.centers.rows[0]][:, COLUMNS]
    pairs = np.sqrt(((center[:, None] - center) ** 2).sum(axis=2))[np.triu_indices(len(center), 1)]
    grid = {
        (width, regularization): loss_by_refitting(
            task, loss, COLUMNS, Model(width * np.median(pairs), regularization)
        )
        for width in LOO_WIDTHS
        for regularization in LOO_REGULARIZATIONS[::4]
    }
    assert found.loss <= min(grid.values()) * (1 + 1e-4)


@pytest.mark.parametrize("task", TASKS)
def test_functions_of_the_target_are_centred_and_share_a_variance_of_one(task):
    _, y = problem_data(task)
    functions = functions_at(check_target(y, task))
    assert np.abs(functions.mean(axis=0)).max() < 1e-12
    assert (functions**2).sum() / len(y) == pytest.approx(1.0)


def test_functions_of_classes_tell_them_apart_and_those_of_numbers_order_them():
    _, y = problem_data("classification")
    target = check_target(y, "classification")
    functions = functions_at(target)
    assert np.array_equal(functions.argmax(axis=1), target.codes)
    _, y = problem_data("regression")
    leading = functions_at(check_target(y, "regression"))[:, 0]
    assert abs(spearmanr(leading, y)[0]) > 0.95


def test_kernel_features_have_the_inner_products_of_the_kernel(monkeypatch):
    monkeypatch.setattr(target_functions, "N_FUNCTIONS", 60)
    values = np.random.default_rng(1).normal(size=90)
    target = Target.of_values(values, 0.0, 1.0)
    points, to_features = target_functions._kernel_features(target, np.ones(90), 1.5)
    features = np.exp(-0.5 * ((values[:, None] - points[:, 0]) / 1.5) ** 2) @ to_features
    features -= features.mean(axis=0)
    kernel = np.exp(-0.5 * ((values[:, None] - values) / 1.5) ** 2)
    center = np.eye(90) - 1 / 90
    assert_close(features @ features.T, center @ kernel @ center, atol=1e-6)


@pytest.mark.parametrize("task", TASKS)
def test_gradient_matches_finite_differences(task, library):
    loss = make_loss(task, library)
    candidates = np.arange(6)
    gradient = gradient_of(loss, COLUMNS, MODEL, candidates)
    z = standardized(task)
    centers, Y = z[loss.rows.centers.rows[0]], functions_of(loss)

    def value(squares):
        kernel, center_kernel = (
            np.exp(-0.5 * (((points[:, None] - centers) ** 2) @ squares) / MODEL.sigma**2)
            for points in (z, centers)
        )
        small = 1e-6 * MODEL.regularization + 1e-12 * np.trace(kernel.T @ kernel)
        left = kernel.T @ kernel + MODEL.regularization * center_kernel + small * np.eye(len(centers))
        smoother = kernel @ np.linalg.solve(left, kernel.T)
        errors = (Y - smoother @ Y) / (1 - np.diag(smoother))[:, None]
        return (errors**2).sum() / len(z)

    present = np.isin(candidates, COLUMNS).astype(float)
    for j in candidates:
        # An absent feature has a weight of 0: differences to one side only.
        steps = (-1e-5, 1e-5) if present[j] else (0.0, 1e-5, 2e-5)
        values = [value(present + step * (candidates == j)) for step in steps]
        if present[j]:
            expected = (values[1] - values[0]) / 2e-5
        else:
            expected = (-3 * values[0] + 4 * values[1] - values[2]) / 2e-5
        assert gradient[j] == pytest.approx(-expected, rel=2e-4, abs=1e-6)


@pytest.mark.parametrize("task", TASKS)
def test_blocks_of_rows_change_nothing(task, monkeypatch):
    whole = make_loss(task)
    monkeypatch.setattr("l1lsmi._rows.table.BLOCK_ROWS", 40)
    blocks = make_loss(task)
    assert len(blocks.rows.blocks) > len(whole.rows.blocks)
    assert score(blocks, COLUMNS).loss == pytest.approx(score(whole, COLUMNS).loss, rel=1e-9)
    assert_close(
        gradient_of(blocks, COLUMNS, MODEL, np.arange(6)),
        gradient_of(whole, COLUMNS, MODEL, np.arange(6)),
        rtol=1e-7,
        atol=1e-12,
    )


@pytest.mark.parametrize("task", TASKS)
def test_all_libraries_agree(task, library):
    expected = score(make_loss(task), COLUMNS)
    found = score(make_loss(task, library), COLUMNS)
    assert found.loss == pytest.approx(expected.loss, rel=1e-8)
    assert found.model.regularization == expected.model.regularization


@pytest.mark.parametrize("task", TASKS)
def test_exchanges_come_in_the_order_of_their_losses(task):
    loss = make_loss(task)
    support = (3, 4)  # two columns without information: every exchange of interest is better
    model = score(loss, support).model
    (found,) = loss.neighbours([support], [model], np.arange(6), width=2)

    def value(columns):
        return loss.losses_under([columns], [model])[0]

    losses = [value(columns) for columns in found]
    assert losses == sorted(losses)
    assert all(len(set(columns) & set(support)) == 1 for columns in found)
    everything = {tuple(sorted((i, j))) for i in support for j in range(6) if j not in support}
    assert min(everything, key=value) == found[0]


@pytest.mark.parametrize("task", TASKS)
def test_some_rows_stand_for_all(task):
    X, y = problem_data(task, n=203)
    target = check_target(y, task)
    some = LeaveOneOutLoss(Table.of(X), target, 23, np.random.default_rng(3), max_rows=90)
    assert some.weight == 90
    whole = some.functions.of_rows(target)
    used = functions_of(some)
    assert all((whole == row).all(axis=1).any() for row in used)
    # Every second row or so in the order of the target.
    for function, of_used in zip(whole.T, used.T, strict=True):
        for quantile in (0.1, 0.3, 0.5, 0.8):
            edge = np.quantile(function, quantile)
            assert np.mean(of_used <= edge) == pytest.approx(np.mean(function <= edge), abs=0.05)
    assert score(some, COLUMNS).loss == pytest.approx(score(make_loss(task), COLUMNS).loss, abs=0.2)


def test_rows_that_repeat_and_a_perfect_set():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(200, 4)).astype(float)
    y = X[:, 0].astype(int) ^ X[:, 1].astype(int)
    loss = LeaveOneOutLoss(Table.of(X), check_target(y, "classification"), 50, rng)
    assert score(loss, (0, 1)).loss < 1e-3
    # Features without information leave everything unexplained.
    assert score(loss, (2, 3)).loss == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("task", TASKS)
def test_many_columns_of_some_rows_have_the_same_gradient(task):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(203, 300)), problem_data(task, n=203)[1]
    target, columns = check_target(y, task), np.array([0, 2, 5])
    gradients = []
    for limit in (None, 1_000):  # with a standardised copy of the table, and without
        table = Table.of(X, Resources(memory_limit=limit))
        some = LeaveOneOutLoss(table, target, 23, np.random.default_rng(3), max_rows=90)
        some.rows.centers.max_columns = 50
        gradients.append(gradient_of(some, columns, MODEL, np.arange(300)))
    assert_close(gradients[0], gradients[1], rtol=1e-7, atol=1e-10)


def test_centres_close_to_each_other_cost_no_digits(library):
    rng = np.random.default_rng(0)
    x = rng.normal(size=3_000)
    functions = np.sin(x)[:, None] + 0.1 * rng.normal(size=(3_000, 1))
    kernel, center_kernel = (np.exp(-0.5 * ((points[:, None] - x[:60]) / 8.0) ** 2) for points in (x, x[:60]))
    left, sizes, _ = np.linalg.svd(kernel @ center_whitening(center_kernel[None])[0], full_matrices=False)
    shares = [sizes**2 / (sizes**2 + regularization) for regularization in LOO_REGULARIZATIONS]
    one_minus_leverages = [1 - (left * left) @ share for share in shares]
    errors = [
        (functions - (left * share) @ (left.T @ functions))[:, 0] / remaining
        for share, remaining in zip(shares, one_minus_leverages, strict=True)
    ]
    expected = [error @ error for error in errors]
    kernel, center_kernel, functions = (
        to_library(a[None], library) for a in (kernel, center_kernel, functions)
    )
    white = center_whitening(center_kernel)
    gram, joint = kernel_sums(kernel @ white, functions, None)
    (found,) = to_numpy(all_losses(kernel, functions, None, fit_all(white, gram, joint, LOO_REGULARIZATIONS)))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_rounding_errors_that_exceed_the_ridge(library):
    rng = np.random.default_rng(0)
    vectors = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    good, bad = ((vectors * np.append(np.ones(5), last)) @ vectors.T for last in (1e-3, -3e-3))
    white = to_numpy(whitening(to_library(np.stack([good, bad]), library), 1e-6))
    alone = to_numpy(whitening(to_library(good, library), 1e-6))
    np.testing.assert_allclose(white[0], alone, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(white[1].T @ (bad + 1e-2 * np.eye(6)) @ white[1], np.eye(6), atol=1e-9)
    inverse = to_numpy(positive_definite_inverse(to_library(np.stack([good, bad]), library)))
    np.testing.assert_allclose(inverse, np.linalg.inv(np.stack([good, bad])), rtol=1e-7)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        whitening(to_library(-1e9 * np.eye(6), library), 1e-6)


def test_rows_times_a_triangle():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(7, 7))
    matrix = factor @ factor.T + np.eye(7)
    white = whitening(matrix[None], 0.0)
    np.testing.assert_allclose(white[0].T @ matrix @ white[0], np.eye(7), atol=1e-12)
    x = rng.normal(size=(1, 20, 7))
    assert_close(whitened(x.copy(), white), x @ white)
    assert_close(whitened(np.swapaxes(np.swapaxes(x, 1, 2).copy(), 1, 2), white), x @ white)
    assert_close(whitened(np.tile(x, (2, 1, 1)), np.tile(white, (2, 1, 1)))[1], (x @ white)[0])
