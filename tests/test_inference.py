"""Stability selection, its bounds, permutation tests and knockoffs."""

import os
import signal
import threading
import time
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import linprog, minimize
from scipy.stats import kstest
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, VarianceThreshold, f_regression
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

from l1lsmi import L1LSMI, FeatureSelector
from l1lsmi.baselines import MRMR, LassoK
from l1lsmi.inference import (
    KnockoffSelector,
    StabilitySelector,
    false_selections_bound,
    permutation_test,
)
from l1lsmi.inference._gaussian import (
    correlation_of,
    draw_gaussian,
    draw_knockoffs,
    equicorrelated,
    least_reconstructable,
)
from l1lsmi.inference._halves import draw_halves
from l1lsmi.inference.bounds import bounds_by_threshold, largest_tails
from l1lsmi.inference.knockoffs import knockoff_threshold
from l1lsmi.inference.permutation import _permutations
from l1lsmi.measures import HSIC, Pearson, SquaredMutualInformation
from l1lsmi.strategies import Ranking
from l1lsmi.strategies.selection import StopReason
from tests.conftest import assert_refused, to_library


def data(n=120, m=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    return X, 2 * X[:, 1] - 2 * X[:, 7] + rng.normal(size=n)


class Columns(BaseEstimator):
    """Selects given columns, and records the rows of each fit."""

    rows: ClassVar[list] = []

    def __init__(self, columns=(0,), action=None, random_state=None):
        self.columns, self.action, self.random_state = columns, action, random_state

    def fit(self, X, y=None):
        Columns.rows.append(X[:, 0].copy())
        if self.action is not None:
            self.action(self, len(Columns.rows))
        self.n_columns_ = X.shape[1]
        return self

    def get_support(self):
        return np.isin(np.arange(self.n_columns_), self.columns)


@pytest.fixture(autouse=True)
def forgotten():
    Columns.rows.clear()


# -- bounds -----------------------------------------------------------------------------------


def unimodal_tail(mean, n_steps, position):
    """Largest probability of at least position / n_steps, by linear programming, one mode at a time."""
    steps = np.arange(n_steps + 1) / n_steps
    best = 0.0
    for mode in range(n_steps + 1):
        rises = np.zeros((n_steps, n_steps + 1))
        for i in range(n_steps):
            sign = 1.0 if i < mode else -1.0  # f_i <= f_(i+1) before the mode, >= after it
            rises[i, i], rises[i, i + 1] = sign, -sign
        found = linprog(
            -(np.arange(n_steps + 1) >= position).astype(float),
            A_ub=np.vstack([rises, steps]),
            b_ub=np.append(np.zeros(n_steps), mean),
            A_eq=np.ones((1, n_steps + 1)),
            b_eq=[1.0],
        )
        if found.status == 0:  # with this mode the mean can be as small
            best = max(best, -found.fun)
    return best


@pytest.mark.parametrize("theta", [0.05, 0.2, 0.4])
def test_the_unimodal_bound_is_that_of_linear_programming(theta):
    n_pairs, m = 10, 100
    bounds = bounds_by_threshold(theta * m, m, 2 * n_pairs)
    checked = 0
    for both in range(2, n_pairs + 1):  # at least so many pairs of ten
        bound = bounds[n_pairs + both - 1].unimodal
        if bound < m:
            best = unimodal_tail(theta**2, n_pairs, both)
            # Up to where the thresholds of the closed form are rounded to those that the pairs have.
            assert m * best <= bound * (1 + 1e-9)
            assert m * best >= bound * 0.93
            checked += 1
    assert checked >= 5


def r_concave_tail(mean, n_steps, r, position, rng, n_starts=4):
    """The same for r-concave distributions, by a general optimiser from several starts."""
    best = 0.0
    for first in range(n_steps):
        for last in range(max(position, first + 1), n_steps + 1):
            steps = np.arange(first, last + 1)

            def shares(u):
                f = np.exp(u - u.max())
                return f / f.sum()

            def convexity(u):
                return np.diff(np.exp(r * (u - u.mean())), 2)

            constraints = [{"type": "ineq", "fun": lambda u, s=steps: mean * n_steps - shares(u) @ s}]
            if steps.size > 2:
                constraints.append({"type": "ineq", "fun": convexity})
            for _ in range(n_starts):
                found = minimize(
                    lambda u, s=steps: -shares(u)[s >= position].sum(),
                    -np.sort(rng.exponential(size=steps.size)),
                    constraints=constraints,
                    method="SLSQP",
                    options={"maxiter": 200, "ftol": 1e-12},
                )
                if all(np.min(c["fun"](found.x)) > -1e-7 for c in constraints):
                    best = max(best, -found.fun)
    return best


@pytest.mark.parametrize(("mean", "n_steps", "r"), [(0.1, 4, -0.5), (0.3, 5, -0.25), (0.45, 4, -0.5)])
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_the_r_concave_bound_is_that_of_an_optimiser(mean, n_steps, r):
    tails = largest_tails(mean, n_steps, r)
    assert tails[0] == 1.0
    rng = np.random.default_rng(0)
    for position in range(1, n_steps + 1):
        assert tails[position] == pytest.approx(r_concave_tail(mean, n_steps, r, position, rng), rel=1e-4)


def test_no_random_r_concave_distribution_is_above_the_bound():
    rng = np.random.default_rng(0)
    steps = np.arange(11) / 10
    for r in (-0.5, -0.25):
        for _ in range(60):
            # A convex function, as the largest of some lines, positive everywhere.
            lines = rng.normal(size=(4, 1)) * 3 * (steps - rng.random((4, 1))) + 0.1
            f = np.maximum(lines.max(axis=0), 0.05) ** (1 / r)
            f /= f.sum()
            tails = np.cumsum(f[::-1])[::-1]
            assert (tails <= largest_tails(f @ steps, 10, r) + 1e-7).all()


def test_bounds_by_hand():
    # q^2 / ((2 t - 1) m) = 100 / (0.8 * 200), and at most q / t and m.
    bound = false_selections_bound(10, 200, threshold=0.9, n_resamples=100)
    assert bound.worst_case == pytest.approx(0.625)
    # 4 (1 - 0.9 + 1/100) / (1 + 1/50) q^2 / m
    assert bound.unimodal == pytest.approx(4 * 0.11 / 1.02 * 0.5)
    assert 0 < bound.r_concave < bound.unimodal and bound.smallest == bound.r_concave
    assert false_selections_bound(10, 200, threshold=0.5).worst_case == pytest.approx(20)
    assert false_selections_bound(200, 200, threshold=0.9).smallest == 200
    assert false_selections_bound(0, 200).smallest == 0
    all_thresholds = [bound.smallest for bound in bounds_by_threshold(10, 200, 50)]
    assert (np.diff(all_thresholds) <= 1e-9).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_selected": 11}, "n_selected=11 must be a number from 0 to the 10 features"),
        ({"n_features": 0}, "n_features=0 must be an integer"),
        ({"threshold": 1.5}, "threshold=1.5 must be"),
        ({"n_resamples": 5}, "n_resamples=5 must be an even integer"),
    ],
)
def test_bad_arguments_of_bounds(arguments, words):
    with pytest.raises(ValueError, match=words):
        false_selections_bound(**{"n_selected": 2, "n_features": 10, **arguments})


