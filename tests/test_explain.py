"""Explanations of selections, on data whose answer is known."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectKBest

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector, explain
from l1lsmi.baselines import MRMR
from l1lsmi.explain import _reasons
from l1lsmi.explain._evidence import evidence, how_many, told_dispensable
from l1lsmi.explain._pairwise import PairwiseSMI
from l1lsmi.explain._subset_scorer import SubsetScorer
from l1lsmi.measures import HSIC, Pearson, SquaredMutualInformation
from l1lsmi.strategies import Backward, Exhaustive, Forward, Ranking
from tests.matrix import SELECTORS

# Copies, and what is said of them, are wanted here.
pytestmark = pytest.mark.filterwarnings("ignore::l1lsmi._warnings.DataWarning")


class Fixed(BaseEstimator):
    """A selector with given selected features and no other attributes."""

    def __init__(self, support, m, ranking=None, task="auto"):
        self.n_features_in_, self.task = m, task
        self.support_ = np.isin(np.arange(m), support)
        if ranking is not None:
            self.ranking_ = np.array(ranking)

    def fit(self, X, y=None):
        return self

    def get_support(self, indices=False):
        return np.flatnonzero(self.support_) if indices else self.support_


def xor(n=300, m=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def linear(n=300, m=8, seed=0, task="classification"):
    """Two additive features; column 3 is a copy of column 0, column 4 a noisy copy."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    X[:, 3] = 5 - 2 * X[:, 0]
    X[:, 4] = X[:, 0] + 0.2 * rng.normal(size=n)
    signal = X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=n)
    return X, (signal > 0).astype(int) if task == "classification" else signal


# -- every selector ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", SELECTORS)
def test_every_selector_can_be_explained(name):
    X, y = xor(80)
    selector = clone(SELECTORS[name]).set_params(n_features_to_select=2).fit(X, y)
    explained = explain.explain_selection(selector, X, y, n_rejected=2)
    chosen = selector.get_support(indices=True).tolist()
    assert sorted(explained.contributions.columns) == chosen
    assert explained.interactions.columns.tolist() == chosen
    assert explained.score_by_size.sets[1].tolist() == chosen
    assert len(explained.redundancy.rejected) == 2
    assert explained.redundancy.n_rejected_in == 4
    assert {feature.column for feature in explained.redundancy.rejected}.isdisjoint(chosen)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_come_from_data_frames_or_are_given(frame):
    X, y = xor(100)
    names = [f"column {j}" for j in range(6)]
    data = frame(dict(zip(names, X.T, strict=True)))
    selector = Fixed([0, 1], 6)
    selector.feature_names_in_ = np.array(names, dtype=object)
    target = (pd.Series if frame is pd.DataFrame else pl.Series)(np.where(y, "yes", "no"))
    result = explain.contributions(selector, data, target)
    assert sorted(result.names) == ["column 0", "column 1"]
    plain = explain.contributions(Fixed([0, 1], 6), X, y)
    assert sorted(plain.names) == ["x0", "x1"]
    np.testing.assert_allclose(result.lost, plain.lost)
    given_names = explain.interactions(Fixed([0, 1], 6), X, y, feature_names=list("abcdef"))
    assert given_names.names == ("a", "b")


def test_one_call_gives_the_same_as_single_calls():
    X, y = linear(150)
    selector = Fixed([0, 1, 2], 8, ranking=[1, 1, 1, 2, 3, 4, 5, 6])
    explained = explain.explain_selection(selector, X, y, n_rejected=3)
    curve = explain.score_by_size(selector, X, y)
    np.testing.assert_array_equal(explained.score_by_size.scores, curve.scores)
    np.testing.assert_array_equal(explained.contributions.lost, explain.contributions(selector, X, y).lost)
    assert explained.redundancy.rejected == explain.redundancy(selector, X, y, n_rejected=3).rejected
    pairs = explain.interactions(selector, X, y)
    np.testing.assert_array_equal(explained.interactions.matrix, pairs.matrix)
    assert all(
        isinstance(array, np.ndarray) for array in (curve.scores, pairs.matrix, explained.redundancy.smi)
    )


