"""The search path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.explain import PathStep, PathTable, path_table
from l1lsmi.explain._fitted import column_names, selected_columns
from l1lsmi.plots._axes import (
    Display,
    Palette,
    check_axes,
    font_points,
    names_of,
    points_of,
    short_names,
    ticks_at,
    with_style,
    without_frame,
)

#: Largest numbers of lines with a name, and of lines of features that are not selected.
MAX_NAMED, MAX_PALE = 12, 18


class SelectionPathDisplay(Display):
    """The search path of a selection.

    For the l1 strategies, each line is the share of a feature in the total weight along the path; selected
    features are coloured and named. For greedy and exhaustive searches, the line is the score of the sets,
    and each step is labelled with the feature that it added or removed.

    Parameters
    ----------
    path : PathTable
        From `l1lsmi.explain.path_table`.
    names : sequence of str or None, default=None
        Names of all features; None is x0, x1, ...
    selected : array-like of int, default=()
        The selected features.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        One line for each selected feature, or the line of the score.
    other_lines_ : list of matplotlib Line2D
        Lines of features that are not selected: the 18 that stay longest on the path, or fewer.
    columns_, other_columns_ : numpy.ndarray of int
        The feature of each of these lines; empty for the line of the score.
    texts_ : list of matplotlib Annotation
        The names.

    See Also
    --------
    ScoreBySizeDisplay : The score against the number of features.

    Notes
    -----
    Names are to the right of the axes: make your own figures with ``layout="constrained"``, so that there is
    room for them.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.plots import SelectionPathDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> selector = L1LSMI(2, random_state=0).fit(X, X[:, 1] * X[:, 4] > 0)
    >>> display = SelectionPathDisplay.from_estimator(selector)
    >>> display.ax_.get_xlabel(), sorted(text.get_text() for text in display.texts_)
    ('features left', ['x1', 'x4'])
    >>> matplotlib.pyplot.close(display.figure_)
    """

    lines_: list[Any]
    other_lines_: list[Any]
    columns_: HostArray
    other_columns_: HostArray
    texts_: list[Any]

    def __init__(self, path: PathTable, *, names: Sequence[Any] | None = None, selected: Any = ()) -> None:
        if not isinstance(path, PathTable):
            raise ValueError(f"path={path!r:.60} is not a path: pass what explain.path_table returns.")
        self.path = path
        self.selected = np.asarray(selected, dtype=np.intp)
        n_features = 1 + max((int(step.support.max(initial=-1)) for step in path.steps), default=-1)
        self.names = names_of(names, n_features, "path") if names is None else tuple(map(str, names))
        if len(self.names) < n_features:
            raise ValueError(
                f"names has {len(self.names)} entries, but path has at least {n_features} features: pass one "
                "name per feature."
            )

    @classmethod
    def from_estimator(
        cls, selector: Any, *, feature_names: Sequence[Any] | None = None, ax: Any = None, **style: Any
    ) -> Self:
        """Draw the search path of a fitted selector.

        Parameters
        ----------
        selector : fitted selector
            A selector with a path: `L1LSMI`, `L1HSIC`, or `FeatureSelector` with any strategy but `Ranking`.
        feature_names : sequence of str or None, default=None
            Names of all features; None takes those of the selector, or x0, x1, ...
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        **style : dict
            As in `plot`.

        Returns
        -------
        SelectionPathDisplay
        """
        check_axes(ax)
        path = path_table(selector)
        if path.kind == "none":
            name = type(selector).__name__
            if hasattr(selector, "path_"):
                raise ValueError(
                    f"The search of {name} ended before it needed a path: use WeightsDisplay, or search with "
                    "FeatureSelector(strategy=L1Path(terms=False))."
                )
            raise ValueError(
                f"{name} has no path to plot: use WeightsDisplay, or a selector with a path, such as L1LSMI."
            )
        names = column_names(selector, feature_names)
        return cls(path, names=names, selected=selected_columns(selector)).plot(ax, **style)

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        **style : dict
            Keyword arguments of matplotlib's ``plot``, for the lines of selected features or for the line of
            the score.

        Returns
        -------
        self : SelectionPathDisplay
        """
        steps = [step for step in self.path.steps if step.size or self.path.kind != "radii"]
        if not steps:
            raise ValueError("path has no steps: pass the path of a search that has some.")
        palette = self._begin(ax)
        self.lines_, self.other_lines_, self.texts_ = [], [], []
        self.columns_ = self.other_columns_ = np.empty(0, dtype=np.intp)
        if self.path.kind == "radii":
            steps.sort(key=lambda step: -(step.radius or 0.0))
            self._plot_radii(PathTable(self.path.kind, tuple(steps)), palette, style)
        else:
            self._plot_steps(steps, palette, style)
        without_frame(self.ax_)
        return self

    def _plot_radii(self, path: PathTable, palette: Palette, style: dict[str, Any]) -> None:
        """One line per feature: coloured where it is selected, pale otherwise."""
        from matplotlib.lines import Line2D

        ax = self.ax_
        columns, weights = path.lines(len(self.names))
        shares = 100 * weights / _totals(path)
        places = np.arange(len(path.steps))
        is_selected = np.isin(columns, self.selected)
        self.columns_, self.other_columns_ = columns[is_selected], columns[~is_selected][:MAX_PALE]
        for share in shares[~is_selected][:MAX_PALE]:
            self.other_lines_ += ax.plot(
                places, _until_zero(share), color=palette.pale, linewidth=0.8, zorder=1
            )
        font = font_points("small")
        n_named = max(1, min(MAX_NAMED, int(points_of(ax)[1] / (1.3 * font))))
        short = short_names(self.names[j] for j in columns[is_selected][:n_named])
        ends: list[tuple[float, str, str]] = []
        for i, share in enumerate(shares[is_selected]):
            dashes = "-" if share[-1] > 0 else "--"
            named = i < n_named
            colour = palette.lines[i % len(palette.lines)] if named else palette.grey
            look = {"color": colour, "linewidth": 1.8 if named else 1.0, "linestyle": dashes, "zorder": 2}
            self.lines_ += ax.plot(places, _until_zero(share), **with_style(style, Line2D, **look))
            if named:
                ends.append((float(share[-1]), short[i], self.lines_[-1].get_color()))
        sizes = [step.size for step in path.steps]
        some = np.unique(np.linspace(0, places.size - 1, min(places.size, 8)).round().astype(int))
        ax.set_xticks(some, [f"{sizes[i]:,}" for i in some])
        ax.set_xlim(0, max(places.size - 1, 1))
        ax.set_ylim(bottom=0)
        ax.set_xlabel("features left")
        ax.set_ylabel("share of the weight (%)")
        if ends:
            self.texts_ = _name_ends(ax, ends, font)
        n_unnamed = int(is_selected.sum()) - len(ends)
        notes = [f"grey: {n_unnamed} more selected features"] if n_unnamed else []
        if (shares[is_selected][:, -1] == 0).any():
            notes.append("dashed: selected, but not by this path")
        if notes:
            ax.set_title("; ".join(notes), fontsize="small", color=palette.grey, loc="left")

    def _plot_steps(self, steps: list[PathStep], palette: Palette, style: dict[str, Any]) -> None:
        """The score of every step, labelled with the feature that was added or removed."""
        from matplotlib.lines import Line2D

        ax = self.ax_
        sizes = np.array([step.size for step in steps])
        scores = np.array([step.score for step in steps])
        by_size = np.unique(sizes).size > 1
        places = sizes if by_size else np.arange(1, sizes.size + 1)
        look = {"color": palette.lines[0], "marker": "o", "markersize": 4, "linewidth": 1.8}
        self.lines_ = ax.plot(places, scores, **with_style(style, Line2D, **look))
        grows = by_size and bool(sizes[-1] > sizes[0])
        self._name_steps(steps, places, scores, "+ " if grows else "- ", palette.grey)
        ax.set_xlabel("number of features" if by_size else "improvements found")
        ax.set_ylabel("score")
        ticks_at(ax, places.tolist())
        if by_size and not grows:
            ax.invert_xaxis()

    def _name_steps(
        self, steps: list[PathStep], places: HostArray, scores: HostArray, sign: str, colour: str
    ) -> None:
        """Write names above the points, from the last step on, and leave out names that would overlap."""
        ax, font = self.ax_, font_points("small")
        moved = [i for i, step in enumerate(steps) if step.feature is not None]
        names = dict(zip(moved, short_names(self.names[steps[i].feature or 0] for i in moved), strict=True))
        low, high = ax.get_xlim()
        width, height = points_of(ax)
        apart = 1.3 * font * (high - low) / width
        named: list[int] = []
        for i in reversed(moved):
            if not named or abs(places[i] - places[named[-1]]) >= apart:
                named.append(i)
        longest = max((len(names[i]) + 2 for i in named), default=0)
        share = min(0.65, (0.6 * font * longest + 8) / height) if named else 0.0
        bottom, top = ax.get_ylim()
        ax.set_ylim(bottom, bottom + (top - bottom) / (1 - share))
        # Above the line within the width of a letter, so that the line does not cross the names.
        order = np.argsort(places, kind="stable")
        around = places[:, None] + 0.5 * apart * np.array([-1, 0, 1])
        heights = np.interp(around, places[order], scores[order]).max(axis=1)
        for i in reversed(named):
            label = ax.annotate(
                sign + names[i],
                (places[i], heights[i]),
                xytext=(0, 6),
                textcoords="offset points",
                ha="center",
                va="bottom",
                rotation=90,
                fontsize=font,
                color=colour,
            )
            self.texts_.append(label)


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


def _name_ends(ax: Any, ends: list[tuple[float, str, str]], font: float) -> list[Any]:
    """Names to the right of the lines, moved apart where they would overlap, with a connecting line."""
    from scipy.optimize import isotonic_regression

    low, high = ax.get_ylim()
    gap = (high - low) * min(1.3 * font / points_of(ax)[1], 1 / len(ends))
    ends = sorted(ends)
    places = gap * np.arange(len(ends))
    # The heights closest to the true ones, in least squares, with a gap between any two.
    heights = isotonic_regression(np.array([end[0] for end in ends]) - places).x + places
    heights = np.minimum(np.maximum(heights, low + places), high - places[::-1])
    look = {"arrowstyle": "-", "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0, "relpos": (0, 0.5)}
    return [
        ax.annotate(
            name,
            (1, end),
            xycoords=("axes fraction", "data"),
            xytext=(1.04, height),
            textcoords=("axes fraction", "data"),
            va="center",
            color=colour,
            fontsize=font,
            annotation_clip=False,
            arrowprops={**look, "color": colour},
        )
        for height, (end, name, colour) in zip(heights.tolist(), ends, strict=True)
    ]
