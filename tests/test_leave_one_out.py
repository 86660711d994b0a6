"""Comparing sets of features by rows left out: the shortcut against fits done over again."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from l1lsmi._arrays import whitened, whitening
from l1lsmi._numerics.model import Model
from l1lsmi._numerics.squared_loss import leave_one_out
from l1lsmi._numerics.squared_loss.leave_one_out import (
    WIDTHS,
    LeaveOneOut,
    TargetFunctions,
)
from l1lsmi._numerics.squared_loss.left_out_fits import (
    REGULARIZATIONS,
    RIDGE,
    all_losses,
    kernel_sums,
    turned,
    white_of,
    whitened_losses,
)
from l1lsmi._rows.table import Means, Table
from l1lsmi._validation.target import check_target
from tests.conftest import TASKS, assert_close, problem_data, to_library

COLUMNS = np.array([0, 2, 5])
MODEL = Model(1.3, 0.05)


def make_judge(task, library=np, n_basis=23, **data):
    X, y = problem_data(task, **data)
    return LeaveOneOut(
        Table.of(to_library(X, library)), check_target(y, task), n_basis, np.random.default_rng(3)
    )


def standardized(task, **data):
    X, _ = problem_data(task, **data)
    return (X - X.mean(axis=0)) / X.std(axis=0)


def functions_at(target):
    return TargetFunctions.of(target, np.random.default_rng(0)).of_rows(target)


def functions_of(judge):
    """The target's functions in the order of the rows."""
    functions = np.concatenate([block.attached["functions"] for block in judge.rows.blocks])
    rows = np.concatenate([block.rows.ravel() for block in judge.rows.blocks])
    return functions[rows >= 0][np.argsort(rows[rows >= 0])]


def score_of(judge, squared_weights, columns, regularization):
    blocks = [*judge.rows.blocks, judge._among]
    exponents = [block.exponents(squared_weights, columns) for block in blocks]
    return judge._score(exponents, 1.0, regularization)


def kernel_between(a, b, sigma):
    return np.exp(-0.5 * ((a[:, None] - b) ** 2).sum(axis=2) / sigma**2)


def score_by_refitting(task, judge, columns, model):
    """Leave every row out in turn and fit the rest; the centres stay."""
    Z, Y = standardized(task)[:, columns], functions_of(judge)
    kernel = kernel_between(Z, Z[judge.rows.centers.rows], model.sigma)
    among = kernel[judge.rows.centers.rows] + RIDGE * np.eye(judge.rows.centers.size)
    loss = 0.0
    for i in range(len(Z)):
        rest = np.arange(len(Z)) != i
        left = kernel[rest].T @ kernel[rest] + model.regularization * among
        coefficients = np.linalg.solve(left, kernel[rest].T @ Y[rest])
        loss += ((Y[i] - kernel[i] @ coefficients) ** 2).sum()
    return loss / len(Z)


@pytest.mark.parametrize("task", TASKS)
def test_score_is_that_of_fits_without_each_row(task):
    judge = make_judge(task)
    judgement = judge.judge(COLUMNS)
    assert judgement.cv_score == pytest.approx(
        score_by_refitting(task, judge, COLUMNS, judgement.model), rel=1e-4
    )


@pytest.mark.parametrize("task", TASKS)
def test_judge_finds_the_best_model_of_its_grid(task):
    judge = make_judge(task)
    found = judge.judge(COLUMNS)
    center = standardized(task)[judge.rows.centers.rows][:, COLUMNS]
    pairs = np.sqrt(((center[:, None] - center) ** 2).sum(axis=2))[np.triu_indices(len(center), 1)]
    grid = {
        (width, regularization): score_by_refitting(
            task, judge, COLUMNS, Model(width * np.median(pairs), regularization)
        )
        for width in WIDTHS
        for regularization in REGULARIZATIONS[::4]
    }
    assert found.cv_score <= min(grid.values()) * (1 + 1e-4)


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
    monkeypatch.setattr(leave_one_out, "N_FUNCTIONS", 60)
    values = np.random.default_rng(1).normal(size=90)
    points, turn = leave_one_out._kernel_features(values, 1.5)
    features = np.exp(-0.5 * ((values[:, None] - points) / 1.5) ** 2) @ turn
    features -= features.mean(axis=0)
    kernel = np.exp(-0.5 * ((values[:, None] - values) / 1.5) ** 2)
    center = np.eye(90) - 1 / 90
    assert_close(features @ features.T, center @ kernel @ center, atol=1e-6)


@pytest.mark.parametrize("task", TASKS)
def test_slopes_match_finite_differences(task, library):
    judge = make_judge(task, library)
    candidates = np.arange(6)
    slopes = judge.set_slopes(COLUMNS, MODEL, candidates)

    def score(squares):
        return score_of(judge, squares / MODEL.sigma**2, candidates, MODEL.regularization)

    present = np.isin(candidates, COLUMNS).astype(float)
    for j in candidates:
        # An absent feature has a weight of 0, from where there is only one way.
        steps = (-1e-5, 1e-5) if present[j] else (0.0, 1e-5, 2e-5)
        values = [score(present + step * (candidates == j)) for step in steps]
        if present[j]:
            slope = (values[1] - values[0]) / 2e-5
        else:
            slope = (-3 * values[0] + 4 * values[1] - values[2]) / 2e-5
        assert slopes[j] == pytest.approx(-slope, rel=2e-4, abs=1e-6)


