"""Tables of any kind as one column of a suitable type for each feature."""

import datetime
import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from l1lsmi import L1LSMI
from l1lsmi._columns.cells import text_cells
from l1lsmi._columns.rules import Settings, learn
from l1lsmi._columns.saved import restored_rule, saved_rule
from l1lsmi.preparation import TablePreparation
from tests.small_tables import text

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

N = 40


def frame(**columns):
    return pd.DataFrame(columns)


def used(column, **options):
    """How a column is used, beside one that is always a feature."""
    found = TablePreparation(**options).fit(
        pd.DataFrame({"c": column, "other": np.arange(len(column)) ** 2.0})
    )
    return found.columns_[0].used_as


def read(column, **options):
    """The cells of a column, None where they are missing."""
    other = np.arange(len(column)) ** 2.0
    found = TablePreparation(**options).fit_transform(pd.DataFrame({"c": column, "other": other}))
    return [None if value != value else value for value in found["c"].tolist()]


# -- missing values ---------------------------------------------------------------------------


def test_words_for_missing_values():
    words = ["-", "n/a", "NA", "?", "", "null", " NA ", "."]
    assert read([*words, "1", "2", "4"]) == [None] * 8 + [1, 2, 4]
    assert read([*words, "u", "v", "u"]) == [None] * 8 + ["u", "v", "u"]
    assert read(["unknown", "1", "2"] * 2, na_values=["unknown"]) == [None, 1, 2] * 2
    # A number is a word for missing values in columns of numbers too, however they came.
    for column in ([-999, 1, 2] * 2, [-999.0, 1, 2] * 2, ["-999", "1", "2"] * 2):
        assert read(column, na_values=["-999"]) == [None, 1, 2] * 2


def test_a_dash_beside_a_plus_is_a_level():
    assert read(["+", "-", "+", None]) == ["+", "-", "+", None]
    assert read(["+", "-", "+", "u"], na_values=["-"]) == ["+", None, "+", "u"]


def test_infinite_values_are_missing():
    found = TablePreparation().fit(frame(a=[1, np.inf, 3, 4], b=["1", "-inf", "3", "5"]))
    assert [column.n_missing for column in found.columns_] == [1, 1]
    assert found.notes_[0] == "2 columns with infinite values, which count as missing: 'a', 'b'."


# -- kinds of columns -------------------------------------------------------------------------

DAYS = [datetime.date(2024, 5, 1) + datetime.timedelta(days=i * i % 17) for i in range(N)]

USES = {
    "numbers": ([i * i % 31 for i in range(N)], "number"),
    "zeros and ones": ([0, 1] * 20, "yes/no"),
    "words": (["Yes", "no"] * 20, "yes/no"),
    "booleans": ([True, False] * 20, "yes/no"),
    "booleans with gaps": ([True, None, False, True] * 10, "yes/no"),
    "text": (["u", "v", "w", None] * 10, "category with 3 levels"),
    "many levels": ([f"l{i % 20}" for i in range(N)], "category with 20 levels"),
    "more levels": ([f"l{i % 25}" for i in range(60)], "category with 25 levels"),
    "almost ids": ([f"l{i % 30}" for i in range(N)], "left out: almost every value is different"),
    "ids": ([f"l{i}" for i in range(N)], "left out: every value is different"),
    "row numbers": (list(range(5, N + 5)), "left out: row numbers"),
    "row numbers in text": ([str(i) for i in range(N)], "left out: row numbers"),
    "constant": ([3] * N, "left out: constant"),
    "constant text": (["u", None] * 20, "left out: constant"),
    "empty": ([None] * N, "left out: empty"),
    "empty text": (["", "NA"] * 20, "left out: empty"),
    "dates": (DAYS, "number of days"),
    "dates in text": ([str(day) for day in DAYS], "number of days"),
    "German dates": ([f"{day.day}.{day.month}.{day.year}" for day in DAYS], "number of days"),
    "ambiguous dates": (["1/2/2020", "3/4/2020"] * 20, "category with 2 levels"),
    "lists": ([[1], [2]] * 20, "left out: of type list"),
    "bytes": ([b"a", b"b"] * 20, "left out: of type bytes"),
    "mixed": ([1, "2", 2.5, "n/a"] * 10, "number"),
}


