"""Weighting rows by whole numbers is repeating them, and a target may have several columns."""

from dataclasses import replace

import numpy as np
import pytest

from l1lsmi._arrays import to_numpy
from l1lsmi._numerics.hsic.hsic import PairedRows
from l1lsmi._numerics.likelihood.draw import LikelihoodDraw
from l1lsmi._numerics.model import Grid, Model, ModelBatch
from l1lsmi._numerics.squared_loss.draw import LeastSquaresDraw
from l1lsmi._numerics.squared_loss.leave_one_out import LeaveOneOutLoss
from l1lsmi._numerics.squared_loss.target_functions import TargetFunctions
from l1lsmi._numerics.target import Target
from l1lsmi._rows.medians import median_positive, weighted_median_distance
from l1lsmi._rows.statistics import column_statistics
from l1lsmi._rows.stream import ColumnStatistics
from l1lsmi._rows.table import Resources, Table
from l1lsmi.measures import HSIC, MutualInformation, Pearson, SquaredMutualInformation
from tests.conftest import TASKS, assert_close, problem_data, to_library

COLUMNS = np.array([0, 2, 3])
WEIGHTS = np.array([0.7, 0.4, 0.9])
MODEL = Model(1.1, 0.03)
N = 60
#: Tasks, and how many targets they have.
TARGETS = [("classification", 1), ("regression", 1), ("regression", 2)]


def counts(n=N):
    return np.random.default_rng(5).integers(1, 4, size=n)


def target_of(y, task, row_weights=None):
    """A target that is standardised with its weights."""
    if task == "classification":
        return Target.of_classes(y, row_weights)
    mean, scale = column_statistics(y.reshape(len(y), -1), row_weights)
    if y.ndim == 1:
        return Target.of_values(y, float(mean[0]), float(scale[0]), row_weights)
    return Target.of_values(y, mean, scale, row_weights)


def both(task, library=np, resources=None, n_targets=1):
    """The same data twice: rows with weights, and rows repeated; and the row each copy is of."""
    X, y = problem_data(task, n=N)
    if n_targets == 2:
        y = np.column_stack([y, X[:, 4] ** 2])
    weights, rows = counts().astype(float), np.repeat(np.arange(N), counts())
    weighted = Table.of(to_library(X, library), resources, weights), target_of(y, task, weights)
    repeated = Table.of(to_library(X[rows], library), resources), target_of(y[rows], task)
    return weighted, repeated, rows


def first_copies(rows):
    return np.searchsorted(rows, np.arange(N))


def draws(kind, task, library=np, resources=None, n_targets=1):
    """Draws of both with the same centres, and copies of a row in the same fold."""
    weighted, repeated, rows = both(task, library, resources, n_targets)
    folds = np.random.default_rng(1).permutation(np.arange(N) % 5)
    codes = weighted[1].codes
    centers = np.full((codes.max() + 1, 9), -1)
    for group in range(len(centers)):
        some = np.flatnonzero(codes == group)[:9]
        centers[group, : some.size] = some
    copies = np.where(centers >= 0, first_copies(rows)[np.maximum(centers, 0)], -1)
    options = {"n_folds": 5, "grid": Grid((1.0,), (), (0.1,)), "target_sigma": 0.8}
    return (
        kind(*weighted, centers=centers[None], fold_of_row=folds[None], **options),
        kind(*repeated, centers=copies[None], fold_of_row=folds[rows][None], **options),
    )


@pytest.mark.parametrize("task", TASKS)
def test_column_statistics(task, library):
    (weighted, _), (repeated, _), _ = both(task, library)
    assert_close(weighted.mean, repeated.mean, rtol=1e-12)
    assert_close(weighted.scale, repeated.scale, rtol=1e-12)


def test_column_statistics_of_blocks():
    X, _ = problem_data("regression", n=N)
    weights = counts().astype(float)
    parts = [ColumnStatistics.of(X[some], weights[some]) for some in (slice(0, 20), slice(20, N))]
    merged = parts[0].merged(parts[1])
    mean, scale = column_statistics(np.repeat(X, counts(), axis=0))
    assert merged.n_rows == N and merged.weight == weights.sum()
    assert_close(merged.mean, mean, rtol=1e-12)
    assert_close(merged.scale, scale, rtol=1e-12)


