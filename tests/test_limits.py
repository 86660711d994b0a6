"""Time limits and interruptions hold wherever a computation is."""

import threading
import time
import warnings
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from l1lsmi import L1LSMI, FeatureSelector, _clock
from l1lsmi._blas import single_threaded_blas
from l1lsmi._clock import Budget, OutOfTimeError, call_in_thread, check_time, limited, while_time_is_left
from l1lsmi.baselines import MRMR
from l1lsmi.evaluation import compare_selectors
from l1lsmi.measures import HSIC, MutualInformation, Pearson, SquaredMutualInformation
from l1lsmi.report import collect
from l1lsmi.selectors import L1HSIC
from l1lsmi.strategies import Backward, Exhaustive, Forward, L1Paper, L1Path, Ranking, _final_weights
from l1lsmi.strategies._parallel import computed
from l1lsmi.strategies.selection import STOPPED, StopReason

MEASURES = {"smi": SquaredMutualInformation, "mi": MutualInformation, "hsic": HSIC}
STRATEGIES = (Ranking, Forward, Backward, Exhaustive, L1Path, L1Paper)


def data(n=60, m=12):
    X = np.random.default_rng(0).normal(size=(n, m))
    return X, X[:, 3] + X[:, 5] * X[:, 7]


class Clock:
    """A time that stands still until the clock was asked so many times, and is far ahead from then on."""

    def __init__(self, monkeypatch, n_asked):
        self.n_asked, self.asked = n_asked, 0
        monkeypatch.setattr(_clock, "time", SimpleNamespace(monotonic=self))

    def __call__(self):
        self.asked += 1
        return 0.0 if self.asked <= self.n_asked else 1e9


