"""Dask collections, on a real cluster of two processes."""

import os
import signal
import threading
import time
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

da = pytest.importorskip("dask.array", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")

import dask.dataframe as dd  # noqa: E402

from l1lsmi import L1LSMI, FeatureSelector  # noqa: E402
from l1lsmi.measures import SquaredMutualInformation  # noqa: E402
from l1lsmi.sources import open_rows  # noqa: E402
from l1lsmi.strategies import Forward  # noqa: E402

# Clusters start and end processes, and say so.
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.xdist_group("cluster"),
]


def data(n=2_000, m=6):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m))
    return X, X[:, 1] * X[:, 4] + 0.2 * rng.normal(size=n)


@pytest.fixture(scope="module")
def cluster():
    running = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    yield running
    # It has lost count of the workers that were killed, and may stumble over them when it closes.
    with suppress(KeyError):
        running.close()


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as connected:
        connected.wait_for_workers(2, timeout=60)
        yield connected


def selector(**parameters):
    return L1LSMI(2, n_basis=40, n_restarts=2, random_state=0, **parameters)


def assert_same(found, expected):
    assert np.array_equal(found.support_, expected.support_)
    assert found.cv_score_ == pytest.approx(expected.cv_score_, rel=1e-9)
    assert found.smi_ == pytest.approx(expected.smi_, rel=1e-9)


def test_without_a_cluster_chunks_come_one_by_one():
    X, y = data()
    expected = selector(explore_rows=400).fit(X, y)
    assert_same(selector(explore_rows=400).fit(da.from_array(X, chunks=(300, 6)), y), expected)


def test_workers_keep_the_precision(client):
    X, y = data()
    chunks = da.from_array(X, chunks=(300, 6))
    exact, quick = (selector(explore_rows=400, precision=p).fit(chunks, y) for p in ("float64", "float32"))
    assert np.array_equal(quick.support_, exact.support_)
    assert quick.cv_score_ == pytest.approx(exact.cv_score_, abs=1e-3)
    here = selector(explore_rows=400, precision="float32").fit(X, y)
    assert quick.cv_score_ == pytest.approx(here.cv_score_, rel=1e-6)
    assert quick.cv_score_ != exact.cv_score_


@pytest.mark.parametrize("explore_rows", [400, 10_000, None])
def test_a_cluster_gives_what_one_process_gives(client, explore_rows):
    X, y = data(600 if explore_rows is None else 2_000)
    expected = selector(explore_rows=explore_rows).fit(X, y)
    chunks = len(X) // 5
    found = selector(explore_rows=explore_rows).fit(
        da.from_array(X, chunks=(chunks, 6)), da.from_array(y, chunks=chunks)
    )
    assert_same(found, expected)


def test_a_dataframe_with_its_target(client):
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    expected = selector(explore_rows=400).fit(frame, y)
    parts = dd.from_pandas(frame.assign(y=y), npartitions=4)
    found = selector(explore_rows=400).fit(parts, "y")
    assert_same(found, expected)
    assert found.get_feature_names_out().tolist() == ["b", "e"]
    chosen = found.transform(dd.from_pandas(frame, npartitions=2))
    assert chosen.columns.tolist() == ["b", "e"]
    assert len(chosen.compute()) == len(X)


def test_columns_of_a_dask_array(client):
    X, y = data()
    x = da.from_array(X, chunks=(500, 6))
    chosen = selector(explore_rows=400).fit(x, y).transform(x)
    assert np.array_equal(chosen.compute(), X[:, [1, 4]])


def bytes_received(client):
    """What every worker has been sent by others, and this process by all."""
    sent = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return sum(sent.values())


def test_what_travels_does_not_grow_with_the_rows(client):
    moved = {}
    for n in (4_000, 16_000):
        X, y = data(n)
        table = open_rows(da.from_array(X, chunks=(n // 4, 6)), y).table
        target = SquaredMutualInformation()
        from l1lsmi.validation import check_target

        problem = target.bind(table, check_target(y, "regression"), 0)
        problem.on_sample(200)
        draw = problem.draw(0)
        columns, weights = np.array([1, 4]), np.ones(2)
        model = draw.judge(columns).model
        before = bytes_received(client)
        for _ in range(3):
            draw.climb(weights, columns, model)
        moved[n] = bytes_received(client) - before
    assert 0 < moved[16_000] <= 1.2 * moved[4_000]


def kill_a_worker(client, delay):
    """Kill one of the processes, by a signal that it cannot catch, after a while."""
    pids = client.run(os.getpid)
    victim = sorted(pids.values())[0]

    def strike():
        time.sleep(delay)
        os.kill(victim, signal.SIGKILL)

    thread = threading.Thread(target=strike)
    thread.start()
    return thread


@pytest.mark.parametrize("moment", [0.05, 0.4, 1.0])
def test_a_worker_that_is_killed_costs_time_only(client, moment):
    X, y = data()
    expected = selector(explore_rows=400).fit(X, y)
    killer = kill_a_worker(client, moment)
    found = selector(explore_rows=400).fit(da.from_array(X, chunks=(200, 6)), y)
    killer.join()
    assert_same(found, expected)


# -- bad input ------------------------------------------------------------------------------------


def refused(X, y, words):
    with pytest.raises(ValueError, match=words) as caught:
        selector().fit(X, y)
    assert "\n" not in str(caught.value)


def test_chunks_that_will_not_do_get_a_sentence(client):
    X, y = data(200)
    refused(da.from_array(X, chunks=(50, 3)), y, r"2 chunks of columns.*rechunk\(\{1: -1\}\)")
    refused(da.from_array(X[:, 0], chunks=50), y, "2D")
    refused(da.from_array(X, chunks=(50, 6)), "y", "has no names")
    refused(da.from_array(X, chunks=(50, 6)), y[:-1], "X has 200 rows, y has 199")
    X[77, 2] = np.nan
    refused(da.from_array(X, chunks=(50, 6)), y, "NaN, first in row 77 of column 2")
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(city="Rome")
    refused(dd.from_pandas(frame, npartitions=2), y, "column 'city' of type")
    refused(dd.from_pandas(frame, npartitions=2), "z", "'z', but X has no such column")


def test_chunks_of_unknown_length_are_counted(client):
    X, y = data(600)
    x = da.from_array(X, chunks=(100, 6))
    kept = X[:, 0] > -1
    unknown = x[da.from_array(kept, chunks=100)]
    assert np.isnan(unknown.shape[0])
    assert_same(selector().fit(unknown, y[kept]), selector().fit(X[kept], y[kept]))


def test_a_cluster_that_goes_away_is_named():
    X, y = data()
    running = distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)
    connected = distributed.Client(running)
    table = open_rows(da.from_array(X, chunks=(500, 6)), y).table
    running.close()
    with pytest.raises(RuntimeError, match="cluster went away"):
        table.rows_of(np.array([1, 2]))
    connected.close()