@pytest.mark.parametrize("resources", [None, Resources(memory_limit=20_000)], ids=["cached", "in parts"])
@pytest.mark.parametrize(("task", "n_targets"), TARGETS)
def test_squared_loss(task, n_targets, library, resources):
    weighted, repeated = draws(LeastSquaresDraw, task, library, resources, n_targets)
    one, other = (draw.fit(WEIGHTS, COLUMNS, MODEL) for draw in (weighted, repeated))
    assert one.value == pytest.approx(other.value, rel=1e-10)
    assert one.cv_score == pytest.approx(other.cv_score, rel=1e-10)
    assert_close(one.alpha, other.alpha, rtol=1e-8, atol=1e-10)
    values = [draw.value_and_gradient(WEIGHTS, COLUMNS, MODEL) for draw in (weighted, repeated)]
    assert_close(values[0][1], values[1][1], rtol=1e-8, atol=1e-10)
    gradients = [draw.set_gradient(COLUMNS, MODEL, np.arange(6)) for draw in (weighted, repeated)]
    assert_close(*gradients, rtol=1e-8, atol=1e-10)
    neighbours = [
        draw.neighbour_values(COLUMNS, np.array([1, 5]), 1.0, MODEL) for draw in (weighted, repeated)
    ]
    assert_close(*neighbours, rtol=1e-10)


