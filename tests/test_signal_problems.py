"""The problems of ``benchmarks/signal_problems.py``: shapes, seeds, true columns and shares of classes."""

import numpy as np
import pytest

from benchmarks.signal_problems import MIN_COLUMNS, PROBLEMS, RARE_SHARES, draw

N, M = 1000, 40


@pytest.mark.parametrize("name", PROBLEMS)
def test_shapes_and_seeds(name):
    X, y, true = draw(name, N, M, 0)
    assert X.shape == (N, M) and X.dtype == np.float64 and np.isfinite(X).all()
    assert y.shape == (N,)
    assert len(set(true.tolist())) == true.size >= 4
    assert true.min() >= 0 and true.max() < M
    for first, again in zip((X, y, true), draw(name, N, M, 0), strict=True):
        np.testing.assert_array_equal(first, again)
    other = draw(name, N, M, 1)
    assert set(other[2].tolist()) != set(true.tolist())
    assert other[2].size == true.size
    assert not np.array_equal(other[1], y)


@pytest.mark.parametrize("name", PROBLEMS)
def test_fewest_columns_and_documentation(name):
    X, _, true = draw(name, 50 if name not in RARE_SHARES else 1000, MIN_COLUMNS, 0)
    assert X.shape[1] == MIN_COLUMNS and true.max() < MIN_COLUMNS
    assert PROBLEMS[name].__doc__


def test_both_tasks_and_several_classes():
    targets = {name: draw(name, N, M, 0)[1] for name in PROBLEMS}
    assert {y.dtype.kind for y in targets.values()} == {"i", "f"}
    numeric = [y for y in targets.values() if y.dtype.kind == "f"]
    # As many values as rows: no selector takes such a target for classes.
    assert all(np.unique(y).size == N for y in numeric)
    assert {np.unique(y).size for y in targets.values() if y.dtype.kind == "i"} == {2, 3, 4}


@pytest.mark.parametrize(("name", "share"), RARE_SHARES.items())
@pytest.mark.parametrize("n", [1000, 4000])
def test_shares_of_rare_classes(name, share, n):
    y = draw(name, n, M, 3)[1]
    np.testing.assert_array_equal(np.unique(y), [0, 1])
    assert y.sum() == round(share * n)


def test_shares_of_several_classes():
    np.testing.assert_array_equal(np.bincount(draw("three_classes", N, M, 0)[1]), [500, 300, 200])
    assert np.bincount(draw("four_classes", N, M, 0)[1]).min() > 0.15 * N


def test_only_true_columns_enter_the_target():
    # Of 200,000 rows, the correlation of noise is below 0.015 by far; that of a linear effect is not.
    X, y, true = draw("many_linear", 200_000, MIN_COLUMNS, 0)
    correlation = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())) / y.size / X.std(axis=0) / y.std()
    assert set(np.flatnonzero(correlation > 0.015).tolist()) == set(true.tolist())


def test_copies_are_copies_of_true_columns():
    X, _, true = draw("near_copies", 4000, M, 0)
    correlation = np.corrcoef(X.T)
    # Each true column, its two copies, and nothing else.
    np.testing.assert_array_equal((correlation[true] > 0.7).sum(axis=1), 3)
    others = np.setdiff1d(np.arange(M), true)
    assert (correlation[np.ix_(true, others)] > 0.85).sum() == 2 * true.size


def test_categories_are_codes_and_counts_are_mostly_zero():
    X, _, _ = draw("categories", N, M, 0)
    np.testing.assert_array_equal(X, np.rint(X))
    assert all(2 < np.unique(x).size < 11 for x in X.T)
    X, _, _ = draw("heavy_tails", N, M, 0)
    assert ((X == 0).mean(axis=0) > 0.6).sum() == len(range(2, M, 3))
