"""The report: data that follow its schema, and a page without external resources."""

import copy
import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi.baselines import MRMR, LassoK
from l1lsmi.evaluation import compare_selectors, selection_scores, svm_error
from l1lsmi.explain import contributions
from l1lsmi.measures import HSIC, Pearson
from l1lsmi.report import collect, render, schema, write_report
from l1lsmi.report._names import printable
from l1lsmi.report.page import SCRIPTS, STYLES, _asset, _hash
from l1lsmi.strategies import Backward, Forward, Ranking

WHEN = datetime(2024, 2, 29, 12, 0, 0, tzinfo=UTC)
HOSTILE = [
    "<script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=2">',
    "</script><script>window.hacked=3</script>",
    "{{ 7 * 7 }}{% raw %}",
    "line\u2028separator\u2029and\nnewline\ttab\x00nul",
    "שלום עולם \u202eturned",
    "\U0001f9ec\U0001f469\u200d\U0001f52c gene",
    "x" * 5000,
    "",
    "javascript:alert(1)",
]


def data(task="classification", n=120, m=10, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    X[:, 3] = rng.integers(0, 3, n)
    X[:, 4] = X[:, 0] + 0.05 * rng.normal(size=n)
    signal = X[:, 0] + X[:, 3] + 0.3 * rng.normal(size=n)
    return X, signal if task == "regression" else np.where(signal > 1, "yes", "no")


def fitted(task="classification", k=3, **options):
    X, y = data(task, **options)
    return L1LSMI(k, random_state=0, n_restarts=1).fit(X, y), X, y


@pytest.fixture(scope="module")
def report():
    selector, X, y = fitted()
    return collect(selector, X, y, target="ill", max_rows=40, made=WHEN)


@pytest.fixture(scope="module")
def page(report):
    return render(report)


def checked(report):
    """The report, after validation against the schema and a round trip through JSON."""
    decoded = json.loads(json.dumps(report, allow_nan=False))
    jsonschema.validate(decoded, schema())
    assert decoded == report
    return report


def quick(selector, X, y, **options):
    """A report without held-out errors, which take longest."""
    return collect(selector, X, y, held_out=False, max_rows=40, made=WHEN, **options)


class Reader(HTMLParser):
    """Elements and text of a page, as a browser parses them."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.words, self.scripts, self._inside = [], [], [], ""
        self.feed(text)
        self.close()
        assert not self.rawdata

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, text):
        (self.scripts if self._inside in ("script", "style") else self.words).append(text)


# -- the dict ---------------------------------------------------------------------------------


def test_schema_is_valid_and_rejects_other_keys(report):
    jsonschema.Draft202012Validator.check_schema(schema())
    for broken in ({**report, "surprise": 1}, {k: v for k, v in report.items() if k != "asked"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema())


def test_numbers_of_the_dict_are_those_of_the_selector(report):
    selector = fitted()[0]
    checked(report)
    ids = [row["id"] for row in report["chosen"]["rows"]]
    assert sorted(ids) == np.flatnonzero(selector.support_).tolist()
    lost = [row["contribution"] for row in report["chosen"]["rows"]]
    assert lost == sorted(lost, reverse=True)
    weights = [row["weight"] for row in report["chosen"]["rows"]]
    np.testing.assert_allclose(weights, selector.weights_[ids], rtol=1e-5)
    assert report["asked"]["n_rows"] == 120 and report["asked"]["n_classes"] == 2
    assert {f["id"] for f in report["features"] if f["selected"]} == set(ids)
    sizes = report["sizes"]
    assert sizes["asked"] == 3
    assert all(len(s["ids"]) + s["n_left_out"] == s["size"] for s in sizes["sets"])


def test_every_feature_that_is_referred_to_has_a_name(report):
    known = {feature["id"] for feature in report["features"]}
    used = {track["id"] for track in report["path"]["tracks"]}
    for step in report["path"]["stations"]:
        used |= {*step["entered"], *step["left"]}
    for found in report["sizes"]["sets"]:
        used |= set(found["ids"])
    used |= {row[key] for row in report["redundancy"]["rejected"] for key in ("id", "nearest")}
    used |= set(report["interactions"]["ids"]) | {plot["id"] for plot in report["plots"]["features"]}
    assert used <= known


def test_path_has_added_and_removed_features(report):
    inside = set()
    selector = fitted()[0]
    last = report["path"]["stations"][-1]
    for step in report["path"]["stations"]:
        assert step["n_entered"] >= len(step["entered"])
        inside = (inside | set(step["entered"])) - set(step["left"])
        if step["n_entered"] == len(step["entered"]) and not step["n_left"] > len(step["left"]):
            assert len(inside) <= 10
    assert last["size"] == selector.support_.sum()
    for track in report["path"]["tracks"]:
        assert len(track["shares"]) == len(report["path"]["stations"])
    totals = np.array([[share or 0 for share in track["shares"]] for track in report["path"]["tracks"]]).sum(
        0
    )
    np.testing.assert_allclose(totals, 1, atol=1e-3)


def test_the_same_input_gives_the_same_page_except_for_the_date(report, page):
    selector, X, y = fitted()
    again = collect(selector, X, y, target="ill", max_rows=40)
    assert again["made"] != report["made"]
    assert render({**again, "made": report["made"]}) == page


SELECTORS = {
    "l1-hsic": (L1HSIC(2, random_state=0, n_restarts=1), "weights"),
    "forward": (FeatureSelector(HSIC(), Forward(), 2), "sets"),
    "backward": (FeatureSelector(HSIC(), Backward(), 2), "sets"),
    "ranking": (FeatureSelector(Pearson(), Ranking(), 2), None),
    "mrmr": (MRMR(2), None),
    "lasso": (LassoK(2), None),
    "one": (L1LSMI(1, random_state=0, n_restarts=1), "weights"),
    "all": (FeatureSelector(HSIC(), Backward(), 8), "sets"),
}


@pytest.mark.parametrize("name", SELECTORS)
def test_every_kind_of_method(name):
    selector, kind = SELECTORS[name]
    # Alternately a classification and a regression.
    X, y = data(["classification", "regression"][list(SELECTORS).index(name) % 2], m=8, n=80)
    report = checked(quick(selector.fit(X, y), X, y))
    assert (report["path"] and report["path"]["kind"]) == kind
    assert report["chosen"]["has_weights"] == hasattr(selector, "weights_")
    page = render(report)
    assert ('id="path"' in page) == (kind is not None)
    assert 'id="held-out"' not in page
    assert ('id="interactions"' in page) == (selector.n_features_to_select > 1)


def test_contributions_that_are_known_are_shown():
    selector, X, y = fitted()
    known = contributions(selector, X, y, random_state=3)
    rows = quick(selector, X, y, contributions=known)["chosen"]["rows"]
    assert [row["id"] for row in rows] == known.columns.tolist()
    for name, values in (("contribution", known.lost), ("standard_error", known.standard_error)):
        np.testing.assert_allclose([row[name] for row in rows], values, rtol=1e-5)
    np.testing.assert_allclose(
        [row["frequency"] for row in rows], selector.frequency_[known.columns], rtol=1e-5
    )
    X, y = data()
    assert quick(MRMR(3).fit(X, y), X, y)["chosen"]["rows"][0]["frequency"] is None


@pytest.mark.filterwarnings("ignore:The time limit left no time to look")
def test_weights_that_were_not_fitted_are_not_printable():
    X, y = data()
    with pytest.warns(ConvergenceWarning, match="time limit"):
        selector = L1LSMI(3, random_state=0, time_limit=1e-9).fit(X, y)
    assert set(selector.weights_[selector.support_]) == {1.0}
    report = checked(quick(selector, X, y))
    assert not report["chosen"]["has_weights"] and report["chosen"]["weights_missing"]
    assert "because the search was stopped before they were fitted" in render(report)


def words_of(report):
    return " ".join(" ".join(Reader(render(report)).words).split())


def test_the_summary_says_what_unseen_rows_say():
    selector, X, y = fitted(k="auto")
    report = checked(quick(selector, X, y))
    validation, chosen, sizes = selector.validation_, report["chosen"], report["sizes"]
    assert chosen["n_selected"] == report["asked"]["k"] == sizes["asked"] == selector.support_.sum() > 0
    assert sizes["unseen"] and [s["size"] for s in sizes["sets"]] == validation.k.tolist()
    np.testing.assert_allclose([s["score"] for s in sizes["sets"]], validation.mean, atol=1e-5)
    np.testing.assert_allclose([s["error"] for s in sizes["sets"]], validation.standard_error, atol=1e-5)
    assert [set(s["ids"]) for s in sizes["sets"]] == [
        set(np.flatnonzero(selector.support_for(k))) for k in validation.k
    ]
    text = words_of(report)
    assert "In rows that the search has not seen, these features predict" in text
    assert not re.search(r" %|p [=<] ", chosen["evidence"] + chosen["how_many"])
    assert " ".join(chosen["how_many"].split()) in text and "Shares as a table" in text


def test_a_report_of_no_features_says_why():
    X, y = data(n=100)
    y = np.random.default_rng(1).permutation(y)
    with pytest.warns(UserWarning, match="No features are selected"):
        selector = L1LSMI("auto").fit(X, y)
    report = checked(collect(selector, X, y, made=WHEN))
    empty = ("held_out", "redundancy", "interactions", "path")
    assert not any(report[name] for name in empty) and report["chosen"]["rows"] == []
    text = words_of(report)
    assert "None of 10 features selected" in text
    assert text.count("No features are selected: there is no evidence that any predict the target") == 2
    assert "n_features_to_select=5" in text and "kernel ridge regression" not in text
    assert report["sizes"]["asked"] == 0 and report["sizes"]["sets"][0]["ids"] == []


def test_no_result_is_claimed_without_evidence():
    X, y = data(n=100)
    y = np.random.default_rng(1).permutation(y)
    with pytest.warns(UserWarning, match="There is no evidence that the selected features predict y"):
        selector = L1LSMI(3, random_state=0, n_restarts=1).fit(X, y)
    report = checked(collect(selector, X, y, made=WHEN))
    text = words_of(report)
    assert "There is no evidence that these features predict the target" in text
    assert (
        report["held_out"]["sentences"] and "Kernel ridge regression with the selected features" not in text
    )
    assert "differences between these errors may be due to chance" in text


def test_scores_by_size_are_no_advice(report):
    sizes = checked(report)["sizes"]
    assert not sizes["unseen"] and all(s["error"] is None for s in sizes["sets"])
    assert "Sets are scored on the rows that they were selected on" in words_of(report)


def test_errors_of_regression():
    selector, X, y = fitted("regression")
    report = checked(collect(selector, X, y, max_rows=40, made=WHEN))
    held = report["held_out"]
    assert held["metric"] == {"name": "root mean squared error", "percent": False}
    rows = {row["role"]: row for row in held["rows"]}
    assert list(rows) == ["selection", "all", "none", "rival"]
    assert rows["none"]["error"] == pytest.approx(y.std(), rel=0.05)
    assert rows["selection"]["error"] < rows["none"]["error"] / 2
    assert [one["name"] for one in held["rows"][0]["metrics"]][1:] == ["mean absolute error", "R²"]
    kinds = {plot["id"]: plot["kind"] for plot in report["plots"]["features"]}
    assert kinds.get(3, "boxes") == "boxes" and "scatter" in kinds.values()
    text = " ".join(" ".join(Reader(render(report)).words).split())
    assert "Kernel ridge regression with the selected features has a root mean squared error of" in text
    assert "all 120 rows are tested once" in text


def test_scores_of_any_model_are_shown():
    selector, X, y = fitted()
    scores = selection_scores(selector, X, y, model=DecisionTreeClassifier(random_state=0))
    held = checked(collect(selector, X, y, held_out=scores, max_rows=40))["held_out"]
    assert held["model"] == "DecisionTreeClassifier" and len(held["rows"]) == 3
    assert held["rows"][0]["error"] == pytest.approx(scores.sets["selected"].metrics["error rate"].value)
    tree = collect(selector, X, y, model=DecisionTreeClassifier(random_state=0), max_rows=40)["held_out"]
    assert tree["rows"][0] == held["rows"][0] and tree["rows"][-1]["role"] == "rival"


def test_features_are_selected_in_each_split_for_the_held_out_error():
    """On pure noise, the held-out error must not profit from a selection on all rows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 1000)), np.arange(60) % 2
    selector = FeatureSelector(Pearson(), Ranking(), 5).fit(X, y)
    held = collect(selector, X, y, max_rows=40)["held_out"]
    assert svm_error(X[:, selector.support_], y).error < 0.25
    assert held["rows"][0]["error"] > 0.35


