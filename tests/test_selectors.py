"""The scikit-learn contract, data frames and other array libraries."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import estimator_checks

from l1lsmi import L1LSMI
from l1lsmi._progress import Progress
from l1lsmi.datasets import make_xor
from tests.conftest import library_of, to_library
from tests.matrix import CLASSES, SELECTORS


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scikit_learn_contract(name):
    results = estimator_checks.check_estimator(clone(SELECTORS[name]), on_skip=None)
    assert len(results) > 30
    assert {result["status"] for result in results} <= {"passed", "skipped"}


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize(
    "check",
    [
        "check_dataframe_column_names_consistency",
        "check_get_feature_names_out_error",
        "check_global_output_transform_pandas",
        "check_global_set_output_transform_polars",
        "check_n_features_in_after_fitting",
        "check_param_validation",
        "check_set_output_transform",
        "check_set_output_transform_pandas",
        "check_set_output_transform_polars",
        "check_transformer_get_feature_names_out",
        "check_transformer_get_feature_names_out_pandas",
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_checks_that_check_estimator_leaves_out(name, check):
    selector = clone(SELECTORS[name])
    assert getattr(estimator_checks, check)(type(selector).__name__, selector) is None


def test_pipeline_and_grid_search():
    X, y = make_xor(200, random_state=0)
    pipeline = make_pipeline(StandardScaler(), L1LSMI(random_state=0), SVC())
    search = GridSearchCV(pipeline, {"l1lsmi__n_features_to_select": [1, 2]}, cv=3)
    search.fit(X, y)
    assert search.best_params_ == {"l1lsmi__n_features_to_select": 2}
    assert search.best_score_ == 1.0


@pytest.mark.parametrize("name", SELECTORS)
def test_pickle_and_clone(name):
    X, y = make_xor(150, random_state=0)
    selector = clone(SELECTORS[name]).set_params(n_features_to_select=0.2).fit(X, y)
    again = pickle.loads(pickle.dumps(selector))
    np.testing.assert_array_equal(again.transform(X), selector.transform(X))
    assert not hasattr(clone(selector), "support_")
    assert selector.support_.sum() == 2


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_every_selector_takes_data_frames(frame, name):
    X, y = make_xor(100, random_state=0)
    names = [f"column {j}" for j in range(10)]
    data = frame(dict(zip(names, X.T, strict=True)))
    output = "pandas" if frame is pd.DataFrame else "polars"
    selector = clone(SELECTORS[name]).set_params(n_features_to_select=3).set_output(transform=output)
    transformed = selector.fit(data, np.where(y, "yes", "no")).transform(data)
    assert isinstance(transformed, frame)
    plain = clone(SELECTORS[name]).set_params(n_features_to_select=3).fit(X, y)
    assert list(transformed.columns) == [names[j] for j in plain.get_support(indices=True)]


@pytest.mark.parametrize("name", SELECTORS)
def test_every_selector_takes_arrays_of_any_library(name, library):
    X, y = make_xor(100, random_state=0)
    selector = clone(SELECTORS[name]).set_params(n_features_to_select=3)
    expected = clone(selector).fit(X, y)
    selector.fit(to_library(X, library), to_library(y, library))
    np.testing.assert_array_equal(selector.support_, expected.support_)
    assert isinstance(selector.support_, np.ndarray)
    assert library_of(selector.transform(to_library(X, library))) == library.__name__


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_in_and_out(frame):
    X, y = make_xor(150, random_state=0)
    names = [f"column {j}" for j in range(10)]
    data = frame(dict(zip(names, X.T, strict=True)))
    target = (pd.Series if frame is pd.DataFrame else pl.Series)(np.where(y, "yes", "no"))
    output = "pandas" if frame is pd.DataFrame else "polars"
    selector = L1LSMI(2, random_state=0).set_output(transform=output).fit(data, target)
    assert list(selector.get_feature_names_out()) == names[:2]
    transformed = selector.transform(data)
    assert isinstance(transformed, frame)
    assert list(transformed.columns) == names[:2]


def test_arrays_stay_in_their_library(library):
    X, y = make_xor(150, random_state=0)
    selector = L1LSMI(2, random_state=0).fit(to_library(X, library), to_library(y, library))
    assert selector.get_support(indices=True).tolist() == [0, 1]
    transformed = selector.transform(to_library(X, library))
    assert library_of(transformed) == library.__name__
    assert transformed.shape == (150, 2)
    host = L1LSMI(2, random_state=0).fit(X, y)
    np.testing.assert_allclose(selector.weights_, host.weights_, rtol=1e-6)
    assert selector.cv_score_ == pytest.approx(host.cv_score_, abs=1e-6)


@pytest.mark.parametrize("kind", ["int", "float32", "fortran", "read-only", "bool", "list"])
def test_kinds_of_input(kind):
    X, y = make_xor(150, random_state=0)
    expected = L1LSMI(2, random_state=0).fit(X, y)
    X = {
        "int": lambda: X.astype(int),
        "float32": lambda: X.astype(np.float32),
        "fortran": lambda: np.asfortranarray(X),
        "read-only": lambda: X,
        "bool": lambda: X.astype(bool),
        "list": lambda: X.tolist(),
    }[kind]()
    if kind == "read-only":
        X.flags.writeable = y.flags.writeable = False
    selector = L1LSMI(2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(selector.support_, expected.support_)
    np.testing.assert_allclose(selector.weights_, expected.weights_, rtol=1e-6)


def test_scale_and_offset_do_not_change_the_selection():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(250, 8))
    y = (X[:, 1] * X[:, 4] > 0).astype(int)
    expected = L1LSMI(2, random_state=0).fit(X, y).support_
    scale = 10.0 ** rng.choice([-150, 0, 150], size=8)
    np.testing.assert_array_equal(L1LSMI(2, random_state=0).fit(X * scale, y).support_, expected)
    np.testing.assert_array_equal(L1LSMI(2, random_state=0).fit(X + 1e8, y).support_, expected)


def test_default_is_half_of_the_features():
    X, y = make_xor(100, random_state=0)
    assert L1LSMI(random_state=0).fit(X, y).support_.sum() == 5


@pytest.mark.parametrize("bar", [True, False])
def test_progress_is_shown_when_asked_for(capfd, monkeypatch, bar):
    if bar:
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        monkeypatch.setenv("COLUMNS", "120")
    X, y = make_xor(100, random_state=0)
    L1LSMI(2, random_state=0).fit(X, y)
    assert capfd.readouterr() == ("", "")
    L1LSMI(2, random_state=0, verbose=1).fit(X, y)
    out, err = capfd.readouterr()
    assert out == ""
    # What follows the restarts has a name too. A bar shows what there is ten times a second.
    assert "ordering the features" in err and "search 12 of at most 12" in err
    assert ("restart 1 of at most 8, best score" in err) == (not bar)
    assert ("testing on unseen rows" in err) == ("\x1b" in err) == bar


def test_lines_of_progress(capfd):
    with Progress(2, 1) as progress:
        progress.advance(-1e-9)
        progress.advance(0.5, detail="of all rows")
        progress.begin("comparing")
    assert capfd.readouterr().err.splitlines() == [
        "restart 1 of at most 2, best score 0.0000, at most 0 s left",
        "restart 2 of at most 2, of all rows, best score 0.5000",
        "comparing",
    ]
