"""Rows that are not in memory: files, memory maps, blocks from a function."""

import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi._rows.statistics import column_statistics
from l1lsmi._rows.stream import ColumnStatistics
from l1lsmi._rows.table import Table
from l1lsmi.baselines import MRMR
from l1lsmi.measures import Pearson, SquaredMutualInformation
from l1lsmi.sources import open_rows, read_sample
from l1lsmi.strategies import Forward, Ranking
from tests.conftest import TASKS, assert_refused

N = 1_500


def table(task, n=N):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5)) * [1, 10, 1, 0.1, 1] + [0, 5, 0, 0, 100]
    z = (X[:, 1] - 5) * X[:, 3] + 0.2 * rng.normal(size=n)
    y = np.where(z > 0, "high", "low") if task == "classification" else z
    return pd.DataFrame(X, columns=list("abcde")), y


def selector(**parameters):
    return L1LSMI(2, n_restarts=2, n_basis=40, random_state=0, **parameters)


def parquet(folder, frame, y, row_group_size=400):
    path = folder / "table.parquet"
    frame.assign(y=y).to_parquet(path, row_group_size=row_group_size)
    return path


def directory(folder, frame, y):
    whole = frame.assign(y=y)
    for i, rows in enumerate(np.array_split(np.arange(len(whole)), 3)):
        some = whole.iloc[rows]
        # Columns in another order, as different writers leave them.
        some[some.columns[::-1] if i == 1 else some.columns].to_parquet(folder / f"part{i}.parquet")
    return folder


SOURCES = {
    "parquet": lambda folder, frame, y: (parquet(folder, frame, y), "y"),
    "path as text": lambda folder, frame, y: (str(parquet(folder, frame, y)), "y"),
    "directory": lambda folder, frame, y: (directory(folder, frame, y), "y"),
    "dataset": lambda folder, frame, y: (ds.dataset(parquet(folder, frame, y)), "y"),
    "arrow table": lambda folder, frame, y: (pa.Table.from_pandas(frame.assign(y=y)), "y"),
    "target apart": lambda folder, frame, y: (pa.Table.from_pandas(frame), y),
    "blocks": lambda folder, frame, y: (lambda: iter(np.array_split(frame.to_numpy(), 7)), y),
    "frames": lambda folder, frame, y: (lambda: (frame.iloc[i : i + 211] for i in range(0, N, 211)), y),
    "pairs": lambda folder, frame, y: (
        lambda: ((frame.to_numpy()[i : i + 400], y[i : i + 400]) for i in range(0, N, 400)),
        None,
    ),
}


def feather(folder, frame, y):
    path = folder / "table.feather"
    frame.assign(y=y).to_feather(path)
    return path, "y"


SOURCES["feather"] = feather


@pytest.mark.parametrize("explore_rows", [400, 10_000])
@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_what_the_array_gives(kind, explore_rows, tmp_path):
    frame, y = table("regression")
    expected = selector(explore_rows=explore_rows).fit(frame, y)
    found = selector(explore_rows=explore_rows).fit(*SOURCES[kind](tmp_path, frame, y))
    assert np.array_equal(found.support_, expected.support_)
    assert found.cv_score_ == pytest.approx(expected.cv_score_, rel=1e-10)
    assert found.smi_ == pytest.approx(expected.smi_, rel=1e-10)
    assert found.n_features_in_ == 5
    if kind not in ("blocks", "frames", "pairs"):
        assert found.feature_names_in_.tolist() == list("abcde")


@pytest.mark.parametrize("task", TASKS)
def test_a_search_on_all_rows_visits_the_source(task, tmp_path):
    frame, y = table(task, n=300)
    settings = {"explore_rows": None, "max_iter": 2}
    expected = selector(**settings).fit(frame, y)
    found = selector(**settings).fit(parquet(tmp_path, frame, y, 100), "y")
    assert np.array_equal(found.support_, expected.support_)
    assert found.cv_score_ == pytest.approx(expected.cv_score_, rel=1e-9)


