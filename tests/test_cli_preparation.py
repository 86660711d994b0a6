"""Columns of a file on the command line: categories, missing values, groups, weights and constraints."""

import html
import json
import re
from types import SimpleNamespace

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from l1lsmi._cli import fitting
from l1lsmi._cli.commands import schema_text
from l1lsmi._cli.text import wrapped
from l1lsmi.methods import METHODS, Method
from l1lsmi.preparation import TablePreparation
from tests.test_cli import call, called_json

N = 120


@pytest.fixture
def visits(tmp_path):
    """The target depends on colour and price; there are all sorts of other columns."""
    rng = np.random.default_rng(0)
    price, colour = rng.normal(size=N), rng.choice(["red", "green", "blue"], N)
    frame = pd.DataFrame(
        {
            "id": [f"v{i}" for i in range(N)],
            "patient": [f"p{i // 3}" for i in range(N)],
            "price": [f"€{1000 + 100 * value:,.2f}" for value in price],
            "colour": colour,
            "zip": [f"0{i}" for i in rng.integers(1000, 1004, N)],
            "noise": rng.normal(size=N).round(4),
            "weight": rng.integers(1, 4, N),
            "ill": np.where((price > 0) == (colour == "red"), "yes", "no"),
        }
    )
    frame.loc[[3, 7], "colour"] = "unclear"
    frame.loc[5, "price"] = "free"
    frame.loc[9, "noise"] = np.nan
    path = tmp_path / "visits.csv"
    frame.to_csv(path, index=False)
    return SimpleNamespace(path=str(path), frame=frame, folder=tmp_path)


def selected(capfd, visits, *options):
    return called_json(capfd, "select", "select", visits.path, "-t", "ill", *options)


def test_a_category_is_one_feature(capfd, visits):
    options = ["-k", 2, "--na-values", "unclear,-999", "--drop", "weight,patient"]
    found = selected(capfd, visits, *options, "--categorical", "zip")
    assert {feature["name"]: feature["used_as"] for feature in found["features"]} == {
        "colour": "category with 3 levels",
        "price": "number",
    }
    assert found["columns"] == ["price", "colour"] and found["features_considered"] == 4
    assert found["na_values"] == ["unclear", "-999"] and found["categorical"] == ["zip"]
    by_name = {feature["name"]: feature["read_as"] for feature in found["features"]}
    assert by_name["colour"]["levels"] == ["blue", "green", "red"]
    assert by_name["price"]["numbers"] == [".", ",", "€"]
    assert "1 column with commas between thousands and the currency €: 'price'." in found["notes"]
    assert any("'free' in row 5" in note for note in found["notes"])
    assert "4 missing values of 3 columns stay missing: nothing is imputed." in found["notes"]
    said = call(capfd, "select", visits.path, "-t", "ill", *options).err
    assert "colour: category with 3 levels" in said and "id" in said


def test_the_command_line_prepares_as_the_library_does(capfd, visits, monkeypatch):
    seen = []
    original = fitting.features_for
    monkeypatch.setattr(
        "l1lsmi._cli.select.features_for", lambda X, rows=None: seen.append(X) or original(X, rows)
    )
    selected(capfd, visits, "-k", 1, "-m", "pearson", "--na-values", "unclear", "--drop", "id,weight")
    preparation = TablePreparation(na_values=["unclear"], drop=["id", "weight", "ill"])
    expected = preparation.fit_transform(visits.frame)
    X = seen[0]
    assert X.column_names == expected.columns.tolist() == preparation.get_feature_names_out().tolist()
    for name in X.column_names:
        own = [None if value != value else value for value in expected[name].tolist()]
        assert X.column(name).to_pylist() == own
        if isinstance(expected[name].dtype, pd.CategoricalDtype):
            assert X.column(name).chunk(0).dictionary.to_pylist() == expected[name].cat.categories.tolist()


@pytest.mark.parametrize("command", ["measure", "compare"])
def test_other_commands_take_categories_too(capfd, visits, command):
    options = ["-k", 2, "--methods", "pearson,mrmr"] if command == "compare" else ["--measures", "pearson"]
    keep = ["--keep", "colour,price,noise", "--na-values", "unclear"]
    found = called_json(capfd, command, command, visits.path, "-t", "ill", *options, *keep)
    assert found["features_considered"] == 3
    if command == "measure":
        uses = {feature["name"]: feature["used_as"] for feature in found["features"]}
        assert uses == {"colour": "category with 3 levels", "price": "number", "noise": "number"}