def test_arrays_of_other_libraries_come_back_as_numpy(library):
    X, y = xor(80)
    host = explain.contributions(Fixed([0, 1], 6), X, y)
    there = explain.contributions(Fixed([0, 1], 6), library.asarray(X), library.asarray(y))
    assert type(there.lost) is np.ndarray
    np.testing.assert_allclose(there.lost, host.lost, atol=1e-8)


def test_a_sample_names_its_own_argument():
    with pytest.raises(ValueError, match=r"^at_most=3 must be a whole number of rows, at least 20\.$"):
        explain.sample_rows(np.arange(60), at_most=3)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"selector": L1LSMI}, "selector is the class L1LSMI: pass a fitted selector"),
        ({"selector": 3}, "selector is 3: pass a fitted selector"),
        ({"X": np.ones((60, 2))}, "X has 2 features, but the selector was fitted to 6"),
        ({"y": None}, "y is None: pass the target"),
        ({"y": np.arange(4)}, "X has 60 rows, but y has 4: pass one target per row"),
        ({"max_rows": 3}, "max_rows=3 must be a whole number of rows, at least 20"),
        ({"max_rows": True}, "max_rows=True must be"),
        (
            {"feature_names": ["a"]},
            "feature_names has 1 names, but there are 6 features: pass one",
        ),
        ({"measure": Pearson()}, r"measure=Pearson\(\) cannot score sets of features"),
        ({"measure": HSIC}, "measure is the class HSIC"),
    ],
)
def test_bad_input_raises_a_clear_error(change, words):
    X, y = xor(60)
    arguments = {"selector": Fixed([0, 1], 6), "X": X, "y": y} | change
    with pytest.raises(ValueError, match=words):
        (explain.score_by_size if "measure" in change else explain.contributions)(**arguments)


def test_other_columns_are_refused():
    X, y = xor(60)
    selector = L1LSMI(2, random_state=0).fit(pd.DataFrame(X, columns=list("abcdef")), y)
    with pytest.raises(ValueError, match="X has column 'f' where the selector was fitted to 'a'"):
        explain.contributions(selector, pd.DataFrame(X, columns=list("fedcba")), y)
    with pytest.raises(ValueError, match="not fitted"):
        explain.contributions(L1LSMI(2), X, y)


def test_without_a_random_state_all_scores_use_the_same_rows_and_folds():
    X, y = xor(120)
    explained = explain.explain_selection(Fixed([0, 1], 6), X, y, random_state=None, n_rejected=1)
    pair = explained.interactions.joint[0, 1]
    assert explained.score_by_size.scores[1] == pair


def test_a_selector_of_scikit_learn_can_be_explained():
    X, y = linear(100)
    result = explain.contributions(SelectKBest(k=2).fit(X, y), X, y)
    assert result.columns.size == 2


def test_constant_columns_score_zero():
    X, y = xor(100)
    X[:, [1, 5]] = 7.0
    explained = explain.explain_selection(Fixed([0, 1], 6, ranking=[1, 1, 2, 3, 4, 5]), X, y)
    constant = explained.contributions.columns.tolist().index(1)
    assert explained.contributions.alone[constant] == explained.contributions.lost[constant] == 0
    assert explained.redundancy.smi[0, 1] == 0
    assert 5 not in [feature.column for feature in explained.redundancy.rejected]


def test_warnings_of_the_fit_are_not_repeated():
    X, _ = xor(100)
    y = np.arange(100)
    with pytest.warns(UserWarning, match="different whole numbers"):
        selector = L1LSMI(2, random_state=0).fit(X, y)
    explain.contributions(selector, X, y)  # a warning would be an error


# -- rows -------------------------------------------------------------------------------------


@given(st.integers(20, 400), st.integers(0, 50))
def test_samples_keep_the_shares_of_classes(at_most, seed):
    y = np.random.default_rng(seed).choice(3, size=300, p=[0.6, 0.3, 0.1])
    rows = explain.sample_rows(y, "classification", at_most, seed)
    assert rows.size == min(at_most, 300) == np.unique(rows).size
    shares = np.bincount(y[rows], minlength=3) - np.bincount(y) * rows.size / 300
    assert np.abs(shares).max() <= 1


def test_samples_keep_the_range_of_numbers():
    y = np.random.default_rng(0).exponential(size=1000)
    rows = explain.sample_rows(y, "regression", 100)
    edges = np.quantile(y, np.linspace(0, 1, 11))[1:-1]
    assert np.bincount(np.digitize(y[rows], edges)).tolist() == [10] * 10


