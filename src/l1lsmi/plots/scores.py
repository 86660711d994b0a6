"""Weights, scores by size, and interactions."""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.explain import interactions, path_table, score_by_size
from l1lsmi.explain._evidence import curve_of
from l1lsmi.explain._fitted import NO_FEATURES, column_names, selected_columns
from l1lsmi.plots._axes import COLOURS, PALE, axes_of, short_name, ticks_at, without_frame

# Interaction is blue and redundancy is orange, as in a report.
REDUNDANCY, NEUTRAL, INTERACTION = "#B4500F", "#FCFCFA", "#0A6A8A"
MAX_BARS = 30
#: Matrices with at most this many features show their numbers.
MAX_ANNOTATED = 8


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
    if not selected.size:
        raise ValueError(f"{NO_FEATURES}: there are no weights to plot.")
    what = next((name for name in ("weights_", "scores_") if hasattr(selector, name)), None)
    if what is None:
        raise ValueError(f"{type(selector).__name__} has neither weights_ nor scores_: use plot_path.")
    ax = axes_of(ax)
    values = np.asarray(getattr(selector, what), dtype=np.float64)[selected]
    values = np.where(np.isfinite(values), values, 0.0)  # constant features have no score
    order = np.argsort(-values, kind="stable")[:MAX_BARS]
    names = column_names(selector)
    ax.barh(np.arange(order.size), values[order], color=COLOURS[0], height=0.7)
    ax.set_yticks(np.arange(order.size), [short_name(names[selected[i]]) for i in order])
    ax.set_ylim(order.size - 0.5, -0.5)
    label = what[:-2]  # "weight" or "score"
    n_hidden = selected.size - order.size
    ax.set_xlabel(f"{label} ({n_hidden} more features not shown)" if n_hidden else label)
    ax.tick_params(axis="y", length=0)
    return without_frame(ax)


def plot_score_by_k(selector: Any, X: Any = None, y: Any = None, ax: Any = None) -> Any:
    """Plot the score against the number of features, with the number of selected ones marked.

    Where the selector has chosen the number, the line is what sets of each size predict in rows that the
    search has not seen (``validation_``), with standard errors. Otherwise, with data, smaller and larger sets
    are scored by `l1lsmi.explain.score_by_size`. Without data, the line is the best score of each size on the
    search path.

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
    >>> ax = plot_score_by_k(L1LSMI("auto").fit(X, y))
    >>> ax.get_ylabel(), ax.texts[0].get_text()
    ('predicted in unseen rows (%)', 'selected: 2')
    >>> matplotlib.pyplot.close(ax.figure)
    """
    if (X is None) != (y is None):
        raise ValueError(f"{'y' if y is None else 'X'} is None: pass both X and y, or neither.")
    n_selected, label = int(selected_columns(selector).size), "score"
    errors, validation = None, curve_of(selector)
    if validation is not None:
        sizes, scores, errors = validation.k, 100 * validation.mean, 100 * validation.standard_error
        label = "predicted in unseen rows (%)"
    elif X is None:
        sizes, scores = _best_by_size(selector)
    else:
        curve = score_by_size(selector, X, y)
        sizes, scores = curve.sizes, curve.scores
    ax = axes_of(ax)
    ax.plot(sizes, scores, color=COLOURS[0], marker="o", markersize=4, linewidth=1.8)
    if errors is not None:
        ax.errorbar(sizes, scores, errors, fmt="none", ecolor=COLOURS[0], elinewidth=1, capsize=2)
        ax.axhline(0, color=PALE, linewidth=0.8, zorder=0.5)
    if n_selected in sizes:
        _mark(ax, n_selected, float(scores[sizes == n_selected][0]), f"selected: {n_selected:,}")
    if sizes.min() and sizes.max() > 50 * sizes.min():
        ax.set_xscale("log")
    ticks_at(ax, sizes)
    ax.set_xlabel("number of features")
    ax.set_ylabel(label)
    ax.margins(x=0.1, y=0.15)
    return without_frame(ax)


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
    ax = axes_of(ax)
    f = found.columns.size
    shown = np.ma.array(found.matrix, mask=np.eye(f, dtype=bool))
    most = max(float(np.abs(found.matrix).max(initial=0.0)), 0.01)
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("interaction", [REDUNDANCY, NEUTRAL, INTERACTION])
    image = ax.imshow(shown, cmap=colours, vmin=-most, vmax=most)
    names = [short_name(name) for name in found.names]
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


def _mark(ax: Any, size: int, score: float, name: str) -> None:
    """A ring around a point, a vertical line through it and a label above the axes."""
    ax.plot([size], [score], marker="o", markersize=9, color=COLOURS[1], fillstyle="none", linestyle="none")
    across = ax.get_xaxis_transform()
    ax.vlines(size, 0, 1, transform=across, color=COLOURS[1], linewidth=0.8, linestyle="--", zorder=0.5)
    ax.text(size, 1.01, name, transform=across, ha="center", va="bottom", color=COLOURS[1], fontsize="small")
