"""What is worked on together on a device comes out as if it were worked on one by one."""

import numpy as np
import pytest

from l1lsmi import L1LSMI
from l1lsmi._numerics.model import Model, Stretch
from l1lsmi._numerics.squared_loss import least_squares_together
from l1lsmi._numerics.squared_loss.leave_one_out import LeaveOneOut
from l1lsmi._numerics.squared_loss.leave_one_out_together import LeaveOneOutTogether
from l1lsmi._rows.table import Means, Table
from l1lsmi._validation.target import check_target
from l1lsmi.measures import SquaredMutualInformation
from l1lsmi.strategies import _l1_path
from l1lsmi.strategies.l1_weighting import L1Weighting
from l1lsmi.strategies.selection import Budget
from tests.conftest import TASKS, assert_close, problem_data, to_library


def bound(task, library, **data):
    X, y = problem_data(task, **data)
    measure = SquaredMutualInformation(n_basis=17)
    return measure.bind(Table.of(to_library(X, library)), check_target(y, task), 0)


@pytest.fixture(params=["torch", "array_api_strict"])
def elsewhere(request):
    return pytest.importorskip(request.param)


@pytest.mark.parametrize("task", TASKS)
def test_climbs_are_those_of_each_alone(task, elsewhere):
    problem = bound(task, elsewhere)
    settings = L1Weighting()._path_settings()
    rng = np.random.default_rng(0)
    stretches = [
        Stretch(rng.uniform(0.1, 0.8, 6), np.arange(6), Model(1.3, 0.02), 4),
        Stretch(rng.uniform(0.1, 0.8, 3), np.array([0, 2, 5]), Model(0.9, 0.1), 1),
        Stretch(rng.uniform(0.1, 0.8, 4), np.array([1, 2, 3, 4]), Model(2.0, 0.5), 4),
    ]
    draws = problem.draws_together([(1, i) for i in range(3)])
    for members in ([0, 1, 2], [0, 2]):
        found = draws.climb(members, [stretches[i] for i in members], 2, settings.relative_step_size)
        for i, climbed in zip(members, found, strict=True):
            alone = _l1_path._climb(problem.draw(1, i), stretches[i], 2, settings, Budget(None))
            assert climbed.n_steps == alone.n_steps
            assert_close(climbed.weights, alone.weights, rtol=1e-8, atol=1e-12)
            assert_close(climbed.evaluated, alone.evaluated, rtol=1e-8, atol=1e-12)
            assert climbed.value == pytest.approx(alone.value, rel=1e-9)
            assert climbed.estimate == pytest.approx(alone.estimate, rel=1e-9)
            assert climbed.model.regularization == pytest.approx(alone.model.regularization, rel=1e-8)


@pytest.mark.parametrize("task", TASKS)
def test_climbs_begin_where_each_would_alone(task, elsewhere):
    problem = bound(task, elsewhere)
    weights = [np.random.default_rng(i).uniform(0.1, 0.8, 6) for i in range(3)]
    narrowness = [8.0, 4.0, 2.0]
    found = problem.draws_together([(1, i) for i in range(3)]).start_models(weights, np.arange(6), narrowness)
    for i, model in enumerate(found):
        alone = problem.draw(1, i).start_model(weights[i], np.arange(6), narrowness[i])
        assert model.sigma == pytest.approx(alone.sigma, rel=1e-12)
        assert model.regularization == alone.regularization


def test_of_equal_weights_the_first_keep_a_trace(elsewhere):
    # Weights that reached zero have no slope and stay there: ties are common.
    moved = np.array([[0.5, 0.0, 0.0, 0.0, -0.1], [0.0, 0.0, 0.2, -0.3, 0.0], [0.1, 0.2, 0.3, 0.4, -1.0]])
    present = elsewhere.asarray(np.ones(moved.shape, dtype=bool))
    for k in (2, 3, 5):
        found = least_squares_together._keep_largest(to_library(moved, elsewhere), present, k)
        assert_close(found, np.stack([_l1_path._keep_largest(row, k) for row in moved]), rtol=1e-15)