@pytest.mark.parametrize("task", TASKS)
def test_blocks_of_rows_change_nothing(task, monkeypatch):
    whole = make_judge(task)
    monkeypatch.setattr("l1lsmi._rows.folded.BLOCK_ROWS", 40)
    blocks = make_judge(task)
    assert len(blocks.rows.blocks) > len(whole.rows.blocks)
    assert blocks.judge(COLUMNS).cv_score == pytest.approx(whole.judge(COLUMNS).cv_score, rel=1e-9)
    assert_close(
        blocks.set_slopes(COLUMNS, MODEL, np.arange(6)),
        whole.set_slopes(COLUMNS, MODEL, np.arange(6)),
        rtol=1e-7,
        atol=1e-12,
    )


@pytest.mark.parametrize("task", TASKS)
def test_all_libraries_agree(task, library):
    expected = make_judge(task).judge(COLUMNS)
    found = make_judge(task, library).judge(COLUMNS)
    assert found.cv_score == pytest.approx(expected.cv_score, rel=1e-8)
    assert found.model.regularization == expected.model.regularization


@pytest.mark.parametrize("task", TASKS)
def test_exchanges_come_in_the_order_of_their_scores(task):
    judge = make_judge(task)
    support = (3, 4)  # two columns that say nothing: every exchange of interest is better
    model = judge.judge(np.array(support)).model
    found = list(judge.neighbours(support, model, np.arange(6), width=2))

    def score(columns):
        return score_of(judge, np.full(2, model.sigma**-2), np.array(columns), model.regularization)

    scores = [score(columns) for columns in found]
    assert scores == sorted(scores)
    assert all(len(set(columns) & set(support)) == 1 for columns in found)
    everything = {tuple(sorted((i, j))) for i in support for j in range(6) if j not in support}
    assert min(everything, key=score) == found[0]


@pytest.mark.parametrize("task", TASKS)
def test_some_rows_stand_for_all(task):
    X, y = problem_data(task, n=203)
    target = check_target(y, task)
    some = LeaveOneOut(Table.of(X), target, 23, np.random.default_rng(3), most_rows=90)
    assert some.n_rows == 90
    whole = some.functions.of_rows(target)
    used = functions_of(some)
    assert all((whole == row).all(axis=1).any() for row in used)
    # Every second row or so in the order of the target.
    for function, among_used in zip(whole.T, used.T, strict=True):
        for quantile in (0.1, 0.3, 0.5, 0.8):
            edge = np.quantile(function, quantile)
            assert np.mean(among_used <= edge) == pytest.approx(np.mean(function <= edge), abs=0.05)
    assert some.judge(COLUMNS).cv_score == pytest.approx(make_judge(task).judge(COLUMNS).cv_score, abs=0.2)


def test_rows_that_repeat_and_a_perfect_set():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(200, 4)).astype(float)
    y = X[:, 0].astype(int) ^ X[:, 1].astype(int)
    judge = LeaveOneOut(Table.of(X), check_target(y, "classification"), 50, rng)
    assert judge.judge(np.array([0, 1])).cv_score < 1e-3
    # What says nothing leaves everything unexplained.
    assert judge.judge(np.array([2, 3])).cv_score == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("task", TASKS)
def test_many_columns_of_some_rows_have_the_same_slopes(task):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(203, 300)), problem_data(task, n=203)[1]
    target, columns = check_target(y, task), np.array([0, 2, 5])
    slopes = []
    for limit in (None, 1_000):  # with a standardised copy of the table, and without
        table = Table.of(X, Means(memory_limit=limit))
        some = LeaveOneOut(table, target, 23, np.random.default_rng(3), most_rows=90)
        some.rows.centers.max_columns = 50
        slopes.append(some.set_slopes(columns, MODEL, np.arange(300)))
    assert_close(slopes[0], slopes[1], rtol=1e-7, atol=1e-10)


def test_centres_close_to_each_other_cost_no_digits():
    rng = np.random.default_rng(0)
    x = rng.normal(size=3_000)
    functions = np.sin(x)[:, None] + 0.1 * rng.normal(size=(3_000, 1))
    kernel, among = (np.exp(-0.5 * ((points[:, None] - x[:60]) / 8.0) ** 2) for points in (x, x[:60]))
    white = white_of(among)
    left, sizes, _ = np.linalg.svd(kernel @ white, full_matrices=False)
    shares = [sizes**2 / (sizes**2 + regularization) for regularization in REGULARIZATIONS]
    rests = [1 - (left * left) @ share for share in shares]
    errors = [
        (functions - (left * share) @ (left.T @ functions))[:, 0] / rest
        for share, rest in zip(shares, rests, strict=True)
    ]
    expected = [error @ error for error in errors]
    one = all_losses(kernel, functions, turned(white, *kernel_sums(kernel @ white, functions)))
    (stacked,) = whitened_losses(kernel[None], functions, among[None])
    np.testing.assert_allclose(one, expected, rtol=1e-9)
    np.testing.assert_allclose(stacked, expected, rtol=1e-9)


def test_rows_times_a_triangle():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(7, 7))
    white = whitening(factor @ factor.T + np.eye(7))
    np.testing.assert_allclose(white.T @ (factor @ factor.T + np.eye(7)) @ white, np.eye(7), atol=1e-12)
    x = rng.normal(size=(20, 7))
    assert_close(whitened(x.copy(), white), x @ white)
    assert_close(whitened(x.T.copy().T, white), x @ white)
