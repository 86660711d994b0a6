"""Tables and the figure of ``signal.py``, from its runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from signal_problems import PROBLEMS
from signal_selectors import METHODS

#: Regret up to which the found set counts as one of the best.
TOLERANCE = 1e-9
#: Colours for colour-blind readers (Okabe and Ito), each with a marker of its own.
LOOKS: dict[str, dict[str, Any]] = {
    "l1lsmi": {"color": "#D55E00", "marker": "o", "linewidth": 2.4, "zorder": 5},
    "lightgbm": {"color": "#0072B2", "marker": "s"},
    "lightgbm_hessian": {"color": "#56B4E9", "marker": "P", "linestyle": (0, (4, 1.5))},
    "random_forest": {"color": "#009E73", "marker": "^"},
    "mrmr": {"color": "#000000", "marker": "v", "linestyle": (0, (4, 1.5))},
    "hsic_lasso": {"color": "#CC79A7", "marker": "D"},
    "svm_permutation": {"color": "#E69F00", "marker": "X", "linestyle": (0, (4, 1.5))},
}
STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    # Reproducible files: a fixed salt for ids, and no date.
    "svg.hashsalt": "l1lsmi",
}


def grouped(runs: Iterable[Any], *names: str) -> dict[tuple[Hashable, ...], list[Any]]:
    groups = defaultdict(list)
    for run in runs:
        groups[tuple(getattr(run, name) for name in names)].append(run)
    return groups


def mean_f(runs: Sequence[Any]) -> float:
    """Mean over problems of the mean over draws, so that problems count alike."""
    return float(np.mean([np.mean([run.F for run in group]) for group in grouped(runs, "problem").values()]))


def median_seconds(runs: Sequence[Any]) -> float:
    return float(np.median([run.seconds for run in runs]))


# -- tables -----------------------------------------------------------------------------------------


def print_tables(runs: Sequence[Any]) -> None:
    methods = [method for method in METHODS if any(run.method == method for run in runs)]
    print_means(runs, methods)
    print_problems(runs, methods)
    print_regret(runs)


def print_means(runs: Sequence[Any], methods: Sequence[str]) -> None:
    n_problems = len({run.problem for run in runs})
    print(
        f"\nmean F-measure over {n_problems} problems, and median seconds; - does not finish, or was not run"
    )
    print(f"{'n':>8} {'m':>6} {'runs':>5} " + " ".join(f"{METHODS[method].label:>17}" for method in methods))
    fewer = False
    for (m, n), group in sorted(grouped(runs, "m", "n").items()):
        by_method = grouped(group, "method")
        n_runs = max(map(len, by_method.values()))
        cells = []
        for method in methods:
            own = by_method.get((method,), [])
            # Means over different draws cannot be compared.
            mark = "*" if 0 < len(own) < n_runs else " "
            fewer |= mark == "*"
            cells.append(f"{mean_f(own):.2f} ({median_seconds(own):7.2f} s){mark}" if own else "-")
        print(f"{n:>8} {m:>6} {n_runs:>5} " + " ".join(f"{cell:>17}" for cell in cells))
    if fewer:
        print("* over fewer runs than other methods have")


def print_problems(runs: Sequence[Any], methods: Sequence[str]) -> None:
    for (m,), group in sorted(grouped(runs, "m").items()):
        sizes = sorted({run.n for run in group})
        cells = grouped(group, "problem", "method", "n")
        print(f"\nmean F-measure by number of rows, m = {m}")
        print(f"{'problem':<18} {'method':<13}" + " ".join(f"{n:>8}" for n in sizes))
        for problem in PROBLEMS:
            if not any(key[0] == problem for key in cells):
                continue
            for method in methods:
                own = [cells.get((problem, method, n)) for n in sizes]
                row = " ".join(f"{mean_f(cell):8.2f}" if cell else f"{'-':>8}" for cell in own)
                print(f"{problem if method == methods[0] else '':<18} {METHODS[method].label:<13}{row}")


def print_regret(runs: Sequence[Any]) -> None:
    scored = [run for run in runs if run.regret is not None]
    if not scored:
        return
    print("\nregret of L1LSMI: score of the true columns minus that of the columns found")
    lines = [(f"n = {n}, m = {m}", group) for (m, n), group in sorted(grouped(scored, "m", "n").items())]
    for title, group in [*lines, ("all", scored)]:
        share = np.mean([run.regret <= TOLERANCE for run in group])
        worst = max(group, key=lambda run: run.regret)
        where = f"{worst.problem}, n = {worst.n}, m = {worst.m}, seed {worst.seed}"
        print(
            f"{title:<20} at most {TOLERANCE:g} in {100 * share:.0f} % of {len(group)} draws, "
            f"largest {worst.regret:.2g} ({where})"
        )


# -- figure -----------------------------------------------------------------------------------------


def draw_figure(runs: Sequence[Any], path: Path) -> None:
    """Mean F against rows, and against median seconds, for the number of columns with most sizes."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    sizes = {m: {run.n for run in group} for (m,), group in grouped(runs, "m").items()}
    m = max(sizes, key=lambda m: (len(sizes[m]), -m))
    by_method = grouped((run for run in runs if run.m == m), "method")
    with rc_context(STYLE):
        figure = Figure(figsize=(7.6, 3.9), layout="constrained", facecolor="white")
        against_rows, against_seconds = figure.subplots(1, 2, sharey=True)
        for method in METHODS:
            if (method,) not in by_method:
                continue
            by_rows = sorted(grouped(by_method[method,], "n").items())
            rows = [n for (n,), _ in by_rows]
            f = [mean_f(group) for _, group in by_rows]
            seconds = [median_seconds(group) for _, group in by_rows]
            look = {"linewidth": 1.5, "markersize": 4.5, "label": METHODS[method].label, **LOOKS[method]}
            against_rows.plot(rows, f, **look)
            against_seconds.plot(seconds, f, **look)
            # The ends of a line say which way the number of rows grows.
            for i in {0, len(rows) - 1}:
                against_seconds.annotate(
                    short(rows[i]),
                    (seconds[i], f[i]),
                    xytext=(0, 5),
                    textcoords="offset points",
                    ha="center",
                    fontsize=7,
                    color=look["color"],
                )
        finish(against_rows, "rows", sorted(sizes[m]))
        finish(against_seconds, "median seconds on one thread, labelled with rows")
        n_problems = len({run.problem for group in by_method.values() for run in group})
        against_rows.set_ylabel("mean F-measure")
        figure.suptitle(f"{n_problems} problems with weak signals, {m} columns", fontsize=10)
        handles, labels = against_rows.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(4, len(labels)), frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)


def short(n: int) -> str:
    return f"{n // 1000}k" if n % 1000 == 0 else str(n)


def finish(ax: Any, label: str, ticks: Sequence[int] = ()) -> None:
    ax.set_xscale("log")
    ax.set_xlabel(label)
    ax.set_ylim(0, 1.06)
    ax.grid(axis="y", color="#dddddd", linewidth=0.6)
    if ticks:
        ax.set_xticks(ticks, [f"{n:,}" for n in ticks])
        ax.minorticks_off()
