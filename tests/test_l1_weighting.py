"""The search: its parts by hand, the artificial problems, limits and interruptions."""

import itertools
import os
import signal
import threading
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.model_selection import PredefinedSplit

from l1lsmi import L1LSMI, datasets
from l1lsmi._numerics.model import Evaluation
from l1lsmi._numerics.optimization.ascent import ascend, diminishing_step, relative_step
from l1lsmi._numerics.optimization.exchanges import promising_exchanges, refine_by_exchanges
from l1lsmi._numerics.optimization.radius import double_then_halve, shrink
from l1lsmi._numerics.ranking import rank
from l1lsmi.datasets.toys import TRUE_FEATURES
from l1lsmi.measures import SquaredMutualInformation
from l1lsmi.strategies import L1Paper, L1Path, _final_weights, _path_restarts, l1_paper, l1_path
from l1lsmi.strategies.selection import StopReason


def toy(name, seed, n=400):
    return getattr(datasets, f"make_{name}")(n, random_state=seed)


# -- parts ------------------------------------------------------------------------------------


def search_radii(sizes, k, **settings):
    defaults = {"initial_radius": 0.1, "max_doublings": 20, "max_halvings": 12}
    return list(double_then_halve(sizes, k, **{**defaults, **settings}))


def test_radius_doubles_first_and_stops_at_k():
    assert search_radii(lambda r: 3 if r > 0.7 else 1, 3) == pytest.approx([0.2, 0.4, 0.8])


def test_radius_is_halved_between_the_bounds():
    visited = search_radii(lambda r: 5 if r >= 1.35 else (3 if r > 1.1 else 1), 3)
    # 0.2, 0.4, 0.8 give 1; 1.6 gives 5, so the search goes on between 0.8 and 1.6.
    assert visited == pytest.approx([0.2, 0.4, 0.8, 1.6, 1.2])


def test_radius_search_ends_without_success():
    assert len(search_radii(lambda r: 5 if r > 1 else 1, 3)) == 4 + 12
    assert len(search_radii(lambda r: 1, 3)) == 20


@given(arrays(np.float64, st.integers(3, 400), elements=st.floats(1e-3, 10)), st.integers(1, 400))
def test_shrinking_drops_the_smallest_and_never_too_many(weights, k):
    if k >= weights.size:
        k = weights.size - 1
    smaller = shrink(weights, k, 0.85)
    kept = smaller > 0
    assert k <= kept.sum() < weights.size
    assert weights[kept].min() >= weights[~kept].max()
    assert smaller.sum() < weights.sum()
    assert (smaller <= weights).all()


def test_ascent_reaches_the_maximum_of_a_parabola_inside_the_constraint():
    peak = np.array([2.0, -1.0])
    ascent = ascend(
        np.zeros((1, 2)) + 0.1,
        lambda w, t: Evaluation(w, -((w - peak) ** 2).sum(axis=1), -2 * (w - peak), np.zeros(1)),
        diminishing_step(0.4),
        lambda w: np.maximum(w, 0),
        max_iter=200,
        tolerance=1e-9,
        min_features=0,
    )
    np.testing.assert_allclose(ascent.weights, [[2, 0]], atol=1e-4)
    assert ascent.reasons == ["the objective converged"]
    assert ascent.values[:, 0].tolist() == sorted(ascent.values[:, 0])


def test_steps():
    gradient, weights = np.array([[3.0, -1.0]]), np.array([[2.0, 1.0]])
    np.testing.assert_allclose(diminishing_step(1.0)(weights, gradient, 4), gradient / 2)
    np.testing.assert_allclose(relative_step(0.3)(weights, 1e9 * gradient, 1), [[0.6, -0.2]])
    np.testing.assert_array_equal(relative_step(0.3)(weights, 0 * gradient, 1), [[0, 0]])


