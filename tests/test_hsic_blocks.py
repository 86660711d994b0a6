"""The Hilbert-Schmidt criterion as a sum over pairs of blocks: rows in parts, in files, on a cluster."""

import tracemalloc
import weakref
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from l1lsmi import L1HSIC, FeatureSelector
from l1lsmi._blas import single_threaded_blas
from l1lsmi._numerics.hsic import hsic, pair_terms
from l1lsmi._numerics.model import Model
from l1lsmi._rows.stream import _even_blocks
from l1lsmi._rows.table import Resources, Table
from l1lsmi._validation.target import check_target
from l1lsmi.measures import HSIC
from l1lsmi.sources import open_rows
from l1lsmi.strategies import Backward, Exhaustive, Forward, Ranking
from tests.conftest import TASKS

N, M = 700, 6
#: So little that not even two columns of all rows may be cached.
TIGHT = 8_000


@pytest.fixture(scope="module", autouse=True)
def small_sample():
    """Medians of few rows, so that few rows are more than these; products on one thread, as in a fit."""
    with pytest.MonkeyPatch.context() as patch, single_threaded_blas():
        patch.setattr(hsic, "MEDIAN_ROWS", 200)
        yield


def data(task, n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, M)) * [1, 10, 1, 0.1, 1, 1] + [0, 5, 0, 0, 100, 0]
    X[:, 5] = rng.standard_cauchy(n)  # far points: no series
    z = (X[:, 1] - 5) * X[:, 3] + 0.2 * rng.normal(size=n)
    return X, (np.digitize(z, [-0.5, 0.5]) if task == "classification" else z)


def blocks_of(X, sizes):
    return lambda: iter(np.split(X, np.cumsum(sizes)[:-1])) if len(sizes) > 1 else iter([X])


def paired(table, y, task, **widths):
    return HSIC(**widths).bind(table, check_target(y, task)).draws([(0,)])


def everything(pairs):
    """Every sum over pairs of rows."""
    some, others = np.array([1, 3]), np.array([0, 2, 4])
    weights, model = np.array([0.7, 1.4, 0.2]), Model(1.3)
    return [
        pairs.median_distance(weights, np.array([0, 3, 5])),
        pairs.value(weights, np.array([0, 3, 5]), 1.3),
        *pairs.value_and_gradient(weights, np.array([4, 1, 2]), model),
        pairs.set_gradient(some, model, np.arange(M)),
        pairs.score_set(some).loss,
        pairs.value_of_set(some),
        pairs.score_each(np.arange(M)),
        pairs.score_neighbours(some, others, 1.0),
        pairs.score_neighbours(np.arange(4), some, -1.0),
    ]


def assert_alike(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12 * np.abs(b).max())


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("memory_limit", [None, TIGHT, 120_000])
def test_out_of_core_blocks_give_what_the_array_gives(task, memory_limit):
    X, y = data(task)
    expected = everything(paired(Table.of(X), y, task))
    ragged = [1, 170, 2, 299, N - 472]
    opened = open_rows(blocks_of(X, ragged), y, Resources(memory_limit, 2))
    pairs = paired(opened.table, y, task)
    assert_alike(everything(pairs), expected)
    assert (pairs._last_columns is None) == (memory_limit == TIGHT)


@pytest.mark.parametrize("task", TASKS)
def test_a_memory_limit_changes_nothing_but_memory(task):
    X, y = data(task)
    whole, cut = (paired(Table.of(X, Resources(limit, 2)), y, task) for limit in (None, TIGHT))
    assert_alike(everything(cut), everything(whole))
    assert cut._block_rows(2) == 100


@given(
    data=st.data(), task=st.sampled_from(TASKS), sizes=st.lists(st.integers(0, 40), min_size=1, max_size=9)
)
@settings(deadline=None, max_examples=12)
def test_any_cut_into_blocks_gives_the_same(data, task, sizes):
    n = sum(sizes)
    if n < 5:
        return
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, M))
    y = np.arange(n) % 3 if task == "classification" else X[:, 0] * X[:, 1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hsic, "MEDIAN_ROWS", 4)
        for name, most in (("stream.FEWEST_ROWS", 40), ("stream.PART_ROWS", 60)):
            patch.setattr(f"l1lsmi._rows.{name}", data.draw(st.integers(7, most)))
        patch.setattr(pair_terms, "STRIP_PAIRS", data.draw(st.integers(30, 3_000)))
        expected = everything(paired(Table.of(X), y, task))
        patch.setattr(hsic, "BLOCK_ROWS", data.draw(st.integers(7, 50)))
        patch.setattr(hsic, "FEWEST_ROWS", 7)
        limit = data.draw(st.sampled_from([1, 2_000, 10_000]))
        table = open_rows(blocks_of(X, sizes), y, Resources(limit)).table
        assert_alike(everything(paired(table, y, task)), expected)
        assert_alike(everything(paired(Table.of(X, Resources(limit)), y, task)), expected)


