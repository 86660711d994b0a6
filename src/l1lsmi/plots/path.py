"""The search path."""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.explain import PathStep, PathTable, path_table
from l1lsmi.explain._fitted import column_names, selected_columns
from l1lsmi.plots._axes import COLOURS, GREY, PALE, axes_of, short_name, ticks_at, without_frame

#: Largest numbers of lines with a name, and of lines without one.
MAX_NAMED, MAX_PALE = 12, 18


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
        name = type(selector).__name__
        if hasattr(selector, "path_"):
            raise ValueError(
                f"The search of {name} ended before it needed a path: use plot_weights, or search with "
                "FeatureSelector(strategy=L1Path(terms=False))."
            )
        raise ValueError(
            f"{name} has no path to plot: use plot_weights, or a selector with a path, such as L1LSMI."
        )
    ax = axes_of(ax)
    names = column_names(selector)
    if path.kind == "radii":
        _draw_radii(ax, path, selected_columns(selector), names)
    else:
        _draw_steps(ax, path, names)
    return without_frame(ax)


def _draw_radii(ax: Any, path: PathTable, selected: HostArray, names: tuple[str, ...]) -> None:
    """One line per feature: coloured where it is selected, pale otherwise."""
    steps = sorted(path.steps, key=lambda step: -(step.radius or 0.0))
    path = PathTable(path.kind, tuple(step for step in steps if step.size))
    columns, weights = path.lines(len(names))
    keep = np.isin(columns, selected) | (np.cumsum(~np.isin(columns, selected)) <= MAX_PALE)
    columns, weights = columns[keep], weights[keep]
    shares = 100 * weights / _totals(path)
    places = np.arange(len(path.steps))
    is_selected = np.isin(columns, selected)
    for share in shares[~is_selected]:
        ax.plot(places, _until_zero(share), color=PALE, linewidth=0.8, zorder=1)
    ends: list[tuple[float, str, str]] = []
    for i, row in enumerate(np.flatnonzero(is_selected)[:MAX_NAMED]):
        colour = COLOURS[i % len(COLOURS)]
        style = "-" if shares[row][-1] > 0 else "--"
        ax.plot(places, _until_zero(shares[row]), color=colour, linewidth=1.8, linestyle=style, zorder=2)
        ends.append((float(shares[row][-1]), short_name(names[columns[row]]), colour))
    sizes = [step.size for step in path.steps]
    some = np.unique(np.linspace(0, places.size - 1, min(places.size, 8)).round().astype(int))
    ax.set_xticks(some, [f"{sizes[i]:,}" for i in some])
    ax.set_xlim(0, max(places.size - 1, 1))
    ax.set_ylim(bottom=0)
    ax.set_xlabel("features left")
    ax.set_ylabel("share of the weight (%)")
    if ends:
        _name_ends(ax, ends)
    n_hidden = int(selected.size) - len(ends)
    notes = [f"{n_hidden} more selected features not shown"] if n_hidden else []
    if any(end[0] == 0 for end in ends):
        notes.append("dashed: selected, but not by this path")
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
    ticks_at(ax, places)
    ax.set_xlabel("number of features" if by_size else "improvements found")
    ax.set_ylabel("score")
    if by_size and not grows:
        ax.invert_xaxis()


def _step_name(step: PathStep, names: tuple[str, ...], grows: bool) -> str:
    if step.feature is None:
        return ""
    return ("+ " if grows else "- ") + short_name(names[step.feature])


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
