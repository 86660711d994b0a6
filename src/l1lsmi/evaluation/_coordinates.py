"""Coordinates of columns of any kind, learned on training rows and used for others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._rows.kinds import Kinds
from l1lsmi._rows.table import Table
from l1lsmi._validation.columns import Columns

#: Coordinates of numbers at most, in standard deviations of the training rows: squares do not overflow, and
#: models may compute in float32.
MOST_DEVIATIONS = 1e15
LARGEST = float(np.finfo(np.float64).max)


def learned_coordinates(train: Columns) -> Callable[[HostArray], HostArray]:
    """A function from values of columns to coordinates, whose distances are Euclidean.

    Numbers are standardised by the training rows. A category has one coordinate for each of its levels, and
    a level that no training row has is as far from all others as they are from each other. A missing value
    is at the mean of the training rows, and has a coordinate of its own in columns that miss some of them.
    Columns that are constant in the training rows are left out. Values of other rows that are 1e15 standard
    deviations from the training rows, or more, are equal.

    Parameters
    ----------
    train : Columns
        The training rows.
    """
    kinds = train.kinds()
    table = Table.of(train.x) if kinds is None else Table.of(train.x, kinds=_of_training(kinds))
    table = replace(table, limits=_limits(table.mean, table.scale))
    varying = table.varying

    def of_numbers(rows: HostArray) -> HostArray:
        z = np.asarray(table.standardize(np.array(rows[:, varying], dtype=np.float64), varying))
        z[np.isnan(z)] = 0.0
        return z

    def of_any_kind(rows: HostArray) -> HostArray:
        if not varying.size:
            return np.empty((len(rows), 0))
        others = replace(table, x=np.asarray(rows, dtype=np.float64))
        return np.asarray(others.points(np.arange(len(rows)), varying).values)

    return of_numbers if kinds is None else of_any_kind


def _limits(mean: HostArray, scale: HostArray) -> HostArray:
    """Smallest and largest values of every column that are told from others, (2, m)."""
    far = MOST_DEVIATIONS * np.minimum(np.where(scale > 0, scale, 1.0), LARGEST / MOST_DEVIATIONS)
    # Half of everything: the sum of two large numbers must not overflow.
    halves = np.stack([mean / 2 - far / 2, mean / 2 + far / 2])
    return np.asarray(2 * np.clip(halves, -LARGEST / 2, LARGEST / 2))


def _of_training(kinds: Kinds) -> Kinds:
    """The same with a level for all that no training row has, and "missing" a value."""
    shares = tuple(None if some is None else np.append(some, 0.0) for some in kinds.shares)
    missing = kinds.missing_share
    return Kinds(shares, missing, (missing > 0) & (missing < 1))
