"""Some of the rows: numbers that explain need no more of them, and are there the sooner."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.sampling import draw_spread
from l1lsmi._numerics.target import Target
from l1lsmi._validation.parameters import seed_of
from l1lsmi._validation.target import TASKS, check_target

#: Rows that explain a selection unless told otherwise: scores of the strong features change little beyond.
MAX_ROWS = 500
#: Fewer rows cannot be cut into folds that say anything.
FEWEST_ROWS = 20


def sample_rows(y: Any, task: str = "auto", at_most: int = MAX_ROWS, random_state: Any = 0) -> HostArray:
    """Draw row numbers, every class or range of the target in proportion.

    Parameters
    ----------
    y : array-like of shape (n,)
    task : {"auto", "classification", "regression"}, default="auto"
    at_most : int, default=500
        Rows to draw; all are taken where there are no more. At least 20.
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    rows : ndarray of int
        Sorted, without repetition.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.explain import sample_rows
    >>> y = np.array(["often"] * 900 + ["seldom"] * 100)
    >>> rows = sample_rows(y, at_most=50)
    >>> np.unique(y[rows], return_counts=True)[1]
    array([45,  5])
    """
    return sample_target(known_target(y, task), at_most, random_state)


def sample_target(target: Target, at_most: Any, random_state: Any) -> HostArray:
    """The same for a target that is encoded already."""
    if not isinstance(at_most, Integral) or isinstance(at_most, bool) or int(at_most) < FEWEST_ROWS:
        raise ValueError(f"max_rows={at_most!r} must be a whole number of rows, at least {FEWEST_ROWS}.")
    if target.n_rows <= int(at_most):
        return np.arange(target.n_rows)
    rng = np.random.default_rng(seed_of(random_state))
    return draw_spread(target.codes, target.values, int(at_most), rng)


def known_target(y: Any, task: str) -> Target:
    """Encode a target that a selector was fitted to: what there is to warn of was said then."""
    if task not in TASKS:
        raise ValueError(f"task={task!r} is not known: pass one of {', '.join(map(repr, TASKS))}.")
    if y is None:
        raise ValueError("y is None: pass the target that the selector was fitted to.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return check_target(y, task)