def judges(task, library, **data):
    X, y = problem_data(task, **data)
    table = Table.of(to_library(X, library))
    alone = LeaveOneOut(table, check_target(y, task), 23, np.random.default_rng(3), 10_000)
    return alone, LeaveOneOutTogether(table, alone)


SETS = [(0, 2), (1, 3), (2, 5), (3, 4), (0, 1)]


@pytest.mark.parametrize("task", TASKS)
def test_judgements_are_those_of_each_alone(task, elsewhere, monkeypatch):
    alone, together = judges(task, elsewhere)
    expected = [alone.judge(np.array(support)) for support in SETS]
    for at_a_time in (None, 1):
        if at_a_time:
            monkeypatch.setattr(
                "l1lsmi._numerics.squared_loss.leave_one_out_together.MOST_NUMBERS", at_a_time
            )
            monkeypatch.setattr("l1lsmi._numerics.squared_loss.left_out_fits.MOST_NUMBERS", at_a_time)
        for one, other in zip(together.judge(SETS), expected, strict=True):
            assert one.cv_score == pytest.approx(other.cv_score, rel=1e-6)
            assert one.model.sigma == pytest.approx(other.model.sigma, rel=1e-9)
            assert one.model.regularization == other.model.regularization


@pytest.mark.parametrize("task", TASKS)
def test_exchanges_are_those_of_each_alone(task, elsewhere, monkeypatch):
    alone, together = judges(task, elsewhere)
    models = [alone.judge(np.array(support)).model for support in SETS]
    columns = np.arange(6)
    slopes = together._slopes(np.array(SETS), models, columns)
    monkeypatch.setattr("l1lsmi._numerics.squared_loss.leave_one_out_together.MOST_VALUES", 1)
    assert_close(together._slopes(np.array(SETS), models, columns), slopes, rtol=1e-9, atol=1e-12)
    for of_set, support, model in zip(slopes, SETS, models, strict=True):
        expected = alone.set_slopes(np.array(support), model, columns)
        assert np.abs(of_set - expected).max() <= 1e-4 * np.abs(expected).max()
    expected = [alone.neighbours(s, model, columns, 2) for s, model in zip(SETS, models, strict=True)]
    assert together.neighbours(SETS, models, columns, 2) == expected


@pytest.mark.parametrize("task", TASKS)
def test_a_selection_on_a_device_is_that_of_numpy(task, elsewhere):
    X, y = problem_data(task)
    selector = L1LSMI(2, n_basis=20, n_restarts=3, random_state=0)
    expected = selector.fit(X, y)
    support, score = expected.support_, expected.cv_score_
    found = selector.fit(to_library(X, elsewhere), y)
    assert np.array_equal(found.support_, support)
    assert found.cv_score_ == pytest.approx(score, rel=1e-9)


def test_restarts_are_cut_into_batches_by_the_memory(elsewhere):
    X, y = problem_data("regression")
    table = Table.of(to_library(X, elsewhere), Means(memory_limit=2 * 8 * len(X) * (3 * 6 + 6 * 17) * 3))
    problem = SquaredMutualInformation(n_basis=17).bind(table, check_target(y, "regression"), 0)
    assert problem.n_together() == 3
    assert bound("regression", np).n_together() == 1


def test_equal_rows_have_no_distance():
    x = np.repeat(np.random.default_rng(0).normal(size=(10, 3)), 12, axis=0)
    torch = pytest.importorskip("torch")
    y = np.arange(120) % 2
    alone = LeaveOneOut(Table.of(x), check_target(y, "classification"), 30, np.random.default_rng(0), 1_000)
    table = Table.of(torch.as_tensor(x))
    other = LeaveOneOut(table, check_target(y, "classification"), 30, np.random.default_rng(0), 1_000)
    (found,) = LeaveOneOutTogether(table, other).judge([(0, 1)])
    assert found.model.sigma == pytest.approx(alone.judge(np.array([0, 1])).model.sigma, rel=1e-6)


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
