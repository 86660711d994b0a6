"""Axes, colours, ticks and names that all displays share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray

#: Smallest size of a font, in points.
MIN_FONT = 4.5
#: Share of the space of a label that its font takes.
FONT_SHARE = 0.72


@dataclass(frozen=True)
class Palette:
    """Colours on one background.

    Attributes
    ----------
    lines : tuple of str
        The colour-blind safe palette of Okabe and Ito, without colours too close to the background.
    grey, pale : str
        Notes, and what is not selected.
    down, neutral, up : str
        Below 0, 0 and above 0 in a matrix, as in a report.
    """

    lines: tuple[str, ...]
    grey: str
    pale: str
    down: str
    neutral: str
    up: str


LIGHT = Palette(
    ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"),
    grey="#666666",
    pale="#C8C8C8",
    down="#B4500F",
    neutral="#FCFCFA",
    up="#0A6A8A",
)
DARK = Palette(
    ("#56B4E9", "#F08A3C", "#5FD9B4", "#CC79A7", "#F0E442", "#9A8CFF", "#FFFFFF"),
    grey="#A8A8A8",
    pale="#5C5C5C",
    down="#F0A05A",
    neutral="#14171B",
    up="#62BFDC",
)


def check_axes(ax: Any) -> None:
    """Refuse what is not Axes, and say if matplotlib is missing, before anything is computed."""
    if ax is not None and not (hasattr(ax, "plot") and hasattr(ax, "figure")):
        raise ValueError(f"ax={ax!r:.60} is not a matplotlib Axes: pass an Axes, or None for a new figure.")
    try:
        import matplotlib.pyplot  # noqa: F401
    except ImportError:
        raise ImportError("Plots need matplotlib: pip install 'l1lsmi[plot]'.") from None


class Display:
    """What all displays do: draw on the given axes or on those of a new figure, and keep them."""

    ax_: Any
    figure_: Any

    def _begin(self, ax: Any, size: tuple[float, float] | None = None) -> Palette:
        """Keep the axes; `size` of a new figure is in inches."""
        check_axes(ax)
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots(figsize=size, layout="constrained")[1]
        self.ax_, self.figure_ = ax, ax.figure
        return palette_of(ax)


def palette_of(ax: Any) -> Palette:
    """Colours that can be seen on the background of the axes."""
    from matplotlib.colors import to_rgba

    *colour, opacity = to_rgba(ax.get_facecolor())
    if opacity < 0.5:
        *colour, opacity = to_rgba(ax.figure.get_facecolor())
    return DARK if opacity >= 0.5 and luminance(colour) < 0.4 else LIGHT


def luminance(colour: Sequence[float]) -> float:
    return float(np.dot((0.2126, 0.7152, 0.0722), colour[:3]))


def with_style(style: Mapping[str, Any], kind: Any, **defaults: Any) -> dict[str, Any]:
    """Settings of an artist, those of the user first, under any of their names (``lw``, ``linewidth``)."""
    from matplotlib.cbook import normalize_kwargs

    return {**defaults, **normalize_kwargs(dict(style), kind)}


def without_frame(ax: Any) -> None:
    ax.spines[["top", "right"]].set_visible(False)


def points_of(ax: Any) -> tuple[float, float]:
    """Width and height of the axes, in points."""
    box = ax.get_window_extent()
    return 72 * box.width / ax.figure.dpi, 72 * box.height / ax.figure.dpi


def font_points(size: Any) -> float:
    from matplotlib.font_manager import FontProperties

    return float(FontProperties(size=size).get_size_in_points())


def fitting_label(name: str, points: float) -> str:
    """A label of an axis that is no longer than the axis."""
    from matplotlib import rcParams

    most = max(12, min(45, int(points / (0.7 * font_points(rcParams["axes.labelsize"])))))
    return short_names([name], most - most // 3 - 1, most // 3)[0]


def fitting_font(points: float, n: int) -> float:
    """Size of the font with which n labels fit into a length, at most that of labels of ticks."""
    from matplotlib import rcParams

    return max(MIN_FONT, min(font_points(rcParams["ytick.labelsize"]), FONT_SHARE * points / max(n, 1)))


def ticks_at(ax: Any, sizes: Iterable[int], first: Iterable[int] = ()) -> None:
    """Ticks at existing sizes whose labels do not overlap: those in `first`, the ends, then the others."""
    from matplotlib import rcParams

    unique = np.unique(np.fromiter(sizes, dtype=np.int64))
    if not unique.size:
        return
    character = 0.62 * font_points(rcParams["xtick.labelsize"])
    scale = np.log10 if ax.get_xscale() == "log" else np.asarray
    low, high = (float(scale(end)) for end in sorted(ax.get_xlim()))
    at = (scale(unique) - low) / (high - low) * points_of(ax)[0]
    half = np.array([character * (len(f"{size:,}") + 1) / 2 for size in unique.tolist()])
    taken = np.zeros(unique.size, dtype=bool)
    for some in ([*first], [unique[-1]], [unique[0]], unique[::-1].tolist()):
        for size in some:
            i = int(np.searchsorted(unique, size))
            if unique[min(i, unique.size - 1)] == size:
                taken[i] = taken[i] or bool((np.abs(at - at[i]) >= half + half[i])[taken].all())
    ax.set_xticks(unique[taken], [f"{size:,}" for size in unique[taken].tolist()])
    ax.minorticks_off()


def short_names(names: Iterable[Any], head: int = 14, tail: int = 7) -> list[str]:
    """Names on one short line; names that would look the same keep the part in which they differ."""
    whole = [" ".join(str(name).split()) or "(no name)" for name in names]
    short = [_cut(name, head, tail) for name in whole]
    alike: dict[str, list[int]] = defaultdict(list)
    for i, name in enumerate(short):
        alike[name].append(i)
    for group in alike.values():
        different = {whole[i] for i in group}
        if len(different) > 1:
            shortest = min(map(len, different))
            letters = enumerate(zip(*different, strict=False))
            start = next((i for i, each in letters if len(set(each)) > 1), shortest)
            # From the beginning of the word in which they differ.
            common = whole[group[0]][:start]
            start = 1 + max(common.rfind(separator) for separator in " _-.")
            for i in group:
                short[i] = f"{whole[i][:5]}\u2026{_cut(whole[i][start:], 10, 5)}"
    return [_escaped(name) for name in short]


def _cut(name: str, head: int, tail: int) -> str:
    return name if len(name) <= head + tail + 1 else f"{name[:head]}\u2026{name[-tail:]}"


def _escaped(name: str) -> str:
    """A dollar sign would begin a formula."""
    return name.replace("$", r"\$")


def names_of(names: Sequence[Any] | None, n: int, what: str) -> tuple[str, ...]:
    """One name for each of n features; x0, x1, ... for None."""
    if names is None:
        return tuple(f"x{j}" for j in range(n))
    if len(names) != n:
        raise ValueError(f"names has {len(names)} entries, but {what} has {n}: pass one name per feature.")
    return tuple(map(str, names))


def numbers(name: str, values: Any) -> HostArray:
    """A list of numbers."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty((0, 0))
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{name}={values!r:.60} is not a list of numbers: pass a one-dimensional array.")
    return array


def legend_above(ax: Any, handles: Sequence[Any]) -> Any:
    """A legend above the axes, where it hides nothing; its entries side by side where there is room."""
    side_by_side = points_of(ax)[0] > 110 * len(handles)
    return ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=len(handles) if side_by_side else 1,
        frameon=False,
        fontsize="small",
        borderaxespad=0.2,
        handlelength=1.4,
        columnspacing=1.2,
    )
