"""Products with many more columns than rows, spread over threads a part of the columns at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from l1lsmi._arrays import HostArray

#: Columns in a part, the same for any number of threads: sums then come out the same.
PART_COLUMNS = 4_096

#: Centres, (b, columns), of a part of the columns: where they are some of the points, no copy of all is made.
CentersAt: TypeAlias = Callable[[slice], HostArray]


def wide_exponents(
    points: HostArray, centers_at: CentersAt, squared_weights: HostArray, n_threads: int = 1
) -> HostArray:
    """Minus half the weighted squared distances, for many columns: nothing of their size is copied.

    Parameters
    ----------
    points : numpy.ndarray of shape (n, m)
    centers_at : callable
    squared_weights : numpy.ndarray of shape (m,)
    n_threads : int, default=1

    Returns
    -------
    exponents : numpy.ndarray of shape (n, b)
    """

    def of_part(inside: slice) -> HostArray:
        some, around, v = points[:, inside], centers_at(inside), squared_weights[inside]
        weighted = around * v
        # In this order, which BLAS is faster with where there are many more columns than rows.
        exponents = (weighted @ some.T).T
        exponents -= 0.5 * np.einsum("ij,ij,j->i", some, some, v)[:, None]
        exponents -= 0.5 * np.einsum("lj,lj->l", weighted, around)
        return exponents

    parts = _over_columns(of_part, points.shape[1], n_threads)
    total = np.ascontiguousarray(next(parts))
    for part in parts:
        total += part
    return total


def wide_pull_back(
    points: HostArray, centers_at: CentersAt, slope: HostArray, n_threads: int = 1
) -> HostArray:
    """Half the sum of slope times squared gap, for each of many columns: see `Block.pull_back`.

    Parameters
    ----------
    points : numpy.ndarray of shape (n, m)
    centers_at : callable
    slope : numpy.ndarray of shape (n, b)
    n_threads : int, default=1

    Returns
    -------
    slopes : numpy.ndarray of shape (m,)
    """
    at_rows, at_centers, across = slope.sum(axis=1), slope.sum(axis=0), slope.T

    def of_part(inside: slice) -> HostArray:
        some, around = points[:, inside], centers_at(inside)
        total = np.einsum("i,ij,ij->j", at_rows, some, some)
        total += np.einsum("l,lj,lj->j", at_centers, around, around)
        total *= 0.5
        total -= np.einsum("lj,lj->j", across @ some, around)
        return np.asarray(total)

    return np.concatenate(list(_over_columns(of_part, points.shape[1], n_threads)))


def _over_columns(of_part: Callable[[slice], Any], n_columns: int, n_threads: int) -> Iterator[Any]:
    """Yield a function of every part of the columns, in order."""
    n_parts = max(1, -(-n_columns // PART_COLUMNS))
    edges = np.linspace(0, n_columns, n_parts + 1).astype(np.intp).tolist()
    parts = [slice(start, stop) for start, stop in pairwise(edges)]
    if min(n_threads, n_parts) == 1:
        yield from map(of_part, parts)
        return
    with ThreadPoolExecutor(min(n_threads, n_parts)) as pool:
        yield from pool.map(of_part, parts)
