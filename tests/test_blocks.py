"""Blocks of rows, and chunks of dask: what is refused in memory is refused here."""

import numpy as np
import pandas as pd
import pytest

from l1lsmi import L1LSMI
from l1lsmi._rows.table import Resources
from l1lsmi.baselines import MRMR
from l1lsmi.measures import HSIC
from l1lsmi.sources import open_rows
from l1lsmi.sources._levels import Levels
from l1lsmi.sources._visits import FIRST_COMPARED, VisitedRows
from tests.conftest import assert_refused

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X[:, 0] > 0).astype(int)
MASKED = np.ma.masked_array(X, mask=X > 1)
MASKED_Y = np.ma.masked_array(Y, mask=X[:, 1] > 1)
TIMES = np.arange(240).reshape(60, 4).astype("m8[s]")
TIMES[3, 2] = "NaT"


def selector(k=1):
    return L1LSMI(k, n_restarts=1, n_basis=10, p_value=False, pool=None, random_state=0)


def halves(*arrays):
    """A function that gives two blocks, of which the first has 30 rows."""
    first, second = (tuple(some) for some in zip(*((a[:30], a[30:]) for a in arrays), strict=True))
    return lambda: iter([first, second] if len(arrays) > 1 else [first[0], second[0]])


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (MASKED, "has masked values"),
        (TIMES, "has dates or times"),
        (TIMES.astype("i8").astype("M8[s]"), "has dates or times"),
    ],
)
def test_masked_values_and_times_are_not_numbers(values, words):
    da = pytest.importorskip("dask.array")
    assert_refused(selector(), values, Y, f"^X {words}")
    assert_refused(selector(), halves(values), Y, f"Block 0 of X {words}")
    assert_refused(selector(), da.from_array(values, chunks=(30, 4), asarray=False), Y, words)
    with pytest.raises(ValueError, match=words):
        open_rows(halves(values), Y, Resources())


def test_masked_targets_weights_and_rows():
    da = pytest.importorskip("dask.array")
    masked_weights = np.ma.masked_array(np.ones(60), mask=Y > 0)
    assert_refused(
        selector(), halves(X, MASKED_Y), None, "Block 0 of X, among its targets, has masked values"
    )
    assert_refused(selector(), halves(X), MASKED_Y, "y has masked values")
    assert_refused(selector(), X, da.from_array(MASKED_Y, chunks=30, asarray=False), "y has masked values")
    assert_refused(selector(), X, list(MASKED_Y), "y contains NaN or None")
    assert_refused(selector(), halves(X, Y, masked_weights), None, "among its weights, has masked values")
    assert_refused(selector(), list(MASKED), Y, "X has masked values")
    with pytest.raises(ValueError, match="sample_weight has masked values"):
        selector().fit(X, Y, sample_weight=masked_weights)
    with pytest.raises(ValueError, match="covariates has masked values"):
        HSIC().score(X, Y, covariates=MASKED)
    fitted = selector().fit(X, Y)
    for method, values in ((fitted.transform, MASKED), (fitted.inverse_transform, MASKED[:, :1])):
        with pytest.raises(ValueError, match="X has masked values"):
            method(values)


def test_a_mask_that_hides_nothing():
    found = selector().fit(halves(np.ma.masked_array(X, mask=False)), Y)
    assert np.array_equal(found.support_, selector().fit(X, Y).support_)


def test_every_block_brings_one_target_and_one_weight_for_each_row():
    ones = np.ones(60)
    cases = [
        ([(X[:30], Y[:31]), (X[30:], Y[31:])], "Block 0 of X has 30 rows and 31 targets"),
        (
            [(X[:30], Y[:30], ones[:29]), (X[30:], Y[30:], ones[29:])],
            "Block 0 of X has 30 rows and 29 weights",
        ),
        ([(X[:30], Y[:30]), X[30:]], "Block 1 of X has no targets, but the earlier blocks have targets"),
        ([X[:30], (X[30:], Y[30:])], "Block 1 of X has targets, but the earlier blocks have no targets"),
        ([(X[:30], Y[:30], ones[:30]), (X[30:], Y[30:])], "Block 1 of X has no weights"),
        ([(X[:30], Y[:30]), (X[30:], Y[30:].astype(str))], "targets of different kinds, text and numbers"),
    ]
    for blocks, words in cases:
        assert_refused(selector(), lambda blocks=blocks: iter(blocks), None, words)


def test_an_empty_block_brings_nothing():
    empty = X[:0], Y[:0]
    found = selector().fit(lambda: iter([empty, (X[:30], Y[:30]), empty, (X[30:], Y[30:])]), None)
    assert np.array_equal(found.support_, selector().fit(X, Y).support_)


class Changing:
    """A function that gives what ``change`` makes of the rows on every visit but the first."""

    def __init__(self, rows, change):
        self.rows, self.change, self.n_visits = rows, change, 0

    def __call__(self):
        self.n_visits += 1
        rows = self.rows if self.n_visits == 1 else self.change(self.rows)
        return iter([rows[:25], rows[25:]])


FRAME = pd.DataFrame({"a": X[:, 0], "t": ["u", "v", "w"] * 20})


@pytest.mark.parametrize(
    ("rows", "change", "row"),
    [
        (X, lambda rows: rows + 1e-12, 0),
        (X, lambda rows: rows[::-1], 0),
        (X, lambda rows: np.vstack([rows[:40], rows[41:], rows[40:41]]), 40),
        (FRAME, lambda rows: rows.assign(t=rows["t"].replace({"u": "v", "v": "u"})), 0),
    ],
)
def test_a_function_that_gives_other_rows_on_a_further_visit(rows, change, row):
    words = f"X gave other rows on this pass than on the first, row {row} for instance"
    assert_refused(selector(), Changing(rows, change), Y, words)


def test_other_blocks_of_the_same_rows_are_the_same_rows():
    expected = selector().fit(FRAME, Y)

    sizes = iter(range(7, 1000))

    def blocks():
        size = next(sizes)
        return iter([FRAME[i : i + size] for i in range(0, 60, size)])

    assert np.array_equal(selector().fit(blocks, Y).support_, expected.support_)


def test_of_many_rows_some_are_compared():
    rows = np.arange(3.0 * FIRST_COMPARED).reshape(-1, 1)
    levels = Levels()
    visited = VisitedRows(levels)
    for start in range(0, len(rows), 1000):
        visited.compare(rows[start : start + 1000], start)
    levels.finish()
    for start in range(0, len(rows), 777):
        visited.compare(rows[start : start + 777], start)
    place = FIRST_COMPARED + 160
    with pytest.raises(ValueError, match=f"row {place} for instance"):
        visited.compare(rows[place - 3 : place + 3] * np.where(np.arange(6) == 3, -1, 1)[:, None], place - 3)


def test_baselines_refuse_blocks_whatever_they_hold():
    assert_refused(MRMR(1), halves(X), Y, "needs all rows in memory")
