"""Commands: their results as text and JSON, their files, and their errors."""

import html
import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
from importlib import metadata
from io import BytesIO
from types import SimpleNamespace

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from l1lsmi import L1LSMI
from l1lsmi._cli.app import run
from l1lsmi._cli.commands import DOCUMENTS, schema_text
from l1lsmi._cli.held_out import HeldOutProcess
from l1lsmi._cli.options import METHOD_NAMES
from l1lsmi._clock import budget_in_force
from l1lsmi.datasets import make_xor
from l1lsmi.evaluation import compare_selectors
from l1lsmi.measures import SquaredMutualInformation
from l1lsmi.methods import METHODS


@pytest.fixture
def xor(tmp_path):
    X, y = make_xor(200, random_state=0)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame["label"] = np.where(y > 0, "up", "down")
    path = tmp_path / "xor.csv"
    frame.to_csv(path, index=False)
    return SimpleNamespace(path=str(path), frame=frame, folder=tmp_path)


def call(capfd, *args):
    capfd.readouterr()
    code = run([str(arg) for arg in args])
    out, err = capfd.readouterr()
    return SimpleNamespace(code=code, out=out, err=err)


def called_json(capfd, document, *args):
    result = call(capfd, *args, "--json")
    found = json.loads(result.out)
    jsonschema.validate(found, json.loads(schema_text(document)))
    return found


# -- select -----------------------------------------------------------------------------------


def test_select_finds_what_the_estimator_finds(capfd, xor):
    found = called_json(capfd, "select", "select", xor.path, "--target", "label", "-k", 2)
    selector = L1LSMI(2, task="classification", random_state=0)
    selector.fit(xor.frame.drop(columns="label").to_numpy(), xor.frame["label"].to_numpy())
    assert (
        {f["name"] for f in found["features"]}
        == {f"x{j}" for j in selector.get_support(indices=True)}
        == {"x0", "x1"}
    )
    assert found["score"] == {"name": "smi", "value": pytest.approx(selector.smi_, abs=1e-12)}
    assert found["classes"] == ["down", "up"] and found["file"]["rows"] == 200


def test_results_say_with_which_versions_they_were_computed(capfd, xor):
    saved = xor.folder / "saved.json"
    select = ["select", xor.path, "-t", "label", "-k", 1, "-m", "pearson", "--save", saved]
    select += ["--report", xor.folder / "report.html"]
    expected = {name: metadata.version(name) for name in ("l1lsmi", "numpy", "scipy", "scikit-learn")}
    expected["Python"] = platform.python_version()
    assert called_json(capfd, "select", *select)["versions"] == expected
    assert json.loads(saved.read_text())["versions"] == expected
    measure = ["measure", xor.path, "-t", "label", "--measures", "pearson"]
    assert called_json(capfd, "measure", *measure)["versions"] == expected
    apply = ["apply", saved, xor.path, "--output", xor.folder / "out.csv"]
    assert called_json(capfd, "apply", *apply)["versions"] == expected
    page = (xor.folder / "report.html").read_text()
    for name, version in expected.items():
        assert f'<th scope="row">{name}</th><td class="wide">{version}</td>' in page


def test_select_as_text(capfd, xor):
    result = call(capfd, "select", xor.path, "-t", "label", "-k", "2")
    assert result.code == 0
    assert "selected 2 of 10 features by l1-lsmi in" in result.out
    table = r"feature +contribution +± +selected in\n +x[01] +\d+\.\d % +\d+\.\d % +\d+ %\n"
    assert re.search(table, result.out)
    assert "x0" in result.out and "x1" in result.out and "x2" not in result.out
    assert "200 rows, 11 columns (10 yes/no, 1 category)" in result.err  # no result


