"""Rows that are not in memory and not what they seem: an answer that is right, or a sentence."""

import joblib
import numpy as np
import pandas as pd
import pytest

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
da = pytest.importorskip("dask.array", reason="dask is not installed")

import dask  # noqa: E402
import dask.dataframe as dd  # noqa: E402
import distributed  # noqa: E402
import pyarrow.dataset as ds  # noqa: E402

from l1lsmi import L1HSIC, L1LSMI  # noqa: E402
from tests.conftest import assert_refused  # noqa: E402


def frame(n=200, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    return table, table["b"] + table["d"] ** 2


def selector(k=2, **options):
    return L1LSMI(k, n_restarts=1, n_basis=20, random_state=0, **options)


@pytest.mark.filterwarnings("ignore::l1lsmi._warnings.DataWarning")
def test_columns_in_the_names_of_directories(tmp_path):
    table, _ = frame()
    table["part"] = np.arange(200) % 3
    table["y"] = 3.0 * table["part"] + 0.1 * table["a"]
    whole = pa.Table.from_pandas(table)
    ds.write_dataset(whole, tmp_path, format="parquet", partitioning=["part"], partitioning_flavor="hive")
    found = selector(1).fit(ds.dataset(tmp_path, partitioning="hive"), "y")
    assert found.get_feature_names_out().tolist() == ["part"]


@pytest.mark.parametrize(
    ("columns", "words"),
    [(["a", "b", "y"], "2.parquet has no column 'c'"), ([*"abcdefy"], "2.parquet has a column 'f'")],
)
def test_files_with_different_columns(tmp_path, columns, words):
    table, y = frame()
    table = table.assign(y=y, f=1.0)
    table[[*"abcdey"]].to_parquet(tmp_path / "1.parquet")
    table[columns].to_parquet(tmp_path / "2.parquet")
    assert_refused(selector(), tmp_path, "y", words)


def test_a_file_with_text_where_others_have_numbers(tmp_path):
    table, y = frame()
    table.assign(y=y).to_parquet(tmp_path / "1.parquet")
    table.assign(y=y, b="q").to_parquet(tmp_path / "2.parquet")
    assert_refused(selector(), tmp_path, "y", r"column 'b' of type .*string in .*2\.parquet")


def test_a_dataset_with_a_filter(tmp_path):
    table, y = frame(400)
    table.assign(y=y).to_parquet(tmp_path / "all.parquet")
    kept = table["a"] > 0
    found = selector().fit(ds.dataset(tmp_path / "all.parquet").filter(ds.field("a") > 0), "y")
    expected = selector().fit(table[kept], y[kept])
    assert np.array_equal(found.support_, expected.support_)
    assert found.smi_ == pytest.approx(expected.smi_, rel=1e-9)


def test_a_dask_dataframe_with_other_columns_is_not_transformed():
    table, y = frame()
    fitted = selector().fit(table, y)
    right = fitted.transform(dd.from_pandas(table, npartitions=2))
    assert right.columns.tolist() == ["b", "d"]
    for other, first in ((table[list("edcba")], "e"), (table.rename(columns=str.upper), "A")):
        with pytest.raises(
            ValueError, match=f"X has column '{first}' where the selector was fitted to 'a': pass"
        ):
            fitted.transform(dd.from_pandas(other, npartitions=2))


def test_blocks_with_columns_in_another_order():
    table, y = frame()
    blocks = [table[:100], table[100:][list("edcba")]]
    assert_refused(
        selector(),
        lambda: iter(blocks),
        y,
        "Block 1 of X has column 'e' where the earlier blocks have 'a': pass",
    )


def test_a_function_that_gives_the_same_iterator_or_fewer_rows():
    table, y = frame()
    X = table.to_numpy()
    once = iter([X[:100], X[100:]])
    assert_refused(selector(), lambda: once, y, "X gave 0 rows on this pass and 200 on the first")
    calls = []

    def fewer():
        calls.append(len(calls))
        return iter([X] if len(calls) < 3 else [X[:150]])

    assert_refused(selector(explore_rows=100), fewer, y, "X gave 150 rows on this pass and 200 on the first")


def test_a_generator_is_no_function():
    table, y = frame()
    assert_refused(
        selector(),
        (block for block in [table.to_numpy()]),
        y,
        "X is a generator, which can be read only once",
    )


def test_complex_numbers():
    table, y = frame()
    X = table.to_numpy() * 1j
    for given in (lambda: iter([X]), da.from_array(X, chunks=(100, 5))):
        assert_refused(selector(), given, y, "complex data is not supported")


def test_targets_of_dask_beside_rows_in_memory():
    table, y = frame()
    X = table.to_numpy()
    expected = selector().fit(X, y)
    assert selector().fit(X, da.from_array(y.to_numpy(), chunks=50)).smi_ == expected.smi_
    assert np.array_equal(
        selector().fit(lambda: iter([X]), da.from_array(y.to_numpy())).support_, expected.support_
    )


def test_other_things_of_dask():
    table, y = frame()
    assert_refused(selector(), dd.from_pandas(table, npartitions=2)["a"], y, r"got X with 1 dimension\(s\)")
    assert_refused(
        selector(),
        dask.delayed(table.to_numpy()),
        y,
        r"X is a Delayed.* of dask: pass an array or a dataframe",
    )


@pytest.mark.parametrize("limit", [1_000, 2_000_000])
def test_a_tensor_and_little_memory(limit):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    table, y = frame()
    X = table.to_numpy()
    expected = selector().fit(X, y)
    found = selector(memory_limit=limit).fit(torch.as_tensor(X), y)
    assert np.array_equal(found.support_, expected.support_)
    assert found.smi_ == pytest.approx(expected.smi_, rel=1e-9)


def test_devices_without_values_and_arrays_that_cannot_be_written_to(recwarn):
    pytest.importorskip("torch", reason="torch is not installed")
    table, y = frame()
    assert_refused(selector(device="meta"), table, y, "device='meta' cannot be used")
    X = table.to_numpy()
    X.flags.writeable = False
    selector(device="cpu").fit(X, y)
    assert not recwarn.list


@pytest.mark.xdist_group("cluster")
def test_rows_of_a_cluster_are_asked_for_from_here_whatever_joblib_was_told():
    table, y = frame()
    X = table.to_numpy()
    expected = L1HSIC(2, n_restarts=2, random_state=0).fit(X, y)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask", n_jobs=-1),
    ):
        found = L1HSIC(2, n_restarts=2, random_state=0).fit(da.from_array(X, chunks=(50, 5)), y)
    assert np.array_equal(found.support_, expected.support_)
