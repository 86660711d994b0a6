"""Callbacks are told of every step of a search, and may end it."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi.inference import StabilitySelector
from l1lsmi.measures import HSIC
from l1lsmi.strategies import Backward, Exhaustive, Forward, L1Paper, L1Path, Ranking
from l1lsmi.strategies.selection import StopReason
from tests.conftest import assert_refused

pytestmark = pytest.mark.filterwarnings("ignore")

STRATEGIES = [
    *(Ranking(), Forward(), Backward(), Exhaustive(), L1Path(max_iter=1, terms=False)),
    L1Paper(n_restarts=2, max_iter=2, max_doublings=2, max_halvings=1),
]


def data(n=80, m=6):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m))
    return X, rng.normal(size=n)


class Listener:
    """Remembers what it is told, and ends the search at a step."""

    def __init__(self, last=None):
        self.told, self.last = [], last

    def __call__(self, step, best, score, seconds):
        self.told.append((step, best, score, seconds))
        return step == self.last


@pytest.mark.parametrize("constraints", [{}, {"must_exclude": [5]}], ids=["all sets", "allowed sets"])
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda one: type(one).__name__)
def test_callbacks_are_told_of_every_step(strategy, constraints):
    X, y = data()
    first, second = Listener(), Listener()
    options = {"p_value": False, "pool": None, "random_state": 0, **constraints}
    selector = FeatureSelector(HSIC(), strategy, 2, callbacks=[first, second], **options)
    selector.fit(X, y)
    steps, sets, scores, seconds = zip(*first.told, strict=True)
    assert steps == tuple(range(1, len(steps) + 1)) and len(second.told) == len(steps)
    assert all(one.dtype.kind == "i" and one.size and (np.diff(one) > 0).all() for one in sets)
    assert np.isfinite(scores).all() and list(seconds) == sorted(seconds)
    if not isinstance(strategy, L1Path | L1Paper):  # which change the set after the last restart
        assert np.array_equal(sets[-1], np.flatnonzero(selector.support_))


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda one: type(one).__name__)
def test_a_callback_that_returns_true_ends_the_search(strategy):
    X, y = data()
    listener = Listener(last=1)
    selector = FeatureSelector(
        HSIC(), strategy, 2, callbacks=listener, p_value=False, pool=None, random_state=0
    )
    selector.fit(X, y)
    assert len(listener.told) == 1
    assert selector.stop_reason_ == StopReason.CALLBACK
    assert selector.support_.sum() == 2


@pytest.mark.parametrize("k", [2, "auto"])
def test_so_it_does_among_unseen_rows(k):
    X, y = data()
    listener = Listener()
    selector = L1HSIC(k, max_iter=1, n_restarts=1, callbacks=listener).fit(X, y)
    n_steps = len(listener.told)
    # One for each part of the rows: those of p-values, with two pools; or for a number, of few rows also
    # those without one block each.
    assert sum(np.isnan(score) for _, _, score, _ in listener.told) == (8 if k == 2 else 11)
    last = 2 if k == "auto" else n_steps - 1
    stopped = clone(selector).set_params(callbacks=Listener(last)).fit(X, y)
    assert stopped.stop_reason_ == StopReason.CALLBACK and stopped.validation_ is None
    assert stopped.support_.any()


def test_a_stopped_search_is_not_the_answer_of_a_checkpoint(tmp_path):
    X, y = data()
    options = {"checkpoint": tmp_path / "run.l1lsmi", "random_state": 0}
    FeatureSelector(HSIC(), Forward(), 4, callbacks=Listener(2), **options).fit(X, y)
    resumed = FeatureSelector(HSIC(), Forward(), 4, **options).fit(X, y)
    assert resumed.stop_reason_ == StopReason.ALL_STEPS
    expected = FeatureSelector(HSIC(), Forward(), 4, random_state=0).fit(X, y)
    assert np.array_equal(resumed.order_, expected.order_) and resumed.score_ == expected.score_


def test_an_error_of_a_callback_is_that_of_the_fit():
    X, y = data()

    def broken(*told):
        raise RuntimeError("of the callback")

    selector = FeatureSelector(HSIC(), Ranking(), 2, callbacks=broken)
    before = dict(vars(selector))
    with pytest.raises(RuntimeError, match="of the callback"):
        selector.fit(X, y)
    assert vars(selector) == before


def test_what_cannot_be_called_is_refused():
    X, y = data()
    assert_refused(
        FeatureSelector(HSIC(), Ranking(), 2, callbacks=[print, 3]),
        X,
        y,
        "has 3 at index 1, which is not callable",
    )
    assert_refused(FeatureSelector(HSIC(), Ranking(), 2, callbacks=3), X, y, "'callbacks' parameter")


def test_callbacks_stay_in_this_process():
    X, y = data()
    told = []
    parameters = {"n_basis": 15, "max_iter": 1, "n_restarts": 2, "random_state": 0}
    selector = L1LSMI(2, n_jobs=2, callbacks=lambda *one: told.append(one), **parameters)  # not picklable
    selector.fit(X, y)
    assert told
    assert clone(selector).callbacks is selector.callbacks
    n_told = len(told)
    StabilitySelector(selector, n_resamples=2, random_state=0).fit(X, y)
    assert len(told) == n_told  # of fits to other rows nobody asked
    assert pickle.loads(pickle.dumps(selector.set_params(callbacks=None))).support_.sum() == 2


def test_callbacks_of_scikit_learn():
    pytest.importorskip("sklearn.callback")
    X, y = data()

    class Counter:
        def __init__(self):
            self.calls = []

        def setup(self, estimator, context):
            self.calls.append("setup")

        def teardown(self, estimator, context):
            self.calls.append("teardown")

        def on_fit_task_begin(self, estimator, context):
            self.calls.append(f"begin {context.task_name}")

        def on_fit_task_end(self, estimator, context, *, metadata=None):
            self.calls.append(f"end {context.task_name}")
            return metadata is not None and metadata["step"] == 2

    counter = Counter()
    selector = FeatureSelector(HSIC(), Forward(), 4, random_state=0).set_callbacks(counter).fit(X, y)
    step = ["begin step", "end step"]
    assert counter.calls == ["setup", "begin fit", *step, *step, "end fit", "teardown"]
    assert selector.stop_reason_ == StopReason.CALLBACK
