"""A stratified sample of the rows, on which explanations are computed."""

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

#: Default number of rows: with more, the scores of strong features change little.
MAX_ROWS = 500
#: Fewer rows are too few for cross-validation.
MIN_ROWS = 20


def sample_rows(y: Any, task: str = "auto", at_most: int = MAX_ROWS, random_state: Any = 0) -> HostArray:
    """Draw row indices, stratified by the classes or quantiles of the target.

    Parameters
    ----------
    y : array-like of shape (n,) or (n, t)
    task : {"auto", "classification", "regression", "survival"}, default="auto"
    at_most : int, default=500
        Number of rows to draw, at least 20. If y has no more rows than this, all rows are returned.
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
    return sample_target(encode_target(y, task), at_most, random_state, name="at_most")


def sample_target(target: Target, max_rows: Any, random_state: Any, name: str = "max_rows") -> HostArray:
    """`sample_rows` for an encoded target."""
    return sample_seeded(target, max_rows, seed_of(random_state), name)


def sample_seeded(target: Target, max_rows: Any, seed: int, name: str = "max_rows") -> HostArray:
    """`sample_target` with a seed, as `seed_of` returns it, in place of a random state."""
    if not isinstance(max_rows, Integral) or isinstance(max_rows, bool) or int(max_rows) < MIN_ROWS:
        raise ValueError(f"{name}={max_rows!r} must be a whole number of rows, at least {MIN_ROWS}.")
    if target.n_rows <= int(max_rows):
        return np.arange(target.n_rows)
    rng = np.random.default_rng(seed)
    values = None if target.is_classification else target.ordered()
    return draw_spread(target.codes, values, int(max_rows), rng)


def encode_target(y: Any, task: str) -> Target:
    """Encode the target of a fitted selector, without the warnings that its fit has raised."""
    if task not in TASKS:
        raise ValueError(f"task={task!r} is not known: pass one of {', '.join(map(repr, TASKS))}.")
    if y is None:
        raise ValueError("y is None: pass the target that the selector was fitted to.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return check_target(y, task)
