"""Two features against the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.explain._fitted import column_names, fitted_weights, read_columns, selected_columns, task_of
from l1lsmi.explain._values import ColumnValues, column_values, gap_of_repeated
from l1lsmi.explain.sample import encode_target, sample_target
from l1lsmi.plots._axes import (
    DARK,
    Display,
    Palette,
    check_axes,
    fitting_font,
    fitting_label,
    numbers,
    points_of,
    short_names,
    with_style,
    without_frame,
)

#: Rows that are drawn by default.
MAX_DOTS = 2000
#: Largest numbers of levels of a category and of classes; those with the most rows are shown.
MAX_LEVELS, MAX_CLASSES = 15, 7
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
MISSING = "missing"


class PairDisplay(Display):
    """Two features against the target: one dot per row, coloured by its class or by a numeric target.

    Missing values are in a strip of their own, beyond a dotted line. Levels of a category are side by side.
    Levels, and numbers that repeat, are jittered, so that dots of rows with the same values do not hide each
    other.

    Parameters
    ----------
    first, second : array-like of float, shape (n,)
        Values of the feature on the horizontal and on the vertical axis, or integer codes of the levels of a
        category; NaN where a value is missing.
    target : array-like of float, shape (n,)
        Values of the target, or integer codes of the classes.
    names : pair of str, default=("x0", "x1")
        Names of the two features.
    levels : pair of (sequence or None), default=(None, None)
        Names of the levels of each feature, in the order of their codes; None for a numeric feature.
    classes : sequence or None, default=None
        Names of the classes, in the order of their codes; None for a numeric target.
    target_name : str or None, default=None
        Title of the legend, or label of the colour bar.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    points_ : list of matplotlib PathCollection
        One for each class that is shown, or one for a numeric target.
    legend_ : matplotlib Legend or None
        For classes.
    colorbar_ : matplotlib Colorbar or None
        For a numeric target.

    See Also
    --------
    InteractionsDisplay : Which pairs act together.

    Notes
    -----
    The legend is to the right of the axes: make your own figures with ``layout="constrained"``, so that there
    is room for it.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.plots import PairDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = np.where(X[:, 1] * X[:, 4] > 0, "same sign", "other sign")
    >>> display = PairDisplay.from_estimator(L1LSMI(2, random_state=0).fit(X, y), X, y)
    >>> display.names, [text.get_text() for text in display.legend_.get_texts()]
    (('x1', 'x4'), ['other sign', 'same sign'])
    >>> matplotlib.pyplot.close(display.figure_)
    """

    points_: list[Any]
    legend_: Any
    colorbar_: Any

    def __init__(
        self,
        first: Any,
        second: Any,
        target: Any,
        *,
        names: Sequence[Any] = ("x0", "x1"),
        levels: Sequence[Sequence[Any] | None] = (None, None),
        classes: Sequence[Any] | None = None,
        target_name: str | None = None,
    ) -> None:
        self.first, self.second = numbers("first", first), numbers("second", second)
        self.target = numbers("target", target)
        for name, values in (("second", self.second), ("target", self.target)):
            if values.size != self.first.size:
                raise ValueError(
                    f"{name} has {values.size} rows, but first has {self.first.size}: pass one value per row."
                )
        for name, given in (("names", names), ("levels", levels)):
            if isinstance(given, str) or len(given) != 2:
                raise ValueError(f"{name}={given!r:.60} is not a pair: pass one entry for each feature.")
        self.names = (str(names[0]), str(names[1]))
        self.levels = (levels[0], levels[1])
        self.classes = classes
        self.target_name = target_name

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        X: Any,
        y: Any,
        *,
        features: Sequence[Any] | None = None,
        target: Any = 0,
        max_rows: int = MAX_DOTS,
        random_state: Any = 0,
        feature_names: Sequence[Any] | None = None,
        target_name: str | None = None,
        ax: Any = None,
        colorbar: bool = True,
        **style: Any,
    ) -> Self:
        """Draw two columns of the data of a fitted selector against the target.

        Parameters
        ----------
        selector : fitted selector
        X : array-like or dataframe of shape (n, n_features_in_)
            All features, selected or not.
        y : array-like of shape (n,) or (n, t)
        features : pair of str or int, or None, default=None
            Names or indices of two features, selected or not; None takes the two selected features with the
            largest weights, or the first two if the selector has no weights.
        target : int or str, default=0
            Of several targets, the index or the name of the one to draw.
        max_rows : int, default=2000
            Number of rows to draw, stratified by y.
        random_state : int, RandomState instance or None, default=0
            Seed of the sample of rows.
        feature_names : sequence of str or None, default=None
            Names of all features; None takes those of the selector, or x0, x1, ...
        target_name : str or None, default=None
            None takes the name of y, if it has one.
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        colorbar : bool, default=True
            For a numeric target: whether to draw a colour bar, which takes some of the space of the axes.
        **style : dict
            As in `plot`.

        Returns
        -------
        PairDisplay
        """
        check_axes(ax)
        selected = selected_columns(selector)
        names = column_names(selector, feature_names)
        columns = _strongest(selector, selected) if features is None else _pair(features, names)
        read, kinds = read_columns(selector, X)
        encoded = encode_target(y, task_of(selector))
        if encoded.n_rows != read.shape[0]:
            raise ValueError(
                f"X has {read.shape[0]} rows, but y has {encoded.n_rows}: pass one target per row."
            )
        rows = sample_target(encoded, max_rows, random_state)
        number, name = _one_target(encoded, target)
        one = encoded.each()[number]
        first, second = (column_values(X, read, kinds, j) for j in columns)
        named = target_name or name or getattr(y, "name", None)
        display = cls(
            first.x[rows],
            second.x[rows],
            one.codes[rows] if one.is_classification else one.decoded()[rows],
            names=[_with_unit(names[j], each) for j, each in zip(columns, (first, second), strict=True)],
            levels=(first.levels, second.levels),
            classes=None if one.classes is None else one.classes.tolist(),
            target_name=None if named is None else str(named),
        )
        return display.plot(ax, colorbar=colorbar, **style)

    def plot(self, ax: Any = None, *, colorbar: bool = True, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        colorbar : bool, default=True
            For a numeric target: whether to draw a colour bar, which takes some of the space of the axes.
        **style : dict
            Keyword arguments of matplotlib's ``scatter``.

        Returns
        -------
        self : PairDisplay
        """
        palette = self._begin(ax)
        ax, rng = self.ax_, np.random.default_rng(0)
        horizontal = _placed(self.first, self.levels[0], rng)
        vertical = _placed(self.second, self.levels[1], rng)
        self.legend_ = self.colorbar_ = None
        if self.classes is None:
            self._plot_numbers(horizontal.at, vertical.at, colorbar, palette, style)
        else:
            self._plot_classes(horizontal.at, vertical.at, palette, style)
        _finish_axis(ax, "x", horizontal, palette)
        _finish_axis(ax, "y", vertical, palette)
        width, height = points_of(ax)
        ax.set(xlabel=fitting_label(self.names[0], width), ylabel=fitting_label(self.names[1], height))
        without_frame(ax)
        return self

    def _plot_numbers(
        self, x: HostArray, y: HostArray, colorbar: bool, palette: Palette, style: dict[str, Any]
    ) -> None:
        from matplotlib import colormaps
        from matplotlib.collections import PathCollection
        from matplotlib.colors import ListedColormap

        look = with_style(style, PathCollection, s=14, linewidths=0)
        if "color" not in look:
            # Without the end of the scale that is too close to the background.
            ends = (0.3, 1.0) if palette is DARK else (0.0, 0.93)
            look.setdefault("c", self.target)
            look.setdefault("cmap", ListedColormap(colormaps["viridis"](np.linspace(*ends, 256))))
        self.points_ = [self.ax_.scatter(x, y, **look)]
        if colorbar and "color" not in look:
            self.colorbar_ = self.figure_.colorbar(self.points_[0], ax=self.ax_)
            height = points_of(self.ax_)[1]
            self.colorbar_.set_label(fitting_label(self.target_name or "target", height))
            self.colorbar_.outline.set_visible(False)

    def _plot_classes(self, x: HostArray, y: HostArray, palette: Palette, style: dict[str, Any]) -> None:
        """Every class with a colour and a marker of its own; the smallest ones together."""
        from matplotlib.collections import PathCollection

        assert self.classes is not None
        codes = self.target.astype(np.intp)
        present, counts = np.unique(codes, return_counts=True)
        n_single = present.size if present.size <= MAX_CLASSES else MAX_CLASSES - 1
        single = np.sort(present[np.argsort(-counts, kind="stable")[:n_single]])
        names = short_names(self.classes[code] for code in single)
        groups = [(codes == code, name) for code, name in zip(single, names, strict=True)]
        if single.size < present.size:
            groups.append((~np.isin(codes, single), f"{present.size - single.size:,} other classes"))
        self.points_ = []
        for i, (rows, name) in enumerate(groups):
            colour = palette.grey if i == MAX_CLASSES - 1 and single.size < present.size else palette.lines[i]
            look = {"s": 16, "color": colour, "marker": MARKERS[i], "linewidths": 0, "alpha": 0.8}
            if "c" in style or "color" in style:
                look.pop("color")
            look = with_style(style, PathCollection, **look)
            self.points_.append(self.ax_.scatter(x[rows], y[rows], label=name, **look))
        title = None if self.target_name is None else short_names([self.target_name])[0]
        place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
        self.legend_ = self.ax_.legend(
            handles=self.points_, title=title, frameon=False, fontsize="small", **place
        )
        self.legend_.get_title().set_fontsize("small")


