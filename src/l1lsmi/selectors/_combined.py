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
from l1lsmi._rows.table import PRECISIONS, Resources
from l1lsmi._validation.features import check_device
from l1lsmi.measures import Measure
from l1lsmi.strategies import L1Paper, L1Path, Selection, Strategy
from l1lsmi.strategies._base import COUNT
from l1lsmi.strategies.selection import StopReason


def pick(part: Any, *names: str) -> dict[str, list[Any]]:
    """Constraints that a part already puts on parameters which are handed through to it."""
    return {name: part._parameter_constraints[name] for name in names}


class PartsSelector(Selector):
    """A selector made of a measure and a strategy, with a memory limit, a device and a precision."""

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

    def _resources(self) -> Resources:
        # A cluster may have more workers; threads share the rows of this process.
        n_threads = min(effective_n_jobs(self._n_jobs()), cpu_count())
        return Resources(self.memory_limit, n_threads, precision=self.precision)

    def _n_jobs(self) -> int | None:
        """Number of threads."""
        raise NotImplementedError

    def _learn(self, table: Any, target: Any, k: int) -> dict[str, Any]:
        measure, strategy = self._make_measure(), self._make_strategy()
        random_state = measure.random_state if self.random_state is None else self.random_state
        problem = measure.bind(table, target, random_state)
        strategy.check(measure, problem)
        selection: Selection = strategy.search(problem, k)
        learned = {field.name: getattr(selection, field.name) for field in fields(selection)}
        return self._rename({**learned, "path": list(selection.path)})

    def _make_measure(self) -> Measure:
        raise NotImplementedError

    def _make_strategy(self) -> Strategy:
        raise NotImplementedError

    def _rename(self, learned: dict[str, Any]) -> dict[str, Any]:
        """Learned attributes under the names that this selector has for them."""
        return learned

    def _after_fit(self) -> None:
        if self.stop_reason_ in (StopReason.TIME_LIMIT, StopReason.INTERRUPTED):
            warnings.warn(self.stop_reason_, ConvergenceWarning, stacklevel=3)


#: Strategies by the name of their algorithm.
_ALGORITHMS: dict[str, type[Strategy]] = {"path": L1Path, "paper": L1Paper}
#: Parameters that a selector hands on to its strategy; of the first two, None is the strategy's default.
_HANDED = ("n_restarts", "max_iter", "time_limit", "explore_rows", "n_jobs", "verbose")


class L1Selector(PartsSelector):
    """A selector that weights features: hands its parameters on to `L1Path` or `L1Paper`."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PartsSelector._parameter_constraints,
        **pick(L1Path, "time_limit", "explore_rows", "n_jobs", "verbose"),
        "algorithm": [StrOptions(set(_ALGORITHMS))],
        "n_restarts": [COUNT, None],
        "max_iter": [COUNT, None],
    }
    algorithm: str
    n_jobs: int | None

    def _make_strategy(self) -> Strategy:
        handed = {name: getattr(self, name) for name in _HANDED}
        given = {k: v for k, v in handed.items() if v is not None or k not in ("n_restarts", "max_iter")}
        return _ALGORITHMS[self.algorithm](**given)

    def _supports_out_of_core(self) -> bool:
        return True

    def _n_jobs(self) -> int | None:
        return self.n_jobs
