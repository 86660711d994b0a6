"""The tables of the paper from stored results, beside the paper's numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments import paper_numbers as paper
from experiments import real_tables
from experiments.markdown import Notes, bold, escape, show, table
from experiments.reading import Cell, cells_of, in_order, method_info, read
from l1lsmi.evaluation import compare_methods

TOLERANCE = 0.10
TOY_LABELS = {"and_or": "and-or", "quad": "quad", "xor": "xor"}


class Difference(NamedTuple):
    """A toy cell that differs from the paper's."""

    method: str
    toy: str
    ours: float
    printed: float


class Lead(NamedTuple):
    """Lead of the true subset over the second best, and the number of draws where it is the best."""

    by: float
    second: tuple[int, ...]
    n_first: int
    n_draws: int


def missing(experiment: str) -> str:
    """Text in place of a table without results."""
    return f"*No results yet: `python -m experiments run {experiment}` makes them.*"


def toy_cells(rows: list[dict[str, Any]]) -> dict[tuple[str, str], Cell]:
    """F-measures by (toy, method)."""
    return cells_of(rows, "dataset", "method")


def toy_differences(rows: list[dict[str, Any]]) -> tuple[list[Difference], list[Difference]]:
    """Cells whose mean is more than 0.10 below the paper's, and those more than 0.10 above."""
    below, above = [], []
    for (toy, method), cell in sorted(toy_cells(rows).items()):
        printed = paper.TOYS[toy].get(paper.COLUMN_OF.get(method, ""))
        if printed is None or not cell.done:
            continue
        # A tolerance for rounding: 0.18 is not *more* than 0.10 below 0.28.
        if abs(cell.mean - printed.mean) > TOLERANCE + 1e-9:
            where = below if cell.mean < printed.mean else above
            where.append(Difference(method, toy, cell.mean, printed.mean))
    return below, above


def toy_table(rows: list[dict[str, Any]]) -> str:
    """Mean F-measures, method by toy, each beside the paper's."""
    cells, notes = toy_cells(rows), Notes()
    methods = in_order(method for _, method in cells)
    marked = {(toy, name) for toy in paper.TOYS for name in _best_on_toy(cells, toy, methods)}
    below = {(d.toy, d.method) for d in toy_differences(rows)[0]}
    lines = []
    for name in methods:
        line = [escape(method_info(name).label)]
        for toy in paper.TOYS:
            text = show(cells.get((toy, name)), notes, marked=(toy, name) in marked, decimals=2)
            line.append(f"{text} ▼" if (toy, name) in below else text)
            printed = paper.TOYS[toy].get(paper.COLUMN_OF.get(name, ""))
            line.append(printed.text() if printed else "")
        lines.append(line)
    header = [text for toy in paper.TOYS for text in (TOY_LABELS[toy], "paper")]
    return notes.below(table(["method", *header], lines))


def _best_on_toy(cells: dict[tuple[str, str], Cell], toy: str, methods: list[str]) -> set[str]:
    done = [name for name in methods if (cell := cells.get((toy, name))) and cell.done]
    if not done:
        return set()
    # The comparison needs errors, so 1 minus the F-measure.
    found = compare_methods(1.0 - np.column_stack([cells[toy, name].values for name in done]))
    return {name for name, tied in zip(done, found.tied, strict=True) if tied}


def subset_cells(rows: list[dict[str, Any]]) -> dict[tuple[int, ...], Cell]:
    """SMI of each subset of columns, numbered from 1 as in the paper; results are numbered from 0."""
    cells = cells_of(rows, "dataset", "selected")
    # A draw that failed as a whole has the empty subset.
    return {tuple(sorted(column + 1 for column in subset or ())): cell for (_, subset), cell in cells.items()}


def subset_lead(cells: dict[tuple[int, ...], Cell]) -> Lead | None:
    """Lead of the true subset; None if a subset has no number."""
    if not all(cell.done for cell in cells.values()) or paper.TRUE_SUBSET not in cells or len(cells) < 2:
        return None
    others = {subset: cell for subset, cell in cells.items() if subset != paper.TRUE_SUBSET}
    second = max(others, key=lambda subset: others[subset].mean)
    true = cells[paper.TRUE_SUBSET]
    best_other = np.max([cell.values for cell in others.values()], axis=0)
    n_first = int(np.sum(true.values > best_other))
    return Lead(true.mean - others[second].mean, second, n_first, true.values.size)


def paper_lead() -> float:
    """The lead of the true subset in the paper's table."""
    others = (value for subset, value in paper.SUBSETS.items() if subset != paper.TRUE_SUBSET)
    return paper.SUBSETS[paper.TRUE_SUBSET] - max(others)


def subset_table(rows: list[dict[str, Any]]) -> str:
    """Mean SMI of the four-column subsets of and-or, in two halves side by side, each beside the paper's."""
    cells, notes = subset_cells(rows), Notes()
    order = sorted(cells, key=lambda subset: (sum(column > 4 for column in subset), subset))
    lines = []
    for subset in order:
        printed = paper.SUBSETS.get(subset)
        marked = subset == paper.TRUE_SUBSET
        shown = ("not printed" if subset else "") if printed is None else bold(f"{printed:.3f}", marked)
        lines.append([", ".join(map(str, subset)) or "all", show(cells[subset], notes, marked=marked), shown])
    half = (len(lines) + 1) // 2
    right = lines[half:] + [["", "", ""]] * (2 * half - len(lines))
    both = [left + other for left, other in zip(lines[:half], right, strict=True)]
    return notes.below(table(["columns", "SMI", "paper"] * 2, both))


SECTIONS: dict[str, Callable[[list[dict[str, Any]]], str]] = {
    "toys": toy_table,
    "subsets": subset_table,
    "real": real_tables.all_tables,
}


def main(results_dir: Path, experiment: str | None = None) -> None:
    """Print the tables of one experiment, or of all."""
    for name in [experiment] if experiment else SECTIONS:
        if name not in SECTIONS:
            raise ValueError(
                f"experiment is {name!r}, which has no table; choose one of {', '.join(SECTIONS)}."
            )
        rows = read(results_dir, name)
        print(f"## {name}\n\n{SECTIONS[name](rows) if rows else missing(name)}\n")
