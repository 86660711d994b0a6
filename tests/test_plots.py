"""Displays of fitted selectors."""

import pickle
import re

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector, explain
from l1lsmi.baselines import MRMR, QPFS, LassoK
from l1lsmi.inference import StabilitySelector
from l1lsmi.measures import HSIC, Pearson
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


def fitted(k=2, p_value=True, **options):
    X, y = data(**options)
    return L1LSMI(k, random_state=0, p_value=p_value).fit(X, y)


def texts(ax):
    return [text.get_text() for text in ax.texts]


def labels(ticks):
    return [label.get_text() for label in ticks]


def widths(bars):
    return [bar.get_width() for bar in bars]


DISPLAYS = {
    "path": lambda selector, X, y, **more: SelectionPathDisplay.from_estimator(selector, **more),
    "weights": lambda selector, X, y, **more: WeightsDisplay.from_estimator(selector, **more),
    "sizes": ScoreBySizeDisplay.from_estimator,
    "contributions": ContributionsDisplay.from_estimator,
    "redundancy": RedundancyDisplay.from_estimator,
    "interactions": InteractionsDisplay.from_estimator,
    "pair": PairDisplay.from_estimator,
}


@pytest.mark.parametrize("name", DISPLAYS)
def test_displays_draw_on_the_given_axes_alone_and_are_not_shown(name, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *_: pytest.fail("plt.show was called"))
    X, y = data()
    selector = pickle.loads(pickle.dumps(fitted()))
    figure, (ax, other) = plt.subplots(1, 2, layout="constrained")
    n_figures = len(plt.get_fignums())
    display = DISPLAYS[name](selector, X, y, ax=ax)
    assert display.ax_ is ax and display.figure_ is figure and ax.has_data()
    assert not other.has_data() and len(plt.get_fignums()) == n_figures
    n_bars = getattr(display, "colorbar_", None) is not None
    assert len(figure.axes) == 2 + n_bars  # a scale of colours takes a part of the axes
    figure.canvas.draw()
    new = display.plot()
    assert new is display and display.figure_ is not figure
    display.figure_.canvas.draw()


@pytest.mark.parametrize("library", ["numpy", "pandas", "polars"])
def test_displays_take_tables_of_any_library_and_name_their_columns(library):
    X, y = data()
    names = [f"x{j}" for j in range(6)] if library == "numpy" else list("abcdef")
    table = {"numpy": lambda: X, "pandas": lambda: pd.DataFrame(X, columns=names)}.get(
        library, lambda: pl.DataFrame(X, schema=names)
    )()
    classes = np.array(["no", "yes"])[y.astype(int)]
    selector = L1LSMI(2, random_state=0).set_output(transform="pandas").fit(table, classes)
    expected = [names[1], names[4]]
    weights = WeightsDisplay.from_estimator(selector)
    assert sorted(labels(weights.ax_.get_yticklabels())) == expected
    for name in ("redundancy", "interactions"):
        assert labels(DISPLAYS[name](selector, table, classes).ax_.get_xticklabels()) == expected
    contributions = ContributionsDisplay.from_estimator(selector, table, classes)
    assert sorted(labels(contributions.ax_.get_yticklabels())) == expected
    pair = PairDisplay.from_estimator(selector, table, classes)
    assert [pair.ax_.get_xlabel(), pair.ax_.get_ylabel()] == expected
    given = [f"given {j}" for j in range(6)]
    renamed = SelectionPathDisplay.from_estimator(selector, feature_names=given)
    assert sorted(texts(renamed.ax_)) == ["given 1", "given 4"]


