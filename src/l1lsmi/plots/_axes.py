"""Axes, colours, ticks and names that all plots share."""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray

# The colour-blind safe palette of Okabe and Ito, without yellow, which is too pale for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY, PALE = "#666666", "#C8C8C8"
#: Longest name, in characters.
MAX_NAME = 22


def axes_of(ax: Any) -> Any:
    if ax is not None:
        if not hasattr(ax, "plot") or not hasattr(ax, "figure"):
            raise ValueError(f"ax is a {type(ax).__name__}: pass matplotlib Axes, or None for a new figure.")
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("Plots need matplotlib: pip install 'l1lsmi[plot]'.") from None
    return plt.subplots(layout="constrained")[1]


def without_frame(ax: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def ticks_at(ax: Any, sizes: HostArray) -> None:
    """At most 12 ticks, all at existing sizes."""
    unique = np.unique(sizes)
    some = unique if unique.size <= 12 else unique[np.linspace(0, unique.size - 1, 8).round().astype(int)]
    ax.set_xticks(some, [f"{size:,}" for size in some.tolist()])
    ax.minorticks_off()


def short_name(name: str) -> str:
    """A name on one short line, with dollar signs escaped, which would begin a formula."""
    name = " ".join(name.split()) or "(no name)"
    if len(name) > MAX_NAME:
        name = f"{name[: MAX_NAME - 8]}\u2026{name[-7:]}"
    return name.replace("$", r"\$")