def fitted(selector, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector.fit(X, y)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("n_asked", [1, 40])
def test_a_search_ends_soon_after_the_clock_says_so(monkeypatch, measure, strategy, n_asked):
    X, y = data()
    selector = FeatureSelector(MEASURES[measure](), strategy(time_limit=1.0), 3, random_state=0)
    clock = Clock(monkeypatch, n_asked)
    with pytest.warns(UserWarning, match="time limit"):
        selector.fit(X, y)
    # Whoever is told that the time is out asks no one for more than what an answer needs.
    assert clock.asked <= n_asked + 200
    assert selector.support_.sum() == 3 and selector.stop_reason_ in STOPPED
    assert sorted(selector.order_.tolist()) == list(range(12))


def test_without_time_features_are_chosen_by_correlation_and_constraints_kept():
    X, y = data(200)
    selector = FeatureSelector(
        MutualInformation(), Forward(time_limit=1e-9), 3, must_include=[9], must_exclude=[3], random_state=0
    )
    fitted(selector, X, y)
    assert selector.stop_reason_ == StopReason.UNSCORED and np.isnan(selector.score_)
    assert selector.support_[9] and not selector.support_[3] and selector.support_.sum() == 3
    strongest = fitted(L1HSIC(1, time_limit=1e-9), X, y)
    assert strongest.get_support(indices=True).tolist() == [3] and strongest.weights_.sum() == 1.0


def test_the_clock_starts_before_the_data_are_read(monkeypatch):
    X, y = data()
    original = L1LSMI._read

    def slow(self, *args, **options):
        time.sleep(0.05)
        return original(self, *args, **options)

    monkeypatch.setattr(L1LSMI, "_read", slow)
    selector = fitted(L1LSMI(2, time_limit=0.04), X, y)
    assert selector.stop_reason_ == StopReason.UNSCORED
    assert any("no time to look for" in each for each in selector.warnings_)


def test_weights_that_there_was_no_time_to_climb_to_are_equal_and_said_to_be_cut_short(monkeypatch):
    X, y = data(60, 8)
    original = _final_weights._short_ascent

    def cut(*args):
        original(*args)
        raise OutOfTimeError

    monkeypatch.setattr(_final_weights, "_short_ascent", cut)
    selector = fitted(L1LSMI(2, random_state=0, time_limit=100, n_restarts=1, p_value=False), X, y)
    assert selector.stop_reason_ == StopReason.TIME_LIMIT
    assert selector.weights_[selector.support_].tolist() == [1.0, 1.0]


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_interruptions_leave_neither_threads_nor_limits_behind(monkeypatch):
    X, y = data(40, 8)
    selector = FeatureSelector(HSIC(), Forward(n_jobs=2), 3)
    problem_class = type(HSIC().bind(*_bound(X, y)))
    original, calls = problem_class.score_additions, []

    def interrupting(self, *args):
        calls.append(None)
        return original(self, *args)

    monkeypatch.setattr(problem_class, "score_additions", interrupting)
    before, n_threads = blas_threads(), threading.active_count()
    for number in range(20):
        _interrupt_result(monkeypatch, number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(KeyboardInterrupt):
                selector.fit(X, y)
    monkeypatch.undo()
    assert calls
    deadline = time.monotonic() + 2
    while threading.active_count() > n_threads and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == n_threads and blas_threads() == before


def _bound(X, y):
    from l1lsmi._rows.table import Table
    from l1lsmi._validation.target import check_target

    return Table.of(X), check_target(y, "regression")


def _interrupt_result(monkeypatch, after):
    """Ctrl-C while the result of a task is waited for, after so many of them."""
    from concurrent.futures import Future

    original, seen = Future.result, []

    def result(self, timeout=None):
        seen.append(None)
        if len(seen) == after + 1:
            raise KeyboardInterrupt
        return original(self, timeout)

    monkeypatch.setattr(Future, "result", result)


def test_an_interruption_while_the_limit_of_threads_is_lifted_does_not_keep_it():
    before = blas_threads()

    class Interrupting(single_threaded_blas):
        def __exit__(self, *_):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), Interrupting():
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_tasks_in_threads_end_when_the_caller_stops():
    started, ended = threading.Event(), threading.Event()

    class Problem:
        class table:  # noqa: N801
            in_memory = True

            class resources:  # noqa: N801
                cluster = None

    def task(_, item):
        if item == 0:
            return 0
        started.set()
        try:
            while True:
                check_time()
                time.sleep(0.001)
        finally:
            ended.set()

    found = computed(task, Problem, iter(range(2)), 2)
    assert next(found) == 0
    assert started.wait(2)
    found.close()
    assert ended.wait(2)


def test_a_call_that_nothing_interrupts_is_not_waited_for():
    release = threading.Event()
    with pytest.raises(OutOfTimeError), limited(Budget(0.01)):
        call_in_thread(release.wait, 5)
    release.set()
    assert call_in_thread(lambda a: a + 1, 1) == 2
    with pytest.raises(ZeroDivisionError):
        call_in_thread(lambda: 1 / 0)


def test_an_outer_limit_is_no_answer_of_the_inner_one():
    X, y = data()
    with limited(Budget(1e-9)), pytest.raises(OutOfTimeError):
        fitted(L1LSMI(2, time_limit=100), X, y)
    reached = False
    with while_time_is_left(Budget(1e-9)):
        MRMR(2).fit(X, y)
        reached = True
    assert not reached


def test_a_comparison_ends_with_the_selectors_that_are_finished(monkeypatch):
    X, y = data(80)
    quick = FeatureSelector(Pearson(), Ranking(), 2)

    class Endless(FeatureSelector):
        def fit(self, X, y):
            while True:
                check_time()
                time.sleep(0.001)

    result = compare_selectors(
        {"quick": quick, "endless": Endless(n_features_to_select=2)}, X, y, n_splits=1, time_limit=0.8
    )
    assert result.stopped and [row.name for row in result] in (["quick"], [])
    with pytest.raises(ValueError, match="time_limit=0 must be a positive number of seconds"):
        compare_selectors({"quick": quick}, X, y, time_limit=0)


def test_a_report_says_what_there_was_no_time_for():
    X, y = data(80)
    selector = fitted(FeatureSelector(Pearson(), Ranking(), 2), X, y)
    found = collect(selector, X, y, time_limit=1e-6)
    assert found["notes"] == [
        "Left out because of the time limit: explanations and the test of a model on held-out rows."
    ]
    assert found["redundancy"] is None and found["held_out"] is None and len(found["chosen"]["rows"]) == 2