@pytest.mark.parametrize("task", TASKS)
def test_evaluation_on_the_path(task, library):
    found = []
    for draw in draws(LeastSquaresDraw, task, library):
        models = ModelBatch(*(draw.asarray(np.array([v])) for v in (MODEL.sigma, MODEL.regularization)))
        evaluation = draw.evaluate(draw.asarray(WEIGHTS[None]), None, COLUMNS[None], models)
        numbers = (evaluation.value, evaluation.gradient[0, :], evaluation.regularization)
        found.append(np.concatenate([to_numpy(part) for part in numbers]))
    assert_close(*found, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("task", TASKS)
def test_likelihood(task, library):
    weighted, repeated = draws(LikelihoodDraw, task, library)
    one, other = (draw.fit(WEIGHTS, COLUMNS, MODEL) for draw in (weighted, repeated))
    assert one.value == pytest.approx(other.value, rel=1e-10, abs=1e-10)
    # Smoothing depends on the number of rows, which is the sum of the weights.
    assert one.cv_score == pytest.approx(other.cv_score, rel=1e-10)
    gradients = [draw.set_gradient(COLUMNS, MODEL, np.arange(6)) for draw in (weighted, repeated)]
    assert_close(*gradients, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("resources", [None, Resources(memory_limit=4_000)], ids=["one block", "blocks"])
@pytest.mark.parametrize("sigma", [None, 1.3])
@pytest.mark.parametrize(("task", "n_targets"), TARGETS)
def test_hsic(task, sigma, n_targets, library, resources):
    weighted, repeated, _ = both(task, library, resources, n_targets)
    one, other = (PairedRows(*data, sigma=sigma, target_sigma=0.8) for data in (weighted, repeated))
    assert one.value_of_set(COLUMNS) == pytest.approx(other.value_of_set(COLUMNS), rel=1e-10)
    assert_close(one.score_each(COLUMNS), other.score_each(COLUMNS), rtol=1e-10, atol=1e-14)
    others = np.array([1, 5])
    assert_close(
        one.score_neighbours(COLUMNS, others, 1.0), other.score_neighbours(COLUMNS, others, 1.0), rtol=1e-10
    )
    gradients = [pairs.gradient(WEIGHTS, COLUMNS, np.arange(6), 1.2)[1] for pairs in (one, other)]
    assert_close(*gradients, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("task", TASKS)
def test_correlation(task):
    weighted, repeated, _ = both(task)
    scores = [Pearson().bind(*data).score_each(np.arange(6)) for data in (weighted, repeated)]
    assert_close(*scores, rtol=1e-10)


def left_out_loss(loss, table, target, centers, squares):
    """The loss by fits without each row in turn, of all its weight."""
    z = to_numpy(table.take(np.arange(N), np.arange(table.n_columns)))
    kernel = np.exp(-0.5 * (z[:, None] - z[centers]) ** 2 @ squares)
    functions, weights = loss.functions.of_rows(target), target.row_weights
    of_centers = MODEL.regularization * kernel[centers]
    total = 0.0
    for row in range(N):
        others = np.arange(N) != row
        across = (kernel[others] * weights[others, None]).T
        gram = (kernel * weights[:, None]).T @ kernel
        small = 1e-6 * MODEL.regularization + 1e-12 * np.trace(gram)
        matrix = across @ kernel[others] + of_centers + small * np.eye(centers.size)
        error = functions[row] - kernel[row] @ np.linalg.solve(matrix, across @ functions[others])
        total += weights[row] * (error**2).sum()
    return total / weights.sum()


@pytest.mark.parametrize("resources", [None, Resources(memory_limit=20_000)], ids=["cached", "in parts"])
@pytest.mark.parametrize(("task", "n_targets"), TARGETS)
def test_leave_one_out_loss(task, n_targets, library, resources, monkeypatch):
    """A row is left out with all of its weight: no copy of it is in the fit that it judges."""
    (table, target), _, _ = both(task, library, resources, n_targets)
    centers = np.arange(0, N, 5)
    module = "l1lsmi._numerics.squared_loss.leave_one_out.spread_rows"
    monkeypatch.setattr(module, lambda order, n, rng: centers)
    loss = LeaveOneOutLoss(table, target, centers.size, np.random.default_rng(0))
    support = tuple(COLUMNS.tolist())

    def brute_force(change=0.0, column=0):
        squares = np.zeros(6)
        squares[COLUMNS] = 1.0
        squares[column] += change
        return left_out_loss(loss, table, target, centers, squares / MODEL.sigma**2)

    assert loss.losses_under([support], [MODEL])[0] == pytest.approx(brute_force(), rel=1e-7)
    gradient = loss.set_gradients([support], [MODEL], np.arange(6))[0]
    for column in (0, 1):
        slope = (brute_force(1e-4, column) - brute_force(-1e-4, column)) / 2e-4
        assert -gradient[column] == pytest.approx(slope, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("n_targets", [1, 2])
def test_functions_of_the_target(n_targets):
    (_, weighted), (_, repeated), rows = both("regression", n_targets=n_targets)
    one, other = (TargetFunctions.of(target, np.random.default_rng(0)) for target in (weighted, repeated))
    assert_close(one.points, other.points, rtol=1e-12)
    # Functions are the same up to their signs.
    products = [f.of_rows(target) for f, target in ((one, weighted), (other, repeated))]
    assert_close(
        (products[0] @ products[0].T)[np.ix_(rows, rows)], products[1] @ products[1].T, rtol=1e-8, atol=1e-10
    )


@pytest.mark.parametrize("repeats", [1, 4])
def test_the_median_distance_counts_copies(repeats):
    values = np.random.default_rng(0).normal(size=(12, 2))
    weights = np.random.default_rng(1).integers(1, repeats + 1, size=12)
    copies = np.repeat(values, weights, axis=0)
    gaps = np.sqrt(((copies[:, None] - copies) ** 2).sum(axis=2))[np.triu_indices(len(copies), 1)]
    assert weighted_median_distance(values, weights.astype(float)) == pytest.approx(median_positive(gaps))


@pytest.mark.parametrize(
    "measure", [SquaredMutualInformation(n_basis=30), MutualInformation(n_basis=30), HSIC()]
)
def test_a_target_with_one_column_is_a_vector(measure):
    X, y = problem_data("regression", n=N)
    table = Table.of(X)
    vector = target_of(y, "regression")
    column = replace(vector, values=vector.values[:, None])
    for score in ("score_set", "score_each"):
        found = [getattr(measure.bind(table, target, 0), score)(COLUMNS) for target in (vector, column)]
        assert_close(np.array(found[0]), np.array(found[1]), rtol=1e-12)


def test_every_target_counts():
    # The targets depend on one column each.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    target = target_of(np.column_stack([X[:, 1] ** 2, np.sin(2 * X[:, 3])]), "regression")
    for measure in (SquaredMutualInformation(n_basis=60), HSIC()):
        problem = measure.bind(Table.of(X), target, 0)
        scores = problem.score_each(np.arange(4))
        assert set(np.argsort(scores)[2:]) == {1, 3}
        pairs = {(i, j): problem.score_set(np.array([i, j])) for j in range(4) for i in range(j)}
        assert max(pairs, key=pairs.get) == (1, 3)


def test_weights_of_zero_leave_rows_out():
    X, y = problem_data("regression", n=N)
    weights = (np.arange(N) % 3 > 0).astype(float)
    kept = weights > 0
    some = PairedRows(Table.of(X[kept]), target_of(y[kept], "regression"), sigma=1.0, target_sigma=0.8)
    target = target_of(y, "regression", weights)
    whole = PairedRows(Table.of(X, row_weights=weights), target, sigma=1.0, target_sigma=0.8)
    assert whole.value_of_set(COLUMNS) == pytest.approx(some.value_of_set(COLUMNS), rel=1e-10)