def test_quiet_prints_the_selection_and_nothing_else(capfd, xor):
    written = ["--save", xor.folder / "s.json", "--output", xor.folder / "o.csv"]
    args = ["select", xor.path, "-t", "label", "-k", 2, *written, "--report", xor.folder / "r.html"]
    said, quiet = call(capfd, *args), call(capfd, *args, "--quiet")
    assert "selection: " in said.err and re.search(r"report: .+ \(\d+\.\d s; \d+\.\d s in all\)", said.err)
    assert "selected columns of all 200 rows, values as in the file: " in said.err
    assert quiet.err == "" and "s.json" not in said.out + quiet.out and "o.csv" not in said.out + quiet.out
    assert sorted(os.listdir(xor.folder)) == ["o.csv", "r.html", "s.json", "xor.csv"]


def test_columns_left_out_are_named_once(capfd, xor):
    days = pd.date_range("2020-01-01", periods=200).strftime("%Y-%m-%d")
    frame = xor.frame.assign(patient=[f"P{i}" for i in range(200)], sample=range(200), day=days)
    frame.to_csv(xor.path, index=False)
    result = call(capfd, "select", xor.path, "-t", "label", "-k", 2, "-m", "pearson")
    assert result.err.count("patient") == 1 and "day: number of days" in result.err
    assert "'sample'; to use it, name it with --keep, together with all other columns to use." in result.err
    asked = (
        ["--keep", "sample,x0"],
        ["--keep", "sample", "--keep", "x0"],
        ["--only", "sample", "--only", "x0"],
    )
    for keep, used in (([], False), *((options, True) for options in asked)):
        found = called_json(
            capfd, "select", "select", xor.path, "-t", "label", "-k", 2, "-m", "pearson", *keep
        )
        assert ("sample" in {feature["name"] for feature in found["features"]}) == used


OPTIONS_IN_ERRORS = {
    "a task": ("a,y\n1,u\n2,v\n3,u\n", ["--task", "regression"], "use --task classification"),
    "fractions": ("a,y\n1,1.5\n2,2\n3,1\n", ["--task", "classification"], "use --task regression"),
    "gaps": (
        "a,y\n1,u\n,v\n3,u\n",
        ["--missing", "error"],
        "use --missing keep or --missing drop",
    ),
    "a delimiter": ("a;b\n1;2\n", ["--delimiter", ","], "give another --delimiter"),
}


@pytest.mark.parametrize("case", OPTIONS_IN_ERRORS)
def test_errors_name_the_option(capfd, tmp_path, case):
    content, options, words = OPTIONS_IN_ERRORS[case]
    (tmp_path / "d.csv").write_text(content)
    result = call(capfd, "select", tmp_path / "d.csv", "-t", "y", *options)
    assert result.code == 1 and words in result.err


def test_sheets_and_arrays_are_chosen_by_option(capfd, tmp_path):
    with pd.ExcelWriter(tmp_path / "d.xlsx") as book:
        for name in ("one", "two"):
            pd.DataFrame({"a": [1, 2, 3], "y": [0, 1, 0]}).to_excel(book, sheet_name=name, index=False)
    np.savez(tmp_path / "d.npz", A=np.eye(3), B=np.eye(4), y=np.arange(3))
    for file, option in (("d.xlsx", "--sheet"), ("d.npz", "--array")):
        result = call(capfd, "select", tmp_path / file, "-t", "y")
        assert result.code == 1 and f"give the name of one with {option}" in result.err


def test_notes_name_the_option(capfd, tmp_path):
    rng = np.random.default_rng(0)
    pd.DataFrame({"a": rng.normal(size=60), "y": rng.permutation(60)}).to_csv(tmp_path / "d.csv", index=False)
    result = call(capfd, "measure", tmp_path / "d.csv", "-t", "y", "--measures", "pearson")
    assert "use --task classification if they are classes" in result.err


def test_saved_selection_is_what_json_prints(capfd, xor):
    saved, output = xor.folder / "selection.json", xor.folder / "selected.parquet"
    found = called_json(
        capfd, "select", "select", xor.path, "-t", "label", "-k", 2, "--save", saved, "--output", output
    )
    assert json.loads(saved.read_text()) == found
    pd.testing.assert_frame_equal(
        pd.read_parquet(output), xor.frame[["x0", "x1", "label"]], check_dtype=False
    )
    assert saved.stat().st_mode & 0o777 == 0o666 & ~current_umask()


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.fixture
def noise(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(100, 6)), columns=list("abcdef")).assign(y=rng.normal(size=100))
    path = tmp_path / "noise.csv"
    frame.to_csv(path, index=False)
    return SimpleNamespace(path=str(path), frame=frame, folder=tmp_path)


