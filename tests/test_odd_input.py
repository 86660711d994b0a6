"""Unusual input works as a user expects, or gets one sentence; no warning of a library leaks."""

import pathlib
import uuid
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from l1lsmi import L1LSMI
from l1lsmi.baselines import MRMR
from l1lsmi.inference import StabilitySelector
from l1lsmi.measures import HSIC
from l1lsmi.strategies import Forward
from tests.conftest import assert_refused

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X[:, 0] + 0.3 * RNG.normal(size=60) > 0).astype(int)
FRAME = pd.DataFrame(X, columns=list("abcd"))
FIRST = [True, False, False, False]
SELECTOR = L1LSMI(1, n_restarts=1, n_basis=10, p_value=False, pool=None, random_state=0)


def selector(**options):
    return clone(SELECTOR).set_params(**options)


# -- targets ----------------------------------------------------------------------------------


def test_arrays_of_pyarrow_as_targets_and_weights():
    pa = pytest.importorskip("pyarrow")
    words = pa.array(["u" if v else "v" for v in Y])
    for y in (
        pa.array(Y),
        words,
        words.dictionary_encode(),
        pa.array(Y > 0),
        pa.chunked_array([Y[:9], Y[9:]]),
    ):
        found = selector().fit(X, y, sample_weight=pa.array(np.ones(60)))
        assert found.support_.tolist() == FIRST
    for y in (pa.array([None if v else 1 for v in Y]), pa.array([None if v else "u" for v in Y])):
        assert_refused(selector(), X, y, "y contains NaN")


# -- frames -----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [clone, lambda one: MRMR(1)])
def test_a_frame_of_polars_without_rows(make):
    lazy = pl.LazyFrame(FRAME)
    assert_refused(make(SELECTOR), lazy, Y, r"X is a LazyFrame of polars, .* pass X\.collect\(\)")
    assert_refused(
        make(SELECTOR), X, pl.LazyFrame({"y": Y}), r"y is a LazyFrame of polars, .* y\.collect\(\)"
    )
    fitted = make(SELECTOR).fit(FRAME, Y)
    with pytest.raises(ValueError, match=r"X is a LazyFrame of polars"):
        fitted.transform(lazy)
    with pytest.raises(ValueError, match=r"X is a LazyFrame of polars"):
        HSIC().score(lazy, Y)


def test_columns_whose_names_are_numbers():
    numbers = pd.DataFrame(X)
    kinds = numbers.assign(**{"t": ["u", "v"] * 30}).set_axis(range(5), axis=1)
    for rows in (numbers, kinds, lambda: iter([kinds[:30], kinds[30:]])):
        found = selector().fit(rows, Y)
        assert found.support_.tolist()[:4] == FIRST
    fitted = selector(n_features_to_select=2, categorical_features=[4]).fit(kinds, Y)
    assert list(fitted.transform(kinds).columns) == np.flatnonzero(fitted.support_).tolist()
    for rows in (numbers, kinds):
        words = "column names of different types, int and str: convert all names to strings"
        assert_refused(selector(), rows.rename(columns={0: "a"}), Y, words)


def test_frames_with_sparse_columns():
    columns = {
        name: pd.arrays.SparseArray(np.where(X[:, j] > 0.5, X[:, j], 0.0)) for j, name in enumerate("abcd")
    }
    sparse = pd.DataFrame(columns)
    for rows in (sparse, lambda: iter([sparse[:30], sparse[30:]])):
        assert selector().fit(rows, Y).support_.tolist() == FIRST
    assert_refused(selector(), sparse.assign(t="u"), Y, "X has values that are not numbers in column 't'")


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_columns_of_the_same_name(library):
    twice = FRAME.set_axis(list("abca"), axis=1)
    if library == "pyarrow":
        pa = pytest.importorskip("pyarrow")
        twice = pa.table(list(X.T), names=list("abca"))
    words = "X has 2 columns named 'a': rename or drop all but one"
    fitted = MRMR(1).fit(FRAME, Y)
    for call in (fitted.transform, fitted.inverse_transform):
        with pytest.raises(ValueError, match=f"^{words}"):
            call(twice)
    assert_refused(StabilitySelector(MRMR(1)), twice, Y, f"^{words}")
    assert_refused(selector(), lambda: iter([twice]), Y, f"^Block 0 of {words}")
    with pytest.raises(ValueError, match=r"^covariates has 2 columns named 'a'"):
        selector().fit(X, Y, covariates=twice)


@pytest.mark.parametrize("categorical", ["from_dtype", ["t"]])
@pytest.mark.parametrize(
    ("values", "kind"),
    [((X[:, 1] * 1j).tolist(), "complex"), (list(X.astype("c8")[:, 1]), "complex64"), ([[1]] * 60, "list")],
)
def test_columns_of_values_that_are_neither_numbers_nor_levels(values, kind, categorical):
    objects = np.empty(60, dtype=object)
    objects[:] = values
    for frame in (FRAME.assign(t=objects), pl.DataFrame({"t": pl.Series(objects, dtype=pl.Object), "a": Y})):
        with pytest.raises(TypeError, match=f"X has values of kind {kind} in column 't', where"):
            selector(categorical_features=categorical).fit(frame, Y)


