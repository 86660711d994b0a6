"""From columns to features and a target."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from l1lsmi.files import Column, DataTable, FileProblem, prepare, read_table
from tests.small_tables import text

# -- from columns to features -----------------------------------------------------------------

TABLE = """id,size,sex,colour,day,flag,still,none,free,y
a,1,m,red,1970-01-01,yes,7,,t1,1
b,,f,green,1970-01-03,no,7,,t2,0
c,3,m,NA,,yes,7,,t1,1
d,5,f,blue,1970-01-09,NA,7,,t3,0
e,9,f,red,1970-01-05,no,7,,t4,NA
f,2,m,red,1970-01-05,no,7,,t5,0
"""


def test_features_and_how_columns_are_used():
    prepared = prepare(text(TABLE), "y", max_levels=3)
    colours = [f"colour = {level}" for level in ("blue", "green", "red", "missing")]
    assert prepared.feature_names == ("size", "sex = m", *colours, "day", "flag")
    assert prepared.source_columns == ("size", "sex", *["colour"] * 4, "day", "flag")
    expected = [
        [1, 1, 0, 0, 1, 0, 0, 1],
        [2.5, 0, 0, 1, 0, 0, 2, 0],
        [3, 1, 0, 0, 0, 1, 3, 1],
        [5, 0, 1, 0, 0, 0, 8, 0.5],
        [2, 1, 0, 0, 1, 0, 4, 0],
    ]
    np.testing.assert_array_equal(prepared.X, expected)
    assert prepared.y.tolist() == ["1", "0", "1", "0", "0"]
    assert prepared.row_numbers.tolist() == [0, 1, 2, 3, 5]
    uses = {use.name: use.used_as for use in prepared.columns}
    assert uses == {
        "id": "left out: every value is different",
        "size": "number",
        "sex": "1 indicator",
        "colour": "4 indicators",
        "day": "number of days",
        "flag": "yes/no",
        "still": "left out: constant",
        "none": "left out: empty",
        "free": "left out: text with 5 levels",
        "y": "target",
    }
    assert prepared.notes == (
        "Left out 1 row without a value of the target 'y'.",
        "Filled in the median for 3 missing values of 3 columns.",
        "Missing values are a level of their own in 1 column of text.",
        "Left out 1 column (every value is different): 'id'.",
        "Left out 1 column (constant): 'still'.",
        "Left out 1 column (empty): 'none'.",
        "Left out 1 column (text with many levels): 'free'.",
    )
    assert repr(prepared) == "<5 rows, 8 features, classification of 'y'>"


def test_missing_values_are_dropped_or_refused():
    prepared = prepare(text(TABLE), "y", missing="drop")
    assert prepared.row_numbers.tolist() == [0, 5]
    # Columns that are constant in the two rows that are kept are no features.
    assert prepared.feature_names == ("size", "day", "flag", "free = t5")
    with pytest.raises(FileProblem, match="missing values in 3 rows, first in column 'size'"):
        prepare(text(TABLE), "y", missing="error")
    assert prepare(text(TABLE), "y", missing="error", only=["sex"]).X.tolist() == [[1], [0], [1], [0], [1]]
    with pytest.raises(FileProblem, match="1 row without missing values"):
        prepare(text("a,b,y\n1,NA,0\nNA,2,1\n1,3,0\n5,NA,1"), "y", missing="drop")


def test_drop_and_only():
    table = text(TABLE)
    assert prepare(table, "y", only=["size", "sex"], drop=["sex"]).feature_names == ("size",)
    assert "flag" not in prepare(table, "y", drop=["flag"]).source_columns
    for bad in ({"drop": ["sizes"]}, {"only": ["sizes"]}):
        with pytest.raises(FileProblem, match="no column named 'sizes': did you mean 'size'"):
            prepare(table, "y", **bad)
    with pytest.raises(FileProblem, match="cannot be in only too"):
        prepare(table, "y", only=["y"])
    with pytest.raises(ValueError, match="must be a sequence of names"):
        prepare(table, "y", drop="size")
    with pytest.raises(FileProblem, match="no column beside the target 'y' that can be a feature"):
        prepare(table, "y", only=["still"])


@pytest.mark.parametrize("start", [0, 1, -3, 1000])
def test_row_numbers_are_no_feature_unless_named_in_only(start):
    def table(numbers):
        rows = "\n".join(f"{n},{i * i % 7},{i * i % 5},{i // 15}" for i, n in enumerate(numbers))
        return text("row,a,b,y\n" + rows)

    counted = table(range(start, start + 30))
    prepared = prepare(counted, "y")
    assert prepared.feature_names == ("a", "b")
    assert prepared.columns[0].used_as == "left out: row numbers"
    assert prepared.notes == (
        "Left out 1 column (row numbers): 'row'; to use it, name it in only beside the others.",
    )
    assert prepare(counted, "y", only=["row", "a"]).feature_names == ("row", "a")
    # A column with a gap, with fractions, of few rows, or in decreasing order is a feature.
    others = ([*range(29), 30], [i / 2 for i in range(30)], range(9), range(30, 0, -1))
    for numbers in others:
        assert prepare(table(numbers), "y" if len(numbers) > 15 else "b").feature_names[0] == "row"


@pytest.mark.parametrize(
    ("values", "task", "y"),
    [
        ("1 2 3 1", "classification", ["1", "2", "3", "1"]),
        ("1 2 3.5 1", "regression", [1, 2, 3.5, 1]),
        ("u v u u", "classification", ["u", "v", "u", "u"]),
        ("Yes No Yes No", "classification", ["Yes", "No", "Yes", "No"]),
        ("TRUE FALSE TRUE TRUE", "classification", ["true", "false", "true", "true"]),
        ("-1 1 1 -1", "classification", ["-1", "1", "1", "-1"]),
        ("1970-01-02 1970-01-02 1970-01-03 1970-01-05", "classification", ["1", "1", "2", "4"]),
    ],
)
def test_the_task_is_inferred_from_the_target(values, task, y):
    table = text("a,y\n" + "\n".join(f"{i},{value}" for i, value in enumerate(values.split())))
    prepared = prepare(table, "y")
    assert prepared.task == task and prepared.y.tolist() == y
    assert prepared.y.dtype.kind == ("U" if task == "classification" else "f")


@pytest.mark.parametrize("n", [20, 21])
def test_the_task_is_the_one_that_selectors_infer(n):
    from l1lsmi._validation.target import check_target

    y = np.arange(60) % n
    table = text("a,y\n" + "\n".join(f"{i * i},{value}" for i, value in enumerate(y)))
    prepared = prepare(table, "y")
    assert (prepared.task == "classification") == check_target(y.astype(float), "auto").is_classification
    assert (prepared.task == "classification") == (n == 20)
    assert any("taken for a quantity" in note for note in prepared.notes) == (n == 21)
    assert prepare(table, "y", task="classification").y.tolist() == [str(value) for value in y]
    assert prepare(table, "y", task="regression").y.tolist() == y.tolist()


def test_targets_that_do_not_fit_their_task():
    table = text("a,b,c,d,e\n1,1.5,u,t1,NA\n2,2,v,t2,\n3,3,u,t3,")
    for task, target, message in (
        ("classification", "b", "'b' has numbers with fractions"),
        ("regression", "c", "'c' has text such as 'u'"),
        ("auto", "d", "'d' has a different text in every row"),
        ("auto", "e", "'e' has no values"),
        ("auto", "B", "no column named 'B': did you mean 'b'"),
    ):
        with pytest.raises(FileProblem, match=message):
            prepare(table, target, task=task)


def test_wrong_choices():
    table = text(TABLE)
    for bad in ({"task": "ranking"}, {"missing": "ignore"}, {"max_levels": 1}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            prepare(table, "y", **bad)
    with pytest.raises(ValueError, match="format='xml'"):
        read_table(io.BytesIO(b"a"), format="xml")


def test_indicators_that_share_a_name_with_a_column():
    prepared = prepare(text("sex = m,sex,y\n1,m,0\n2,f,1\n3,m,1\n4,f,0"), "y")
    assert prepared.feature_names == ("sex = m", "sex = m (2)")
    assert prepared.source_columns == ("sex = m", "sex")


def test_a_selector_takes_what_is_prepared():
    from l1lsmi import L1LSMI

    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 80))
    rows = zip(a, np.where(b > 0, "up", "down"), c, np.where((a > 0) ^ (b > 0), "in", "out"), strict=True)
    table = text("a,b,c,y\n" + "\n".join(",".join(map(str, row)) for row in rows))
    prepared = prepare(table, "y")
    selector = L1LSMI(2, random_state=0).fit(prepared.X, prepared.y)
    assert [prepared.feature_names[j] for j in selector.get_support(indices=True)] == ["a", "b = up"]


INCOMPLETE = st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), min_size=3, max_size=9)


@settings(max_examples=100, deadline=None)
@given(st.lists(INCOMPLETE, min_size=1, max_size=4))
def test_medians_ignore_missing_values(rows):
    n = min(map(len, rows))
    incomplete = [np.array([np.nan if value is None else value for value in row[:n]]) for row in rows]
    columns = [Column(f"c{j}", "number", own, int(np.isnan(own).sum())) for j, own in enumerate(incomplete)]
    other = Column("fixed", "number", np.arange(float(n)), 0)
    table = DataTable([*columns, other, Column("y", "number", np.arange(float(n)) / 2, 0)], n)
    prepared = prepare(table, "y")
    for name, own in zip(prepared.feature_names, prepared.X.T, strict=True):
        values = table.column(name).values
        median = np.median(values[~np.isnan(values)])
        np.testing.assert_allclose(own, np.where(np.isnan(values), median, values), atol=1e-300)


@pytest.mark.parametrize("value", ["5", "u", "0.5", "yes", "2024-01-01"])
def test_a_constant_target_is_refused(value):
    text = "a,y\n" + "".join(f"{i},{value}\n" for i in range(4))
    with pytest.raises(FileProblem, match="The target 'y' has the same value in every row"):
        prepare(read_table(io.BytesIO(text.encode())), "y")