# -- halves -----------------------------------------------------------------------------------


def test_halves_are_complementary_and_stratified():
    codes = np.repeat([0, 1, 2], [40, 21, 3])
    first, second = draw_halves(codes, None, np.random.default_rng(0))
    assert np.array_equal(np.sort(np.concatenate([first, second])), np.arange(64))
    assert first.size == second.size == 32
    assert (np.abs(np.bincount(codes[first]) - np.bincount(codes[second])) <= 1).all()


def test_groups_are_never_split_and_vary():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 15, 100)
    codes = (groups % 2).astype(int)
    drawn = set()
    for seed in range(20):
        first, second = draw_halves(codes, groups, np.random.default_rng(seed))
        assert not set(groups[first]) & set(groups[second])
        assert first.size + second.size == 100 and min(first.size, second.size) >= 25
        drawn.add(tuple(first))
    assert len(drawn) > 15
    for labels in ([0, 0, 1, 1], [0, 0, 0, 1]):  # also where groups have no class in common
        first, second = draw_halves(np.array(labels), np.array([0, 0, 1, 1]), np.random.default_rng(0))
        assert first.size == second.size == 2


# -- stability --------------------------------------------------------------------------------


def test_frequencies_are_counts_over_disjoint_halves():
    X, y = data()
    selector = StabilitySelector(LassoK(3), 20, threshold=0.8, random_state=0).fit(X, y)
    assert selector.frequency_[[1, 7]].tolist() == [1.0, 1.0]
    assert selector.mean_selected_ == 3.0 == pytest.approx(selector.frequency_.sum())
    assert (selector.simultaneous_ <= selector.frequency_).all()
    assert (selector.simultaneous_ >= 2 * selector.frequency_ - 1 - 1e-12).all()
    np.testing.assert_array_equal(selector.support_, selector.frequency_ >= 0.8)
    assert selector.bounds_ == false_selections_bound(3, 12, threshold=0.8, n_resamples=20)
    assert selector.false_selections_bound_ == selector.bounds_.smallest
    StabilitySelector(Columns(), 10, random_state=0).fit(X, y)
    pairs = [np.concatenate(Columns.rows[i : i + 2]) for i in range(0, 10, 2)]
    assert len(pairs) == 5 and all(np.array_equal(np.sort(pair), np.sort(X[:, 0])) for pair in pairs)


