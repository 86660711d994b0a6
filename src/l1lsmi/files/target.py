"""The column that is to be predicted, as numbers or as labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from l1lsmi.files.problem import FileProblem, shown
from l1lsmi.files.table import Column, Values

TASKS = ("auto", "classification", "regression")
#: More different whole numbers than this are a quantity rather than classes. The selectors have the same
#: rule.
MOST_CLASSES = 20


def read_target(column: Column, task: str, notes: list[str]) -> tuple[Values, str]:
    """The target of the rows that have one.

    Under "auto", words and at most 20 different whole numbers are classes, and all else is a quantity.

    Parameters
    ----------
    column : Column
    task : str
        "auto", "classification" or "regression".
    notes : list of str
        Is told what was decided.

    Returns
    -------
    y : ndarray
        float64 for regression; labels, as an array of str, for classification.
    task : str
        "classification" or "regression".
    """
    values = column.values[~column.missing]
    if values.size == 0:
        raise FileProblem(f"The target {shown(column.name)} has no values: choose another column.")
    if (values == values[0]).all():
        raise FileProblem(
            f"The target {shown(column.name)} has the same value in every row, so that there is nothing to "
            "learn: choose another column."
        )
    if values.dtype.kind == "f" and column.words == ("0", "1"):
        return _from_numbers(column, values, task, notes)
    if task == "regression":
        example = column.words[0] if values.dtype.kind == "f" else values[0]
        raise FileProblem(
            f"The target {shown(column.name)} has words such as {shown(example)}, which are no quantity: "
            'use task="classification", or choose another column.'
        )
    labels = np.array(column.words)[values.astype(int)] if values.dtype.kind == "f" else values.astype(str)
    if len(labels) > 2 and np.unique(labels).size == len(labels):
        raise FileProblem(
            f"The target {shown(column.name)} has a different word in every row, so that there is nothing "
            "to learn: choose another column."
        )
    return labels, "classification"


def _from_numbers(column: Column, values: Values, task: str, notes: list[str]) -> tuple[Values, str]:
    is_whole = bool((values == np.round(values)).all())
    levels = np.unique(values)
    if task == "auto":
        task = "classification" if is_whole and levels.size <= MOST_CLASSES else "regression"
        if is_whole and task == "regression" and column.kind != "date":
            notes.append(
                f"The target {shown(column.name)} has {levels.size} different whole numbers and is taken "
                'for a quantity: use task="classification" if they are classes.'
            )
    if task == "regression":
        return values, task
    if not is_whole:
        raise FileProblem(
            f"The target {shown(column.name)} has numbers with fractions, which are no classes: use "
            'task="regression".'
        )
    return _labels(values, levels), task


def _labels(values: Values, levels: Values) -> Values:
    names: Sequence[str] = [f"{level:.0f}" for level in levels.tolist()]
    return np.array(names)[np.searchsorted(levels, values)]
