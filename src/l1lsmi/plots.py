"""Plots of a fitted selector with matplotlib (``pip install 'l1lsmi[plot]'``).

Each function draws on the given axes, or on those of a new figure, and returns them. No function calls
``plt.show`` or changes ``rcParams``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.explain import PathStep, PathTable, interactions, path_table, score_by_size
from l1lsmi.explain._fitted import column_names, selected_columns

__all__ = ["plot_interactions", "plot_path", "plot_score_by_k", "plot_weights"]

# The colour-blind safe palette of Okabe and Ito, without yellow, which is too pale for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY, PALE = "#666666", "#C8C8C8"
# Interaction is blue and redundancy is orange, as in a report.
REDUNDANCY, NEUTRAL, INTERACTION = "#B4500F", "#FCFCFA", "#0A6A8A"
#: Largest numbers of lines with a name, lines without one, and bars.
MAX_NAMED, MAX_PALE, MAX_BARS = 12, 18, 30
#: Matrices with at most this many features show their numbers.
MAX_ANNOTATED = 8
#: Longest name, in characters.
MAX_NAME = 22


def plot_path(selector: Any, ax: Any = None) -> Any:
    """Plot the search path.

    For the l1 strategies, each line is the share of a feature in the total weight along the path; selected
    features are coloured and named. For greedy and exhaustive searches, the line is the score, and each
    step is labelled with its feature. Names are placed to the right of the axes: create your own figures
    with ``layout="constrained"`` to make room for them.

    Parameters
    ----------
    selector : fitted selector
        One with a path: `L1LSMI`, `L1HSIC`, or `FeatureSelector` with any strategy but `Ranking`.
    ax : matplotlib Axes or None, default=None
        None makes a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.plots import plot_path
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> ax = plot_path(L1LSMI(2, random_state=0).fit(X, X[:, 1] * X[:, 4] > 0))
    >>> ax.get_xlabel()
    'features left'
    >>> matplotlib.pyplot.close(ax.figure)
    """
    path = path_table(selector)
    if path.kind == "none":
        raise ValueError(
            f"{type(selector).__name__} has no path to plot: use plot_weights, or a selector with a path, "
            "such as L1LSMI."
        )
    ax = _axes(ax)
    names = column_names(selector)
    if path.kind == "radii":
        _draw_radii(ax, path, selected_columns(selector), names)
    else:
        _draw_steps(ax, path, names)
    return _tidy(ax)


def plot_weights(selector: Any, ax: Any = None) -> Any:
    """Plot the weights of the selected features as bars, in decreasing order.

    Parameters
    ----------
    selector : fitted selector
        One with ``weights_`` or ``scores_``; the weights are plotted where it has both.
    ax : matplotlib Axes or None, default=None
        None makes a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.plots import plot_weights
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> ax = plot_weights(L1LSMI(2, random_state=0).fit(X, X[:, 1] * X[:, 4] > 0))
    >>> sorted(label.get_text() for label in ax.get_yticklabels())
    ['x1', 'x4']
    >>> matplotlib.pyplot.close(ax.figure)
    """
    selected = selected_columns(selector)
    what = next((name for name in ("weights_", "scores_") if hasattr(selector, name)), None)
    if what is None:
        raise ValueError(f"{type(selector).__name__} has neither weights_ nor scores_: use plot_path.")
    ax = _axes(ax)
    values = np.asarray(getattr(selector, what), dtype=np.float64)[selected]
    values = np.where(np.isfinite(values), values, 0.0)  # constant features have no score
    order = np.argsort(-values, kind="stable")[:MAX_BARS]
    names = column_names(selector)
    ax.barh(np.arange(order.size), values[order], color=COLOURS[0], height=0.7)
    ax.set_yticks(np.arange(order.size), [_short(names[selected[i]]) for i in order])
    ax.set_ylim(order.size - 0.5, -0.5)
    label = what[:-2]  # "weight" or "score"
    n_hidden = selected.size - order.size
    ax.set_xlabel(f"{label} ({n_hidden} more features not shown)" if n_hidden else label)
    ax.tick_params(axis="y", length=0)
    return _tidy(ax)


def plot_score_by_k(selector: Any, X: Any = None, y: Any = None, ax: Any = None) -> Any:
    """Plot the score against the number of features.

    With data, smaller and larger sets are scored by `l1lsmi.explain.score_by_size`, and the knee is marked:
    the size after which more features add little. Without data, the line is the best score of each size on
    the search path.

    Parameters
    ----------
    selector : fitted selector
    X : array-like of shape (n, n_features_in_), or None, default=None
    y : array-like of shape (n,), or None, default=None
        X and y have to be passed together.
    ax : matplotlib Axes or None, default=None
        None makes a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.plots import plot_score_by_k
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 1] * X[:, 4] > 0
    >>> ax = plot_score_by_k(L1LSMI(3, random_state=0).fit(X, y), X, y)
    >>> ax.lines[0].get_xdata()
    array([1, 2, 3, 4, 5, 6])
    >>> matplotlib.pyplot.close(ax.figure)
    """
    if (X is None) != (y is None):
        raise ValueError(f"{'y' if y is None else 'X'} is None: pass both X and y, or neither.")
    selected = selected_columns(selector)
    knee = None
    if X is None:
        sizes, scores = _best_by_size(selector)
    else:
        curve = score_by_size(selector, X, y)
        sizes, scores, knee = curve.sizes, curve.scores, curve.knee
    ax = _axes(ax)
    ax.plot(sizes, scores, color=COLOURS[0], marker="o", markersize=4, linewidth=1.8)
    marks = {} if knee is None else {knee: f"knee: {knee}"}
    marks[int(selected.size)] = f"selected: {selected.size}" + (" (knee)" if knee == selected.size else "")
    marks = {size: name for size, name in sorted(marks.items()) if size in sizes}
    # Two labels are aligned away from each other, so that those of neighbouring sizes do not overlap.
    sides = ("center",) if len(marks) == 1 else ("right", "left")
    for (size, name), side in zip(marks.items(), sides, strict=True):
        _mark(ax, size, float(scores[np.flatnonzero(sizes == size)[0]]), name, side)
    if sizes.max() > 50 * max(1, sizes.min()):
        ax.set_xscale("log")
    _whole_numbers(ax, sizes)
    ax.set_xlabel("number of features")
    ax.set_ylabel("score")
    ax.margins(x=0.1, y=0.15)
    return _tidy(ax)


def plot_interactions(selector: Any, X: Any, y: Any, ax: Any = None) -> Any:
    """Plot the interactions of pairs of selected features: positive ones are blue, negative ones orange.

    Parameters
    ----------
    selector : fitted selector
        At most 20 features are plotted, those with the largest weights.
    X : array-like of shape (n, n_features_in_)
    y : array-like of shape (n,)
    ax : matplotlib Axes or None, default=None
        None makes a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.plots import plot_interactions
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 1] * X[:, 4] > 0
    >>> ax = plot_interactions(L1LSMI(2, random_state=0).fit(X, y), X, y)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['x1', 'x4']
    >>> matplotlib.pyplot.close(ax.figure)
    """
    found = interactions(selector, X, y)
    ax = _axes(ax)
    f = found.columns.size
    shown = np.ma.array(found.matrix, mask=np.eye(f, dtype=bool))
    most = max(float(np.abs(found.matrix).max(initial=0.0)), 0.01)
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("interaction", [REDUNDANCY, NEUTRAL, INTERACTION])
    image = ax.imshow(shown, cmap=colours, vmin=-most, vmax=most)
    names = [_short(name) for name in found.names]
    ax.set_xticks(np.arange(f), names, rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(np.arange(f), names)
    ax.tick_params(length=0)
    if f <= MAX_ANNOTATED:
        for a, b in zip(*np.nonzero(~np.eye(f, dtype=bool)), strict=True):
            value = float(found.matrix[a, b])
            colour = "white" if abs(value) > 0.6 * most else "black"
            ax.text(b, a, f"{value:.2f}", ha="center", va="center", color=colour, fontsize="small")
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8)
    bar.set_label("score of the pair minus scores alone")
    bar.outline.set_visible(False)
    ax.spines[:].set_visible(False)
    return ax


# -- parts of the plots -----------------------------------------------------------------------


def _draw_radii(ax: Any, path: PathTable, selected: HostArray, names: tuple[str, ...]) -> None:
    """One line per feature: coloured where it is selected, pale otherwise."""
    steps = sorted(path.steps, key=lambda step: -(step.radius or 0.0))
    path = PathTable(path.kind, tuple(step for step in steps if step.size))
    columns, weights = path.lines(len(names))
    keep = np.isin(columns, selected) | (np.cumsum(~np.isin(columns, selected)) <= MAX_PALE)
    columns, weights = columns[keep], weights[keep]
    shares = 100 * weights / _totals(path)
    places = np.arange(len(path.steps))
    chosen = np.isin(columns, selected)
    for share in shares[~chosen]:
        ax.plot(places, _until_zero(share), color=PALE, linewidth=0.8, zorder=1)
    ends: list[tuple[float, str, str]] = []
    for i, row in enumerate(np.flatnonzero(chosen)[:MAX_NAMED]):
        colour = COLOURS[i % len(COLOURS)]
        style = "-" if shares[row][-1] > 0 else "--"
        ax.plot(places, _until_zero(shares[row]), color=colour, linewidth=1.8, linestyle=style, zorder=2)
        ends.append((float(shares[row][-1]), _short(names[columns[row]]), colour))
    sizes = [step.size for step in path.steps]
    some = np.unique(np.linspace(0, places.size - 1, min(places.size, 8)).round().astype(int))
    ax.set_xticks(some, [f"{sizes[i]:,}" for i in some])
    ax.set_xlim(0, max(places.size - 1, 1))
    ax.set_ylim(bottom=0)
    ax.set_xlabel("features left")
    ax.set_ylabel("share of the weight (%)")
    _name_ends(ax, ends)
    n_hidden = int(selected.size) - len(ends)
    notes = [f"{n_hidden} more selected features not shown"] if n_hidden else []
    if any(end[0] == 0 for end in ends):
        notes.append("dashed: selected by an exchange after the path")
    if notes:
        ax.set_title("; ".join(notes), fontsize="small", color=GREY, loc="left")


def _totals(path: PathTable) -> HostArray:
    """Sum of all weights at each step."""
    return np.array([1.0 if s.weights is None else float(s.weights.sum()) for s in path.steps])


def _until_zero(share: HostArray) -> HostArray:
    """A line that ends at the 0 after its last positive value."""
    line = share.copy()
    present = np.flatnonzero(share > 0)
    if present.size:
        line[present[-1] + 2 :] = np.nan
    return line


def _draw_steps(ax: Any, path: PathTable, names: tuple[str, ...]) -> None:
    """The score of every step, labelled with the feature that was added or removed."""
    sizes = np.array([step.size for step in path.steps])
    scores = np.array([step.score for step in path.steps])
    by_size = np.unique(sizes).size > 1
    places = sizes if by_size else np.arange(1, sizes.size + 1)
    ax.plot(places, scores, color=COLOURS[0], marker="o", markersize=4, linewidth=1.8)
    grows = by_size and sizes[-1] > sizes[0]
    for i in range(max(0, len(path.steps) - MAX_NAMED), len(path.steps)):  # the last steps matter most
        label = _step_name(path.steps[i], names, grows)
        if label:
            above = {"xytext": (0, 6), "textcoords": "offset points", "ha": "center", "va": "bottom"}
            ax.annotate(label, (places[i], scores[i]), rotation=90, fontsize="small", color=GREY, **above)
    # Space for the labels above the highest point.
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.6 * (high - low))
    _whole_numbers(ax, places)
    ax.set_xlabel("number of features" if by_size else "improvements found")
    ax.set_ylabel("score")
    if by_size and not grows:
        ax.invert_xaxis()


def _step_name(step: PathStep, names: tuple[str, ...], grows: bool) -> str:
    if step.feature is None:
        return ""
    return ("+ " if grows else "- ") + _short(names[step.feature])


def _best_by_size(selector: Any) -> tuple[HostArray, HostArray]:
    """The best score of each size on the path."""
    best: dict[int, float] = {}
    for step in path_table(selector).steps:
        if step.size:
            best[step.size] = max(best.get(step.size, -np.inf), step.score)
    if not best:
        raise ValueError(
            f"{type(selector).__name__} has no path with scores: pass X and y to score sets of each size."
        )
    sizes = np.array(sorted(best))
    return sizes, np.array([best[size] for size in sizes.tolist()])


def _mark(ax: Any, size: int, score: float, name: str, side: str) -> None:
    """A ring around a point, a vertical line through it and a label above the axes."""
    ax.plot([size], [score], marker="o", markersize=9, color=COLOURS[1], fillstyle="none", linestyle="none")
    across = ax.get_xaxis_transform()
    ax.vlines(size, 0, 1, transform=across, color=COLOURS[1], linewidth=0.8, linestyle="--", zorder=0.5)
    ax.text(size, 1.01, name, transform=across, ha=side, va="bottom", color=COLOURS[1], fontsize="small")


def _name_ends(ax: Any, ends: list[tuple[float, str, str]]) -> None:
    """Names to the right of the lines, moved apart where they would overlap, with a connecting line."""
    from scipy.optimize import isotonic_regression

    low, high = ax.get_ylim()
    gap = 0.055 * (high - low)
    ends = sorted(ends)
    places = gap * np.arange(len(ends))
    # The heights closest to the true ones, in least squares, with a gap between any two.
    heights = isotonic_regression(np.array([end[0] for end in ends]) - places).x + places
    heights = np.minimum(np.maximum(heights, low + places), high - places[::-1])
    for height, (end, name, colour) in zip(heights.tolist(), ends, strict=True):
        ax.annotate(
            name,
            (1, end),
            xycoords=("axes fraction", "data"),
            xytext=(1.04, height),
            textcoords=("axes fraction", "data"),
            va="center",
            color=colour,
            fontsize="small",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.6,
                "shrinkA": 0,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
        )


def _whole_numbers(ax: Any, sizes: HostArray) -> None:
    """At most 12 ticks, all at existing sizes."""
    there = np.unique(sizes)
    some = there if there.size <= 12 else there[np.linspace(0, there.size - 1, 8).round().astype(int)]
    ax.set_xticks(some, [f"{size:,}" for size in some.tolist()])
    ax.minorticks_off()


def _short(name: str) -> str:
    """A name on one short line, with dollar signs escaped, which would begin a formula."""
    name = " ".join(name.split()) or "(no name)"
    if len(name) > MAX_NAME:
        name = f"{name[: MAX_NAME - 8]}\u2026{name[-7:]}"
    return name.replace("$", r"\$")


def _axes(ax: Any) -> Any:
    if ax is not None:
        if not hasattr(ax, "plot") or not hasattr(ax, "figure"):
            raise ValueError(f"ax is a {type(ax).__name__}: pass matplotlib Axes, or None for a new figure.")
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("Plots need matplotlib: pip install 'l1lsmi[plot]'.") from None
    return plt.subplots(layout="constrained")[1]


def _tidy(ax: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    return ax
