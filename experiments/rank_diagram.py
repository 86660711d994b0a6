"""A critical-difference diagram: mean ranks on a line, and bars over those that do not differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from matplotlib.axes import Axes

from experiments.summary import Ranks

INK, FAINT = "#222222", "#8a8a8a"
ROW = 0.8  # distance between labels, in units of the vertical axis
BAR = 0.42  # distance between bars


def inches(ranks: Ranks) -> float:
    """Height that the labels need."""
    return 0.9 + 0.23 * _depth(ranks)


def _depth(ranks: Ranks) -> float:
    return 0.6 + BAR * len(ranks.groups) + ROW * ((len(ranks.methods) + 1) // 2)


def draw_ranks(ax: Axes, ranks: Ranks, label: Callable[[str], str], colours: Mapping[str, str]) -> None:
    """Better ranks to the left; labels hang from their ranks, half on each side."""
    n = len(ranks.methods)
    low, high = np.floor(min(ranks.ranks)), np.ceil(max(ranks.ranks))
    margin = 0.42 * (high - low)
    ax.set(xlim=(low - margin, high + margin), ylim=(-_depth(ranks), 1.7))
    ax.axis("off")
    ax.plot([low, high], [0, 0], color=INK, linewidth=1)
    for tick in np.arange(low, high + 1):
        ax.plot([tick, tick], [0, 0.18], color=INK, linewidth=1)
        ax.text(tick, 0.3, f"{tick:.0f}", ha="center", va="bottom", fontsize=8)
    _scale(ax, low, ranks.critical_difference)
    for i, group in enumerate(ranks.groups):
        ends = [ranks.ranks[ranks.methods.index(name)] for name in group]
        y = -0.4 - BAR * i
        reach = 0.006 * (high - low)
        ax.plot(
            [min(ends) - reach, max(ends) + reach], [y, y], color=FAINT, linewidth=3.5, solid_capstyle="round"
        )
    first_label = -0.6 - BAR * len(ranks.groups)
    n_left = (n + 1) // 2
    for i, (name, rank) in enumerate(zip(ranks.methods, ranks.ranks, strict=True)):
        is_left = i < n_left
        y = first_label - ROW * (i if is_left else n - 1 - i)
        edge = low - 0.03 * margin if is_left else high + 0.03 * margin
        colour, weight = colours.get(name, INK), "bold" if name in colours else "normal"
        ax.plot(
            [rank, rank, edge],
            [0, y, y],
            color=colours.get(name, FAINT),
            linewidth=1.8 if name in colours else 0.9,
        )
        text = f"{label(name)}  {rank:.2f} " if is_left else f" {rank:.2f}  {label(name)}"
        side = "right" if is_left else "left"
        ax.text(edge, y, text, ha=side, va="center", color=colour, fontweight=weight, fontsize=8.5)


def _scale(ax: Axes, start: float, length: float) -> None:
    end = start + length
    ax.plot([start, end], [1.25, 1.25], color=INK, linewidth=1)
    for x in (start, end):
        ax.plot([x, x], [1.12, 1.38], color=INK, linewidth=1)
    ax.text(end, 1.25, f"  critical difference {length:.2f}", ha="left", va="center", fontsize=8)