@dataclass(frozen=True, eq=False)
class _Placed:
    """Where the values of a feature are on an axis.

    Attributes
    ----------
    at : numpy.ndarray of shape (n,)
    ticks, labels : list or None
        None for numbers without missing values, which have the ticks of matplotlib.
    edge : float or None
        Where the strip of missing values begins.
    is_category : bool
    """

    at: HostArray
    ticks: list[float] | None
    labels: list[str] | None
    edge: float | None
    is_category: bool


def _placed(values: HostArray, levels: Sequence[Any] | None, rng: np.random.Generator) -> _Placed:
    missing = ~np.isfinite(values)
    spread = rng.uniform(-0.3, 0.3, size=values.size)
    if levels is not None:
        return _placed_levels(values, missing, levels, spread)
    values = values + gap_of_repeated(values) * spread
    if not missing.any():
        return _Placed(values, None, None, None, False)
    low, high = (values[~missing].min(), values[~missing].max()) if not missing.all() else (0.0, 1.0)
    span = float(high - low) or 1.0
    strip = float(low) - 0.16 * span
    from matplotlib.ticker import MaxNLocator

    found = np.asarray(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high))
    inside = (found >= low - 0.02 * span) & (found <= high + 0.02 * span) & ~missing.all()
    ticks = found[inside].tolist()
    at = np.where(missing, strip + 0.15 * span * spread, values)
    return _Placed(at, [strip, *ticks], [MISSING, *(f"{t:g}" for t in ticks)], strip + 0.08 * span, False)


