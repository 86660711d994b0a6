"""A batch of restarts or of sets gives what each member gives alone, on every array library."""

import numpy as np
import pytest
from sklearn.base import clone

from l1lsmi import L1LSMI
from l1lsmi._clock import Budget
from l1lsmi._numerics.model import Evaluation, Model
from l1lsmi._numerics.optimization.ascent import ascend, relative_step
from l1lsmi._numerics.squared_loss.leave_one_out import LeaveOneOutLoss
from l1lsmi._rows.table import Resources, Table
from l1lsmi._validation.target import check_target
from l1lsmi.measures import SquaredMutualInformation
from l1lsmi.strategies import L1Path, _path_restarts
from tests.conftest import TASKS, assert_close, problem_data, to_library


def bound(task, library, **data):
    X, y = problem_data(task, **data)
    measure = SquaredMutualInformation(n_basis=17)
    return measure.bind(Table.of(to_library(X, library)), check_target(y, task), 0)


def path(columns, sigma, regularization, seed):
    weights = np.random.default_rng(seed).uniform(0.1, 0.8, len(columns))
    return _path_restarts.PathState(0, np.array(columns), weights, Model(sigma, regularization), np.zeros(6))


PATHS = [path(range(6), 1.3, 0.02, 0), path([0, 2], 0.9, 0.1, 1), path([1, 2, 3, 4], 2.0, 0.5, 2)]


@pytest.mark.parametrize("task", TASKS)
def test_ascents_are_those_of_each_alone(task, library):
    """NumPy too can work on a batch, although it gains nothing by it."""
    problem, settings, budget = bound(task, library), L1Path()._settings(), Budget(None)
    draws = problem.draws([(1, i) for i in range(3)])
    for members in ([0, 1, 2], [0, 2]):
        batch = _path_restarts._ascend(draws.take(members), [PATHS[i] for i in members], 2, settings, budget)
        for i, found in zip(members, batch, strict=True):
            (alone,) = _path_restarts._ascend(problem.draws([(1, i)]), [PATHS[i]], 2, settings, budget)
            assert found.n_steps == alone.n_steps == (1 if i == 1 else 4)
            assert_close(found.weights, alone.weights, rtol=1e-8, atol=1e-12)
            assert_close(found.evaluated, alone.evaluated, rtol=1e-8, atol=1e-12)
            assert found.value == pytest.approx(alone.value, rel=1e-9)
            assert found.estimate == pytest.approx(alone.estimate, rel=1e-9)
            assert found.model.regularization == pytest.approx(alone.model.regularization, rel=1e-8)


@pytest.mark.parametrize("task", TASKS)
def test_restarts_begin_where_each_would_alone(task, library):
    problem = bound(task, library)
    weights = np.stack([np.random.default_rng(i).uniform(0.1, 0.8, 6) for i in range(3)])
    columns, narrowness = np.tile(np.arange(6), (3, 1)), [8.0, 4.0, 2.0]
    draws = problem.draws([(1, i) for i in range(3)])
    for i, model in enumerate(draws.start_models(draws.asarray(weights), columns, narrowness)):
        one = problem.draws([(1, i)])
        (alone,) = one.start_models(one.asarray(weights[i : i + 1]), columns[:1], narrowness[i : i + 1])
        assert model.sigma == pytest.approx(alone.sigma, rel=1e-12)
        assert model.regularization == alone.regularization


@pytest.mark.parametrize("task", TASKS)
def test_whole_paths_are_those_of_each_alone(task, library):
    problem = bound(task, library, n=80)
    settings, budget, state = L1Path()._settings(), Budget(None), L1Path()._start(problem, 2)
    batch, _ = _path_restarts.run_restarts(problem, [0, 1, 2], 2, settings, budget, state)
    for index, found in enumerate(batch):
        (alone,), _ = _path_restarts.run_restarts(problem, [index], 2, settings, budget, state)
        assert found.support == alone.support and found.n_iter == alone.n_iter
        assert [point.size for point in found.points] == [point.size for point in alone.points]
        assert_close(found.weights, alone.weights, rtol=1e-6, atol=1e-9)


