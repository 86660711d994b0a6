"""Random splits into training and test rows, with all rows of a group on one side."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.sampling import draw_stratified
from l1lsmi._validation.folds import check_groups
from l1lsmi._validation.parameters import seed_of
from l1lsmi._validation.target import check_target
from l1lsmi.evaluation._checks import check_task, required
from l1lsmi.evaluation._folds import class_counts

#: Fraction of test rows if n_train is None.
TEST_FRACTION = 0.3


def split_rows(
    y: Any, *, n_train: int | None = None, groups: Any = None, task: str = "auto", random_state: Any = 0
) -> tuple[HostArray, HostArray]:
    """Split rows at random into training and test rows.

    The split is stratified by class, as far as the groups allow. Without groups, all rows that are not
    drawn for training are test rows. With groups, the test rows are whole groups with about 30 % of the
    rows, and the training rows are drawn from the other groups.

    Parameters
    ----------
    y : array-like of shape (n,)
    n_train : int or None, default=None
        Number of training rows; None is 70 % of the rows or, with groups, all rows outside the test groups.
    groups : array-like of shape (n,) or None, default=None
        Rows with the same label are either all training or all test rows.
    task : {"auto", "classification", "regression", "survival"}, default="auto"
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    train, test : ndarray of int
        Row numbers, sorted.

    Examples
    --------
    >>> from l1lsmi.evaluation import split_rows
    >>> y = ["a"] * 8 + ["b"] * 4
    >>> train, test = split_rows(y, n_train=6)
    >>> [y[row] for row in train], len(test)
    (['a', 'a', 'a', 'a', 'b', 'b'], 6)
    """
    check_task(task)
    codes = check_target(required("y", y), task).codes
    group_of_row = check_groups(groups, codes.size, at_least=1)
    rng = np.random.default_rng(seed_of(random_state))
    if group_of_row is None:
        in_test = np.zeros(codes.size, dtype=bool)
        limit, default, where = (
            codes.size - 1,
            round((1 - TEST_FRACTION) * codes.size),
            f"of {codes.size} rows, at least one must be left to test",
        )
    else:
        in_test = choose_test_groups(codes, group_of_row, TEST_FRACTION, rng)[group_of_row]
        limit = default = int(np.count_nonzero(~in_test))
        where = f"of {codes.size} rows, only {limit} are outside the test groups"
    n_train = max(default, 1) if n_train is None else n_train
    if not isinstance(n_train, Integral) or isinstance(n_train, bool) or not 1 <= int(n_train) <= limit:
        raise ValueError(f"n_train={n_train!r} must be an integer from 1 to {limit}: {where}.")
    pool = np.flatnonzero(~in_test)
    train = pool[draw_stratified(codes[pool], int(n_train), rng)]
    return train, np.setdiff1d(pool, train) if group_of_row is None else np.flatnonzero(in_test)


def choose_test_groups(
    codes: HostArray, groups: HostArray, fraction: float, rng: np.random.Generator
) -> HostArray:
    """Draw groups at random that contain about a given fraction of the rows of every class.

    Parameters
    ----------
    codes, groups : numpy.ndarray of int, shape (n,)
        Class and group of each row.
    fraction : float
    rng : numpy.random.Generator

    Returns
    -------
    chosen : numpy.ndarray of bool, shape (groups,)
        At least one group, never all. If possible, every class has rows outside these groups.
    """
    counts = class_counts(codes, groups)
    if counts.shape[0] < 2:
        raise ValueError("groups has one group only, which cannot be split: pass at least 2 groups, or None.")
    fractions = counts / counts.sum(axis=0)
    chosen = np.zeros(counts.shape[0], dtype=bool)
    total = np.zeros(counts.shape[1])
    order = rng.permutation(counts.shape[0])
    for group in order:
        after = total + fractions[group]
        closer = ((after - fraction) ** 2).sum() < ((total - fraction) ** 2).sum()
        if closer and (after < 1 - 1e-9).all():
            chosen[group], total = True, after
    if not chosen.any():
        # Every group contains most rows of some class: take the one with the smallest such fraction.
        chosen[order[np.argmin(fractions[order].max(axis=1))]] = True
    return chosen