def test_the_report_says_how_columns_were_used(capfd, visits):
    report = visits.folder / "r.html"
    options = ["-k", 1, "-m", "pearson", "--groups", "patient", "--categorical", "zip", "--drop", "weight"]
    options += ["--only", "noise,zip"]
    assert call(capfd, "select", visits.path, "-t", "ill", *options, "--report", report).code == 0
    page = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", report.read_text())).split())
    for words in ("category with 4 levels", "Missing values are not filled in", "left out: excluded by"):
        assert words in page
    assert "patient category 0 groups" in page
    assert "keep=['noise', 'zip']" in page and "--keep noise,zip" in page
    assert "categorical=['zip']" in page and "groups='patient'" in page and "groups=data.groups" in page


# -- columns that are no features -------------------------------------------------------------


def test_groups_reach_fit_and_the_splits(capfd, visits, monkeypatch):
    seen = []
    selector = type(METHODS["pearson"].make())
    original = selector.fit

    def noted(self, X, y=None, sample_weight=None, groups=None, covariates=None):
        seen.append(groups)
        return original(self, X, y, sample_weight, groups, covariates)

    monkeypatch.setattr(selector, "fit", noted)
    found = selected(capfd, visits, "-k", 1, "-m", "pearson", "--groups", "patient")
    assert found["groups"] == "patient" and "patient" not in found["columns"]
    assert seen[0].tolist() == visits.frame["patient"].tolist()
    args = ["compare", visits.path, "-t", "ill", "-k", 1, "--methods", "pearson", "--groups", "patient"]
    assert called_json(capfd, "compare", *args)["features_considered"] == 5
    problem = call(capfd, "select", visits.path, "-t", "ill", "-k", 1, "-m", "mrmr", "--groups", "patient")
    assert problem.code == 2 and "--groups is not supported by the method mrmr" in problem.err


class Recorder(BaseEstimator):
    """A selector that takes everything, and selects its first features."""

    def __init__(self):
        self.parameters, self.given, self.warnings_ = {"must_include": None, "must_exclude": None}, {}, []
        self.parameters |= {"search__n_jobs": None}

    def _supports_out_of_core(self):
        return False

    def get_params(self, deep=True):
        return dict(self.parameters)

    def set_params(self, **parameters):
        self.parameters.update(parameters)
        return self

    def fit(self, X, y=None, sample_weight=None, groups=None, covariates=None):
        self.given = {"sample_weight": sample_weight, "groups": groups, "covariates": covariates}
        self.n_features_in_ = X.shape[1]
        return self

    def get_support(self):
        return np.arange(self.n_features_in_) < 1


@pytest.fixture
def recorder(monkeypatch):
    made = Recorder()
    monkeypatch.setitem(METHODS, "mrmr", Method("mrmr", "", "", True, lambda k, **settings: made))
    return made


def test_weights_covariates_and_constraints_are_passed_on(capfd, visits, recorder):
    roles = ["--weights", "weight", "--covariates", "colour,zip"]
    constraints = ["--include", "noise", "--exclude", "price", "--jobs", 2]
    found = selected(capfd, visits, "-k", 1, "-m", "mrmr", *roles, *constraints)
    names = [use["name"] for use in found["left_out"]]
    assert "weight" not in names and found["weights"] == "weight" and found["covariates"] == ["colour", "zip"]
    assert found["include"] == ["noise"] and found["exclude"] == ["price"]
    assert recorder.given["sample_weight"].tolist() == visits.frame["weight"].tolist()
    assert recorder.given["groups"] is None and recorder.given["covariates"].shape == (N, 2)
    assert recorder.parameters["search__n_jobs"] == 2
    # patient, price, noise
    assert recorder.parameters["must_include"] == [2] and recorder.parameters["must_exclude"] == [1]


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["-m", "lasso", "--covariates", "weight"], 2, "--covariates is not supported by the method lasso"),
        (["-m", "lasso", "--include", "noise"], 2, "--include is not supported by the method lasso"),
        (["-m", "lasso", "--jobs", "2"], 2, "--jobs is not supported by the method lasso"),
        (
            ["-m", "mrmr", "--include", "id"],
            2,
            "--include 'id' is not a feature: it is left out: every value",
        ),
        (["--groups", "patients"], 1, "no column named 'patients': did you mean 'patient'"),
        (["--weights", "colour"], 1, "column of weights 'colour' has values that are not numbers"),
        (["--groups", "ill"], 1, "The target 'ill' cannot be in groups too"),
        (["--covariates", "id"], 1, "The covariate 'id' cannot be used, as it is left out: every value"),
        (["--drop", "colours"], 1, "no column named 'colours': did you mean 'colour'"),
        (["--missing", "impute"], 2, "impute"),
        (["--jobs", "0"], 2, "0 is not a number of threads: pass 1"),
    ],
)
def test_wrong_columns_are_one_sentence(capfd, visits, recorder, options, code, words):
    result = call(capfd, "select", visits.path, "-t", "ill", "-k", 1, "-q", *options)
    assert result.code == code and words in result.err and result.out == ""
    assert len([line for line in result.err.splitlines() if line]) == 1


# -- apply ------------------------------------------------------------------------------------


