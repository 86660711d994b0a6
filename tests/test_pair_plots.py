"""Plots of two features against the target in a report: which pairs, which rows, and what their cells say."""

import jsonschema
import numpy as np
import pandas as pd
import pytest

from l1lsmi import L1LSMI
from l1lsmi._validation.target import check_target
from l1lsmi.explain._values import gap_of_repeated
from l1lsmi.report import collect, render, schema
from l1lsmi.report._feature_plots import _trend
from l1lsmi.report._pair_plots import MAX_DOTS, MAX_PLOTS, MIN_DOTS, least_z, pair_plots
from l1lsmi.report._values import ShownColumn
from l1lsmi.report.page import _breakable

PAIRS = [{"a": 0, "b": 1, "value": 9.0}, {"a": 0, "b": 2, "value": 4.0}, {"a": 1, "b": 2, "value": 2.9}]


def columns(*values):
    return lambda j: ShownColumn(np.asarray(values[j], dtype=float))


@pytest.fixture(scope="module")
def numbers():
    return np.random.default_rng(0).normal(size=(3, 900))


def test_only_clear_pairs_are_plotted(numbers):
    target = check_target(numbers[0] * numbers[1] > 0, "classification")
    found = pair_plots(columns(*numbers), target, PAIRS, 3)
    # 2.9 is less than a third of the highest z-score.
    assert [(plot["a"], plot["b"]) for plot in found["pairs"]] == [(0, 1), (0, 2)]
    weak = [{"a": 0, "b": 1, "value": 2.0}, {"a": 0, "b": 2, "value": None}]
    assert least_z(1) < 2 < least_z(3)
    assert pair_plots(columns(*numbers), target, weak, 3)["pairs"] == []
    many = [{"a": 0, "b": 1, "value": 9.0 - i / 10} for i in range(8)]
    assert len(pair_plots(columns(*numbers), target, many, 8)["pairs"]) == MAX_PLOTS


def test_cells_tell_an_exclusive_or(numbers):
    target = check_target(np.where(numbers[0] * numbers[1] > 0, "same", "other"), "classification")
    (plot,) = pair_plots(columns(*numbers), target, PAIRS[:1], 3)["pairs"]
    same = {(cell["i"], cell["j"]): cell["shares"][plot["colours"].index("same")] for cell in plot["cells"]}
    assert [same[0, 0], same[0, 2], same[2, 0], same[2, 2]] == [1, 0, 0, 1]
    assert sum(cell["rows"] for cell in plot["cells"]) == 900
    assert len(plot["dots"]) == len(plot["x"]["values"]) == len(plot["y"]["values"]) == MAX_DOTS


def test_a_rare_class_has_dots(numbers):
    rare = np.zeros(5000, dtype=int)
    rare[:50] = 1
    x = np.random.default_rng(1).normal(size=(2, 5000))
    (plot,) = pair_plots(columns(*x), check_target(rare, "classification"), PAIRS[:1], 1)["pairs"]
    assert sum(plot["dots"]) == MIN_DOTS and plot["rarer"] == 1
    assert plot["colours"] == ["0", "1"]


def test_classes_beyond_the_colours_are_together(numbers):
    target = check_target(np.arange(900) % 60, "classification")
    (plot,) = pair_plots(columns(*numbers), target, PAIRS[:1], 3)["pairs"]
    assert plot["colours"][-1] == "54 other classes" and len(plot["colours"]) == 7 and plot["rarer"] is None


def test_a_number_is_shown_in_groups_of_equal_size_and_missing_values_apart(numbers):
    first = numbers[0].copy()
    first[::10] = np.nan
    target = check_target(np.exp(numbers[2]), "regression")
    (plot,) = pair_plots(columns(first, numbers[1]), target, PAIRS[:1], 3)["pairs"]
    assert plot["is_number"] and len(plot["colours"]) == 5
    assert plot["x"]["labels"][-1] == "missing" and len(plot["x"]["edges"]) == 2
    shares = np.average(
        [cell["shares"] for cell in plot["cells"]], axis=0, weights=[cell["rows"] for cell in plot["cells"]]
    )
    np.testing.assert_allclose(shares, 0.2, atol=0.01)
    alone = check_target(np.zeros(900) + np.arange(900) // 899, "regression")  # one value but for one row
    (plot,) = pair_plots(columns(*numbers), alone, PAIRS[:1], 3)["pairs"]
    assert len(plot["colours"]) == 2


def test_a_report_of_categories_has_a_plot_and_its_table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"colour": rng.choice(["red", "green"], 300), "size": rng.choice(["S", "M", "L"], 300)})
    X["noise"] = rng.normal(size=300)
    X.loc[::9, "colour"] = None
    y = np.where((X["colour"] == "red") ^ (X["size"] == "M"), "bought", "left")
    selector = L1LSMI(2, n_restarts=1, random_state=0, p_value=False, pool=None).fit(X, y)
    report = collect(selector, X, y, target="sale", held_out=False)
    jsonschema.validate(report, schema())
    (plot,) = report["interactions"]["plots"]["pairs"]
    axes = {report["features"][i]["name"]: plot[axis] for i, axis in ((0, "x"), (1, "y"))}
    assert set(axes["colour"]["labels"]) == {"red", "green", "missing"} and axes["colour"]["range"] is None
    page = render(report)
    assert 'data-picture="pairs"' in page and 'aria-label="sale by colour and size"' in page
    # A third column without an effect makes two further pairs, which are not plotted.
    assert len(report["interactions"]["pairs"]) == 1


def test_names_may_break_between_words_alone():
    assert str(_breakable("mean_of_x1.5-or_2<b>Name")) == "mean_<wbr>of_<wbr>x1.5-<wbr>or_2&lt;b&gt;Name"
    assert str(_breakable("p < 0.05; 1,000 rows")) == "p &lt; 0.05; 1,000 rows"
    assert str(_breakable("bloodPressure")) == "blood<wbr>Pressure"


def test_whole_numbers_that_repeat_are_spread():
    rng = np.random.default_rng(0)
    ages = rng.integers(20, 60, 400).astype(float)
    target = check_target(ages + rng.normal(size=400) > 40, "classification")
    (plot,) = pair_plots(columns(ages, rng.normal(size=400)), target, PAIRS[:1], 1)["pairs"]
    np.testing.assert_array_equal(plot["x"]["values"], ages)
    assert (plot["x"]["gap"], plot["y"]["gap"]) == (1, 0)
    assert plot["x"]["range"] == pytest.approx([ages.min() - 0.3, ages.max() + 0.3], abs=0.01)
    assert gap_of_repeated(ages) == 1 and gap_of_repeated(np.array([1.0, 1.0])) == 0
    assert gap_of_repeated(rng.normal(size=400)) == 0


def test_equal_values_of_a_feature_have_one_median():
    x = np.repeat([0.0, 1.0, 2.0, 3.0, 9.0], [30, 50, 40, 20, 1])
    trend = _trend(x, np.arange(x.size, dtype=float))
    edges = [(knot["from"], knot["to"], knot["rows"]) for knot in trend]
    assert edges == [(0, 0, 30), (1, 1, 50), (2, 2, 40), (3, 9, 21)]  # rare values share a bin
    assert trend[1]["middle"] == 54.5


def test_different_values_of_a_feature_have_as_many_rows_in_each_bin():
    trend = _trend(np.random.default_rng(0).permutation(80).astype(float), np.zeros(80))
    assert [knot["rows"] for knot in trend] == [10] * 8
    assert [knot["from"] for knot in trend] == list(range(0, 80, 10))