@pytest.mark.filterwarnings("ignore::l1lsmi._warnings.DataWarning")
def test_comparison_of_methods():
    X, y = data(n=80)
    selector = MRMR(3).fit(X, y)
    broken = FeatureSelector(HSIC(), Backward(), 50)
    methods = {"mrmr": MRMR(3), "<lasso>": LassoK(3), "broken": broken}
    comparison = compare_selectors(methods, X, y, n_splits=2)
    report = checked(quick(selector, X, y, comparison=comparison))
    listed = {method["name"]: method for method in report["comparison"]["methods"]}
    assert list(listed)[2:] == ["all features", "broken"]  # best method first, as on the command line
    assert list(listed)[:2] == sorted(["mrmr", "<lasso>"], key=lambda name: listed[name]["error"])
    assert listed["broken"]["error"] is None and listed["broken"]["errors"] == []
    assert "50" in listed["broken"]["failure"]
    assert listed["mrmr"]["error"] == pytest.approx(comparison.results[0].error, rel=1e-4)
    one, other = comparison.results[0].errors  # two splits: half of their difference
    assert listed["mrmr"]["standard_error"] == pytest.approx(abs(one - other) / 2, rel=1e-4)
    assert report["comparison"]["guess"] == pytest.approx(min((y == "yes").mean(), (y == "no").mean()))
    agreement = report["comparison"]["agreement"]
    assert agreement["names"] == list(listed)[:2]
    same = len({*comparison.results[0].support} & {*comparison.results[1].support})
    assert agreement["matrix"][0][1] == pytest.approx(same / (6 - same), rel=1e-3)
    assert agreement["shared"] == [[3, same], [same, 3]] and agreement["sizes"] == [3, 3]
    page = render(report)
    assert 'data-picture="agreement"' in page and "<lasso>" not in page
    assert f'<td class="n">{same} of 3</td>' in page and "2 random splits of 80 rows" in page
    alone = quick(selector, X, y, comparison=compare_selectors({"mrmr": MRMR(3)}, X, y, n_splits=1))
    assert checked(alone)["comparison"]["agreement"] is None
    assert checked(alone)["comparison"]["methods"][0]["standard_error"] is None


