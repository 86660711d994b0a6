"""Targets with several columns: a table of them, or times and events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from l1lsmi._arrays import HostArray, is_non_numpy, to_numpy
from l1lsmi._validation.lazy_frames import refuse_lazy

#: How the two columns of a survival target are given.
TIME_AND_EVENT = "pass (time, event), with the event True or 1 where it happened and False or 0 where not"


class TargetColumns(NamedTuple):
    """The columns of a table of targets, and what each is called in messages."""

    names: list[str]
    labels: list[str]
    values: list[Any]

    @classmethod
    def named(cls, names: Sequence[str], values: Sequence[Any]) -> TargetColumns:
        """Columns that have names."""
        return cls(list(names), [repr(name) for name in names], list(values))


def target_columns(y: Any) -> TargetColumns | None:
    """The columns of a target that has two dimensions; None where it has one.

    Categorical columns become text, so that their labels are classes whatever they are.
    """
    if isinstance(y, TargetColumns):
        return y
    refuse_lazy(y, "y")
    if issparse(y):
        raise ValueError("y is a sparse matrix, which is not supported: pass y.toarray().")
    if hasattr(y, "columns") and not isinstance(y, (np.ndarray, dict)):
        return _of_frame(y)
    values = _table(y)
    if values is None:
        return None
    if values.shape[1] == 0:
        raise ValueError(f"y has shape {values.shape}, with no columns: pass one column for each target.")
    names = [str(j) for j in range(values.shape[1])]
    return TargetColumns(names, names, [values[:, j] for j in range(values.shape[1])])


def _table(y: Any) -> HostArray | None:
    """A target of two dimensions as an array; None for others."""
    if is_non_numpy(y):
        return to_numpy(y) if y.ndim == 2 else None
    if isinstance(y, (list, tuple)):
        if not y or not _is_row(y[0]):
            return None
        widths = {len(row) if _is_row(row) else -1 for row in y}
        if len(widths) > 1:
            raise ValueError("y has rows of different lengths: pass the same number of targets in every row.")
        # Of objects: numbers beside text must not become text.
        table = np.empty((len(y), widths.pop()), dtype=object)
        for i, row in enumerate(y):
            table[i] = row
        return table
    values = np.asarray(y) if hasattr(y, "__array__") and not np.ma.is_masked(y) else None
    return values if values is not None and values.ndim == 2 and values.dtype.names is None else None


def _is_row(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim == 1)


def _of_frame(y: Any) -> TargetColumns:
    """The columns of a dataframe of pandas or polars, or of a table of pyarrow."""
    if hasattr(y, "iloc"):
        given = [y.iloc[:, j] for j in range(y.shape[1])]
        names = list(y.columns)
    elif hasattr(y, "get_columns"):
        given, names = y.get_columns(), list(y.columns)
    else:
        given, names = list(y.columns), list(y.column_names)
    if not given:
        raise ValueError("y is a table without columns: pass one column for each target.")
    return TargetColumns.named([str(name) for name in names], [_without_categories(one) for one in given])


def _without_categories(column: Any) -> Any:
    kind = str(getattr(column, "dtype", "")).lower()
    if not kind.startswith(("categor", "enum")):
        return column
    values = np.asarray(column.to_numpy(), dtype=object)
    present = np.array([value is not None and value == value for value in values], dtype=bool)
    return values if not present.all() else values.astype(str)


def joined_columns(columns: list[Any]) -> HostArray:
    """Columns of plain arrays as one array of two dimensions, numbers staying numbers."""
    arrays = [np.asarray(column) for column in columns]
    if any(all(array.dtype.kind in kinds for array in arrays) for kinds in ("fiu", "b")):
        return np.column_stack(arrays)
    table = np.empty((arrays[0].size, len(arrays)), dtype=object)
    for j, values in enumerate(arrays):
        table[:, j] = values
    return table


def is_structured(y: Any) -> bool:
    """Whether rows have named fields."""
    return isinstance(y, np.ndarray) and y.dtype.names is not None


def survival_columns(y: Any) -> tuple[HostArray, HostArray]:
    """Times and events, not yet checked, of a structured array or of two columns."""
    if is_structured(y):
        return _fields(y)
    columns = target_columns(y)
    if columns is None or len(columns.values) != 2:
        found = "1 column" if columns is None else f"{len(columns.values)} columns"
        raise ValueError(f"y has {found}, but task='survival' needs two: {TIME_AND_EVENT}.")
    time, event = (
        to_numpy(one) if is_non_numpy(one) else np.asarray(getattr(one, "to_numpy", lambda one=one: one)())
        for one in columns.values
    )
    return time, event


def _fields(y: HostArray) -> tuple[HostArray, HostArray]:
    y = y.ravel()
    names = y.dtype.names or ()
    events = [name for name in names if y.dtype[name].kind == "b"]
    times = [name for name in names if y.dtype[name].kind in "fiu"]
    if len(names) != 2 or len(events) != 1 or len(times) != 1:
        kinds = ", ".join(f"{name!r} of type {y.dtype[name]}" for name in names)
        raise ValueError(
            f"y is a structured array with {kinds}: pass a bool field (the event) and a numeric field (the "
            "time), or, for several targets, a table with one column for each."
        )
    return np.asarray(y[times[0]]), np.asarray(y[events[0]])


def checked_survival(time: HostArray, event: HostArray) -> tuple[HostArray, HostArray]:
    """Check times and events: finite times from 0 on, and events that are 0 or 1."""
    try:
        time, happened = time.astype(np.float64), event.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"y has times or events that are not numbers, but task='survival': {TIME_AND_EVENT}."
        ) from None
    if not (np.isfinite(time).all() and np.isfinite(happened).all()):
        raise ValueError("Input y contains NaN or infinity among times or events: drop those rows.")
    if not np.isin(happened, (0.0, 1.0)).all():
        odd = happened[~np.isin(happened, (0.0, 1.0))][0]
        raise ValueError(
            f"y has the event {odd:g}, which is neither 0 nor 1: pass (time, event), and recode the event as "
            "1 where it happened and 0 where the time is censored."
        )
    if (time < 0).any():
        raise ValueError(f"y has the negative time {time.min():g}: pass times of at least 0.")
    return time, happened.astype(bool)


def structured_survival(time: HostArray, event: HostArray) -> HostArray:
    """Times and events as a structured array."""
    found = np.empty(time.size, dtype=[("event", bool), ("time", np.float64)])
    found["time"], found["event"] = time, event
    return found
