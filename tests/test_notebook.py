"""Reports as objects, of selectors and of pipelines."""

import html
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from l1lsmi import L1LSMI, FeatureSelector
from l1lsmi.baselines import MRMR
from l1lsmi.inference import StabilitySelector
from l1lsmi.measures import Pearson
from l1lsmi.report import collect, make_report
from l1lsmi.strategies import Ranking


def data(n=120):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(n, 5)), columns=list("abcde"))
    return X, X["b"] - X["d"] + 0.3 * np.random.default_rng(1).normal(size=n)


def test_the_page_is_inside_a_frame_of_its_own(tmp_path):
    X, y = data()
    found = FeatureSelector(Pearson(), Ranking(), 2).fit(X, y).report(X, y, target="<b>y</b>", max_rows=40)
    shown = found._repr_html_()
    (inside,) = re.findall(r'srcdoc="([^"]*)"', shown)
    assert html.unescape(inside) == found.html and "<b>y</b>" not in found.html
    assert shown.count("<") == 2  # one element: what the page has is escaped
    assert found.save(tmp_path / "r.html").read_text(encoding="utf-8") == found.html
    with pytest.raises(ValueError, match="there is no folder"):
        found.save(tmp_path / "no" / "r.html")


@pytest.mark.parametrize("selector", [L1LSMI(2, random_state=0), MRMR(2), StabilitySelector(MRMR(2), 4, 0.5)])
def test_every_selector_has_a_report(selector):
    X, y = data()
    found = selector.fit(X, y).report(X, y, target="size", max_rows=40)
    first, *others = str(found).splitlines()
    assert re.fullmatch(r"2 of 5 features selected to predict size: [bd], [bd]", first)
    assert others[-2].startswith("Kernel ridge regression with the selected features has a root mean squared")
    assert others[-1].startswith("With the selected features, R² is ")


def test_a_pipeline_is_reported_on_with_its_own_model():
    X, y = data()
    pipeline = make_pipeline(StandardScaler(), L1LSMI(2, random_state=0), LinearRegression()).fit(X, y)
    found = make_report(pipeline, X, y, max_rows=40).data
    assert sorted(f["name"] for f in found["features"] if f["selected"]) == ["b", "d"]
    assert found["held_out"]["model"] == "LinearRegression"
    options = {"model": LinearRegression(), "feature_names": list("abcde"), "max_rows": 40}
    alone = collect(pipeline[1], StandardScaler().fit_transform(X), y, **options)
    assert found["held_out"] == alone["held_out"]
    assert "# X: the features that the steps before the selector give" in found["reproduce"]["snippet"]
    assert "# X: the features, y: the target" in alone["reproduce"]["snippet"]
    other = make_report(pipeline[:2], X, y, max_rows=40, held_out=False).data
    assert other["held_out"] is None and other["chosen"] == found["chosen"]


def test_a_pipeline_without_a_selector_is_refused():
    X, y = data()
    pipeline = make_pipeline(StandardScaler(), ExtraTreesClassifier(5)).fit(X, y > 0)
    with pytest.raises(ValueError, match="selector is a Pipeline without a step that selects features"):
        make_report(pipeline, X, y > 0)


def test_the_name_of_the_target_is_that_of_y():
    X, y = data(60)
    selector = FeatureSelector(Pearson(), Ranking(), 2).fit(X, y)
    for named in (y.rename("size"), pl.Series("size", y.to_numpy()), pd.DataFrame({"size": y})):
        assert make_report(selector, X, named, held_out=False, max_rows=40).data["asked"]["target"] == "size"
    assert make_report(selector, X, y, held_out=False, max_rows=40).data["asked"]["target"] == "target"
    two = pd.DataFrame({"size": y, "price": y + X["a"]})
    selector = FeatureSelector(Pearson(), Ranking(), 2).fit(X, two)
    assert make_report(selector, X, two, held_out=False, max_rows=40).data["asked"]["target"] == "size, price"


def test_a_selector_must_be_fitted():
    X, y = data(60)
    for selector in (L1LSMI(2), MRMR(2), make_pipeline(L1LSMI(2))):
        with pytest.raises(NotFittedError):
            make_report(selector, X, y)