@pytest.mark.parametrize("case", USES)
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_how_columns_are_used_in_every_library(case, library):
    column, expected = USES[case]
    other = [float(i * i) for i in range(len(column))]
    if library == "pandas":
        table = pd.DataFrame({"c": pd.Series(column, dtype=None if case != "lists" else object), "o": other})
    elif case == "mixed":
        pytest.skip("columns have one type")
    elif library == "polars":
        table = pl.DataFrame({"c": column, "o": other})
    else:
        table = pa.table({"c": column, "o": other})
    (first, _) = TablePreparation().fit(table).columns_
    assert re.sub(r"of type .+", "of type", first.used_as) == re.sub(r"of type .+", "of type", expected)


def test_columns_that_are_nearly_empty_are_left_out_unless_asked_for():
    column = [None] * 298 + [1.5, 2.5]
    assert used(column) == "left out: nearly empty"
    assert used(column, keep=["c", "other"]) == "number"
    assert used([None] * 297 + [1.5, 2.5, 2.5]) == "number"


def test_categories_that_are_asked_for():
    assert used([1, 2, 3, 2] * 5, categorical=["c"]) == "category with 3 levels"
    assert read([1, 2.5, None, 2.5], categorical=["c"]) == ["1", "2.5", None, "2.5"]
    assert used([f"id{i}" for i in range(N)], categorical=["c"]) == "category with 40 levels"
    days = pd.to_datetime(["2024-05-01", "2024-05-02", None, "2024-05-02"])
    assert read(days, categorical=["c"]) == ["2024-05-01", "2024-05-02", None, "2024-05-02"]


def test_dates():
    column = ["2024-05-01", "2024-05-01T12:00:00", None, "2024-05-03 06:00"]
    days = [19844, 19844.5, None, 19846.25]
    assert read(column) == days
    assert read(pd.to_datetime(pd.Series(column), format="ISO8601")) == days
    assert read(pd.to_datetime(pd.Series(column), format="ISO8601").dt.tz_localize("Europe/Berlin")) == [
        None if day is None else day - 2 / 24 for day in days
    ]
    assert used(column, dates="drop") == "left out: a date"
    assert read(pd.to_timedelta([1, 2, None], unit="s")) == [1, 2, None]
    assert read(pd.PeriodIndex(["2024-05", "2024-06", "2024-08"], freq="M").to_series()) == [
        19844,
        19875,
        19936,
    ]


def test_ordered_categories_stay_ordered():
    kind = pd.CategoricalDtype(["low", "mid", "high", "unused"], ordered=True)
    table = frame(size=pd.Series(["mid", "low", None, "high"] * 3, dtype=kind), a=np.arange(12) ** 2)
    preparation = TablePreparation()
    found = preparation.fit_transform(table)
    assert found["size"].dtype == kind
    assert preparation.columns_[0].used_as == "ordered category with 4 levels"
    assert preparation.transform(table.iloc[[3]])["size"].dtype == kind
    arrow = pa.table({"size": pa.array(table["size"]), "a": pa.array(table["a"])})
    assert TablePreparation().fit_transform(arrow).schema.field("size").type.ordered
    enum = pl.DataFrame({"size": pl.Series(["b", "a"] * 6, dtype=pl.Enum(["b", "a", "c"])), "a": range(12)})
    assert TablePreparation().fit_transform(enum)["size"].dtype == pl.Enum(["b", "a"])


# -- frames -----------------------------------------------------------------------------------


def patients(n=N):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "weight": [f"{value:.1f}".replace(".", ",") for value in rng.normal(70, 9, n)],
            "sex": rng.choice(["f", "m"], n),
            "smoker": rng.choice(["yes", "no"], n),
            "visit": [str(day) for day in pd.date_range("2024-01-01", periods=n, freq="9D").date],
            "blood": rng.normal(size=n).round(3),
        }
    )
    table.loc[[3, 8], ["sex", "weight"]] = None
    table.loc[[1, 9], "blood"] = np.nan
    return table


def as_lists(result):
    if isinstance(result, pa.Table):
        return result.to_pydict()
    lists = {name: result[name].to_list() for name in result.columns}
    return {name: [None if value != value else value for value in column] for name, column in lists.items()}


def test_the_same_table_in_every_library():
    table = patients()
    expected = as_lists(TablePreparation().fit_transform(table))
    assert list(expected) == ["weight", "sex", "smoker", "visit", "blood"]
    csv = text(table.to_csv(index=False))
    tables = (pl.from_pandas(table), pa.Table.from_pandas(table), csv, table.astype("string"))
    for other, kind in zip(tables, (pl.DataFrame, pa.Table, pa.Table, pd.DataFrame), strict=True):
        preparation = TablePreparation().fit(other)
        found = preparation.transform(other)
        assert type(found) is kind and as_lists(found) == expected
        assert as_lists(TablePreparation().fit(table).transform(other)) == expected
        assert preparation.columns_ == TablePreparation().fit(table).columns_
        assert preparation.notes_ == TablePreparation().fit(table).notes_