def _placed_levels(
    values: HostArray, missing: HostArray, levels: Sequence[Any], spread: HostArray
) -> _Placed:
    present, counts = np.unique(values[~missing].astype(np.intp), return_counts=True)
    n_single = present.size if present.size <= MAX_LEVELS else MAX_LEVELS - 1
    single = np.sort(present[np.argsort(-counts, kind="stable")[:n_single]])
    labels = short_names(levels[code] for code in single)
    place = np.full(values.size, single.size)
    for i, code in enumerate(single):
        place[values == code] = i
    if single.size < present.size:
        labels.append(f"{present.size - single.size:,} others")
    place[missing] = len(labels)
    edge = None
    if missing.any():
        edge = len(labels) - 0.5
        labels.append(MISSING)
    return _Placed(place + spread, list(map(float, range(len(labels)))), labels, edge, True)


def _finish_axis(ax: Any, which: str, placed: _Placed, palette: Palette) -> None:
    """Ticks of levels, and the strip of missing values."""
    if placed.edge is not None:
        line = ax.axvline if which == "x" else ax.axhline
        line(placed.edge, color=palette.grey, linewidth=0.8, linestyle=":")
    if placed.ticks is None or placed.labels is None:
        return
    n, (width, height) = len(placed.labels), points_of(ax)
    font = fitting_font(width if which == "x" else height, n)
    look: dict[str, Any] = {"fontsize": font}
    longest = max(map(len, placed.labels), default=0)
    if which == "x" and placed.is_category and n * 0.6 * font * (longest + 1) > width:
        look |= {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    (ax.set_xticks if which == "x" else ax.set_yticks)(placed.ticks, placed.labels, **look)
    if placed.is_category:
        (ax.set_xlim if which == "x" else ax.set_ylim)(-0.5, n - 0.5)


def _with_unit(name: str, column: ColumnValues) -> str:
    return name if column.unit is None else f"{name} ({column.unit})"


def _strongest(selector: Any, selected: HostArray) -> tuple[int, int]:
    """The two selected features with the largest weights, or the first two."""
    if selected.size < 2:
        some = "1 feature" if selected.size else "no features"
        raise ValueError(
            f"features is None, but selector has selected {some}: pass features=(a, b), two names or indices."
        )
    weights = fitted_weights(selector)
    if weights is not None:
        selected = selected[np.argsort(-weights[selected], kind="stable")]
    first, second = sorted(selected[:2].tolist())
    return first, second


def _pair(features: Any, names: tuple[str, ...]) -> tuple[int, int]:
    """Indices of two features."""
    if isinstance(features, str) or not hasattr(features, "__len__") or len(features) != 2:
        raise ValueError(f"features={features!r:.60} is not a pair: pass two names or indices of features.")
    return _index(features[0], names), _index(features[1], names)


def _index(feature: Any, names: tuple[str, ...]) -> int:
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    if isinstance(feature, Integral) and not isinstance(feature, bool) and 0 <= int(feature) < len(names):
        return int(feature)
    raise ValueError(
        f"features has {feature!r:.60}, which is not a feature: pass a name, or an index from 0 to "
        f"{len(names) - 1}."
    )


def _one_target(encoded: Any, target: Any) -> tuple[int, str | None]:
    """Index and name of the target to draw."""
    if not encoded.parts:
        return 0, "residual" if encoded.hazard is not None else None
    names = [str(part.name) for part in encoded.parts]
    if isinstance(target, str) and target in names:
        return names.index(target), target
    if isinstance(target, Integral) and not isinstance(target, bool) and 0 <= int(target) < len(names):
        return int(target), names[int(target)]
    raise ValueError(
        f"target={target!r:.60} is none of the targets: pass one of {', '.join(map(repr, names[:10]))}, or "
        "an index."
    )
