"""Plots of fitted selectors."""

import re
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.base import BaseEstimator

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector, explain
from l1lsmi.baselines import MRMR, QPFS
from l1lsmi.measures import HSIC, Pearson
from l1lsmi.plots import plot_interactions, plot_path, plot_score_by_k, plot_weights
from l1lsmi.plots._axes import COLOURS, PALE
from l1lsmi.report.page import STYLES, _asset
from l1lsmi.strategies import Backward, Exhaustive, Forward, Ranking


@pytest.fixture(autouse=True)
def _no_figure_is_left():
    before, settings = plt.get_fignums(), dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == settings
    for number in set(plt.get_fignums()) - set(before):
        plt.close(number)


def data(n=150, m=6, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, m))
    return X, X[:, 1] * X[:, 4] > 0


def fitted(k=2, **options):
    X, y = data(**options)
    return L1LSMI(k, random_state=0).fit(X, y)


def texts(ax):
    return [text.get_text() for text in ax.texts]


def coloured(ax):
    return [line for line in ax.lines if line.get_color() != PALE]


def draw_all(selector, X, y, axes):
    return [
        plot_path(selector, axes[0]),
        plot_weights(selector, axes[1]),
        plot_score_by_k(selector, X, y, axes[2]),
        plot_interactions(selector, X, y, axes[3]),
    ]


def test_plots_are_drawn_on_the_given_axes_and_not_shown(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *_: pytest.fail("plt.show was called"))
    X, y = data()
    selector = fitted()
    figure, axes = plt.subplots(1, 4)
    n_figures = len(plt.get_fignums())
    assert draw_all(selector, X, y, axes) == list(axes)
    assert len(plt.get_fignums()) == n_figures
    figure.canvas.draw()
    new = draw_all(selector, X, y, [None] * 4)
    assert len({ax.figure for ax in new} | {figure}) == 5
    for ax in new:
        ax.figure.canvas.draw()


def test_paths_of_weights_are_shares():
    selector = fitted()
    ax = plot_path(selector)
    path = explain.path_table(selector)
    columns, weights = path.lines()
    shares = 100 * weights / weights.sum(axis=0)
    lines = {line.get_color(): line for line in coloured(ax)}
    named = {text.get_text(): lines[text.get_color()] for text in ax.texts}
    assert sorted(named) == ["x1", "x4"]
    for column, share in zip(columns, shares, strict=True):
        if f"x{column}" in named:
            np.testing.assert_allclose(named[f"x{column}"].get_ydata(), share)
    assert len(ax.lines) == 6 and len({line.get_color() for line in coloured(ax)}) == 2
    assert [label.get_text() for label in ax.get_xticklabels()] == [str(s.size) for s in path.steps]
    assert ax.get_ylabel() == "share of the weight (%)" and ax.get_title(loc="left") == ""


def test_features_selected_by_an_exchange_are_dashed():
    selector = fitted()
    first_out = explain.path_table(selector).lines()[0][-1]
    selector.support_ = np.isin(np.arange(6), [1, 4, first_out])
    ax = plot_path(selector)
    styles = {text: line.get_linestyle() for text, line in zip(texts(ax), _by_end(ax), strict=True)}
    assert [text for text, style in styles.items() if style == "--"] == [f"x{first_out}"]
    assert ax.get_title(loc="left") == "dashed: selected, but not by this path"


def _by_end(ax):
    """Lines in the order of their labels, from bottom to top."""
    return sorted(coloured(ax), key=lambda line: np.nan_to_num(line.get_ydata()[-1]))


@pytest.mark.parametrize("algorithm", ["path", "paper"])
def test_paths_of_both_algorithms_have_all_radii(algorithm):
    X, y = data(80)
    selector = L1HSIC(2, algorithm=algorithm, n_restarts=2, max_iter=10, random_state=0).fit(X, y)
    ax = plot_path(selector)
    radii = sorted((s.radius for s in explain.path_table(selector).steps if s.size), reverse=True)
    assert len(ax.lines[0].get_xdata()) == len(radii)
    ax.figure.canvas.draw()


