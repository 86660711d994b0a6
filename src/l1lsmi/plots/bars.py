"""Bars for single features: weights, contributions and selection frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.explain import Contributions, contributions
from l1lsmi.explain._fitted import NO_FEATURES, column_names, selected_columns
from l1lsmi.explain.contributions import MAX_ROWS
from l1lsmi.plots._axes import (
    FONT_SHARE,
    MIN_FONT,
    Display,
    Palette,
    check_axes,
    fitting_font,
    legend_above,
    names_of,
    numbers,
    points_of,
    short_names,
    with_style,
    without_frame,
)

#: Largest number of features with bars; low axes have fewer.
MAX_BARS = 40


class _BarDisplay(Display):
    """One row per feature, the first at the top."""

    def _begin_rows(self, ax: Any, n: int, row: float = 0.22) -> tuple[Palette, int]:
        """Colours, and how many of n rows there are: given axes have as many as have room for their names.

        New axes are high enough, with rows of so many inches.
        """
        n = min(n, MAX_BARS)
        palette = self._begin(ax, (6.4, max(4.8, 1.4 + row * n)))
        return palette, min(n, max(1, int(points_of(self.ax_)[1] * FONT_SHARE / MIN_FONT)))

    def _name_rows(self, names: Sequence[str], label: str, n_hidden: int) -> None:
        ax, n = self.ax_, len(names)
        ax.set_yticks(np.arange(n), short_names(names), fontsize=fitting_font(points_of(ax)[1], n))
        ax.set_ylim(n - 0.5, -0.5)
        ax.set_xlabel(f"{label} ({n_hidden:,} more features not shown)" if n_hidden else label)
        ax.tick_params(axis="y", length=0)
        without_frame(ax)


class WeightsDisplay(_BarDisplay):
    """The weights of the selected features as bars, in decreasing order.

    Parameters
    ----------
    weights : array-like of float, shape (k,)
        One weight for each feature; of more than 40 features, those with the 40 largest weights are drawn.
    names : sequence of str or None, default=None
        Names of these features; None is x0, x1, ...
    weight_name : str, default="weight"
        Label of the horizontal axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer
        The first bar is at the top.

    See Also
    --------
    ContributionsDisplay : What each feature contributes to predictions of held-out rows.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.plots import WeightsDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> display = WeightsDisplay.from_estimator(L1LSMI(2, random_state=0).fit(X, X[:, 1] * X[:, 4] > 0))
    >>> sorted(label.get_text() for label in display.ax_.get_yticklabels())
    ['x1', 'x4']
    >>> matplotlib.pyplot.close(display.figure_)
    """

    bars_: Any

    def __init__(
        self, weights: Any, names: Sequence[Any] | None = None, *, weight_name: str = "weight"
    ) -> None:
        self.weights = numbers("weights", weights)
        self.names = names_of(names, self.weights.size, "weights")
        self.weight_name = weight_name

    @classmethod
    def from_estimator(
        cls, selector: Any, *, feature_names: Sequence[Any] | None = None, ax: Any = None, **style: Any
    ) -> Self:
        """Draw the weights of a fitted selector.

        Parameters
        ----------
        selector : fitted selector
            A selector with ``weights_`` or ``scores_``; if it has both, the weights are drawn.
        feature_names : sequence of str or None, default=None
            Names of all features; None takes those of the selector, or x0, x1, ...
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        **style : dict
            As in `plot`.

        Returns
        -------
        WeightsDisplay
        """
        check_axes(ax)
        selected = selected_columns(selector)
        if not selected.size:
            raise ValueError(f"{NO_FEATURES}: there are no weights to plot.")
        what = next((name for name in ("weights_", "scores_") if hasattr(selector, name)), None)
        if what is None:
            raise ValueError(
                f"{type(selector).__name__} has neither weights_ nor scores_: use SelectionPathDisplay or "
                "ContributionsDisplay."
            )
        values = np.asarray(getattr(selector, what), dtype=np.float64)[selected]
        names = column_names(selector, feature_names)
        # Constant features have no score.
        values = np.where(np.isfinite(values), values, 0.0)
        display = cls(values, [names[j] for j in selected], weight_name=what.removesuffix("s_"))
        return display.plot(ax, **style)

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        **style : dict
            Keyword arguments of matplotlib's ``barh``.

        Returns
        -------
        self : WeightsDisplay
        """
        from matplotlib.patches import Rectangle

        palette, n = self._begin_rows(ax, self.weights.size)
        order = np.argsort(-self.weights, kind="stable")[:n]
        look = with_style(style, Rectangle, color=palette.lines[0], height=0.7)
        self.bars_ = self.ax_.barh(np.arange(order.size), self.weights[order], **look)
        self._name_rows([self.names[i] for i in order], self.weight_name, self.weights.size - order.size)
        return self


