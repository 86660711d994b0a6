"""One trial on one dataset: the methods select columns, and the selections are scored."""

from __future__ import annotations

import contextlib
import io
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from experiments.config import Config
from experiments.method import Method
from experiments.problem import Drawn, Problem
from experiments.protocols import Protocol, Values, metric_of, protocols_of, redundancy
from experiments.registry import all_methods, all_problems
from experiments.seeds import stable_seed
from experiments.store import Row
from l1lsmi.measures import SquaredMutualInformation

#: Columns of and-or whose sets of four the paper compares: the true ones and the noisy copies.
SUBSET_FEATURES = (0, 1, 2, 3, 7, 8, 9)
MAX_REASON_LENGTH = 300

Evaluations = dict[tuple[str, tuple[int, ...]], Values]


@dataclass(frozen=True)
class Unit:
    """One trial on one dataset.

    Attributes
    ----------
    config : Config
    dataset : str
    trial : int
    methods : tuple of str
        Methods that are not finished yet.
    known : dict
        Values of the sets that finished methods of this trial selected, by protocol and set.
    """

    config: Config
    dataset: str
    trial: int
    methods: tuple[str, ...]
    known: Evaluations


@dataclass(frozen=True)
class Selection:
    """The columns that a method selected, or the reason why it failed."""

    selected: list[int] | None
    seconds: float | None
    reason: str | None


