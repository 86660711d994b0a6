"""Comparison of selectors on the same splits, by their errors on held-out rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray, is_non_numpy, to_numpy
from l1lsmi._clock import Budget, check_time, while_time_is_left
from l1lsmi._numerics.target import Target
from l1lsmi._validation.columns import Columns, has_numbers_only, is_frame, take_rows
from l1lsmi._validation.folds import check_groups
from l1lsmi._validation.parameters import check_seconds, for_other_rows, seed_of
from l1lsmi._validation.target import plain_target, target_rows
from l1lsmi._warnings import of_part_of_rows
from l1lsmi.evaluation._checks import check_any_kind, check_task, numbers_of, required
from l1lsmi.evaluation._several import needs_standardised_error, standardised_error
from l1lsmi.evaluation.protocols import error_on_rows
from l1lsmi.evaluation.splits import split_rows

#: Name of the result with all features.
ALL_FEATURES = "all features"


@dataclass(frozen=True, eq=False)
class Compared:
    """One selector in a comparison.

    Attributes
    ----------
    name : str
    error : float
        Mean of the errors; nan if the selector failed.
    errors : numpy.ndarray of shape (n_splits,)
        Error rate on the held-out rows, or root mean squared error in regression; for several targets or
        survival the standardised error.
    seconds : float
        Time of the selection from all rows, or with ``on_all_rows=False`` from the training rows of the first
        split; 0 for all features.
    n_features : int
        Number of features in this selection; 0 if the selector failed.
    support : numpy.ndarray of int
        Features selected from all rows; empty with ``on_all_rows=False``.
    failure : str or None
        First line of the error message if the selector failed.
    """

    name: str
    error: float
    errors: HostArray
    seconds: float
    n_features: int
    support: HostArray
    failure: str | None

    @property
    def standard_error(self) -> float:
        """Standard error of the mean error, over the splits; nan with fewer than two splits."""
        n_splits = len(self.errors)
        return float(np.std(self.errors, ddof=1) / np.sqrt(n_splits)) if n_splits > 1 else np.nan


@dataclass(frozen=True, eq=False)
class SelectorComparison:
    """Comparison of selectors on the same data.

    Attributes
    ----------
    results : tuple of Compared
        In the order of the selectors, all features last.
    agreement : numpy.ndarray of shape (results, results)
        Jaccard index of the features selected from all rows, from 0 to 1; nan for selectors that failed.
        Empty with ``on_all_rows=False``.
    task : {"classification", "regression", "several", "survival"}
    n_splits : int
    n_rows : int
        Number of rows.
    n_train, n_test : int
        Number of training and test rows of the first split; with groups, the numbers can differ between
        splits.
    guess : float
        Error of a constant prediction: the most frequent class, or the mean. It is 1 if errors are
        standardised.
    stopped : bool
        Whether the comparison was stopped before the last selector.
    """

    results: tuple[Compared, ...]
    agreement: HostArray
    task: str
    n_splits: int
    n_rows: int
    n_train: int
    n_test: int
    guess: float
    stopped: bool

    def __iter__(self) -> Iterator[Compared]:
        return iter(self.results)


def compare_selectors(
    selectors: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    task: str = "auto",
    n_splits: int = 3,
    n_train: int | None = None,
    groups: Any = None,
    include_all: bool = True,
    on_all_rows: bool = True,
    random_state: Any = 0,
    progress: Callable[[str, int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
    categorical_features: Any = "from_dtype",
    time_limit: float | None = None,
) -> SelectorComparison:
    """Compare selectors by the error of a support vector machine on held-out rows.

    In every split, each selector is fitted to the same training rows, and its features are evaluated by
    `held_out_error`; if it selects no features, the prediction is constant. A selector that fails is part of
    the result, with its error message.

    With several targets, a support vector machine is fitted to each of them, and the error is standardised:
    divided by the error of a constant prediction, and averaged over the targets. Times until an event are
    predicted as martingale residuals.

    Parameters
    ----------
    selectors : mapping of str to estimator
        Selectors by name. They are cloned, and use their own ``task`` parameter.
    X : array-like or dataframe of shape (n, m)
        Categories and missing values are passed to the selectors as they are, and to the support vector
        machine as in `held_out_error`.
    y : array-like of shape (n,) or (n, t)
    task : {"auto", "classification", "regression", "survival"}, default="auto"
        Task of the support vector machine.
    n_splits : int, default=3
    n_train : int or None, default=None
        Number of training rows in a split; None is 70 % of the rows or, with groups, all rows outside the
        test groups.
    groups : array-like of shape (n,) or None, default=None
        Rows with the same label are either all training or all test rows of a split.
    include_all : bool, default=True
        Whether to add a result for all features.
    on_all_rows : bool, default=True
        Whether to fit each selector to all rows as well, which gives the selected features and the time.
    random_state : int, RandomState instance or None, default=0
        Seed of the splits.
    progress : callable or None, default=None
        Called as ``progress(name, done, total)`` after every fit, with the name of the selector, the number
        of fits done so far, and the total number of fits.
    stop : callable or None, default=None
        Called after every fit, and when a fit is interrupted; if it returns True, the comparison ends with
        the selectors evaluated so far.
    categorical_features : "from_dtype", None, or names, numbers or a mask of columns, default="from_dtype"
        Columns that are categories for the support vector machine; selectors have a parameter of their own.
    time_limit : float or None, default=None
        Seconds after which the comparison ends with the selectors evaluated so far; a fit that has begun is
        stopped, even if the selector has a longer time limit of its own.

    Returns
    -------
    SelectorComparison

    Examples
    --------
    >>> from l1lsmi import L1LSMI, FeatureSelector
    >>> from l1lsmi.datasets import make_xor
    >>> from l1lsmi.evaluation import compare_selectors
    >>> from l1lsmi.measures import Pearson
    >>> from l1lsmi.strategies import Ranking
    >>> X, y = make_xor(200, random_state=0)
    >>> ranking = FeatureSelector(Pearson(), Ranking(), 2)
    >>> result = compare_selectors({"l1-LSMI": L1LSMI(2, random_state=0), "ranking": ranking}, X, y)
    >>> [(row.name, row.error < 0.1) for row in result]
    [('l1-LSMI', True), ('ranking', False), ('all features', True)]
    """
    _check_selectors(selectors, include_all)
    if not isinstance(n_splits, Integral) or isinstance(n_splits, bool) or int(n_splits) < 1:
        raise ValueError(f"n_splits={n_splits!r} must be an integer, at least 1.")
    check_task(task)
    budget = Budget(check_seconds("time_limit", time_limit))
    columns, target = check_any_kind(X, required("y", y), task, categorical_features)
    given = given_to_selectors(X, columns, selectors)
    data = _split_data(given, columns, y, target, task, int(n_splits), n_train, groups, random_state)
    entries: dict[str, Any] = {**selectors, **({ALL_FEATURES: None} if include_all else {})}
    results: list[Compared] = []
    with while_time_is_left(budget):
        for one in data.evaluate_all(entries, on_all_rows, progress, stop or (lambda: False)):
            results.append(one)
            check_time()
    train, test = data.splits[0]
    return SelectorComparison(
        results=tuple(results),
        agreement=_agreement(tuple(results) if on_all_rows else ()),
        task=data.task,
        n_splits=int(n_splits),
        n_rows=int(data.y.shape[0]),
        n_train=int(train.size),
        n_test=int(test.size),
        guess=data.guess(),
        stopped=len(results) < len(entries),
    )


class _StoppedError(Exception):
    """The comparison was stopped."""


@dataclass(frozen=True, eq=False)
class _SplitData:
    """Data and splits, the same for all selectors."""

    given: Any
    columns: Columns
    y: HostArray
    target: Target
    task: str
    groups: HostArray | None
    splits: tuple[tuple[HostArray, HostArray], ...]
    #: Errors of sets in splits: several selectors often select the same.
    known: dict[tuple[int, tuple[int, ...]], float] = field(default_factory=dict)

    def evaluate_all(
        self,
        entries: Mapping[str, Any],
        on_all_rows: bool,
        progress: Callable[[str, int, int], None] | None,
        stop: Callable[[], bool],
    ) -> Iterator[Compared]:
        per_entry = len(self.splits) + on_all_rows
        total = per_entry * len(entries)
        for position, (name, selector) in enumerate(entries.items()):

            def report(done: int, name: str = name, before: int = position * per_entry) -> None:
                if progress is not None:
                    progress(name, before + done, total)
                if stop():
                    raise _StoppedError

            try:
                yield self._evaluate(name, selector, on_all_rows, report)
            except _StoppedError:
                return
            except KeyboardInterrupt:
                if stop():
                    return
                raise

    def _evaluate(
        self, name: str, selector: Any, on_all_rows: bool, report: Callable[[int], None]
    ) -> Compared:
        errors = np.full(len(self.splits), np.nan)
        support = np.empty(0, dtype=np.intp)
        sizes, seconds = [], []
        done = 0
        try:
            for rows in [slice(None)] * on_all_rows + [train for train, _ in self.splits]:
                started = time.perf_counter()
                selected = self._select(selector, rows)
                seconds.append(0.0 if selector is None else time.perf_counter() - started)
                sizes.append(selected.size)
                if isinstance(rows, slice):
                    support = selected
                else:
                    errors[done - on_all_rows] = self._known_error(selected, done - on_all_rows)
                done += 1
                report(done)
        except _StoppedError:
            raise
        except Exception as error:
            report(len(self.splits) + on_all_rows)
            none = np.empty(0, dtype=np.intp)
            return Compared(name, np.nan, np.full_like(errors, np.nan), np.nan, 0, none, _first_line(error))
        return Compared(name, float(errors.mean()), errors, seconds[0], sizes[0], support, None)

    def _select(self, selector: Any, rows: Any) -> HostArray:
        if selector is None:
            return np.arange(len(self.columns.levels))
        with nullcontext() if isinstance(rows, slice) else of_part_of_rows():
            some = self.given if isinstance(rows, slice) else take_rows(self.given, rows)
            fitted = for_other_rows(selector).fit(some, target_rows(self.y, rows))
        return np.flatnonzero(fitted.get_support())

    def _known_error(self, support: HostArray, split: int) -> float:
        key = split, tuple(support.tolist())
        if key not in self.known:
            self.known[key] = self._error(support, *self.splits[split])
        return self.known[key]

    def _error(self, support: HostArray, train: HostArray, test: HostArray) -> float:
        if needs_standardised_error(self.target):
            return standardised_error(self.columns, support, self.target, train, test, self.groups)
        if not support.size:
            return _error_without_features(self.y[train], self.y[test], self.task)
        return error_on_rows(
            self.columns,
            self.y,
            train,
            test,
            support,
            task=self.task,
            cv=min(5, train.size),
            groups=None if self.groups is None else self.groups[train],
        )

    def guess(self) -> float:
        """Error of a constant prediction."""
        return 1.0 if needs_standardised_error(self.target) else _constant_error(self.y, self.task)


def given_to_selectors(X: Any, columns: Columns, selectors: Mapping[str, Any]) -> Any:
    """What selectors are fitted to: an array of numbers if all columns are numeric, else X as it is."""
    if is_frame(X) and _needs_frame(X, selectors):
        return X
    if any(columns.levels):
        return to_numpy(X) if is_non_numpy(X) else np.asarray(X)
    return columns.x


def _needs_frame(X: Any, selectors: Mapping[str, Any]) -> bool:
    """Whether selectors are to get a dataframe as it is, for its kinds of columns or for their names."""
    if not has_numbers_only(X):
        return True
    parameters = [item for one in selectors.values() for item in one.get_params().items()]
    return any(
        name.split("__")[-1] == "categorical_features" and value is not None and not isinstance(value, str)
        for name, value in parameters
    )


def _split_data(
    given: Any,
    columns: Columns,
    y: Any,
    target: Target,
    task: str,
    n_splits: int,
    n_train: int | None,
    groups: Any,
    random_state: Any,
) -> _SplitData:
    kind = target.task
    group_of_row = check_groups(groups, target.n_rows, at_least=1)
    values = plain_target(y, task)
    split_task = task if needs_standardised_error(target) else kind
    seeds = np.random.default_rng(seed_of(random_state)).integers(2**31, size=n_splits).tolist()
    splits = tuple(
        split_rows(values, n_train=n_train, groups=group_of_row, task=split_task, random_state=seed)
        for seed in seeds
    )
    return _SplitData(given, columns, values, target, kind, group_of_row, splits)


def _constant_error(y: HostArray, task: str) -> float:
    if task == "regression":
        return float(numbers_of(y).std())
    return 1.0 - float(np.unique(y, return_counts=True)[1].max()) / y.size


def _error_without_features(train: HostArray, test: HostArray, task: str) -> float:
    """Error of the mean, or of the most frequent class, of the training rows."""
    if task == "regression":
        return float(np.sqrt(np.mean((numbers_of(test) - numbers_of(train).mean()) ** 2)))
    classes, counts = np.unique(train, return_counts=True)
    return float(np.mean(test != classes[counts.argmax()]))


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _agreement(results: tuple[Compared, ...]) -> HostArray:
    """Jaccard indices of the selected features."""
    sets = [None if row.failure is not None else set(row.support.tolist()) for row in results]
    matrix = np.full((len(sets), len(sets)), np.nan)
    for a, one in enumerate(sets):
        for b, other in enumerate(sets):
            if one is not None and other is not None:
                matrix[a, b] = len(one & other) / max(len(one | other), 1)
    return matrix


def _check_selectors(selectors: Any, include_all: bool) -> None:
    if not isinstance(selectors, Mapping) or not selectors:
        what = "empty" if isinstance(selectors, Mapping) else f"a {type(selectors).__name__}"
        raise ValueError(f"selectors is {what}: pass selectors by name, such as {{'l1-LSMI': L1LSMI(5)}}.")
    for name, selector in selectors.items():
        if isinstance(selector, type) or not (hasattr(selector, "fit") and hasattr(selector, "get_support")):
            what = f"the class {selector.__name__}" if isinstance(selector, type) else repr(selector)[:60]
            raise ValueError(f"selectors[{name!r}] is {what}: pass a selector, such as L1LSMI(5).")
    if include_all and ALL_FEATURES in selectors:
        raise ValueError(
            f"selectors has a selector named {ALL_FEATURES!r}: rename it, or pass include_all=False."
        )