@pytest.mark.filterwarnings("ignore::l1lsmi._warnings.DataWarning")
def test_held_out_errors_are_taken_from_a_comparison():
    X, y = data(n=80)
    comparison = compare_selectors({"lasso": LassoK(3), "mrmr": MRMR(3)}, X, y, n_splits=2, random_state=5)
    options = {"max_rows": 40, "comparison": comparison}
    report = checked(collect(MRMR(3).fit(X, y), X, y, held_out="mrmr", **options))
    held, methods = report["held_out"], {m["name"]: m for m in report["comparison"]["methods"]}
    names = ("mrmr", "all features")
    assert [row["error"] for row in held["rows"]] == [methods[name]["error"] for name in names]
    errors = methods["mrmr"]["errors"]
    assert held["rows"][0]["standard_error"] == pytest.approx(np.std(errors, ddof=1) / 2**0.5, rel=1e-4)
    assert held["compared_as"] == "mrmr"
    text = " ".join(" ".join(Reader(render(report)).words).split())
    assert "2 random splits into 56 training rows and 24 held-out rows" in text
    with pytest.raises(ValueError, match="held_out='pearson' is not a method of the comparison"):
        collect(MRMR(3).fit(X, y), X, y, held_out="pearson", **options)
    with pytest.raises(ValueError, match="held_out='mrmr' is the name of a method in a comparison, but"):
        collect(MRMR(3).fit(X, y), X, y, held_out="mrmr", max_rows=40)
    stopped = compare_selectors(
        {"lasso": LassoK(3), "mrmr": MRMR(3)}, X, y, n_splits=1, stop=iter([False, False, True]).__next__
    )
    report = checked(collect(MRMR(3).fit(X, y), X, y, held_out="mrmr", **{**options, "comparison": stopped}))
    assert report["held_out"] is None and report["comparison"]["stopped"]
    assert "methods that had not finished are missing" in render(report)


