"""A few cases of the standing attack, and the rules by which it judges."""

import random
import warnings

import numpy as np
import pytest

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


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("part", "seed"), [(part, seed) for part, seeds in SEEDS.items() for seed in seeds])
def test_what_comes_out_is_allowed(part, seed, tmp_path):
    told, failure = run_case(part, seed, tmp_path)
    assert failure is None, told


@pytest.mark.filterwarnings("default")
def test_a_file_damaged_in_another_way_in_every_run(tmp_path):
    seed = 10 * random.SystemRandom().randrange(10**8) + 1  # one in ten is read in a sandbox, which is slow
    told, failure = run_case("files", seed, tmp_path)
    assert failure is None, f"python -m fuzz --part files --seed {seed}: {told}"


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
