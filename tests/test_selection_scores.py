"""How well models predict held-out rows with the selected features."""

import sys
from itertools import chain
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import balanced_accuracy_score, log_loss, r2_score, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from l1lsmi import L1LSMI, FeatureSelector
from l1lsmi.baselines import MRMR, LassoK
from l1lsmi.evaluation import Estimate, SelectionScores, SetScores, selection_scores
from l1lsmi.evaluation._metrics import class_metrics, number_metrics, of_overlapping_folds
from l1lsmi.evaluation._models import predict_rows
from l1lsmi.evaluation._words import how_tested, model_sentences, shown
from l1lsmi.evaluation.selection_scores import quick_copy
from l1lsmi.measures import Pearson
from l1lsmi.strategies import Ranking


def data(n=160, m=6, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, m))
    return X, X[:, 0] - X[:, 1] + 0.3 * np.random.default_rng(seed + 1).normal(size=n)


RANKING = FeatureSelector(Pearson(), Ranking(), 2)


class Recorder(BaseEstimator):
    """Selects the first column, and records the rows that it was given."""

    seen: ClassVar[list] = []

    def fit(self, X, y, sample_weight=None):
        Recorder.seen.append((X[:, 0].tolist(), None if sample_weight is None else list(sample_weight)))
        self.n_ = X.shape[1]
        return self

    def get_support(self):
        return np.arange(self.n_) == 0


# -- metrics ----------------------------------------------------------------------------------


def test_metrics_of_classes_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200)
    share = np.clip(truth * 0.3 + rng.random(200) * 0.7, 0.01, 0.99)
    scores, folds = np.column_stack([1 - share, share]), np.arange(200) % 5
    found = class_metrics(truth, (share > 0.5).astype(int), scores, True, folds)
    assert found["error rate"].value == np.mean((share > 0.5) != truth)
    assert found["balanced accuracy"].value == pytest.approx(balanced_accuracy_score(truth, share > 0.5))
    one_fold = np.zeros(200, dtype=int)
    areas = [class_metrics(truth, truth, scores, True, some)["AUC"].value for some in (one_fold, folds)]
    assert areas[0] == pytest.approx(roc_auc_score(truth, share))
    pairs = [(truth[folds == f].sum() * (1 - truth[folds == f]).sum()) for f in range(5)]
    of_folds = [roc_auc_score(truth[folds == f], share[folds == f]) for f in range(5)]
    assert areas[1] == found["AUC"].value == pytest.approx(np.average(of_folds, weights=pairs))
    assert found["log loss"].value == pytest.approx(log_loss(truth, share))
    three = rng.integers(0, 3, 200)
    several = np.eye(3)[three] + rng.random((200, 3))
    area = class_metrics(three, several.argmax(axis=1), several, False, folds)["AUC"].value
    expected = roc_auc_score(three, several / several.sum(1, keepdims=True), multi_class="ovr")
    assert area == pytest.approx(expected, abs=0.02)
    assert "log loss" not in class_metrics(three, three, several, False, folds)


def test_constant_predictions_have_an_area_of_one_half_in_folds_that_differ():
    rng = np.random.default_rng(0)
    truth, folds = rng.integers(0, 3, 60), np.arange(60) % 4
    shares = np.array([np.bincount(truth[folds != f], minlength=3) / (folds != f).sum() for f in range(4)])
    found = class_metrics(truth, truth, shares[folds], True, folds)["AUC"]
    assert found.value == pytest.approx(0.5)
    # Groups of one class each have no pairs in any fold: all rows are compared.
    found = class_metrics(folds % 2, folds % 2, np.eye(2)[folds % 2], True, folds)["AUC"]
    assert found.value == 1


def test_gradient_boosting_does_not_fit_noise_and_leaves_out_tiny_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3_000, 3)), np.append(rng.choice(4, 2_999, p=[0.55, 0.25, 0.15, 0.05]), 4)
    found = predict_rows(None, X[:2_000], y[1_000:], X[2_000:], 5, rng)
    assert np.mean(found.values != y[:1_000]) < 0.5
    assert found.scores.shape == (1_000, 5) and found.scores[:, 4].max() == 0


def test_metrics_of_numbers_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=100)
    predicted = truth + 0.5 * rng.normal(size=100)
    found = number_metrics(truth, predicted, np.zeros(100, dtype=int))
    assert found["R²"].value == pytest.approx(r2_score(truth, predicted))
    assert found["root mean squared error"].value == pytest.approx(np.sqrt(np.mean((truth - predicted) ** 2)))
    assert found["mean absolute error"].value == pytest.approx(np.abs(truth - predicted).mean())


