"""Selectors of stable features and with knockoffs: halves, weights, limits, the contract."""

import os
import signal
import time
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, VarianceThreshold, f_regression
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi.baselines import MRMR, LassoK
from l1lsmi.inference import (
    KnockoffSelector,
    StabilitySelector,
    false_selections_bound,
    permutation_test,
)
from l1lsmi.inference._halves import draw_halves
from l1lsmi.measures import Pearson
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
        UserWarning, match="No threshold has a bound on false selections of at most max_false=0.01"
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


@pytest.mark.parametrize("selector", [LassoK(2), L1HSIC(2, n_restarts=1)])
def test_rows_of_weight_zero_are_left_out_of_halves(selector):
    X, y = data()
    weights = np.random.default_rng(1).integers(0, 3, 120)
    stability = StabilitySelector(selector, 6, random_state=0)
    weighted = clone(stability).fit(X, y, sample_weight=weights, groups=np.arange(120) // 2)
    kept = weights > 0
    groups = (np.arange(120) // 2)[kept]
    fewer = clone(stability).fit(X[kept], y[kept], sample_weight=weights[kept], groups=groups)
    assert (weighted.frequency_ == fewer.frequency_).all()


def two_populations():
    """Rows in which the target is one column, followed by rows in which it is another."""
    X = np.random.default_rng(0).normal(size=(240, 12))
    return X, np.where(np.arange(240) < 120, X[:, 0], X[:, 1]), np.where(np.arange(240) < 120, 1.0, 1e-3)


def test_weights_decide_which_rows_count():
    X, y, weights = two_populations()
    for given, feature in ((weights, 0), (weights[::-1], 1)):
        stable = StabilitySelector(LassoK(1), 10, random_state=0).fit(X, y, sample_weight=given)
        assert stable.get_support(indices=True).tolist() == [feature]
        for statistic in ("sizes", "scores", "frequency"):
            selector = KnockoffSelector(LassoK(1), statistic=statistic, random_state=0)
            with pytest.warns(UserWarning, match="No feature is selected"):
                selector.fit(X, y, sample_weight=given)
            assert selector.statistics_[0].argmax() == feature


@pytest.mark.parametrize("make", [StabilitySelector, KnockoffSelector])
def test_weights_that_the_selector_does_not_take(make):
    X, y, weights = two_populations()
    with pytest.raises(ValueError, match="sample_weight is given, but fit of SelectKBest does not take it"):
        make(SelectKBest(k=1)).fit(X, y > 0, sample_weight=weights)
    with pytest.raises(ValueError, match="covariates is given, but fit of LassoK does not take it"):
        make(LassoK(1)).fit(X, y, covariates=weights)
    with pytest.raises(ValueError, match=r"covariates has shape \(3,\), but X has 240 rows"):
        make(L1HSIC(1)).fit(X, y, covariates=weights[:3])
    with pytest.raises(ValueError, match=r"sample_weight is negative, first -1\.0 in row 0"):
        make(LassoK(1)).fit(X, y, sample_weight=-weights)


@pytest.mark.parametrize("make", [StabilitySelector, KnockoffSelector])
@pytest.mark.filterwarnings("ignore:No feature is selected")
def test_parameters_of_fit_are_routed(make):
    X, y, weights = two_populations()
    direct = make(LassoK(1), random_state=0).fit(StandardScaler().fit_transform(X), y, sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        selector = make(LassoK(1).set_fit_request(sample_weight=True), random_state=0)
        routed = make_pipeline(scaler, selector).fit(X, y, sample_weight=weights)[-1]
    for name in ("support_", "frequency_", "statistics_"):
        assert np.array_equal(getattr(routed, name, None), getattr(direct, name, None))


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
    with pytest.warns(ConvergenceWarning, match="interrupted: the result is from the 4 of 10"):
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
        (KnockoffSelector(Columns()), "Columns, which has no weights_, scores_, feature_importances_ or"),
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
        assert_refused(selector, X, y[:-1], "X has 120 rows, but y has 119")
        assert_refused(selector, np.where(X > 3, np.nan, X) * np.inf, y, "Input X contains")
        assert_refused(selector, X, None, "requires y to be passed")
    stable = StabilitySelector(LassoK(2), 2)
    with pytest.raises(ValueError, match=r"groups has shape \(3,\), but there are 120 rows"):
        stable.fit(X, y, groups=[1, 2, 3])
    with pytest.raises(ValueError, match="groups has one group only"):
        stable.fit(X, y, groups=np.zeros(120))
