"""Measures x strategies x tasks from one list, and the equivalences between its cells."""

import time
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from l1lsmi import L1HSIC, FeatureSelector
from l1lsmi._clock import Budget
from l1lsmi.datasets import make_and_or, make_xor
from l1lsmi.measures import HSIC, MutualInformation, Pearson, SquaredMutualInformation
from l1lsmi.strategies import Backward, Exhaustive, Forward, L1Path, Ranking
from l1lsmi.strategies.selection import StopReason
from tests.conftest import TASKS, problem_data
from tests.matrix import MEASURES, STRATEGIES, combine

GUIDE = Path(__file__).parents[1] / "docs" / "how_to_choose.md"
SETS = [name for name in MEASURES if name != "Pearson"]


def written_table():
    """Cells of the table in the guide: {(measure, strategy): whether it is said to work}."""
    section = GUIDE.read_text().split("## Which go together")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|") and "---" not in line]
    (_, *strategies), *rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]
    return {
        (measure, strategy): cell == "yes"
        for measure, *cells in rows
        for strategy, cell in zip(strategies, cells, strict=True)
    }


def test_the_written_table_has_every_cell():
    assert set(written_table()) == {(m, s) for m in MEASURES for s in STRATEGIES}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("measure", MEASURES)
def test_the_written_table_is_what_runs(measure, strategy, task):
    X, y = problem_data(task, n=80, m=5)
    selector = combine(measure, strategy, 2, random_state=0)
    if not written_table()[measure, strategy]:
        with pytest.raises(
            ValueError, match=f"{strategy} needs .* of its measure, which {measure} does not have: .*use"
        ):
            selector.fit(X, y)
        assert not hasattr(selector, "support_")
        return
    selector.fit(X, y)
    assert selector.support_.sum() == 2
    assert sorted(selector.ranking_) == [1, 1, 2, 3, 4]
    assert np.isfinite(selector.score_)
    assert isinstance(selector.stop_reason_, str)
    again = clone(selector).fit(X, y)
    assert again.score_ == selector.score_
    assert hasattr(selector, "weights_") == (strategy in ("L1Path", "L1Paper"))
    assert hasattr(selector, "scores_") == (strategy == "Ranking")


# -- equivalences -----------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("measure", SETS)
def test_forward_for_one_feature_is_ranking(measure, task):
    X, y = problem_data(task, n=100, m=30)
    forward = combine(measure, "Forward", 1, random_state=0).fit(X, y)
    ranking = combine(measure, "Ranking", 1, random_state=0).fit(X, y)
    np.testing.assert_array_equal(forward.support_, ranking.support_)
    assert forward.score_ == pytest.approx(ranking.score_, rel=1e-12)


def plain_forward(score, m, k):
    inside = []
    for _ in range(k):
        scores = {j: score([*inside, j]) for j in range(m) if j not in inside}
        inside.append(max(scores, key=scores.get))
    return inside


def plain_backward(score, m, k):
    inside = list(range(m))
    while len(inside) > k:
        scores = {j: score([i for i in inside if i != j]) for j in inside}
        inside.remove(max(scores, key=scores.get))
    return inside


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("measure", SETS)
def test_searches_are_plain_double_loops_over_score(measure, task):
    X, y = problem_data(task, n=90, m=5)
    alone = clone(MEASURES[measure])
    if hasattr(alone, "cv"):
        alone.set_params(random_state=3)

    def score(columns):
        return alone.score(X[:, columns], y)

    forward = combine(measure, "Forward", 3, random_state=3).fit(X, y)
    expected = plain_forward(score, 5, 3)
    assert [step.feature for step in forward.path_] == expected
    assert forward.score_ == pytest.approx(score(sorted(expected)), rel=1e-8)
    backward = combine(measure, "Backward", 2, random_state=3).fit(X, y)
    assert np.flatnonzero(backward.support_).tolist() == plain_backward(score, 5, 2)


@pytest.mark.parametrize("measure", ["HSIC", "SquaredMutualInformation"])
def test_backward_by_one_is_the_best_removal(measure):
    X, y = problem_data("classification", n=90, m=6)
    backward = combine(measure, "Backward", 5, random_state=0).fit(X, y)
    without = [
        combine(measure, "Exhaustive", 5, random_state=0).fit(np.delete(X, j, 1), y).score_ for j in range(6)
    ]
    assert np.flatnonzero(~backward.support_).tolist() == [int(np.argmax(without))]


