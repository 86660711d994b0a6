"""Pairs of selected features as matrices: redundancy and interactions."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any, Self

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.explain import Interactions, Redundancy, interactions, redundancy
from l1lsmi.explain._fitted import selected_columns
from l1lsmi.explain.sample import MAX_ROWS
from l1lsmi.plots._axes import (
    FONT_SHARE,
    Display,
    check_axes,
    fitting_font,
    luminance,
    points_of,
    short_names,
)

#: Matrices with at most this many features show their numbers.
MAX_ANNOTATED = 8
#: Squared-loss mutual information from which on two features carry the same information.
SAME_INFORMATION = 0.5
#: z-score that some pairs have by chance.
BY_CHANCE = 3.0
REDUNDANCIES, INTERACTIONS = ("smi", "correlation"), ("z", "score")


class _MatrixDisplay(Display):
    """A symmetric matrix of pairs of features."""

    image_: Any
    texts_: list[Any]
    colorbar_: Any

    def _plot_matrix(
        self,
        ax: Any,
        names: Sequence[str],
        matrix: HostArray,
        least: tuple[float, float],
        label: str,
        colorbar: bool,
        style: dict[str, Any],
    ) -> Self:
        """Draw; `least` are the ends of the scale of colours where no number is beyond them."""
        n = len(names)
        side = max(4.8, 2.4 + 0.22 * n)
        palette = self._begin(ax, (side * 1.2, side))
        from matplotlib.colors import LinearSegmentedColormap

        ax = self.ax_
        shown = np.ma.array(matrix, mask=np.eye(n, dtype=bool) | ~np.isfinite(matrix))
        low, high = least
        most = float(np.abs(shown).max()) if shown.count() else 0.0
        scale = [palette.neutral, palette.up] if low == 0 else [palette.down, palette.neutral, palette.up]
        look: dict[str, Any] = {
            "cmap": LinearSegmentedColormap.from_list("pairs", scale),
            "vmin": low and min(low, -most),
            "vmax": max(high, most),
            "aspect": "equal",
            **style,
        }
        if "norm" in style:
            look = {key: value for key, value in look.items() if key not in ("vmin", "vmax")}
        self.image_ = ax.imshow(shown, **look)
        # The image is smaller than its axes, because names and the scale of colours take some of them.
        room = 0.75 * min(points_of(ax))
        font = fitting_font(room, n)
        named = np.arange(0, n, ceil(font * n / (FONT_SHARE * room + font / 2)))
        short = short_names(names[i] for i in named.tolist())
        slant = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if n <= 12 else {"rotation": 90}
        ax.set_xticks(named, short, fontsize=font, **slant)
        ax.set_yticks(named, short, fontsize=font)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        self.texts_ = self._write_numbers(shown) if n <= MAX_ANNOTATED else []
        self.colorbar_ = None
        if colorbar:
            self.colorbar_ = self.figure_.colorbar(self.image_, ax=ax, shrink=0.8)
            self.colorbar_.set_label(label)
            self.colorbar_.outline.set_visible(False)
        return self

    def _write_numbers(self, shown: Any) -> list[Any]:
        """Numbers in the cells, in black or white, whichever can be read on the colour of the cell."""
        n = len(shown)
        font = min(fitting_font(min(points_of(self.ax_)), 3 * n), 9.0)
        texts = []
        for a, b in zip(*np.nonzero(~np.ma.getmaskarray(shown)), strict=True):
            value = float(shown[a, b])
            colour = "black" if luminance(self.image_.to_rgba(value)) > 0.45 else "white"
            look = {"ha": "center", "va": "center", "color": colour, "fontsize": font}
            texts.append(self.ax_.text(b, a, f"{value:.{1 if abs(value) >= 10 else 2}f}", **look))
        return texts


class RedundancyDisplay(_MatrixDisplay):
    """The dependence between selected features: two features with a strong colour can replace each other.

    Parameters
    ----------
    redundancy : Redundancy
        From `l1lsmi.explain.redundancy`.
    values : {"smi", "correlation"}, default="smi"
        Squared-loss mutual information, or the absolute correlation.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    image_ : matplotlib AxesImage
    texts_ : list of matplotlib Text
        The numbers, for at most 8 features.
    colorbar_ : matplotlib Colorbar or None

    See Also
    --------
    l1lsmi.explain.redundancy : The numbers, and why features were not selected.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.plots import RedundancyDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 1] * X[:, 4] > 0
    >>> display = RedundancyDisplay.from_estimator(L1LSMI(2, random_state=0).fit(X, y), X, y)
    >>> [label.get_text() for label in display.ax_.get_xticklabels()]
    ['x1', 'x4']
    >>> matplotlib.pyplot.close(display.figure_)
    """

    def __init__(self, redundancy: Redundancy, *, values: str = "smi") -> None:
        if not isinstance(redundancy, Redundancy):
            raise ValueError(
                f"redundancy={redundancy!r:.60} is not a Redundancy: pass what explain.redundancy returns."
            )
        _check_values(values, REDUNDANCIES)
        self.redundancy = redundancy
        self.values = values

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        X: Any,
        y: Any,
        *,
        values: str = "smi",
        max_features: int = 20,
        max_rows: int = MAX_ROWS,
        random_state: Any = 0,
        feature_names: Sequence[Any] | None = None,
        ax: Any = None,
        colorbar: bool = True,
        **style: Any,
    ) -> Self:
        """Measure the dependence between the selected features of a fitted selector, and draw it.

        Parameters
        ----------
        selector : fitted selector
            A selector with at least two selected features.
        X : array-like of shape (n, n_features_in_)
            All features, selected or not.
        y : array-like of shape (n,) or (n, t)
        values : {"smi", "correlation"}, default="smi"
            Squared-loss mutual information, or the absolute correlation.
        max_features, max_rows, random_state, feature_names : optional
            As in `l1lsmi.explain.redundancy`.
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        colorbar : bool, default=True
            Whether to draw a colour bar, which takes some of the space of the axes.
        **style : dict
            As in `plot`.

        Returns
        -------
        RedundancyDisplay
        """
        check_axes(ax)
        _check_values(values, REDUNDANCIES)
        _refuse_one(selector)
        found = redundancy(
            selector,
            X,
            y,
            n_rejected=1,
            max_features=max_features,
            max_rows=max_rows,
            random_state=random_state,
            feature_names=feature_names,
        )
        return cls(found, values=values).plot(ax, colorbar=colorbar, **style)

    def plot(self, ax: Any = None, *, colorbar: bool = True, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        colorbar : bool, default=True
            Whether to draw a colour bar, which takes some of the space of the axes.
        **style : dict
            Keyword arguments of matplotlib's ``imshow``.

        Returns
        -------
        self : RedundancyDisplay
        """
        found = self.redundancy
        if self.values == "smi":
            shown, most, label = found.smi, SAME_INFORMATION, "SMI of two features"
        else:
            shown, most, label = found.correlation, 1.0, "absolute correlation of two features"
        return self._plot_matrix(ax, found.names, shown, (0.0, most), label, colorbar, style)


