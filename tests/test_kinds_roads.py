"""Columns of any kind that are not in memory, and on their way through a selector."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi._rows.statistics import column_statistics
from l1lsmi._rows.stream import ColumnStatistics
from l1lsmi.inference import KnockoffSelector, StabilitySelector, permutation_test
from l1lsmi.measures import HSIC, SquaredMutualInformation
from l1lsmi.sources import open_rows, read_sample
from l1lsmi.strategies import Forward
from tests.conftest import to_library

pytestmark = pytest.mark.filterwarnings("ignore:Column", "ignore:There is no evidence")
N = 900


def numbers(n=N, seed=0):
    """Numbers with missing values; those of the last column inform about the target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) * [1, 10, 1, 0.1, 1] + [0, 5, 0, 0, 100]
    y = ((X[:, 1] - 5) * X[:, 3] > 0).astype(int)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:300, 2] = np.nan
    X[(y == 1) & (rng.random(n) < 0.3), 4] = np.nan
    return X, y


def mixed(n=N):
    X, y = numbers(n)
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["town"] = pd.Categorical(rng.choice(["Ulm", "Bonn", "Köln", "Trier"], n, p=[0.1, 0.4, 0.3, 0.2]))
    frame["kind"] = rng.choice(["x", "y", "z"], n)
    frame.loc[rng.random(n) < 0.1, "kind"] = None
    frame["since"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")
    y = (frame["town"].isin(["Ulm", "Köln"]) ^ (frame["b"].fillna(5) > 5)).astype(int).to_numpy()
    return frame, y


@given(st.integers(0, 50), st.integers(1, 5))
@settings(max_examples=30, deadline=None)
def test_statistics_of_blocks_leave_missing_values_out(seed, n_blocks):
    rng = np.random.default_rng(seed)
    x = rng.normal(3, 2, size=(40, 4))
    x[rng.random(x.shape) < 0.5] = np.nan
    x[:20, 2] = np.nan
    x[:, 3] = np.nan
    weights = rng.integers(1, 4, 40).astype(float)
    for row_weights in (None, weights):
        total = None
        for rows in np.array_split(np.arange(40), n_blocks):
            some = ColumnStatistics.of(x[rows], None if row_weights is None else row_weights[rows])
            total = some if total is None else total.merged(some)
        mean, scale = column_statistics(x, row_weights)
        np.testing.assert_allclose(total.mean[:3], mean[:3], rtol=1e-10)
        np.testing.assert_allclose(total.scale, scale, rtol=1e-10, atol=1e-12)
        weight = np.ones(40) if row_weights is None else row_weights
        np.testing.assert_allclose(total.present, weight @ ~np.isnan(x), atol=1e-9)


SELECTORS = [
    L1LSMI(2, n_restarts=2, n_basis=40, random_state=0),
    L1HSIC(2, n_restarts=2, random_state=0),
    FeatureSelector(SquaredMutualInformation(n_basis=40, random_state=0), Forward(), 2),
]


def assert_same(found, expected):
    np.testing.assert_array_equal(found.support_, expected.support_)
    if expected.p_value_ is not None:
        assert found.p_value_ == pytest.approx(expected.p_value_, rel=1e-5)
    if hasattr(expected, "weights_"):
        np.testing.assert_allclose(found.weights_, expected.weights_, rtol=1e-4, atol=1e-6)
    assert found.categories_ == expected.categories_


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("missing", ["auto", "ignore", "value"])
def test_blocks_with_missing_values_give_the_answer_of_memory(selector, missing):
    X, y = numbers()
    selector = selector.set_params(missing=missing)
    expected = selector.fit(X, y)
    found = clone(selector).fit(lambda: iter(np.array_split(X, 7)), y)
    assert_same(found, expected)


ROADS = {
    "parquet": lambda folder, frame, y: (to_parquet(folder, frame, y), "y"),
    "directory": lambda folder, frame, y: (to_directory(folder, frame, y), "y"),
    "dataset": lambda folder, frame, y: (ds.dataset(to_parquet(folder, frame, y)), "y"),
    "table": lambda folder, frame, y: (pa.Table.from_pandas(frame.assign(y=y), preserve_index=False), "y"),
    "blocks of pandas": lambda folder, frame, y: (lambda: (frame[i : i + 250] for i in range(0, N, 250)), y),
    "blocks of polars": lambda folder, frame, y: (
        lambda: (pl.from_pandas(frame)[i : i + 250] for i in range(0, N, 250)),
        y,
    ),
    "dask": lambda folder, frame, y: (to_dask(frame), y),
}


def to_parquet(folder, frame, y):
    frame.assign(y=y).to_parquet(folder / "t.parquet", row_group_size=200)
    return folder / "t.parquet"


def to_directory(folder, frame, y):
    for i, rows in enumerate(np.array_split(np.arange(N), 3)):
        some = frame.assign(y=y).iloc[rows]
        some.assign(town=some["town"].astype(str) if i == 1 else some["town"]).to_parquet(
            folder / f"part{i}.parquet"
        )
    return folder


def to_dask(frame):
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_pandas(frame, npartitions=4)


@pytest.mark.parametrize("road", ROADS)
def test_mixed_rows_that_are_not_in_memory(road, tmp_path):
    frame, y = mixed()
    selector = L1LSMI(2, n_restarts=2, n_basis=40, random_state=0)
    expected = selector.fit(frame, y)
    assert list(expected.get_feature_names_out()) == ["b", "town"]
    X, target = ROADS[road](tmp_path, frame, y)
    found = L1LSMI(2, n_restarts=2, n_basis=40, random_state=0).fit(X, target)
    assert_same(found, expected)


def test_categories_of_numbers_in_blocks():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 6, 600), rng.normal(size=(600, 3))])
    y = np.isin(X[:, 0], [0, 2, 5]).astype(int)
    selector = L1LSMI(1, categorical_features=[0], random_state=0)
    expected = selector.fit(X, y)
    found = L1LSMI(1, categorical_features=[0], random_state=0).fit(lambda: iter(np.array_split(X, 5)), y)
    assert_same(found, expected)
    assert sorted(found.categories_[0]) == [0, 1, 2, 3, 4, 5]