def test_a_memory_map_is_an_array(tmp_path):
    frame, y = table("regression")
    np.save(tmp_path / "x.npy", frame.to_numpy())
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    expected = selector(explore_rows=400).fit(frame.to_numpy(), y)
    assert selector(explore_rows=400).fit(mapped, y).cv_score_ == expected.cv_score_


@pytest.mark.parametrize("kept", [2**28, 8 * 300 * 5 - 1])
def test_other_strategies_read_rows_that_are_too_many_to_cache(kept, tmp_path, monkeypatch):
    frame, y = table("regression", n=300)
    steps = FeatureSelector(SquaredMutualInformation(n_basis=20), Forward(), 2, random_state=0)
    expected = steps.fit(frame, y).score_
    visits = []
    blocks = np.array_split(frame.to_numpy(), 3)
    monkeypatch.setattr("l1lsmi._rows.table.DEFAULT_CACHED", kept)
    found = steps.fit(lambda: visits.append(1) or iter(blocks), y)
    assert found.score_ == pytest.approx(expected, rel=1e-9)
    # Once to measure the columns and once to take the rows; or once for every sum.
    assert len(visits) == 2 if kept == 2**28 else len(visits) > 20
    assert steps.fit(parquet(tmp_path, frame, y), "y").score_ == pytest.approx(expected, rel=1e-9)


def test_a_file_is_never_in_memory_whole(tmp_path, monkeypatch):
    n = 240_000
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 40)), columns=[f"c{i}" for i in range(40)])
    path = parquet(tmp_path, frame, frame["c3"] + frame["c7"] > 0, 10_000)
    size = frame.to_numpy().nbytes
    del frame
    tracemalloc.start()
    found = L1LSMI(2, n_restarts=1, explore_rows=500, n_basis=30, random_state=0).fit(path, "y")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.get_feature_names_out().tolist() == ["c3", "c7"]
    assert peak < size / 2
    # What pyarrow holds is not seen by Python.
    source = open_rows(path, "y").table.source
    monkeypatch.setattr("l1lsmi._arrow.BUFFER_BYTES", 2**12)
    before = pa.total_allocated_bytes()
    assert max(pa.total_allocated_bytes() for _ in source.blocks(None)) - before < size / 2


@given(
    cuts=st.lists(st.integers(0, 40), max_size=5),
    power=st.integers(-150, 150),
    offset=st.sampled_from([0.0, 1.0, 1e6]),
)
@settings(deadline=None)
def test_statistics_of_blocks_are_those_of_all(cuts, power, offset):
    x = (np.random.default_rng(0).normal(size=(40, 3)) + offset) * 10.0**power
    x[:, 2] = x[0, 2]
    blocks = [b for b in np.split(x, sorted(cuts)) if len(b)]
    total = ColumnStatistics.of(blocks[0])
    for block in blocks[1:]:
        total = total.merged(ColumnStatistics.of(block))
    mean, scale = column_statistics(x)
    np.testing.assert_allclose(total.mean, mean, rtol=1e-9)
    np.testing.assert_allclose(total.scale, scale, rtol=1e-7)
    assert total.n_rows == 40 and total.scale[2] == 0


def test_a_sample_of_a_file_serves_any_selector(tmp_path):
    frame, y = table("classification")
    X, targets = read_sample(parquet(tmp_path, frame, y), "y", 300, random_state=0)
    assert X.shape == (300, 5)
    assert np.mean(targets == "high") == pytest.approx(np.mean(y == "high"), abs=0.01)
    assert L1HSIC(2, random_state=0).fit(X, targets).support_[[1, 3]].all()


def test_rows_of_are_those_rows():
    frame, y = table("regression")
    opened = open_rows(lambda: iter(np.array_split(frame.to_numpy(), 7)), y).table
    rows = np.array([3, 1_400, 5, 900])
    assert np.array_equal(opened.rows_of(rows).x, frame.to_numpy()[rows])
    known = opened._last
    assert np.array_equal(opened.rows_of(rows[::-1]).x, frame.to_numpy()[rows[::-1]])
    assert opened._last is known


