"""Rows that are given several times, or with weights, in one form.

A fit draws centres, folds and samples over rows. For a row of weight 3 to count exactly as three copies of it
do, both are brought into one form first, which depends only on which rows there are and on the sum of the
weights of each, and neither on how they are given nor on their order:

- of columns or targets that are continuous, no two rows are equal by chance: equal rows are merged into one,
  with the sum of their weights, so that no copy of a row is used to judge what was fitted to another;
- if all values are discrete, rows are equal by chance, and each is an observation of its own: whole weights
  are turned into copies, and other weights stay with their rows.

Rows are recognised by a hash of their values, and put in the order of the hashes, which is random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from l1lsmi._arrays import Array, HostArray, take_columns, take_rows, to_numpy
from l1lsmi._sparse import SparseMatrix

#: Columns that are hashed first: rows that differ in them are different.
FIRST_COLUMNS = 8
#: Values that are hashed at a time.
HASHED_VALUES = 2**15
#: Different rows at most by which values are judged to be continuous or discrete.
JUDGED_ROWS = 256
#: A column with at most so many different values, or half as many as rows, is discrete.
FEW_VALUES = 20
#: Values of a table at most that is made of copies because of its weights.
MOST_COPIED = 2**27
#: Values at most of a table of discrete values whose rows are put in the order of their hashes.
MOST_ORDERED = 2**24
#: Columns that are judged at a time.
CHUNK_COLUMNS = 64


class Arrangement(NamedTuple):
    """Rows as a fit sees them.

    Attributes
    ----------
    rows : numpy.ndarray of int
        Numbers of the rows that were given, in the order in which they are used; copies of a row have the
        same number.
    weights : numpy.ndarray of float or None
        Weights of these rows, 1 on average; None if they are equal.
    """

    rows: HostArray
    weights: HostArray | None

    def as_read(self, n_rows: int) -> tuple[HostArray, HostArray, HostArray | None]:
        """How often each given row occurs, the places of the rows when they are read in order, and weights.

        The weights are in the order of reading.
        """
        by_number = np.argsort(self.rows, kind="stable")
        order = np.empty_like(by_number)
        order[by_number] = np.arange(by_number.size)
        weights = None if self.weights is None else self.weights[by_number]
        return np.bincount(self.rows, minlength=n_rows), order, weights

    def taken(self, order: HostArray) -> Arrangement:
        """The same rows in another order."""
        return Arrangement(self.rows[order], None if self.weights is None else self.weights[order])

    def times(self, factors: HostArray | None) -> Arrangement:
        """The same rows with weights multiplied by ``factors``, one for each row that was given."""
        if factors is None:
            return self
        product = factors[self.rows] if self.weights is None else self.weights * factors[self.rows]
        return self._replace(weights=relative(product))


def relative(weights: HostArray) -> HostArray | None:
    """Weights that are 1 on average; None if they are equal."""
    if (weights == weights[0]).all():
        return None
    largest = weights.max()  # the sum of very large weights must not overflow
    scaled = weights / largest
    return np.asarray(scaled / scaled.mean())


def row_hashes(x: Array, beside: HostArray | None = None, n_columns: int | None = None) -> HostArray:
    """A number for every row that is the same for equal rows, and different for others.

    Values as whole numbers of 64 bits are multiplied by random odd numbers, one for each column, and added
    up: two rows that differ have the same sum with a probability of about 2 to the power of -59.

    Parameters
    ----------
    x : array of shape (n, m)
    beside : numpy.ndarray of shape (n, e) or None
        Further numbers of every row, such as its target, whose hashes are added.
    n_columns : int or None
        Columns of ``x`` that are looked at, from the first; None is all.

    Returns
    -------
    numpy.ndarray of uint64, shape (n,)
    """
    if isinstance(x, SparseMatrix):
        return _sparse_hashes(x, beside)
    width = int(x.shape[1]) if n_columns is None else min(n_columns, int(x.shape[1]))
    total = np.zeros(int(x.shape[0]), dtype=np.uint64) if beside is None else key_hashes(beside)
    factors = _factors(width, 0)
    step = max(1, HASHED_VALUES // max(1, width))
    for start in range(0, int(x.shape[0]), step):
        stop = min(start + step, int(x.shape[0]))
        total[start:stop] += _bits(to_numpy(x[start:stop, :width])) @ factors
    return total


def _sparse_hashes(x: SparseMatrix, beside: HostArray | None) -> HostArray:
    """Hashes of the rows of a sparse matrix, from its non-zeros: what a 0 adds to a hash is 0."""
    total = np.zeros(x.shape[0], dtype=np.uint64) if beside is None else key_hashes(beside)
    factors = _factors(x.shape[1], 0)
    for columns in x.chunks():
        rows, across, values = x.entries(columns)
        np.add.at(total, rows, _bits(values) * factors[columns[across]])
    return total


def key_hashes(beside: HostArray) -> HostArray:
    """What numbers beside the features add to the hashes of rows."""
    return np.asarray(_bits(beside) @ _factors(beside.shape[1], 1))


def _factors(size: int, key: int) -> HostArray:
    return np.random.default_rng((2024, key)).integers(0, 2**63, size=size, dtype=np.uint64) * 2 + 1


def _bits(values: HostArray) -> HostArray:
    """Values as whole numbers whose low bits differ too: those of small whole numbers are all 0."""
    # Adding 0 turns -0 into 0.
    bits = np.ascontiguousarray(np.add(values, 0.0, dtype=np.float64)).view(np.uint64)
    bits ^= bits >> np.uint64(32)
    bits ^= bits >> np.uint64(16)
    return bits


def key_numbers(values: HostArray) -> HostArray:
    """Numbers (n, e) that are equal where values of shape (n,) or (n, e) are equal."""
    if values.dtype.names is not None:
        return np.column_stack([key_numbers(values[name]) for name in values.dtype.names])
    if values.dtype.kind in "fiub":
        numbers = np.asarray(values, dtype=np.float64)
        if values.dtype.kind in "fb" or not values.size or np.abs(numbers).max() < 2**53:
            return numbers.reshape(len(values), -1)
    else:
        # Objects of several kinds cannot be put in order; their names can.
        values = np.array([str(value) for value in values.ravel()]).reshape(values.shape)
    return np.unique(values, return_inverse=True)[1].astype(np.float64).reshape(len(values), -1)


def are_different(hashes: HostArray) -> bool:
    """Tell whether no two rows are equal."""
    ordered = np.sort(hashes)
    return not (ordered[1:] == ordered[:-1]).any()


def hashes_in_memory(x: Array, beside: HostArray) -> HostArray | None:
    """Hashes of the rows of an array; None if no two rows are equal."""
    if are_different(row_hashes(x, beside, FIRST_COLUMNS)):
        return None
    hashes = row_hashes(x, beside)
    return None if are_different(hashes) else hashes


def arrange(
    hashes: HostArray,
    weights: HostArray | None,
    n_columns: int,
    judge: Callable[[HostArray], bool],
) -> Arrangement | None:
    """Bring rows into the form that depends only on the weight of every different row.

    Parameters
    ----------
    hashes : numpy.ndarray of uint64, shape (n,)
    weights : numpy.ndarray of float, shape (n,) or None
        At least 0; None is 1.
    n_columns : int
    judge : callable
        Tells whether rows with given numbers, all different, have continuous values.

    Returns
    -------
    Arrangement or None
        None where rows stay as they are.
    """
    n = hashes.size
    w = np.ones(n) if weights is None else weights
    given = np.flatnonzero(w > 0)
    order = given[np.argsort(hashes[given], kind="stable")]
    ordered = hashes[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    totals, first = np.add.reduceat(w[order], starts), order[starts]
    if first.size == given.size and (totals == 1).all():
        return _equally(given, n)
    if judge(first[:JUDGED_ROWS]):
        shares = relative(totals)
        return _equally(np.sort(first), n) if shares is None else Arrangement(first, shares)
    counts = w.astype(np.intp) if (w < 2**53).all() and (w == np.floor(w)).all() else None
    if counts is None or (weights is not None and float(w.sum()) * n_columns > MOST_COPIED):
        rows = given[np.lexsort((w[given], hashes[given]))]
        shares = relative(w[rows])
        return _equally(given, n) if shares is None else Arrangement(rows, shares)
    if float(w.sum()) * n_columns > MOST_ORDERED:
        return _equally(np.repeat(np.arange(n), counts), n)
    return Arrangement(np.repeat(order, counts[order]), None)


def _equally(rows: HostArray, n: int) -> Arrangement | None:
    """Rows of equal weights; None where they are as they were given."""
    return None if np.array_equal(rows, np.arange(n)) else Arrangement(rows, None)


def are_continuous(x: Array, rows: HostArray, beside: HostArray) -> bool:
    """Tell whether a column, or a number beside it, has mostly different values in different rows."""
    return rows.size > FEW_VALUES and any(
        _has_continuous(some) for some in (beside[rows], *_column_chunks(x, rows))
    )


def _column_chunks(x: Array, rows: HostArray) -> Iterator[HostArray]:
    some = take_rows(x, rows)
    for start in range(0, int(x.shape[1]), CHUNK_COLUMNS):
        inside = np.arange(start, min(start + CHUNK_COLUMNS, int(x.shape[1])))
        yield to_numpy(take_columns(some, inside))


def _has_continuous(values: HostArray) -> bool:
    ordered = np.sort(values, axis=0)
    # Missing values are last, and equal.
    n_different = 1 + np.count_nonzero((ordered[1:] != ordered[:-1]) & (ordered[:-1] == ordered[:-1]), axis=0)
    return bool((n_different > max(FEW_VALUES, len(values) / 2)).any())


def arranged(values: Any, arrangement: Arrangement | None) -> Any:
    """Rows of a NumPy array as they are arranged."""
    return values if arrangement is None else values[arrangement.rows]
