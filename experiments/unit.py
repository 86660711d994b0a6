"""One trial on one dataset: draw its rows, let the methods select, judge what they select."""

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
from experiments.registry import all_methods, all_problems
from experiments.seeds import stable_seed
from experiments.store import Row
from l1lsmi.evaluation import SVMError, f_measure, held_out_error, redundancy_rate, svm_error
from l1lsmi.measures import SquaredMutualInformation

#: Features of and-or, from 0, whose sets of four the paper compares: the true ones and the noisy copies.
SUBSET_FEATURES = (0, 1, 2, 3, 7, 8, 9)
MOST_LETTERS = 300

Evaluations = dict[tuple[str, tuple[int, ...]], dict[str, float | None]]


@dataclass(frozen=True)
class Unit:
    """One trial on one dataset.

    Attributes
    ----------
    config : Config
    dataset : str
    trial : int
    methods : tuple of str
        Those that are not finished yet.
    known : dict
        Values of sets that finished methods of this trial selected, by protocol and set.
    """

    config: Config
    dataset: str
    trial: int
    methods: tuple[str, ...]
    known: Evaluations


@dataclass(frozen=True)
class Sitting:
    """Rows to select on, and how a selection is judged under one protocol."""

    protocol: str
    metric: str
    train: Drawn
    n_test: int
    judge: Callable[[list[int]], dict[str, float | None]]


@dataclass(frozen=True)
class Choice:
    """What a method selected, or why it did not."""

    selected: list[int] | None
    seconds: float | None
    reason: str | None


class Desk:
    """Where the methods of one unit are run one after another.

    A set that several methods select is judged once under each protocol.
    """

    def __init__(self, unit: Unit, note: Callable[[str], None] = lambda text: None) -> None:
        self.unit = unit
        self.problem: Problem = all_problems()[unit.dataset]
        self._known = dict(unit.known)
        self._note = note
        self._sittings: list[Sitting] | None = None
        self._no_rows: str | None = None

    def rows_of(self, name: str) -> list[Row]:
        """Run one method; the rows of its cell, failures as failures."""
        if self._sittings is None and self._no_rows is None:
            try:
                self._sittings = sittings_of(self.unit)
            except Exception as error:  # no data, for instance: every method must say so
                self._no_rows = self._reason(error)
        if self._no_rows is not None:
            return self.failed_rows(name, self._no_rows)
        if self.unit.config.protocols == ("subset",):
            return self._subset_rows(name)
        return self._method_rows(all_methods()[name])

    def _method_rows(self, method: Method) -> list[Row]:
        assert self._sittings is not None
        rows: list[Row] = []
        choices: dict[int, dict[int, Choice]] = {}  # by the rows selected on
        for sitting in self._sittings:
            skipped = self.unit.config.reason_to_skip(method.name, self.unit.dataset, sitting.protocol)
            if skipped is not None:
                rows += [self._row(method.name, k, sitting, "skipped", skipped) for k in self._ks()]
                continue
            first = id(sitting.train) not in choices
            if first:
                choices[id(sitting.train)] = self._select(method, sitting.train)
            for k, choice in choices[id(sitting.train)].items():
                seconds = choice.seconds if first else None
                rows.append(self._judged_row(method.name, k, sitting, choice, seconds))
        return rows

    def _select(self, method: Method, train: Drawn) -> dict[int, Choice]:
        """One choice for every k; of a method whose choices are nested, all are parts of the longest."""
        ks = self._ks()
        if not method.nested:
            return {k: self._choose(method, train, k) for k in ks}
        longest = self._choose(method, train, max(ks))
        found = {}
        for k in ks:
            selected = None if longest.selected is None else longest.selected[:k]
            found[k] = Choice(selected, longest.seconds if k == max(ks) else None, longest.reason)
        return found

    def _choose(self, method: Method, train: Drawn, k: int) -> Choice:
        started = time.perf_counter()
        try:
            with _quiet():
                answer = method.select(train.X, train.y, k, self.problem.task, self._seed_of(method.name))
            selected = [int(column) for column in answer]
            _check_selection(selected, k, train.X.shape[1])
        except Exception as error:
            return Choice(None, time.perf_counter() - started, self._reason(error))
        return Choice(selected, time.perf_counter() - started, None)

    def _judged_row(
        self, name: str, k: int, sitting: Sitting, choice: Choice, select_seconds: float | None
    ) -> Row:
        values: dict[str, Any] = {"selected": choice.selected, "select_seconds": select_seconds}
        if choice.selected is None:
            return self._row(name, k, sitting, status="failed", reason=choice.reason, **values)
        key = sitting.protocol, tuple(sorted(choice.selected))
        if key not in self._known:
            started = time.perf_counter()
            try:
                with _quiet():
                    judged = sitting.judge(sorted(choice.selected))
                if not np.isfinite(judged["value"]):
                    raise ValueError(f"the {sitting.metric} of the selected features is not a number")
            except Exception as error:
                reason = self._reason(error)
                return self._row(name, k, sitting, status="failed", reason=reason, **values)
            self._known[key] = judged
            values["evaluate_seconds"] = time.perf_counter() - started
        return self._row(name, k, sitting, status="done", **values, **self._known[key])

    def _subset_rows(self, name: str) -> list[Row]:
        """What the measure says of every set of the table."""
        assert self._sittings is not None
        (sitting,) = self._sittings
        rows = []
        for subset in combinations(SUBSET_FEATURES, self.problem.k):
            started = time.perf_counter()
            measure = SquaredMutualInformation(task=self.problem.task, random_state=self._seed_of(name))
            estimate = measure.estimate(sitting.train.X[:, subset], sitting.train.y)
            rows.append(
                self._row(
                    name,
                    len(subset),
                    sitting,
                    status="done",
                    selected=list(subset),
                    value=float(estimate.value),
                    redundancy=_finite(redundancy_rate(sitting.train.X, list(subset))),
                    evaluate_seconds=time.perf_counter() - started,
                )
            )
        return rows

    def failed_rows(self, name: str, reason: str) -> list[Row]:
        """Rows of a cell about which nothing is known but that it failed."""
        nothing = Drawn(None, (), None, (), False)
        return [
            self._row(
                name,
                k,
                Sitting(protocol, metric_of(protocol, self.problem), nothing, 0, dict),
                "failed",
                reason,
            )
            for protocol in self.unit.config.protocols
            for k in self._ks()
        ]

    def _row(
        self, name: str, k: int, sitting: Sitting, status: str, reason: str | None = None, **values: Any
    ) -> Row:
        return {
            "experiment": self.unit.config.experiment,
            "dataset": self.unit.dataset,
            "trial": self.unit.trial,
            "method": name,
            "protocol": sitting.protocol,
            "k": k,
            "status": status,
            "reason": reason,
            "metric": sitting.metric,
            "n_train": len(sitting.train.y),
            "n_test": sitting.n_test,
            "seed": self._seed_of(name),
            "partial": sitting.train.partial,
            **values,
        }

    def _seed_of(self, name: str) -> int:
        return stable_seed(self.unit.config.seed, self.unit.dataset, self.unit.trial, name)

    def _ks(self) -> tuple[int, ...]:
        return self.problem.ks if self.unit.config.several_k else (self.problem.k,)

    def _reason(self, error: Exception) -> str:
        self._note("".join(traceback.format_exception(error)).replace("\n", "\n    "))
        lines = str(error).strip().splitlines()
        text = f"{type(error).__name__}: {lines[0] if lines else 'no message'}"
        # Reasons are published, and a home directory is nobody's business.
        return text.replace(str(Path.home()), "~")[:MOST_LETTERS]


