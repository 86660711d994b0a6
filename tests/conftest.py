"""Array libraries that the numerics must run on, and small problems to run them with."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from l1lsmi._arrays import to_numpy
from l1lsmi._numerics.squared_loss.draw import LeastSquaresDraw
from l1lsmi._rows.table import Table
from l1lsmi._validation.target import check_target
from l1lsmi.measures import SquaredMutualInformation

LIBRARIES = ["numpy", "array_api_strict", "torch"]
TASKS = ["classification", "regression"]


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest):
    """Each array library in turn; skips where it is not installed."""
    return pytest.importorskip(request.param)


@pytest.fixture(scope="module")
def sandbox_disabled():
    """Files read by the process of the tests, as starting a sandbox takes longer than most of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("l1lsmi.files._formats.sandbox.ENABLED", False)
        yield


def to_library(values, library):
    return library.asarray(np.array(values))


def problem_data(task: str, n: int = 203, m: int = 6, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    signal = X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.3 * rng.normal(size=n)
    # Three classes of unequal size: blocks, folds and centres all need padding.
    y = np.digitize(signal, [-0.8, 0.9]) if task == "classification" else signal
    return X, y


def make_draw(task: str, library=np, n_basis: int = 41, seed: int = 0, **data) -> LeastSquaresDraw:
    X, y = problem_data(task, **data)
    measure = SquaredMutualInformation(n_basis=n_basis)
    return measure.bind(Table.of(to_library(X, library)), check_target(y, task), seed).draws([(0,)])


def library_of(x) -> str:
    return type(x).__module__.split(".")[0]


def assert_close(a, b, **tolerances):
    np.testing.assert_allclose(to_numpy(a), to_numpy(b), **tolerances)


def assert_refused(selector, X, y, words):
    """Check that a fit ends with one sentence, and that nothing is kept of it."""
    before = dict(vars(selector))
    with pytest.raises(ValueError, match=words) as caught:
        selector.fit(X, y)
    assert "\n" not in str(caught.value)
    assert vars(selector) == before


def has_module(name: str) -> bool:
    return importlib.util.find_spec(name) is not None