def test_the_number_is_chosen(capfd, xor):
    found = called_json(capfd, "select", "select", xor.path, "-t", "label", "-k", "auto")
    selector = METHODS["l1-lsmi"].make("auto", task="classification", random_state=0)
    selector.fit(xor.frame.drop(columns="label").to_numpy(), xor.frame["label"].to_numpy())
    assert {f["name"] for f in found["features"]} == {"x0", "x1"} and found["k"] == "auto"
    assert found["p_value"] == selector.p_value_ < 0.001 and found["notes"] == []
    validation = {name: getattr(selector.validation_, name) for name in found["validation"]}
    assert set(validation) == {"k", "mean", "standard_error", "per_split", "best_k"}
    for name, values in validation.items():
        np.testing.assert_allclose(found["validation"][name], values, atol=1e-12)


def test_the_chosen_number_is_explained(capfd, xor):
    report = xor.folder / "r.html"
    result = call(capfd, "select", xor.path, "-t", "label", "-k", "auto", "--report", report)
    assert result.code == 0 and "selected 2 of 10 features" in result.out
    (sentence,) = re.findall(r"In rows that the search has not seen, these features predict .+", result.out)
    page = " ".join(html.unescape(report.read_text()).split())
    assert sentence.endswith("(p < 0.0001).") and sentence in page
    assert "No other number of features that was tried predicts more." in result.out
    assert "asked for" not in result.out and "-k auto" in report.read_text()


def test_a_given_number_without_evidence(capfd, noise):
    result = call(capfd, "select", noise.path, "-t", "y", "-k", 2)
    assert result.code == 0 and "selected 2 of 6 features" in result.out
    assert result.out.count("no evidence") == 1 and "evidence" not in result.err
    assert "There is no evidence that these features predict the target: in rows that" in result.out
    found = called_json(capfd, "select", "select", noise.path, "-t", "y", "-k", 2)
    assert found["p_value"] > 0.05 and found["notes"] == [] and found["validation"]["k"] == [0, 2]


@pytest.mark.parametrize("method", ["l1-lsmi", "pearson"])
def test_no_features(capfd, noise, method):
    names = {"save": "s.json", "output": "o.csv", "report": "r.html"}
    paths = {name: noise.folder / file for name, file in names.items()}
    written = [word for name, path in paths.items() for word in (f"--{name}", path)]
    args = ["select", noise.path, "-t", "y", "-k", "auto", "-m", method, *written]
    result = call(capfd, *args)
    assert result.code == 0 and "selected none of 6 features" in result.out
    assert "No features are selected: there is no evidence that any predict the target" in result.out
    assert "target only, as no columns are selected: " in result.err and "evidence" not in result.err
    np.testing.assert_allclose(pd.read_csv(paths["output"]), noise.frame[["y"]])
    assert "None of 6 features" in paths["report"].read_text()
    saved = json.loads(paths["save"].read_text())
    jsonschema.validate(saved, json.loads(schema_text("select")))
    assert saved["features"] == saved["columns"] == []
    assert called_json(capfd, "select", *args)["features"] == []
    result = call(capfd, "apply", paths["save"], noise.path)
    assert result.code == 1 and result.err.count("\n") == 1
    assert "has no selected columns: there is nothing to take" in result.err


def test_methods_that_choose_no_number(capfd, xor):
    able = {name for name, method in METHODS.items() if method.chooses_k}
    assert set(METHODS) - able == {"mrmr", "qpfs", "lasso", "relieff", "spec", "laplacian"}
    result = call(capfd, "select", xor.path, "-t", "label", "-k", "auto", "-m", "mrmr")
    assert "-k auto is not supported by the method mrmr: pass a number, or use l1-lsmi," in result.err
    with pytest.raises(ValueError, match="k='auto' is not supported by the method 'mrmr'"):
        METHODS["mrmr"].make("auto")