def test_what_blocks_cannot_have():
    frame = pd.DataFrame({"a": np.arange(120.0), "b": [f"level {i % 60}" for i in range(120)]})
    y = np.arange(120) % 2
    with pytest.raises(ValueError, match="more than 40 levels in column 'b'"):
        L1LSMI(1).fit(lambda: iter([frame[:60].astype({"b": "category"}), frame[60:]]), y)
    mixed_up = [pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame({"a": ["x", "y"]})]
    with pytest.raises(ValueError, match="text and numbers in column 'a'"):
        L1LSMI(1).fit(lambda: iter([mixed_up[0].astype(object), mixed_up[1]]), [0, 1, 0, 1])
    calls = []

    def changing():
        calls.append(1)
        yield pd.DataFrame({"a": ["u", "v"] * 30 if len(calls) == 1 else ["u", "w"] * 30})

    with pytest.raises(ValueError, match="gave the level 'w' of column 'a' on this pass"):
        L1LSMI(1).fit(changing, np.arange(60) % 2)


def test_samples_have_numbers_of_levels():
    frame, y = mixed()
    X, some = read_sample(lambda: iter([frame[:400], frame[400:]]), y, 200, random_state=0)
    assert X.shape == (200, 8) and set(np.unique(X[:, 5])) == {0, 1, 2, 3} and some.shape == (200,)
    opened = open_rows(lambda: iter([frame[:400], frame[400:]]), y)
    assert opened.levels[5] == ["Bonn", "Köln", "Trier", "Ulm"] and opened.levels[0] is None