def test_of_equal_weights_the_first_keep_a_trace(library):
    # Weights that reached zero have no gradient and stay there: ties are common.
    moved = np.array([[0.5, 0.0, 0.0, 0.0, -0.1], [0.0, 0.0, 0.2, -0.3, 0.0], [0.1, 0.2, 0.3, 0.4, -1.0]])
    present = library.asarray(np.ones(moved.shape, dtype=bool))
    for k in (2, 3, 5):
        expected = np.maximum(moved, 0.0)
        for row, of_row in zip(moved, expected, strict=True):
            if np.count_nonzero(of_row) < k:
                largest = np.argsort(-row, kind="stable")[:k]
                of_row[largest] = np.maximum(of_row[largest], 1e-3 * of_row.max())
        assert_close(
            _path_restarts._keep_largest(to_library(moved, library), present, k), expected, rtol=1e-15
        )


def test_members_of_an_ascent_end_on_their_own(library):
    peaks = np.array([[2.0, 1.0], [0.5, 3.0], [1.0, 1.0]])
    starts, limits = np.array([[0.1, 0.1], [0.2, 0.1], [0.3, 0.3]]), [7, 2, 0]
    times = []

    def evaluate_around(peak):
        def evaluate(weights, last):
            times.append(last)
            gap = weights - to_library(peak, library)
            value = -library.sum(gap * gap, axis=1)
            return Evaluation(weights, value, -2.0 * gap, value)

        return evaluate

    def run(members):
        some = to_library(starts[members], library)
        evaluate, max_iter = evaluate_around(peaks[members]), [limits[i] for i in members]
        return ascend(some, evaluate, relative_step(0.3), lambda w: w, max_iter=max_iter)

    batch = run([0, 1, 2])
    assert batch.n_steps.tolist() == limits
    for i in (0, 1):
        alone = run([i])
        assert_close(batch.weights[i, :], alone.weights[0, :])
        assert_close(batch.last.weights[i, :], alone.last.weights[0, :])
        assert float(batch.last.value[i]) == pytest.approx(float(alone.last.value[0]))
    assert_close(batch.weights[2, :], starts[2])


def test_the_time_limit_ends_a_batch_between_two_steps(library):
    problem, budget = bound("regression", library), Budget(None)
    draws = problem.draws([(1, i) for i in range(3)])
    evaluations = []
    original = draws.evaluate

    def evaluate(*arguments, **options):
        evaluations.append(arguments)
        budget.cancelled = len(evaluations) == 2
        return original(*arguments, **options)

    draws.evaluate = evaluate
    found = _path_restarts._ascend(draws, PATHS, 2, L1Path(max_iter=50)._settings(), budget)
    assert len(evaluations) == 2
    assert [result.n_steps for result in found] == [2, 1, 2]


def make_loss(task, library, **data):
    X, y = problem_data(task, **data)
    table = Table.of(to_library(X, library))
    return LeaveOneOutLoss(table, check_target(y, task), 23, np.random.default_rng(3), 10_000)


def one_by_one(loss):
    loss._sets_at_once = loss._kernels_at_once = 1
    return loss


SETS = [(0, 2), (1, 3), (2, 5), (3, 4), (0, 1)]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kernels_at_once", [100, 2])
def test_losses_are_those_of_each_alone(task, library, kernels_at_once):
    alone, batch = one_by_one(make_loss(task, library)), make_loss(task, library)
    batch._sets_at_once, batch._kernels_at_once = len(SETS), kernels_at_once
    for one, other in zip(batch.score_sets(SETS), alone.score_sets(SETS), strict=True):
        assert one.loss == pytest.approx(other.loss, rel=1e-9)
        assert one.model.sigma == pytest.approx(other.model.sigma, rel=1e-12)
        assert one.model.regularization == other.model.regularization


@pytest.mark.parametrize("task", TASKS)
def test_gradients_and_exchanges_are_those_of_each_alone(task, library):
    alone, batch = one_by_one(make_loss(task, library)), make_loss(task, library)
    batch._sets_at_once = 3
    models = [scored.model for scored in alone.score_sets(SETS)]
    columns = np.arange(6)
    gradients = batch.set_gradients(SETS, models, columns)
    for found, support, model in zip(gradients, SETS, models, strict=True):
        (expected,) = alone.set_gradients([support], [model], columns)
        # Little regularization amplifies rounding errors.
        assert np.abs(found - expected).max() <= 1e-4 * np.abs(expected).max()
    assert batch.neighbours(SETS, models, columns, 2) == alone.neighbours(SETS, models, columns, 2)


