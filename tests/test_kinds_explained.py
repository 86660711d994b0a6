"""Explanations and reports of selections from columns of any kind."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from jsonschema import validate
from sklearn.feature_selection import SelectKBest

from l1lsmi import L1LSMI
from l1lsmi._numerics.correlation import correlation_of_columns, cramers_v
from l1lsmi._validation.columns import Columns, read_frame, read_like
from l1lsmi.evaluation import compare_selectors, held_out_error, selection_scores, svm_error
from l1lsmi.evaluation._coordinates import learned_coordinates
from l1lsmi.explain import explain_selection, interactions, redundancy, score_by_size
from l1lsmi.files import prepare, read_table
from l1lsmi.report import collect, schema, write_report

pytestmark = pytest.mark.filterwarnings("ignore:There is no evidence", "ignore:Column")


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
    assert sorted(found.contributions.names) == ["dose", "ward"]
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


# -- comparisons and held-out errors ----------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_comparisons_of_mixed_frames(library):
    frame, y = clinic()
    frame = frame[["dose", "ward", "noise", "member"]]
    if library == "polars":
        frame = pl.from_pandas(frame)
    if library == "pyarrow":
        frame = pa.Table.from_pandas(frame, preserve_index=False)
    found = compare_selectors({"one": L1LSMI(2, random_state=0), "f": SelectKBest(k=2)}, frame, y, n_splits=2)
    one, fails, everything = found
    assert one.support.tolist() == [0, 1] and one.error < 0.15 and one.error < everything.error
    assert everything.n_features == 4 and fails.failure is not None


def test_names_of_categories_reach_the_selectors():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 6, 150), "b": rng.normal(size=150), "c": rng.normal(size=150)})
    y = np.isin(frame["a"], [0, 2, 5]).astype(int)
    selector = L1LSMI(1, categorical_features=["a"], random_state=0)
    found = selection_scores(selector, frame, y, categorical_features=["a"])
    assert found.sets["selected"].metrics["error rate"].value == 0


def test_coordinates_are_those_of_the_training_rows():
    frame, y = clinic()
    frame = frame[["dose", "ward", "member"]]
    train, test = np.arange(150), np.arange(150, 240)
    expected = held_out_error(frame.iloc[train], y[train], frame.iloc[test], y[test]).error
    assert expected < 0.15
    columns = read_frame(frame)
    coordinates = learned_coordinates(columns.part(train, np.arange(3)))
    both = coordinates(columns.x)
    np.testing.assert_array_equal(both[test], coordinates(columns.x[test]))
    np.testing.assert_allclose(both[train].mean(axis=0), 0, atol=1e-12)


def test_a_level_that_no_training_row_has_differs_from_all():
    codes = np.array([0.0, 1.0, 2.0, 0.0, 1.0, 2.0])[:, None]
    coordinates = learned_coordinates(Columns(codes, [["a", "b", "c"]], None))
    other = coordinates(np.array([[3.0]]))
    gaps = ((coordinates(codes) - other) ** 2).sum(axis=1)
    between = ((coordinates(codes)[0] - coordinates(codes)[1]) ** 2).sum()
    np.testing.assert_allclose(gaps, between)
    known = Columns(codes, [["a", "b", "c"]], ["x"])
    np.testing.assert_array_equal(
        read_like(pd.DataFrame({"x": ["c", "new", None, "a"]}), known)[:, 0], [2, 3, np.nan, 0]
    )


def test_missing_values_of_predictors():
    x = np.array([[1.0, 5.0], [np.nan, 6.0], [3.0, 7.0], [np.nan, 9.0]])
    z = learned_coordinates(Columns(x, [None, None], None))(x)
    assert z.shape == (4, 3)
    np.testing.assert_allclose(z[:, 0], [-1, 0, 1, 0])
    np.testing.assert_allclose(z[:, 1], [-1, 1, -1, 1])
    complete = learned_coordinates(Columns(x[:, 1:], [None], None))
    assert complete(np.array([[np.nan]])).tolist() == [[0.0]]
    y = np.arange(40) % 2
    X = np.where(np.arange(40)[:, None] % 4 < 2, np.nan, y[:, None] + np.zeros((40, 2)))
    assert svm_error(X, y).error < 0.5


# -- reports ----------------------------------------------------------------------------------


HOSTILE = ["<script>window.hacked=1</script>", '"><img src=x onerror="window.hacked=2">', "two\nlines"]


def hostile_frame(n=200):
    rng = np.random.default_rng(0)
    levels = [*HOSTILE, *(f"level {i}" for i in range(12))]
    codes = np.minimum(rng.integers(0, 25, n), 14)
    frame = pd.DataFrame({"<b>kind</b>": pd.Categorical([levels[c] for c in codes])})
    frame.loc[::9, "<b>kind</b>"] = np.nan
    frame["age"] = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
    frame["grade"] = pd.Categorical(rng.choice(["low", "high"], n), ["low", "high"], ordered=True)
    frame["member"] = rng.choice([True, False], n)
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")
    return frame, codes


@pytest.mark.parametrize("target", ["classes", "numbers"])
def test_reports_of_mixed_frames(target, tmp_path):
    frame, codes = hostile_frame()
    y = np.where(codes > 4, "<i>yes</i>", "no") if target == "classes" else codes + frame["age"].fillna(0)
    selector = L1LSMI(5, random_state=0).fit(frame, y)
    report = collect(selector, frame, y, max_rows=80)
    validate(report, schema())
    plots = {frame.columns[plot["id"]]: plot for plot in report["plots"]["features"]}
    kind, listed = plots["<b>kind</b>"], "groups" if target == "classes" else "boxes"
    key = "value" if target == "classes" else "group"
    names = [each[key] for each in kind[listed]]
    assert len(names) == 10 and names[-2:] == ["7 others", "missing"]
    assert set(names[:8]) <= {"level 11", *(name.replace("\n", "⏎") for name in HOSTILE)} | {
        f"level {i}" for i in range(12)
    }
    assert sum(each["rows"] for each in kind[listed]) == len(frame)
    assert kind["n_missing"] == frame["<b>kind</b>"].isna().sum()
    assert [each[key] for each in plots["grade"][listed]] == ["low", "high"]
    assert [each[key] for each in plots["member"][listed]] == ["no", "yes"]
    assert plots["age"]["n_missing"] == frame["age"].isna().sum()
    assert plots["day"]["unit"] == "days since 1970-01-01"
    if target == "numbers":
        assert None in plots["age"]["values"]
        assert sum(knot["rows"] for knot in plots["age"]["trend"]) == frame["age"].notna().sum()
    assert report["held_out"]["rows"][0]["failure"] is None
    page = write_report(tmp_path / "page.html", selector, frame, y, held_out=False, max_rows=80).read_text()
    for hostile in (*HOSTILE[:2], "<b>kind", "<i>yes"):
        assert hostile not in page


def test_reports_show_dates(tmp_path):
    rng = np.random.default_rng(0)
    days = pd.Series(pd.date_range("2012-03-01", periods=240)).sample(
        frac=1, random_state=0, ignore_index=True
    )
    frame = pd.DataFrame({"day": days, "a": rng.normal(size=240)})
    late = (days > "2012-07-01").to_numpy()
    for y in (np.where(late, "late", "early"), late + 0.1 * rng.normal(size=240)):
        selector = L1LSMI(2, p_value=False).fit(frame, y)
        page = tmp_path / "page.html"
        write_report(page, selector, frame, y, held_out=False, max_rows=60)
        shown = page.read_text().split("<script")[0]
        assert ">2012-0" in shown and "days since" not in shown
    frame.assign(late=np.where(late, "late", "early")).to_csv(tmp_path / "table.csv", index=False)
    prepared = prepare(read_table(tmp_path / "table.csv"), "late")
    selector = L1LSMI(2, p_value=False).fit(prepared.X, prepared.y)
    found = collect(selector, prepared.X, prepared.y, table=prepared, held_out=False, max_rows=60)
    units = {found["features"][plot["id"]]["name"]: plot["unit"] for plot in found["plots"]["features"]}
    assert units == {"day": "days since 1970-01-01", "a": None}