def test_a_threshold_between_two_frequencies_counts_as_the_higher():
    X, y = data()
    selector = StabilitySelector(LassoK(3), 10, threshold=0.81, random_state=0).fit(X, y)
    assert selector.bounds_ == false_selections_bound(3, 12, threshold=0.9, n_resamples=10)


@pytest.mark.parametrize("assumption", ["none", "unimodal", "r-concave"])
def test_the_automatic_threshold_is_the_lowest_that_keeps_to_the_bound(assumption):
    X, y = data(m=40)
    selector = StabilitySelector(
        LassoK(3), 50, threshold="auto", max_false=0.3, assumption=assumption, random_state=0
    )
    selector.fit(X, y)
    names = ["worst_case", "unimodal", "r_concave"]
    names = names[: ["none", "unimodal", "r-concave"].index(assumption) + 1]

    def bound(threshold):
        bounds = false_selections_bound(3, 40, threshold=threshold)
        return min(getattr(bounds, name) for name in names)

    assert selector.false_selections_bound_ == bound(selector.threshold_) <= 0.3
    assert bound(selector.threshold_ - 0.02) > 0.3
    assert selector.get_support(indices=True).tolist() == [1, 7]


def test_no_threshold_is_high_enough():
    X, y = data()
    selector = StabilitySelector(LassoK(9), 4, threshold="auto", max_false=0.01, random_state=0)
    with pytest.warns(
        UserWarning, match="No threshold keeps the bound on false selections to max_false=0.01"
    ):
        selector.fit(X, y)
    assert not selector.support_.any() and selector.threshold_ == np.inf
    assert selector.false_selections_bound_ == 0


def test_nothing_is_stable():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 40)), rng.normal(size=60)
    with pytest.warns(UserWarning, match="No feature is stable: the highest selection frequency"):
        selector = StabilitySelector(SelectKBest(f_regression, k=1), 20, 1.0, random_state=0).fit(X, y)
    assert not selector.support_.any()


@pytest.mark.parametrize(
    "selector",
    [
        SelectKBest(f_regression, k=2),
        SelectFromModel(Lasso(0.3)),
        RFE(LinearRegression(), n_features_to_select=2),
        make_pipeline(StandardScaler(), SelectKBest(f_regression, k=2)),
        FeatureSelector(Pearson(), Ranking(), 2),
        MRMR(2),
        L1LSMI(2, n_restarts=1, n_basis=20),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_any_selector_is_made_stable(selector):
    X, y = data()
    fitted = StabilitySelector(selector, 6, threshold=0.8, random_state=0).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [1, 7]
    assert fitted.transform(X).shape == (120, 2)


def test_a_selector_without_target():
    X, _ = data()
    X[:, 3] = 0.0
    stable = StabilitySelector(VarianceThreshold(), 4, random_state=0).fit(X)
    assert stable.get_support(indices=True).tolist() == [j for j in range(12) if j != 3]


def test_half_samples_are_independent_of_jobs_and_calls():
    X, y = data()
    forest = SelectFromModel(RandomForestClassifier(5), max_features=2)
    found = [
        StabilitySelector(forest, 8, 0.5, random_state=3, n_jobs=n_jobs).fit(X, y > 0).frequency_
        for n_jobs in (None, 2, 3)
    ]
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])
    other = StabilitySelector(forest, 8, 0.5, random_state=4).fit(X, y > 0).frequency_
    assert not np.array_equal(found[0], other)


def test_random_states_differ_between_halves():
    seen = []
    X, y = data()
    selector = Columns(action=lambda self, _: seen.append(self.random_state), random_state=0)
    StabilitySelector(selector, 6, random_state=0).fit(X, y)
    assert len(set(seen)) == 6