@pytest.fixture
def saved(capfd, visits):
    path = visits.folder / "s.json"
    keep = ["--keep", "colour,price", "--na-values", "unclear"]
    args = ["select", visits.path, "-t", "ill", "-k", 2, "-m", "pearson", *keep, "--save", path]
    assert call(capfd, *args).code == 0
    jsonschema.validate(json.loads(path.read_text()), json.loads(schema_text("select")))
    return path


def new_rows(visits, **columns):
    path = visits.folder / "new.csv"
    pd.DataFrame({"patient": ["q1", "q2", "q3"], **columns}).to_csv(path, index=False)
    return path


def test_apply_writes_columns_as_they_are_or_as_they_were_read(capfd, visits, saved):
    new = new_rows(visits, colour=["red", "mauve", "unclear"], price=["€1,250.50", "ask", "€3"])
    plain = call(capfd, "apply", saved, new, "--keep", "patient")
    assert plain.out == 'patient,price,colour\nq1,"€1,250.50",red\nq2,ask,mauve\nq3,€3,unclear\n'
    assert "Column 'colour' has 1 level that the file of the selection did not have: 'mauve'." in plain.err
    assert "Column 'price' has 1 cell that is not a number" in plain.err and "'ask' in row 1" in plain.err
    prepared = call(capfd, "apply", saved, new, "--keep", "patient", "--prepared", "-q")
    assert prepared.out == "patient,price,colour\nq1,1250.5,red\nq2,,\nq3,3,\n" and prepared.err == ""
    output = visits.folder / "out.parquet"
    found = called_json(capfd, "apply", "apply", saved, new, "--prepared", "--output", output)
    assert found["prepared"] and len(found["notes"]) == 2
    assert pd.read_parquet(output)["price"].tolist()[::2] == [1250.5, 3]


def test_apply_to_columns_of_another_kind(capfd, visits, saved):
    new = new_rows(visits, colour=["red"] * 3, price=["ask", "ask", "tell"])
    result = call(capfd, "apply", saved, new)
    assert result.code == 0 and "'price' has text such as 'ask', but was used as 'number'" in result.err
    result = call(capfd, "apply", saved, new, "--prepared")
    assert result.code == 1 and "correct it, or leave out --prepared" in result.err and result.out == ""


def test_apply_takes_selections_that_do_not_say_how_columns_are_read(capfd, visits, saved):
    document = json.loads(saved.read_text())
    for feature in document["features"]:
        del feature["read_as"]
    saved.write_text(json.dumps(document))
    new = new_rows(visits, colour=["red"] * 3, price=["1", "2", "3"])
    assert call(capfd, "apply", saved, new).out == "price,colour\n1,red\n2,red\n3,red\n"
    assert "does not say how its columns are read" in call(capfd, "apply", saved, new, "--prepared").err
    for features in (5, [5], [{"name": [1]}], [{"name": "colour", "read_as": {"kind": "x"}}]):
        saved.write_text(json.dumps({**document, "features": features, "na_values": 7}))
        assert call(capfd, "apply", saved, new).code == 0


def test_hostile_names_and_levels(capfd, tmp_path):
    rng = np.random.default_rng(0)
    name, level = "<script>alert(1)</script>\x1b[2J", "=cmd|' /C calc'!A0{{7*7}}"
    frame = pd.DataFrame({name: rng.choice([level, "v", "w"], 60), "b": rng.normal(size=60)})
    frame.assign(y=rng.choice(["u", "v"], 60)).to_csv(tmp_path / "d.csv", index=False)
    args = ["select", tmp_path / "d.csv", "-t", "y", "-k", 1, "--report", tmp_path / "r.html"]
    result = call(capfd, *args, "-m", "pearson", "--keep", name)
    page = (tmp_path / "r.html").read_text()
    assert result.code == 0 and "\x1b" not in result.out + result.err + page
    assert "<script>alert(1)" not in page and "49" not in re.findall(r"calc'!A0(\w*)", page)


def test_suggestions_are_a_question(capfd, tmp_path):
    (tmp_path / "t.csv").write_text("sold,sold_code,other\n1,2,3\n0,1,2\n")
    result = call(capfd, "select", tmp_path / "t.csv", "-t", "slod")
    assert "no column named 'slod': did you mean 'sold' or 'sold_code'?\n" in result.err
    result = call(capfd, "select", tmp_path / "t.csv", "-t", "zzz")
    assert result.err.endswith("there are 'sold', 'sold_code', 'other'.\n")


def test_sentences_break_between_words_on_a_terminal(monkeypatch):
    text = "  a table that is longer than the forty columns\nA sentence that is longer than forty columns."
    assert wrapped(text) == text
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    table, *sentence = wrapped(text).split("\n")
    assert table == text.split("\n")[0]
    assert sentence == ["A sentence that is longer than forty", "columns."]
