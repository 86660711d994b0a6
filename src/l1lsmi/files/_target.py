"""The target column, as numbers or as class labels."""

from __future__ import annotations

import numpy as np

from l1lsmi._messages import quoted
from l1lsmi._task import task_of_numbers
from l1lsmi.files.problem import FileProblem
from l1lsmi.files.table import Column, Values


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
            f"The target {name} has text such as {quoted(labels[0])}, which is no quantity: use "
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
                'is taken for a quantity: use task="classification" if they are classes.'
            )
    if task == "regression":
        return values, task
    if not is_whole:
        raise FileProblem(
            f"The target {quoted(column.name)} has numbers with fractions, which are no classes: use "
            'task="regression".'
        )
    levels, codes = np.unique(values, return_inverse=True)
    return np.array([f"{level:.0f}" for level in levels.tolist()])[codes], task