def test_groups_stay_together_in_a_fit():
    X, y = data()
    groups = np.random.default_rng(0).integers(0, 20, 120)
    StabilitySelector(Columns(), 10, random_state=0).fit(X, y, groups=groups)
    label = dict(zip(X[:, 0], groups, strict=True))
    for i in range(0, 10, 2):
        first, second = ({label[value] for value in rows} for rows in Columns.rows[i : i + 2])
        assert not first & second


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_keep_their_names(frame):
    X, y = data()
    names = [f"column {j}" for j in range(12)]
    table = frame(dict(zip(names, X.T, strict=True)))
    target = np.where(y > 0, "yes", "no")
    stable = StabilitySelector(LassoK(2), 6, 0.9, random_state=0).fit(table, target)
    assert stable.get_feature_names_out().tolist() == ["column 1", "column 7"]
    discovered = KnockoffSelector(LassoK(), 0.5, random_state=0).fit(table, target)
    assert set(discovered.get_feature_names_out()) >= {"column 1", "column 7"}


def test_arrays_of_any_library(library):
    X, y = data()
    stable = StabilitySelector(LassoK(2), 6, 0.9, random_state=0)
    expected = clone(stable).fit(X, y).frequency_
    found = stable.fit(to_library(X, library), to_library(y, library)).frequency_
    np.testing.assert_array_equal(found, expected)


# -- limits and interruptions -----------------------------------------------------------------


def test_a_time_limit_uses_the_finished_pairs():
    X, y = data()
    selector = StabilitySelector(
        Columns(action=lambda *_: time.sleep(0.02)), 200, time_limit=0.1, random_state=0
    )
    with pytest.warns(ConvergenceWarning, match="The time limit was reached: the .* of 200 half-samples"):
        selector.fit(X, y)
    assert 2 <= selector.n_resamples_ < 50 and selector.frequency_[0] == 1.0
    assert selector.bounds_ == false_selections_bound(1, 12, n_resamples=selector.n_resamples_)


def _interrupt(_, n_fits, after=7):
    if n_fits == after:
        raise KeyboardInterrupt


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_interruption_uses_the_finished_pairs(n_jobs):
    X, y = data()

    def fit(_, n_fits):
        if n_fits == 7:
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.05)

    selector = StabilitySelector(Columns(action=fit), 40, random_state=0, n_jobs=n_jobs)
    with pytest.warns(ConvergenceWarning, match="The fit was interrupted: the .* of 40 half-samples"):
        selector.fit(X, y)
    assert selector.n_resamples_ in (2, 4, 6) and selector.support_.tolist() == [True] + 11 * [False]