def test_quartiles_and_shares_are_those_of_the_data(report):
    X, y = data()
    by_id = {plot["id"]: plot for plot in report["plots"]["features"]}
    assert by_id[3]["kind"] == "shares"
    for value, group in enumerate(by_id[3]["groups"]):
        rows = X[:, 3] == value
        assert group["rows"] == rows.sum()
        np.testing.assert_allclose(group["shares"], [(y[rows] == c).mean() for c in ("no", "yes")], atol=1e-3)
    boxed = next(plot for plot in by_id.values() if plot["kind"] == "boxes")
    for box in boxed["boxes"]:
        values = X[y == box["group"], boxed["id"]]
        np.testing.assert_allclose(
            [box["q1"], box["middle"], box["q3"]], np.quantile(values, [0.25, 0.5, 0.75]), rtol=1e-4
        )


def test_columns_and_notes_of_a_file():
    selector, X, y = fitted()
    columns = [SimpleNamespace(name=f"c{j}", kind="number", n_missing=j, used_as="number") for j in range(10)]
    columns += [SimpleNamespace(name="id", kind="text", n_missing=0, used_as="left out: text")]
    columns += [
        SimpleNamespace(name=f"d{n}", kind="category", n_missing=0, used_as=f"category with {n} levels")
        for n in (2, 3)
    ]
    table = SimpleNamespace(
        columns=columns, notes=("2 rows were dropped.",), feature_names=[f"c{j}" for j in range(10)]
    )
    asked = {
        "command": "l1lsmi select a.csv",
        "source": "a.csv",
        "sha256": "ab" * 32,
        "prepare": {"missing": "drop", "groups": "patient", "weights": "w"},
    }
    report = checked(quick(selector, X, y, table=table, asked=asked, target="ill"))
    chosen = {column["name"] for column in report["columns"]["listed"] if column["chosen"]}
    assert chosen == {f"c{j}" for j in np.flatnonzero(selector.support_)}
    assert report["columns"]["counts"] == [
        {"used_as": "number", "n": 10},
        {"used_as": "category", "n": 2},
        {"used_as": "left out: text", "n": 1},
    ]
    text = " ".join(Reader(render(report)).words)
    for expected in (
        "2 rows were dropped.",
        "l1lsmi select a.csv",
        "ab" * 32,
        "prepare(read_table('a.csv'), 'ill', missing='drop', groups='patient', weights='w')",
        "selector.fit(X, y, groups=data.groups, sample_weight=data.sample_weight)",
        "category with 3 levels",
    ):
        assert expected in text


