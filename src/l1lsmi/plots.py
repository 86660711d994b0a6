"""Pictures of a selection, drawn with matplotlib (``pip install 'l1lsmi[plot]'``).

Each function draws on the axes it is given, or on those of a new figure, and returns them. Nothing is
shown and no setting is changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.explain import PathTable, Station, interactions, path_table, score_by_size
from l1lsmi.explain._study import column_names, selected_columns

__all__ = ["plot_interactions", "plot_path", "plot_score_by_k", "plot_weights"]

# Colours that people with any kind of colour vision can tell apart (Okabe and Ito), without the yellow,
# which is too pale for a line.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY, PALE = "#666666", "#C8C8C8"
# What pairs say beyond their sum is blue and what they overlap in is orange, as in a report.
OVERLAP, NEITHER, BEYOND = "#B4500F", "#FCFCFA", "#0A6A8A"
#: Lines with a name, lines without one, bars.
MOST_NAMED, MOST_PALE, MOST_BARS = 12, 18, 30
#: Matrices of at most so many features have their numbers written in.
MOST_WITH_NUMBERS = 8
#: Characters of a name that are shown.
LONGEST_NAME = 22


def plot_path(selector: Any, ax: Any = None) -> Any:
    """Draw the way to the selection.

    For a weighting, each line is a feature and shows its share of the weight as ever fewer features are
    left; the selected ones have colours and names. For a forward or backward search, the line is the
    score, and each step has the name of its feature. Names stand to the right of the axes, where a figure
    of your own has room for them with ``layout="constrained"``.

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
            f"{type(selector).__name__} has no path to draw: use plot_weights, or a selector that searches, "
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
    """Draw the weights of the selected features as bars, the heaviest first.

    Parameters
    ----------
    selector : fitted selector
        One with ``weights_`` or ``scores_``; the former are drawn where there are both.
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
        raise ValueError(
            f"{type(selector).__name__} has neither weights nor scores of single features: use plot_path."
        )
    ax = _axes(ax)
    values = np.asarray(getattr(selector, what), dtype=np.float64)[selected]
    values = np.where(np.isfinite(values), values, 0.0)  # constant features have none
    order = np.argsort(-values, kind="stable")[:MOST_BARS]
    names = column_names(selector)
    ax.barh(np.arange(order.size), values[order], color=COLOURS[0], height=0.7)
    ax.set_yticks(np.arange(order.size), [_short(names[selected[i]]) for i in order])
    ax.set_ylim(order.size - 0.5, -0.5)
    label = what[:-2]  # "weight" or "score"
    rest = selected.size - order.size
    ax.set_xlabel(f"{label} (and {rest} more features)" if rest else label)
    ax.tick_params(axis="y", length=0)
    return _tidy(ax)


def plot_score_by_k(selector: Any, X: Any = None, y: Any = None, ax: Any = None) -> Any:
    """Draw how much sets of growing size say about the target.

    With data, sets inside and around the selected one are scored by `l1lsmi.explain.score_by_size`, and
    the size beyond which more features add little is marked. Without data, the line is what the search
    itself has seen of each size.

    Parameters
    ----------
    selector : fitted selector
    X : array-like of shape (n, n_features_in_), or None, default=None
    y : array-like of shape (n,), or None, default=None
        Both or neither.
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
    # Names lean away from each other, so that those of neighbouring sizes do not overlap.
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
    """Draw which pairs of selected features say more (blue), or less (orange), together than one by one.

    Parameters
    ----------
    selector : fitted selector
        Of more than 20 selected features, the heaviest are drawn.
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

    colours = LinearSegmentedColormap.from_list("together", [OVERLAP, NEITHER, BEYOND])
    image = ax.imshow(shown, cmap=colours, vmin=-most, vmax=most)
    names = [_short(name) for name in found.names]
    ax.set_xticks(np.arange(f), names, rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(np.arange(f), names)
    ax.tick_params(length=0)
    if f <= MOST_WITH_NUMBERS:
        for a, b in zip(*np.nonzero(~np.eye(f, dtype=bool)), strict=True):
            value = float(found.matrix[a, b])
            colour = "white" if abs(value) > 0.6 * most else "black"
            ax.text(b, a, f"{value:.2f}", ha="center", va="center", color=colour, fontsize="small")
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8)
    bar.set_label("together minus one by one")
    bar.outline.set_visible(False)
    ax.spines[:].set_visible(False)
    return ax


# -- parts of the pictures --------------------------------------------------------------------


def _draw_radii(ax: Any, path: PathTable, selected: HostArray, names: tuple[str, ...]) -> None:
    """Lines of features: pale ones for those that fell by the wayside, colours for the selected."""
    stations = sorted(path.stations, key=lambda station: -(station.radius or 0.0))
    path = PathTable(path.kind, tuple(station for station in stations if station.size))
    columns, weights = path.lines(len(names))
    keep = np.isin(columns, selected) | (np.cumsum(~np.isin(columns, selected)) <= MOST_PALE)
    columns, weights = columns[keep], weights[keep]
    shares = 100 * weights / _totals(path)
    places = np.arange(len(path.stations))
    chosen = np.isin(columns, selected)
    for share in shares[~chosen]:
        ax.plot(places, _until_gone(share), color=PALE, linewidth=0.8, zorder=1)
    ends: list[tuple[float, str, str]] = []
    for i, row in enumerate(np.flatnonzero(chosen)[:MOST_NAMED]):
        colour, lasted = COLOURS[i % len(COLOURS)], shares[row][-1] > 0
        style = "-" if lasted else "--"
        ax.plot(places, _until_gone(shares[row]), color=colour, linewidth=1.8, linestyle=style, zorder=2)
        ends.append((float(shares[row][-1]), _short(names[columns[row]]), colour))
    sizes = [station.size for station in path.stations]
    some = np.unique(np.linspace(0, places.size - 1, min(places.size, 8)).round().astype(int))
    ax.set_xticks(some, [f"{sizes[i]:,}" for i in some])
    ax.set_xlim(0, max(places.size - 1, 1))
    ax.set_ylim(bottom=0)
    ax.set_xlabel("features left")
    ax.set_ylabel("share of the weight (%)")
    _name_ends(ax, ends)
    rest = int(selected.size) - len(ends)
    notes = [f"{rest} more selected features are not drawn"] if rest else []
    if any(end[0] == 0 for end in ends):
        notes.append("dashed: came in by an exchange at the end")
    if notes:
        ax.set_title("; ".join(notes), fontsize="small", color=GREY, loc="left")


def _totals(path: PathTable) -> HostArray:
    """Sum of all weights at every station."""
    return np.array([1.0 if s.weights is None else float(s.weights.sum()) for s in path.stations])


def _until_gone(share: HostArray) -> HostArray:
    """A line down to its first 0; nothing is drawn where a feature is not there."""
    line = share.copy()
    present = np.flatnonzero(share > 0)
    if present.size:
        line[present[-1] + 2 :] = np.nan
    return line


def _draw_steps(ax: Any, path: PathTable, names: tuple[str, ...]) -> None:
    """The score of every step, with the feature that came or went."""
    sizes = np.array([station.size for station in path.stations])
    scores = np.array([station.score for station in path.stations])
    by_size = np.unique(sizes).size > 1
    places = sizes if by_size else np.arange(1, sizes.size + 1)
    ax.plot(places, scores, color=COLOURS[0], marker="o", markersize=4, linewidth=1.8)
    grows = by_size and sizes[-1] > sizes[0]
    for i in _worth_naming(len(path.stations)):
        label = _step_name(path.stations[i], names, grows)
        if label:
            above = {"xytext": (0, 6), "textcoords": "offset points", "ha": "center", "va": "bottom"}
            ax.annotate(label, (places[i], scores[i]), rotation=90, fontsize="small", color=GREY, **above)
    # Room for the names above the highest point.
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.6 * (high - low))
    _whole_numbers(ax, places)
    ax.set_xlabel("number of features" if by_size else "better sets found")
    ax.set_ylabel("score")
    if by_size and not grows:
        ax.invert_xaxis()


def _worth_naming(n_steps: int) -> range:
    """The last steps, where the features are that matter."""
    return range(max(0, n_steps - MOST_NAMED), n_steps)


def _step_name(station: Station, names: tuple[str, ...], grows: bool) -> str:
    if station.feature is None:
        return ""
    return ("+ " if grows else "- ") + _short(names[station.feature])


def _best_by_size(selector: Any) -> tuple[HostArray, HostArray]:
    """The best score that a search has seen for every size."""
    best: dict[int, float] = {}
    for station in path_table(selector).stations:
        if station.size:
            best[station.size] = max(best.get(station.size, -np.inf), station.score)
    if not best:
        raise ValueError(
            f"{type(selector).__name__} has no path to take scores from: pass X and y, which are scored then."
        )
    sizes = np.array(sorted(best))
    return sizes, np.array([best[size] for size in sizes.tolist()])


def _mark(ax: Any, size: int, score: float, name: str, side: str) -> None:
    """A ring, a rule through it and a name on top of the axes, where no line is."""
    ax.plot([size], [score], marker="o", markersize=9, color=COLOURS[1], fillstyle="none", linestyle="none")
    across = ax.get_xaxis_transform()
    ax.vlines(size, 0, 1, transform=across, color=COLOURS[1], linewidth=0.8, linestyle="--", zorder=0.5)
    ax.text(size, 1.01, name, transform=across, ha=side, va="bottom", color=COLOURS[1], fontsize="small")


def _name_ends(ax: Any, ends: list[tuple[float, str, str]]) -> None:
    """Names beside the right ends of lines, moved apart where they would overlap, with a thin tie."""
    from scipy.optimize import isotonic_regression

    low, high = ax.get_ylim()
    gap = 0.055 * (high - low)
    ends = sorted(ends)
    places = gap * np.arange(len(ends))
    # The heights closest to the true ones that leave a gap between any two.
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
    """Ticks at sizes that are there, not too many."""
    there = np.unique(sizes)
    some = there if there.size <= 12 else there[np.linspace(0, there.size - 1, 8).round().astype(int)]
    ax.set_xticks(some, [f"{size:,}" for size in some.tolist()])
    ax.minorticks_off()


def _short(name: str) -> str:
    """A name in one short line; a dollar sign is a dollar sign, not the beginning of a formula."""
    name = " ".join(name.split()) or "(no name)"
    if len(name) > LONGEST_NAME:
        name = f"{name[: LONGEST_NAME - 8]}\u2026{name[-7:]}"
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
