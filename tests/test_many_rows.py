"""More rows than are searched, or than fit the memory."""

import tracemalloc

import numpy as np
import pytest
from sklearn.model_selection import PredefinedSplit

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi._numerics.model import Model
from l1lsmi._numerics.sampling import draw_spread
from l1lsmi._rows.layout import UncachedRows
from l1lsmi._rows.table import Resources, Table
from l1lsmi._validation.target import check_target
from l1lsmi.measures import MutualInformation, SquaredMutualInformation
from l1lsmi.strategies import Forward, L1Path
from tests.conftest import TASKS


def many_rows(task, n=2_000, m=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    z = X[:, 1] * X[:, 4] + 0.2 * rng.normal(size=n)
    return X, (z > 0 if task == "classification" else z)


@pytest.mark.parametrize("task", TASKS)
def test_a_memory_limit_changes_nothing_but_memory(task):
    X, y = many_rows(task, n=600)
    free = L1LSMI(2, n_restarts=2, n_basis=40, random_state=0).fit(X, y)
    tight = L1LSMI(2, n_restarts=2, n_basis=40, random_state=0, memory_limit=50_000, n_jobs=2).fit(X, y)
    assert np.array_equal(tight.support_, free.support_)
    assert tight.cv_score_ == pytest.approx(free.cv_score_, rel=1e-10)
    assert tight.smi_ == pytest.approx(free.smi_, rel=1e-10)
    np.testing.assert_allclose(tight.weights_, free.weights_, rtol=1e-8)


def test_a_memory_limit_is_kept():
    X, y = many_rows("regression", n=20_000, m=8)
    peaks = []
    for limit in (None, 40_000_000):
        selector = L1LSMI(
            2, n_restarts=1, max_iter=1, explore_rows=None, memory_limit=limit, random_state=0, time_limit=1.0
        )
        tracemalloc.start()
        with pytest.warns(Warning, match="time limit"):
            selector.fit(X, y)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 40_000_000 < peaks[0]


@pytest.mark.parametrize("task", TASKS)
def test_forward_steps_are_the_same_in_parts(task):
    X, y = many_rows(task, n=300)
    measure = SquaredMutualInformation(n_basis=20, random_state=0)
    whole = measure.bind(Table.of(X), check_target(y, task), 0)
    cut = measure.bind(Table.of(X, Resources(memory_limit=10_000)), check_target(y, task), 0)
    assert isinstance(cut.draws([(0,)]).rows, UncachedRows)
    some, others = np.array([1, 2]), np.array([0, 3, 4, 5])
    np.testing.assert_allclose(
        cut.score_additions(some, others), whole.score_additions(some, others), rtol=1e-10
    )
    np.testing.assert_allclose(cut.score_removals(some, some), whole.score_removals(some, some), rtol=1e-10)


@pytest.mark.parametrize("task", TASKS)
def test_a_sample_is_searched_and_all_rows_select_the_model(task):
    X, y = many_rows(task)
    selector = L1LSMI(2, explore_rows=400, random_state=0).fit(X, y)
    assert np.flatnonzero(selector.support_).tolist() == [1, 4]
    rows = selector._read(X, y, L1LSMI())  # in the order of their contents
    X = rows.table.x
    problem = SquaredMutualInformation().bind(rows.table, rows.target, 0)
    before = problem.draws([(0, 0)]).centers
    sample, whole = problem.on_sample(400)
    draw, columns = whole.draws([(0, 0)]), np.array([1, 4])
    # Centres come from the sample, and the problem itself is not changed.
    assert np.isin(X[draw.centers[draw.centers >= 0]], sample.table.x).all()
    assert not np.isin(X[before[before >= 0]], sample.table.x).all()
    assert np.array_equal(problem.draws([(0, 0)]).centers, before)
    assert (sample.table.n_rows, whole.table.n_rows, problem.table.n_rows) == (400, len(X), len(X))
    assert draw.rows.fold_sizes.sum() == len(X)
    fit = draw.fit(selector.weights_[columns], columns, Model(selector.sigma_, selector.regularization_))
    assert selector.cv_score_ == pytest.approx(fit.cv_score, rel=1e-12)
    assert selector.smi_ == pytest.approx(fit.value, rel=1e-12)


def test_threads_do_not_change_the_result_on_all_rows():
    X, y = many_rows("regression")
    one, two = (L1LSMI(2, explore_rows=300, random_state=0, n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.cv_score_ == two.cv_score_
    assert np.array_equal(one.weights_, two.weights_)


@pytest.mark.parametrize("selector", [L1HSIC(2, explore_rows=300, random_state=0), None])
def test_other_measures_are_searched_on_a_sample_too(selector):
    X, y = many_rows("classification", n=800)
    if selector is None:
        weighting = L1Path(explore_rows=200, n_restarts=2)
        selector = FeatureSelector(MutualInformation(n_basis=30), weighting, 2, random_state=0)
    assert np.flatnonzero(selector.fit(X, y).support_).tolist() == [1, 4]


def test_a_sample_has_its_share_of_every_fold_and_class():
    rng = np.random.default_rng(0)
    codes = rng.choice(3, size=3_000, p=[0.7, 0.29, 0.01])
    rows = draw_spread(codes, None, 300, rng)
    assert np.bincount(codes[rows]).tolist() == pytest.approx((np.bincount(codes) / 10).tolist(), abs=1)
    numbers = rng.lognormal(size=3_000)
    rows = draw_spread(np.zeros(3_000, dtype=int), numbers, 300, rng)
    assert len(set(rows.tolist())) == 300
    edges = np.quantile(numbers, np.arange(1, 10) / 10)
    assert np.bincount(np.searchsorted(edges, numbers[rows])).tolist() == [30] * 10


def test_given_folds_are_kept_in_a_sample():
    X, y = many_rows("classification", n=1_200)
    folds = np.arange(1_200) % 4
    problem = SquaredMutualInformation(cv=PredefinedSplit(folds)).bind(
        Table.of(X), check_target(y, "classification"), 0
    )
    sample, whole = problem.on_sample(200)
    assert sample.draws([(0,)]).rows.fold_sizes.tolist() == [[50, 50, 50, 50]]
    assert whole.draws([(0,)]).rows.fold_sizes.tolist() == [[300, 300, 300, 300]]
    assert (
        L1LSMI(2, cv=PredefinedSplit(folds), explore_rows=200, random_state=0)
        .fit(X, y)
        .support_[[1, 4]]
        .all()
    )


def test_forward_still_runs_on_many_rows():
    X, y = many_rows("regression", n=2_000)
    forward = FeatureSelector(SquaredMutualInformation(n_basis=20), Forward(), 2, random_state=0)
    assert forward.fit(X[:, [0, 1, 4]], y + X[:, 1] + X[:, 4]).support_[[1, 2]].all()


def test_many_rows_and_columns_are_searched():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_100, 600))
    y = X[:, 3] + X[:, 400] > 0
    selector = L1LSMI(2, n_basis=30, n_restarts=2, random_state=0).fit(X, y)
    assert np.flatnonzero(selector.support_).tolist() == [3, 400]