def test_paths_of_weights_are_shares():
    selector = fitted()
    display = SelectionPathDisplay.from_estimator(selector)
    path = explain.path_table(selector)
    columns, weights = path.lines()
    shares = 100 * weights / weights.sum(axis=0)
    lines = {line.get_color(): line for line in display.lines_}
    named = {text.get_text(): lines[text.get_color()] for text in display.texts_}
    assert sorted(named) == ["x1", "x4"]
    for column, share in zip(columns, shares, strict=True):
        if f"x{column}" in named:
            np.testing.assert_allclose(named[f"x{column}"].get_ydata(), share)
    ax = display.ax_
    assert len(lines) == 2 and len(display.other_lines_) == 4 and len(ax.lines) == 6
    drawn = [*zip(display.columns_, display.lines_, strict=True)]
    drawn += [*zip(display.other_columns_, display.other_lines_, strict=True)]
    of = dict(zip(columns, shares, strict=True))
    for column, line in drawn:
        np.testing.assert_allclose(np.nan_to_num(line.get_ydata()), of[column])
    assert labels(ax.get_xticklabels()) == [str(s.size) for s in path.steps]
    assert ax.get_ylabel() == "share of the weight (%)" and ax.get_title(loc="left") == ""


def test_features_selected_by_an_exchange_are_dashed():
    selector = fitted()
    first_out = explain.path_table(selector).lines()[0][-1]
    selector.support_ = np.isin(np.arange(6), [1, 4, first_out])
    display = SelectionPathDisplay.from_estimator(selector)
    names = {text.get_color(): text.get_text() for text in display.texts_}
    dashed = [names[line.get_color()] for line in display.lines_ if line.get_linestyle() == "--"]
    assert dashed == [f"x{first_out}"]
    assert display.ax_.get_title(loc="left") == "dashed: selected, but not by this path"


@pytest.mark.parametrize("algorithm", ["path", "paper"])
def test_paths_of_both_algorithms_have_all_radii(algorithm):
    X, y = data(80)
    selector = L1HSIC(2, algorithm=algorithm, n_restarts=2, max_iter=10, random_state=0).fit(X, y)
    display = SelectionPathDisplay.from_estimator(selector)
    radii = [s.radius for s in explain.path_table(selector).steps if s.size]
    assert len(display.lines_[0].get_xdata()) == len(radii)
    display.figure_.canvas.draw()


@pytest.mark.parametrize("grows", [True, False])
def test_paths_of_steps_name_added_or_removed_features(grows):
    X, y = data(80)
    X = pd.DataFrame(X, columns=list("abcdef"))
    selector = FeatureSelector(HSIC(), Forward() if grows else Backward(), 3).fit(X, y)
    display = SelectionPathDisplay.from_estimator(selector)
    (line,), ax = display.lines_, display.ax_
    np.testing.assert_array_equal(line.get_xdata(), [step.size for step in selector.path_])
    np.testing.assert_allclose(line.get_ydata(), [step.score for step in selector.path_])
    sign = "+ " if grows else "- "
    steps = [step for step in selector.path_ if step.feature is not None]
    assert texts(ax) == [sign + "abcdef"[step.feature] for step in steps]
    assert ax.xaxis_inverted() != grows


def test_paths_of_exhaustive_searches_increase():
    X, y = data(60)
    display = SelectionPathDisplay.from_estimator(FeatureSelector(HSIC(), Exhaustive(), 2).fit(X, y))
    assert display.ax_.get_xlabel() == "improvements found"
    assert (np.diff(display.lines_[0].get_ydata()) > 0).all()


def test_weights_are_bars_in_decreasing_order():
    selector = fitted(4)
    display = WeightsDisplay.from_estimator(selector)
    assert widths(display.bars_) == sorted(selector.weights_[selector.support_], reverse=True)
    order = np.argsort(-selector.weights_, kind="stable")[:4]
    assert labels(display.ax_.get_yticklabels()) == [f"x{j}" for j in order]
    assert display.ax_.get_xlabel() == "weight"
    bottom, top = display.ax_.get_ylim()
    assert bottom > top  # the first bar is on top


def test_scores_are_drawn_where_there_are_no_weights():
    X, y = data(80)
    ranking = FeatureSelector(Pearson(), Ranking(), 2).fit(X, y)
    display = WeightsDisplay.from_estimator(ranking)
    assert display.ax_.get_xlabel() == "score" and widths(display.bars_)[0] == ranking.scores_.max()
    assert WeightsDisplay.from_estimator(QPFS(2).fit(X, y)).ax_.get_xlabel() == "weight"
    with pytest.raises(ValueError, match="FeatureSelector has neither weights_ nor scores_"):
        WeightsDisplay.from_estimator(FeatureSelector(HSIC(), Forward(), 2).fit(X, y))


