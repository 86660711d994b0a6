"""Comparison of methods over trials and over datasets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare, ttest_rel

from l1lsmi.evaluation import compare_methods, critical_difference, top_counts


def trials(seed=0, shifts=(0.0, 0.02, 0.2), n=20):
    rng = np.random.default_rng(seed)
    return 0.3 + rng.normal(0, 0.05, (n, 1)) + rng.normal(0, 0.05, (n, len(shifts))) + np.array(shifts)


def test_paired_test_by_hand():
    # Differences 1, 2, 3: mean 2, standard error 1 / sqrt(3), so t = 2 sqrt(3) with 2 degrees of freedom,
    # whose upper tail is 1/2 - t / (2 sqrt(t^2 + 2)) = 1/2 - sqrt(3 / 14).
    result = compare_methods([[1.0, 2.0], [1.0, 3.0], [1.0, 4.0]])
    assert result.p_values.tolist() == pytest.approx([1.0, 0.5 - np.sqrt(3 / 14)])
    assert result.best == 0 and result.tied.tolist() == [True, False]
    assert compare_methods([[1.0, 2.0], [1.0, 3.0], [1.0, 4.0]], alpha=0.03).tied.tolist() == [True, True]


@given(st.integers(0, 1000))
def test_p_values_are_those_of_scipy(seed):
    errors = trials(seed)
    result = compare_methods(errors)
    assert result.best == errors.mean(axis=0).argmin()
    for method in set(range(3)) - {result.best}:
        expected = ttest_rel(errors[:, method], errors[:, result.best], alternative="greater").pvalue
        assert result.p_values[method] == pytest.approx(expected)
        assert result.tied[method] == (expected >= 0.05)
    assert result.tied[result.best]


def test_differences_without_variance():
    errors = np.array([[0.1, 0.1, 0.2], [0.3, 0.3, 0.4], [0.2, 0.2, 0.3]])
    # The same everywhere is tied; worse by the same everywhere, but for rounding, is worse.
    assert compare_methods(errors).tied.tolist() == [True, True, False]
    almost = errors * [1, 1 + 1e-15, 1]
    assert compare_methods(almost).tied.tolist() == [True, True, False]
    assert compare_methods(errors[:1]).tied.tolist() == [True, True, False]


def test_methods_without_results():
    errors = trials()
    errors[:, 1] = np.nan
    result = compare_methods(errors)
    assert result.best == 0
    assert result.tied.tolist() == [True, False, False]
    assert np.isnan(result.p_values).tolist() == [False, True, False]
    errors[3, 2] = np.nan
    with pytest.raises(ValueError, match="nan in 1 of 20 trials of method 2: drop those trials"):
        compare_methods(errors)
    with pytest.raises(ValueError, match="only nan"):
        compare_methods(np.full((3, 2), np.nan))


def test_top_counts_by_hand():
    first = compare_methods([[1.0, 1.0, 2.0], [1.0, 1.0, 2.0]])
    second = compare_methods([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]])
    assert top_counts([first, second, second]).tolist() == [1, 1, 2]
    with pytest.raises(ValueError, match="at least one"):
        top_counts([])
    with pytest.raises(ValueError, match="all of the same methods"):
        top_counts([first, compare_methods([[1.0, 2.0]])])


def test_critical_values_are_the_published_ones():
    # Table 5(a) of Demsar (2006), for 2 to 10 methods at level 0.05, and 0.10 for two and ten.
    published = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    for k, q in enumerate(published, start=2):
        errors = np.random.default_rng(k).random((14, k))
        result = critical_difference(errors)
        assert result.critical_difference / np.sqrt(k * (k + 1) / (6 * 14)) == pytest.approx(q, abs=1e-3)
    two = critical_difference(np.random.default_rng(0).random((14, 2)), alpha=0.10)
    assert two.critical_difference / np.sqrt(6 / 84) == pytest.approx(1.645, abs=1e-3)


def test_ranks_and_groups_by_hand():
    # Ten datasets, four methods: ranks 1, 2.5, 2.5, 4 everywhere. The critical difference is
    # 2.569 * sqrt(4 * 5 / 60) = 1.483: the difference of 1.5 from the outer ones is larger.
    result = critical_difference(np.tile([0.1, 0.2, 0.2, 0.3], (10, 1)))
    assert result.ranks.tolist() == [1, 2.5, 2.5, 4]
    assert result.critical_difference == pytest.approx(1.483, abs=1e-3)
    assert result.groups == ((1, 2),)
    # Nine datasets: 1.564 is wider than 1.5, and the groups overlap.
    assert critical_difference(np.tile([0.3, 0.2, 0.2, 0.1], (9, 1))).groups == ((3, 1, 2), (1, 2, 0))


@given(st.integers(0, 1000), st.integers(3, 6))
def test_friedman_is_that_of_scipy_and_groups_are_largest(seed, k):
    errors = np.random.default_rng(seed).integers(0, 6, size=(12, k)) + np.arange(k) * 0.4
    result = critical_difference(errors)
    assert result.friedman_p == pytest.approx(friedmanchisquare(*errors.T).pvalue)
    assert result.ranks.sum() == pytest.approx(k * (k + 1) / 2)
    spans = [set(group) for group in result.groups]
    assert not any(one < other for one in spans for other in spans)
    for i in range(k):
        for j in range(i):
            in_one_group = any({i, j} <= span for span in spans)
            assert in_one_group == (abs(result.ranks[i] - result.ranks[j]) <= result.critical_difference)


def test_friedman_for_two_methods_is_the_sign_test():
    # 9 wins of 10: (9 - 1)^2 / 10 = 6.4 with one degree of freedom.
    errors = np.array([[0.0, 1.0]] * 9 + [[1.0, 0.0]])
    assert critical_difference(errors).friedman_p == pytest.approx(0.011412, abs=1e-6)
    assert critical_difference(np.ones((5, 3))).friedman_p == 1.0


@pytest.mark.parametrize(
    ("errors", "words"),
    [
        ([1.0, 2.0], "must be an array of finite numbers of shape"),
        ([["a", "b"]], "must be an array of finite numbers"),
        (np.empty((0, 2)), "must be an array"),
        ([[1.0, np.inf]], "must be an array of finite numbers"),
    ],
)
def test_bad_arrays_are_refused(errors, words):
    with pytest.raises(ValueError, match="errors " + words):
        compare_methods(errors)
    with pytest.raises(ValueError, match="mean_errors " + words):
        critical_difference(errors)


def test_bad_summaries_are_refused():
    with pytest.raises(ValueError, match=r"shape \(1, 3\): pass at least 2 datasets and 2 methods"):
        critical_difference(np.ones((1, 3)))
    with pytest.raises(ValueError, match="nan, first for method 1 on dataset 2"):
        critical_difference([[1.0, 2.0], [1.0, 2.0], [1.0, np.nan]])
    for alpha in (0, 1.0, "small"):
        with pytest.raises(ValueError, match=r"alpha=.* must be a level between 0 and 1"):
            compare_methods([[1.0, 2.0]], alpha=alpha)