class InteractionsDisplay(_MatrixDisplay):
    """How strongly pairs of selected features act together on the target, beyond the effect of each alone.

    Parameters
    ----------
    interactions : Interactions
        From `l1lsmi.explain.interactions`.
    values : {"z", "score"}, default="z"
        "z": z-scores from all rows, as in a report; without an interaction they are standard normal.
        "score": the score of the pair minus the scores of each alone, negative for redundant features.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    image_ : matplotlib AxesImage
        Positive numbers are blue and negative ones orange.
    texts_ : list of matplotlib Text
        The numbers, for at most 8 features.
    colorbar_ : matplotlib Colorbar or None

    See Also
    --------
    l1lsmi.explain.interactions : The numbers.
    PairDisplay : Two features against the target.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.plots import InteractionsDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 1] * X[:, 4] > 0
    >>> display = InteractionsDisplay.from_estimator(L1LSMI(2, random_state=0).fit(X, y), X, y)
    >>> [label.get_text() for label in display.ax_.get_xticklabels()]
    ['x1', 'x4']
    >>> matplotlib.pyplot.close(display.figure_)
    """

    def __init__(self, interactions: Interactions, *, values: str = "z") -> None:
        if not isinstance(interactions, Interactions):
            raise ValueError(
                f"interactions={interactions!r:.60} is not an Interactions: pass what explain.interactions "
                "returns."
            )
        _check_values(values, INTERACTIONS)
        self.interactions = interactions
        self.values = values

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        X: Any,
        y: Any,
        *,
        values: str = "z",
        max_features: int = 20,
        max_rows: int = MAX_ROWS,
        random_state: Any = 0,
        feature_names: Sequence[Any] | None = None,
        ax: Any = None,
        colorbar: bool = True,
        **style: Any,
    ) -> Self:
        """Measure the interactions between the selected features of a fitted selector, and draw them.

        Parameters
        ----------
        selector : fitted selector
            A selector with at least two selected features.
        X : array-like of shape (n, n_features_in_)
            All features, selected or not.
        y : array-like of shape (n,) or (n, t)
        values : {"z", "score"}, default="z"
            z-scores from all rows, or the score of each pair minus the scores of its two features.
        max_features, max_rows, random_state, feature_names : optional
            As in `l1lsmi.explain.interactions`.
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        colorbar : bool, default=True
            Whether to draw a colour bar, which takes some of the space of the axes.
        **style : dict
            As in `plot`.

        Returns
        -------
        InteractionsDisplay
        """
        check_axes(ax)
        _check_values(values, INTERACTIONS)
        _refuse_one(selector)
        found = interactions(
            selector,
            X,
            y,
            max_features=max_features,
            max_rows=max_rows,
            random_state=random_state,
            feature_names=feature_names,
        )
        return cls(found, values=values).plot(ax, colorbar=colorbar, **style)

    def plot(self, ax: Any = None, *, colorbar: bool = True, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        colorbar : bool, default=True
            Whether to draw a colour bar, which takes some of the space of the axes.
        **style : dict
            Keyword arguments of matplotlib's ``imshow``.

        Returns
        -------
        self : InteractionsDisplay
        """
        found = self.interactions
        if self.values == "z":
            shown, least, label = found.z, BY_CHANCE, "z-score of acting together"
        else:
            shown, least, label = found.matrix, 0.01, "score of the pair minus scores alone"
        return self._plot_matrix(ax, found.names, shown, (-least, least), label, colorbar, style)


def _check_values(values: Any, known: tuple[str, str]) -> None:
    if values not in known:
        raise ValueError(f"values={values!r} is not known: pass {known[0]!r} or {known[1]!r}.")


def _refuse_one(selector: Any) -> None:
    n_selected = selected_columns(selector).size
    if n_selected == 1:
        raise ValueError("selector has selected 1 feature: pairs need at least two, so select more features.")