@pytest.mark.parametrize("measure", SETS)
def test_exhaustive_is_at_least_as_good(measure):
    X, y = problem_data("regression", n=80, m=5)
    scores = {
        s: combine(measure, s, 3, random_state=0).fit(X, y).score_
        for s in ("Exhaustive", "Forward", "Backward")
    }
    assert scores["Exhaustive"] >= max(scores.values()) - 1e-12


def test_exhaustive_visits_every_set_once():
    X, y = problem_data("classification", n=60, m=6)
    selector = combine("HSIC", "Exhaustive", 3).fit(X, y)
    assert [tuple(step.support) for step in selector.path_] == list(combinations(range(6), 3))
    for step in selector.path_[::7]:
        assert step.score == pytest.approx(HSIC().score(X[:, step.support], y), rel=1e-9)


@pytest.mark.parametrize("strategy", ["Forward", "Backward", "Exhaustive"])
def test_all_columns_have_a_score(strategy):
    X, y = problem_data("classification", n=40, m=3)
    found = combine("HSIC", strategy, 3).fit(X, y)
    assert found.score_ == pytest.approx(HSIC().score(X, y)) and found.stop_reason_ != StopReason.UNSCORED
    assert found.path_[-1].support.tolist() == [0, 1, 2]


@pytest.mark.parametrize("strategy", ["Forward", "Backward"])
def test_paths_are_nested(strategy):
    X, y = problem_data("classification", n=100, m=8)
    path = combine("HSIC", strategy, 3).fit(X, y).path_
    sizes = [step.size for step in path]
    assert sizes == ([1, 2, 3] if strategy == "Forward" else [8, 7, 6, 5, 4, 3])
    for a, b in pairwise(path):
        assert set(a.support) ^ set(b.support) == {b.feature}
        assert len(b.support) == b.size


# -- screening ---------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", [Forward, Backward])
def test_a_short_list_finds_what_stands_out(strategy):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 26))
    y = np.sign(X[:, 3]) * (X[:, 7] + 2) + 0.1 * rng.normal(size=200)
    measure = SquaredMutualInformation(n_basis=40, sigmas=(), random_state=0)
    k = 2 if strategy is Forward else 24
    quick = FeatureSelector(measure, strategy(shortlist=1), k).fit(X, y)
    full = FeatureSelector(measure, strategy(shortlist=None), k).fit(X, y)
    assert quick.support_[[3, 7]].all()
    assert full.support_[[3, 7]].all()
    assert quick.score_ <= full.score_ + 0.05


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", [SquaredMutualInformation, MutualInformation])
def test_quick_scores_are_estimates_under_one_model(kind, task, library):
    from l1lsmi._rows.table import Table
    from l1lsmi._validation.target import check_target
    from tests.conftest import to_library

    X, y = problem_data(task, n=90)
    problem = kind(n_basis=20).bind(Table.of(to_library(X, library)), check_target(y, task), 0)
    draw, inside, others = problem.draws([(0,)]), np.array([0, 3]), np.array([1, 2, 5])
    model = draw.select_model(np.ones(2), inside).model
    quick = draw.neighbour_values(inside, others, 1.0, model)
    full = [draw.fit(np.ones(3), np.append(inside, j), model).value for j in others]
    np.testing.assert_allclose(quick, full, rtol=1e-5, atol=1e-9)
    inside = np.array([0, 1, 2, 5])
    quick = draw.neighbour_values(inside, inside, -1.0, model)
    full = [draw.fit(np.ones(3), inside[inside != j], model).value for j in inside]
    np.testing.assert_allclose(quick, full, rtol=1e-5, atol=1e-9)
    assert problem.score_additions(np.empty(0, dtype=int), others).shape == (3,)


# -- limits ------------------------------------------------------------------------------------