# -- bad input ------------------------------------------------------------------------------------


def test_files_that_will_not_do_get_a_sentence(tmp_path):
    frame, y = table("regression")
    path = parquet(tmp_path, frame, y)
    assert_refused(selector(), "nowhere.parquet", "y", "'nowhere.parquet'.*no such file")
    assert_refused(selector(), path, "z", "y is 'z'.*no such column: it has 'a', 'b'")
    assert_refused(selector(), path, None, "y is None: pass the name of the column to predict")
    assert_refused(selector(), pa.Table.from_pandas(frame.assign(city="Rome")), None, "y is None")
    assert_refused(selector(), path, y[:-1], "X has 1500 rows, but y has 1499")
    junk = tmp_path / "junk.parquet"
    junk.write_bytes(b"PAR1" + bytes(100))
    assert_refused(selector(), junk, "y", "cannot be read as parquet")
    files = pa.Table.from_pandas(frame.assign(picture=b"png", y=y))
    assert_refused(selector(), files, "y", "column 'picture' of type .*: turn it into numbers")
    frame.loc[700, "c"] = np.inf
    assert_refused(selector(), parquet(tmp_path, frame, y), "y", "infinity, first in row 700 of column 'c'")
    missing = np.where(np.arange(N) == 5, None, y)
    assert_refused(
        selector(),
        pa.Table.from_pandas(frame.replace(np.inf, 0).assign(y=missing.astype(float))),
        "y",
        "missing|NaN",
    )
    twice = pa.Table.from_arrays([pa.array([1.0, 2.0])] * 2, names=["a", "a"])
    assert_refused(selector(), twice, [0, 1], "2 columns named 'a'")


def test_blocks_that_will_not_do_get_a_sentence():
    frame, y = table("regression")
    x = frame.to_numpy()
    assert_refused(selector(), lambda: 3, y, "returns int: it must return an iterator")
    assert_refused(selector(), lambda: iter([x[:, 0]]), y, "Block 0 of X has shape")
    assert_refused(
        selector(),
        lambda: iter([x, x[:, :2]]),
        y,
        "Block 1 of X has 2 columns, but the earlier blocks have 5: pass",
    )
    assert_refused(selector(), lambda: iter([x]), None, "the blocks of X have no targets")
    assert_refused(selector(), lambda: iter([(x, y)]), y, "y is given too")
    assert_refused(selector(), lambda: iter([]), y, "n_samples=0")
    assert_refused(selector(), lambda: iter([x[:, :2] * 0]), y, "constant")
    assert_refused(selector(), lambda: iter([[["a", "b"]]]), y, "Block 0 of X is a list that is not a table")


def test_selectors_that_need_rows_in_memory_say_so(tmp_path):
    frame, y = table("regression")
    path = parquet(tmp_path, frame, y)
    assert_refused(MRMR(2), path, "y", "MRMR needs all rows in memory.*read_sample")
    assert_refused(
        FeatureSelector(Pearson(), Ranking(), 2), path, "y", "FeatureSelector needs all rows in memory"
    )
    fitted = selector(explore_rows=300).fit(path, "y")
    with pytest.raises(ValueError, match="get_feature_names_out"):
        fitted.transform(path)


def test_a_failed_fit_keeps_nothing(tmp_path):
    frame, y = table("regression")
    chosen = selector(explore_rows=300).fit(frame, y)
    before = dict(vars(chosen))
    assert_refused(chosen, Path("nowhere.parquet"), "y", "no such file")
    assert all(vars(chosen)[name] is before[name] for name in before)


def test_tables_know_which_columns_they_have():
    x = np.random.default_rng(0).normal(size=(9, 6))
    whole = Table.of(x)
    some = Table(x[:, [1, 4]], whole.mean, whole.scale, columns=np.array([1, 4]))
    rows = np.arange(9)
    assert np.array_equal(some.take(rows, np.array([4])), whole.take(rows, np.array([4])))
    assert np.array_equal(some.take(rows, np.array([1, 4])), whole.take(rows, np.array([1, 4])))
