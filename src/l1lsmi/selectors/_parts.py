"""What selectors made of a measure and a strategy share."""

from __future__ import annotations

import warnings
from dataclasses import fields
from numbers import Integral
from typing import Any, ClassVar

from joblib import cpu_count, effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from l1lsmi._base import Selector
from l1lsmi._rows.table import PRECISIONS, Means, Table
from l1lsmi._validation.features import check_device
from l1lsmi._validation.parameters import check_needs
from l1lsmi.measures import Measure
from l1lsmi.strategies import L1Weighting, Selection, Strategy
from l1lsmi.strategies.selection import StopReason


def pick(part: Any, *names: str) -> dict[str, list[Any]]:
    """Constraints that a part already puts on parameters which are handed through to it."""
    return {name: part._parameter_constraints[name] for name in names}


class PartsSelector(Selector):
    """A selector made of a measure and a strategy, which is told where and with what to work on rows."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "memory_limit": [Interval(Integral, 1, None, closed="left"), None],
        "device": [str, None],
        "precision": [StrOptions(set(PRECISIONS))],
        "random_state": ["random_state"],
    }
    memory_limit: int | None
    device: str | None
    precision: str
    random_state: Any
    stop_reason_: str

    def _read(self, X: Any, y: Any, checked: Selector) -> tuple[Any, Any]:
        table, target = super()._read(X, y, checked)
        return (table if self.device is None else check_device(table, self.device)), target

    def _means(self) -> Means:
        # Tasks may go to a cluster with more of them; threads share the rows, and are here.
        n_threads = min(effective_n_jobs(self._n_jobs()), cpu_count())
        return Means(self.memory_limit, n_threads, precision=self.precision)

    def _n_jobs(self) -> int | None:
        """Threads that were asked for."""
        raise NotImplementedError

    def _search(
        self, measure: Measure, strategy: Strategy, table: Table, target: Any, k: int, random_state: Any
    ) -> dict[str, Any]:
        """Everything that the strategy finds, by name."""
        problem = measure.bind(table, target, random_state)
        check_needs(strategy, measure, problem)
        selection: Selection = strategy.search(problem, k)
        learned = {field.name: getattr(selection, field.name) for field in fields(selection)}
        return {**learned, "path": list(selection.path)}

    def _after_fit(self) -> None:
        if self.stop_reason_ in (StopReason.TIME_LIMIT, StopReason.INTERRUPTED):
            warnings.warn(self.stop_reason_, ConvergenceWarning, stacklevel=3)


#: Parameters that a selector which weighs features hands on to its strategy.
_HANDED = ("algorithm", "n_restarts", "max_iter", "time_limit", "explore_rows", "n_jobs", "verbose")


class L1Selector(PartsSelector):
    """A selector that weighs features: hands its parameters through to `L1Weighting`."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PartsSelector._parameter_constraints,
        **pick(L1Weighting, *_HANDED),
    }
    n_jobs: int | None

    def _weighting(self) -> L1Weighting:
        return L1Weighting(**{name: getattr(self, name) for name in _HANDED})

    def _visits_rows(self) -> bool:
        return True

    def _n_jobs(self) -> int | None:
        return self.n_jobs