def test_at_most_max_rows_are_used():
    X, y = xor(400)
    result = explain.contributions(Fixed([0, 1], 6), X, y, max_rows=200)
    assert (result.n_rows, result.n_rows_in) == (200, 400)
    again = explain.contributions(Fixed([0, 1], 6), X, y, max_rows=200)
    np.testing.assert_array_equal(result.lost, again.lost)
    other = explain.contributions(Fixed([0, 1], 6), X, y, max_rows=200, random_state=1)
    assert not np.array_equal(result.lost, other.lost)
    whole = explain.contributions(Fixed([0, 1], 6), X, y)
    order = [whole.columns.tolist().index(j) for j in result.columns]
    np.testing.assert_allclose(result.lost, whole.lost[order], rtol=0.15)


# -- path -------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["path", "paper"])
def test_radii_of_the_restart_closest_to_the_selected_set(algorithm):
    X, y = xor(120)
    selector = L1LSMI(2, algorithm=algorithm, n_restarts=3, max_iter=20, random_state=0).fit(X, y)
    path = explain.path_table(selector)
    assert path.kind == "radii" and path.n_restarts == len({point.restart for point in selector.path_})
    assert len(path.steps) == sum(point.restart == path.restart for point in selector.path_)
    assert any(step.support.tolist() == [0, 1] for step in path.steps)
    for step in path.steps:
        assert step.size == step.support.size == step.weights.size
        assert step.weights.sum() <= step.radius * (1 + 1e-5)
        assert step.feature is None and np.isfinite(step.score)
    # Scores are estimates of the measure, whose upper bound for two classes is 1/2.
    assert 0.2 < max(step.score for step in path.steps) <= 0.5


def test_scores_of_a_path_are_those_of_its_measure():
    X, y = xor(100)
    selector = L1HSIC(2, random_state=0).fit(X, y)
    steps = explain.path_table(selector).steps
    objectives = [p.objective for p in selector.path_ if p.restart == explain.path_table(selector).restart]
    np.testing.assert_allclose([step.score for step in steps], objectives)
    same = FeatureSelector(HSIC(), None, 2, random_state=0).fit(X, y)
    np.testing.assert_allclose([s.score for s in explain.path_table(same).steps], objectives)
    smi = FeatureSelector(None, None, 2, random_state=0).fit(X, y)
    plain = L1LSMI(2, random_state=0).fit(X, y)
    for one, other in zip(explain.path_table(smi).steps, explain.path_table(plain).steps, strict=True):
        assert one.score == other.score


def test_steps_of_greedy_searches():
    X, y = linear(100)
    forward = explain.path_table(FeatureSelector(HSIC(), Forward(), 3).fit(X, y))
    assert forward.kind == "steps" and [s.size for s in forward.steps] == [1, 2, 3]
    assert forward.steps[0].support.tolist() == [forward.steps[0].feature]
    assert forward.steps[0].weights is None and forward.steps[0].radius is None
    backward = explain.path_table(FeatureSelector(HSIC(), Backward(), 6).fit(X, y))
    assert [step.size for step in backward.steps] == [8, 7, 6]


def test_paths_of_exhaustive_searches_have_improvements_only():
    X, y = linear(100, m=6)
    selector = FeatureSelector(HSIC(), Exhaustive(), 2).fit(X, y)
    steps = explain.path_table(selector).steps
    scores = [step.score for step in steps]
    assert scores == sorted(set(scores)) and len(scores) < len(selector.path_)
    assert steps[-1].support.tolist() == selector.get_support(indices=True).tolist()


def test_methods_without_a_path():
    X, y = linear(60)
    path = explain.path_table(FeatureSelector(Pearson(), Ranking(), 2).fit(X, y))
    assert path.kind == "none" and path.steps == () and path.restart is None
    columns, weights = path.lines()
    assert columns.size == weights.size == 0


def test_lines_are_weights_along_the_path():
    X, y = xor(150)
    selector = L1LSMI(2, random_state=0).fit(X, y)
    path = explain.path_table(selector)
    columns, weights = path.lines(4)
    assert weights.shape == (4, len(path.steps)) and sorted(columns[:2].tolist()) == [0, 1]
    for position, step in enumerate(path.steps):
        for row, column in enumerate(columns):
            expected = dict(zip(step.support.tolist(), step.weights, strict=True)).get(int(column), 0)
            assert weights[row, position] == expected