def test_exhaustive_refuses_too_many_sets_with_their_number():
    X, y = problem_data("classification", n=60, m=30)
    with pytest.raises(
        ValueError, match=r"There are 30045015 sets of 10 out of 30 features, more than max_subsets=10000"
    ):
        combine("HSIC", "Exhaustive", 10).fit(X, y)
    X, y = problem_data("classification", n=60, m=6)
    with pytest.raises(ValueError, match="15 sets of 2 out of 6 features"):
        FeatureSelector(HSIC(), Exhaustive(max_subsets=14), 2).fit(X, y)
    assert FeatureSelector(HSIC(), Exhaustive(max_subsets=None), 2).fit(X, y).support_.sum() == 2


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_time_limit_still_gives_k_features(strategy):
    X, y = problem_data("regression", n=600, m=16)
    parameters = {"time_limit": 0.05}
    selector = FeatureSelector(
        SquaredMutualInformation(random_state=0), clone(STRATEGIES[strategy]).set_params(**parameters), 5
    )
    started = time.monotonic()
    with pytest.warns(UserWarning, match="time limit"):
        selector.fit(X, y)
    assert time.monotonic() - started < 5
    assert selector.support_.sum() == 5
    assert selector.stop_reason_ in (StopReason.TIME_LIMIT, StopReason.UNSCORED)


@pytest.mark.parametrize("strategy", ["Ranking", "Forward", "Backward", "Exhaustive"])
def test_interruption_gives_the_best_so_far(strategy, monkeypatch):
    X, y = problem_data("classification", n=60, m=6)
    measure = SquaredMutualInformation(n_basis=15, sigmas=(), random_state=0)
    problem_class = type(_problem_of(measure, X, y))
    plain, calls = problem_class.score_set, []

    def interrupted(self, columns):
        calls.append(columns)
        if len(calls) == 9:
            raise KeyboardInterrupt
        return plain(self, columns)

    monkeypatch.setattr(problem_class, "score_set", interrupted)
    k = 3
    selector = FeatureSelector(measure, clone(STRATEGIES[strategy]), k)
    if strategy == "Ranking":
        calls.extend([None] * 4)
    with pytest.warns(UserWarning, match="interrupted"):
        selector.fit(X, y)
    assert selector.support_.sum() == k
    assert selector.stop_reason_ == StopReason.INTERRUPTED


def _problem_of(measure, X, y):
    from l1lsmi._rows.table import Table
    from l1lsmi._validation.target import check_target

    return measure.bind(Table.of(X), check_target(y, "auto"), 0)


