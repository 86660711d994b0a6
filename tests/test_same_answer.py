"""The toys of the paper have one answer, wherever their rows are."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from l1lsmi import L1LSMI
from l1lsmi._numerics.ranking import best_first
from l1lsmi.datasets import make_and_or, make_quad, make_xor
from tests.conftest import has_module

TOYS = {"and_or": make_and_or, "quad": make_quad, "xor": make_xor}
#: Several blocks, chunks or groups in every toy.
ROWS = 64


@cache
def toy(name):
    X, y = TOYS[name](n_samples=400, random_state=0)
    return np.asarray(X, dtype=np.float64), y


def selector(explore_rows, **parameters):
    return L1LSMI(4, n_restarts=4, n_basis=40, explore_rows=explore_rows, random_state=0, **parameters)


@cache
def in_memory(name, explore_rows):
    return selector(explore_rows).fit(*toy(name))


def assert_same(found, name, explore_rows):
    expected = in_memory(name, explore_rows)
    assert np.array_equal(found.support_, expected.support_)
    assert found.smi_ == pytest.approx(expected.smi_, abs=1e-6)
    assert found.stop_reason_ == expected.stop_reason_
    assert np.array_equal(found.ranking_, expected.ranking_)


@pytest.fixture(autouse=True)
def one_thread_of_torch():
    """Threads that wait for each other in small products are slow where other tests run beside them."""
    if not has_module("torch"):
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def torch_tensor(X, y, folder):
    return pytest.importorskip("torch").as_tensor(X), y


def blocks(X, y, folder):
    return lambda: (X[i : i + ROWS] for i in range(0, len(X), ROWS)), y


def parquet(X, y, folder):
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)
    frame.to_parquet(folder / "rows.parquet", row_group_size=ROWS)
    return folder / "rows.parquet", "y"


WAYS = [torch_tensor, blocks, parquet]


# A sample of 150 is searched, and all rows are visited to decide; or all are searched.
@pytest.mark.parametrize("explore_rows", [150, 10_000])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TOYS)
def test_rows_elsewhere_give_what_numpy_gives(name, way, explore_rows, tmp_path):
    assert_same(selector(explore_rows).fit(*way(*toy(name), tmp_path)), name, explore_rows)


@pytest.mark.parametrize("name", TOYS)
def test_a_memory_limit_gives_what_numpy_gives(name):
    assert_same(selector(150, memory_limit=50_000).fit(*toy(name)), name, 150)


@pytest.mark.filterwarnings("ignore")  # clusters start and end processes, and say so
@pytest.mark.xdist_group("cluster")
def test_a_cluster_gives_what_numpy_gives():
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as running,
        distributed.Client(running),
    ):
        for name in TOYS:
            X, y = toy(name)
            for explore_rows in (150, 10_000):
                found = selector(explore_rows).fit(da.from_array(X, chunks=(ROWS, -1)), y)
                assert_same(found, name, explore_rows)


def test_scores_of_sets_that_differ_by_rounding_errors_are_equal():
    scores = np.array([-0.04, -4.34e-8, -4.34e-8 + 1e-16])
    assert best_first(scores)[0] == 2
    assert best_first(scores, 1e-13).tolist() == [1, 2, 0]
    assert best_first(np.array([-np.inf, 1.0, np.nan, 1.0 + 1e-12]), 1e-13)[0] == 1
