"""From columns of a file to features and a target."""

import io

import numpy as np
import pandas as pd
import pytest

from l1lsmi._cli.fitting import features_for
from l1lsmi.files import FileProblem, prepare, read_table
from l1lsmi.preparation import TablePreparation
from tests.small_tables import pa, text

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
    assert prepared.feature_names == ("size", "sex", "colour", "day", "flag")
    assert prepared.X.to_pydict() == {
        "size": [1, None, 3, 5, 2],
        "sex": ["m", "f", "m", "f", "m"],
        "colour": ["red", "green", None, "blue", "red"],
        "day": [0, 2, None, 8, 4],
        "flag": ["yes", "no", "yes", None, "no"],
    }
    assert prepared.X.column("colour").type == pa.dictionary(pa.int32(), pa.large_string())
    assert prepared.y.tolist() == ["1", "0", "1", "0", "0"]
    assert prepared.row_numbers.tolist() == [0, 1, 2, 3, 5]
    uses = {use.name: use.used_as for use in prepared.columns}
    assert uses == {
        "id": "left out: every value is different",
        "size": "number",
        "sex": "category with 2 levels",
        "colour": "category with 3 levels",
        "day": "number of days",
        "flag": "yes/no",
        "still": "left out: constant",
        "none": "left out: empty",
        "free": "left out: almost every value is different",
        "y": "target",
    }
    assert prepared.notes == (
        "Left out 1 row without a value of the target 'y'.",
        "4 missing values of 4 columns stay missing: nothing is imputed.",
        "Left out 1 column (every value is different): 'id'.",
        "Left out 1 column (constant): 'still'.",
        "Left out 1 column (empty): 'none'.",
        "Left out 1 column (almost every value is different): 'free'.",
    )
    assert repr(prepared) == "<5 rows, 5 features, classification of 'y'>"


def test_features_are_those_of_the_library():
    pandas = pytest.importorskip("pandas")
    prepared = prepare(text(TABLE), "y")
    preparation = TablePreparation(drop=["y"])
    for kind in (None, str):
        frame = pandas.read_csv(io.StringIO(TABLE), dtype=kind)
        found = preparation.fit_transform(frame).iloc[prepared.row_numbers].reset_index(drop=True)
        assert found.columns.tolist() == list(prepared.feature_names)
        for name in found:
            own = [None if value != value else value for value in found[name].tolist()]
            assert own == prepared.X.column(name).to_pylist(), name
        assert [use.used_as for use in preparation.columns_][:-1] == [
            use.used_as for use in prepared.columns
        ][:-1]


def test_missing_values_are_dropped_or_refused():
    prepared = prepare(text(TABLE), "y", missing="drop")
    assert prepared.row_numbers.tolist() == [0, 5]
    # Columns that are constant in the two rows that are kept are no features.
    assert prepared.feature_names == ("size", "day", "flag", "free")
    uses = {use.name: use.used_as for use in prepared.columns}
    assert uses["sex"] == uses["colour"] == "left out: constant in the rows that are kept"
    assert "Left out 3 rows with missing values." in prepared.notes
    assert "Left out 2 columns (constant in the rows that are kept): 'sex', 'colour'." in prepared.notes
    with pytest.raises(FileProblem, match="missing values in 3 rows, first in column 'size'"):
        prepare(text(TABLE), "y", missing="error")
    kept = prepare(text(TABLE), "y", missing="error", keep=["sex"]).X
    assert kept.to_pydict() == {"sex": ["m", "f", "m", "f", "m"]}
    with pytest.raises(FileProblem, match="1 row without missing values"):
        prepare(text("a,b,y\n1,NA,0\nNA,2,1\n1,3,0\n5,NA,1"), "y", missing="drop")


def test_drop_and_keep():
    table = text(TABLE)
    assert prepare(table, "y", keep=["size", "sex"], drop=["sex"]).feature_names == ("size",)
    assert "flag" not in prepare(table, "y", drop=["flag"]).feature_names
    for bad in ("drop", "keep", "categorical", "covariates"):
        with pytest.raises(FileProblem, match="no column named 'sizes': did you mean 'size'"):
            prepare(table, "y", **{bad: ["sizes"]})
        with pytest.raises(ValueError, match="must be a sequence of names"):
            prepare(table, "y", **{bad: "size"})
    for bad in ("drop", "keep", "categorical", "covariates"):
        with pytest.raises(FileProblem, match=f"The target 'y' cannot be in {bad} too"):
            prepare(table, "y", **{bad: ["y"]})
    with pytest.raises(FileProblem, match="no column besides the target 'y' that can be a feature"):
        prepare(table, "y", keep=["still"])