# -- scores -----------------------------------------------------------------------------------


def test_score_by_size_finds_the_true_number():
    X, y = xor(300)
    selector = L1LSMI(4, random_state=0).fit(X, y)
    curve = explain.score_by_size(selector, X, y)
    assert curve.sizes.tolist() == [1, 2, 3, 4, 5, 6] and curve.n_selected == 4
    assert curve.sets[1].tolist() == [0, 1]
    assert curve.scores.argmax() == 1
    for size, columns in zip(curve.sizes, curve.sets, strict=True):
        assert columns.size == size
    for smaller, larger in zip(curve.sets[:-1], curve.sets[1:], strict=True):
        assert set(smaller) < set(larger)
    by_rank = np.argsort(selector.ranking_, kind="stable")
    assert set(curve.sets[4]) - set(curve.sets[3]) == {by_rank[4]}


@pytest.mark.parametrize(
    "explanation", [explain.score_by_size, explain.contributions, explain.interactions, explain.redundancy]
)
def test_a_selection_without_features_has_nothing_to_explain(explanation):
    X, y = xor(60)
    with pytest.raises(ValueError, match="selector has selected no features: there is nothing to explain"):
        explanation(Fixed([], X.shape[1]), X, y)


def fixed_with(n_selected, *, k="auto", p_value=1e-9, mean=None, best_k=2):
    """A selector with five features, and what unseen rows say about it."""
    selector = Fixed(list(range(n_selected)), 5)
    selector.n_features_to_select, selector.p_value_, selector.validation_ = k, p_value, None
    if mean is not None:
        sizes = np.array([0, 5] if len(mean) == 2 else range(len(mean)))
        spread = np.full(sizes.size, 0.05)
        selector.validation_ = SimpleNamespace(
            k=sizes, mean=np.array(mean), standard_error=spread, best_k=best_k
        )
    return selector


@pytest.mark.parametrize(
    ("selector", "sentences"),
    [
        (
            fixed_with(2, mean=[0, 0.3, 0.5, 0.52]),
            [
                "these features predict 50 % of",
                "(p < 0.0001)",
                "3 features predict most, 52.0 %; 2 predict nearly as much, 50.0 %.",
            ],
        ),
        (
            fixed_with(1, mean=[0, 0.004, -1]),
            [
                "this feature predicts 0.4 % of",
                "No other number of features that was tried predicts more.",
            ],
        ),
        (
            fixed_with(5, k=5, p_value=0.01, mean=[0, 0.3]),
            ["predict 30 % of the variation of the target (p = 0.01)."],
        ),
        (
            fixed_with(5, k=5, p_value=0.01, mean=[0, -0.3]),
            ["agree with the target (p = 0.01), but their errors are not smaller"],
        ),
        (
            fixed_with(5, k=5, p_value=0.3, mean=[0, 0.3]),
            ["There is no evidence that these features predict", "p = 0.3."],
        ),
        (fixed_with(5, k=5), ["clear evidence that the target depends on the features (p < 0.0001)."]),
        (fixed_with(5, p_value=None), ["stopped before it chose a number of features"]),
        (fixed_with(5, k=5, p_value=None), []),
        (
            fixed_with(0, p_value=0.3, mean=[0, 0.1, 0.2]),
            ["No features are selected: there is no evidence", "p = 0.3"],
        ),
        (
            fixed_with(0, p_value=0.03, mean=[0, 0.1, 0.2]),
            ["evidence that any predict the target is weak", "p = 0.03, and p < 0.02 is required"],
        ),
        (
            fixed_with(0, p_value=0.01, mean=[0, 0.1, 0.2]),
            ["no set of features has clearly smaller errors than no features (p = 0.01)"],
        ),
    ],
)
def test_what_unseen_rows_say(selector, sentences):
    said = " ".join(text for say in (evidence, how_many) if (text := say(selector)))
    assert all(sentence in said for sentence in sentences) and bool(said) == bool(sentences)