@pytest.mark.parametrize("k", ["0", "-2", "2.5", "ten", "", "1" * 5000])
def test_a_number_or_auto(capfd, xor, k):
    result = call(capfd, "select", xor.path, "-t", "label", "-k", k)
    assert result.code == 2 and "is neither a whole number of at least 1 nor auto." in result.err


def test_k_by_default(capfd, xor):
    assert called_json(capfd, "select", "select", xor.path, "-t", "label", "-m", "pearson")["k"] == 5


def test_methods_by_name(capfd, xor):
    for name in ("relieff", "mrmr", "smi-forward", "hsic-backward"):
        found = called_json(capfd, "select", "select", xor.path, "-t", "label", "-k", 2, "--method", name)
        assert found["method"] == name and len(found["features"]) == 2
        assert all(feature["weight"] is None for feature in found["features"])


def test_standard_input(xor):
    command = [sys.executable, "-m", "l1lsmi", "select", "-", "-t", "label", "-k", "2", "--json"]
    with open(xor.path, "rb") as file:
        run_ = subprocess.run(command, stdin=file, capture_output=True, check=True)
    assert json.loads(run_.stdout)["columns"] == ["x0", "x1"]


def test_time_limit_returns_the_best_so_far(capfd, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(800, 60)), columns=[f"c{j}" for j in range(60)])
    frame["y"] = rng.normal(size=800)
    frame.to_csv(tmp_path / "noise.csv", index=False)
    found = called_json(
        capfd, "select", "select", tmp_path / "noise.csv", "-t", "y", "-k", 7, "--time-limit", 0.05
    )
    assert found["stop_reason"].startswith("The time limit was reached") and len(found["features"]) == 7
    # There was no time to fit them, and weights of one would be taken for fitted ones.
    assert [feature["weight"] for feature in found["features"]] == [None] * 7
    stopped = call(capfd, "select", tmp_path / "noise.csv", "-t", "y", "-k", 7, "--time-limit", 0.05)
    assert "The time limit was reached" in stopped.out


def test_a_model_that_there_is_no_time_for_is_told(capfd, tmp_path, xor, monkeypatch):
    def late(_process):
        while not budget_in_force().spent():
            time.sleep(0.05)

    monkeypatch.setattr(HeldOutProcess, "scores", late)
    told = "Left out because of the time limit: the test of a model on held-out rows."
    page = tmp_path / "report.html"
    args = ["select", xor.path, "-t", "label", "-k", 2, "--report", page, "--time-limit", 5]
    found = call(capfd, *args)
    assert found.code == 0 and told in " ".join(found.out.split())
    assert "the test of a model on held-out rows." in page.read_text()  # there may be no time for more
    assert told in called_json(capfd, "select", *args)["notes"]


def test_control_c_returns_the_best_so_far(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(2000, 300)), columns=[f"c{j}" for j in range(300)])
    frame["y"] = rng.normal(size=2000)
    frame.to_parquet(tmp_path / "noise.parquet")
    saved = tmp_path / "s.json"
    for seconds in (1, 4, 16, 64):  # until the search has begun, there is no result
        code, out, err = interrupted_after(seconds, tmp_path / "noise.parquet", saved)
        assert code == 130 and "Traceback" not in err
        if "before there was a result" not in err:
            break
    assert "interrupted" in out and len(json.loads(saved.read_text())["features"]) == 20