@pytest.mark.parametrize("start", [0, 1, -3, 1000])
def test_row_numbers_are_no_feature_unless_named_in_keep(start):
    def table(numbers):
        rows = "\n".join(f"{n},{i * i % 7},{i * i % 5},{i // 15}" for i, n in enumerate(numbers))
        return text("row,a,b,y\n" + rows)

    counted = table(range(start, start + 30))
    prepared = prepare(counted, "y")
    assert prepared.feature_names == ("a", "b")
    assert prepared.columns[0].used_as == "left out: row numbers"
    assert prepared.notes == (
        "Left out 1 column (row numbers): 'row'; to use it, name it in keep, together with all other "
        "columns to use.",
    )
    assert prepare(counted, "y", keep=["row", "a"]).feature_names == ("row", "a")
    # A column with a gap, with fractions, of few rows, or in decreasing order is a feature.
    others = ([*range(29), 30], [i / 2 for i in range(30)], range(9), range(30, 0, -1))
    for numbers in others:
        assert prepare(table(numbers), "y" if len(numbers) > 15 else "b").feature_names[0] == "row"


# -- missing values, categories and columns that are no features ------------------------------


def test_own_words_for_missing_values_apply_to_all_columns():
    rows = [f"{i if i % 9 else -999},{'uvw'[i % 3] if i % 7 else 'unknown'},{i % 2}" for i in range(40)]
    rows[5] = "5,u,unknown"
    prepared = prepare(text("a,b,y\n" + "\n".join(rows)), "y", na_values=["-999", "unknown"])
    missing = {use.name: use.n_missing for use in prepared.columns}
    assert missing == {"a": 5, "b": 6, "y": 1} and len(prepared.y) == 39
    assert set(prepared.y.tolist()) == {"0", "1"}
    assert prepared.notes[0] == "Left out 1 row without a value of the target 'y'."


def test_postal_codes_are_categories_with_the_text_of_the_file():
    table = text("zip,y\n" + "\n".join(f"0{i % 4}234,{i % 2}" for i in range(20)))
    assert prepare(table, "y").columns[0].used_as == "number"
    prepared = prepare(table, "y", categorical=["zip"])
    assert prepared.columns[0].used_as == "category with 4 levels"
    assert prepared.X.column("zip").to_pylist()[:2] == ["00234", "01234"]


ROLES = "age,dose,centre,patient,weight,y\n" + "\n".join(
    f"{20 + i % 13},{i * i % 11},{'ABC'[i % 3]},p{i // 2},{1 + i % 2}.5,{i % 5 if i else ''}"
    for i in range(30)
)


def test_groups_weights_and_covariates_are_no_features():
    prepared = prepare(text(ROLES), "y", groups="patient", weights="weight", covariates=["centre", "age"])
    assert prepared.feature_names == ("dose",)
    assert prepared.groups.tolist() == [f"p{i // 2}" for i in range(1, 30)]
    assert prepared.sample_weight.tolist() == [1.5 + i % 2 for i in range(1, 30)]
    assert prepared.covariates.column_names == ["age", "centre"]
    assert prepared.covariates.column("centre").to_pylist() == ["ABC"[i % 3] for i in range(1, 30)]
    uses = {use.name: use.used_as for use in prepared.columns}
    assert uses["patient"] == "groups" and uses["weight"] == "weights" and uses["age"] == "covariate"
    assert all(use.used for use in prepared.columns)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": "patients"}, "no column named 'patients': did you mean 'patient'"),
        ({"groups": "y"}, "The target 'y' cannot be in groups too"),
        ({"groups": "patient", "weights": "patient"}, "column of groups 'patient' cannot be in weights too"),
        ({"weights": "patient"}, "column of weights 'patient' has values that are not numbers"),
        ({"groups": "patient", "drop": ["patient"]}, "cannot be in drop too"),
        ({"covariates": ["still"]}, "The covariate 'still' cannot be used, as it is left out: constant"),
        ({"weights": "gaps"}, "column of weights 'gaps' has no value in 1 row"),
        ({"groups": "gaps"}, "column of groups 'gaps' has no value in 1 row"),
        ({"weights": "minus"}, "column of weights 'minus' has negative numbers"),
    ],
)
def test_columns_that_cannot_have_a_role(options, message):
    rows = ROLES.splitlines()
    more = [",1,2,-1", *[",1,2,1"] * 9, ",1,,1", *[",1,3,1"] * 19]
    lines = [
        rows[0] + ",still,gaps,minus",
        *(row + end for row, end in zip(rows[1:], more[::-1], strict=True)),
    ]
    with pytest.raises(FileProblem, match=message):
        prepare(text("\n".join(lines)), "y", **options)


