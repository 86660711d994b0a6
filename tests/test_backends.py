"""The joblib backend that is set runs the tasks of every selector, and gives what one process gives."""

import pickle

import joblib
import numpy as np
import pytest
from joblib._parallel_backends import ThreadingBackend

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi.baselines import ReliefF
from l1lsmi.measures import HSIC, MutualInformation, Pearson, SquaredMutualInformation
from l1lsmi.strategies import Backward, Exhaustive, Forward, Ranking
from tests.conftest import problem_data


def of_parts(measure, strategy):
    return lambda n_jobs: FeatureSelector(measure, strategy.set_params(n_jobs=n_jobs), 2, random_state=0)


LSMI = SquaredMutualInformation(n_basis=15)
#: Every selector that spreads tasks, by the number of jobs.
SELECTORS = {
    "L1LSMI": lambda n_jobs: L1LSMI(2, n_basis=20, n_restarts=3, random_state=0, n_jobs=n_jobs),
    "paper": lambda n_jobs: L1LSMI(
        2, algorithm="paper", n_basis=10, n_restarts=2, max_iter=3, random_state=0, n_jobs=n_jobs
    ),
    "L1HSIC": lambda n_jobs: L1HSIC(2, n_restarts=3, random_state=0, n_jobs=n_jobs),
    "ranking": of_parts(LSMI, Ranking()),
    "forward": of_parts(LSMI, Forward(shortlist=1)),
    "backward": of_parts(LSMI, Backward(shortlist=1)),
    "exhaustive": of_parts(LSMI, Exhaustive()),
    "forward, MI": of_parts(MutualInformation(n_basis=10), Forward(shortlist=1)),
    "backward, HSIC": of_parts(HSIC(), Backward()),
    "ranking, Pearson": of_parts(Pearson(), Ranking()),
    "ReliefF": lambda n_jobs: ReliefF(2, n_jobs=n_jobs),
}


def learned(selector):
    X, y = problem_data("regression", n=150)
    selector.fit(X, y)
    names = ("support_", "ranking_", "score_", "smi_", "cv_score_", "weights_", "scores_")
    return {name: getattr(selector, name) for name in names if hasattr(selector, name)}


def assert_same(name, backend, **options):
    expected = learned(SELECTORS[name](1))
    with joblib.parallel_config(backend=backend, **options):
        found = learned(SELECTORS[name](2))
    assert found.keys() == expected.keys() and "support_" in found
    for attribute, value in expected.items():
        np.testing.assert_array_equal(found[attribute], value, err_msg=attribute)


class Counting(ThreadingBackend):
    """Threads that count their tasks, and accept only what a plain pool of processes accepts."""

    supports_return_generator = False
    tasks = 0

    def submit(self, func, callback=None):
        pickle.dumps(func)
        Counting.tasks += 1
        return super().submit(func, callback)


joblib.register_parallel_backend("counting", Counting)


@pytest.mark.parametrize("name", SELECTORS)
def test_the_backend_that_is_set_runs_the_tasks(name, monkeypatch):
    monkeypatch.setattr("l1lsmi.baselines._neighbours.BLOCK_SIZE", 5_000)  # several blocks of few rows
    monkeypatch.setattr(Counting, "tasks", 0)
    assert_same(name, "counting")
    assert Counting.tasks > 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SELECTORS)
def test_processes_give_what_one_gives(name):
    assert_same(name, "loky")


def executed(client):
    """Tasks that workers have finished so far."""
    return sum(client.run(lambda dask_worker: dask_worker.state.executed_count).values())


@pytest.mark.filterwarnings("ignore")  # clusters warn when processes start and end
@pytest.mark.xdist_group("cluster")
def test_dask_gives_what_one_process_gives():
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as running,
        distributed.Client(running) as client,
    ):
        for name in SELECTORS:
            before = executed(client)
            assert_same(name, "dask")
            assert executed(client) > before
        # All workers, as in the guide.
        expected = learned(SELECTORS["L1LSMI"](1))
        with joblib.parallel_config(backend="dask", n_jobs=-1):
            found = learned(SELECTORS["L1LSMI"](None))
        np.testing.assert_array_equal(found["weights_"], expected["weights_"])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.xdist_group("cluster")
def test_ray_gives_what_one_process_gives():
    ray = pytest.importorskip("ray", reason="ray is not installed")
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        register_ray()
        for name in SELECTORS:
            assert_same(name, "ray")
    finally:
        ray.shutdown()