def test_levels_that_polars_does_not_compare():
    objects = pl.Series([uuid.UUID(int=i % 3) for i in range(60)], dtype=pl.Object)
    frame = pl.DataFrame({"t": objects, "a": X[:, 0]})
    assert selector(n_features_to_select=2).fit(frame, Y).transform(frame).columns == ["t", "a"]


# -- paths ------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    pytest.importorskip("pyarrow")
    FRAME.assign(y=Y).to_parquet(tmp_path / "1.parquet")
    return tmp_path


def test_paths_as_bytes_and_directories_of_feather(folder):
    path = folder / "1.parquet"
    assert selector().fit(str(path).encode(), "y").support_.tolist() == FIRST
    feather = folder / "feather"
    feather.mkdir()
    FRAME.assign(y=Y).to_feather(feather / "1.feather")
    assert selector().fit(feather, "y").support_.tolist() == FIRST
    assert_refused(selector(), b"none.parquet", "y", r"X is 'none\.parquet', but there is no such file")
    assert_refused(MRMR(1), str(path).encode(), "y", r"X is the path '.*1\.parquet', but MRMR needs all rows")


def test_directories_that_are_empty_or_have_other_files(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert_refused(selector(), "", "y", "X is an empty path")
    (folder / "empty").mkdir()
    for path in (folder / "empty", "empty", pathlib.Path("empty")):
        assert_refused(selector(), path, "y", "empty', a directory without Parquet or Feather files")
    (folder / "empty").rmdir()
    for name, content in (("read me.txt", "hello"), ("none.csv", "")):
        (folder / name).write_text(content)
        assert_refused(selector(), folder, "y", f"X has the file '.*{name}', which cannot be read as parquet")
        assert_refused(
            selector(), folder / name, "y", f"{name}', which cannot be read as parquet: Parquet [a-z ]*"
        )
        (folder / name).unlink()
    (folder / "_SUCCESS").write_text("")  # as Spark leaves it
    assert selector().fit(folder, "y").support_.tolist() == FIRST


# -- functions and blocks ---------------------------------------------------------------------


def test_functions_that_are_not_called_without_arguments():
    words = "X is a function with the argument 'n': pass a function without arguments"
    assert_refused(selector(), lambda n: iter([X]), Y, words)
    assert_refused(selector(), lambda *, n: iter([X]), Y, words)
    assert selector().fit(lambda n=30, *rest: iter([X[:n], X[n:]]), Y).support_.tolist() == FIRST
    for given, kind in ((X, "ndarray"), (FRAME, "DataFrame"), (None, "NoneType")):
        assert_refused(
            selector(), lambda given=given: given, Y, f"X is a function that returns {kind}: it must"
        )


def test_lists_as_blocks():
    assert selector().fit(lambda: [X[:30].tolist(), X[30:].tolist()], Y).support_.tolist() == FIRST
    words = "Block 0 of X is a list that is not a table of numbers: pass an array"
    assert_refused(selector(), lambda: iter([[X[:30], Y[:30]], [X[30:], Y[30:]]]), None, words)
    assert_refused(selector(), lambda: iter([[[1, 2], [3]]]), [0, 1], words)


# -- parameters -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["memory_limit", "n_features_to_select", "n_restarts", "n_basis"])
def test_true_is_no_number(name):
    words = f"'{name}' parameter of L1LSMI must be a number, neither True nor False. Got True"
    assert_refused(selector(**{name: True}), X, Y, words)


def test_true_is_no_number_of_measures_and_strategies():
    with pytest.raises(ValueError, match=r"'sigma' parameter of HSIC .* Got True instead"):
        HSIC(sigma=True).score(X, Y)
    with pytest.raises(ValueError, match=r"'time_limit' parameter of Forward .* Got True instead"):
        Forward(time_limit=True).search(HSIC(), X, Y, 1)


# -- numbers at the limits of their types -----------------------------------------------------


@pytest.mark.skipif(np.finfo(np.longdouble).max <= np.finfo(np.float64).max, reason="longdouble is float64")
def test_numbers_beyond_the_range_of_float64():
    beyond = X.astype(np.longdouble) * np.longdouble("1e4000")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_refused(selector(), beyond, Y, "infinity, first in row 0 of column 0")
        assert_refused(selector(), lambda: iter([beyond]), Y, "infinity, first in row 0 of column 0")
        assert_refused(selector(), X, beyond[:, 0], "y has values beyond the range of float64")
        assert selector().fit(X.astype(np.longdouble), Y).support_.tolist() == FIRST


def test_whole_numbers_of_python_beyond_the_range_of_float64():
    large = X.astype(object)
    large[3, 1] = -(10**400)
    frame = pd.DataFrame(large, columns=list("abcd"))
    words = "infinity, first in row 3 of column"
    for rows in (lambda: iter([large]), frame, lambda: iter([frame])):
        assert_refused(selector(), rows, Y, words)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("make", [clone, lambda one: MRMR(1, relevance="knn")])
def test_sums_that_overflow_warn_of_nothing(kind, make):
    large = (np.clip(X, -1, 1) * 0.9 * np.finfo(kind).max).astype(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = make(SELECTOR).fit(large, Y)
        chosen = fitted.transform(large)
        assert np.array_equal(fitted.inverse_transform(chosen)[:, fitted.support_], chosen)
