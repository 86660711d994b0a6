"""Displays of many features with long names, their colours, and what they refuse."""

import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.base import BaseEstimator

from l1lsmi import L1LSMI, explain
from l1lsmi.baselines import MRMR
from l1lsmi.plots import (
    ContributionsDisplay,
    FrequencyDisplay,
    InteractionsDisplay,
    PairDisplay,
    RedundancyDisplay,
    ScoreBySizeDisplay,
    SelectionPathDisplay,
    WeightsDisplay,
)
from l1lsmi.plots._axes import DARK, LIGHT, luminance, palette_of, short_names
from tests.test_plots import _no_figure_is_left, data, fitted, labels  # noqa: F401


class Wide(BaseEstimator):
    """A selector of many features with a made-up path."""

    def __init__(self, m, k):
        rng = np.random.default_rng(0)
        self.n_features_in_ = m
        self.support_ = np.arange(m) < k
        self.weights_ = np.where(self.support_, rng.random(m), 0.0)
        self.path_ = []
        for size in (m, m // 10, m // 100, k):
            weights = rng.random(size) / m
            self.path_.append(_Point(0, float(weights.sum()), size, np.arange(size), weights, 0.1, -0.6))

    def fit(self, X, y):
        return self

    def get_support(self):
        return self.support_


class _Point:
    def __init__(self, *values):
        names = ("restart", "radius", "size", "support", "weights", "objective", "cv_score")
        self.__dict__.update(zip(names, values, strict=True))


@pytest.fixture(scope="module")
def wide():
    return Wide(20_000, 45)


def test_the_number_of_lines_and_bars_is_limited(wide):
    display = SelectionPathDisplay.from_estimator(wide)
    ax = display.ax_
    assert len(display.lines_) == 45 and len(display.other_lines_) == 18 and len(display.texts_) == 12
    assert ax.get_title(loc="left") == "grey: 33 more selected features"
    heights = sorted(text.xyann[1] for text in display.texts_)
    low, high = ax.get_ylim()
    assert min(np.diff(heights)) > 0.03 * (high - low) and low <= heights[0] and heights[-1] <= high
    assert ax.get_xticklabels()[0].get_text() == "20,000"
    bars = WeightsDisplay.from_estimator(wide)
    low = WeightsDisplay.from_estimator(wide, ax=plt.subplots(figsize=(4, 2))[1])
    assert len(low.bars_) == 17 and low.ax_.get_xlabel() == "weight (28 more features not shown)"
    assert len(bars.bars_) == 40 and bars.ax_.get_xlabel() == "weight (5 more features not shown)"
    assert ScoreBySizeDisplay.from_estimator(wide).ax_.get_xscale() == "log"
    X = np.random.default_rng(0).normal(size=(60, 20_000))
    pairs = InteractionsDisplay.from_estimator(wide, X, X[:, 0] > 0)
    assert pairs.image_.get_array().shape == (20, 20) and not pairs.texts_
    for drawn in (display, bars, pairs):
        drawn.figure_.canvas.draw()


def box_of(word):
    """The box of a text, without the line that connects it."""
    return matplotlib.text.Text.get_window_extent(word)


def overlap(boxes):
    return [(a, b) for i, a in enumerate(boxes) for b in boxes[i + 1 :] if a.padded(-0.5).overlaps(b)]


@pytest.mark.parametrize("size", [None, (4, 3)])
def test_labels_of_40_features_with_long_names_do_not_overlap(wide, size):
    names = [f"measurement of the concentration in blood number {j:02d} at week {j % 4}" for j in range(40)]
    k, rng = 40, np.random.default_rng(0)
    bars = WeightsDisplay(rng.random(k), names)
    frequency = FrequencyDisplay(rng.uniform(0.1, 1, k), names, selected=range(9), threshold=0.6)
    both = ContributionsDisplay(
        explain.Contributions(np.arange(k), tuple(names), *rng.random((3, k)), None, 1.0, 50, 50)
    )
    matrix = rng.random((k, k))
    pairs = explain.Interactions(np.arange(k), tuple(names), matrix, matrix, rng.random(k), matrix, 50, 50)
    path = SelectionPathDisplay(explain.path_table(wide), names=names * 500, selected=range(40))
    for display in (bars, frequency, both, path, InteractionsDisplay(pairs)):
        ax = None if size is None else plt.subplots(figsize=size, layout="constrained")[1]
        display.plot(ax)
        display.figure_.canvas.draw()
        low, high = sorted(display.ax_.get_ylim())
        ticks = [t for t in display.ax_.get_yticklabels() if low <= t.get_position()[1] <= high]
        for words in (ticks, list(display.ax_.texts)):
            assert not overlap([box_of(word) for word in words])
        if size is None:
            inside = display.figure_.bbox
            low, high = sorted(display.ax_.get_xlim())
            below = [t for t in display.ax_.get_xticklabels() if low <= t.get_position()[0] <= high]
            for word in [*ticks, *below, *display.ax_.texts]:
                box = box_of(word)
                assert box.x0 >= inside.x0 - 1 and box.x1 <= inside.x1 + 1
                assert box.y0 >= inside.y0 - 1 and box.y1 <= inside.y1 + 1


def test_names_are_shortened_and_never_formulas():
    X, y = data()
    names = ["price in $ (net) $", "a\nb", "n" * 60, "\\frac", "$x", "  "]
    selector = L1LSMI(6, random_state=0).fit(pd.DataFrame(X, columns=names), y)
    display = WeightsDisplay.from_estimator(selector)
    assert set(labels(display.ax_.get_yticklabels())) == {
        "price in \\$ (net) \\$",
        "a b",
        "n" * 14 + "\u2026" + "n" * 7,
        "\\frac",
        "\\$x",
        "(no name)",
    }
    display.figure_.canvas.draw()  # an invalid formula would raise


def test_short_names_tell_long_names_apart():
    names = [f"{'a long name, ' * 3}number {j} of the table with columns" for j in range(12)]
    short = short_names(names)
    assert len(set(short)) == 12 and max(map(len, short)) <= 22
    assert short_names(["same " * 12] * 2) == ["same same same\u2026me same"] * 2


def test_what_cannot_be_drawn_raises_a_clear_error():
    X, y = data(60)
    with pytest.raises(ValueError, match="MRMR has no path to plot: use WeightsDisplay"):
        SelectionPathDisplay.from_estimator(MRMR(2).fit(X, y))
    with pytest.raises(ValueError, match="ax=3 is not a matplotlib Axes: pass an Axes, or None"):
        SelectionPathDisplay.from_estimator(fitted(), ax=3)
    with pytest.raises(ValueError, match="not fitted"):
        SelectionPathDisplay.from_estimator(L1LSMI(2))
    with pytest.raises(ValueError, match="selector is the class L1LSMI"):
        WeightsDisplay.from_estimator(L1LSMI)
    with pytest.raises(ValueError, match="names has 2 entries, but weights has 3: pass one name per feature"):
        WeightsDisplay([1, 2, 3], ["a", "b"])
    with pytest.raises(ValueError, match="frequency='often' is not a list of numbers: pass a one-dim"):
        FrequencyDisplay("often")
    with pytest.raises(ValueError, match="frequency is 0 for every feature: pass"):
        FrequencyDisplay([0.0, 0.0]).plot()
    with pytest.raises(ValueError, match="scores has 1 entries, but sizes has 2: pass one for each size"):
        ScoreBySizeDisplay([1, 2], [0.5])
    with pytest.raises(ValueError, match=r"path=3 is not a path: pass what explain\.path_table returns"):
        SelectionPathDisplay(3)
    with pytest.raises(ValueError, match="path has no steps"):
        SelectionPathDisplay(explain.PathTable("none", ())).plot()
    for display, name in (
        (ContributionsDisplay, "contributions"),
        (RedundancyDisplay, "redundancy"),
        (InteractionsDisplay, "interactions"),
    ):
        with pytest.raises(
            ValueError, match=f"{name}=3 is not an? {name.title()}: pass what explain.{name} returns"
        ):
            display(3)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ("x1", "features='x1' is not a pair: pass two names or indices"),
        ((1, 2, 3), "is not a pair"),
        ((1, "dose"), "features has 'dose', which is not a feature: pass a name, or an index from 0 to 5"),
        ((1, 6), "features has 6, which is not a feature"),
        ((1, True), "features has True, which is not a feature"),
    ],
)
def test_pairs_of_unknown_features_raise_a_clear_error(features, message):
    X, y = data(60)
    with pytest.raises(ValueError, match=message):
        PairDisplay.from_estimator(fitted(), X, y, features=features)