def test_scores_by_size_of_data():
    X, y = data(200)
    selector = fitted(3, n=200)
    display = ScoreBySizeDisplay.from_estimator(selector, X, y, color="green")
    curve = explain.score_by_size(selector, X, y)
    np.testing.assert_array_equal(display.line_.get_xdata(), curve.sizes)
    np.testing.assert_array_equal(display.line_.get_ydata(), curve.scores)
    ax = display.ax_
    assert texts(ax) == ["selected: 3"] and ax.get_ylabel() == "score"
    assert display.mark_.get_xdata() == [3] and display.mark_.get_ydata() == [curve.scores[2]]
    assert display.line_.get_color() == "green" and display.errorbar_ is None
    ax.figure.canvas.draw()
    assert ax.texts[0].get_window_extent().y0 >= ax.get_window_extent().y1  # above the axes
    smaller = ScoreBySizeDisplay.from_estimator(selector, X, y, max_size=4)
    assert smaller.sizes.tolist() == [1, 2, 3, 4]


def test_unseen_rows_are_drawn_where_they_chose_the_number():
    X, y = data(200)
    selector = L1LSMI("auto").fit(X, y)
    validation = selector.validation_
    for given in ((), (X, y)):
        display = ScoreBySizeDisplay.from_estimator(selector, *given)
        np.testing.assert_array_equal(display.line_.get_xdata(), validation.k)
        np.testing.assert_allclose(display.line_.get_ydata(), 100 * validation.mean)
        bars = [path.vertices for path in display.errorbar_.lines[2][0].get_paths()]
        np.testing.assert_allclose(
            [np.ptp(b[:, 1]) for b in bars], 200 * validation.standard_error, atol=1e-9
        )
        assert texts(display.ax_) == ["selected: 2"]
        assert display.ax_.get_ylabel() == "predicted in unseen rows (%)"
    display = FrequencyDisplay.from_estimator(selector)
    assert widths(display.bars_) == selector.frequency_[display.columns_].tolist()
    assert set(display.columns_[:2]) == {1, 4} and display.line_ is None


def test_displays_of_no_features():
    X, _ = data(100)
    with pytest.warns(UserWarning, match="No features are selected"):
        selector = L1LSMI("auto").fit(X, np.random.default_rng(1).normal(size=100))
    assert texts(ScoreBySizeDisplay.from_estimator(selector).ax_) == ["selected: 0"]
    with pytest.raises(ValueError, match="selector has selected no features: there are no weights"):
        WeightsDisplay.from_estimator(selector)
    with pytest.raises(ValueError, match="features is None, but selector has selected no features: pass"):
        PairDisplay.from_estimator(selector, X, X[:, 0])


def test_scores_by_size_of_the_path_alone():
    X, y = data(80)
    draw = ScoreBySizeDisplay.from_estimator
    forward = FeatureSelector(HSIC(), Forward(), 3).fit(X, y)
    display = draw(forward)
    assert display.line_.get_xdata().tolist() == [1, 2, 3] and texts(display.ax_) == ["selected: 3"]
    np.testing.assert_allclose(display.line_.get_ydata(), [step.score for step in forward.path_])
    exhaustive = FeatureSelector(HSIC(), Exhaustive(), 2).fit(X, y)
    best = max(step.score for step in exhaustive.path_)
    assert draw(exhaustive).line_.get_ydata().tolist() == [best]
    with pytest.raises(ValueError, match="MRMR has no path with scores: pass X and y"):
        draw(MRMR(2).fit(X, y))
    with pytest.raises(ValueError, match="y is None: pass both X and y, or neither"):
        draw(forward, X)
    with pytest.raises(ValueError, match="X is None: pass both"):
        draw(forward, y=y)