class ContributionsDisplay(_BarDisplay):
    """What each selected feature contributes to predictions of held-out rows, and what it predicts alone.

    A feature that predicts little alone and contributes much is part of an interaction. One that predicts
    much alone and contributes little is redundant, given the others. Largest contributions are at the top,
    with one standard error to either side.

    Parameters
    ----------
    contributions : Contributions
        From `l1lsmi.explain.contributions`; at most 40 features are drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_lost_, bars_alone_ : matplotlib BarContainer
        The first bar is at the top.
    line_ : matplotlib Line2D
        What the whole set predicts.

    See Also
    --------
    l1lsmi.explain.contributions : The numbers.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.plots import ContributionsDisplay
    >>> X = np.random.default_rng(0).integers(0, 2, size=(300, 6))
    >>> y = X[:, 1] ^ X[:, 4]
    >>> display = ContributionsDisplay.from_estimator(L1LSMI(2, random_state=0).fit(X, y), X, y)
    >>> [round(float(bar.get_width()), 1) for bar in display.bars_lost_]
    [1.0, 1.0]
    >>> matplotlib.pyplot.close(display.figure_)
    """

    bars_lost_: Any
    bars_alone_: Any
    line_: Any

    def __init__(self, contributions: Contributions) -> None:
        if not isinstance(contributions, Contributions):
            raise ValueError(
                f"contributions={contributions!r:.60} is not a Contributions: pass what "
                "explain.contributions returns."
            )
        self.contributions = contributions

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        X: Any,
        y: Any,
        *,
        max_rows: int = MAX_ROWS,
        random_state: Any = 0,
        feature_names: Sequence[Any] | None = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Measure the contributions of the selected features, and draw them.

        Parameters
        ----------
        selector : fitted selector
        X : array-like of shape (n, n_features_in_)
            All features, selected or not.
        y : array-like of shape (n,) or (n, t)
        max_rows, random_state, feature_names : optional
            As in `l1lsmi.explain.contributions`.
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        **style : dict
            As in `plot`.

        Returns
        -------
        ContributionsDisplay
        """
        check_axes(ax)
        found = contributions(
            selector,
            X,
            y,
            max_rows=max_rows,
            random_state=random_state,
            feature_names=feature_names,
        )
        return cls(found).plot(ax, **style)

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        **style : dict
            Keyword arguments of matplotlib's ``barh``, for all bars.

        Returns
        -------
        self : ContributionsDisplay
        """
        from matplotlib.patches import Rectangle

        found = self.contributions
        palette, n = self._begin_rows(ax, found.columns.size, 0.29)
        order = np.lexsort((-found.alone, -found.lost))[:n]
        ax, places = self.ax_, np.arange(order.size)
        lost = with_style(style, Rectangle, color=palette.lines[0], height=0.36)
        alone = with_style(style, Rectangle, color=palette.lines[1], height=0.36)
        errors = {"xerr": found.standard_error[order], "ecolor": palette.grey}
        self.bars_lost_ = ax.barh(places - 0.19, found.lost[order], label="contribution", **errors, **lost)
        self.bars_alone_ = ax.barh(places + 0.19, found.alone[order], label="predicts alone", **alone)
        ax.axvline(0, color=palette.grey, linewidth=0.8)
        self.line_ = ax.axvline(
            found.share, color=palette.grey, linewidth=1, linestyle="--", label="the set predicts"
        )
        self._name_rows(
            [found.names[i] for i in order],
            "share of the variation of the target",
            found.columns.size - order.size,
        )
        legend_above(ax, [self.bars_lost_, self.bars_alone_, self.line_])
        return self


