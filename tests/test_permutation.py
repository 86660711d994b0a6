"""Permutation tests of dependence."""

import numpy as np
import pytest
from scipy.stats import kstest

from l1lsmi.inference import (
    permutation_test,
)
from l1lsmi.inference.permutation import _permutations
from l1lsmi.measures import HSIC, Pearson, SquaredMutualInformation


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
            "exchange='within' does not change y",
        ),
    ],
)
def test_bad_arguments_of_the_permutation_test(arguments, words):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match=words) as caught:
        permutation_test(**{"measure": Pearson(), "X": X, "y": X[:, 0], "n_permutations": 5, **arguments})
    assert "\n" not in str(caught.value)