def test_score_by_size_takes_measures_and_limits():
    X, y = linear(100)
    selector = Fixed([0, 1, 2], 8, ranking=[1, 1, 1, 2, 3, 4, 5, 6])
    curve = explain.score_by_size(selector, X, y, measure=HSIC(), max_size=4)
    assert curve.sizes.tolist() == [1, 2, 3, 4]
    for columns, score in zip(curve.sets, curve.scores, strict=True):
        assert score == pytest.approx(HSIC().score(X[:, columns], y))
    assert explain.score_by_size(selector, X, y, max_size=2).sizes.tolist() == [1, 2]
    assert explain.score_by_size(Fixed([0, 1, 2], 8), X, y).sizes.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match=r"max_size=9 must be .* X has 8 feature"):
        explain.score_by_size(selector, X, y, max_size=9)


def test_many_features_are_removed_several_at_a_time():
    X, y = linear(120, m=40)
    curve = explain.score_by_size(Fixed(range(30), 40), X, y, measure=HSIC())
    assert curve.sizes.tolist() == [*range(1, 12), 13, 16, 20, 24, 30]
    assert {0, 1} & set(curve.sets[1].tolist())


def test_features_that_are_not_needed_are_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = X[:, 1] + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=300)
    needed = L1LSMI(3, random_state=0).fit(X, y)
    assert told_dispensable(needed, explain.contributions(needed, X, y)) is None
    more = L1LSMI(5, random_state=0).fit(X, y)
    found = explain.contributions(more, X, y)
    spare = found.dispensable
    assert set(spare.names) == set(found.names) - {"x1", "x2", "x3"} and spare.lost <= spare.standard_error
    told = told_dispensable(more, found)
    assert re.match(
        r"Without 'x\d' and 'x\d', the other 3 features predict held-out rows (better|about)", told
    )
    assert "together they contribute" in told and told.endswith(
        'number of features, or "auto", may be enough.'
    )
    baseline = MRMR(5).fit(X, y)
    assert "auto" not in told_dispensable(baseline, explain.contributions(baseline, X, y))
    chosen = L1LSMI("auto", random_state=0).fit(X, y)
    assert told_dispensable(chosen, found) is None  # of a number that unseen rows chose
    noise = L1LSMI(5, random_state=0).fit(X, z := rng.normal(size=300))
    assert told_dispensable(noise, explain.contributions(noise, X, z)) is None  # the evidence says it all


def test_copies_are_not_dispensable_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X[:, 1] = X[:, 0] + 1e-3 * rng.normal(size=300)
    y = X[:, 0] + X[:, 2] + 0.3 * rng.normal(size=300)
    selector = L1LSMI(3, random_state=0).fit(X, y)
    found = explain.contributions(selector, X, y)
    assert (found.lost <= found.standard_error).sum() == 2
    assert len(found.dispensable.names) == 1 and found.dispensable.names[0] in ("x0", "x1")


def test_contributions_distinguish_interaction_from_redundancy():
    X, y = xor(300)
    result = explain.contributions(Fixed([0, 1], 6), X, y)
    assert result.alone.max() < 0.02 and result.lost.min() > 0.5
    np.testing.assert_allclose(result.lost, result.share - result.alone[::-1])
    assert (result.standard_error > 0).all() and (result.standard_error < 0.1).all()
    X, y = linear(300)
    doubled = explain.contributions(Fixed([0, 3, 1], 8), X, y)
    alone, lost = (dict(zip(doubled.columns, v, strict=True)) for v in (doubled.alone, doubled.lost))
    assert alone[0] == pytest.approx(alone[3]) and alone[0] > 0.1
    assert abs(lost[0]) < 0.03 and lost[1] > 0.08
    assert (np.diff(doubled.lost) <= 0).all()


def test_interactions_of_known_pairs():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(400, 5)).astype(float)
    X[:, 4] = X[:, 2]
    xor_pair, weak = X[:, 0] != X[:, 1], rng.random(400) < 0.5 + 0.2 * (X[:, 2] - 0.5) + 0.2 * (X[:, 3] - 0.5)
    pairs = explain.interactions(Fixed([0, 1], 5), X, xor_pair)
    assert pairs.alone.max() < 0.01
    assert pairs.matrix[0, 1] == pytest.approx(0.5, abs=0.02)  # the upper bound, and 0 for each alone
    sums = explain.interactions(Fixed([2, 3, 4], 5), X, weak)
    np.testing.assert_array_equal(sums.matrix, sums.matrix.T)
    assert np.diag(sums.matrix).tolist() == [0, 0, 0]
    assert abs(sums.matrix[0, 1]) < 0.02  # additive effects
    assert sums.matrix[0, 2] == pytest.approx(-sums.alone[0], abs=0.01)  # copies
    np.testing.assert_allclose(np.diag(sums.joint), sums.alone)


