"""Summary of the results on 22 datasets: best methods, ranks, losses, redundancy and time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from experiments import paper_numbers as paper
from experiments.reading import Cell, cells_of, in_order, method_info
from l1lsmi.evaluation import compare_methods, critical_difference

OURS = "l1_lsmi"
OURS_AS_IN_PAPER = "l1_lsmi_paper"
NINE = tuple(paper.REAL_COLUMNS.values())
NINE_AS_IN_PAPER = tuple(OURS_AS_IN_PAPER if name == OURS else name for name in NINE)
PROTOCOLS = ("paper", "held_out")


class Outcome(NamedTuple):
    """Methods compared on one dataset."""

    best: str
    tied: frozenset[str]
    p_values: dict[str, float]


class Loss(NamedTuple):
    """A dataset where a method is neither best nor tied, or has no number at all."""

    dataset: str
    winner: str
    winner_mean: float
    own: Cell
    p_value: float | None
    partial: bool


class Ranks(NamedTuple):
    """Mean ranks over datasets, best first."""

    methods: list[str]
    ranks: list[float]
    groups: list[list[str]]
    friedman_p: float
    critical_difference: float
    n_datasets: int
    left_out: dict[str, str]


class Pairwise(NamedTuple):
    """Number of datasets where our method is significantly better, tied, or significantly worse."""

    better: int
    tied: int
    worse: int


@dataclass(frozen=True)
class Errors:
    """The errors of one protocol, by dataset and method."""

    protocol: str
    cells: dict[tuple[str, str], Cell]

    @classmethod
    def of(cls, rows: Sequence[dict[str, Any]], protocol: str) -> Errors:
        return cls(protocol, cells_of([r for r in rows if r["protocol"] == protocol], "dataset", "method"))

    def get(self, dataset: str, method: str) -> Cell | None:
        return self.cells.get((dataset, method))

    @cached_property
    def methods(self) -> list[str]:
        return in_order(method for _, method in self.cells)

    @cached_property
    def independent(self) -> list[str]:
        """Methods that do not use the predictor that scores the selections."""
        return [name for name in self.methods if method_info(name).kind != "wrapper"]

    def able(self, methods: Sequence[str]) -> list[str]:
        """The methods that have a number on at least one complete dataset."""
        return [name for name in methods if any(self._is_done(d, name) for d in self.complete)]

    @cached_property
    def wrappers(self) -> list[str]:
        return [name for name in self.methods if name not in self.independent]

    @cached_property
    def datasets(self) -> list[str]:
        """In the order of the paper's table."""
        known = list(paper.REAL)
        found = {dataset for dataset, _ in self.cells}
        return sorted(found, key=lambda d: (known.index(d) if d in known else len(known), d))

    @cached_property
    def partial(self) -> frozenset[str]:
        """Datasets of which only a part was available; shown, but not counted."""
        return frozenset(key[0] for key, cell in self.cells.items() if any(r["partial"] for r in cell.rows))

    @property
    def complete(self) -> list[str]:
        return [dataset for dataset in self.datasets if dataset not in self.partial]

    @property
    def trials(self) -> int:
        return max((len(cell.rows) for cell in self.cells.values()), default=0)

    def compare(self, dataset: str, methods: Sequence[str]) -> Outcome | None:
        """The best of some methods and those not significantly worse; None if no method has a number."""
        done = [name for name in methods if (cell := self.get(dataset, name)) and cell.done]
        if not done:
            return None
        found = compare_methods(np.column_stack([self.cells[dataset, name].values for name in done]))
        tied = frozenset(name for name, is_tied in zip(done, found.tied, strict=True) if is_tied)
        return Outcome(done[int(found.best)], tied, dict(zip(done, map(float, found.p_values), strict=True)))

    def tops(self, methods: Sequence[str]) -> dict[str, int]:
        """For each method with numbers, the number of complete datasets where it is best or tied."""
        outcomes = [self.compare(dataset, methods) for dataset in self.complete]
        return {name: sum(o is not None and name in o.tied for o in outcomes) for name in self.able(methods)}

    def losses(self, methods: Sequence[str], name: str = OURS) -> list[Loss]:
        """Datasets where a method is neither best nor tied, or has no number, and the best method."""
        found = []
        for dataset in self.datasets:
            outcome, own = self.compare(dataset, methods), self.get(dataset, name)
            if outcome is None or own is None or name in outcome.tied:
                continue
            mean, p = self.cells[dataset, outcome.best].mean, outcome.p_values.get(name)
            found.append(Loss(dataset, outcome.best, mean, own, p, dataset in self.partial))
        return found

    def pairwise(self, rival: str, name: str = OURS) -> Pairwise | None:
        """Our method against one rival, over the complete datasets where both have a number, if any."""
        counts = [0, 0, 0]
        for dataset in self.complete:
            outcome = self.compare(dataset, [name, rival])
            if outcome is None or len(outcome.p_values) < 2:
                continue
            counts[1 if len(outcome.tied) == 2 else 0 if name in outcome.tied else 2] += 1
        return Pairwise(*counts) if any(counts) else None

    def common(self, methods: Sequence[str]) -> list[str]:
        """Complete datasets where all of these have a number."""
        return [d for d in self.complete if all(self._is_done(d, name) for name in methods)]

    def ranks(self, methods: Sequence[str], datasets: Sequence[str] | None = None) -> Ranks | None:
        """Mean ranks, over the complete datasets or some, of the methods that have a number on each."""
        datasets = self.complete if datasets is None else datasets
        gaps = {name: [d for d in datasets if not self._is_done(d, name)] for name in methods}
        kept = [name for name in methods if not gaps[name]]
        if len(kept) < 3 or len(datasets) < 2:
            return None
        found = critical_difference(
            np.array([[self.cells[dataset, name].mean for name in kept] for dataset in datasets])
        )
        order = np.argsort(found.ranks, kind="stable")
        groups = [[kept[i] for i in group] for group in found.groups]
        return Ranks(
            [kept[i] for i in order],
            [float(found.ranks[i]) for i in order],
            groups,
            float(found.friedman_p),
            float(found.critical_difference),
            len(datasets),
            {
                name: f"no number on {'any' if len(gap) == len(datasets) else ', '.join(gap)}"
                for name, gap in gaps.items()
                if gap
            },
        )

    def _is_done(self, dataset: str, method: str) -> bool:
        cell = self.get(dataset, method)
        return cell is not None and cell.done

    def within_paper(self, method: str = OURS_AS_IN_PAPER) -> dict[str, bool | None]:
        """For each complete dataset of the paper: whether a mean is within 2 sd of the paper's column."""
        found: dict[str, bool | None] = {}
        for dataset in self.complete:
            if dataset in paper.REAL and (printed := paper.REAL[dataset].cells[paper.COLUMN_OF[method]]):
                cell = self.get(dataset, method)
                found[dataset] = printed.within(cell.mean) if cell and cell.done else None
        return found

    def redundancy(self, method: str) -> tuple[float, int] | None:
        """Mean redundancy rate over the complete datasets that have numbers, and how many these are."""
        cells = [self.cells[dataset, method] for dataset in self.complete if self._is_done(dataset, method)]
        found = [rate for cell in cells if (rate := cell.mean_of("redundancy")) is not None]
        return (float(np.mean(found)), len(found)) if found else None

    def median_seconds(self, dataset: str, method: str) -> float | None:
        """Of the selections that were done."""
        cell = self.get(dataset, method)
        rows = [r for r in cell.rows if r["status"] == "done"] if cell else []
        found = [r["select_seconds"] for r in rows if r["select_seconds"] is not None]
        return float(np.median(found)) if found else None

    def total_seconds(self, column: str, method: str | None = None) -> float:
        """Sum over all trials and datasets, of one method or of all."""
        of = [cell for key, cell in self.cells.items() if method in (None, key[1])]
        return float(sum(row[column] or 0.0 for cell in of for row in cell.rows))
