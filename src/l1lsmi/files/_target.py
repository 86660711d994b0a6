"""The target column, as numbers or as class labels, or several of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from l1lsmi._messages import quoted
from l1lsmi._task import task_of_numbers
from l1lsmi.files.problem import FileProblem
from l1lsmi.files.table import Column, Values

#: More different whole numbers than this may be counts, and a note says that they are treated as classes.
MANY_CLASSES = 10


@dataclass(frozen=True, eq=False)
class TargetTable:
    """Several targets: columns of numbers or of class labels, which selectors take for y.

    Parameters
    ----------
    columns : tuple of str
        Their names.
    values : tuple of ndarray
        Of shape (n_samples,) each.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.files import TargetTable
    >>> table = TargetTable(("age", "ill"), (np.array([31.0, 27.0]), np.array(["yes", "no"])))
    >>> table.shape, table[np.array([1])].get_columns()
    ((2, 2), [array([27.]), array(['no'], dtype='<U3')])
    """

    columns: tuple[str, ...]
    values: tuple[Values, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of targets."""
        return len(self.values[0]), len(self.values)

    def get_columns(self) -> list[Values]:
        """The targets, one by one."""
        return list(self.values)

    def __len__(self) -> int:
        return len(self.values[0])

    def __getitem__(self, rows: Any) -> TargetTable:
        """Some rows."""
        return TargetTable(self.columns, tuple(column[rows] for column in self.values))


def read_targets(
    columns: Sequence[Column], task: str, rows: Values, notes: list[str]
) -> tuple[Any, str, list[str]]:
    """Read the targets of the given rows; each of these rows has a value of every target.

    Parameters
    ----------
    columns : sequence of Column
    task : str
        "auto", "classification", "regression" or "survival".
    rows : ndarray of int
    notes : list of str
        What was decided is added to it.

    Returns
    -------
    y : ndarray or TargetTable
    task : str
        "classification", "regression", "survival", or "auto" for targets of both kinds.
    each : list of str
        The task of each column.
    """
    if task == "survival":
        return _time_and_event(columns, rows), task, [task] * len(columns)
    read = [(read_target(column, task, notes), column) for column in columns]
    values = tuple(y[np.isin(np.flatnonzero(~column.missing), rows)] for (y, _), column in read)
    each = [found for (_, found), _ in read]
    if len(columns) == 1:
        return values[0], each[0], each
    y = TargetTable(tuple(column.name for column in columns), values)
    return y, each[0] if len(set(each)) == 1 else "auto", each


def _time_and_event(columns: Sequence[Column], rows: Values) -> TargetTable:
    if len(columns) != 2:
        raise FileProblem(
            'task="survival" needs two columns, the time and then the event, but the number of targets is '
            f"{len(columns)}: name both."
        )
    for column in columns:
        if not column.numeric:
            raise FileProblem(
                f"The target {quoted(column.name)} has text, but survival needs a time and an event that is "
                "1 or 0: encode it, or choose another column."
            )
    return TargetTable(
        tuple(column.name for column in columns),
        tuple(np.asarray(column.values[rows], dtype=np.float64) for column in columns),
    )


def read_target(column: Column, task: str, notes: list[str]) -> tuple[Values, str]:
    """The target of the rows that have one.

    Under "auto", strings and at most 20 distinct whole numbers are classes, and all else is a quantity.

    Parameters
    ----------
    column : Column
    task : str
        "auto", "classification" or "regression".
    notes : list of str
        What was decided is added to it.

    Returns
    -------
    y : ndarray
        float64 for regression; labels, as an array of str, for classification.
    task : str
        "classification" or "regression".
    """
    name = quoted(column.name)
    values = column.values[~column.missing]
    if values.size == 0:
        raise FileProblem(f"The target {name} has no values: choose another column.")
    if (values == values[0]).all():
        raise FileProblem(
            f"The target {name} has the same value in every row, so that there is nothing to learn: choose "
            "another column."
        )
    if column.numeric and column.words == ("0", "1"):
        return _numeric_target(column, values, task, notes)
    labels = np.array(column.words)[values.astype(int)] if column.numeric else values.astype(str)
    if task == "regression":
        raise FileProblem(
            f"The target {name} has text such as {quoted(labels[0])}, which is not a number: use "
            'task="classification", or choose another column.'
        )
    if len(labels) > 2 and np.unique(labels).size == len(labels):
        raise FileProblem(
            f"The target {name} has a different text in every row, so that there is nothing to learn: "
            "choose another column."
        )
    return labels, "classification"


def _numeric_target(column: Column, values: Values, task: str, notes: list[str]) -> tuple[Values, str]:
    is_whole = np.array_equal(values, np.round(values))
    if task == "auto":
        task = task_of_numbers(values)
        if is_whole and task == "regression" and column.kind != "date":
            notes.append(
                f"The target {quoted(column.name)} has {np.unique(values).size} different whole numbers and "
                'is treated as a quantity: use task="classification" if they are classes.'
            )
        n_values = np.unique(values).size
        if task == "classification" and n_values > MANY_CLASSES:
            notes.append(
                f"The target {quoted(column.name)} has {n_values} different whole numbers, which are treated "
                'as classes: use task="regression" if they are counts or other quantities.'
            )
    if task == "regression":
        return values, task
    if not is_whole:
        raise FileProblem(
            f"The target {quoted(column.name)} has numbers with fractions, which are not classes: use "
            'task="regression".'
        )
    levels, codes = np.unique(values, return_inverse=True)
    return np.array([f"{level:.0f}" for level in levels.tolist()])[codes], task