def test_interactions_are_those_of_the_largest_weights():
    X, y = linear(100)
    selector = Fixed(range(6), 8)
    selector.weights_ = np.array([0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0, 0])
    assert explain.interactions(selector, X, y, max_features=3).columns.tolist() == [1, 3, 5]
    del selector.weights_
    strong = explain.interactions(selector, X, y, max_features=4).columns
    assert strong.tolist()[:2] == [0, 1] and {3, 4} <= set(strong.tolist())
    for wrong in (0, -1, 2.5):
        with pytest.raises(ValueError, match=f"max_features={wrong} must be a whole number"):
            explain.interactions(selector, X, y, max_features=wrong)


# -- redundancy -------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_copies_are_redundant_and_noise_is_silent(task):
    X, y = linear(300, task=task)
    why = explain.redundancy(Fixed([0, 1], 8, task=task), X, y)
    by_column = {feature.column: feature for feature in why.rejected}
    assert set(by_column) == {2, 3, 4, 5, 6, 7}
    exact, noisy = by_column[3], by_column[4]
    assert exact.kind == noisy.kind == "redundant"
    assert exact.nearest == noisy.nearest == 0 and exact.correlation == pytest.approx(1)
    assert exact.reason == "x3 is not selected because it is a rescaled copy of x0."
    assert noisy.reason == (
        f"x4 is not selected because x0 carries the same information (SMI between the two {noisy.smi:.2f})."
    )
    assert exact.alone > why.noise > 0 and abs(exact.gain) < 0.05
    for column in (2, 5, 6, 7):
        assert (
            by_column[column].kind == "silent"
            and "does not exceed the noise level" in by_column[column].reason
        )
        assert by_column[column].alone <= why.noise and by_column[column].gain <= why.gain_noise
    assert [feature.alone for feature in why.rejected] == sorted(by_alone(why), reverse=True)


def by_alone(why):
    return [feature.alone for feature in why.rejected]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_informative_features_that_were_not_selected_add(task):
    X, y = linear(300, task=task)
    why = explain.redundancy(Fixed([0, 2], 8, task=task), X, y)
    missed = next(feature for feature in why.rejected if feature.column == 1)
    assert missed.kind == "adds" and missed.gain > max(why.gain_noise, 0.05)
    assert missed.reason == f"x1 would add {missed.gain:.3f} to the score of " + (
        "the best 1 of the selected features." if "best 1" in missed.reason else "the set."
    )


def test_a_copy_of_an_interacting_feature_is_redundant_though_its_score_alone_is_zero():
    X, y = xor(400)
    X[:, 4] = X[:, 1] + 0.3 * np.random.default_rng(1).normal(size=400)
    why = explain.redundancy(Fixed([0, 1], 6), X, y)
    double = next(feature for feature in why.rejected if feature.column == 4)
    assert double.alone <= why.noise and double.kind == "redundant"
    assert (
        double.reason == "x4 is not selected because x1 carries the same information and more "
        f"(SMI between the two {double.smi:.2f})."
    )
    assert {feature.kind for feature in why.rejected if feature.column != 4} == {"silent"}