def interrupted_after(seconds, path, saved):
    command = [
        sys.executable,
        "-m",
        "l1lsmi",
        "select",
        str(path),
        "-t",
        "y",
        "-k",
        "20",
    ]
    command += ["--save", str(saved), "--time-limit", "300"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for line in process.stderr:  # until the file is read
        if line.startswith("target"):
            break
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


# -- apply ------------------------------------------------------------------------------------


def test_apply_takes_the_same_columns_of_new_data(capfd, xor):
    saved = xor.folder / "selection.json"
    call(capfd, "select", xor.path, "-t", "label", "-k", 2, "--save", saved)
    new = xor.frame.sample(frac=0.3, random_state=1)[["x5", "x1", "x0"]].assign(id=range(60))
    new.to_csv(xor.folder / "new.tsv", sep="\t", index=False)
    output = xor.folder / "out.csv"
    found = called_json(
        capfd, "apply", "apply", saved, xor.folder / "new.tsv", "--keep", "id", "--output", output
    )
    assert found["rows"] == 60 and found["columns"] == ["id", "x0", "x1"]
    pd.testing.assert_frame_equal(pd.read_csv(output), new[["id", "x0", "x1"]].reset_index(drop=True))
    printed = call(capfd, "apply", saved, xor.folder / "new.tsv")
    assert pd.read_csv(BytesIO(printed.out.encode())).columns.tolist() == ["x0", "x1"]


def test_apply_names_missing_columns(capfd, xor):
    saved = xor.folder / "selection.json"
    call(capfd, "select", xor.path, "-t", "label", "-k", 2, "--save", saved)
    xor.frame.rename(columns={"x1": "X1"}).to_csv(xor.folder / "new.csv", index=False)
    result = call(capfd, "apply", saved, xor.folder / "new.csv")
    assert result.code == 1 and "no column named 'x1': did you mean 'X1'" in result.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not JSON"),
        (b"\x80\x04\x95", "is not JSON"),
        (b"[1]", "is not a selection"),
        (b'{"format": "l1lsmi-selection", "version": 7}', "version '7'"),
        (b'{"format": "l1lsmi-selection", "version": 1, "columns": [1]}', "no list of columns"),
        (b'{"format": "l1lsmi-selection", "version": 1, "columns": []}', "has no selected columns"),
        (b"[" * 100_000, "is not JSON"),
        (b'{"version": ' + b"1" * 5000 + b"}", "is not a selection"),
    ],
)
def test_apply_refuses_other_files(capfd, xor, content, words):
    path = xor.folder / "bad.json"
    path.write_bytes(content)
    result = call(capfd, "apply", path, xor.path)
    assert result.code == 1 and words in result.err and result.err.count("\n") == 1


def test_apply_refuses_an_endless_file(capfd, xor, monkeypatch):
    monkeypatch.setattr("l1lsmi._cli.selection.MAX_BYTES", 1000)
    result = call(capfd, "apply", "/dev/zero", xor.path)
    assert result.code == 1 and "/dev/zero is too large for a selection" in result.err


# -- measure ----------------------------------------------------------------------------------


def test_measure_sorts_columns_by_dependence(capfd, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3))
    frame = pd.DataFrame(x, columns=["line", "square", "nothing"])
    frame["y"] = frame["line"] + 2 * frame["square"] ** 2
    frame["fixed"] = 1.0
    frame.to_csv(tmp_path / "d.csv", index=False)
    found = called_json(capfd, "measure", "measure", tmp_path / "d.csv", "-t", "y")
    assert [f["name"] for f in found["features"]] == ["square", "line", "nothing"]
    by_pearson = called_json(capfd, "measure", "measure", tmp_path / "d.csv", "-t", "y", "--sort", "pearson")
    scores = {f["name"]: f["scores"]["pearson"] for f in by_pearson["features"]}
    assert scores["line"] == pytest.approx(abs(np.corrcoef(frame["line"], frame["y"])[0, 1]))
    text = call(capfd, "measure", tmp_path / "d.csv", "-t", "y", "--top", 1)
    assert "square" in text.out and "and 2 more" in text.out


def test_small_scores_can_be_told_apart(capfd, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(2000, 6)), columns=[f"c{j}" for j in range(6)])
    frame["y"] = rng.normal(size=2000) + 0.1 * frame["c0"]
    frame.to_csv(tmp_path / "d.csv", index=False)
    args = ["measure", tmp_path / "d.csv", "-t", "y", "--measures", "hsic"]
    scores = [one["scores"]["hsic"] for one in called_json(capfd, "measure", *args)["features"]]
    shown = re.findall(r"  c\d +(\S+)", call(capfd, *args).out)
    assert scores[0] < 0.01 and len(set(shown)) == 6
    assert float(shown[0]) == pytest.approx(scores[0], rel=0.005)
    assert len({len(text) for text in shown}) == 1