class UnitRunner:
    """Runs the methods of a unit one after another.

    A set that several methods select is scored once under each protocol.
    """

    def __init__(self, unit: Unit, log: Callable[[str], None] = lambda text: None) -> None:
        self.unit = unit
        self.problem: Problem = all_problems()[unit.dataset]
        self._known = dict(unit.known)
        self._log = log
        self._protocols: list[Protocol] | None = None
        self._no_data: str | None = None

    def rows_of(self, name: str) -> list[Row]:
        """Run one method; the rows of its cell. A failure is a row with status "failed"."""
        if self._protocols is None and self._no_data is None:
            try:
                self._protocols = protocols_of(self.unit.config, self.unit.dataset, self.unit.trial)
            except Exception as error:  # such as missing data: every method fails
                self._no_data = self._reason(error)
        if self._no_data is not None:
            return self.failed_rows(name, self._no_data)
        if self.unit.config.protocols == ("subset",):
            return self._subset_rows(name)
        return self._method_rows(all_methods()[name])

    def _method_rows(self, method: Method) -> list[Row]:
        assert self._protocols is not None
        rows: list[Row] = []
        selections: dict[int, dict[int, Selection]] = {}  # by the identity of the rows
        for protocol in self._protocols:
            skipped = self.unit.config.reason_to_skip(method.name, self.unit.dataset, protocol.name)
            if skipped is not None:
                rows += [self._row(method.name, k, protocol, "skipped", skipped) for k in self._ks()]
                continue
            first = id(protocol.train) not in selections
            if first:
                selections[id(protocol.train)] = self._select(method, protocol.train)
            for k, selection in selections[id(protocol.train)].items():
                seconds = selection.seconds if first else None
                rows.append(self._scored_row(method.name, k, protocol, selection, seconds))
        return rows

    def _select(self, method: Method, train: Drawn) -> dict[int, Selection]:
        """One selection for every k; those of a nested method are the beginnings of the longest."""
        ks = self._ks()
        if not method.nested:
            return {k: self._select_k(method, train, k) for k in ks}
        longest = self._select_k(method, train, max(ks))
        found = {}
        for k in ks:
            selected = None if longest.selected is None else longest.selected[:k]
            found[k] = Selection(selected, longest.seconds if k == max(ks) else None, longest.reason)
        return found

    def _select_k(self, method: Method, train: Drawn, k: int) -> Selection:
        started = time.perf_counter()
        try:
            with _quiet():
                answer = method.select(train.X, train.y, k, self.problem.task, self._seed_of(method.name))
            selected = [int(column) for column in answer]
            _check_selection(selected, k, train.X.shape[1])
        except Exception as error:
            return Selection(None, time.perf_counter() - started, self._reason(error))
        return Selection(selected, time.perf_counter() - started, None)

    def _scored_row(
        self, name: str, k: int, protocol: Protocol, selection: Selection, select_seconds: float | None
    ) -> Row:
        values: dict[str, Any] = {"selected": selection.selected, "select_seconds": select_seconds}
        if selection.selected is None:
            return self._row(name, k, protocol, status="failed", reason=selection.reason, **values)
        key = protocol.name, tuple(sorted(selection.selected))
        if key not in self._known:
            started = time.perf_counter()
            try:
                with _quiet():
                    scored = protocol.score(sorted(selection.selected))
                if not np.isfinite(scored["value"]):
                    raise ValueError(f"the {protocol.metric} of the selected features is not finite")
            except Exception as error:
                return self._row(name, k, protocol, status="failed", reason=self._reason(error), **values)
            self._known[key] = scored
            values["evaluate_seconds"] = time.perf_counter() - started
        return self._row(name, k, protocol, status="done", **values, **self._known[key])

    def _subset_rows(self, name: str) -> list[Row]:
        """The estimated measure of every set of the table."""
        assert self._protocols is not None
        (protocol,) = self._protocols
        rows = []
        for subset in map(list, combinations(SUBSET_FEATURES, self.problem.k)):
            started = time.perf_counter()
            measure = SquaredMutualInformation(task=self.problem.task, random_state=self._seed_of(name))
            estimate = measure.estimate(protocol.train.X[:, subset], protocol.train.y)
            values = {
                "value": float(estimate.value),
                "redundancy": redundancy(protocol.train, subset),
                "evaluate_seconds": time.perf_counter() - started,
            }
            rows.append(self._row(name, len(subset), protocol, "done", selected=subset, **values))
        return rows

    def failed_rows(self, name: str, reason: str) -> list[Row]:
        """Rows of a cell that failed as a whole."""
        nothing = Drawn(None, (), None, (), False)
        protocols = [
            Protocol(protocol, metric_of(protocol, self.problem), nothing, 0, dict)
            for protocol in self.unit.config.protocols
        ]
        return [self._row(name, k, protocol, "failed", reason) for protocol in protocols for k in self._ks()]

    def _row(
        self, name: str, k: int, protocol: Protocol, status: str, reason: str | None = None, **values: Any
    ) -> Row:
        return {
            "experiment": self.unit.config.experiment,
            "dataset": self.unit.dataset,
            "trial": self.unit.trial,
            "method": name,
            "protocol": protocol.name,
            "k": k,
            "status": status,
            "reason": reason,
            "metric": protocol.metric,
            "n_train": len(protocol.train.y),
            "n_test": protocol.n_test,
            "seed": self._seed_of(name),
            "partial": protocol.train.partial,
            **values,
        }

    def _seed_of(self, name: str) -> int:
        return stable_seed(self.unit.config.seed, self.unit.dataset, self.unit.trial, name)

    def _ks(self) -> tuple[int, ...]:
        return self.problem.ks if self.unit.config.several_k else (self.problem.k,)

    def _reason(self, error: Exception) -> str:
        self._log("".join(traceback.format_exception(error)).replace("\n", "\n    "))
        lines = str(error).strip().splitlines()
        text = f"{type(error).__name__}: {lines[0] if lines else 'no message'}"
        # Reasons are published: without the path of the home directory.
        return text.replace(str(Path.home()), "~")[:MAX_REASON_LENGTH]


def _check_selection(selected: list[int], k: int, n_features: int) -> None:
    if len(selected) != k or len(set(selected)) != k:
        raise ValueError(f"{k} different columns are required, but the method returned {selected}")
    if not all(0 <= column < n_features for column in selected):
        raise ValueError(f"there are {n_features} columns, but the method returned {selected}")


@contextlib.contextmanager
def _quiet() -> Any:
    """Suppress what methods of other packages print and warn."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield
