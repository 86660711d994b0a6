"""A table as what a selector takes: a matrix of numbers and a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from l1lsmi.files.encode import Feature, encode
from l1lsmi.files.memory import check_room
from l1lsmi.files.problem import FileProblem, counted, listed, shown, where
from l1lsmi.files.table import Column, DataTable, Values
from l1lsmi.files.target import TASKS, read_target
from l1lsmi.files.words import MOST_LEVELS

MISSING_VALUES = ("impute", "drop", "error")
NUMBERS_ROWS = "numbers the rows"


@dataclass(frozen=True)
class ColumnUse:
    """What became of a column of the file.

    Parameters
    ----------
    name : str
    kind : str
        As the table has it.
    n_missing : int
        In the whole table.
    used_as : str
        "target", "number", "number of days", "yes/no", "1 indicator", "3 indicators", or "left out: " and
        why.

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
    r"""What a selector is fitted to.

    Parameters
    ----------
    X : ndarray of float64, shape (n_samples, n_features)
        Of a table that is read from disk in batches, an object with ``shape`` and ``dataset``.
    y : ndarray of shape (n_samples,)
        float64 for regression, labels as str for classification.
    task : str
        "classification" or "regression".
    feature_names : tuple of str
    source_columns : tuple of str
        The column of the file behind each feature.
    target : str
    columns : list of ColumnUse
        One for each column of the file, in its order.
    notes : tuple of str
        What was decided, one sentence each; what was decided in reading is in the notes of the table.
    row_numbers : ndarray of int
        Rows of the table that are kept, from 0.

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

    def __repr__(self) -> str:
        n, m = self.X.shape
        return f"<{n} rows, {m} features, {self.task} of {shown(self.target)}>"


def prepare(
    table: DataTable,
    target: str,
    *,
    task: str = "auto",
    missing: str = "impute",
    drop: Sequence[str] = (),
    only: Sequence[str] = (),
    max_levels: int = MOST_LEVELS,
) -> Prepared:
    r"""Make features and a target of a table.

    Numbers, dates (as days) and yes/no are a feature each. A category of two levels is one indicator, named
    ``sex = male`` for the level that comes last in the alphabet; one of more levels has an indicator for
    each. Left out are columns that are empty or constant, words with more than ``max_levels`` levels, words
    of which none comes twice, row names, and whole numbers that number the rows in the order of the file, of
    10 rows or more. Rows without a target are left out.

    Parameters
    ----------
    table : DataTable
    target : str
        Name of the column to predict.
    task : str
        "classification", "regression", or "auto": words and at most 20 different whole numbers are classes.
    missing : str
        What to do where a feature has no value. "impute" puts the median in its place, or the level
        ``missing`` into categories; "drop" leaves out the row; "error" refuses.
    drop : sequence of str
        Columns that are not to be features.
    only : sequence of str
        If there are any, only these columns become features, row names and numbers of rows too.
    max_levels : int
        Words with more levels are left out.

    Returns
    -------
    Prepared

    Raises
    ------
    FileProblem
        If a column is not there, or nothing is left to select from.

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
    column = table.column(target)
    candidates, uses = _candidates(table, column, drop, only)
    notes: list[str] = []
    y, task = read_target(column, task, notes)
    rows = np.flatnonzero(~column.missing)
    if len(rows) < table.n_rows:
        notes.insert(
            0,
            f"Left out {counted(table.n_rows - len(rows), 'row')} without a value of the target "
            f"{shown(target)}.",
        )
    usable = _usable(candidates, max_levels, set(only), uses)
    kept = _without_missing(usable, rows, missing, table, notes)
    if len(kept) < len(rows):
        y, rows = y[np.isin(rows, kept)], kept
    X = table.streamed([column.name for column in usable])
    if X is None:
        features = encode(usable, rows, uses, notes)
    else:
        uses.update((column.name, column.kind) for column in usable)
        features = [Feature(column.name, [column.name], column.values) for column in usable]
    if not features:
        raise FileProblem(_nothing_left(table, target, uses))
    if len(rows) < 2:
        raise FileProblem(
            f"{where(table.source)} has only {counted(len(rows), 'row')} that can be used: at least 2 are "
            "needed."
        )
    notes += _left_out_notes(uses)
    return Prepared(
        X=_matrix(features, len(rows), table.source) if X is None else X,
        y=y,
        task=task,
        feature_names=_distinct([name for feature in features for name in feature.names]),
        source_columns=tuple(feature.column for feature in features for _ in feature.names),
        target=target,
        columns=[ColumnUse(c.name, c.kind, c.n_missing, uses[c.name]) for c in table.columns],
        notes=tuple(notes),
        row_numbers=rows,
    )


def _check_choices(task: str, missing: str, max_levels: int) -> None:
    if task not in TASKS:
        raise ValueError(f"task={task!r} is unknown: pass one of {', '.join(TASKS)}.")
    if missing not in MISSING_VALUES:
        raise ValueError(f"missing={missing!r} is unknown: pass one of {', '.join(MISSING_VALUES)}.")
    if max_levels < 2:
        raise ValueError(f"max_levels={max_levels!r} must be a whole number of at least 2.")


