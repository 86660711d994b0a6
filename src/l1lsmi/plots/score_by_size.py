"""The score against the number of features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.explain import path_table, score_by_size
from l1lsmi.explain._evidence import curve_of
from l1lsmi.explain._fitted import selected_columns
from l1lsmi.explain.sample import MAX_ROWS
from l1lsmi.plots._axes import Display, Palette, check_axes, numbers, ticks_at, with_style, without_frame


class ScoreBySizeDisplay(Display):
    """The score of sets of features against the number of features, with the selected number marked.

    Parameters
    ----------
    sizes : array-like of int, shape (s,)
        Numbers of features, increasing.
    scores : array-like of float, shape (s,)
    standard_errors : array-like of float, shape (s,), or None, default=None
        Drawn as error bars above and below the scores.
    n_selected : int or None, default=None
        The number of features to mark; None marks none.
    score_name : str, default="score"
        Label of the vertical axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
    errorbar_ : matplotlib ErrorbarContainer or None
        None without standard errors.
    mark_ : matplotlib Line2D or None
        The ring around the selected number; None if this number is not among the sizes.

    See Also
    --------
    l1lsmi.explain.score_by_size : The numbers.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.plots import ScoreBySizeDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 1] * X[:, 4] > 0
    >>> display = ScoreBySizeDisplay.from_estimator(L1LSMI(3, random_state=0).fit(X, y), X, y)
    >>> display.line_.get_xdata()
    array([1, 2, 3, 4, 5, 6])
    >>> matplotlib.pyplot.close(display.figure_)
    >>> display = ScoreBySizeDisplay.from_estimator(L1LSMI("auto").fit(X, y))
    >>> display.ax_.get_ylabel(), display.n_selected
    ('predicted in unseen rows (%)', 2)
    >>> matplotlib.pyplot.close(display.figure_)
    """

    line_: Any
    errorbar_: Any
    mark_: Any

    def __init__(
        self,
        sizes: Any,
        scores: Any,
        *,
        standard_errors: Any = None,
        n_selected: int | None = None,
        score_name: str = "score",
    ) -> None:
        self.sizes = numbers("sizes", sizes).astype(np.int64)
        self.scores = numbers("scores", scores)
        self.standard_errors = (
            None if standard_errors is None else numbers("standard_errors", standard_errors)
        )
        for name, values in (("scores", self.scores), ("standard_errors", self.standard_errors)):
            if values is not None and values.size != self.sizes.size:
                raise ValueError(
                    f"{name} has {values.size} entries, but sizes has {self.sizes.size}: pass one for each "
                    "size."
                )
        self.n_selected = n_selected
        self.score_name = score_name

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        X: Any = None,
        y: Any = None,
        *,
        max_size: int | None = None,
        max_rows: int = MAX_ROWS,
        random_state: Any = 0,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the scores of sets of each size.

        If the selector has chosen the number of features, the line shows how well sets of each size predict
        rows that the search has not seen (``validation_``), with standard errors. Otherwise, with data,
        smaller and larger sets are scored by `l1lsmi.explain.score_by_size`. Without data, the line is the
        best score of each size on the search path.

        Parameters
        ----------
        selector : fitted selector
        X : array-like of shape (n, n_features_in_), or None, default=None
        y : array-like of shape (n,) or (n, t), or None, default=None
            X and y have to be passed together.
        max_size, max_rows, random_state : optional
            As in `l1lsmi.explain.score_by_size`.
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        **style : dict
            As in `plot`.

        Returns
        -------
        ScoreBySizeDisplay
        """
        check_axes(ax)
        if (X is None) != (y is None):
            raise ValueError(f"{'y' if y is None else 'X'} is None: pass both X and y, or neither.")
        n_selected = int(selected_columns(selector).size)
        validation = curve_of(selector)
        if validation is not None:
            display = cls(
                validation.k,
                100 * validation.mean,
                standard_errors=100 * validation.standard_error,
                n_selected=n_selected,
                score_name="predicted in unseen rows (%)",
            )
        elif X is None:
            display = cls(*_best_by_size(selector), n_selected=n_selected)
        else:
            settings = {"max_size": max_size, "max_rows": max_rows, "random_state": random_state}
            curve = score_by_size(selector, X, y, **settings)
            display = cls(curve.sizes, curve.scores, n_selected=n_selected)
        return display.plot(ax, **style)

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            None makes a new figure.
        **style : dict
            Keyword arguments of matplotlib's ``plot``.

        Returns
        -------
        self : ScoreBySizeDisplay
        """
        from matplotlib.lines import Line2D

        palette = self._begin(ax)
        ax, sizes, scores = self.ax_, self.sizes, self.scores
        look = {"color": palette.lines[0], "marker": "o", "markersize": 4, "linewidth": 1.8}
        (self.line_,) = ax.plot(sizes, scores, **with_style(style, Line2D, **look))
        self.errorbar_ = self.mark_ = None
        if self.standard_errors is not None:
            colour = self.line_.get_color()
            self.errorbar_ = ax.errorbar(
                sizes, scores, self.standard_errors, fmt="none", ecolor=colour, elinewidth=1, capsize=2
            )
            if (scores - self.standard_errors).min() <= 0:
                ax.axhline(0, color=palette.pale, linewidth=0.8, zorder=0.5)
        if self.n_selected in sizes.tolist():
            self._mark(int(self.n_selected or 0), palette)
        if sizes.min() and sizes.max() > 50 * sizes.min():
            ax.set_xscale("log")
        ax.set_xlabel("number of features")
        ax.set_ylabel(self.score_name)
        ax.margins(x=0.1, y=0.15)
        ticks_at(ax, sizes.tolist(), [] if self.n_selected is None else [self.n_selected])
        without_frame(ax)
        return self

    def _mark(self, size: int, palette: Palette) -> None:
        """A ring around a point, a vertical line through it and a label above the axes."""
        ax, colour = self.ax_, palette.lines[1]
        score = float(self.scores[self.sizes == size][0])
        ring = {"marker": "o", "markersize": 9, "fillstyle": "none", "linestyle": "none"}
        (self.mark_,) = ax.plot([size], [score], color=colour, **ring)
        across = ax.get_xaxis_transform()
        ax.vlines(size, 0, 1, transform=across, color=colour, linewidth=0.8, linestyle="--", zorder=0.5)
        label = f"selected: {size:,}"
        ax.text(size, 1.01, label, transform=across, ha="center", va="bottom", color=colour, fontsize="small")


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