def test_contributions_are_bars_of_losses_and_scores():
    X, y = data()
    selector = fitted(3)
    display = ContributionsDisplay.from_estimator(selector, X, y, alpha=0.5)
    found = explain.contributions(selector, X, y)
    order = np.argsort(-found.lost)
    assert widths(display.bars_lost_) == found.lost[order].tolist()
    assert widths(display.bars_alone_) == found.alone[order].tolist()
    assert labels(display.ax_.get_yticklabels()) == [found.names[i] for i in order]
    assert set(display.line_.get_xdata()) == {found.share} and display.bars_lost_[0].get_alpha() == 0.5
    words = ["contribution", "predicts alone", "the set predicts"]
    assert labels(display.ax_.get_legend().get_texts()) == words


def test_frequencies_have_the_threshold_of_stable_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 12))
    y = X[:, 3] - X[:, 7] + rng.normal(size=200)
    selector = StabilitySelector(LassoK(3), 20, 0.9, random_state=0).fit(X, y)
    display = FrequencyDisplay.from_estimator(selector)
    assert widths(display.bars_) == selector.frequency_[display.columns_].tolist()
    assert widths(display.bars_) == sorted(selector.frequency_[selector.frequency_ > 0], reverse=True)
    assert set(display.line_.get_xdata()) == {0.9} and set(display.columns_[:2]) == {3, 7}
    assert display.bars_[0].get_facecolor() != display.bars_[2].get_facecolor()
    words = ["selected", "not selected", "threshold 0.9"]
    assert labels(display.ax_.get_legend().get_texts()) == words
    with pytest.raises(ValueError, match=r"L1LSMI has no selection frequencies \(frequency_\): select with"):
        FrequencyDisplay.from_estimator(L1LSMI(3, p_value=False, pool=None).fit(X, y))


@pytest.mark.parametrize("values", ["z", "score"])
def test_interactions_are_a_symmetric_image(values):
    X, y = data()
    selector = fitted(3)
    display = InteractionsDisplay.from_estimator(selector, X, y, values=values)
    found = explain.interactions(selector, X, y)
    expected = found.z if values == "z" else found.matrix
    shown = display.image_.get_array()
    assert shown.mask.diagonal().all() and shown.mask.sum() == 3
    np.testing.assert_array_equal(shown.data, expected)
    low, high = display.image_.get_clim()
    assert low == -high == -max(np.abs(expected).max(), 3 if values == "z" else 0)  # 0 is in the middle
    assert labels(display.ax_.get_yticklabels()) == list(found.names)
    assert len(display.texts_) == 6 and f"{expected[0, 2]:.2f}" in texts(display.ax_)


def test_redundancy_is_an_image_of_dependence():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=200)
    selector = FeatureSelector(Pearson(), Ranking(), 3).fit(X, X[:, 0] + X[:, 2])
    display = RedundancyDisplay.from_estimator(selector, X, X[:, 0] + X[:, 2])
    found = explain.redundancy(selector, X, X[:, 0] + X[:, 2], n_rejected=1)
    np.testing.assert_array_equal(display.image_.get_array().data, found.smi)
    assert display.image_.get_clim() == (0, max(0.5, np.nanmax(found.smi)))
    by_correlation = RedundancyDisplay(found, values="correlation").plot(colorbar=False)
    np.testing.assert_array_equal(by_correlation.image_.get_array().data, found.correlation)
    assert by_correlation.image_.get_clim() == (0, 1) and by_correlation.colorbar_ is None
    with pytest.raises(ValueError, match="selector has selected 1 feature: pairs need at least two"):
        RedundancyDisplay.from_estimator(fitted(1), *data())
    with pytest.raises(ValueError, match="values='hsic' is not known: pass 'smi' or 'correlation'"):
        RedundancyDisplay.from_estimator(selector, X, X[:, 0], values="hsic")


