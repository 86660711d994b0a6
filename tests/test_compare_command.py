"""Comparisons on the command line: selectors of other libraries, standard errors and bars."""

import re

import numpy as np
import pandas as pd
import pytest

from l1lsmi._cli.imports import find_method, find_methods
from tests.test_cli import call, called_json


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 5)), columns=list("abcde"))
    frame["y"] = frame["b"] - frame["d"] + 0.5 * rng.normal(size=120)
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_a_selector_of_scikit_learn_is_compared(capfd, table):
    methods = "mrmr,sklearn.feature_selection.SelectKBest"
    args = ("compare", table, "-t", "y", "-k", 2, "--task", "regression", "--methods", methods)
    report = table.with_name("r.html")
    found = called_json(capfd, "compare", *args, "--report", report)
    by_name = {method["name"]: method for method in found["methods"]}
    assert list(by_name) == ["mrmr", "SelectKBest"] and len(by_name["SelectKBest"]["features"]) == 2
    assert "SelectKBest" in report.read_text(encoding="utf-8")


def test_errors_have_standard_errors_and_bars(capfd, table):
    args = ("compare", table, "-t", "y", "-k", 2, "--methods", "pearson,mrmr", "--splits", 4)
    found = called_json(capfd, "compare", *args)
    printed = call(capfd, *args).out
    constant = found["no_features"]
    assert re.search(rf"no features +{constant:.4g} *\n", printed)
    largest = max(m["error"] for m in [*found["methods"], found["all_features"]])
    for method in found["methods"]:
        (line,) = [line for line in printed.splitlines() if line.strip().startswith(method["name"])]
        error, spread, bar = re.search(r"(\d\S*) +(\d\S*)  (#+) ", line).groups()
        assert float(error) == pytest.approx(method["error"], rel=1e-3)
        assert float(spread) == pytest.approx(np.std(method["errors"], ddof=1) / 2, rel=0.1)
        assert len(bar) == round(20 * method["error"] / largest)


def test_the_number_is_not_chosen(capfd, table):
    result = call(capfd, "compare", table, "-t", "y", "-k", "auto")
    assert result.code == 2 and "auto works only with l1lsmi select: give a number of features" in result.err


def test_methods_by_name_and_path():
    assert list(find_methods("Pearson, mrmr,pearson")) == ["pearson", "mrmr"]
    made = find_method("l1lsmi.baselines.LassoK").make(3, random_state=0)
    assert made.n_features_to_select == 3
    assert find_method("sklearn.feature_selection.SelectKBest").make(4).k == 4


@pytest.mark.parametrize(
    ("methods", "words"),
    [
        ("", "--methods '' names no method: use l1-lsmi"),
        ("magic", "--methods has 'magic', which is neither the import path of a selector"),
        ("sklearn.svm.SVC", "'sklearn.svm.SVC', which is neither"),
        ("no_such_library.Selector", "which is neither the import path of a selector"),
        (
            "sklearn.feature_selection.RFE",
            "RFE', which needs the argument estimator: compare it",
        ),
        (
            "sklearn.feature_selection.SelectFdr",
            "has no parameter for the number of features: compare it in Python",
        ),
    ],
)
def test_what_is_no_method_gets_one_sentence(capfd, table, methods, words):
    found = called_json(capfd, "error", "compare", table, "-t", "y", "--methods", methods)
    assert found["kind"] == "usage" and words in found["message"]