def test_measure_checks_the_time_limit_between_batches(capfd, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(500, 20)), columns=[f"c{j}" for j in range(20)])
    frame["y"] = rng.normal(size=500)
    frame.to_csv(tmp_path / "d.csv", index=False)
    args = ["measure", tmp_path / "d.csv", "-t", "y", "--measures", "smi"]
    cut = called_json(capfd, "measure", *args, "--time-limit", 1e-6)
    assert cut["features_measured"] == 1 and cut["stop_reason"] == "The time limit was reached."
    text = call(capfd, *args, "-q", "--time-limit", 1e-6)
    assert "The time limit was reached. 1 of 20 features were measured." in text.out and text.err == ""
    whole = called_json(capfd, "measure", *args)
    own = SquaredMutualInformation(task="regression", random_state=0)
    scores = own.score_each(frame.drop(columns="y").to_numpy(), frame["y"].to_numpy())
    # The scores do not depend on the size of the batches.
    assert {f["name"]: f["scores"]["smi"] for f in whole["features"]} == pytest.approx(
        dict(zip(frame.columns[:20], scores, strict=True)), abs=1e-12
    )


# -- compare ----------------------------------------------------------------------------------


def test_compare_orders_methods_by_error(capfd, xor):
    found = called_json(
        capfd, "compare", "compare", xor.path, "-t", "label", "-k", 2, "--methods", "l1-lsmi,pearson,relieff"
    )
    by_name = {method["name"]: method for method in found["methods"]}
    assert by_name["l1-lsmi"]["error"] < 0.05 < 0.3 < by_name["pearson"]["error"]
    assert set(by_name["l1-lsmi"]["features"]) == {"x0", "x1"}
    agreement = np.array(found["agreement"])
    assert agreement.shape == (3, 3) and (np.diag(agreement) == 1).all() and (agreement == agreement.T).all()


def test_a_comparison_and_its_report_have_the_same_errors(capfd, xor):
    report = xor.folder / "comparison.html"
    args = ["compare", xor.path, "-t", "label", "-k", 2, "--methods", "pearson,relieff", "--max-rows", 120]
    found = called_json(capfd, "compare", *args, "--report", report)
    page = report.read_text(encoding="utf-8")
    told = json.loads(re.search(r'id="report-data">(.*?)</script>', page, re.DOTALL)[1])
    (chosen, everything), methods = told["held_out"]["rows"], found["methods"]
    assert [method["name"] for method in methods] == ["pearson", "relieff"]
    assert chosen["error"] == pytest.approx(methods[0]["error"], rel=1e-4)
    assert everything["error"] == pytest.approx(found["all_features"]["error"], rel=1e-4)
    assert told["comparison"]["n_rows"] == found["rows_used"] == 120
    best_first = sorted(methods, key=lambda method: method["error"])
    assert [m["name"] for m in told["comparison"]["methods"]] == [
        *(m["name"] for m in best_first),
        "all features",
    ]


def test_compare_counts_shared_features(capfd, xor):
    result = call(capfd, "compare", xor.path, "-t", "label", "-k", 2, "--methods", "relieff,pearson")
    rows = {line.split()[0]: line.split() for line in result.out.splitlines() if line.strip()}
    assert rows["relieff"][-3:] == ["2", "of", "2"] and rows["pearson"][-2:] == ["of", "2"]


def test_compare_runs_quick_methods_first(capfd, xor, monkeypatch):
    seen = []
    original = compare_selectors

    def noted(selectors, *args, **options):
        seen.extend(selectors)
        return original(selectors, *args, **options)

    monkeypatch.setattr("l1lsmi._cli.compare.compare_selectors", noted)
    args = ["compare", xor.path, "-t", "label", "-k", 2, "--methods", "relieff,lasso,pearson"]
    found = called_json(capfd, "compare", *args)
    assert seen == ["pearson", "lasso", "relieff"]
    assert [method["name"] for method in found["methods"]] == ["relieff", "lasso", "pearson"]
    features = [set(method["features"]) for method in found["methods"]]
    assert found["agreement"][0][2] == len(features[0] & features[2]) / len(features[0] | features[2])