def test_an_interruption_before_the_first_pair_is_raised():
    X, y = data()
    selector = StabilitySelector(Columns(action=lambda *_: _interrupt(_, 7)), 10, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        selector.fit(X, y)
    assert not hasattr(selector, "support_")


def test_a_search_that_was_interrupted_is_no_finished_half():
    X, y = data()

    def fit(self, n_fits):
        # As a selector of this package does, which returns the best set until Ctrl-C.
        self.stop_reason_ = StopReason.INTERRUPTED if n_fits == 5 else StopReason.AGREED

    selector = StabilitySelector(Columns(action=fit), 10, random_state=0)
    with pytest.warns(ConvergenceWarning, match="interrupted: the 4 of 10"):
        selector.fit(X, y)


def test_progress_is_shown(capfd, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rich.console", None)
    X, y = data()
    StabilitySelector(LassoK(2), 4, random_state=0, verbose=1).fit(X, y)
    permutation_test(Pearson(), X, y, n_permutations=3, random_state=0, verbose=1)
    out, err = capfd.readouterr()
    assert out == "" and "pair 2 of at most 2" in err and "permutation 3 of at most 3" in err


# -- the scikit-learn contract ----------------------------------------------------------------

CONTRACT = {
    "StabilitySelector": StabilitySelector(SelectKBest(k=1), 4, random_state=0),
    "StabilitySelector, LassoK": StabilitySelector(LassoK(), 2, random_state=0),
    "KnockoffSelector": KnockoffSelector(SelectKBest(k=1), 0.5, offset=0, random_state=0),
    "KnockoffSelector, LassoK": KnockoffSelector(LassoK(), n_draws=2, random_state=0),
}


@pytest.mark.parametrize("name", CONTRACT)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
def test_scikit_learn_contract(name):
    results = estimator_checks.check_estimator(clone(CONTRACT[name]), on_skip=None)
    assert len(results) > 30
    assert {result["status"] for result in results} <= {"passed", "skipped"}


@pytest.mark.parametrize("name", CONTRACT)
@pytest.mark.parametrize(
    "check",
    [
        "check_dataframe_column_names_consistency",
        "check_get_feature_names_out_error",
        "check_param_validation",
        "check_set_output_transform_pandas",
        "check_set_output_transform_polars",
        "check_transformer_get_feature_names_out",
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
def test_checks_that_check_estimator_leaves_out(name, check):
    selector = clone(CONTRACT[name])
    assert getattr(estimator_checks, check)(type(selector).__name__, selector) is None


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        (StabilitySelector(LassoK(), 5), "n_resamples=5 must be an even integer, at least 2"),
        (StabilitySelector(LassoK), "selector is the class LassoK: pass an instance of a selector"),
        (
            StabilitySelector(LinearRegression(), 2),
            "LinearRegression, which has no get_support: pass a selector",
        ),
        (
            StabilitySelector(
                make_pipeline(SelectKBest(f_regression, k=3), SelectKBest(f_regression, k=1)), 2
            ),
            "selector selects among 3 columns, but X has 12: leave out the steps",
        ),
        (StabilitySelector(LassoK(), threshold=1.5), "'threshold' parameter .* Got 1.5 instead"),
        (KnockoffSelector(LassoK), "selector is the class LassoK"),
        (KnockoffSelector(Columns()), "Columns, which has neither weights_ nor scores_ nor an estimator_"),
        (KnockoffSelector(LassoK(), knockoffs=np.zeros((120, 3))), "knockoffs has shape .120, 3., but X has"),
        (
            KnockoffSelector(LassoK(), knockoffs=lambda X, rng: X[:5]),
            "knockoffs returns an array of shape .5, 12., but X has",
        ),
        (
            KnockoffSelector(LassoK(), knockoffs=np.ones((120, 12)), n_draws=2),
            "n_draws=2 is given, but knockoffs is an array",
        ),
        (KnockoffSelector(SelectKBest(), statistic="sizes"), "statistic='sizes' needs a selector with"),
        (
            KnockoffSelector(LassoK(), statistic=lambda fitted: fitted.scores_[:4]),
            "statistic has shape .4,., but there are 24 columns",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_parameters(selector, words):
    assert_refused(selector, *data(), words)


def test_bad_data():
    X, y = data()
    for selector in (StabilitySelector(LassoK(2), 2), KnockoffSelector(LassoK(2))):
        assert_refused(selector, X, y[:-1], "X has 120 rows, y has 119")
        assert_refused(selector, np.where(X > 3, np.nan, X) * np.inf, y, "Input X contains")
        assert_refused(selector, X, None, "requires y to be passed")
    stable = StabilitySelector(LassoK(2), 2)
    with pytest.raises(ValueError, match=r"groups has shape \(3,\), but there are 120 rows"):
        stable.fit(X, y, groups=[1, 2, 3])
    with pytest.raises(ValueError, match="groups has one group only"):
        stable.fit(X, y, groups=np.zeros(120))


# -- permutation test -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "measure", [Pearson(), HSIC(), SquaredMutualInformation(n_basis=10, cv=2, sigma_factors=(1.0,))]
)
def test_dependence_is_found_and_the_score_is_that_of_the_measure(measure):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 1] + 0.3 * X[:, 2]
    test = permutation_test(measure, X, y, n_permutations=19, random_state=0)
    assert test.p_value == 1 / 20 and test.null.shape == (19,) and (test.null < test.score).all()
    if not isinstance(measure, SquaredMutualInformation):  # which draws folds and centres
        assert test.score == pytest.approx(measure.score(X, y))
    again = permutation_test(measure, X, y, n_permutations=19, random_state=0, n_jobs=2)
    assert again.score == test.score and np.array_equal(again.null, test.null)


@pytest.mark.parametrize("stop_after", [None, 5])
def test_p_values_are_valid_under_independence(stop_after):
    p_values, uniform = [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
        test = permutation_test(Pearson(), X, y, n_permutations=19, stop_after=stop_after, random_state=seed)
        p_values.append(test.p_value)
        uniform.append(test.p_value - rng.random() / 20)  # a p-value is one of 20 numbers
    for level in (0.05, 0.1, 0.25, 0.5):
        assert np.mean(np.array(p_values) <= level + 1e-9) <= level + 2.5 * np.sqrt(level * (1 - level) / 300)
    if stop_after is None:
        assert kstest(uniform, "uniform").pvalue > 0.01


def test_p_values_by_hand():
    # All 6 orders of three targets are equally likely; two of them have this score or more.
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.1, 1.1, 2.1])
    test = permutation_test(Pearson(), X, y, n_permutations=2000, random_state=0)
    assert test.p_value == pytest.approx(1 / 3, abs=0.03)
    assert test.p_value == (1 + np.sum(test.null > 1 - 1e-9)) / 2001
    early = permutation_test(Pearson(), X, y, n_permutations=2000, stop_after=10, random_state=0)
    assert early.p_value == 10 / early.null.size
    np.testing.assert_array_equal(early.null, test.null[: early.null.size])


def test_rows_of_groups_are_exchanged_as_said():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(6), [2, 3, 2, 3, 2, 4])[rng.permutation(16)]
    values = np.arange(16.0)
    for _ in range(20):
        found = _permutations(values, groups, "groups")(rng)
        assert sorted(found) == list(range(16))
        for group in range(6):
            rows = np.flatnonzero(groups == group)
            # The targets of one group of the same size, in their order.
            assert np.array_equal(found[rows], np.flatnonzero(groups == groups[found[rows[0]]]))
        within = _permutations(values, groups, "within")(rng)
        assert np.array_equal(groups[within], groups) and sorted(within) == list(range(16))
        labels = np.array([3.0, 1.0, 4.0, 1.5, 9.0, 2.6])
        whole = labels[groups][_permutations(labels[groups], groups, "groups")(rng)]
        assert sorted(whole[groups == group][0] for group in range(6)) == sorted(labels)
        assert all(np.unique(whole[groups == group]).size == 1 for group in range(6))


def test_groups_make_the_test_valid_where_rows_would_not():
    p_rows, p_groups = [], []
    groups = np.repeat(np.arange(12), 5)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        # Rows of a group resemble each other, in X and in y, which are independent.
        X = rng.normal(size=(12, 1))[groups] + 0.1 * rng.normal(size=(60, 1))
        y = rng.normal(size=12)[groups] + 0.1 * rng.normal(size=60)
        options = {"n_permutations": 19, "random_state": seed}
        p_rows.append(permutation_test(Pearson(), X, y, **options).p_value)
        p_groups.append(permutation_test(Pearson(), X, y, groups=groups, **options).p_value)
    assert np.mean(np.array(p_rows) <= 0.1) > 0.3
    assert np.mean(np.array(p_groups) <= 0.1) < 0.1 + 2.5 * np.sqrt(0.09 / 100)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"measure": HSIC}, "measure is the class HSIC: pass an instance"),
        ({"n_permutations": 0}, "n_permutations=0 must be an integer, at least 1"),
        ({"stop_after": 1.5}, "stop_after=1.5 must be an integer"),
        ({"groups": [0, 1]}, r"groups has shape \(2,\), but there are 20 rows"),
        ({"groups": np.repeat([0, 1], 10), "exchange": "some"}, "exchange='some' is not known"),
        ({"groups": np.repeat([0, 1], [9, 11])}, "groups has no two groups of the same size"),
        (
            {"groups": np.repeat([0, 1], 10), "y": np.repeat([0, 1], 10), "exchange": "within"},
            "exchange='within' leaves y as it is",
        ),
    ],
)
def test_bad_arguments_of_the_permutation_test(arguments, words):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match=words) as caught:
        permutation_test(**{"measure": Pearson(), "X": X, "y": X[:, 0], "n_permutations": 5, **arguments})
    assert "\n" not in str(caught.value)