def test_exchanges_reach_the_best_set_of_an_additive_score():
    value = np.array([5.0, 1, 4, 2, 3, 0])
    candidates = np.arange(6)
    exchanged = []

    def improves(new, old):
        better = value[list(new)].sum() > value[list(old)].sum()
        exchanged.append((old, new) if better else None)
        return better

    best = refine_by_exchanges(
        [(1, 3, 5), (0, 2, 4)],
        lambda sets: [promising_exchanges(s, value, candidates, 2) for s in sets],
        improves,
        lambda: False,
        10,
    )
    assert best == [(0, 2, 4), (0, 2, 4)]
    assert len([pair for pair in exchanged if pair]) == 3


def test_ranking_follows_survival():
    support = np.array([False, True, False, False])
    assert rank(support, np.array([1.0, 3.0, 2.0, 0.5])).tolist() == [3, 1, 2, 4]


# -- the paper's artificial problems ----------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", TRUE_FEATURES)
def test_path_finds_the_true_features(name, seed):
    X, y = toy(name, seed)
    true = TRUE_FEATURES[name]
    selector = L1LSMI(len(true), random_state=seed).fit(X, y)
    assert tuple(selector.get_support(indices=True)) == true
    assert set(selector.order_[: len(true)]) == set(true)


@pytest.mark.parametrize("name", TRUE_FEATURES)
def test_paper_finds_the_true_features(name):
    X, y = toy(name, 0)
    true = TRUE_FEATURES[name]
    selector = L1LSMI(len(true), algorithm="paper", n_restarts=4, random_state=0).fit(X, y)
    assert tuple(selector.get_support(indices=True)) == true
    radii = [point.radius for point in selector.path_ if point.restart == 0]
    np.testing.assert_allclose(radii[:2], [0.2, 0.4][: len(radii)])
    assert {point.restart for point in selector.path_} == set(range(4))
    for point in selector.path_:
        assert point.size == len(point.support) == len(point.weights)
        assert (point.weights > 0).all() and point.weights.sum() <= point.radius * (1 + 1e-9)
    ended = [point.weights for point in selector.path_ if tuple(point.support) == true]
    assert any(np.allclose(weights, selector.weights_[list(true)]) for weights in ended)
    # The weights are those that Algorithm 1 found at the radius where it found them.
    found = [point.radius for point in selector.path_ if tuple(point.support) == true]
    assert np.isclose(selector.radius_, found, rtol=1e-6).any() or selector.radius_ < max(found)


def test_continuous_interactions_are_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 12))
    y = (X[:, 3] * X[:, 7] * X[:, 9] > 0).astype(int)
    selector = L1LSMI(3, random_state=0).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [3, 7, 9]


def test_redundant_copies_are_left_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = X[:, 0] + X[:, 1] ** 2
    X = np.hstack([X, X[:, :2] + 0.1 * rng.normal(size=(400, 2))])
    selector = L1LSMI(2, random_state=0).fit(X, y)
    chosen = set(selector.get_support(indices=True).tolist())
    assert len(chosen & {0, 4}) == 1
    assert len(chosen & {1, 5}) == 1


# -- what is promised about the answer --------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["path", "paper"])
@pytest.mark.parametrize("k", [1, 5, 9, 10])
def test_always_exactly_k(algorithm, k):
    X, y = toy("xor", 1, n=80)
    selector = L1LSMI(k, algorithm=algorithm, n_restarts=1, max_iter=4, random_state=0).fit(X, y)
    assert selector.support_.sum() == k
    assert (selector.weights_[~selector.support_] == 0).all()
    assert ((selector.ranking_ == 1) == selector.support_).all()
    assert sorted(selector.ranking_[~selector.support_]) == list(range(2, 12 - k))
    assert np.array_equal(selector.support_for(k), selector.support_)
    sets = [set(np.flatnonzero(selector.support_for(j))) for j in range(11)]
    assert [len(some) for some in sets] == list(range(11))
    assert all(small < large for small, large in pairwise(sets))


def test_paper_survives_empty_sets(monkeypatch):
    # A step may take every weight below zero at once; here it always does.
    def emptied(draw, columns, *others):
        return np.zeros(columns.size), 1, 0.0, 0.0

    monkeypatch.setattr(l1_paper, "_solve", emptied)
    X, y = toy("xor", 0, n=60)
    selector = L1LSMI(3, algorithm="paper", n_restarts=2, random_state=0).fit(X, y)
    assert selector.support_.sum() == 3
    assert {point.size for point in selector.path_} == {0}