def test_pairs_of_other_data_raise_a_clear_error():
    X, y = data(60)
    with pytest.raises(ValueError, match="X has 60 rows, but y has 59: pass one target per row"):
        PairDisplay.from_estimator(fitted(), X, y[1:])
    with pytest.raises(ValueError, match="but selector has selected 1 feature: pass features="):
        PairDisplay.from_estimator(fitted(1), X, y)
    with pytest.raises(ValueError, match="second has 2 rows, but first has 3: pass one value per row"):
        PairDisplay([1, 2, 3], [1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="names='ab' is not a pair"):
        PairDisplay([1, 2], [1, 2], [1, 2], names="ab")


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_colours_differ_in_luminance_from_each_other_and_from_the_background(palette):
    assert len(set(palette.lines)) == len(palette.lines)
    of = [luminance(matplotlib.colors.to_rgb(c)) for c in palette.lines]
    assert min(np.abs(np.subtract.outer(of[:3], of[:3]))[np.triu_indices(3, 1)]) > 0.02
    assert max(of) < 0.75 if palette is LIGHT else min(of) > 0.35


def test_colours_follow_the_background():
    assert palette_of(plt.subplots()[1]) is LIGHT
    with plt.style.context("dark_background"):
        display = WeightsDisplay([1.0, 2.0]).plot()
    assert matplotlib.colors.to_hex(display.bars_[0].get_facecolor()) == DARK.lines[0].lower()
    ax = plt.subplots(facecolor="black")[1]
    ax.set_facecolor("none")
    assert palette_of(ax) is DARK


def test_a_missing_matplotlib_is_reported_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"Plots need matplotlib: pip install 'l1lsmi\[plot\]'\."):
        WeightsDisplay.from_estimator(fitted())