@given(st.lists(st.integers(0, 30), max_size=8), st.integers(1, 40))
def test_even_blocks_have_the_same_rows(sizes, n_rows):
    x = np.arange(sum(sizes))[:, None]
    cut = list(_even_blocks(iter(np.split(x, np.cumsum(sizes)[:-1])), n_rows)) if sizes else []
    assert all(len(block) == n_rows for block in cut[:-1])
    assert not cut or np.array_equal(np.concatenate(cut), x)


def test_a_target_without_a_series_has_the_same_means(monkeypatch):
    X, y = data("regression", n=700)
    expected = paired(Table.of(X), y, "regression").value(np.ones(2), np.array([1, 3]), 1.0)
    monkeypatch.setattr("l1lsmi._numerics.hsic.paired_target.chebyshev_series", lambda half_length: None)
    found = paired(Table.of(X), y, "regression").value(np.ones(2), np.array([1, 3]), 1.0)
    assert found == pytest.approx(expected, rel=1e-10)


# -- selectors ---------------------------------------------------------------------------------------


def mapped(folder, X, y):
    np.save(folder / "x.npy", X)
    return np.load(folder / "x.npy", mmap_mode="r"), y


def parquet(folder, X, y):
    path = folder / "table.parquet"
    pd.DataFrame(X, columns=list("abcdef")).assign(y=y).to_parquet(path, row_group_size=150)
    return path, "y"


