"""Turn a table into what a selector takes: a matrix of numbers and a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from l1lsmi._messages import counted, listed, printable, quoted
from l1lsmi._task import TASKS
from l1lsmi.files._candidates import candidate_columns, left_out_notes, usable_columns
from l1lsmi.files._encode import Features, encode
from l1lsmi.files._memory import check_memory
from l1lsmi.files._target import read_targets
from l1lsmi.files.problem import FileProblem
from l1lsmi.files.table import MAX_LEVELS, Column, DataTable, Values

MISSING = ("impute", "drop", "error")


@dataclass(frozen=True)
class ColumnUse:
    """How a column of the file is used.

    Parameters
    ----------
    name : str
    kind : str
        As in the table.
    n_missing : int
        In the whole table.
    used_as : str
        "target", "number", "number of days", "yes/no", "1 indicator", "3 indicators", or "left out: " with
        the reason.

    Examples
    --------
    >>> from l1lsmi.files import ColumnUse
    >>> ColumnUse("age", "number", 2, "number").used
    True
    """

    name: str
    kind: str
    n_missing: int
    used_as: str

    @property
    def used(self) -> bool:
        """Whether it is a feature or the target."""
        return not self.used_as.startswith("left out")


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    r"""The data that a selector is fitted to.

    Parameters
    ----------
    X : ndarray of float64, shape (n_samples, n_features)
        Of a table that is read from disk in batches, an object with ``shape`` and ``dataset``.
    y : ndarray of shape (n_samples,), or TargetTable
        float64 for regression, labels as str for classification; a table of such columns for several targets.
    task : str
        "classification", "regression" or "survival"; "auto" for several targets of both kinds.
    feature_names : tuple of str
    source_columns : tuple of str
        The column of the file behind each feature.
    target : str
        Of several targets all names, separated by commas.
    columns : list of ColumnUse
        One for each column of the file, in its order.
    notes : tuple of str
        Decisions made, one sentence each; those made in reading are in the notes of the table.
    row_numbers : ndarray of int
        Rows of the table that are kept, from 0.
    targets : tuple of str
        Names of all targets.
    tasks : tuple of str
        The task of each target.

    Examples
    --------
    >>> import io
    >>> from l1lsmi.files import prepare, read_table
    >>> prepare(read_table(io.BytesIO(b"a,b,y\n1,2,u\n3,1,v\n5,9,u\n")), "y")
    <3 rows, 2 features, classification of 'y'>
    """

    X: Any
    y: Values
    task: str
    feature_names: tuple[str, ...]
    source_columns: tuple[str, ...]
    target: str
    columns: list[ColumnUse]
    notes: tuple[str, ...]
    row_numbers: Values
    targets: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        n, m = self.X.shape
        names = quoted(self.target) if len(self.targets) < 2 else listed(self.targets)
        task = "prediction" if self.task == "auto" else self.task
        return f"<{n} rows, {m} features, {task} of {names}>"


def prepare(
    table: DataTable,
    target: str | Sequence[str],
    *,
    task: str = "auto",
    missing: str = "impute",
    drop: Sequence[str] = (),
    only: Sequence[str] = (),
    max_levels: int = MAX_LEVELS,
) -> Prepared:
    r"""Turn a table into features and a target.

    Numbers, dates (as days) and yes/no are a feature each. A category of two levels is one indicator, named
    ``sex = male`` for the last level in alphabetical order; one of more levels has an indicator for each.
    Left out are columns that are empty or constant, text with more than ``max_levels`` levels, text that is
    different in every row, row names, and row numbers: whole numbers that increase by one from row to row,
    in files of 10 rows or more. Rows without a target are left out.

    Parameters
    ----------
    table : DataTable
    target : str or sequence of str
        Name of the column to predict, or of several.
    task : str
        "classification", "regression", "survival", or "auto": text and at most 20 distinct whole numbers are
        classes. For "survival" the targets are two columns, the time and the event, which is 1, or 0 where
        the time is censored.
    missing : str
        What to do with missing values of features. "impute" replaces them by the median, in categories by the
        level ``missing``; "drop" leaves out the row; "error" raises an error.
    drop : sequence of str
        Columns that do not become features.
    only : sequence of str
        If not empty, only these columns become features, even if they are row names or row numbers.
    max_levels : int
        Text with more levels is left out.

    Returns
    -------
    Prepared

    Raises
    ------
    FileProblem
        If a column does not exist, or no feature is left.

    Examples
    --------
    >>> import io
    >>> from l1lsmi.files import prepare, read_table
    >>> text = b"id,age,sex,ill\na1,31,f,yes\na2,,m,no\na3,27,m,no\na4,40,f,yes\n"
    >>> data = prepare(read_table(io.BytesIO(text)), "ill")
    >>> data.feature_names
    ('age', 'sex = m')
    >>> data.X.tolist()
    [[31.0, 0.0], [31.0, 1.0], [27.0, 1.0], [40.0, 0.0]]
    >>> data.y.tolist()
    ['yes', 'no', 'no', 'yes']
    >>> for use in data.columns:
    ...     print(use.name, "-", use.used_as)
    id - left out: every value is different
    age - number
    sex - 1 indicator
    ill - target
    """
    _check_choices(task, missing, max_levels)
    targets = _distinct_targets(target)
    what = f"the target {quoted(targets[0])}" if len(targets) == 1 else f"the targets {listed(targets)}"
    to_predict = [table.column(name) for name in targets]
    candidates, uses = candidate_columns(table, to_predict, drop, only)
    notes: list[str] = []
    rows = np.flatnonzero(~np.logical_or.reduce([column.missing for column in to_predict]))
    if len(targets) > 1 and not rows.size:
        raise FileProblem(f"{printable(table.source)} has no row with a value of all of {what}.")
    y, task, tasks = read_targets(to_predict, task, rows, notes)
    if len(rows) < table.n_rows:
        n_dropped = counted(table.n_rows - len(rows), "row")
        notes.insert(0, f"Left out {n_dropped} without a value of {what}.")
    usable = usable_columns(candidates, max_levels, set(only), uses)
    kept = _complete_rows(usable, rows, missing, table, notes)
    if len(kept) < len(rows):
        y, rows = y[np.isin(rows, kept)], kept
    X = table.streamed([column.name for column in usable])
    if X is None:
        features = encode(usable, rows, uses, notes)
    else:
        uses.update((column.name, column.kind) for column in usable)
        features = [Features(column.name, [column.name], column.values) for column in usable]
    if not features:
        raise FileProblem(_no_features(table, what, uses))
    if len(rows) < 2:
        raise FileProblem(
            f"{printable(table.source)} has only {counted(len(rows), 'row')} that can be used: at least 2 "
            "are needed."
        )
    return Prepared(
        X=_matrix(features, len(rows), table.source) if X is None else X,
        y=y,
        task=task,
        feature_names=_distinct([name for column in features for name in column.names]),
        source_columns=tuple(column.column for column in features for _ in column.names),
        target=", ".join(targets),
        columns=[ColumnUse(c.name, c.kind, c.n_missing, uses[c.name]) for c in table.columns],
        notes=(*notes, *left_out_notes(uses)),
        row_numbers=rows,
        targets=targets,
        tasks=tuple(tasks),
    )


def _distinct_targets(target: str | Sequence[str]) -> tuple[str, ...]:
    targets = (target,) if isinstance(target, str) else tuple(target)
    if not targets:
        raise ValueError("target is empty: pass the name of at least one column.")
    if len(set(targets)) < len(targets):
        twice = next(name for name in targets if targets.count(name) > 1)
        raise FileProblem(f"The target {quoted(twice)} is named twice: name each target once.")
    return targets


def _check_choices(task: str, missing: str, max_levels: int) -> None:
    if task not in TASKS:
        raise ValueError(f"task={task!r} is unknown: pass one of {', '.join(TASKS)}.")
    if missing not in MISSING:
        raise ValueError(f"missing={missing!r} is unknown: pass one of {', '.join(MISSING)}.")
    if max_levels < 2:
        raise ValueError(f"max_levels={max_levels!r} must be a whole number of at least 2.")


def _complete_rows(
    usable: list[Column], rows: Values, missing: str, table: DataTable, notes: list[str]
) -> Values:
    """The rows that are kept where some have missing values."""
    incomplete = [column for column in usable if column.n_missing]
    if missing == "impute" or not incomplete:
        return rows
    has_missing = np.logical_or.reduce([column.missing for column in incomplete])[rows]
    if missing == "error" and has_missing.any():
        first = next(column for column in incomplete if column.missing[rows].any())
        raise FileProblem(
            f"{printable(table.source)} has missing values in {counted(int(has_missing.sum()), 'row')}, "
            f'first in column {quoted(first.name)}: fill them, or use missing="impute" or missing="drop".'
        )
    kept: Values = rows[~has_missing]
    if len(kept) < 2:
        raise FileProblem(
            f"{printable(table.source)} has {counted(len(kept), 'row')} without missing values, and at least "
            '2 are needed: use missing="impute", or drop the columns that have most.'
        )
    if len(kept) < len(rows):
        notes.append(f"Left out {counted(len(rows) - len(kept), 'row')} with missing values.")
    return kept


def _no_features(table: DataTable, what: str, uses: dict[str, str]) -> str:
    others = [name for name, use in uses.items() if use != "target"]
    why = f" ({quoted(others[0])} is {uses[others[0]]})" if others else ""
    source = printable(table.source)
    return f"{source} has no column beside {what} that can be a feature{why}."


def _matrix(features: list[Features], n_rows: int, source: str) -> Values:
    n_features = sum(len(column.names) for column in features)
    check_memory(source, 16 * n_rows * n_features, "its features")
    # Concatenating rows and transposing once is faster than writing column by column.
    return np.ascontiguousarray(np.concatenate([column.values for column in features]).T)


def _distinct(names: list[str]) -> tuple[str, ...]:
    """Names without repetition: an indicator that is called like a column gets a number."""
    taken = set(names)
    distinct: dict[str, None] = {}
    for name in names:
        count, candidate = 1, name
        while candidate in distinct or (count > 1 and candidate in taken):
            count += 1
            candidate = f"{name} ({count})"
        distinct[candidate] = None
    return tuple(distinct)
