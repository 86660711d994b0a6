"""Columns as a few states each, and the mutual information of states from how often they meet."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import xlogy

from l1lsmi._arrays import HostArray

#: A column with at most so many distinct values, and half as many as rows, keeps them as its states.
FEW_VALUES = 10
#: Values of one-hot codes that are held at a time.
MOST_VALUES = 64 * 2**20
#: Rows that are looked at first to tell continuous columns.
FIRST_ROWS = 64


def is_discrete(x: HostArray) -> HostArray:
    """Tell which columns have few distinct values: each then stands in two rows on average."""
    most = min(FEW_VALUES, x.shape[0] // 2)
    few: HostArray = _count_distinct(x[:FIRST_ROWS]) <= most
    if x.shape[0] > FIRST_ROWS and few.any():
        few[few] = _count_distinct(x[:, few]) <= most
    return few


def _count_distinct(x: HostArray) -> HostArray:
    ordered = np.sort(x, axis=0)
    return np.asarray(1 + np.count_nonzero(ordered[1:] != ordered[:-1], axis=0))


def discretise(x: HostArray, n_bins: int | None, row_weights: HostArray | None = None) -> HostArray:
    """States of the columns: 0, 1, ... by rising value.

    Columns with few distinct values keep them.

    Parameters
    ----------
    x : numpy.ndarray of shape (n, m)
        Standardised columns.
    n_bins : int or None
        Bins that hold equally many rows, up to ties; None is three states: below, within and above one
        standard deviation around the mean.
    row_weights : numpy.ndarray of shape (n,) or None
        With weights, bins hold equal sums of them.

    Returns
    -------
    numpy.ndarray of int32, shape (n, m)
    """
    few = is_discrete(x)
    codes = np.empty(x.shape, dtype=np.int32)
    if n_bins is None:
        np.add(x > -1, x > 1, out=codes, dtype=np.int32)
    else:
        for j in np.flatnonzero(~few):
            codes[:, j] = np.searchsorted(
                _inner_quantiles(x[:, j], n_bins, row_weights), x[:, j], side="left"
            )
    for j in np.flatnonzero(few):
        codes[:, j] = np.unique(x[:, j], return_inverse=True)[1]
    return codes


def discretise_any(
    x: HostArray, n_levels: HostArray, n_bins: int | None, row_weights: HostArray | None = None
) -> HostArray:
    """The same for columns of any kind: a category keeps its levels, and a missing value is one more state.

    Parameters
    ----------
    x : numpy.ndarray of shape (n, m)
        Standardised numbers, or numbers of levels; NaN where missing.
    n_levels : numpy.ndarray of int, shape (m,)
        0 for numbers.
    n_bins : int or None
    row_weights : numpy.ndarray of shape (n,) or None

    Returns
    -------
    numpy.ndarray of int32, shape (n, m)
    """
    codes = np.empty(x.shape, dtype=np.int32)
    for j, levels in enumerate(n_levels.tolist()):
        present = ~np.isnan(x[:, j])
        some = x[present, j]
        if levels:
            states = np.unique(some, return_inverse=True)[1].ravel()
        else:
            weights = None if row_weights is None else row_weights[present]
            states = discretise(some[:, None], n_bins, weights)[:, 0]
        codes[present, j] = states
        codes[~present, j] = states.max(initial=-1) + 1
    return codes


def _inner_quantiles(column: HostArray, n_bins: int, row_weights: HostArray | None) -> HostArray:
    shares = np.arange(1, n_bins) / n_bins
    if row_weights is None:
        return np.quantile(column, shares)
    order = np.argsort(column, kind="stable")
    ordered = row_weights[order] / row_weights.mean()
    # Values are at the shares of the rows below them, as those of rows without weights are.
    return np.interp(shares, (np.cumsum(ordered) - ordered) / (column.size - 1), column[order])


class States:
    """Discrete columns, ready to be counted against others.

    Parameters
    ----------
    codes : numpy.ndarray of int, shape (n, m)
        States of every column, from 0.
    row_weights : numpy.ndarray of shape (n,) or None
    """

    def __init__(self, codes: HostArray, row_weights: HostArray | None = None) -> None:
        self.codes = codes
        self._weights = row_weights
        self.n_states = codes.max(axis=0) + 1
        # The entropy of counts is a sum of c log c, and the counts are whole numbers up to n.
        whole = np.arange(codes.shape[0] + 1)
        self._c_log_c = whole * np.log(np.maximum(whole, 1))
        fits = codes.shape[0] * int(self.n_states.sum()) <= MOST_VALUES
        self._kept = list(self._pieces()) if fits else None

    def information(self, states: HostArray) -> HostArray:
        """Plug-in mutual information, in nats, of every column with one more, of shape (n,).

        With the counts n_ab that two states meet, it is log n plus 1/n times the sum over n_ab log n_ab
        less those over n_a log n_a and n_b log n_b.
        """
        other = _one_hot(states[:, None], np.array([states.max() + 1]))
        pieces = self._pieces() if self._kept is None else self._kept
        parts = [self._information(other, hot, starts) for hot, starts in pieces]
        # Rounded, for columns that count alike to tie whatever the order of their states.
        return np.asarray(np.round(np.maximum(np.concatenate(parts), 0.0), 12))

    def _information(self, other: HostArray, hot: HostArray, starts: HostArray) -> HostArray:
        if self._weights is not None:
            return _weighted_information(other, hot, starts, self._weights / self._weights.sum())
        n = hot.shape[0]
        # Single precision holds counts of up to 16 million rows exactly.
        counts = (other.T @ hot).astype(np.intp)
        together = self._c_log_c[counts].sum(axis=0) - self._c_log_c[counts.sum(axis=0)]
        alone = self._c_log_c[other.sum(axis=0, dtype=np.float64).astype(np.intp)].sum()
        return np.asarray(np.log(n) + (np.add.reduceat(together, starts) - alone) / n)

    def _pieces(self) -> Iterator[tuple[HostArray, HostArray]]:
        """One-hot codes of some columns at a time, in one array, and where each column starts."""
        most = max(MOST_VALUES // (16 * self.codes.shape[0]), 1)
        piece = np.cumsum(self.n_states) // most
        for columns in np.split(np.arange(piece.size), np.flatnonzero(np.diff(piece)) + 1):
            n_states = self.n_states[columns]
            yield _one_hot(self.codes[:, columns], n_states), np.cumsum(n_states) - n_states


def _weighted_information(
    other: HostArray, hot: HostArray, starts: HostArray, shares: HostArray
) -> HostArray:
    together = (other * shares[:, None]).T @ hot
    entropies = [xlogy(p, p) for p in (together, together.sum(axis=0), shares @ other)]
    joint = entropies[0].sum(axis=0) - entropies[1]
    return np.asarray(np.add.reduceat(joint, starts) - entropies[2].sum())


def _one_hot(codes: HostArray, n_states: HostArray) -> HostArray:
    dtype = np.float32 if codes.shape[0] < 2**24 else np.float64
    hot = np.zeros((codes.shape[0], int(n_states.sum())), dtype=dtype)
    hot[np.arange(codes.shape[0])[:, None], codes + (np.cumsum(n_states) - n_states)] = 1
    return hot