def _candidates(
    table: DataTable, target: Column, drop: Sequence[str], only: Sequence[str]
) -> tuple[list[Column], dict[str, str]]:
    """Columns that may become features, and why the others do not."""
    for option, names in (("drop", drop), ("only", only)):
        if isinstance(names, str):
            raise ValueError(f"{option}={names!r} must be a sequence of names: pass [{names!r}].")
        for name in names:
            if table.column(name) is target:
                raise FileProblem(f"The target {shown(name)} cannot be in {option} too: name it once.")
    dropped, wanted = set(drop), set(only)
    uses = {target.name: "target"}
    for column in table.columns:
        if column.name in dropped or (wanted and column.name not in wanted):
            uses.setdefault(column.name, "left out: not asked for")
        elif not column.feature and column.name not in wanted:
            uses.setdefault(column.name, "left out: describes the rows")
    return [column for column in table.columns if column.name not in uses], uses


def _usable(
    candidates: list[Column], max_levels: int, wanted: set[str], uses: dict[str, str]
) -> list[Column]:
    """Columns that can be told to be features before rows are left out."""
    usable = []
    for column in candidates:
        if column.kind in ("empty", "constant"):
            uses[column.name] = f"left out: {column.kind}"
        elif not column.numeric and (why := _why_not(column, max_levels)):
            uses[column.name] = f"left out: {why}"
        elif column.name not in wanted and column.numbers_rows:
            uses[column.name] = f"left out: {NUMBERS_ROWS}"
        else:
            usable.append(column)
    return usable


def _why_not(column: Column, max_levels: int) -> str:
    n_levels, n_present = len(set(column.values.tolist()) - {None}), len(column.values) - column.n_missing
    if n_levels == n_present > 2:
        return "every value is different"
    return f"text with {n_levels} levels" if n_levels > max_levels else ""


def _without_missing(
    usable: list[Column], rows: Values, missing: str, table: DataTable, notes: list[str]
) -> Values:
    """The rows that stay when some have missing values."""
    holes = [column for column in usable if column.n_missing]
    if missing == "impute" or not holes:
        return rows
    gone = np.zeros(table.n_rows, dtype=bool)
    for column in holes:
        gone |= column.missing
    if missing == "error" and gone[rows].any():
        first = next(column for column in holes if column.missing[rows].any())
        raise FileProblem(
            f"{where(table.source)} has missing values in {counted(int(gone[rows].sum()), 'row')}, first in "
            f'column {shown(first.name)}: mend them, or use missing="impute" or missing="drop".'
        )
    kept = rows[~gone[rows]]
    if len(kept) < 2:
        raise FileProblem(
            f"{where(table.source)} has {counted(len(kept), 'row')} without missing values, and at least 2 "
            'are needed: use missing="impute", or drop the columns that have most.'
        )
    if len(kept) < len(rows):
        notes.append(f"Left out {counted(len(rows) - len(kept), 'row')} with missing values.")
    return kept


def _nothing_left(table: DataTable, target: str, uses: dict[str, str]) -> str:
    others = [name for name in uses if name != target]
    why = f" ({shown(others[0])} is {uses[others[0]]})" if others else ""
    return (
        f"{where(table.source)} has no column beside the target {shown(target)} that can be a feature{why}."
    )


def _left_out_notes(uses: dict[str, str]) -> list[str]:
    """One sentence for each reason; text has a reason for each number of levels, but gets one sentence."""
    reasons: dict[str, list[str]] = {}
    for name, use in uses.items():
        if use.startswith("left out") and use != "left out: not asked for":
            why = use.removeprefix("left out: ")
            reasons.setdefault("text with many levels" if why.startswith("text") else why, []).append(name)
    notes = []
    for why, names in reasons.items():
        them = "it" if len(names) == 1 else "them"
        hint = f"; to use {them}, name {them} in only beside the others" if why == NUMBERS_ROWS else ""
        notes.append(f"Left out {counted(len(names), 'column')} ({why}): {listed(names)}{hint}.")
    return notes


def _matrix(features: list[Feature], n_rows: int, source: str) -> Values:
    n_features = sum(len(feature.names) for feature in features)
    check_room(source, 16 * n_rows * n_features, "its features")
    # Written column by column into what is read column by column, and turned once.
    stacked = np.concatenate([feature.values for feature in features])
    return np.ascontiguousarray(stacked.T)


def _distinct(names: list[str]) -> tuple[str, ...]:
    """An indicator may be called as a column is: the later one gets a number."""
    taken = set(names)
    if len(taken) == len(names):
        return tuple(names)
    seen: set[str] = set()
    distinct = []
    for name in names:
        count, own = 1, name
        while own in seen or (count > 1 and own in taken):
            count += 1
            own = f"{name} ({count})"
        seen.add(own)
        distinct.append(own)
    return tuple(distinct)
