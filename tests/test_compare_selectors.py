"""Selectors compared on the same splits."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from l1lsmi import L1LSMI, FeatureSelector
from l1lsmi.datasets import make_xor
from l1lsmi.evaluation import compare_selectors, held_out_error, split_rows
from l1lsmi.evaluation import selectors as module
from l1lsmi.measures import Pearson
from l1lsmi.methods import METHODS
from l1lsmi.strategies import Ranking
from tests.conftest import to_library


class First(BaseEstimator):
    """Selects its columns, and records the rows of each fit."""

    fitted_rows: ClassVar[list] = []

    def __init__(self, columns=(0,), fail_below=0):
        self.columns, self.fail_below = columns, fail_below

    def fit(self, X, y):
        First.fitted_rows.append(X.copy())
        if len(X) < self.fail_below:
            raise ValueError("too few rows\nand a second line")
        self.support_ = np.isin(np.arange(X.shape[1]), self.columns)
        return self

    def get_support(self):
        return self.support_


def test_errors_are_those_of_the_protocol():
    X, y = make_xor(120, random_state=0)
    result = compare_selectors({"true": First((0, 1)), "wrong": First((2, 3))}, X, y, n_splits=2)
    true, wrong, everything = result.results
    seeds = np.random.default_rng(module.seed_of(0)).integers(2**31, size=2).tolist()
    for columns, row in (((0, 1), true), ((2, 3), wrong), (range(10), everything)):
        expected = []
        for seed in seeds:
            train, test = split_rows(y, random_state=seed)
            chosen = X[:, list(columns)]
            expected.append(held_out_error(chosen[train], y[train], chosen[test], y[test]).error)
        assert row.errors.tolist() == expected and row.error == pytest.approx(np.mean(expected))
        assert row.failure is None and row.support.tolist() == list(columns)
    assert [row.name for row in result] == ["true", "wrong", "all features"]
    assert true.error < 0.05 < wrong.error and everything.seconds == 0 < true.seconds
    assert result.task == "classification" and result.n_splits == 2
    assert (result.n_rows, result.n_train, result.n_test) == (120, 84, 36)
    assert result.guess == pytest.approx(np.unique(y, return_counts=True)[1].min() / 120)
    numbers = compare_selectors({"true": First((0, 1))}, X, 3.0 * y + X[:, 0], task="regression", n_splits=1)
    assert numbers.guess == pytest.approx(np.std(3.0 * y + X[:, 0]))


def test_equal_sets_have_one_error(monkeypatch):
    X, y = make_xor(120, random_state=0)
    asked = []
    real = module.error_on_rows

    def counted(*args, **options):
        asked.append(args[4].tolist())
        return real(*args, **options)

    monkeypatch.setattr(module, "error_on_rows", counted)
    twice = {"one": L1LSMI(2, random_state=0), "other": L1LSMI(2, random_state=0)}
    result = compare_selectors(twice, X, y, include_all=False)
    assert len(asked) == 3
    assert result.results[0].errors.tolist() == result.results[1].errors.tolist()


def test_agreement_is_the_jaccard_index():
    X, y = make_xor(60, random_state=0)
    given = {"a": First((0, 1, 2)), "b": First((1, 2, 3)), "c": First((5,)), "d": First((0,), 1000)}
    result = compare_selectors(given, X, y, n_splits=1)
    nan = np.nan
    expected = [
        [1, 0.5, 0, nan, 0.3],
        [0.5, 1, 0, nan, 0.3],
        [0, 0, 1, nan, 0.1],
        [nan] * 5,
        [0.3, 0.3, 0.1, nan, 1],
    ]
    np.testing.assert_allclose(result.agreement, expected)


@pytest.mark.parametrize("fail_below", [1000, 100])
def test_a_failure_is_a_result(fail_below):
    X, y = make_xor(120, random_state=0)
    calls = []
    given = {"fails": First((0,), fail_below), "works": First((0, 1))}
    result = compare_selectors(given, X, y, n_splits=2, progress=lambda *call: calls.append(call))
    fails, works, _ = result.results
    assert fails.failure == "too few rows"
    assert np.isnan(fails.error) and np.isnan(fails.errors).all() and fails.errors.shape == (2,)
    assert fails.n_features == fails.support.size == 0
    assert works.failure is None and works.n_features == 2
    assert calls[-1] == ("all features", 9, 9)
    assert [done for _, done, _ in calls] == sorted({done for _, done, _ in calls})
    assert ("fails", 3, 9) in calls and ("works", 4, 9) in calls


def test_an_interruption_is_not_a_failure():
    class Interrupted(First):
        def fit(self, X, y):
            raise KeyboardInterrupt

    X, y = make_xor(60, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        compare_selectors({"stopped": Interrupted()}, X, y)


def test_groups_are_not_split():
    X, y = make_xor(120, random_state=0)
    groups = np.repeat(np.arange(12), 10)
    X[:, 9] = groups
    First.fitted_rows.clear()
    compare_selectors({"first": First((0, 1))}, X, y, groups=groups, include_all=False)
    for train in First.fitted_rows[1:]:  # the first fit is to all rows
        present = np.unique(train[:, 9])
        assert 0 < present.size < 12
        assert train.shape[0] == 10 * present.size  # whole groups
    with pytest.raises(ValueError, match="groups has shape"):
        compare_selectors({"first": First()}, X, y, groups=[1, 2])


def test_number_of_training_rows_and_of_splits():
    X, y = make_xor(100, random_state=0)
    First.fitted_rows.clear()
    compare_selectors({"first": First()}, X, y, n_train=40, n_splits=4, include_all=False, random_state=3)
    assert [rows.shape[0] for rows in First.fitted_rows] == [100, 40, 40, 40, 40]
    assert not np.array_equal(First.fitted_rows[1], First.fitted_rows[2])
    again = [rows.copy() for rows in First.fitted_rows]
    First.fitted_rows.clear()
    compare_selectors({"first": First()}, X, y, n_train=40, n_splits=4, include_all=False, random_state=3)
    np.testing.assert_array_equal(again[2], First.fitted_rows[2])


def test_regression_and_data_frames():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 4)), columns=list("abcd"))
    y = X["b"] + 0.1 * rng.normal(size=90)
    given = {name: METHODS[name].make(1, task="regression") for name in ("pearson", "lasso")}
    result = compare_selectors(given, X, y, n_splits=1)
    assert result.task == "regression"
    assert [row.support.tolist() for row in result] == [[1], [1], [0, 1, 2, 3]]
    assert result.results[0].error < 0.2 < y.std()


def test_arrays_of_any_library(library):
    X, y = make_xor(60, random_state=0)
    here = compare_selectors({"first": First((0, 1))}, X, y, n_splits=1)
    there = compare_selectors(
        {"first": First((0, 1))}, to_library(X, library), to_library(y, library), n_splits=1
    )
    assert [row.error for row in here] == [row.error for row in there]


def test_given_selectors_are_not_modified():
    X, y = make_xor(60, random_state=0)
    selector = FeatureSelector(Pearson(), Ranking(), 2)
    compare_selectors({"ranking": selector}, X, y, n_splits=1)
    assert not hasattr(selector, "support_")


@pytest.mark.parametrize(
    ("given", "change", "words"),
    [
        ({}, {}, "selectors is empty: pass selectors by name"),
        ([L1LSMI(2)], {}, "selectors is a list: pass selectors by name"),
        ({"a": L1LSMI}, {}, r"selectors\['a'\] is the class L1LSMI: pass a selector"),
        ({"a": 3}, {}, r"selectors\['a'\] is 3: pass a selector"),
        ({"all features": First()}, {}, "rename it, or pass include_all=False"),
        ({"a": First()}, {"n_splits": 0}, "n_splits=0 must be an integer, at least 1"),
        ({"a": First()}, {"task": "guess"}, "task='guess' is not known"),
        ({"a": First()}, {"n_train": 60}, "n_train=60 must be an integer from 1 to 59"),
        ({"a": First()}, {"y": None}, "y is None"),
    ],
)
def test_bad_input_is_refused(given, change, words):
    X, y = make_xor(60, random_state=0)
    with pytest.raises(ValueError, match=words):
        compare_selectors(given, **({"X": X, "y": y} | change))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_without_features_the_prediction_is_constant(task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = rng.integers(0, 2, 60) if task == "classification" else rng.normal(size=60)
    automatic = FeatureSelector(Pearson(), Ranking(), "auto")
    with pytest.warns(UserWarning, match="No features are selected"):
        found = compare_selectors({"auto": automatic}, X, y, task=task, include_all=False).results[0]
    assert found.failure is None and found.n_features == 0 and found.support.size == 0
    expected = 0.5 if task == "classification" else y.std()
    assert found.error == pytest.approx(expected, rel=0.4)
