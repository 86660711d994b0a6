"""Knockoffs, and selection with them."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, f_regression
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression

from l1lsmi import L1LSMI, FeatureSelector
from l1lsmi.baselines import LassoK
from l1lsmi.inference import (
    KnockoffSelector,
)
from l1lsmi.inference._gaussian import (
    correlation_of,
    draw_gaussian,
    draw_knockoffs,
    equicorrelated,
    least_reconstructable,
)
from l1lsmi.inference.knockoffs import knockoff_threshold
from l1lsmi.measures import HSIC, Pearson
from l1lsmi.strategies import Ranking
from tests.test_inference import Columns, data


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


@pytest.mark.parametrize("kind", ["copula", "gaussian"])
@pytest.mark.parametrize("scale", [np.finfo(np.float64).max, 1e-300])
def test_knockoffs_of_values_of_any_size(kind, scale):
    X = np.random.default_rng(0).uniform(-1, 1, size=(40, 3))
    knockoffs = draw_knockoffs(X * scale, kind, np.random.default_rng(1))
    assert np.isfinite(knockoffs).all()
    expected = draw_knockoffs(X, kind, np.random.default_rng(1))
    inside = np.abs(expected) < 1
    np.testing.assert_allclose((knockoffs / scale)[inside], expected[inside], atol=1e-6)


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