def chunks(folder, X, y):
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    return da.from_array(X, chunks=(len(X) // 5 + 7, M)), y


SOURCES = {
    "parquet": parquet,
    "memory map": mapped,
    "blocks": lambda folder, X, y: (blocks_of(X, [150, 1, N - 151]), y),
    "dask": chunks,
}


@pytest.mark.parametrize("explore_rows", [None, 150, 10_000])
@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_what_the_array_gives(kind, explore_rows, tmp_path):
    task = "classification" if kind == "blocks" else "regression"
    X, y = data(task)
    limits = {"memory_limit": TIGHT}
    parameters = {"n_restarts": 2, "max_iter": 1, "explore_rows": explore_rows, "random_state": 0}
    expected = L1HSIC(2, **parameters).fit(X, y)
    found = L1HSIC(2, **parameters, **limits).fit(*SOURCES[kind](tmp_path, X, y))
    assert np.flatnonzero(found.support_).tolist() == [1, 3]
    assert np.array_equal(found.support_, expected.support_)
    assert found.hsic_ == pytest.approx(expected.hsic_, rel=1e-10)
    np.testing.assert_allclose(found.weights_, expected.weights_, rtol=1e-8)


@pytest.mark.parametrize(
    "strategy", [Ranking(), Forward(), Backward(), Exhaustive()], ids=lambda s: type(s).__name__
)
def test_every_strategy_reads_rows_in_blocks(strategy, tmp_path):
    X, y = data("classification")
    X, y = X[:, :4], y
    chosen = FeatureSelector(HSIC(), strategy, 2)
    expected = chosen.fit(X, y)
    support, score = expected.support_, expected.score_
    found = chosen.fit(blocks_of(X, [300, 400]), y)
    assert np.array_equal(found.support_, support)
    assert found.score_ == pytest.approx(score, rel=1e-10)


def test_rows_are_read_as_often_as_the_memory_limit_needs():
    X, y = data("regression")
    passes = []

    def factory():
        passes.append(1)
        return iter(np.split(X, 7))

    reads = {}
    for limit in (TIGHT, 20_000, 10**7):
        pairs = paired(open_rows(factory, y, Resources(limit)).table, y, "regression", sigma=1.0)
        pairs.value(np.ones(2), np.array([1, 3]), 1.0)
        passes.clear()
        pairs.value(np.ones(2), np.array([1, 3]), 1.1)
        reads[limit] = len(passes)
    # 700 rows of 2 columns, 16 bytes each, in half the limit: 250 or 625 rows, in blocks of 100.
    assert reads == {TIGHT: 4, 20_000: 2, 10**7: 0}


def test_x_is_never_in_memory_whole():
    """Blocks are made as they are read, and few are alive at a time."""
    n_blocks, n_rows, m, alive, most = 24, 200, 3_000, weakref.WeakSet(), [0]

    class Block(np.ndarray):
        __hash__ = object.__hash__

    def factory():
        for i in range(n_blocks):
            block = np.random.default_rng(i).normal(size=(n_rows, m)).view(Block)
            alive.add(block)
            most[0] = max(most[0], len(alive))
            yield block

    y = np.concatenate([np.asarray(b[:, 3] + b[:, 7] > 0) for b in factory()])
    most[0] = 0
    parameters = {"n_restarts": 1, "max_iter": 1, "explore_rows": 150, "random_state": 0}
    tracemalloc.start()
    found = L1HSIC(2, memory_limit=4_000_000, **parameters).fit(factory, y)
    # All columns at once, too.
    everywhere = np.arange(m)
    pairs = paired(open_rows(factory, y, Resources(4_000_000)).table, y, "classification", sigma=1.0)
    gradient = pairs.set_gradient(np.array([3, 8]), Model(2.0), everywhere)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most[0] <= 3
    assert peak < 8 * n_blocks * n_rows * m / 2
    X = np.asarray(np.concatenate(list(factory())))
    expected = L1HSIC(2, **parameters).fit(X, y)
    assert np.flatnonzero(found.support_).tolist() == np.flatnonzero(expected.support_).tolist() == [3, 7]
    assert found.hsic_ == pytest.approx(expected.hsic_, rel=1e-10)
    whole = paired(Table.of(X), y, "classification", sigma=1.0)
    assert_alike([gradient], [whole.set_gradient(np.array([3, 8]), Model(2.0), everywhere)])


def test_a_memory_limit_is_kept():
    X = np.random.default_rng(0).normal(size=(1_500, 300))
    y = X[:, 3] * X[:, 7]
    peaks = []
    for limit in (None, 4_000_000):
        pairs = paired(Table.of(X, Resources(limit)), y, "regression", sigma=1.0)
        columns = np.arange(300)
        pairs.value(np.ones(300), columns, 5.0)
        tracemalloc.start()
        pairs.set_gradient(columns, Model(5.0), columns)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 4_000_000 < peaks[0]


# -- a cluster ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    running = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with distributed.Client(running) as connected:
        yield connected
    with suppress(KeyError):
        running.close()


@pytest.mark.xdist_group("cluster")
@pytest.mark.filterwarnings("ignore")
class TestCluster:
    @pytest.mark.parametrize("memory_limit", [None, TIGHT])
    def test_pairs_on_workers_give_what_one_process_gives(self, client, memory_limit):
        X, y = data("regression")
        opened = open_rows(*chunks(None, X, y), Resources(memory_limit))
        pairs = paired(opened.table, y, "regression")
        assert_alike(everything(pairs), everything(paired(Table.of(X), y, "regression")))
        assert pairs._last_columns is None  # rows stay on the workers

    def test_a_cluster_gives_what_one_process_gives(self, client):
        X, y = data("classification")
        parameters = {"n_restarts": 1, "max_iter": 1, "random_state": 0}
        for explore_rows in (None, 150):
            expected = L1HSIC(2, explore_rows=explore_rows, **parameters).fit(X, y)
            found = L1HSIC(2, explore_rows=explore_rows, **parameters).fit(*chunks(None, X, y))
            assert np.array_equal(found.support_, expected.support_)
            assert found.hsic_ == pytest.approx(expected.hsic_, rel=1e-10)

    def test_workers_do_the_work_and_are_sent_columns_once(self, client):
        X, y = data("regression", n=3_000)
        pairs = paired(open_rows(*chunks(None, X, y)).table, y, "regression", sigma=1.0)
        columns = np.array([1, 3])

        def received():
            """How often each worker was sent rows of others."""
            return client.run(
                lambda dask_worker: sum(
                    str(key).startswith(("numbered", "narrow_part", "kept_parts", "make_part"))
                    for entry in dask_worker.transfer_incoming_log
                    for key in entry["keys"]
                )
            )

        before = received()
        first = pairs.value(np.ones(2), columns, 1.0)
        between = received()
        assert sum(between.values()) > sum(before.values())
        with pytest.MonkeyPatch.context() as patch:
            # This process cannot compute a pair: only the workers can.
            patch.setattr(pair_terms.PairBlock, "centred", None)
            again = pairs.value(np.ones(2), columns, 1.0)
            pairs.value(np.ones(1), columns[:1], 1.0)
        assert again == first
        assert received() == between