def metric_of(protocol: str, problem: Problem) -> str:
    """What the values of a protocol are."""
    fixed = {"toy": "f_measure", "subset": "smi"}
    return fixed.get(protocol) or ("error_rate" if problem.task == "classification" else "rmse")


def sittings_of(unit: Unit) -> list[Sitting]:
    """Draw the rows of a trial for every protocol; the same object where they select on the same rows."""
    config, problem = unit.config, all_problems()[unit.dataset]
    options = {
        "task": problem.task,
        "random_state": stable_seed(config.seed, unit.dataset, unit.trial, "folds"),
    }
    drawn = problem.draw(unit.trial, config.n_samples, config.seed)
    # Where both protocols select on the same rows, the grid is searched once.
    searched: dict[tuple[int, ...], SVMError] = {}

    def true_share(selected: list[int]) -> dict[str, float | None]:
        return {"value": f_measure(selected, problem.true_features), **_redundancy(drawn, selected)}

    def same_rows(selected: list[int]) -> dict[str, float | None]:
        found = svm_error(drawn.X[:, selected], drawn.y, **options)
        searched[tuple(selected)] = found
        return {**_values(found), **_redundancy(drawn, selected)}

    def held_out() -> Sitting:
        train, test = problem.split(unit.trial, config.n_samples, config.seed)
        if problem.shares_rows(config.n_samples):
            train = drawn

        def other_rows(selected: list[int]) -> dict[str, float | None]:
            found = held_out_error(
                train.X[:, selected],
                train.y,
                test.X[:, selected],
                test.y,
                groups=train.groups,
                chosen=searched.get(tuple(selected)) if train is drawn else None,
                **options,
            )
            return {**_values(found), **_redundancy(train, selected)}

        return Sitting("held_out", metric_of("held_out", problem), train, len(test.y), other_rows)

    def on_drawn(protocol: str, judge: Any) -> Sitting:
        return Sitting(protocol, metric_of(protocol, problem), drawn, 0, judge)

    makers = {
        "toy": lambda: on_drawn("toy", true_share),
        "subset": lambda: on_drawn("subset", dict),
        "paper": lambda: on_drawn("paper", same_rows),
        "held_out": held_out,
    }
    return [makers[protocol]() for protocol in config.protocols]


def _values(found: Any) -> dict[str, float | None]:
    return {"value": float(found.error), "C": float(found.C), "sigma_factor": float(found.sigma_factor)}


def _redundancy(drawn: Drawn, selected: list[int]) -> dict[str, float | None]:
    return {"redundancy": _finite(redundancy_rate(drawn.X, selected))}


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _check_selection(selected: list[int], k: int, n_features: int) -> None:
    if len(selected) != k or len(set(selected)) != k:
        raise ValueError(f"{k} different columns were asked for, and {selected} came back")
    if not all(0 <= column < n_features for column in selected):
        raise ValueError(f"there are {n_features} columns, and {selected} came back")


@contextlib.contextmanager
def _quiet() -> Any:
    """Methods of others print and warn; the log is not the place for it."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield
