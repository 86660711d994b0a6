"""Weighted rows with missing values and categories count as copies do, in memory and out of it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi._rows.distinct import key_hashes
from l1lsmi._rows.levels import LevelTotals, renumbered
from l1lsmi.measures import SquaredMutualInformation
from l1lsmi.sources import open_rows
from l1lsmi.strategies import Forward

pytestmark = pytest.mark.filterwarnings(
    "ignore:Column", "ignore:There is no evidence", "ignore::ResourceWarning", "ignore:Port"
)
N = 150
SELECTORS = {
    "L1LSMI": L1LSMI(2, n_restarts=2, n_basis=30, random_state=0),
    "L1HSIC": L1HSIC(2, n_restarts=2, random_state=0),
    "forward": FeatureSelector(SquaredMutualInformation(n_basis=30, random_state=0), Forward(), 2),
}


def rows(discrete=False, n=N):
    """A table, its target, and weights by which another level is the most frequent."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(n, 3)) * [1, 10, 0.1] + [0, 50, 0]
    x = np.round(x / x.std(axis=0)) if discrete else x
    x[rng.random(x.shape) < 0.15] = np.nan
    frame = pd.DataFrame(x, columns=list("abc"))
    frame["town"] = pd.Categorical(rng.choice(["Ulm", "Bonn", "Trier"], n, p=[0.5, 0.3, 0.2]))
    frame["kind"] = pd.Categorical(rng.choice(["x", "y"], n))
    frame.loc[rng.random(n) < 0.1, "kind"] = np.nan
    y = ((frame["town"] == "Ulm") ^ (frame["b"].fillna(x[0, 1]) > np.nanmedian(x[:, 1]))).astype(int)
    frame.loc[(y == 1) & (rng.random(n) < 0.4), "c"] = np.nan
    weights = rng.integers(0, 4, n) + np.where(frame["town"] == "Trier", 3, 0)
    return frame, y.to_numpy(), weights


def copies(frame, y, weights):
    index = np.repeat(np.arange(len(y)), weights)
    return frame.iloc[index].reset_index(drop=True), y[index]


def assert_same(found, expected, rtol=1e-10):
    np.testing.assert_array_equal(found.support_, expected.support_)
    if expected.p_value_ is not None:
        assert found.p_value_ == pytest.approx(expected.p_value_, rel=rtol)
    for name in ("weights_", "scores_"):
        if hasattr(expected, name):
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=rtol, atol=1e-12)
    assert found.categories_ == expected.categories_


def in_blocks(frame, y, *weights, size=40):
    def give():
        for start in range(0, len(y), size):
            some = slice(start, start + size)
            yield (frame.iloc[some], y[some], *(w[some] for w in weights))

    return give


@pytest.mark.parametrize("discrete", [False, True], ids=["continuous", "discrete"])
@pytest.mark.parametrize("missing", ["auto", "ignore", "value"])
@pytest.mark.parametrize("name", SELECTORS)
def test_memory_and_blocks(name, missing, discrete):
    frame, y, weights = rows(discrete)
    selector = clone(SELECTORS[name]).set_params(missing=missing)
    expected = clone(selector).fit(*copies(frame, y, weights))
    assert_same(clone(selector).fit(frame, y, sample_weight=weights), expected)
    assert_same(clone(selector).fit(in_blocks(frame, y, weights)), expected)
    assert_same(clone(selector).fit(in_blocks(*copies(frame, y, weights), size=33)), expected)


@pytest.mark.parametrize("discrete", [False, True], ids=["continuous", "discrete"])
def test_files(tmp_path, discrete):
    pytest.importorskip("pyarrow")
    frame, y, weights = rows(discrete)
    selector = SELECTORS["L1LSMI"]
    expected = clone(selector).fit(*copies(frame, y, weights))
    frame.assign(y=y, w=weights).to_parquet(tmp_path / "weighted.parquet", row_group_size=40)
    again, targets = copies(frame, y, weights)
    again.assign(y=targets).to_parquet(tmp_path / "repeated.parquet", row_group_size=50)
    assert_same(clone(selector).fit(tmp_path / "weighted.parquet", "y", sample_weight="w"), expected)
    assert_same(clone(selector).fit(tmp_path / "repeated.parquet", "y"), expected)


@pytest.mark.parametrize("discrete", [False, True], ids=["continuous", "discrete"])
@pytest.mark.parametrize("with_cluster", [False, True], ids=["chunks", "cluster"])
def test_dask(with_cluster, discrete):
    dd = pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("distributed")
    frame, y, weights = rows(discrete)
    selector = SELECTORS["L1LSMI"]
    again, targets = copies(frame, y, weights)
    expected = clone(selector).fit(again, targets)
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    client = distributed.Client(**options) if with_cluster else None
    try:
        weighted = clone(selector).fit(dd.from_pandas(frame, npartitions=3), y, sample_weight=weights)
        assert_same(weighted, expected)
        assert_same(clone(selector).fit(dd.from_pandas(again, npartitions=4), targets), expected)
    finally:
        if client is not None:
            client.close()


def test_weights_that_are_no_counts_and_classes():
    frame, y, weights = rows()
    selector = clone(SELECTORS["L1LSMI"]).set_params(class_weight="balanced")
    expected = selector.fit(frame, y, sample_weight=weights + 0.5)
    assert_same(clone(selector).fit(in_blocks(frame, y, weights + 0.5)), expected)


def test_several_targets_of_mixed_rows(tmp_path):
    pytest.importorskip("pyarrow")
    frame, y, weights = rows()
    both = np.column_stack([y, frame["a"].fillna(0.0) + 0.1 * np.arange(N) / N])
    selector = clone(SELECTORS["L1LSMI"])
    index = np.repeat(np.arange(N), weights)
    expected = clone(selector).fit(frame.iloc[index], both[index])
    assert_same(clone(selector).fit(in_blocks(frame, both, weights)), expected)
    named = frame.assign(one=both[:, 0], two=both[:, 1], w=weights)
    named.to_parquet(tmp_path / "t.parquet", row_group_size=40)
    found = clone(selector).fit(tmp_path / "t.parquet", ["one", "two"], sample_weight="w")
    assert_same(found, expected)


def test_statistics_of_renumbered_rows():
    frame, y, weights = rows()
    opened = open_rows(in_blocks(frame, y, weights), None)
    weighted, _ = opened.table.numbered_by_weight(weights.astype(float), key_hashes(y[:, None]))
    again = copies(frame, y, weights)
    table = open_rows(in_blocks(*again), None).table
    repeated, _ = table.numbered_by_weight(None, key_hashes(again[1][:, None]))
    np.testing.assert_array_equal(weighted.hashes[np.repeat(np.arange(N), weights)], repeated.hashes)
    share = opened.table.kinds.missing_share
    assert share == pytest.approx(frame.isna().mean().to_numpy())
    # The statistics are those of the rows, whatever the levels are called.
    whole = np.concatenate(list(weighted.blocks(None)))
    np.testing.assert_allclose(weighted.mean, np.nanmean(whole, axis=0))
    np.testing.assert_allclose(weighted.scale, np.nanstd(whole, axis=0))
    for some, j in ((weighted.kinds.shares[3], 3), (weighted.kinds.shares[4], 4)):
        np.testing.assert_allclose(
            some, np.bincount(whole[~np.isnan(whole[:, j]), j].astype(int)) / (~np.isnan(whole[:, j])).sum()
        )


def test_numbers_of_levels():
    codes = np.array([[0.0], [1.0], [np.nan], [1.0], [2.0], [3.0]])
    weights = np.array([5.0, 1.0, 9.0, 4.0, 7.0, 0.0])
    one = LevelTotals.of(codes[:2], np.array([5]), weights[:2])
    two = LevelTotals.of(codes[2:], np.array([5]), weights[2:])
    whole = LevelTotals.of(codes, np.array([5]), weights)
    np.testing.assert_array_equal(one.merged(two).weights, whole.weights)
    np.testing.assert_array_equal(whole.weights, [[5, 5, 7, 0, 0]])
    # By falling weight, and the first row of those as heavy.
    np.testing.assert_array_equal(one.merged(two).numbers(), [[1, 2, 0, 3, 4]])
    moved = renumbered(codes, np.array([0]), whole.numbers())
    np.testing.assert_array_equal(moved[:, 0], [1, 2, np.nan, 2, 0, 3])


def test_marks_of_rows_whose_weights_are_no_numbers_of_copies():
    codes, marks = np.array([[0.0], [1.0], [1.0]]), np.array([3, 5, 7], dtype=np.uint64)
    for weights in (np.array([1e300, 2e300, 1e300]), np.array([0.5, 1.0, 2.0])):
        found = LevelTotals.of(codes, np.array([2]), weights, marks)
        np.testing.assert_array_equal(found.marks, [[3, 12]])
    found = LevelTotals.of(codes, np.array([2]), np.array([1.0, 2.0, 3.0]), marks)
    np.testing.assert_array_equal(found.marks, [[3, 31]])


def test_levels_of_rows_that_do_not_count():
    frame, y, weights = rows()
    weights = np.where(frame["town"] == "Ulm", 0, weights)
    selector = clone(SELECTORS["L1LSMI"])
    expected = clone(selector).fit(*copies(frame.astype({"town": str}), y, weights))
    assert sorted(expected.categories_[3]) == ["Bonn", "Trier"]
    assert_same(clone(selector).fit(frame, y, sample_weight=weights), expected)
    assert_same(clone(selector).fit(in_blocks(frame, y, weights)), expected)
    nothing = frame.assign(town=pd.Series([None] * N, dtype="str"), kind=1.0)
    assert clone(selector).fit(nothing, y, sample_weight=weights).categories_ is None
    assert clone(selector).fit(in_blocks(nothing, y, weights)).categories_ is None
