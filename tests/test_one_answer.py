"""Terminal, document and report of a selection say the same."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from l1lsmi.datasets import make_xor
from l1lsmi.explain import contributions
from l1lsmi.methods import METHODS
from l1lsmi.report._numbers import unbroken
from tests.test_cli import call, called_json


def report_data(path):
    return json.loads(
        re.search(r'id="report-data">(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL)[1]
    )


@pytest.mark.parametrize(("k", "method"), [(3, "l1-lsmi"), (5, "l1-lsmi"), ("auto", "l1-lsmi"), (2, "mrmr")])
def test_terminal_document_and_report_say_the_same(capfd, tmp_path, k, method):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(150, 6)), columns=list("abcdef"))
    frame["y"] = frame["b"] * frame["d"] + frame["a"] + 0.3 * rng.normal(size=150)
    frame.to_csv(tmp_path / "t.csv", index=False)
    paths = [tmp_path / "one.html", tmp_path / "two.html"]
    command = ("select", tmp_path / "t.csv", "-t", "y", "-k", k, "-m", method)
    found = called_json(capfd, "select", *command, "--report", paths[0])
    printed = call(capfd, *command, "--report", paths[1]).out
    told = report_data(paths[0])
    names = [feature["name"] for feature in found["features"]]
    by_id = {feature["id"]: feature["name"] for feature in told["features"]}
    assert [by_id[row["id"]] for row in told["chosen"]["rows"]] == names
    lines = [line.split()[0] for line in printed.splitlines() if line.startswith("  ") and "%" in line]
    assert lines == names and told["chosen"]["n_selected"] == len(names)
    contributions = [feature["contribution"] for feature in found["features"]]
    assert [row["contribution"] for row in told["chosen"]["rows"]] == pytest.approx(contributions, rel=1e-4)
    error = found["scores"]["sets"][0]["metrics"]["root mean squared error"]["value"]
    assert told["held_out"]["rows"][0]["error"] == pytest.approx(error, rel=1e-4)
    assert all(sentence in printed for sentence in told["held_out"]["sentences"])
    spare = found["dispensable"]
    assert (spare is not None) == (k == 5) == ("may be enough" in printed)
    if spare is not None:
        assert f"\n{spare['sentence']}\n" in printed
        assert told["chosen"]["dispensable"] == unbroken(spare["sentence"])
    p_value = found["p_value"]
    assert told["chosen"]["p_value"] == (None if p_value is None else pytest.approx(p_value, rel=1e-4))


@pytest.mark.parametrize("k", [2, 21])
def test_command_and_library_sample_the_same_rows_for_contributions(capfd, tmp_path, k):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.exponential(size=(1_200, 22)).round(6)).add_prefix("x")
    frame["y"] = frame["x0"] * frame["x1"] + rng.normal(size=1_200).round(6)
    frame.to_csv(tmp_path / "t.csv", index=False)
    command = ("select", tmp_path / "t.csv", "-t", "y", "-k", k, "-m", "pearson")
    found = called_json(capfd, "select", *command)
    X, y = frame.drop(columns="y"), frame["y"]
    expected = contributions(METHODS["pearson"].make(k).fit(X, y), X, y)
    assert [feature["name"] for feature in found["features"]] == list(expected.names)
    assert [feature["contribution"] for feature in found["features"]] == pytest.approx(expected.lost)


def test_a_model_is_tested(capfd, tmp_path):
    X, y = make_xor(200, random_state=0)
    pd.DataFrame(X).add_prefix("x").assign(label=y).to_csv(tmp_path / "xor.csv", index=False)
    command = ("select", tmp_path / "xor.csv", "-t", "label", "-k", 2, "-m", "l1-hsic", "--model")
    found = called_json(capfd, "select", *command, "sklearn.tree.DecisionTreeClassifier")
    assert found["scores"]["model"] == "DecisionTreeClassifier" == found["model"].split(".")[-1]
    assert found["scores"]["sets"][0]["metrics"]["error rate"]["value"] < 0.1
    for path in ("sklearn.tree.Nothing", "no_such_module.Model", "forest", "os.path", "sklearn.base.clone"):
        error = called_json(capfd, "error", *command, path)
        assert (
            error["kind"] == "usage"
            and f"--model '{path}' is not a model: give the import path" in error["message"]
        )


def test_measures_are_the_same_in_every_run(capfd, tmp_path):
    """Also of columns with few values, whose equal rows count as one with a weight."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 4, size=(150, 11)), columns=[f"c{j}" for j in range(11)])
    frame["y"] = (frame["c0"] + rng.normal(size=150)).round(1)
    frame.to_csv(tmp_path / "t.csv", index=False)
    args = ("measure", "measure", tmp_path / "t.csv", "-t", "y", "--measures", "smi")
    one, other = called_json(capfd, *args), called_json(capfd, *args, "--time-limit", 1_000)
    assert one["features"] == other["features"]