def test_interruption_before_anything_is_known_is_an_interruption(monkeypatch):
    X, y = problem_data("classification", n=60, m=6)

    def interrupted(self, *columns):
        raise KeyboardInterrupt

    for strategy in ("Ranking", "Forward", "Exhaustive"):
        selector = combine("HSIC", strategy, 2)
        problem_class = type(_problem_of(HSIC(), X, y))
        for name in ("score_each", "score_additions"):
            monkeypatch.setattr(problem_class, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            selector.fit(X, y)
        assert not hasattr(selector, "support_")


@pytest.mark.parametrize("strategy", ["Ranking", "Forward", "Backward", "Exhaustive"])
@pytest.mark.parametrize("measure", ["HSIC", "SquaredMutualInformation"])
def test_threads_do_not_change_the_answer(measure, strategy):
    X, y = problem_data("classification", n=90, m=7)
    results = []
    for n_jobs in (1, 2):
        selector = combine(measure, strategy, 3, random_state=0)
        selector.set_params(strategy__n_jobs=n_jobs).fit(X, y)
        results.append((selector.support_.tolist(), selector.score_, selector.ranking_.tolist()))
    assert results[0] == results[1]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_constant_columns_come_last(strategy):
    X, y = problem_data("classification", n=80, m=3)
    X = np.insert(X, 1, 7.0, axis=1)
    for k in (1, 3, 4):
        selector = combine("HSIC", strategy, k, random_state=0).fit(X, y)
        assert selector.support_.sum() == k
        assert selector.support_[1] == (k == 4)


def test_progress_is_shown_when_asked_for(capfd):
    X, y = problem_data("classification", n=60, m=5)
    for strategy in (Ranking(verbose=1), Forward(verbose=1), Backward(verbose=1), Exhaustive(verbose=1)):
        FeatureSelector(HSIC(), strategy, 2).fit(X, y)
        out, err = capfd.readouterr()
        assert out == ""
        assert "best" in err


# -- what the cells are good for ----------------------------------------------------------------


def test_backward_and_weighting_see_the_exclusive_or():
    X, y = make_xor(200, random_state=0)
    for strategy in ("Backward", "Exhaustive", "L1Path"):
        assert np.flatnonzero(combine("HSIC", strategy, 2, random_state=0).fit(X, y).support_).tolist() == [
            0,
            1,
        ]
    assert np.flatnonzero(L1HSIC(2, random_state=0).fit(X, y).support_).tolist() == [0, 1]
    information = FeatureSelector(MutualInformation(n_basis=50), L1Path(n_restarts=2), 2, random_state=0)
    assert np.flatnonzero(information.fit(X, y).support_).tolist() == [0, 1]


def test_only_measures_of_information_see_through_noisy_copies():
    X, y = make_and_or(300, random_state=0)
    backward = FeatureSelector(SquaredMutualInformation(), Backward(), 4, random_state=0).fit(X, y)
    assert np.flatnonzero(backward.support_).tolist() == [0, 1, 2, 3]
    assert FeatureSelector(Pearson(), Ranking(), 4).fit(X, y).support_[7:].all()


def test_correlation_with_classes_by_hand():
    # Two of four rows in class a (share 1/2): indicators of a and b have correlation -1 with each other,
    # so that both correlate by 1/sqrt(2) with this column: (1/2 + 1/2) / sqrt(2).
    X = np.array([[0.0], [0.0], [2.0], [4.0]])
    z = (X - 1.5) / X.std()
    expected = abs((z[:, 0] * np.array([1, 1, -1, -1])).mean())
    assert Pearson().score(X, ["a", "a", "b", "b"]) == pytest.approx(expected)
    # Three classes of shares 1/2, 1/4, 1/4, written out.
    y = np.array([0, 0, 1, 2])
    each = [abs(np.corrcoef(X[:, 0], y == c)[0, 1]) for c in range(3)]
    assert Pearson().score(X, y) == pytest.approx(np.dot([0.5, 0.25, 0.25], each))
    assert Pearson().score(X, [0.5, 1.5, 2.0, 2.5]) == pytest.approx(
        np.corrcoef(X[:, 0], [0.5, 1.5, 2.0, 2.5])[0, 1]
    )


def test_measures_by_column():
    X, y = problem_data("classification", n=80, m=4)
    X = np.insert(X, 2, 3.0, axis=1)
    for name, measure in MEASURES.items():
        measure = clone(measure)
        if hasattr(measure, "cv"):
            measure.set_params(random_state=0)
        scores = measure.score_each(X, y)
        assert scores.shape == (5,), name
        assert scores[2] == 0
        assert scores[1] == pytest.approx(measure.score(X[:, [1]], y), rel=1e-9)


# -- clocks -------------------------------------------------------------------------------------


class Clock(Budget):
    """Says that time is up from a given question on."""

    def __init__(self, questions):
        super().__init__(1e9)
        self.questions = questions

    def spent(self):
        self.questions -= 1
        return self.questions < 0


@pytest.mark.parametrize("strategy", ["Forward", "Backward", "Exhaustive", "Ranking"])
@pytest.mark.parametrize("measure", ["HSIC", "SquaredMutualInformation"])
def test_whenever_the_clock_runs_out_it_is_said(measure, strategy):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = X[:, 4] + X[:, 5]
    problem = _problem_of(clone(MEASURES[measure]), X, y)
    whole = clone(STRATEGIES[strategy]).search(problem, 3)
    for questions in (0, 1, 2, 5, 60):
        cut = clone(STRATEGIES[strategy]).search(problem, 3, Clock(questions))
        assert cut.support.sum() == 3
        cut_short = (StopReason.TIME_LIMIT, StopReason.UNSCORED)
        assert cut.stop_reason in cut_short or cut.score == pytest.approx(whole.score)
    if strategy in ("Forward", "Backward"):
        assert cut.support[[4, 5]].any()


def test_one_feature_against_the_clock():
    X, y = problem_data("regression", n=80, m=30)
    problem = _problem_of(clone(MEASURES["SquaredMutualInformation"]), X, y)
    for strategy in (Forward(), Exhaustive()):
        selection = strategy.search(problem, 1, Clock(0))
        assert selection.stop_reason == StopReason.UNSCORED
        assert selection.support.sum() == 1


def test_backward_raises_an_interruption_before_it_knows_anything(monkeypatch):
    X, y = problem_data("classification", n=60, m=6)

    def interrupted(self, columns):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(_problem_of(HSIC(), X, y)), "score_set", interrupted)
    with pytest.raises(KeyboardInterrupt):
        combine("HSIC", "Backward", 2).fit(X, y)