def test_types_of_the_result():
    table = patients()
    found = TablePreparation().fit_transform(table.set_index(table.index + 100))
    assert found.index.tolist() == [i + 100 for i in range(N)]
    assert found["sex"].dtype == pd.CategoricalDtype(["f", "m"])
    assert found["smoker"].dtype == pd.CategoricalDtype(["no", "yes"])
    assert {found[name].dtype for name in ("weight", "visit", "blood")} == {np.dtype(float)}
    polars = TablePreparation().fit_transform(pl.from_pandas(table))
    assert polars["sex"].dtype == pl.Enum(["f", "m"]) and polars["blood"].null_count() == 2


@pytest.mark.parametrize(("wanted", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_set_output(wanted, kind, library):
    table = {"pandas": lambda t: t, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}[library](
        patients()
    )
    preparation = TablePreparation().set_output(transform=wanted)
    for found in (preparation.fit_transform(table), preparation.transform(table)):
        assert type(found) is kind and as_lists(found) == as_lists(
            TablePreparation().fit_transform(patients())
        )


def test_it_is_an_estimator():
    table = patients()
    preparation = TablePreparation(na_values=["unknown"], drop=["visit"], max_levels=5)
    again = clone(preparation)
    assert again.get_params() == preparation.get_params() and repr(again) == repr(preparation)
    with pytest.raises(NotFittedError):
        again.transform(table)
    before = preparation.fit_transform(table)
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(preparation)).transform(table), before)
    assert preparation.get_feature_names_out().tolist() == before.columns.tolist()
    assert preparation.feature_names_in_.tolist() == table.columns.tolist()
    assert preparation.n_features_in_ == 6
    with pytest.raises(ValueError, match="input_features are not the column names of the X that was passed"):
        preparation.get_feature_names_out(["a"])


def test_in_a_pipeline_before_a_selector():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"x{j}": rng.normal(size=120) for j in range(5)})
    y = np.where(table["x1"] * table["x3"] > 0, "in", "out")
    written = table.map("{:.12g}".format).assign(id=[f"p{i}" for i in range(120)])
    written["x1"] = written["x1"].str.replace(".", ",")
    model = make_pipeline(TablePreparation(), L1LSMI(2, random_state=0), LogisticRegression())
    model.fit(written, y)
    assert model[:-1].get_feature_names_out().tolist() == ["x1", "x3"]
    assert model.predict(written.tail(3)).shape == (3,)
    assert clone(model).set_params(tablepreparation__drop=["x1"]).fit(written, y)[1].n_features_in_ == 4


# -- new rows ---------------------------------------------------------------------------------


def test_new_rows_are_read_as_the_others():
    table = patients()
    preparation = TablePreparation().fit(table)
    one = (
        table.iloc[[5]]
        .drop(columns="id")
        .assign(more=1)[["sex", "blood", "weight", "visit", "smoker", "more"]]
    )
    expected = preparation.transform(table).iloc[[5]]
    pd.testing.assert_frame_equal(preparation.transform(one), expected)
    # Numbers that are text now, and the other way round.
    other = one.assign(blood=one["blood"].astype(str), weight=float(one["weight"].iloc[0].replace(",", ".")))
    pd.testing.assert_frame_equal(preparation.transform(other), expected)
    pd.testing.assert_frame_equal(
        preparation.transform(other.assign(smoker=expected["smoker"] == "yes")), expected
    )
    gaps = preparation.transform(one.assign(sex=None, blood=None, visit="", weight="n/a"))
    assert gaps[["sex", "blood", "visit", "weight"]].isna().all(axis=None)


def test_unknown_levels_become_missing_with_a_warning():
    preparation = TablePreparation().fit(frame(c=["u", "v", "u"] * 4, a=np.arange(12) ** 2))
    with pytest.warns(
        UserWarning, match="^Column 'c' has 2 levels that fit has not seen, missing now: 'w', 'x'.$"
    ):
        found = preparation.transform(frame(c=["u", "w", "x", None], a=[1, 2, 3, 4]))
    assert as_lists(found)["c"] == ["u", None, None, None]