def test_the_standard_error_of_a_share_of_the_variance_is_that_of_repeated_draws():
    """Rows with large values enlarge the error and the variance alike, and say little about their ratio."""
    found, told, nothing = [], [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        effect, noise = rng.standard_t(5, size=(2, 400))
        folds = np.arange(400) % 5
        one = number_metrics(effect + noise, effect, folds)["R²"]
        found.append(one.value)
        told.append(one.standard_error)
        nothing.append(number_metrics(noise, np.full(400, noise.mean()), folds)["R²"].standard_error)
    assert np.mean(told) == pytest.approx(np.std(found), rel=0.35)
    assert np.max(nothing) < 1e-9


def test_standard_errors_are_those_of_repeated_draws():
    errors, told = [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 2, 100)
        score = truth + rng.normal(size=100)
        scores = np.column_stack([-score, score])
        found = class_metrics(truth, (score > 0.5).astype(int), scores, False, np.zeros(100, int))
        errors.append([found[name].value for name in ("error rate", "balanced accuracy", "AUC")])
        told.append([found[name].standard_error for name in ("error rate", "balanced accuracy", "AUC")])
    np.testing.assert_allclose(np.mean(told, axis=0), np.std(errors, axis=0), rtol=0.15)


def test_folds_that_differ_raise_the_standard_error():
    wrong, folds = np.repeat([1, 0, 0, 0], 50), np.repeat(np.arange(4), 50)
    even = class_metrics(np.zeros(200, int), np.tile([1, 0, 0, 0], 50), None, False, folds)
    uneven = class_metrics(np.zeros(200, int), wrong, None, False, folds)
    assert uneven["error rate"].value == even["error rate"].value
    assert uneven["error rate"].standard_error > 5 * even["error rate"].standard_error


def test_standard_errors_allow_for_no_errors_and_for_shared_training_rows():
    right = class_metrics(np.arange(40) % 2, np.arange(40) % 2, None, False, np.arange(40) % 4)
    assert right["error rate"].value == 0 and 0.02 < right["error rate"].standard_error < 0.03
    # Of four folds, each trains on three quarters of the rows: the variance is 1 + 4 / 3 times as large.
    larger = of_overlapping_folds(right, 40, 30)["error rate"]
    expected = right["error rate"].standard_error * np.sqrt(7 / 3)
    assert larger.value == 0 and larger.standard_error == pytest.approx(expected)


# -- models -----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [None, LogisticRegression(), LinearSVC(), KNeighborsClassifier()])
def test_any_classifier_predicts(model):
    X, y = data()
    found = selection_scores(RANKING, X, np.where(y > 0, "up", "down"), model=model)
    metrics = found.sets["selected"].metrics
    assert metrics["error rate"].value < 0.2 and metrics["AUC"].value > 0.9
    assert ("log loss" in metrics) == hasattr(model, "predict_proba")
    assert found.model == ("kernel ridge regression" if model is None else type(model).__name__)


def test_regression_in_the_units_of_the_target():
    X, y = data()
    found = selection_scores(RANKING, X, 1000 * y + 5000, model=LinearRegression())
    assert found.sets["selected"].metrics["root mean squared error"].value == pytest.approx(300, rel=0.2)
    assert found.sets["no features"].metrics["R²"].value == pytest.approx(0, abs=0.05)
    default = selection_scores(RANKING, X, 1000 * y + 5000)
    assert default.sets["selected"].metrics["root mean squared error"].value < 500


@pytest.mark.parametrize("unit", [1e-310, 1e-300, 1e307])
def test_targets_at_the_limits_of_floating_point(unit):
    X, y = data(60)
    expected = selection_scores(RANKING, X, y).sets["selected"].metrics
    found = selection_scores(RANKING, X, unit * y).sets["selected"].metrics
    for name, one in expected.items():
        factor = 1.0 if name == "R²" else unit
        assert found[name].value == pytest.approx(factor * one.value, rel=1e-2, abs=0)
        assert found[name].standard_error == pytest.approx(factor * one.standard_error, rel=1e-2, abs=0)


@pytest.mark.parametrize("value", [1e300, -1.7e308])
@pytest.mark.parametrize("with_text", [False, True])
def test_held_out_rows_far_from_all_others(value, with_text):
    X, y = data(60)
    X[0, 1] = value
    X[1:, 2] *= 1e-300
    X[1, 2] = 1e300
    X[:, 3] *= 1.7e308 / np.abs(X[:, 3]).max()
    frame = pd.DataFrame(X).add_prefix("x")
    found = selection_scores(RANKING, frame.assign(t=["u", "v"] * 30) if with_text else frame, y)
    for one in found.sets.values():
        assert one.failure is None and one.metrics["R²"].value < 1
        assert all(np.isfinite([of.value, of.standard_error]).all() for of in one.metrics.values())


def test_many_rows_are_boosted_and_one_fold_is_tested(monkeypatch):
    module = sys.modules[selection_scores.__module__]
    monkeypatch.setattr(module, "MANY_ROWS", 2_600)
    monkeypatch.setattr(module, "MAX_TESTED", 400)
    X, y = data(3_000, 4)
    found = selection_scores(RANKING, X, y > 0)
    assert (found.model, found.n_folds, found.n_train, found.n_tested) == ("gradient boosting", 1, 2_400, 400)
    assert "fitted on 2,400 rows, and tested on 400 others" in how_tested(found)
    assert found.sets["selected"].metrics["error rate"].value < 0.15


def test_classes_without_training_rows_have_scores():
    rng = np.random.default_rng(0)
    train, test, y = rng.normal(size=(30, 2)), rng.normal(size=(5, 2)), np.arange(30) % 2
    for model in (None, LogisticRegression(), LinearSVC(), RandomForestClassifier(5)):
        found = predict_rows(model, train, y, test, 3, rng)
        assert found.scores.shape == (5, 3) and (found.scores.argmax(axis=1) < 2).all()


# -- folds ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "n_folds"), [(100, 10), (200, 5)])
def test_every_row_is_held_out_once(n, n_folds):
    X, y = data(n)
    Recorder.seen.clear()
    found = selection_scores(Recorder(), X, y, fit_params={"sample_weight": X[:, 0]})
    assert (found.n_folds, found.n_tested, len(Recorder.seen)) == (n_folds, n, n_folds)
    held_out = [sorted(set(X[:, 0]) - set(rows)) for rows, _ in Recorder.seen]
    assert sorted(chain.from_iterable(held_out)) == sorted(X[:, 0])
    assert all(rows == weights for rows, weights in Recorder.seen)


def test_groups_are_never_split():
    X, y = data()
    groups = np.arange(160) // 8
    Recorder.seen.clear()
    selection_scores(Recorder(), X, y, groups=groups)
    of_row = dict(zip(X[:, 0], groups, strict=True))
    for rows, _ in Recorder.seen:
        seen = {of_row[value] for value in rows}
        assert len(rows) == 8 * len(seen)


def test_noise_is_not_better_than_a_guess():
    """The rows of a fold must not have been seen by the selection."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2_000)), np.arange(60) % 2
    found = selection_scores(FeatureSelector(Pearson(), Ranking(), 5), X, y)
    error = found.sets["selected"].metrics["error rate"]
    assert error.value > 0.5 - 2.5 * error.standard_error


def test_a_class_of_one_row_is_held_out():
    X, _ = data(60)
    found = selection_scores(L1LSMI(2, random_state=0), X, np.arange(60) == 7, rivals={"mRMR": MRMR(2)})
    assert found.sets["mRMR"].failure is None
    assert 1 / 60 <= found.sets["selected"].metrics["error rate"].value < 0.2


def test_rivals_and_failures():
    X, y = data()
    found = selection_scores(RANKING, X, y, rivals={"mRMR": MRMR(2), "Lasso": LassoK(2), "none": LassoK(99)})
    assert "99" in found.sets["none"].failure and found.sets["none"].metrics == {}
    assert found.best_rival in ("mRMR", "Lasso")
    with pytest.raises(ValueError, match="99"):
        selection_scores(LassoK(99), X, y)


def test_copies_for_folds_are_quick():
    X, y = data()
    chosen = L1LSMI("auto", n_restarts=5, verbose=0, random_state=0).fit(X, y)
    quick = quick_copy(chosen)
    assert (quick.n_features_to_select, quick.n_restarts, quick.p_value) == (2, 1, False)
    assert not hasattr(quick, "support_") and clone(chosen).n_restarts == 5


def test_categories_and_missing_values_reach_the_model():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"kind": rng.choice(list("abcd"), 200), "x": rng.normal(size=200)})
    y = np.isin(frame["kind"], ["a", "d"]).astype(int)
    frame.loc[::9, "x"] = np.nan
    found = selection_scores(L1LSMI(1, random_state=0), frame, y, model=LogisticRegression())
    assert found.sets["selected"].metrics["error rate"].value == 0


# -- words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "error", "metric", "text"),
    [
        (0.0837, 0.0214, "error rate", "8.4 ± 2.1 %"),
        (0.5, 0.061, "error rate", "50 ± 6 %"),
        (1234.5, 67.8, "mean absolute error", "1230 ± 70"),
        (0.00123, 0.000217, "mean absolute error", "0.00123 ± 0.00022"),
        (0.0, 0.0, "error rate", "0 ± 0 %"),
        (-0.0001, 0.02, "R²", "0.000 ± 0.020"),
        (float("nan"), 1.0, "R²", "unknown"),
    ],
)
def test_estimates_are_shown_with_the_digits_that_they_have(value, error, metric, text):
    assert shown(Estimate(value, error), metric) == text


def test_sentences_tell_the_errors():
    X, y = data()
    found = selection_scores(RANKING, X, y > 0, rivals={"mRMR": MRMR(2)})
    first, second = model_sentences(found, 6)
    told = [shown(found.sets[name].metrics["error rate"], "error rate") for name in found.sets]
    assert first.startswith(
        f"Kernel ridge regression with the selected features has an error rate of {told[0]}"
    )
    for words, number in zip(
        ("all 6 features", "without features", "the features of mRMR"), told[1:], strict=True
    ):
        assert f"{words} {number}" in first
    assert second.startswith("With the selected features, balanced accuracy is ") and "AUC" in second
    assert how_tested(found).startswith("In each of 5 folds")


@pytest.mark.parametrize(
    ("of_all", "of_rival", "sentences"),
    [
        ((0.2, 0.8), (0.21, 0.8), []),
        ((0.2, 0.8), (0.1, 0.9), ["With the features of mRMR, the error rate is clearly lower."]),
        (
            (0.19, 0.95),  # the errors of 20 % and 19 % do not differ clearly, the AUC does
            (0.2, 0.7),
            ["With all 50 features, the AUC is clearly higher, 0.950 ± 0.010: more features may be needed."],
        ),
        ((0.3, 0.5), (0.3, 0.5), []),
    ],
)
def test_a_sentence_says_where_other_features_are_clearly_better(of_all, of_rival, sentences):
    def scores(name, error, auc):
        metrics = {"error rate": Estimate(error, 0.01), "AUC": Estimate(auc, 0.01)}
        return SetScores(name, 3, metrics, None)

    sets = [scores("selected", 0.2, 0.8), scores("all features", *of_all), scores("mRMR", *of_rival)]
    found = SelectionScores(
        "classification", "error rate", "a model", {one.name: one for one in sets}, 90, 60, 90, 5
    )
    assert model_sentences(found, 50)[2:] == sentences


@pytest.mark.parametrize(
    ("metrics", "without", "words"),
    [
        ({"error rate": 0.3, "AUC": 0.5}, {"error rate": 0.25, "AUC": 0.5}, "no better with the selected"),
        ({"error rate": 0.05, "AUC": 0.8}, {"error rate": 0.05, "AUC": 0.5}, None),  # a rare class
        (
            {"root mean squared error": 1.1, "R²": -0.2},
            {"root mean squared error": 1.0, "R²": 0.0},
            "no better",
        ),
        (
            {"root mean squared error": 0.01, "R²": 0.9999},
            {"root mean squared error": 1.0, "R²": 0.0},
            "exactly",
        ),
        ({"root mean squared error": 0.5, "R²": 0.75}, {"root mean squared error": 1.0, "R²": 0.0}, None),
    ],
)
def test_a_sentence_says_where_a_model_is_useless_or_too_good(metrics, without, words):
    sets = {
        name: SetScores(name, 3, {metric: Estimate(value, 0.01) for metric, value in values.items()}, None)
        for name, values in (("selected", metrics), ("no features", without))
    }
    found = SelectionScores("classification", next(iter(metrics)), "a model", sets, 90, 60, 90, 5)
    told = model_sentences(found, 50)[2:]
    assert (words is None and told == []) or (words is not None and len(told) == 1 and words in told[0])


# -- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (RandomForestClassifier, "model is the class RandomForestClassifier: pass an estimator"),
        ("forest", "model is 'forest': pass an estimator"),
        (LinearRegression(), "model=LinearRegression is a regressor, but the target needs a classifier"),
    ],
)
def test_bad_models_get_one_sentence(model, words):
    X, y = data()
    with pytest.raises(ValueError, match=words):
        selection_scores(RANKING, X, y > 0, model=model)


@pytest.mark.parametrize("make", [scipy.sparse.csr_array, scipy.sparse.coo_matrix])
def test_sparse_matrices_are_refused_in_a_sentence(make):
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match=r"^X is a sparse matrix, .*: pass X.toarray\(\)\.$"):
        selection_scores(MRMR(1), make(X), np.arange(20) % 2)
