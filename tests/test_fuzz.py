"""A few cases of the standing attack, and the rules by which it judges."""

import random
import time
import warnings

import numpy as np
import pytest

from fuzz import runner
from fuzz.judge import check, judged
from fuzz.runner import run_case
from l1lsmi import FeatureSelector
from l1lsmi.measures import Pearson
from l1lsmi.strategies import Ranking

ERRORS = (ValueError, TypeError)
SEEDS = {"fits": [1, 2, 3, 5, 8], "files": [1, 2, 3, 5, 8], "invariances": [1, 2]}


@pytest.fixture(autouse=True)
def sandbox_as_it_was(monkeypatch):
    monkeypatch.setattr("l1lsmi.files._formats.sandbox.ENABLED", False)
    monkeypatch.setattr("l1lsmi.files._formats.sandbox.MIN_SECONDS", 60.0)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("part", "seed"), [(part, seed) for part, seeds in SEEDS.items() for seed in seeds])
def test_what_comes_out_is_allowed(part, seed, tmp_path):
    told, failure = run_case(part, seed, tmp_path)
    assert failure is None, told


@pytest.mark.filterwarnings("default")
def test_a_file_damaged_in_another_way_in_every_run(tmp_path):
    seed = random.SystemRandom().randrange(10**9)
    # C libraries crash on some damaged files, which would end this process.
    told, failure = run_case("sandbox", seed, tmp_path)
    assert failure is None, f"python -m fuzz --part sandbox --seed {seed}: {told}"


def test_a_file_that_ends_the_process_is_read_again_in_a_sandbox(tmp_path, monkeypatch):
    monkeypatch.setattr("fuzz.damaged.SECONDS", 3.0)
    # SciPy crashes on the first, and h5py does not end on the second.
    for seed in (699022329, 699024197):
        told, failure = run_case("sandbox", seed, tmp_path)
        assert failure is None and told.endswith(", in a sandbox")


def test_files_that_end_their_process(monkeypatch, capsys):
    asked = []

    class Ending:
        connection = None

        def __init__(self, folder):
            self.case = ("", 0)

        def ask(self, part, seed):
            self.case = (part, seed)
            asked.append(self.case)

        def answer(self, is_ready):
            part, seed = self.case
            if len(asked) > 6:
                time.sleep(0.1)
                return None
            ends = part == "files" or seed == 2
            return part, runner.Failure(runner.ENDED, "exit code -11") if ends else None

        def stop(self):
            pass

    monkeypatch.setattr(runner, "Worker", Ending)
    monkeypatch.setattr(runner, "wait", lambda connections, timeout: [])
    found = runner.attack(["files"], 1, 0.005, 1)
    assert asked[:4] == [("files", 1), ("sandbox", 1), ("files", 2), ("sandbox", 2)]
    assert found == {runner.ENDED: ["--part sandbox --seed 2"]}
    assert "python -m fuzz --part sandbox --seed 2" in capsys.readouterr().out


def test_a_case_follows_from_its_seed(tmp_path):
    for part, seeds in SEEDS.items():
        assert run_case(part, seeds[0], tmp_path)[0] == run_case(part, seeds[0], tmp_path)[0]


def raises(error):
    def call():
        raise error

    return call


def warns(category):
    return lambda: warnings.warn("something", category, stacklevel=1)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (raises(KeyError("a")), "KeyError"),
        (raises(ValueError("two\nlines")), "ValueError is not one sentence"),
        (raises(ValueError("")), "ValueError is not one sentence"),
        (raises(ValueError("long " * 100)), "ValueError is too long"),
        (raises(ValueError("of this test")), "ValueError of another library"),
        (lambda: np.linalg.inv(np.zeros((2, 2))), "LinAlgError of another library"),
        (warns(RuntimeWarning), "warning RuntimeWarning"),
        (warns(DeprecationWarning), "warning DeprecationWarning"),
        (lambda: check(False, "a rule: broken"), "contract: a rule"),
    ],
)
def test_what_is_not_allowed(call, kind):
    failure = judged(call, ERRORS)
    assert failure is not None and failure.kind.startswith(kind)


def test_what_is_allowed():
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    assert judged(lambda: FeatureSelector(Pearson(), Ranking(), 1).fit(X, y), ERRORS) is None
    assert judged(lambda: FeatureSelector(Pearson(), Ranking(), 9).fit(X, y), ERRORS) is None
    assert judged(lambda: FeatureSelector(Pearson(), Ranking(), 0).fit(X, y), ERRORS) is None
