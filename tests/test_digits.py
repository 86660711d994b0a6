"""Whole numbers that float64 cannot tell apart, and labels that a common type would merge."""

from enum import Enum

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from l1lsmi import L1LSMI
from l1lsmi._rows.distinct import key_numbers
from l1lsmi._validation.digits import Digits
from l1lsmi._validation.target import check_target, plain_target
from l1lsmi.baselines import MRMR
from l1lsmi.files import read_table
from l1lsmi.measures import Pearson
from tests.conftest import assert_refused

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)
BASE = 2**60
LARGE = RNG.integers(0, 100, size=(60, 3)) + BASE
LABELS = (LARGE[:, 1] > BASE + 50).astype(int)
NAMES = list("abc")
LOST = "whole numbers in column .* whose differences are lost in float64, from 1152921504606846"


def selector(k=1, **options):
    return L1LSMI(k, n_restarts=1, n_basis=10, p_value=False, pool=None, random_state=0, **options)


def frame(**more):
    return pd.DataFrame(LARGE, columns=NAMES).assign(**more)


IN_MEMORY = {
    "an array": LARGE,
    "unsigned": LARGE.astype(np.uint64),
    "objects": LARGE.astype(object),
    "lists": LARGE.tolist(),
    "pandas": frame(),
    "pandas beside fractions": frame(d=X[:, 0]),
    "pandas beside text": frame(t=["u", "v"] * 30),
    "nullable": frame().astype("Int64"),
    "polars": pl.DataFrame(LARGE, schema=NAMES),
    "sparse": scipy.sparse.csr_array(LARGE),
}


@pytest.mark.parametrize("case", IN_MEMORY)
def test_differences_that_are_lost_in_memory(case):
    assert_refused(selector(), IN_MEMORY[case], LABELS, LOST)
    assert_refused(MRMR(1), IN_MEMORY[case], LABELS, LOST)
    with pytest.raises(ValueError, match=LOST):
        Pearson().score(IN_MEMORY[case], LABELS)


@pytest.mark.parametrize("name", ["array_api_strict", "torch"])
def test_differences_that_are_lost_in_other_libraries(name):
    library = pytest.importorskip(name)
    assert_refused(selector(), library.asarray(LARGE), LABELS, LOST)


def test_differences_that_are_lost_out_of_core(tmp_path):
    pa, da = pytest.importorskip("pyarrow"), pytest.importorskip("dask.array")
    frame(y=LABELS).to_parquet(tmp_path / "large.parquet")
    frame(y=LABELS, t="u").to_parquet(tmp_path / "text.parquet")
    ordered = LARGE[np.argsort(LARGE[:, 1])]
    for rows, y in (
        (lambda: iter(np.array_split(LARGE, 3)), LABELS),
        (lambda: iter(np.array_split(ordered, 60)), LABELS),  # every block constant
        (lambda: iter([frame()[:30], frame()[30:]]), LABELS),
        (lambda: iter([frame(t="u")[:30], frame(t="v")[30:]]), LABELS),
        (pa.table({"a": LARGE[:, 0], "b": LARGE[:, 1]}), LABELS),
        (tmp_path / "large.parquet", "y"),
        (tmp_path / "text.parquet", "y"),
        (da.from_array(LARGE, chunks=(20, 3)), LABELS),
    ):
        assert_refused(selector(), rows, y, LOST)


@pytest.mark.filterwarnings("ignore")  # clusters warn when they end
@pytest.mark.xdist_group("cluster")
def test_differences_that_are_lost_on_a_cluster():
    distributed, da = pytest.importorskip("distributed"), pytest.importorskip("dask.array")
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as running,
        distributed.Client(running),
    ):
        assert_refused(selector(), da.from_array(LARGE, chunks=(20, 3)), LABELS, LOST)
        masked = np.ma.masked_array(X, mask=X > 1)
        rows = da.from_array(masked, chunks=(30, 3), asarray=False)
        assert_refused(selector(), rows, Y, "A chunk of X has masked values")