# -- knockoffs --------------------------------------------------------------------------------


def autoregressive(n, m, rho, rng):
    X = rng.normal(size=(n, m))
    for j in range(1, m):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


def test_distances_minimise_the_reconstructability():
    correlation = 0.6 ** np.abs(np.subtract.outer(np.arange(6), np.arange(6)))

    def objective(s):
        return (1 / s).sum() + np.trace(np.linalg.inv(2 * correlation - np.diag(s)))

    s = least_reconstructable(correlation)
    assert np.linalg.eigvalsh(2 * correlation - np.diag(s)).min() > 0
    found = minimize(
        objective, equicorrelated(correlation) / 2, method="Nelder-Mead", options={"maxiter": 9000}
    )
    assert objective(s) <= found.fun * (1 + 1e-5)
    assert objective(s) < 0.95 * objective(equicorrelated(correlation) * 0.95)
    # Independent columns: 1/s + 1/(2 - s) is smallest at 1.
    np.testing.assert_allclose(least_reconstructable(np.eye(4)), 1.0, rtol=1e-6)


def test_covariances_do_not_change_if_columns_are_exchanged_for_knockoffs():
    rng = np.random.default_rng(0)
    z = autoregressive(20_000, 5, 0.6, rng)
    z = (z - z.mean(axis=0)) / z.std(axis=0)
    knockoffs = draw_gaussian(z, rng)
    correlation, s = correlation_of(z), least_reconstructable(correlation_of(z))
    joint = np.cov(np.hstack([z, knockoffs]).T)
    off = correlation - np.diag(s)
    np.testing.assert_allclose(joint, np.block([[correlation, off], [off, correlation]]), atol=0.04)


