"""The figures, drawn from stored results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from experiments import paper_numbers as paper
from experiments.rank_diagram import draw_ranks, inches
from experiments.reading import cells_of, method_info, read
from experiments.real_tables import PROTOCOL_LABELS, errors_by_protocol
from experiments.summary import OURS, OURS_AS_IN_PAPER, Errors

# Colours for colour-blind readers (Okabe and Ito); our method has the thickest line.
INK, FAINT, BAND = "#222222", "#8a8a8a", "#dddddd"
LOOKS = {
    OURS: {"color": "#D55E00", "linewidth": 2.4, "marker": "o", "markersize": 4.5, "zorder": 5},
    "pc": {"color": "#7f7f7f", "marker": "s", "linestyle": (0, (4, 1.5))},
    "l1_hsic": {"color": "#CC79A7", "marker": "D"},
    "mrmr": {"color": "#0072B2", "marker": "^"},
    "qpfs": {"color": "#56B4E9", "marker": "v", "linestyle": (0, (4, 1.5))},
    "lasso": {"color": "#009E73", "marker": "P"},
    "relief": {"color": "#E69F00", "marker": "X", "linestyle": (0, (4, 1.5))},
}
PLAIN = {"linewidth": 1.2, "markersize": 3.2, "zorder": 3}
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 9.5,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    # Reproducible files: a fixed salt for ids, and no date.
    "svg.hashsalt": "l1lsmi",
    "svg.fonttype": "path",
}


def new_figure(width: float, height: float) -> Figure:
    """A figure without window and global state."""
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def draw_errors_against_k(rows: Sequence[dict[str, Any]], protocol: str = "paper") -> Figure:
    """Small multiples, one for each dataset, mean error with a band of one standard error."""
    chosen = [row for row in rows if row["protocol"] == protocol]
    cells = cells_of(chosen, "dataset", "method", "k")
    figure = new_figure(9.0, 11.5)
    axes = figure.subplots(5, 3).ravel()
    for ax, dataset in zip(axes, paper.FIGURE_DATASETS, strict=False):
        own = {key[1:]: cell for key, cell in cells.items() if key[0] == dataset and cell.done}
        for method in paper.FIGURE_METHODS:
            ks = sorted(k for name, k in own if name == method)
            if ks:
                found = [own[method, k] for k in ks]
                _line_with_band(ax, method, ks, [c.mean for c in found], [_standard_error(c) for c in found])
        metric = next((cell.rows[0]["metric"] for cell in own.values()), None)
        partial = any(row["partial"] for cell in own.values() for row in cell.rows)
        _finish_panel(ax, dataset, metric, partial)
    n_panels = len(paper.FIGURE_DATASETS)
    _legend_cell(axes[n_panels])
    for ax in axes[n_panels - 3 : n_panels]:
        ax.set_xlabel("number of selected features k")
    for ax in axes[:n_panels:3]:
        ax.set_ylabel("error rate")
    return figure


def _standard_error(cell: Any) -> float:
    return cell.sd / np.sqrt(cell.values.size) if cell.values.size > 1 else 0.0


def _line_with_band(ax: Axes, method: str, ks: list[int], means: list[float], errors: list[float]) -> None:
    look = {**PLAIN, **LOOKS[method]}
    ax.plot(ks, means, markeredgewidth=0, **look)
    low, high = np.subtract(means, errors), np.add(means, errors)
    ax.fill_between(ks, low, high, color=look["color"], alpha=0.15, linewidth=0, zorder=look["zorder"] - 1)


def _finish_panel(ax: Axes, dataset: str, metric: str | None, partial: bool) -> None:
    ax.set_title(dataset + (" (partial data)" if partial else ""), fontweight="bold", pad=4)
    if metric is None:
        ax.text(0.5, 0.5, "no results", transform=ax.transAxes, ha="center", color=FAINT)
        ax.set_xticks([])
        ax.set_yticks([])
        return
    if metric == "rmse":
        ax.set_ylabel("root mean squared error")
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.grid(axis="y", color="#ececec", linewidth=0.6)
    ax.set_axisbelow(True)


def _legend_cell(ax: Axes) -> None:
    ax.axis("off")
    # Our method first.
    methods = sorted(paper.FIGURE_METHODS, key=lambda name: name != OURS)
    looks = [{**PLAIN, **LOOKS[name]} for name in methods]
    lines = [Line2D([], [], markeredgewidth=0, **look) for look in looks]
    legend = ax.legend(
        lines,
        [method_info(name).label for name in methods],
        loc="center",
        frameon=False,
        fontsize=9,
        handlelength=3,
    )
    legend.get_texts()[0].set_fontweight("bold")


def draw_critical_differences(protocols: Sequence[Errors]) -> Figure | None:
    """Mean ranks of the predictor-independent methods, one diagram for each protocol."""
    found = [(errors, ranks) for errors in protocols if (ranks := errors.ranks(errors.independent))]
    if not found:
        return None
    heights = [inches(ranks) for _, ranks in found]
    figure = new_figure(9.0, sum(heights))
    axes = np.atleast_1d(figure.subplots(len(found), 1, height_ratios=heights))
    for ax, (errors, ranks) in zip(axes, found, strict=True):
        draw_ranks(ax, ranks, lambda name: method_info(name).label, {OURS: LOOKS[OURS]["color"]})
        ax.set_title(PROTOCOL_LABELS[errors.protocol].capitalize(), fontweight="bold")
    return figure


def draw_ours_against_paper(errors: Errors) -> Figure:
    """Errors over the paper's l1-LSMI error: a band for the paper's 2 sd, dots for ours."""
    datasets = [d for d in errors.complete if d in paper.REAL][::-1]
    figure = new_figure(7.5, 0.26 * len(datasets) + 1.3)
    ax = figure.subplots()
    marks = {
        OURS_AS_IN_PAPER: {
            "marker": "o",
            "facecolor": "white",
            "edgecolor": "#0072B2",
            "linewidth": 1.4,
            "s": 34,
        },
        OURS: {"marker": "o", "facecolor": LOOKS[OURS]["color"], "edgecolor": "none", "s": 40},
    }
    end = 2.0
    for y, dataset in enumerate(datasets):
        printed = paper.REAL[dataset].cells["l1-LSMI"]
        assert printed is not None
        reach = (2 * (printed.sd + paper.ROUNDING) + paper.ROUNDING) / printed.mean
        low, high = max(1 - reach, 0), min(1 + reach, end)
        ax.barh(y, high - low, left=low, height=0.55, color=BAND, linewidth=0)
        for method, look in marks.items():
            cell = errors.get(dataset, method)
            if cell and cell.done:
                ratio = cell.mean / printed.mean
                shape = look if ratio <= end else {**look, "marker": ">"}
                ax.scatter(min(ratio, end), y, zorder=4, clip_on=False, **shape)
    ax.axvline(1, color=INK, linewidth=0.9, zorder=2)
    ax.set(
        xlim=(0, end),
        ylim=(-0.7, len(datasets) - 0.3),
        xlabel="error divided by the error that the paper prints",
    )
    ax.set_yticks(range(len(datasets)), datasets)
    ax.tick_params(axis="y", length=0, labelsize=8.5)
    ax.spines["left"].set_visible(False)
    handles = [ax.scatter([], [], **marks[name]) for name in (OURS, OURS_AS_IN_PAPER)]
    handles.append(ax.barh(0, 0, color=BAND))
    names = [method_info(name).label for name in (OURS, OURS_AS_IN_PAPER)]
    labels = [*names, "within 2 sd of the paper's l1-LSMI"]
    ax.legend(
        handles, labels, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, borderaxespad=0.2
    )
    return figure


def _drawings(results_dir: Path) -> dict[str, Callable[[], Figure | None]]:
    real, curves = errors_by_protocol(read(results_dir, "real")), read(results_dir, "figure")
    drawings: dict[str, Callable[[], Figure | None]] = {}
    if curves:
        drawings["error_against_k"] = lambda: draw_errors_against_k(curves)
    if real:
        drawings["critical_difference"] = lambda: draw_critical_differences(real)
    if real and real[0].protocol == "paper":
        drawings["ours_against_paper"] = lambda: draw_ours_against_paper(real[0])
    return drawings


def main(results_dir: Path, out_dir: Path) -> list[Path]:
    """Write every figure that there are results for, as SVG."""
    out_dir = Path(out_dir)
    out_dir.mkdir(parents=True, exist_ok=True)
    written = []
    for name, draw in _drawings(Path(results_dir)).items():
        with rc_context(STYLE):
            figure = draw()
            if figure is not None:
                path = out_dir / f"{name}.svg"
                figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
                written.append(path)
    return written
