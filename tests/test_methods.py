"""Selectors by name."""

import inspect

import numpy as np
import pytest

from l1lsmi import L1LSMI, FeatureSelector
from l1lsmi.methods import DEFAULT, METHODS, find_method
from l1lsmi.strategies import Backward
from tests.conftest import problem_data

NAMES = [
    "l1-lsmi",
    "l1-lsmi-paper",
    "l1-hsic",
    "pearson",
    "hsic-ranking",
    "smi-ranking",
    "mi-ranking",
    "hsic-forward",
    "smi-forward",
    "hsic-backward",
    "smi-backward",
    "mrmr",
    "qpfs",
    "lasso",
    "relieff",
    "spec",
    "laplacian",
]


def test_names_and_their_order():
    assert list(METHODS) == NAMES
    assert NAMES[0] == DEFAULT
    for name, method in METHODS.items():
        assert method.name == name and method.title and method.summary.endswith(".")
    assert len({method.title for method in METHODS.values()}) == len(NAMES)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", NAMES)
def test_every_method_selects_for_both_tasks(name, task):
    X, y = problem_data(task, n=60, m=5)
    # Codes of classes are also numbers: the task decides.
    selector = METHODS[name].make(2, task=task, random_state=0)
    if name == "l1-lsmi-paper":
        selector.set_params(n_restarts=1, max_iter=3)
    assert selector._task() == task
    assert selector.fit(X, y).support_.sum() == 2
    if hasattr(selector, "random_state"):
        assert selector.random_state == 0
        again = METHODS[name].make(2, task=task, random_state=0).set_params(**_quick(name)).fit(X, y)
        np.testing.assert_array_equal(again.support_, selector.support_)


def _quick(name):
    return {"n_restarts": 1, "max_iter": 3} if name == "l1-lsmi-paper" else {}


@pytest.mark.parametrize("name", NAMES)
def test_a_time_limit_is_supported_or_refused(name):
    method = METHODS[name]
    if method.has_time_limit:
        selector = method.make(2, time_limit=7.5, verbose=1)
        owner = selector.strategy if isinstance(selector, FeatureSelector) else selector
        assert owner.time_limit == 7.5 and owner.verbose == 1
    else:
        assert "time_limit" not in inspect.signature(type(method.make(2))).parameters
        with pytest.raises(ValueError, match=f"time_limit=7.5 is not supported by the method '{name}'"):
            method.make(2, time_limit=7.5)


def test_methods_of_some_names():
    assert isinstance(METHODS["l1-lsmi"].make(3), L1LSMI)
    assert METHODS["l1-lsmi-paper"].make(3).algorithm == "paper"
    assert isinstance(METHODS["smi-backward"].make(3).strategy, Backward)
    assert METHODS["qpfs"].make(0.5).n_features_to_select == 0.5
    assert find_method("mrmr") is METHODS["mrmr"]
    for wrong in ("l1lsmi", "", [], None):
        with pytest.raises(ValueError, match=r"is not known: pass one of l1-lsmi, l1-lsmi-paper, l1-hsic"):
            find_method(wrong)
