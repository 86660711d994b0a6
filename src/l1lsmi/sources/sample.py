"""A sample of out-of-core rows, in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.sampling import draw_spread
from l1lsmi._validation.parameters import seed_of
from l1lsmi._validation.target import check_target, plain_target
from l1lsmi.sources.opening import open_rows


def read_sample(
    X: Any, y: Any, n_rows: int = 10_000, *, task: str = "auto", random_state: Any = None
) -> tuple[HostArray, HostArray]:
    """Draw rows of X and y, stratified by class or range of the target, and read them into memory.

    Parameters
    ----------
    X, y
        As for `open_rows`.
    n_rows : int, default=10_000
        Number of rows to draw; if X has no more rows than this, all are read.
    task : {"auto", "classification", "regression", "survival"}, default="auto"
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : numpy.ndarray of shape (n_rows, n_features)
        Missing values are NaN, and levels of categories are numbered by decreasing frequency.
    y : numpy.ndarray of shape (n_rows,) or (n_rows, n_targets)

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.sources import read_sample
    >>> x = np.arange(200.0).reshape(100, 2)
    >>> X, y = read_sample(lambda: iter(np.split(x, 4)), x[:, 0] > 50, n_rows=20, random_state=0)
    >>> X.shape, int(y.sum())
    ((20, 2), 15)
    """
    opened = open_rows(X, y)
    target = check_target(opened.y, task)
    rng = np.random.default_rng(seed_of(random_state))
    rows = np.arange(target.n_rows)
    if n_rows < target.n_rows:
        values = None if target.is_classification else target.ordered()
        rows = draw_spread(target.codes, values, n_rows, rng)
    return opened.table.rows_of(rows).x, plain_target(opened.y)[rows]