@pytest.mark.parametrize("grows", [True, False])
def test_paths_of_steps_name_added_or_removed_features(grows):
    X, y = data(80)
    X = pd.DataFrame(X, columns=list("abcdef"))
    selector = FeatureSelector(HSIC(), Forward() if grows else Backward(), 3).fit(X, y)
    ax = plot_path(selector)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [step.size for step in selector.path_])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [step.score for step in selector.path_])
    sign = "+ " if grows else "- "
    steps = [step for step in selector.path_ if step.feature is not None]
    assert texts(ax) == [sign + "abcdef"[step.feature] for step in steps]
    assert ax.xaxis_inverted() != grows


def test_paths_of_exhaustive_searches_increase():
    X, y = data(60)
    ax = plot_path(FeatureSelector(HSIC(), Exhaustive(), 2).fit(X, y))
    assert ax.get_xlabel() == "improvements found"
    assert (np.diff(ax.lines[0].get_ydata()) > 0).all()


def test_weights_are_bars_in_decreasing_order():
    selector = fitted(4)
    ax = plot_weights(selector)
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == sorted(selector.weights_[selector.support_], reverse=True)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == [f"x{j}" for j in np.argsort(-selector.weights_, kind="stable")[:4]]
    assert ax.get_xlabel() == "weight"
    bottom, top = ax.get_ylim()
    assert bottom > top  # the first bar is on top


def test_scores_are_plotted_where_there_are_no_weights():
    X, y = data(80)
    ranking = FeatureSelector(Pearson(), Ranking(), 2).fit(X, y)
    ax = plot_weights(ranking)
    assert ax.get_xlabel() == "score" and ax.patches[0].get_width() == ranking.scores_.max()
    assert plot_weights(QPFS(2).fit(X, y)).get_xlabel() == "weight"
    with pytest.raises(ValueError, match="FeatureSelector has neither weights_ nor scores_"):
        plot_weights(FeatureSelector(HSIC(), Forward(), 2).fit(X, y))


def test_scores_by_size_of_data():
    X, y = data(200)
    selector = fitted(3, n=200)
    ax = plot_score_by_k(selector, X, y)
    curve = explain.score_by_size(selector, X, y)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), curve.sizes)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), curve.scores)
    assert texts(ax) == ["selected: 3"] and ax.get_ylabel() == "score"
    rings = {line.get_xdata()[0]: line.get_ydata()[0] for line in ax.lines[1:]}
    assert rings == {3: curve.scores[2]}
    ax.figure.canvas.draw()
    assert ax.texts[0].get_window_extent().y0 >= ax.get_window_extent().y1  # above the axes


def test_unseen_rows_are_plotted_where_they_chose_the_number():
    X, y = data(200)
    selector = L1LSMI("auto").fit(X, y)
    validation = selector.validation_
    for given in ((), (X, y)):
        ax = plot_score_by_k(selector, *given)
        np.testing.assert_array_equal(ax.lines[0].get_xdata(), validation.k)
        np.testing.assert_allclose(ax.lines[0].get_ydata(), 100 * validation.mean)
        bars = [path.vertices for path in ax.collections[0].get_paths()]
        np.testing.assert_allclose(
            [np.ptp(b[:, 1]) for b in bars], 200 * validation.standard_error, atol=1e-9
        )
        assert texts(ax) == ["selected: 2"] and ax.get_ylabel() == "predicted in unseen rows (%)"


def test_plots_of_no_features():
    X, _ = data(100)
    with pytest.warns(UserWarning, match="No features are selected"):
        selector = L1LSMI("auto").fit(X, np.random.default_rng(1).normal(size=100))
    assert texts(plot_score_by_k(selector)) == ["selected: 0"]
    with pytest.raises(ValueError, match="selector has selected no features: there are no weights"):
        plot_weights(selector)


def test_scores_by_size_of_the_path_alone():
    X, y = data(80)
    forward = FeatureSelector(HSIC(), Forward(), 3).fit(X, y)
    ax = plot_score_by_k(forward)
    assert ax.lines[0].get_xdata().tolist() == [1, 2, 3] and texts(ax) == ["selected: 3"]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [step.score for step in forward.path_])
    exhaustive = FeatureSelector(HSIC(), Exhaustive(), 2).fit(X, y)
    best = max(step.score for step in exhaustive.path_)
    assert plot_score_by_k(exhaustive).lines[0].get_ydata().tolist() == [best]
    with pytest.raises(ValueError, match="MRMR has no path with scores: pass X and y"):
        plot_score_by_k(MRMR(2).fit(X, y))
    with pytest.raises(ValueError, match="y is None: pass both X and y, or neither"):
        plot_score_by_k(forward, X)
    with pytest.raises(ValueError, match="X is None: pass both"):
        plot_score_by_k(forward, y=y)


