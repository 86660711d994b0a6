"""Explanations and reports of selections from columns of any kind."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from l1lsmi import L1LSMI
from l1lsmi._numerics.correlation import correlation_of_columns, cramers_v
from l1lsmi.explain import explain_selection, interactions, redundancy, score_by_size

pytestmark = pytest.mark.filterwarnings("ignore:No evidence", "ignore:Column")


def clinic(n=240, seed=0):
    """A target that depends on a category and on a number with missing values; renamed copies and noise."""
    rng = np.random.default_rng(seed)
    ward = rng.choice(["north", "south", "east", "west"], n)
    dose = rng.normal(size=n)
    y = np.where(np.isin(ward, ["north", "west"]), dose > 0, dose < 0).astype(int)
    frame = pd.DataFrame(
        {
            "dose": np.where(rng.random(n) < 0.08, np.nan, dose),
            "ward": pd.Categorical(ward),
            "noise": pd.Categorical(rng.choice(list("uvw"), n)),
            "size": pd.Categorical(rng.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True),
            "member": rng.choice([True, False], n),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "score": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
        }
    )
    return frame, y


def with_copies(frame):
    return frame.assign(
        station=frame["ward"].map({"north": "I", "south": "II", "east": "III", "west": "IV"}),
        grams=1000 * frame["dose"],
    )


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_explanations_of_mixed_frames(library):
    frame, y = clinic()
    if library == "polars":
        frame = pl.from_pandas(frame)
    if library == "pyarrow":
        frame = pa.Table.from_pandas(frame, preserve_index=False)
    selector = L1LSMI(2, random_state=0).fit(frame, y)
    assert list(selector.get_feature_names_out()) == ["dose", "ward"]
    found = explain_selection(selector, frame, y, max_rows=150)
    assert found.contributions.names == ("dose", "ward")
    assert found.contributions.lost.min() > 0.2
    assert found.interactions.matrix[0, 1] > 0.2 and found.interactions.z[0, 1] > 5
    assert "adds" not in {each.kind for each in found.redundancy.rejected}
    assert np.isfinite(found.redundancy.correlation[0, 1])


def test_renamed_levels_and_other_units_are_copies():
    frame, y = clinic()
    frame = with_copies(frame)
    with pytest.warns(UserWarning, match="copies"):
        selector = L1LSMI(2, random_state=0).fit(frame, y)
    why = {each.name: each for each in redundancy(selector, frame, y).rejected}
    wards = {"ward", "station"}
    (left_out,) = wards - set(selector.get_feature_names_out())
    assert why[left_out].correlation == pytest.approx(1)
    assert why[left_out].kind == "redundant" and why[left_out].smi > 1
    assert wards >= {left_out, why[left_out].nearest_name}


def test_names_of_levels_change_no_explanation():
    frame, y = clinic()
    other = frame.assign(ward=frame["ward"].map({"north": "z", "south": "b", "east": "q", "west": "a"}))
    one, two = (
        score_by_size(L1LSMI(2, random_state=0).fit(each, y), each, y, max_rows=120)
        for each in (frame, other)
    )
    np.testing.assert_array_equal(one.scores, two.scores)


def test_categories_that_the_selector_was_told_of():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 6, 240), rng.normal(size=(240, 3))])
    y = (np.isin(X[:, 0], [0, 2, 5]) ^ (X[:, 1] > 0)).astype(int)
    selector = L1LSMI(2, categorical_features=[0], random_state=0).fit(X, y)
    found = interactions(selector, X, y)
    assert found.columns.tolist() == [0, 1] and found.matrix[0, 1] > 0.3
    frame = pd.DataFrame(X, columns=list("abcd")).astype({"a": int}).assign(a=lambda f: f["a"].astype(str))
    by_type = interactions(L1LSMI(2, random_state=0).fit(frame, y), frame, y)
    np.testing.assert_allclose(found.matrix, by_type.matrix)


def test_missing_values_that_inform_are_explained_as_values():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    X[(y == 1) & (rng.random(300) < 0.8), 2] = np.nan
    selector = L1LSMI(1, random_state=0).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [2]
    assert score_by_size(selector, X, y, max_rows=100).scores[0] > 0.2
    silent = L1LSMI(1, random_state=0, missing="ignore").fit(X, y)
    silent.support_ = selector.support_
    assert score_by_size(silent, X, y, max_rows=100).scores[0] < 0.1


def test_correlation_of_columns_of_any_kind():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, 200).astype(float)
    numbers = codes**2 + rng.normal(size=200)
    means = np.array([numbers[codes == level].mean() for level in range(4)])[codes.astype(int)]
    expected = np.corrcoef(means, numbers)[0, 1]
    assert correlation_of_columns(codes, 4, numbers, 0) == pytest.approx(expected)
    assert correlation_of_columns(numbers, 0, codes, 4) == pytest.approx(expected)
    codes[:20], numbers[10:30] = np.nan, np.nan
    assert correlation_of_columns(numbers, 0, codes, 4) == pytest.approx(
        correlation_of_columns(numbers[30:], 0, codes[30:], 4)
    )
    assert correlation_of_columns(codes, 4, numbers, 0, at_least=171) == 0
    yes = rng.integers(0, 2, 100)
    other = np.where(rng.random(100) < 0.3, 1 - yes, yes)
    assert cramers_v(yes, other) == pytest.approx(abs(np.corrcoef(yes, other)[0, 1]))
    assert cramers_v(yes, np.zeros(100, dtype=int)) == 0