class FrequencyDisplay(_BarDisplay):
    """How often features were selected, in decreasing order.

    Parameters
    ----------
    frequency : array-like of float, shape (m,)
        Share of the searches on parts of the rows that selected each feature. At most 40 features are drawn:
        those with the highest frequencies, but none that were never selected.
    names : sequence of str or None, default=None
        Names of all features; None is x0, x1, ...
    selected : array-like of int, default=()
        The selected features, drawn in another colour.
    threshold : float or None, default=None
        The lowest frequency at which a feature is selected, drawn as a line; None draws no line.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer
        The first bar is at the top.
    columns_ : numpy.ndarray of int
        The feature of each bar.
    line_ : matplotlib Line2D or None
        The threshold.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from l1lsmi.baselines import LassoK
    >>> from l1lsmi.inference import StabilitySelector
    >>> from l1lsmi.plots import FrequencyDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 50))
    >>> y = X[:, 3] - X[:, 20] + rng.normal(size=300)
    >>> selector = StabilitySelector(LassoK(5), threshold=0.9, random_state=0).fit(X, y)
    >>> display = FrequencyDisplay.from_estimator(selector)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()][:2], display.threshold
    (['x3', 'x20'], 0.9)
    >>> matplotlib.pyplot.close(display.figure_)
    """

    bars_: Any
    columns_: HostArray
    line_: Any

    def __init__(
        self,
        frequency: Any,
        names: Sequence[Any] | None = None,
        *,
        selected: Any = (),
        threshold: float | None = None,
    ) -> None:
        self.frequency = numbers("frequency", frequency)
        self.names = names_of(names, self.frequency.size, "frequency")
        self.selected = np.asarray(selected, dtype=np.intp)
        self.threshold = threshold

    @classmethod
    def from_estimator(
        cls, selector: Any, *, feature_names: Sequence[Any] | None = None, ax: Any = None, **style: Any
    ) -> Self:
        """Draw the selection frequencies of a fitted selector.

        Parameters
        ----------
        selector : fitted selector
            A selector with ``frequency_``: `L1LSMI`, `L1HSIC` or `FeatureSelector`, if sets were compared on
            unseen rows, as with ``n_features_to_select="auto"``; or `l1lsmi.inference.StabilitySelector`,
            whose threshold is drawn.
        feature_names : sequence of str or None, default=None
            Names of all features; None takes those of the selector, or x0, x1, ...
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        **style : dict
            As in `plot`.

        Returns
        -------
        FrequencyDisplay
        """
        check_axes(ax)
        selected = selected_columns(selector)
        frequency = getattr(selector, "frequency_", None)
        if frequency is None:
            raise ValueError(
                f"{type(selector).__name__} has no selection frequencies (frequency_): select with "
                'n_features_to_select="auto", or with inference.StabilitySelector.'
            )
        threshold = getattr(selector, "threshold_", None)
        threshold = None if threshold is None or not np.isfinite(threshold) else float(threshold)
        names = column_names(selector, feature_names)
        return cls(frequency, names, selected=selected, threshold=threshold).plot(ax, **style)

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        **style : dict
            Keyword arguments of matplotlib's ``barh``.

        Returns
        -------
        self : FrequencyDisplay
        """
        from matplotlib.patches import Patch, Rectangle

        chosen = np.isin(np.arange(self.frequency.size), self.selected)
        # Of equal frequencies, selected features come first.
        order = np.lexsort((~chosen, -self.frequency))
        found = order[(self.frequency[order] > 0) | chosen[order]]
        if not found.size:
            raise ValueError("frequency is 0 for every feature: pass frequencies of which some are above 0.")
        palette, n = self._begin_rows(ax, found.size)
        self.columns_ = found[:n]
        ax = self.ax_
        colours = [palette.lines[0] if chosen[j] else palette.pale for j in self.columns_]
        look = with_style(style, Rectangle, color=colours, height=0.7)
        self.bars_ = ax.barh(np.arange(self.columns_.size), self.frequency[self.columns_], **look)
        n_hidden = found.size - self.columns_.size
        self._name_rows([self.names[j] for j in self.columns_], "selection frequency", n_hidden)
        ax.set_xlim(0, 1)
        self.line_ = None
        handles = []
        if "color" not in look or look["color"] is colours:
            kinds = ((True, "selected", palette.lines[0]), (False, "not selected", palette.pale))
            handles = [
                Patch(color=colour, label=word)
                for state, word, colour in kinds
                if (chosen[self.columns_] == state).any()
            ]
        if self.threshold is not None:
            label = f"threshold {self.threshold:g}"
            self.line_ = ax.axvline(
                self.threshold, color=palette.lines[1], linewidth=1.2, linestyle="--", label=label
            )
            handles.append(self.line_)
        if handles:
            legend_above(ax, handles)
        return self