def test_a_comparison_without_finished_methods_is_an_error(capfd, xor):
    args = ["compare", xor.path, "-t", "label", "-k", 2, "-q", "--time-limit", 1e-9]
    result = call(capfd, *args, "--report", xor.folder / "r.html")
    assert result.code == 1 and result.out == "" and result.err.count("\n") == 1
    assert "before any method was finished" in result.err and os.listdir(xor.folder) == ["xor.csv"]


# -- all commands -------------------------------------------------------------------------------


@pytest.mark.parametrize("document", DOCUMENTS)
def test_schemas_are_published(capfd, document):
    result = call(capfd, "schema", document)
    jsonschema.Draft202012Validator.check_schema(json.loads(result.out))


@pytest.mark.parametrize("command", ["select", "apply", "compare", "measure", "schema"])
def test_every_command_has_help_with_an_example(capfd, command):
    result = call(capfd, command, "--help")
    assert result.code == 0 and "Example" in result.out and f"l1lsmi {command}" in result.out


def test_method_names_are_those_of_the_library():
    assert tuple(METHODS) == METHOD_NAMES


HEAVY = {"numpy", "scipy", "sklearn", "pandas", "pyarrow", "rich", "joblib", "l1lsmi.files", "l1lsmi.methods"}
WITHOUT_DATA = [["--help"], ["--version"], ["select", "--help"], ["compare", "--help"], ["schema", "error"]]
WITHOUT_DATA += [["apply", "--help"], ["measure", "--help"], ["select"], ["select", "--nonsense"]]


@pytest.mark.parametrize("args", WITHOUT_DATA, ids=" ".join)
def test_help_and_usage_errors_import_no_heavy_library(args):
    code = f"import sys; from l1lsmi._cli.app import run; run({args}); print(); print(*sys.modules)"
    run_ = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run_.stdout.splitlines()[-1].split())
    assert "click" in loaded and not loaded & HEAVY