def test_the_code_of_the_page_reproduces_the_selection():
    X, y = data()
    for selector in (
        L1LSMI(3, random_state=0, n_restarts=1),
        FeatureSelector(HSIC(sigma=2.0), Backward(), 3),
        MRMR(2),
    ):
        snippet = quick(selector.fit(X, y), X, y)["reproduce"]["snippet"]
        names = {"X": X, "y": y}
        exec(snippet, names)
        np.testing.assert_array_equal(names["selector"].support_, selector.support_)


def test_bad_arguments_raise_clear_errors():
    selector, X, y = fitted()
    with pytest.raises(ValueError, match="feature_names has 2 names, but there are 10 features: pass one"):
        collect(selector, X, y, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="asked has the unknown key 'colour'"):
        collect(selector, X, y, asked={"colour": "red"})
    with pytest.raises(ValueError, match=r"report lacks .+: pass the unchanged result of collect"):
        render({"features": []})
    with pytest.raises(ValueError, match="there is no folder"):
        write_report("/nowhere/at/all.html", selector, X, y)


# -- the page ---------------------------------------------------------------------------------


def test_the_page_has_no_external_resources(page):
    for tag, attributes in Reader(page).elements:
        assert tag not in ("img", "iframe", "object", "embed", "base", "form", "video", "audio", "frame"), tag
        for name in ("src", "href", "srcset", "action", "data", "poster", "xlink:href"):
            value = attributes.get(name) or ""
            assert value == "" or value.startswith("#") or value == "data:,", (tag, name, value)
        assert "style" not in attributes and not any(name.startswith("on") for name in attributes)
    css = "".join(_asset(name) for name in STYLES)
    assert "url(" not in css and "@import" not in css
    js = "".join(_asset(name) for name in SCRIPTS)
    for call in (
        "fetch(",
        "XMLHttpRequest",
        "WebSocket",
        "sendBeacon",
        "import(",
        "eval(",
        "innerHTML",
        "outerHTML",
    ):
        assert call not in js
    assert "insertAdjacentHTML" not in js and "document.write" not in js and "</script" not in js