@pytest.mark.parametrize("task", TASKS)
def test_a_selection_in_batches_is_that_of_numpy(task, library):
    X, y = problem_data(task)
    selector = L1LSMI(2, n_basis=20, n_restarts=3, random_state=0)
    expected = selector.fit(X, y)
    support, score = expected.support_, expected.cv_score_
    found = selector.fit(to_library(X, library), y)
    assert np.array_equal(found.support_, support)
    assert found.cv_score_ == pytest.approx(score, rel=1e-9)


@pytest.mark.parametrize("size", [1.7e308, 1e-310])
@pytest.mark.parametrize("task", TASKS)
def test_columns_at_the_limits_of_floating_point(task, library, size):
    # Both columns have two values only: the one is informative, the other is not.
    X, y = problem_data(task)
    X[:, 3] = np.where(X[:, 0] > 0, size, -size)
    X[:, 4] = np.where(np.arange(len(X)) % 2, size, -size)
    selector = L1LSMI(2, n_basis=20, n_restarts=2, p_value=False, pool=None, random_state=0)
    expected = clone(selector).fit(X, y)
    found = clone(selector).fit(to_library(X, library), y)
    assert np.array_equal(found.support_, expected.support_)
    assert found.cv_score_ == pytest.approx(expected.cv_score_, rel=1e-9)
    ones = X.copy()
    ones[:, [3, 4]] /= size
    same = clone(selector).fit(ones, y)
    assert np.array_equal(found.support_, same.support_)


def test_restarts_are_cut_into_batches_by_the_memory(library):
    X, y = problem_data("regression")
    resources = Resources(memory_limit=2 * 8 * len(X) * (3 * 6 + 6 * 17) * 3)
    problem = SquaredMutualInformation(n_basis=17).bind(
        Table.of(to_library(X, library), resources), check_target(y, "regression"), 0
    )
    assert problem.batch_size() == (1 if library is np else 3)


def test_equal_rows_have_no_distance(library):
    x = np.repeat(np.random.default_rng(0).normal(size=(10, 3)), 12, axis=0)
    target = check_target(np.arange(120) % 2, "classification")
    tables = Table.of(x), Table.of(to_library(x, library))
    expected, found = (
        LeaveOneOutLoss(table, target, 30, np.random.default_rng(0), 1_000).score_sets([(0, 1)])[0]
        for table in tables
    )
    assert found.model.sigma == pytest.approx(expected.model.sigma, rel=1e-9)


@pytest.mark.parametrize("task", TASKS)
def test_numpy_goes_to_a_device_and_results_come_back(task):
    pytest.importorskip("torch")
    X, y = problem_data(task)
    here = L1LSMI(2, n_basis=20, n_restarts=2, random_state=0).fit(X, y)
    there = L1LSMI(2, n_basis=20, n_restarts=2, random_state=0, device="cpu").fit(X, y)
    assert np.array_equal(here.support_, there.support_)
    assert there.cv_score_ == pytest.approx(here.cv_score_, rel=1e-9)
    assert type(there.weights_) is np.ndarray
    assert type(there.transform(X)) is np.ndarray


def test_devices_that_will_not_do_get_a_sentence():
    torch = pytest.importorskip("torch")
    X, y = problem_data("regression")
    cases = [
        (X, "abacus", "device='abacus' cannot be used"),
        (torch.as_tensor(X), "cpu", "X is on a device already"),
        (lambda: iter([X]), "cpu", "not in memory"),
    ]
    if not torch.cuda.is_available():
        cases.append((X, "cuda", "device='cuda' cannot be used"))
    for x, device, words in cases:
        with pytest.raises(ValueError, match=words) as caught:
            L1LSMI(2, device=device).fit(x, y)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("task", TASKS)
def test_a_gpu_gives_what_numpy_gives(task):
    if not pytest.importorskip("torch").cuda.is_available():
        pytest.skip("there is no GPU that torch can use")
    X, y = problem_data(task)
    expected = L1LSMI(2, n_basis=20, random_state=0).fit(X, y)
    found = L1LSMI(2, n_basis=20, random_state=0, device="cuda").fit(X, y)
    assert np.array_equal(found.support_, expected.support_)
    assert found.cv_score_ == pytest.approx(expected.cv_score_, abs=1e-6)