UNUSABLE = {
    "nothing": (b"", "is empty"),
    "junk": (bytes(range(256)) * 20, "control characters"),
    "a name twice": (b"a,a,y\n1,2,0\n2,3,1\n", "2 columns named 'a'"),
    "a target that is always the same": (
        b"a,y\n1,5\n2,5\n3,5\n",
        "target 'y' has the same value in every row",
    ),
    "a target without values": (b"a,y\n1,\n2,\n3,\n", "target 'y' has no values"),
    "no such target": (b"a,Y\n1,0\n2,1\n", "did you mean 'Y'"),
    "columns without values": (b"a,b,y\n,,0\n,,1\n,,0\n", "no column besides the target"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_unusable_data_give_one_sentence(capfd, tmp_path, case):
    content, words = UNUSABLE[case]
    (tmp_path / "d.csv").write_bytes(content)
    result = call(capfd, "select", tmp_path / "d.csv", "-t", "y", "-q", "--save", tmp_path / "s.json")
    assert result.code == 1 and result.out == "" and result.err.count("\n") == 1
    assert words in result.err
    assert os.listdir(tmp_path) == ["d.csv"]


USAGE = {
    "no such option": ["select", "FILE", "-t", "label", "--nonsense"],
    "no target": ["select", "FILE"],
    "k of zero": ["select", "FILE", "-t", "label", "-k", "0"],
    "a method without auto": ["select", "FILE", "-t", "label", "-m", "lasso", "-k", "auto"],
    "a comparison without a number": ["compare", "FILE", "-t", "label", "-k", "auto"],
    "k too large": ["select", "FILE", "-t", "label", "-k", "11"],
    "no such method": ["select", "FILE", "-t", "label", "-m", "magic"],
    "no time limit": ["select", "FILE", "-t", "label", "-m", "mrmr", "--time-limit", "3"],
    "negative time": ["select", "FILE", "-t", "label", "--time-limit", "-3"],
    "report without suffix": ["select", "FILE", "-t", "label", "--report", "out.pdf"],
    "nowhere to write": ["select", "FILE", "-t", "label", "--save", "no/such/folder/s.json"],
    "a place that cannot be written": ["select", "FILE", "-t", "label", "--report", "/proc/r.html"],
    "a name that is too long": ["select", "FILE", "-t", "label", "--save", "x" * 300 + ".json"],
    "overwriting the data": ["select", "FILE", "-t", "label", "--output", "FILE"],
    "same file twice": ["compare", "FILE", "-t", "label", "--methods", "magic"],
    "sort by what is not measured": ["measure", "FILE", "-t", "label", "--measures", "smi", "--sort", "hsic"],
    "unknown command": ["selekt"],
}


@pytest.mark.parametrize("case", USAGE)
def test_wrong_usage_gives_one_sentence(capfd, xor, case):
    result = call(capfd, *[xor.path if arg == "FILE" else arg for arg in USAGE[case]])
    assert result.code == 2 and result.out == ""
    (line,) = [line for line in result.err.splitlines() if line.startswith("Error")]
    assert "Traceback" not in result.err and len(line) > 20
    assert sorted(os.listdir(xor.folder)) == ["xor.csv"]


def test_errors_as_json(capfd, xor):
    missing = called_json(capfd, "error", "select", xor.folder / "no.csv", "-t", "label")
    assert missing["kind"] == "data"
    usage = called_json(capfd, "error", "select", xor.path, "-t", "label", "-k", "99")
    assert usage["kind"] == "usage" and "10 features" in usage["message"]
    near = called_json(capfd, "error", "select", xor.path, "-t", "lable")
    assert "label" in near["message"]


def test_a_report_that_fails_leaves_one_document(capfd, xor, monkeypatch):
    def full(path, *args, **options):
        raise OSError(28, "No space left on device", path)

    monkeypatch.setattr("l1lsmi._cli.reporting.write_report", full)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    report = xor.folder / "r.html"
    command = ("select", xor.path, "-t", "label", "-k", 2, "-m", "pearson", "--json", "--report", report)
    result = call(capfd, *command)
    assert result.code == 1 and len(json.loads(result.out)["features"]) == 2
    assert result.err == f"Error: {report} cannot be used: No space left on device.\n"


def test_control_characters_in_names_are_escaped(capfd, tmp_path):
    X, y = make_xor(100, random_state=0)
    frame = pd.DataFrame(X[:, :3], columns=["a\x1b[2Jb", "[red]c[/red]", "d\u202ee"])
    frame["y"] = y
    frame.to_csv(tmp_path / "d.csv", index=False)
    result = call(capfd, "select", tmp_path / "d.csv", "-t", "y", "-k", 3)
    assert "\x1b" not in result.out + result.err and "\u202e" not in result.out + result.err
    assert r"a\x1b[2Jb" in result.out and "[red]c[/red]" in result.out


def test_a_closed_pipe_is_no_error(xor):
    command = f"{sys.executable} -m l1lsmi select {xor.path} -t label -k 2 | head -1"
    run_ = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert "Traceback" not in run_.stderr and "Error" not in run_.stderr


def test_real_data_in_one_command(capfd, tmp_path):
    data = load_breast_cancer(as_frame=True).frame
    data.to_csv(tmp_path / "cancer.csv", index=False)
    report = tmp_path / "report.html"
    result = call(capfd, "select", tmp_path / "cancer.csv", "-t", "target", "-k", 5, "--report", report)
    assert result.code == 0 and report.stat().st_size < 5_000_000 and "report:" in result.err


@pytest.mark.parametrize("option", ["--include", "--exclude"])
def test_unknown_columns_to_include_are_named(capfd, tmp_path, option):
    pd.DataFrame({"age": range(30), "dose": np.arange(30) % 7, "ill": np.arange(30) % 2}).to_csv(
        tmp_path / "t.csv", index=False
    )
    result = call(capfd, "select", tmp_path / "t.csv", "-t", "ill", option, "agee")
    assert result.code == 1 and "has no column named 'agee': did you mean 'age'?" in result.err