def test_a_score_that_is_not_a_number_is_never_the_best(monkeypatch):
    X, y = problem_data("classification", n=60, m=6)
    problem_class = type(_problem_of(HSIC(), X, y))
    plain = problem_class.score_additions

    def spoiled(self, columns, others):
        return np.where(others == 0, np.nan, plain(self, columns, others))

    monkeypatch.setattr(problem_class, "score_additions", spoiled)
    assert not combine("HSIC", "Forward", 3).fit(X, y).support_[0]


# -- nothing depends on order, units or rounding ---------------------------------------------------


@pytest.mark.parametrize("measure", SETS)
def test_all_columns_in_another_order_and_in_other_units(measure):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 2] + 0.3 * X[:, 0] > 0).astype(int)
    forward = combine(measure, "Forward", 3, random_state=0).fit(X, y)
    other = combine(measure, "Forward", 3, random_state=0).fit(X * [1, 1e3, 1e-3] + [0, 5e3, 1], y)
    exhaustive = combine(measure, "Exhaustive", 3, random_state=0).fit(X, y)
    assert other.score_ == pytest.approx(forward.score_, rel=1e-7)
    assert exhaustive.score_ == pytest.approx(forward.score_, rel=1e-7)


@pytest.mark.filterwarnings("ignore::l1lsmi._warnings.DataWarning")
@pytest.mark.parametrize("strategy", ["Ranking", "Forward", "Backward", "Exhaustive"])
def test_equal_features_are_told_apart_by_position_alone(strategy):
    rng = np.random.default_rng(0)
    y = rng.normal(size=40)
    X = np.column_stack([rng.normal(size=40), 3.3 * y + 1, 0.7 * y, rng.normal(size=40)])
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(40)
        selector = combine("HSIC", strategy, 1).fit(X[order], y[order])
        assert selector.support_[1] or strategy == "Backward"
        assert selector.support_[1:3].sum() == 1


def test_a_far_row_does_not_cost_the_others_their_digits():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    X[0] = 1e9, -1e9
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    scores = [HSIC().score(X[order], y[order]) for order in (np.arange(20), np.arange(20)[::-1])]
    assert scores[0] == pytest.approx(scores[1], rel=1e-6)
    assert np.isfinite(z).all()


@pytest.mark.parametrize("score_by", ["cross_validation", "estimate"])
def test_scores_of_all_strategies_are_of_one_kind(score_by):
    X, y = problem_data("regression", n=120, m=5)
    measure = SquaredMutualInformation(n_basis=40, score_by=score_by)
    weighted = FeatureSelector(measure, L1Path(), 3, random_state=0).fit(X, y)
    expected = weighted.estimate_ if score_by == "estimate" else -weighted.cv_score_ - 0.5
    assert weighted.score_ == pytest.approx(expected)
    assert weighted.estimate_ > -weighted.cv_score_ - 0.5


# -- contracts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "method"), [("draws", "set_gradient"), ("set_scorer", "neighbours")])
@pytest.mark.parametrize("strategy", ["L1Path", "L1Paper"])
def test_what_draws_and_scorers_lack_is_named_before_the_search(monkeypatch, strategy, source, method):
    X, y = problem_data("classification", n=60, m=5)
    problem_class = type(_problem_of(SquaredMutualInformation(n_basis=10), X, y))
    plain = getattr(problem_class, source)

    class Lacking:
        def __init__(self, whole):
            self._whole = whole

        def __getattr__(self, name):
            if name == method:
                raise AttributeError(name)
            return getattr(self._whole, name)

    monkeypatch.setattr(problem_class, source, lambda self, *key: Lacking(plain(self, *key)))
    selector = combine("SquaredMutualInformation", strategy, 2, random_state=0)
    words = rf"{source}\(\) of the measure returns a Lacking without {method}, which {strategy} needs"
    with pytest.raises(ValueError, match=words):
        selector.fit(X, y)
    assert not hasattr(selector, "support_")


def test_a_refusal_lists_everything_that_is_missing():
    X, y = problem_data("classification", n=60, m=5)
    with pytest.raises(
        ValueError, match="L1Path needs best_loss and draws and rng and score_of of its measure"
    ):
        combine("Pearson", "L1Path", 2).fit(X, y)