def test_features_with_little_dependence_do_not_carry_the_same_information():
    """Both depend on the class and little on each other: the second adds nothing, but is no copy."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 4))
    X[:, 0] += 4 * y
    X[:, 1] += y
    why = explain.redundancy(Fixed([0], 4), X, y)
    weaker = next(feature for feature in why.rejected if feature.column == 1)
    assert weaker.kind == "redundant" and weaker.smi < 0.3 and weaker.correlation < 0.6
    assert weaker.reason == ("x1 is not selected because it adds no information about the target to x0.")


def test_selected_features_together_carry_the_information_of_their_sum():
    X, y = linear(400)
    X[:, 5] = X[:, 0] + X[:, 1]
    why = explain.redundancy(Fixed([0, 1], 8), X, y)
    total = next(feature for feature in why.rejected if feature.column == 5)
    assert (
        total.kind == "redundant" and "the selected features together carry its information" in total.reason
    )


def test_the_best_of_many_noise_features_is_silent():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(120, 600)), rng.integers(0, 2, 120)
        why = explain.redundancy(FeatureSelector(Pearson(), Ranking(), 2).fit(X, y), X, y, n_rejected=6)
        assert len(why.rejected) == 6 and why.n_rejected_in == 598
        assert sum(feature.kind == "silent" for feature in why.rejected) >= 5


def test_dependent_and_next_ranked_features_are_both_explained():
    X, y = linear(200)
    ranking = np.array([1, 1, 2, 7, 6, 3, 4, 5])
    why = explain.redundancy(Fixed([0, 1], 8, ranking=ranking), X, y, n_rejected=3)
    # 3 and 4 have the highest scores alone, 2 is next in the ranking.
    assert {feature.column for feature in why.rejected} == {2, 3, 4}
    assert explain.redundancy(Fixed(range(8), 8), X, y).rejected == ()


def test_dependence_between_selected_features():
    X, y = linear(300)
    why = explain.redundancy(Fixed([0, 1, 4], 8), X, y)
    assert why.columns.tolist() == [0, 1, 4] and why.names == ("x0", "x1", "x4")
    np.testing.assert_array_equal(why.smi, why.smi.T)
    assert np.isnan(np.diag(why.smi)).all() and np.isnan(np.diag(why.correlation)).all()
    assert why.smi[0, 2] > 0.5 and why.smi[0, 1] < 0.05
    assert why.correlation[0, 2] == pytest.approx(abs(np.corrcoef(X[:, 0], X[:, 4])[0, 1]))


def test_pairwise_smi_is_symmetric_and_treats_discrete_features_as_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    X[:, 1] = X[:, 0] ** 2 + 0.1 * rng.normal(size=200)
    X[:, 2] = X[:, 0] > 0
    X[:, 3] = X[:, 2]
    pairwise = PairwiseSMI(SubsetScorer(Fixed([0, 1], 5), X, rng.integers(0, 2, 200), max_rows=200))
    for one in range(5):
        for other in range(one):
            assert pairwise.smi(one, other) == pairwise.smi(other, one) >= 0
    assert pairwise.smi(0, 1) > 0.3  # though the correlation is 0
    assert pairwise.smi(2, 3) == pytest.approx(0.5, abs=0.02)  # the upper bound for two classes
    quick = pairwise._scorer.quick_measure(n_basis=30, sigma_factors=(0.4, 1.2), regularizations=(1e-3, 1e-1))
    seed = pairwise._scorer.seed
    expected = quick.set_params(task="classification", random_state=seed).score(X[:, [0]], X[:, 2])
    assert pairwise.smi(0, 2) == pytest.approx(expected)


def test_quick_settings_order_sets_as_the_default_does():
    X, y = linear(300)
    scorer = SubsetScorer(Fixed([0, 1], 8), X, y, max_rows=300)
    sets = [(2,), (1,), (0,), (0, 4), (0, 1)]
    quick = [scorer.score(columns) for columns in sets]
    full = [SquaredMutualInformation(random_state=0).score(X[:, columns], y) for columns in sets]
    assert np.argsort(quick)[[0, -1]].tolist() == np.argsort(full)[[0, -1]].tolist() == [0, 4]
    np.testing.assert_allclose(quick, np.maximum(full, 0), atol=0.03)


@pytest.mark.parametrize(
    ("smi", "correlation", "told"),
    [
        (0.39, 0.8, "(correlation of the two 0.80)"),
        (0.6, 0.8, "(SMI between the two 0.60)"),
        (0.2, 0.3, "(SMI between the two 0.20)"),
    ],
)
def test_reasons_state_the_dependence_that_they_are_based_on(smi, correlation, told):
    assert _reasons._dependence(smi, correlation) == told


def test_scores_in_reasons_have_digits():
    assert [_reasons._score(value) for value in (0.0514, 0.00012, 0.0, -0.0002)] == [
        "0.051",
        "0.0001",
        "0.000",
        "0.000",
    ]