def test_cells_that_are_no_numbers_become_missing_with_a_warning():
    preparation = TablePreparation().fit(frame(a=[1, 4, 9, 25]))
    with pytest.warns(UserWarning, match="Column 'a' has 1 cell that is not a number .* 'many' in row 1"):
        assert as_lists(preparation.transform(frame(a=["1", "many", "3"])))["a"] == [1, None, 3]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"b": [1]}, "X has no column 'a', which was there in fit: there are 'b'."),
        ({"a": ["many"]}, "Column 'a' of X has text such as 'many', but was used as 'number' in fit"),
        ({"a": pd.to_datetime(["2024-05-01"])}, "Column 'a' of X has dates, but was used as 'number' in fit"),
        ({"a": [[1]]}, "Column 'a' of X has values of type list, but was used as 'number' in fit"),
    ],
)
def test_columns_that_cannot_be_read_as_before(column, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        TablePreparation().fit(frame(a=[1, 4, 9, 25])).transform(pd.DataFrame(column))


def test_dates_and_levels_that_are_something_else_now():
    preparation = TablePreparation().fit(frame(day=["2024-05-01", "2024-05-03"], c=["u", "v"]))
    with pytest.raises(ValueError, match="Column 'day' of X has numbers, but was used as 'number of days'"):
        preparation.transform(frame(day=[5], c=["u"]))
    with pytest.raises(ValueError, match="'c' of X has dates, but was used as 'category with 2 levels'"):
        preparation.transform(frame(day=["2024-05-01"], c=pd.to_datetime(["2024-05-01"])))


# -- wrong use --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.eye(3), "X is a ndarray, whose columns have neither names nor types"),
        (None, "X is a NoneType"),
        ({"a": [1]}, "X is a dict"),
        (pl.LazyFrame({"a": [1]}), "pass X.collect()"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "X has 2 columns named 'a'"),
        (pd.DataFrame(), "X has no columns"),
        (pd.DataFrame({"a": []}), "X has no rows"),
        (pd.DataFrame({"a": [1, 1]}), "X has no column that can be a feature ('a' is left out: constant)."),
    ],
)
def test_tables_that_are_refused(X, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        TablePreparation().fit(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"drop": "a"}, "drop='a' must be a sequence of str"),
        ({"na_values": [-999]}, r"na_values=\[-999\] must be a sequence of str"),
        ({"keep": ["A"]}, "keep has 'A', which is not a column of X: did you mean 'a'"),
        ({"categorical": ["z"]}, "categorical has 'z'"),
        ({"max_levels": 1}, "max_levels=1 must be a whole number of at least 2"),
        ({"dates": "months"}, "dates='months' is unknown: pass one of 'days', 'drop'"),
        ({"decimal": ";"}, "decimal=';' is unknown"),
    ],
)
def test_wrong_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        TablePreparation(**options).fit(frame(a=[1, 4, 9]))


HOSTILE = ["<script>alert(1)</script>", "=cmd|' /C calc'!A0", "a\x1b[2J\nb", "{0}{{", "../../x", "\u202etxt"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_and_levels_are_data(name):
    table = pd.DataFrame({name: [name, "v", None, name] * 3, f"{name}2": [f"{i}{name}" for i in range(12)]})
    preparation = TablePreparation()
    found = preparation.fit_transform(table)
    assert found.columns.tolist() == [name] and found[name].cat.categories.tolist() == sorted(
        [name.strip(), "v"]
    )
    assert all(note.isprintable() and "\x1b" not in note for note in preparation.notes_)
    with pytest.warns(UserWarning, match="has 1 level that fit has not seen") as said:
        preparation.transform(pd.DataFrame({name: [name + "!"]}))
    assert str(said[0].message).isprintable()


def test_names_that_are_no_text_become_text():
    found = TablePreparation().fit_transform(pd.DataFrame({0: [1, 4, 9], 1: ["u", "v", "u"]}))
    assert found.columns.tolist() == ["0", "1"]


@pytest.mark.parametrize(
    "change",
    [
        {"kind": 1},
        {"levels": [1]},
        {"levels": None},
        {"levels": ["a", "a"]},
        {"kind": "yes/no", "levels": ["a"]},
        {"numbers": [".", ","]},
        {"numbers": ["x", "y", "z"]},
        {"dates": "eval"},
        {"ordered": "no"},
    ],
)
def test_saved_rules_that_were_changed_are_refused(change):
    rule, _ = learn(text_cells(["u", "v", "u"]), Settings())
    assert restored_rule(saved_rule(rule)) == rule
    assert restored_rule({**saved_rule(rule), **change}) is None
    assert restored_rule([]) is None and restored_rule({}) is None