def test_the_content_security_policy_allows_only_the_script_and_the_style(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1].replace("&#39;", "'")
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(script) == 1
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert f"style-src '{_hash(style)}'" in policy and f"script-src '{_hash(script[0])}'" in policy


def test_the_page_contains_its_data(report, page):
    assert json.loads(re.search(r'id="report-data">(.*?)</script>', page, re.DOTALL)[1]) == report


def test_every_plot_has_a_table(page):
    sections = re.findall(r'<section id="[\w-]+".*?</section>', page, re.DOTALL)
    plotted = [section for section in sections if "data-picture=" in section]
    assert len(plotted) >= 6
    # The table of errors is always shown, those of other plots can be opened.
    shown = [section for section in plotted if "<details>" not in section]
    assert all("<table>" in section for section in plotted)
    assert [re.match(r'<section id="([\w-]+)"', section)[1] for section in shown] == ["held-out"]


def test_no_section_is_empty_and_zeros_have_no_picture(report):
    changed = copy.deepcopy(report)
    for name in ("redundancy", "interactions"):
        rows = changed[name]["matrix"]
        changed[name]["matrix"] = [[None if value is None else 0.0 for value in row] for row in rows]
        changed[name]["pairs"] = [{**pair, "value": 0.0} for pair in changed[name]["pairs"]]
    changed["interactions"]["plots"]["pairs"] = changed["redundancy"]["rejected"] = []
    page = render(changed)
    assert "All features whose values vary are selected." in page and "the SMI between all pairs is 0" in page
    assert "no z-score is above 0" in page and "No pair is plotted" not in page
    assert 'data-picture="redundancy"' not in page and 'data-picture="interactions"' not in page
    changed["chosen"]["has_evidence"] = False
    assert "No pair is plotted, as there is no evidence" in render(changed)