def test_paper_fills_up_when_no_radius_gives_k():
    # One halving from a large radius ends far from k either way.
    X, y = toy("quad", 0, n=100)
    for k in (2, 8):
        strategy = L1Paper(n_restarts=1, max_iter=3, max_doublings=2, max_halvings=1)
        selection = strategy.select(SquaredMutualInformation(n_basis=30), X, y, k, random_state=0)
        assert selection.support.sum() == k


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", TRUE_FEATURES)
def test_smaller_sets_keep_the_true_features(name, seed):
    X, y = toy(name, seed)
    true = TRUE_FEATURES[name]
    selector = L1LSMI(len(true) + 3, random_state=seed).fit(X, y)
    assert tuple(np.flatnonzero(selector.support_for(len(true)))) == true


def test_constant_columns_weigh_nothing():
    X, y = toy("xor", 0, n=200)
    X[:, 4:] = 3.0
    selector = L1LSMI(6, random_state=0).fit(X, y)
    assert selector.support_.sum() == 6
    assert (selector.weights_[4:] == 0).all()
    assert selector.support_[:4].all()


def test_path_visits_shrinking_sets():
    X, y = toy("and_or", 0)
    selector = L1LSMI(2, n_restarts=2, random_state=0).fit(X, y)
    for restart in {point.restart for point in selector.path_}:
        points = [point for point in selector.path_ if point.restart == restart]
        for falling in ([p.size for p in points], [p.radius for p in points]):
            assert falling == sorted(falling, reverse=True)
        assert points[-1].size == 2
        for before, after in pairwise(points):
            assert set(after.support) < set(before.support)
        assert np.isfinite([point.objective for point in points]).all()
        assert np.isfinite([point.cv_score for point in points]).all()
        for point in points:
            assert point.weights.shape == point.support.shape and (point.weights > 0).all()
            assert point.weights.sum() == pytest.approx(point.radius, rel=1e-5)
    assert selector.radius_ == pytest.approx(selector.weights_.sum())


@pytest.mark.parametrize("algorithm", ["path", "paper"])
def test_same_answer_whatever_the_number_of_jobs(algorithm):
    X, y = toy("quad", 3, n=150)
    fits = [
        L1LSMI(3, algorithm=algorithm, n_restarts=3, max_iter=5, random_state=7, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (None, 2, 3)
    ]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.support_, fits[0].support_)
        np.testing.assert_array_equal(other.weights_, fits[0].weights_)
        assert other.smi_ == fits[0].smi_
        assert other.n_iter_ == fits[0].n_iter_


def test_same_answer_whatever_the_number_of_threads():
    from threadpoolctl import threadpool_limits

    X, y = toy("quad", 3, n=1500)
    answers = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            answers.append(L1LSMI(3, n_restarts=2, random_state=7).fit(X, y).weights_)
    np.testing.assert_array_equal(*answers)


# -- limits and interruptions -----------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["path", "paper"])
def test_time_limit_returns_the_best_so_far(algorithm):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 60)), rng.normal(size=2000)
    started = time.monotonic()
    with pytest.warns(UserWarning, match="time limit"):
        selector = L1LSMI(5, algorithm=algorithm, time_limit=0.5, random_state=0).fit(X, y)
    assert time.monotonic() - started < 5
    assert selector.support_.sum() == 5
    assert selector.stop_reason_ in (StopReason.TIME_LIMIT, StopReason.UNSCORED)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("algorithm", ["path", "paper"])
def test_interruption_returns_the_best_so_far(algorithm, n_jobs, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 80)), rng.normal(size=3000)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    module = {"path": _path_restarts, "paper": l1_paper}[algorithm]
    point = module.PathPoint

    calls = itertools.count()

    def first_point(*args):
        if next(calls) == 0:  # of two threads one only
            timer.start()
        return point(*args)

    monkeypatch.setattr(module, "PathPoint", first_point)
    selector = L1LSMI(5, algorithm=algorithm, n_restarts=1000, random_state=0, n_jobs=n_jobs)
    with pytest.warns(UserWarning, match="interrupted"):
        selector.fit(X, y)
    assert selector.support_.sum() == 5
    assert selector.stop_reason_ == StopReason.INTERRUPTED