def test_large_numbers_whose_differences_are_large_are_numbers():
    wide = RNG.integers(-(2**63), 2**63 - 1, size=(60, 2))
    moments = 1_700_000_000 * 10**9 + RNG.integers(0, 10**15, size=60)
    even = BASE + 1024 * RNG.integers(0, 100, size=60)
    table = np.column_stack([X[:, 0].round(3) * 1000, wide, moments, even, np.full(60, BASE + 1)])
    table = table.astype(np.int64)
    for rows in (table, lambda: iter(np.array_split(table, 4))):
        assert selector().fit(rows, Y).support_.tolist() == [True, False, False, False, False, False]


def test_large_numbers_are_levels_of_a_category():
    rows = frame(d=X[:, 0])
    found = selector(categorical_features=NAMES).fit(rows, LABELS)
    assert len(found.categories_[0]) == len(set(LARGE[:, 0].tolist()))


@pytest.mark.parametrize(
    "labels",
    [
        [2**70 + 1, 2**70 + 2],
        [2**63, -1],
        [2**63 + 1, 2**63 + 2],
        [2**60 + 1, 2**60],
        [2**1500 + 1, 2**1500],
        [2**60 + 1, float(2**60)],
    ],
)
def test_classes_that_are_large_whole_numbers(labels):
    for y in ([labels[v] for v in Y], np.array([labels[v] for v in Y], dtype=object)):
        target = check_target(y, "auto")
        assert target.is_classification and target.classes.tolist() == sorted(labels)
        assert np.array_equal(target.codes == target.codes[0], Y[0] == Y)
        assert np.array_equal(selector().fit(X, y).support_, [True, False, False])


def test_rows_with_other_large_labels_are_other_rows():
    for y in (np.array([BASE, BASE + 1]), np.array([2**70, 2**70 + 1], dtype=object)):
        assert len(set(key_numbers(y).ravel().tolist())) == 2


def test_large_quantities_are_refused_where_their_differences_are_lost():
    words = "y has whole numbers whose differences are lost in float64, from .*: subtract"
    for y, task in (
        ([2**70 + i for i in range(60)], "auto"),
        (np.arange(60) + BASE, "regression"),
        ([[BASE + i, 0.5 * i] for i in range(60)], "regression"),
    ):
        with pytest.raises(ValueError, match=words.replace("^y", "")) as caught:
            check_target(y, task)
        assert "\n" not in str(caught.value)
    assert check_target([2**70 + i for i in range(60)], "classification").classes.size == 60


@pytest.mark.parametrize("labels", [[1, "1", 2], ["a", 1, "b"], [b"a", "a", "b"]])
def test_labels_of_two_kinds_in_a_list(labels):
    y = [labels[i % 3] for i in range(60)]
    assert_refused(selector(), X, y, "y mixes labels of different kinds")


class Colour(Enum):
    RED = "r"
    GREEN = "g"


def test_members_of_an_enumeration_are_labels():
    y = [Colour.RED if v else Colour.GREEN for v in Y]
    for given in (y, np.array(y, dtype=object), pd.Series(y)):
        assert check_target(given, "auto").classes.tolist() == ["GREEN", "RED"]
        assert np.array_equal(selector().fit(X, given).support_, [True, False, False])


def test_blocks_of_signed_and_unsigned_labels():
    y = np.array([2**63 + 1 if v else -1 for v in Y], dtype=object)
    parts = y[Y > 0].astype(np.uint64), y[Y == 0].astype(np.int64)
    found = selector().fit(lambda: iter([(X[Y > 0], parts[0]), (X[Y == 0], parts[1])]), None)
    assert found.support_[0] and plain_target(y).dtype == object


def test_files_say_that_whole_numbers_are_rounded(tmp_path):
    pytest.importorskip("pyarrow")
    frame(d=X[:, 0] * 1e20).to_csv(tmp_path / "large.csv", index=False)
    frame(d=X[:, 0] * 1e20).to_parquet(tmp_path / "large.parquet")
    for name in ("large.csv", "large.parquet"):
        words = "3 columns with whole numbers that are rounded to 53 bits: 'a', 'b', 'c'."
        assert words in read_table(tmp_path / name).notes


def test_blocks_of_small_numbers_beside_blocks_of_large_ones():
    for make in (np.asarray, pd.DataFrame):
        digits = Digits()
        for rows in (LARGE - BASE, LARGE):
            digits.add(make(rows))
        digits.finish()
        alone = Digits()
        alone.add(make(LARGE))
        with pytest.raises(ValueError, match=LOST):
            alone.finish()
