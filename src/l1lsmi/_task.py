"""Classification, regression or survival: the task that the values of a target imply."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

TASKS = ("auto", "classification", "regression", "survival")
#: More distinct whole numbers are a quantity rather than class labels.
MAX_CLASSES = 20


def task_of_numbers(values: npt.NDArray[Any]) -> str:
    """The task of a numeric target: at most 20 distinct whole numbers are classes.

    Examples
    --------
    >>> import numpy as np
    >>> task_of_numbers(np.array([1.0, 2.0, 1.0])), task_of_numbers(np.array([1.5, 2.0]))
    ('classification', 'regression')
    """
    is_whole = np.array_equal(values, np.round(values))
    return "classification" if is_whole and np.unique(values).size <= MAX_CLASSES else "regression"