# -- transform and back -----------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_frames_there_and_back(library, output):
    frame, y = mixed(200)
    X = {"pandas": frame, "polars": pl.from_pandas(frame), "pyarrow": pa.Table.from_pandas(frame)}[library]
    if library == "pyarrow":
        X = X.select(list(frame.columns))
    selector = L1LSMI(2, random_state=0, p_value=False, pool=None).set_output(transform=output).fit(X, y)
    out = selector.transform(X)
    kind = library if output == "default" else output
    assert isinstance(out, {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}[kind])
    assert list(out.column_names if kind == "pyarrow" else out.columns) == ["b", "town"]
    back = selector.inverse_transform(out)
    assert type(back) is type(out) and back.shape == frame.shape
    whole = back if isinstance(back, pd.DataFrame) else back.to_pandas()
    assert whole["town"].astype(str).tolist() == frame["town"].astype(str).tolist()
    assert whole[["a", "kind", "since"]].isna().all(axis=None)


def test_missing_values_there_and_back():
    X, y = numbers(200)
    selector = L1LSMI(2, random_state=0, p_value=False, pool=None).fit(X, y)
    back = selector.inverse_transform(selector.transform(X))
    np.testing.assert_array_equal(back[:, selector.support_], X[:, selector.support_])
    assert (back[:, ~selector.support_] == 0).all()
    with pytest.raises(ValueError, match="but 2 features are selected: pass the output of transform"):
        selector.inverse_transform(X)
    frame, y = mixed(200)
    with pytest.raises(ValueError, match="X has 8 columns, but the selector has selected 2"):
        L1LSMI(2, p_value=False, pool=None).fit(frame, y).inverse_transform(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_array = L1LSMI(1, p_value=False, pool=None).fit(X[:, :1], y)
    with pytest.raises(ValueError, match="fitted to an array without column names"):
        by_array.inverse_transform(frame[["town"]])


@pytest.mark.parametrize("missing", ["ignore", "value"])
def test_missing_values_of_every_array_library(library, missing):
    X, y = numbers(200)
    measure = SquaredMutualInformation(n_basis=30, random_state=0)
    selector = FeatureSelector(
        measure, Forward(), 2, missing=missing, p_value=False, pool=None, random_state=0
    )
    expected = clone(selector).fit(X, y)
    found = selector.fit(to_library(X, library), y)
    np.testing.assert_array_equal(found.support_, expected.support_)
    np.testing.assert_allclose(found.score_, expected.score_, rtol=1e-8)


# -- inference --------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_stable_features_of_mixed_frames(library):
    frame, y = mixed(300)
    X = {"pandas": frame, "polars": pl.from_pandas(frame), "pyarrow": pa.Table.from_pandas(frame)}[library]
    stable = StabilitySelector(L1LSMI(2, n_restarts=1), n_resamples=6, random_state=0).fit(X, y)
    assert list(stable.get_feature_names_out()) == ["b", "town"]
    assert sorted(stable.categories_[5]) == ["Bonn", "Köln", "Trier", "Ulm"]
    out = stable.transform(X)
    assert list(out.column_names if library == "pyarrow" else out.columns) == ["b", "town"]


def test_stability_hands_on_missing_values_where_the_selector_takes_them():
    X, y = numbers(300)
    stable = StabilitySelector(L1LSMI(2, n_restarts=1), n_resamples=4, random_state=0)
    assert stable.fit(X, y).get_support(indices=True).size and stable.__sklearn_tags__().input_tags.allow_nan
    with pytest.raises(ValueError, match="contains NaN, first in row"):
        StabilitySelector(SelectKBest(k=2), n_resamples=4).fit(X, y)


def test_knockoffs_are_made_of_complete_numbers():
    frame, y = mixed(100)
    with pytest.raises(ValueError, match="X has text in column 'town'"):
        KnockoffSelector(L1LSMI(2)).fit(frame[["town"]], y)
    with pytest.raises(ValueError, match="contains NaN, first in row"):
        KnockoffSelector(L1LSMI(2)).fit(frame[["a", "b"]], y)


def test_permutations_do_not_see_numbers_made_of_the_target():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"many": pd.Categorical([f"h{i}" for i in rng.integers(0, 60, 300)])})
    y = rng.integers(0, 2, 300)
    with pytest.raises(ValueError, match="a category of 60 levels in column 'many'"):
        permutation_test(HSIC(), frame, y, n_permutations=19)
    frame, y = mixed(150)
    assert (
        permutation_test(HSIC(), frame[["town", "b"]], y, n_permutations=49, random_state=0).p_value <= 0.05
    )