def test_contributions_have_the_decimals_of_the_terminal(report, page):
    for row in report["chosen"]["rows"]:
        shown = f"{round(100 * row['contribution'], 1) + 0.0:.1f}\u202f%".replace("-", "\N{MINUS SIGN}")
        assert f'<td class="n">{shown}</td>' in page


def test_hostile_names_are_text():
    X, y = data()
    y = np.where(y == "yes", "<i>yes</i>", "no & \u2028")
    selector = FeatureSelector(HSIC(), Backward(), 8).fit(X, y)
    report = checked(quick(selector, X, y, feature_names=HOSTILE, target="<b>target</b>", method="<u>m</u>"))
    page = render(report)
    reader = Reader(page)
    harmless = Reader(render(quick(selector, X, y)))
    # Names do not add or remove elements, but for places where a line may break.
    found, expected = ([(t, set(a)) for t, a in r.elements if t != "wbr"] for r in (reader, harmless))
    assert found == expected
    text = "".join(reader.words)
    for name in HOSTILE[:4]:
        assert name in text
    assert "49" not in re.findall(r"\d+", printable(HOSTILE[3]))
    assert "<script>window.hacked" not in page and "<img" not in page and "<b>target" not in page
    for character in "\u2028\u2029\u202e\x00":
        assert character not in page
    data_block = re.search(r'id="report-data">(.*?)</script>', page, re.DOTALL)[1]
    assert not set(data_block) & set("<>&")
    page.encode("utf-8")


@pytest.mark.parametrize("name", ["\ud800 lone", "a\x1bb", "", 7, None, "\u2066isolate"])
def test_any_name_becomes_printable(name):
    text = printable(name)
    text.encode("utf-8")
    assert text.strip() and not re.search(r"[\x00-\x1f\x7f\u2028\u2029\u202a-\u202e\u2066-\u2069]", text)


def test_the_page_of_twenty_thousand_features_is_small(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 20_000)).astype(np.float32)
    y = X[:, 7] + 0.1 * rng.normal(size=40) > 0
    names = [f"gene {j} " + "long " * 40 for j in range(20_000)]
    columns = [SimpleNamespace(name=name, kind="number", n_missing=0, used_as="number") for name in names]
    table = SimpleNamespace(columns=columns, notes=(), feature_names=names)
    selector = FeatureSelector(Pearson(), Ranking(), 102).fit(X, y)
    options = {"feature_names": names, "table": table, "max_rows": 20, "held_out": False}
    path = write_report(tmp_path / "wide.html", selector, X, y, **options)
    assert path.stat().st_size < 5e6 and [file.name for file in tmp_path.iterdir()] == ["wide.html"]
    text = path.read_text(encoding="utf-8")
    words = " ".join(" ".join(Reader(text).words).split())
    assert "2 further selected features are not listed here" in words
    assert "19,700 further columns not listed" in words
    report = json.loads(re.search(r'id="report-data">(.*?)</script>', text, re.DOTALL)[1])
    assert report["ranking"] is None and len(report["plots"]["features"]) <= 24


def test_many_classes_and_few_rows():
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = np.arange(60) % 15
    report = checked(quick(FeatureSelector(HSIC(), Forward(), 2).fit(X, y), X, y))
    assert report["plots"]["n_classes_left_out"] == 7
    assert "7 classes with fewer rows not shown" in " ".join(" ".join(Reader(render(report)).words).split())


def test_a_missing_jinja2_is_reported_with_its_extra(monkeypatch, report):
    import builtins

    original = builtins.__import__

    def without_jinja2(name, *args, **options):
        if name.startswith("jinja2"):
            raise ImportError(name)
        return original(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without_jinja2)
    with pytest.raises(ImportError, match=r"pip install 'l1lsmi\[report\]'"):
        render(report)