def test_copula_knockoffs_keep_distributions():
    rng = np.random.default_rng(0)
    z = autoregressive(3000, 5, 0.5, rng)
    X = np.column_stack([z[:, 0] ** 3, z[:, 1] > 1, np.round(np.exp(z[:, 2])), np.full(3000, 7.0), z[:, 4]])
    knockoffs = draw_knockoffs(X, "copula", rng)
    assert set(knockoffs[:, 1]) == {0.0, 1.0} and set(knockoffs[:, 2]) <= set(X[:, 2])
    assert (knockoffs[:, 3] == 7.0).all()
    for j in (0, 1, 2, 4):
        levels = np.quantile(X[:, j], [0.1, 0.3, 0.5, 0.7, 0.9])
        shares = [(column[:, None] <= levels).mean(axis=0) for column in (X[:, j], knockoffs[:, j])]
        np.testing.assert_allclose(*shares, atol=0.04)
    assert (np.abs(np.mean(knockoffs == X, axis=0)[[0, 4]]) < 0.01).all()


def test_knockoffs_of_rounded_columns_are_related_to_others_as_the_columns_are():
    rng = np.random.default_rng(0)
    z = autoregressive(4000, 6, 0.7, rng)
    X = np.where(np.arange(6) % 2, z > 0.5, np.round(np.exp(z)))
    X[:, 5] = z[:, 5]
    knockoffs = draw_knockoffs(X, "copula", rng)
    between = np.corrcoef(np.hstack([X, knockoffs]).T)
    apart = ~np.eye(6, dtype=bool)
    np.testing.assert_allclose(between[:6, 6:][apart], between[:6, :6][apart], atol=0.07)
    np.testing.assert_allclose(between[6:, 6:][apart], between[:6, :6][apart], atol=0.07)


def test_the_knockoff_filter_by_hand():
    statistics = np.array([5.0, 4.0, 3.0, -2.0, 2.0, 1.0, 0.0])
    # At 3: (1 + 0) / 3; at 2: (1 + 1) / 4; at 1: 2 / 5.
    assert knockoff_threshold(statistics, 1 / 3, 1) == 3.0
    assert knockoff_threshold(statistics, 0.4, 1) == 1.0
    assert knockoff_threshold(statistics, 0.3, 1) == np.inf
    assert knockoff_threshold(statistics, 0.2, 0) == 1.0
    assert knockoff_threshold(np.zeros(3), 0.9, 0) == np.inf