@pytest.mark.parametrize("theme", ["default", "dark_background"])
def test_colours_of_interactions_are_those_of_the_report(theme):
    X, y = data()
    found = explain.interactions(fitted(3), X, y)
    with plt.style.context(theme):
        image = InteractionsDisplay(found).plot().image_
    styles = "".join(_asset(name) for name in STYLES)
    at = 0 if theme == "default" else 1
    up, down = (re.findall(rf"--{name}: (#\w+);", styles)[at] for name in ("accent", "other"))
    assert ".cell.up { fill: var(--accent); }" in styles and ".cell.down { fill: var(--other); }" in styles
    low, high = image.get_clim()
    assert [matplotlib.colors.to_hex(image.to_rgba(value)) for value in (high, low)] == [up, down]


def test_pairs_have_a_dot_for_every_row_of_each_class():
    X, _ = data()
    y = np.digitize(X[:, 1] * X[:, 4], [-0.5, 0.5])
    selector = L1LSMI(2, random_state=0, task="classification").fit(X, y)
    display = PairDisplay.from_estimator(selector, X, y, features=(4, "x1"))
    for code, points in enumerate(display.points_):
        np.testing.assert_array_equal(points.get_offsets(), X[y == code][:, [4, 1]])
    assert labels(display.legend_.get_texts()) == ["0", "1", "2"] and display.colorbar_ is None
    few = PairDisplay.from_estimator(selector, X, y, max_rows=60)
    assert sum(len(points.get_offsets()) for points in few.points_) == 60
    several = PairDisplay(X[:, 0], X[:, 1], np.arange(150) % 20, classes=range(20)).plot()
    assert labels(several.legend_.get_texts())[-1] == "14 other classes"


def test_pairs_show_missing_values_and_categories():
    X, _ = data()
    y = pd.Series(X[:, 1] * X[:, 4], name="yield")
    table = pd.DataFrame({"dose": np.where(X[:, 0] > 1, np.nan, X[:, 1])})
    table["site"] = pd.Series(np.where(X[:, 2] > 1, None, np.where(X[:, 4] > 0, "north", "south")))
    table["open"] = X[:, 3] > 0
    selector = L1LSMI(2, random_state=0).fit(table, y)
    display = PairDisplay.from_estimator(selector, table, y, features=("dose", "site"))
    (points,), ax = display.points_, display.ax_
    x, at = points.get_offsets().T
    has_dose = table["dose"].notna().to_numpy()
    np.testing.assert_array_equal(x[has_dose], table["dose"][has_dose])
    assert x[~has_dose].max() < table["dose"].min()
    assert labels(ax.get_xticklabels())[0] == "missing"
    levels = labels(ax.get_yticklabels())
    assert sorted(levels[:2]) == ["north", "south"] and levels[2] == "missing"
    assert [levels[i] for i in at.round().astype(int)] == table["site"].fillna("missing").tolist()
    np.testing.assert_allclose(points.get_array(), y)
    assert display.colorbar_.ax.get_ylabel() == "yield" and display.legend_ is None
    yes_no = PairDisplay.from_estimator(selector, table, y, features=("open", "dose"))
    assert labels(yes_no.ax_.get_xticklabels()) == ["no", "yes"]


def test_pairs_of_several_targets_and_of_sparse_tables():
    from scipy.sparse import csr_array

    X, y = data()
    both = pd.DataFrame({"sum": X[:, 0] + X[:, 3], "sign": np.where(y, "same", "other")})
    selector = L1LSMI(2, random_state=0).fit(X, both)
    assert PairDisplay.from_estimator(selector, X, both).colorbar_.ax.get_ylabel() == "sum"
    display = PairDisplay.from_estimator(selector, csr_array(X), both, target="sign", features=(0, 5))
    assert labels(display.legend_.get_texts()) == ["other", "same"]
    assert display.legend_.get_title().get_text() == "sign"
    np.testing.assert_array_equal(display.points_[1].get_offsets(), X[y][:, [0, 5]])
    with pytest.raises(ValueError, match="target='sine' is none of the targets: pass one of 'sum', 'sign'"):
        PairDisplay.from_estimator(selector, X, both, target="sine")
