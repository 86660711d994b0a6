"""Answers that follow from the data, and not from how they are written down."""

import numpy as np
import pandas as pd
import pytest

from l1lsmi import L1HSIC, L1LSMI
from l1lsmi._rows.content import ORDERED_ROWS, has_order, ranks_by_content
from l1lsmi._rows.table import Table
from l1lsmi._validation.rows import read_rows

N = 90


def made(seed=0, n=N):
    """Numbers of several kinds, and classes that depend on two of them: many sets are nearly as good."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 9))
    X[:, 5] = rng.integers(0, 2, n)
    X[:, 6] = rng.integers(0, 4, n)
    X[:, 7] = np.exp(X[:, 7])
    return X, np.digitize(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n), [0, 1.5])


ORDER = np.random.default_rng(1).permutation(N)
COLUMNS = np.random.default_rng(2).permutation(9)
UNITS = 10.0 ** np.random.default_rng(3).uniform(-6, 6, 9)
NAMES = np.array(["z", "a", "k"])
CHANGES = {
    "rows": lambda X, y: (X[ORDER], y[ORDER], None),
    "columns": lambda X, y: (X[:, COLUMNS], y, COLUMNS),
    "units": lambda X, y: (X * UNITS + 3, y, None),
    "names": lambda X, y: (X, NAMES[y], None),
    "two values": lambda X, y: (np.column_stack([X[:, :5], 7 - X[:, 5], X[:, 6:]]), y, None),
    "blocks": lambda X, y: (lambda: iter([(X[:40], y[:40]), (X[40:], y[40:])]), None, None),
}


@pytest.mark.parametrize("cls", [L1LSMI, L1HSIC])
@pytest.mark.parametrize("change", CHANGES)
def test_the_answer_does_not_depend_on_how_data_are_written_down(cls, change):
    X, y = made()
    expected = cls(4, n_restarts=2).fit(X, y)
    X, y, columns = CHANGES[change](X, y)
    found = cls(4, n_restarts=2).fit(X, y)
    places = np.arange(9) if columns is None else columns
    np.testing.assert_array_equal(found.support_, expected.support_[places])
    np.testing.assert_allclose(found.weights_, expected.weights_[places], rtol=1e-6)
    assert found.stop_reason_ == expected.stop_reason_
    if change in ("rows", "names"):  # without any difference in rounding
        np.testing.assert_array_equal(found.weights_, expected.weights_)
        assert found.p_value_ == expected.p_value_


def in_order(X, y, **options):
    """Rows of X as a fit sees them."""
    rows = read_rows(X, y, "auto", by_content=True, **options)
    return rows, rows.arrangement.rows


@pytest.mark.parametrize("numeric", [False, True])
def test_rows_have_one_order(numeric):
    X, y = made()
    y = X[:, 2] + y if numeric else y
    rows, numbers = in_order(X, y)
    np.testing.assert_array_equal(rows.table.x, X[numbers])
    assert np.array_equal(np.sort(numbers), np.arange(N)) and not np.array_equal(numbers, np.arange(N))
    for change in ("rows", "columns", "units", "two values"):
        X_changed, y_changed, _ = CHANGES[change](X, y)
        found = in_order(X_changed, y_changed)[1]
        np.testing.assert_array_equal(ORDER[found] if change == "rows" else found, numbers)
    weights = np.random.default_rng(0).uniform(1, 2, N)
    weighted, found = in_order(X, y, sample_weight=weights)
    np.testing.assert_allclose(weighted.weights, weights[found] / weights.mean())


def test_classes_are_numbered_as_rows_have_them():
    X, y = made()
    (one, numbers), (other, _) = in_order(X, y), in_order(X, NAMES[y])
    np.testing.assert_array_equal(one.target.codes, other.target.codes)
    np.testing.assert_array_equal(one.target.decoded(), y[numbers])
    np.testing.assert_array_equal(NAMES[one.target.classes], other.target.classes)


def test_yes_and_no_are_the_same_as_numbers_and_as_words():
    X, y = made()
    frame = pd.DataFrame(X, columns=list("abcdefghi"))
    words = frame.assign(f=np.where(X[:, 5] > 0, "yes", "no"))
    np.testing.assert_array_equal(in_order(words, y)[1], in_order(frame, y)[1])


def test_tables_of_yes_and_no_have_an_order_of_rows_too():
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 1.0]], 12, axis=0).ravel()[rng.permuted(np.tile(np.arange(24), (40, 1)), axis=1)].T
    y = np.arange(24) % 2
    _, numbers = in_order(X, y)
    order = rng.permutation(24)
    _, others = in_order(X[order], y[order])
    np.testing.assert_array_equal(order[others], numbers)


def test_many_rows_stay_in_place():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ORDERED_ROWS + 1, 2))
    assert has_order(ORDERED_ROWS, 2) and not has_order(*X.shape) and not has_order(1000, 10_000)
    assert read_rows(X, X[:, 0], "regression", by_content=True).arrangement is None
    np.testing.assert_array_equal(ranks_by_content(Table.of(X), np.array([1, 0])), [0, 1])


def test_missing_values_have_a_place():
    X, y = made()
    X[:, 2] = np.nan
    X[::3, 4] = np.nan
    _, numbers = in_order(X, y)
    np.testing.assert_array_equal(ORDER[in_order(X[ORDER], y[ORDER])[1]], numbers)


def test_columns_are_ranked_by_their_values():
    X, y = made()
    table = read_rows(X, y, "classification", by_content=True).table
    ranks = ranks_by_content(table, np.arange(9))
    assert sorted(ranks) == list(range(9))
    np.testing.assert_array_equal(ranks_by_content(table, np.array([3, 7])), np.argsort(ranks[[3, 7]]))


@pytest.mark.parametrize("cls", [L1LSMI, L1HSIC])
def test_weights_of_rows_on_a_cluster(cls):
    da = pytest.importorskip("dask.array")
    X, y = made()
    weights = np.arange(N) % 3
    expected = cls(2, p_value=False, pool=None).fit(X, y, sample_weight=weights)
    found = cls(2, p_value=False, pool=None).fit(da.from_array(X, chunks=(35, -1)), y, sample_weight=weights)
    np.testing.assert_array_equal(found.support_, expected.support_)
    np.testing.assert_allclose(found.weights_, expected.weights_, rtol=1e-6)
