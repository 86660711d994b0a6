"""Stored results, and the table cells that their rows are aggregated to."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from experiments import paper_numbers as paper

KEY = ("dataset", "trial", "method", "protocol", "k")


def read(results_dir: Path, experiment: str) -> list[dict[str, Any]]:
    """All rows of an experiment in the order of their keys; empty if it has not been run."""
    path = Path(results_dir) / f"{experiment}.parquet"
    if not path.exists():
        return []
    rows = pq.read_table(path).to_pylist()
    rows.sort(key=_key)
    for row, following in pairwise(rows):
        if _key(row) == _key(following):
            raise ValueError(f"{path.name} holds {_key(row)} twice; delete it and run {experiment} again.")
    return rows


def read_record(results_dir: Path, experiment: str) -> dict[str, Any]:
    """Versions, machine, command and seeds of an experiment."""
    path = Path(results_dir) / f"{experiment}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def with_rivals(real: list[dict[str, Any]], rivals: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rivals that were run on few trials and datasets, and all other methods on the same ones."""
    trials = {(row["dataset"], row["trial"]) for row in rivals}
    return [row for row in real if (row["dataset"], row["trial"]) in trials] + rivals


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    # In the table of subsets the subset is an input, and so a part of the key.
    subset = tuple(row["selected"] or ()) if row["protocol"] == "subset" else ()
    return (*(row[name] for name in KEY), subset)


@dataclass(frozen=True)
class Cell:
    """Results of one method on one dataset.

    ``values`` is empty unless every trial is done, so that no mean hides a failure.
    """

    status: str
    reason: str | None
    values: np.ndarray
    rows: tuple[dict[str, Any], ...]

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def sd(self) -> float:
        return float(self.values.std(ddof=1)) if self.values.size > 1 else float("nan")

    @property
    def done(self) -> bool:
        return self.status == "done"

    def mean_of(self, column: str) -> float | None:
        """Mean of another column over the trials that have it."""
        found = [row[column] for row in self.rows if row[column] is not None]
        return float(np.mean(found)) if found else None


def cell_of(rows: Iterable[dict[str, Any]], trials: Iterable[int]) -> Cell:
    """One cell from its rows, given the trials that the dataset has.

    One failed trial fails the cell, and a missing trial makes it unfinished.
    """
    rows, trials = tuple(sorted(rows, key=lambda row: row["trial"])), sorted(trials)
    nothing = np.empty(0)
    failed, skipped = ([row for row in rows if row["status"] == status] for status in ("failed", "skipped"))
    if failed:
        share = "" if len(failed) == len(trials) else f" ({len(failed)} of {len(trials)} trials)"
        return Cell("failed", (failed[0]["reason"] or "no reason given") + share, nothing, rows)
    if skipped:
        return Cell("skipped", skipped[0]["reason"] or "no reason given", nothing, rows)
    if [row["trial"] for row in rows] != trials:
        return Cell("unfinished", f"{len(rows)} of {len(trials)} trials done", nothing, rows)
    return Cell("done", None, np.array([row["value"] for row in rows], dtype=float), rows)


def cells_of(rows: Iterable[dict[str, Any]], *by: str) -> dict[tuple[Any, ...], Cell]:
    """Cells keyed by columns, of which the first is the dataset."""
    grouped, trials = defaultdict(list), defaultdict(set)
    for row in rows:
        grouped[tuple(_hashable(row[name]) for name in by)].append(row)
        trials[row["dataset"]].add(row["trial"])
    return {key: cell_of(group, trials[group[0]["dataset"]]) for key, group in grouped.items()}


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def method_info(name: str) -> Any:
    """The ``Method`` of a name: its label and its kind."""
    return import_module(f"experiments.methods.{name}").METHOD


def in_order(methods: Iterable[str]) -> list[str]:
    """Methods of the paper in its order, then others by label, and wrappers last."""
    columns = list(paper.COLUMN_OF)

    def place(name: str) -> tuple[Any, ...]:
        known = columns.index(name) if name in columns else len(columns)
        return (method_info(name).kind == "wrapper", known, method_info(name).label.lower(), name)

    return sorted(set(methods), key=place)