def test_text_that_is_numbers_can_be_the_target():
    rows = "\n".join(f'{i * i % 17},"€{1000 + 7 * i * i:,}.50"' for i in range(40))
    prepared = prepare(text("a,price\n" + rows + "\n3,on request"), "price")
    assert prepared.task == "regression" and len(prepared.y) == 40
    assert prepared.y[:2].tolist() == [1000.5, 1007.5]
    assert prepared.notes[:3] == (
        "Left out 1 row without a value of the target 'price'.",
        "1 column with commas between thousands and the currency €: 'price'.",
        "Column 'price' has 1 cell that is not a number and counts as missing (rows are counted from 0): "
        "'on request' in row 40.",
    )


# -- targets ----------------------------------------------------------------------------------


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
        ("+ - + -", "classification", ["+", "-", "+", "-"]),
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
    assert any("treated as a quantity" in note for note in prepared.notes) == (n == 21)
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
    for bad in ({"task": "ranking"}, {"missing": "impute"}, {"max_levels": 1}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            prepare(table, "y", **bad)
    with pytest.raises(ValueError, match="format='xml'"):
        read_table(io.BytesIO(b"a"), format="xml")


def test_a_selector_takes_what_is_prepared():
    from l1lsmi import L1LSMI

    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 80))
    rows = zip(a, np.where(b > 0, "up", "down"), c, np.where((a > 0) ^ (b > 0), "in", "out"), strict=True)
    table = text("a,b,c,y\n" + "\n".join(",".join(map(str, row)) for row in rows))
    prepared = prepare(table, "y")
    selector = L1LSMI(2, random_state=0).fit(features_for(prepared.X), prepared.y)
    assert [prepared.feature_names[j] for j in selector.get_support(indices=True)] == ["a", "b"]


@pytest.mark.parametrize("value", ["5", "u", "0.5", "yes", "2024-01-01"])
def test_a_constant_target_is_refused(value):
    text = "a,y\n" + "".join(f"{i},{value}\n" for i in range(4))
    with pytest.raises(FileProblem, match="The target 'y' has the same value in every row"):
        prepare(read_table(io.BytesIO(text.encode())), "y")


def test_many_whole_numbers_as_classes_are_noted(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,goals\n" + "".join(f"{i / 7:.3f},{i % 12}\n" for i in range(120)))
    data = prepare(read_table(path), "goals")
    assert data.task == "classification"
    assert any("12 different whole numbers, which are treated as classes" in note for note in data.notes)
    path.write_text("a,digit\n" + "".join(f"{i / 7:.3f},{i % 10}\n" for i in range(120)))
    assert not any("treated as classes" in note for note in prepare(read_table(path), "digit").notes)


@pytest.mark.parametrize("as_text", [False, True])
def test_rows_that_may_belong_together_are_noted(tmp_path, as_text):
    rng = np.random.default_rng(0)
    person = np.repeat(rng.permutation(900)[:30], 5)
    frame = pd.DataFrame({"person": person, "a": rng.normal(size=150), "y": rng.normal(size=150)})
    if as_text:
        frame["person"] = "p" + frame["person"].astype(str)
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = "Rows with the same value of 'person' are next to each other (30 values)"
    notes = prepare(read_table(tmp_path / "t.csv"), "y").notes
    assert any(words in note and note.endswith("pass 'person' as groups.") for note in notes)
    assert not any(
        "next to each other" in n for n in prepare(read_table(tmp_path / "t.csv"), "y", groups="person").notes
    )
    frame.sample(frac=1, random_state=0).to_csv(tmp_path / "s.csv", index=False)
    notes = prepare(read_table(tmp_path / "s.csv"), "y").notes
    assert not any("next to each other" in note for note in notes)