def test_a_set_that_there_was_no_time_to_weight_is_said_to_be_cut_short(monkeypatch):
    X, y = toy("xor", 0, n=100)
    original = L1Path._steps

    def steps(self, search, k, state, budget):
        yield from original(self, search, k, state, budget)
        budget.time_limit = 0.0  # the limit is reached between the search and the weights

    monkeypatch.setattr(L1Path, "_steps", steps)
    with pytest.warns(UserWarning, match="time limit"):
        selector = L1LSMI(2, random_state=0).fit(X, y)
    assert selector.stop_reason_ == StopReason.TIME_LIMIT
    assert selector.weights_[selector.support_].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(("seed", "n_restarts"), [(0, 1), (0, 4), (1, 4), (2, 4)])
def test_restarts_that_all_differ_are_told_from_others(monkeypatch, seed, n_restarts):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(80, 12)), rng.normal(size=80)
    ends = []
    original = l1_path.run_restarts

    def run_restarts(*args, **options):
        found = original(*args, **options)
        ends.extend(found[0])
        return found

    monkeypatch.setattr(l1_path, "run_restarts", run_restarts)
    measure = SquaredMutualInformation(centers="balanced", score_by="cross_validation")
    reason = L1Path(n_restarts=n_restarts).select(measure, X, y, 4, random_state=seed).stop_reason
    all_differ = len({end.support for end in ends}) == n_restarts > 1
    assert (reason == StopReason.DISAGREED) == all_differ
    known = (StopReason.EXCHANGED, StopReason.RESTARTS, StopReason.DISAGREED, StopReason.TERMS)
    assert reason in known or reason.startswith(("The only restart", "1 of", "2 of"))


def test_how_many_restarts_ended_with_the_set_is_said():
    X, y = toy("xor", 0, n=100)
    selection = L1Path(terms=False).select(SquaredMutualInformation(), X, y > 0, 2, random_state=0)
    n_same = sum(set(p.support.tolist()) == {0, 1} for p in selection.path if p.size == 2)
    assert (
        selection.stop_reason == f"{n_same} of 2 restarts ended with this set."
        or "explains" in selection.stop_reason
    )


def test_interruption_of_the_last_steps_still_answers(monkeypatch):
    X, y = toy("xor", 0, n=100)
    calls = []

    def interrupted_once(*args):
        calls.append(args)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return original(*args)

    original = _final_weights._elimination_order
    monkeypatch.setattr(_final_weights, "_elimination_order", interrupted_once)
    with pytest.warns(UserWarning, match="interrupted"):
        selector = L1LSMI(2, random_state=0).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [0, 1]


@pytest.mark.filterwarnings("ignore::l1lsmi._warnings.DataWarning")
def test_a_little_more_of_a_number_is_not_missed():
    # The first column alone leaves less than a thousandth unexplained; the second explains the rest.
    X = np.random.default_rng(0).normal(size=(300, 8))
    y = X[:, 3] + 0.02 * X[:, 6]
    selector = L1LSMI(2, random_state=0).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [3, 6]


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_groups_that_are_left_out_together_are_compared_together(seed):
    # Rows of a group share their class. Column 1 tells the groups apart, which is worth everything where
    # other rows of the group are known and nothing where they are not; column 0 says something of any row.
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(20), 15)
    y = rng.permutation(np.arange(20) % 2)[group]
    X = rng.normal(size=(300, 4))
    X[:, 0] += 1.2 * y
    X[:, 1] = group + 0.1 * rng.normal(size=300)
    one_by_one = L1LSMI(1, random_state=0).fit(X, y)
    together = L1LSMI(1, cv=PredefinedSplit(group % 5), random_state=0).fit(X, y)
    assert one_by_one.get_support(indices=True) == [1] and together.get_support(indices=True) == [0]
