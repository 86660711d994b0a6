"""Arrays of other libraries and tables of pyarrow are treated as NumPy arrays are, and stay what they are."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from l1lsmi import L1LSMI
from l1lsmi._arrays import to_numpy
from l1lsmi.baselines import MRMR, ReliefF
from tests.conftest import library_of, to_library

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X[:, 2] > 0).astype(int)
NUMBERS_ONLY = MRMR(2, relevance="knn")
ANY_KIND = L1LSMI(2, n_restarts=1, n_basis=10, p_value=False, pool=None, random_state=0)


def spoiled(value):
    bad = X.copy()
    bad[3, 2] = value
    return bad


def dask_array(values):
    return pytest.importorskip("dask.array").from_array(values, chunks=(30, values.shape[1]))


def test_missing_values_are_refused_where_numpy_refuses_them(library):
    fitted = clone(NUMBERS_ONLY).fit(X, Y)
    for value in (np.nan, np.inf):
        for method, rows in (
            (fitted.transform, spoiled(value)),
            (fitted.inverse_transform, spoiled(value)[:, 1:3]),
        ):
            with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
                method(to_library(rows, library))
            with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
                method(dask_array(rows)).compute()


def test_missing_values_are_passed_on_where_numpy_passes_them_on(library):
    fitted = clone(ANY_KIND).fit(X, Y)
    expected = fitted.transform(spoiled(np.nan))
    found = fitted.transform(to_library(spoiled(np.nan), library))
    np.testing.assert_array_equal(to_numpy(found), expected)
    back = fitted.inverse_transform(found)
    np.testing.assert_array_equal(to_numpy(back), fitted.inverse_transform(expected))
    with pytest.raises(ValueError, match="infinity"):
        fitted.inverse_transform(to_library(fitted.transform(spoiled(np.inf)), library))


@pytest.mark.parametrize("selector", [NUMBERS_ONLY, ANY_KIND])
def test_features_are_put_back_in_the_library_of_the_array(selector, library):
    fitted = clone(selector).fit(X, Y)
    expected = fitted.inverse_transform(fitted.transform(X))
    for values in (X, X.astype(np.float32), (10 * X).astype(np.int64)):
        given = fitted.transform(to_library(values, library))
        back = fitted.inverse_transform(given)
        assert library_of(back) == library_of(given) and back.dtype == given.dtype
        np.testing.assert_array_equal(to_numpy(back) != 0, (values != 0) & fitted.support_)
    np.testing.assert_array_equal(
        to_numpy(fitted.inverse_transform(to_library(X[:, fitted.support_], library))), expected
    )
    with pytest.raises(ValueError, match="shape"):
        fitted.inverse_transform(to_library(X, library))


def test_features_of_dask_are_put_back_without_computing():
    dd = pytest.importorskip("dask.dataframe")
    fitted = clone(ANY_KIND).fit(X, Y)
    expected = fitted.inverse_transform(fitted.transform(X))
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=2)
    for given in (dask_array(X), frame):
        back = fitted.inverse_transform(fitted.transform(given))
        assert library_of(back) == "dask" and back.shape[1] == 4
        np.testing.assert_array_equal(back.compute(), expected)
    with pytest.raises(ValueError, match="2 features are selected"):
        fitted.inverse_transform(dask_array(X))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_dask_becomes_a_dataframe_where_that_is_asked_for(library):
    pytest.importorskip(library)
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(X, columns=list("abcd"))
    fitted = clone(ANY_KIND).set_output(transform=library).fit(frame, Y)
    for given in (dask_array(X), dd.from_pandas(frame, npartitions=2)):
        found = fitted.transform(given)
        assert library_of(found) == library
        assert list(found.columns) == fitted.get_feature_names_out().tolist()
        np.testing.assert_array_equal(found.to_numpy(), X[:, fitted.support_])


@pytest.mark.parametrize("selector", [ANY_KIND, MRMR(2), NUMBERS_ONLY, ReliefF(2)])
def test_tables_of_pyarrow_are_taken_everywhere(selector):
    pa = pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X, columns=list("abcd"))
    weights = np.where(np.arange(60) % 3, 1.0, 2.0)
    table = pa.Table.from_pandas(frame.assign(y=Y, w=weights))
    expected = clone(selector).fit(X, Y)
    for rows in (table.drop_columns(["w"]), table.drop_columns(["w"]).to_batches()[0]):
        found = clone(selector).fit(rows, "y")
        assert np.array_equal(found.support_, expected.support_)
        assert found.feature_names_in_.tolist() == list("abcd")
    features = table.select(list("abcd"))
    weighted = clone(selector).fit(X, Y, sample_weight=weights)
    found = clone(selector).fit(table, "y", sample_weight="w")
    assert np.array_equal(found.support_, weighted.support_)
    for rows in (features, features.to_batches()[0]):
        assert np.array_equal(clone(selector).fit(rows, Y).support_, expected.support_)
        np.testing.assert_array_equal(found.transform(rows), X[:, found.support_])
        chosen = features.select(found.get_feature_names_out().tolist())
        np.testing.assert_array_equal(found.inverse_transform(chosen), np.where(found.support_, X, 0.0))
    with pytest.raises(ValueError, match="y is 'z', but the table has no such column"):
        clone(selector).fit(table, "z")
