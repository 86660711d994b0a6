"""Dask collections, on a real cluster of two processes."""

import operator
import os
import signal
import threading
import time
from contextlib import suppress
from functools import partial

import numpy as np
import pandas as pd
import pytest

da = pytest.importorskip("dask.array", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")

import dask  # noqa: E402
import dask.dataframe as dd  # noqa: E402

from l1lsmi import L1LSMI, FeatureSelector  # noqa: E402
from l1lsmi._checkpoint import Checkpoint  # noqa: E402
from l1lsmi._numerics.model import ModelBatch  # noqa: E402
from l1lsmi._validation.target import check_target  # noqa: E402
from l1lsmi.measures import SquaredMutualInformation  # noqa: E402
from l1lsmi.sources import open_rows  # noqa: E402
from l1lsmi.sources.dask import Cluster  # noqa: E402
from l1lsmi.strategies import Backward, Exhaustive, Forward, Ranking, _scores  # noqa: E402
from tests.conftest import assert_refused  # noqa: E402

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


def test_bytes_that_are_sent_do_not_grow_with_the_rows(client):
    moved = {}
    for n in (4_000, 16_000):
        X, y = data(n)
        table = open_rows(da.from_array(X, chunks=(n // 4, 6)), y).table
        target = SquaredMutualInformation()
        problem = target.bind(table, check_target(y, "regression"), 0)
        draw = problem.on_sample(200)[1].draws([(0,)])
        columns, weights = np.array([1, 4]), np.ones((1, 2))
        model = draw.score_set(columns).model
        models = ModelBatch(np.array([model.sigma]), np.array([model.regularization]))
        before = bytes_received(client)
        for _ in range(3):
            draw.evaluate(weights, None, columns[None], models)
        moved[n] = bytes_received(client) - before
    assert 0 < moved[16_000] <= 1.2 * moved[4_000]


def test_the_scheduler_knows_how_large_rows_are(client):
    X, _ = data(4_000)
    table = open_rows(da.from_array(X, chunks=(1_000, 6)), np.zeros(4_000)).table
    target = check_target(np.arange(4_000.0), "regression")
    parts = table.parts(target, np.zeros((1, 4_000), dtype=np.int8), 1_000).parts
    distributed.wait(parts)
    tasks = client.run_on_scheduler(
        lambda dask_scheduler: {key: task.nbytes for key, task in dask_scheduler.tasks.items()}
    )
    assert all(tasks[part.key] > X[:1_000].nbytes for part in parts)


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


# -- candidate sets --------------------------------------------------------------------------------


@pytest.fixture
def sent(monkeypatch):
    """Names of the functions that clusters were given, each with the processes that ran it."""
    found = {}
    in_order = Cluster.in_order

    def spying(self, function, problem, items):
        work = getattr(function, "function", function)  # of a task with a clock
        name = getattr(work, "func", work).__name__
        for pid, result in in_order(self, partial(with_its_process, function), problem, items):
            found.setdefault(name, set()).add(pid)
            yield result

    monkeypatch.setattr(Cluster, "in_order", spying)
    return found


def with_its_process(function, problem, item):
    return os.getpid(), function(problem, item)


def assert_on_workers(client, sent, names):
    workers = set(client.run(os.getpid).values())
    assert set(sent) == set(names)
    assert all(pids <= workers for pids in sent.values())


def test_sets_are_scored_on_the_workers_where_that_takes_long(client, sent, monkeypatch):
    X, y = data(300, m=12)
    one = L1LSMI(4, n_basis=20, n_restarts=4, random_state=0)
    expected = one.fit(X, y)
    score, order, ranking = expected.cv_score_, expected.order_, expected.ranking_
    x = da.from_array(X, chunks=(100, 12))
    monkeypatch.setattr(_scores, "WORTH_SENDING", np.inf)
    found = one.fit(x, y)
    assert_on_workers(client, sent, ["run_restarts"])
    for_nothing = found.cv_score_
    monkeypatch.setattr(_scores, "WORTH_SENDING", 0.0)
    found = one.fit(x, y)
    assert_on_workers(client, sent, ["run_restarts", "timed_score", "_neighbours"])
    assert found.cv_score_ == for_nothing == pytest.approx(score, rel=1e-9)
    assert np.array_equal(found.order_, order)
    assert np.array_equal(found.ranking_, ranking)


@pytest.mark.parametrize(
    ("strategy", "names"),
    [
        (Ranking(), ["_score_each"]),
        (Forward(shortlist=1), ["_score_additions", "_score_set"]),
        (Backward(shortlist=1), ["_score_removals", "_score_set"]),
        (Exhaustive(), ["_score"]),
    ],
)
def test_other_strategies_score_sets_on_the_workers(client, sent, strategy, names):
    X, y = data(300, m=8)
    one = FeatureSelector(SquaredMutualInformation(n_basis=15), strategy, 2, random_state=0)
    expected = one.fit(X, y)
    support, ranking, score = expected.support_, expected.ranking_, expected.score_
    found = one.fit(da.from_array(X, chunks=(100, 8)), y)
    assert np.array_equal(found.support_, support)
    assert np.array_equal(found.ranking_, ranking)
    assert found.score_ == pytest.approx(score, rel=1e-9)
    assert_on_workers(client, sent, names)


def test_a_worker_that_is_killed_while_sets_are_scored_costs_time_only(client):
    X, y = data(300, m=8)
    one = FeatureSelector(SquaredMutualInformation(n_basis=15), Exhaustive(), 3, random_state=0)
    score = one.fit(X, y).score_
    killer = kill_a_worker(client, 0.3)
    found = one.fit(da.from_array(X, chunks=(100, 8)), y)
    killer.join()
    assert found.score_ == pytest.approx(score, rel=1e-9)


def test_a_problem_is_sent_once(client, monkeypatch):
    sent = []
    scatter = client.scatter
    monkeypatch.setattr(
        client, "scatter", lambda *some, **options: sent.append(1) or scatter(*some, **options)
    )
    cluster, problem = Cluster(client), np.arange(3)
    for _ in range(2):
        assert list(cluster.in_order(np.add, problem, iter([1, 2, 3])))[2].tolist() == [3, 4, 5]
    assert len(sent) == 1
    assert next(cluster.in_order(np.add, problem + 1, iter([1]))).tolist() == [2, 3, 4]
    assert len(sent) == 2


def test_what_goes_wrong_in_a_task_is_left_as_it_is(client):
    with pytest.raises(ZeroDivisionError):
        list(Cluster(client).in_order(operator.floordiv, 1, iter([1, 0])))


def mixed():
    X, _ = data(900)
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["town"] = pd.Categorical(rng.choice(["Ulm", "Bonn", "Trier"], 900, p=[0.2, 0.5, 0.3]))
    frame.loc[::11, "town"] = np.nan
    frame["size"] = pd.Categorical(rng.choice(["S", "M", "L"], 900), ["S", "M", "L"], ordered=True)
    return frame, ((frame["town"] == "Bonn") ^ (frame["b"].fillna(0) > 0)).to_numpy().astype(int)


def test_categories_and_missing_values_on_a_cluster(client):
    frame, y = mixed()
    expected = selector().fit(frame, y)
    found = selector().fit(dd.from_pandas(frame, npartitions=4), y)
    assert np.array_equal(found.support_, expected.support_) and expected.support_[[1, 6]].all()
    assert found.smi_ == pytest.approx(expected.smi_, rel=1e-6)
    assert found.categories_ == expected.categories_
    with pytest.raises(ValueError, match="categorical_features is given, but the rows of X are on a cluster"):
        selector(categorical_features=["a"]).fit(dd.from_pandas(frame, npartitions=4), y)


# -- bad input ------------------------------------------------------------------------------------


def test_chunks_that_will_not_do_get_a_sentence(client):
    X, y = data(200)
    assert_refused(
        selector(), da.from_array(X, chunks=(50, 3)), y, r"2 chunks of columns.*rechunk\(\{1: -1\}\)"
    )
    assert_refused(selector(), da.from_array(X[:, 0], chunks=50), y, "2D")
    assert_refused(selector(), da.from_array(X, chunks=(50, 6)), "y", "has no column names")
    assert_refused(selector(), da.from_array(X, chunks=(50, 6)), y[:-1], "X has 200 rows, but y has 199")
    X[77, 2] = np.inf
    assert_refused(selector(), da.from_array(X, chunks=(50, 6)), y, "infinity, first in row 77 of column 2")
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(city="Rome")
    assert_refused(selector(), dd.from_pandas(frame, npartitions=2), y, "column 'city' of type")
    assert_refused(selector(), dd.from_pandas(frame, npartitions=2), "z", "'z', but X has no such column")


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
    started = Cluster(connected).in_order(operator.add, 1, iter([1, 2]))
    assert next(started) == 2
    table = open_rows(da.from_array(X, chunks=(500, 6)), y).table
    running.close()
    with pytest.raises(RuntimeError, match="connection to the cluster was lost"):
        table.rows_of(np.array([1, 2]))
    tasks = Cluster(connected).in_order(operator.add, 1, iter([1, 2]))
    with pytest.raises(RuntimeError, match="connection to the cluster was lost"):
        next(tasks)
    with pytest.raises(RuntimeError, match="connection to the cluster was lost"):
        next(started)
    connected.close()


def test_rows_are_spread_evenly_over_the_workers(client):
    X, y = data(4_000)
    first, second = sorted(client.scheduler_info()["workers"])
    blocks = [client.scatter(block, workers=[first]) for block in np.array_split(X, 8)]
    chunks = [da.from_delayed(block, (500, 6), dtype=np.float64) for block in map(dask.delayed, blocks)]
    table = open_rows(da.concatenate(chunks), y).table
    parts = table.parts(check_target(y, "regression"), np.zeros((1, 4_000), dtype=np.int8), 1_000)
    shares = {worker: len(share) for worker, share in parts._shares()}
    assert shares == {first: 4, second: 4}


def test_a_fit_on_a_cluster_goes_on_from_its_checkpoint(client, tmp_path, monkeypatch):
    X, y = data()
    chunks = da.from_array(X, chunks=(300, 6))
    expected = selector(explore_rows=400).fit(chunks, y)
    put, computed = Checkpoint.put, []

    def counted(self, key, value, codec):
        put(self, key, value, codec)
        computed.append(key)
        if len(computed) == 6:
            raise SystemExit

    monkeypatch.setattr(Checkpoint, "put", counted)
    with pytest.raises(SystemExit):
        selector(explore_rows=400, checkpoint=tmp_path / "run.l1lsmi").fit(chunks, y)
    resumed = selector(explore_rows=400, checkpoint=tmp_path / "run.l1lsmi").fit(chunks, y)
    assert len(set(computed)) == len(computed) > 6
    assert_same(resumed, expected)