@pytest.mark.parametrize(
    "selector",
    [
        LassoK(),
        SelectKBest(f_regression),
        SelectFromModel(Lasso(0.05)),
        RFE(LinearRegression(), n_features_to_select=14),
        Lasso(0.05),
        FeatureSelector(HSIC(), Ranking()),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_any_selector_with_weights_or_scores(selector):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    y = X[:, :8].sum(axis=1) + 0.5 * rng.normal(size=300)
    found = KnockoffSelector(selector, 0.2, random_state=0).fit(X, y)
    assert found.support_[:8].sum() >= 7 and found.support_.sum() <= 11
    assert found.statistics_.shape == (1, 20) and found.knockoffs_.shape == (300, 20)
    np.testing.assert_array_equal(found.support_, found.statistics_[0] >= found.threshold_[0])


def test_statistics_of_several_classes_and_of_a_function():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    y = np.digitize(X[:, :6].sum(axis=1), [-1.5, 1.5])
    for statistic in ("scores", lambda fitted: np.abs(fitted.coef_).max(axis=0)):
        found = KnockoffSelector(LogisticRegression(), 0.25, statistic=statistic, random_state=0).fit(X, y)
        assert found.support_[:6].all()
    frequent = KnockoffSelector(SelectKBest(k=6), 0.25, statistic="frequency", random_state=0).fit(X, y)
    assert frequent.support_[:6].all()


def test_interactions_are_discovered():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 4] * X[:, 5] + 0.3 * rng.normal(size=400)
    found = KnockoffSelector(L1LSMI(8, n_restarts=1, n_basis=50), 0.25, random_state=0).fit(X, y)
    assert found.support_[:6].all() and found.support_.sum() <= 7


def test_features_and_knockoffs_are_treated_alike():
    """With copies as knockoffs, ties go to neither; the order of columns does not matter to the sign."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 10)), rng.normal(size=80)
    with pytest.warns(UserWarning, match="No feature is selected"):
        copies = KnockoffSelector(SelectKBest(f_regression), 0.5, knockoffs=X, random_state=0).fit(X, y)
    assert not copies.statistics_.any()

    class First(Columns):
        def fit(self, X, y):
            self.scores_ = np.arange(X.shape[1], 0.0, -1.0)  # prefers columns on the left
            return self

    signs = []
    for seed in range(60):
        with pytest.warns(UserWarning, match="No feature is selected"):
            found = KnockoffSelector(First(), 0.01, random_state=seed).fit(X, y)
        signs.append(np.sign(found.statistics_[0]))
    assert abs(np.mean(signs)) < 3 / np.sqrt(600)


@pytest.mark.parametrize("design", ["correlated", "heavy"])
@pytest.mark.filterwarnings("ignore:No feature is selected")
def test_the_false_discovery_rate_is_kept(design):
    shares, found_true = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = autoregressive(200, 20, 0.6, rng) if design == "correlated" else rng.standard_t(2, (200, 20))
        true = rng.choice(20, 7, replace=False)
        y = np.clip(X[:, true], -3, 3).sum(axis=1) + 2 * rng.normal(size=200)
        selected = KnockoffSelector(LassoK(), 0.25, random_state=seed).fit(X, y).support_
        shares.append((selected.sum() - selected[true].sum()) / max(1, selected.sum()))
        found_true.append(selected[true].mean())
    assert np.mean(shares) <= 0.25 + 2 * np.std(shares) / np.sqrt(60)
    assert np.mean(found_true) > 0.6


@pytest.mark.filterwarnings("ignore:No feature is selected")
def test_the_false_discovery_rate_is_kept_with_counts_and_binary_columns():
    """By correlations of single columns, which neighbours of those that matter have, too."""
    shares = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        z = autoregressive(200, 24, 0.7, rng)
        X = np.where(np.arange(24) % 3 == 0, z > 0.5, z)
        X[:, 1::3] = np.round(np.exp(z[:, 1::3]))
        true = rng.choice(24, 8, replace=False)
        y = X[:, true] @ (rng.choice([-1, 1], 8) / X[:, true].std(axis=0)) + 2 * rng.normal(size=200)
        selector = KnockoffSelector(FeatureSelector(Pearson(), Ranking()), 0.25, random_state=seed)
        selected = selector.fit(X, y).support_
        shares.append((selected.sum() - selected[true].sum()) / max(1, selected.sum()))
    assert np.mean(shares) <= 0.25 + 2 * np.std(shares) / np.sqrt(60)


@pytest.mark.filterwarnings("ignore:No feature is selected")
def test_signs_of_the_statistics_are_fair_without_dependence():
    positive = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = autoregressive(100, 10, 0.6, rng), rng.normal(size=100)
        found = KnockoffSelector(LassoK(), random_state=seed).fit(X, y)
        positive.append(np.mean(found.statistics_[0] > 0))
    assert abs(np.mean(positive) - 0.5) < 3 * np.std(positive) / np.sqrt(60)


def test_several_draws_and_jobs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    y = X[:, :10].sum(axis=1) + 0.5 * rng.normal(size=300)
    found = [
        KnockoffSelector(LassoK(), 0.25, n_draws=4, random_state=0, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (None, 2)
    ]
    np.testing.assert_array_equal(found[0].statistics_, found[1].statistics_)
    assert found[0].support_[:10].all() and found[0].statistics_.shape == (4, 20)
    # The procedure of Benjamini and Hochberg, written out.
    e_values = found[0].e_values_
    most = max((k for k in range(1, 21) if np.sort(e_values)[-k] >= 20 / (0.25 * k) - 1e-9), default=0)
    assert found[0].support_.sum() == most
    for draw, threshold in zip(found[0].statistics_, found[0].threshold_, strict=True):
        assert threshold == knockoff_threshold(draw, 0.125, 1)


def test_an_interruption_of_knockoffs_is_raised():
    X, y = data()
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    selector = Columns(action=lambda *_: (timer.start(), time.sleep(5)))
    with pytest.raises(KeyboardInterrupt):
        KnockoffSelector(selector, statistic="scores").fit(X, y)