def test_interactions_are_a_symmetric_image():
    X, y = data()
    selector = fitted(3)
    ax = plot_interactions(selector, X, y)
    found = explain.interactions(selector, X, y)
    shown = ax.images[0].get_array()
    assert shown.mask.diagonal().all() and shown.mask.sum() == 3
    np.testing.assert_array_equal(shown.data, found.matrix)
    low, high = ax.images[0].get_clim()
    assert low == -high == -np.abs(found.matrix).max()  # 0 is the middle of the colour map
    assert [label.get_text() for label in ax.get_yticklabels()] == list(found.names)
    assert len(ax.texts) == 6 and f"{found.matrix.max():.2f}" in texts(ax)


def test_colours_of_interactions_are_those_of_the_report():
    X, y = data()
    image = plot_interactions(fitted(3), X, y).images[0]
    styles = "".join(_asset(name) for name in STYLES)
    up, down = (re.search(rf"--{name}: (#\w+);", styles)[1] for name in ("accent", "other"))
    assert ".cell.up { fill: var(--accent); }" in styles and ".cell.down { fill: var(--other); }" in styles
    low, high = image.get_clim()
    assert [matplotlib.colors.to_hex(image.to_rgba(value)) for value in (high, low)] == [up, down]


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


def test_the_number_of_lines_and_bars_is_limited():
    selector = Wide(20_000, 40)
    ax = plot_path(selector)
    assert len(coloured(ax)) == 12 and len(ax.lines) == 30 and len(ax.texts) == 12
    assert ax.get_title(loc="left") == "28 more selected features not shown"
    heights = sorted(text.xyann[1] for text in ax.texts)
    low, high = ax.get_ylim()
    assert min(np.diff(heights)) > 0.05 * (high - low) and low <= heights[0] and heights[-1] <= high
    assert ax.get_xticklabels()[0].get_text() == "20,000"
    bars = plot_weights(selector)
    assert len(bars.patches) == 30 and bars.get_xlabel() == "weight (10 more features not shown)"
    assert plot_score_by_k(selector).get_xscale() == "log"
    X = np.random.default_rng(0).normal(size=(60, 20_000))
    pairs = plot_interactions(selector, X, X[:, 0] > 0)
    assert pairs.images[0].get_array().shape == (20, 20) and not pairs.texts
    for drawn in (ax, bars, pairs):
        drawn.figure.canvas.draw()


def test_names_are_shortened_and_never_formulas():
    X, y = data()
    names = ["price in $ (net) $", "a\nb", "n" * 60, "\\frac", "$x", "  "]
    selector = L1LSMI(6, random_state=0).fit(pd.DataFrame(X, columns=names), y)
    ax = plot_weights(selector)
    labels = {label.get_text() for label in ax.get_yticklabels()}
    assert labels == {
        "price in \\$ (net) \\$",
        "a b",
        "n" * 14 + "\u2026" + "n" * 7,
        "\\frac",
        "\\$x",
        "(no name)",
    }
    ax.figure.canvas.draw()  # an invalid formula would raise


def test_what_cannot_be_plotted_raises_a_clear_error():
    X, y = data(60)
    with pytest.raises(ValueError, match="MRMR has no path to plot: use plot_weights"):
        plot_path(MRMR(2).fit(X, y))
    with pytest.raises(ValueError, match="ax is a int: pass matplotlib Axes"):
        plot_path(fitted(), 3)
    with pytest.raises(ValueError, match="not fitted"):
        plot_path(L1LSMI(2))
    with pytest.raises(ValueError, match="selector is the class L1LSMI"):
        plot_weights(L1LSMI)


def test_colours_differ_in_luminance():
    luminance = [np.dot([0.2126, 0.7152, 0.0722], matplotlib.colors.to_rgb(c)) for c in COLOURS[:3]]
    assert min(np.abs(np.subtract.outer(luminance, luminance))[np.triu_indices(3, 1)]) > 0.02
    assert len(set(COLOURS)) == len(COLOURS)


def test_a_missing_matplotlib_is_reported_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"Plots need matplotlib: pip install 'l1lsmi\[plot\]'\."):
        plot_weights(fitted())
