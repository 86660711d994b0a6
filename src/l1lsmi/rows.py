"""Data as blocks of rows, and the two sums over rows that every step needs.

A feature matrix is never copied whole. :class:`Table` standardises what is
taken from it, and :class:`FoldedRows` deals the rows out in blocks that are
laid out fold by fold, so that every quantity of the method is a sum over
blocks of small arrays. Weighted distances leave through
:meth:`FoldedRows.exponents`, gradients come back through
:meth:`FoldedRows.pull_back`, and nothing else touches the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from l1lsmi.arrays import Array, HostArray, gather, like, namespace, to_numpy

__all__ = ["Block", "FoldedRows", "Piece", "Table", "column_statistics"]

#: Rows per block: a block of distances to 100 centres then stays in cache.
BLOCK_ROWS = 2_000
#: Half a squared distance at which a Gaussian kernel is exactly 0.
FAR = 1e200


def column_statistics(x: Array) -> tuple[HostArray, HostArray]:
    """Mean and standard deviation of every column, safe from overflow.

    Columns are first mapped to [-1, 1] by their own range, so that neither
    values of 1e150 nor offsets of 1e8 cost accuracy. A column whose range is
    within rounding error of zero gets a standard deviation of exactly 0.

    Parameters
    ----------
    x : array of shape (n, m)

    Returns
    -------
    mean, scale : numpy.ndarray of shape (m,)
    """
    xp = namespace(x)
    low = to_numpy(xp.min(x, axis=0)).astype(np.float64)
    high = to_numpy(xp.max(x, axis=0)).astype(np.float64)
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    constant = half <= 4 * np.finfo(np.float64).eps * np.maximum(np.abs(low), np.abs(high))
    half = np.where(constant, 1.0, half)
    shift, unit = like(middle, x), like(half, x)
    total, squares = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for some in _row_slices(x):
        z = (xp.astype(x[some, :], xp.float64) - shift) / unit
        total += to_numpy(xp.sum(z, axis=0))
        squares += to_numpy(xp.sum(z * z, axis=0))
    mean = total / x.shape[0]
    deviation = np.sqrt(np.maximum(squares / x.shape[0] - mean**2, 0.0))
    return middle + half * mean, np.where(constant, 0.0, half * deviation)


@dataclass(frozen=True)
class Table:
    """A feature matrix that hands out standardised pieces of itself.

    Attributes
    ----------
    x : array of shape (n, m)
        The raw values, in any array API library, never copied whole.
    mean, scale : numpy.ndarray of shape (m,)
        Column means and standard deviations; a scale of 0 marks a constant column.
    """

    x: Array
    mean: HostArray
    scale: HostArray

    @classmethod
    def of(cls, x: Array) -> Table:
        """Measure the columns of ``x`` and wrap it."""
        mean, scale = column_statistics(x)
        return cls(x, mean, scale)

    @property
    def n_rows(self) -> int:
        return int(self.x.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.x.shape[1])

    @property
    def varying(self) -> HostArray:
        """Indices of the columns that are not constant."""
        return np.flatnonzero(self.scale > 0)

    def fingerprints(self, rng: np.random.Generator) -> HostArray:
        """One number per row that equal rows share and, for all practical purposes, no others do."""
        xp = namespace(self.x)
        known = np.where(self.scale > 0, self.scale, np.inf)
        mix, shift = like(rng.normal(size=self.n_columns) / known, self.x), like(self.mean, self.x)
        parts = [
            xp.sum((xp.astype(self.x[some, :], xp.float64) - shift) * mix, axis=1)
            for some in _row_slices(self.x)
        ]
        return np.concatenate([to_numpy(part) for part in parts])

    def take(self, rows: HostArray, columns: HostArray) -> Array:
        """Standardised float64 values of some rows and columns, as a new array."""
        xp = namespace(self.x)
        whole = columns.size == self.n_columns
        z = xp.astype(gather(self.x, rows, None if whole else columns), xp.float64, copy=False)
        scale = np.where(self.scale[columns] > 0, self.scale[columns], 1.0)
        z -= like(self.mean[columns], self.x)
        z /= like(scale, self.x)
        return z


@dataclass(frozen=True)
class Block:
    """Some rows of every fold: ``rows`` is (folds, rows per fold), -1 where a fold has fewer."""

    rows: HostArray


class Piece(NamedTuple):
    """Some standardised columns of some rows, ready for products.

    ``values`` has two columns more: ones, and one that :meth:`FoldedRows.exponents` writes to, so that
    a single product gives the whole expanded square.
    """

    values: Array
    squares: Array

    @classmethod
    def of(cls, z: Array) -> Piece:
        """Append the two columns and work out the squares."""
        xp = namespace(z)
        one = xp.ones_like(z[:, :1])
        return cls(xp.concat([z, one, one], axis=1), z * z)


class FoldedRows:
    """The rows of a table in blocks, each with its share of every fold.

    Parameters
    ----------
    table : Table
    fold_of_row : numpy.ndarray of shape (n,)
        The fold of each row, 0 to ``n_folds - 1``.
    n_folds : int
    centers : numpy.ndarray of shape (n_centers,)
        Rows that distances are measured to; -1 is a placeholder, far from every row.
    max_columns : int
        At most so many standardised columns are held at a time; wider requests are worked
        through in pieces, standardised anew each time.
    block_rows : int or None
        Rows in a block at most.
    """

    def __init__(
        self,
        table: Table,
        fold_of_row: HostArray,
        n_folds: int,
        centers: HostArray,
        *,
        max_columns: int,
        block_rows: int | None = None,
    ) -> None:
        self.table = table
        self.centers = centers
        self.max_columns = max_columns
        self.fold_sizes = np.bincount(fold_of_row, minlength=n_folds)
        self.blocks = _deal(fold_of_row, n_folds, max(1, (block_rows or BLOCK_ROWS) // n_folds))
        # Placeholders are so far from everything that their kernels are exactly 0.
        self._row_offsets = [like(np.where(b.rows.ravel() < 0, FAR, 0.0), table.x) for b in self.blocks]
        self._center_offsets = like(np.where(centers < 0, FAR, 0.0), table.x)
        self._held: tuple[HostArray, list[Piece]] | None = None

    def sum(self, term: Callable[..., Any], *per_block: Any) -> Any:
        """Add up ``term(i, ...)`` over the blocks, in order; terms may be tuples."""
        total: Any = None
        for i in range(len(self.blocks)):
            value = term(i, *(items[i] for items in per_block))
            if total is None:
                total = value
            elif isinstance(value, tuple):
                total = tuple(a + b for a, b in zip(total, value, strict=True))
            else:
                total = total + value
        return total

    def take_all(self, values: HostArray, fill: float) -> list[HostArray]:
        """Split a per-row host array into blocks of shape (folds, rows), padded by ``fill``."""
        return [np.where(b.rows < 0, fill, values[np.maximum(b.rows, 0)]) for b in self.blocks]

    def exponents(self, squared_weights: HostArray, columns: HostArray) -> list[Array]:
        r"""Exponents of Gaussian kernels of width 1, :math:`-\frac12\sum_j v_j (x_{ij}-c_{lj})^2`.

        One matrix product per block. Returns an array of shape
        (folds * rows per fold, n_centers) for each block.
        """
        exponents: list[Array] = [None] * len(self.blocks)
        xp = namespace(self.table.x)
        for pieces, inside in self._pieces(columns):
            first = inside.start == 0
            v = like(squared_weights[inside], self.table.x)
            center = pieces[-1]
            center_term = -0.5 * (center.squares @ v)
            if first:
                center_term = center_term - self._center_offsets
            right = xp.concat(
                [
                    xp.matrix_transpose(center.values[:, :-2] * v),
                    center_term[None, :],
                    -xp.ones_like(center_term)[None, :],
                ]
            )
            for i, piece in enumerate(pieces[:-1]):
                row_term = 0.5 * (piece.squares @ v)
                piece.values[:, -1] = row_term + self._row_offsets[i] if first else row_term
                # Expanding the square leaves 1e-12 at worst where 0 is due: harmless under exp.
                exponent = piece.values @ right
                exponents[i] = exponent if exponents[i] is None else exponents[i] + exponent
        return exponents

    def pull_back(self, slopes: list[Array], columns: HostArray) -> HostArray:
        r"""Carry slopes in minus the exponents back to the squared weights.

        For slopes :math:`M_{il}` this is :math:`\frac12\sum_{il} M_{il}(x_{ij}-c_{lj})^2`
        for each column j, by one matrix product per block.
        """
        xp = namespace(self.table.x)
        row_sums = [xp.sum(s, axis=1) for s in slopes]
        gradient = np.empty(columns.size)

        def term(_: int, piece: Piece, slope: Array, sums: Array) -> tuple[Array, Array]:
            return sums @ piece.squares, xp.matrix_transpose(slope) @ piece.values[:, :-1]

        for pieces, inside in self._pieces(columns):
            center = pieces[-1]
            squared, cross = self.sum(term, pieces[:-1], slopes, row_sums)
            # The column of ones has summed the slopes of each centre.
            total = squared + cross[:, -1] @ center.squares
            total -= 2 * xp.sum(cross[:, :-1] * center.values[:, :-2], axis=0)
            gradient[inside] = 0.5 * to_numpy(total)
        return gradient

    def center_half_distances(self, squared_weights: HostArray, columns: HostArray) -> HostArray:
        """Half the weighted squared distances between all pairs of centres, on the host."""
        real = np.flatnonzero(self.centers >= 0)
        total: Any = 0.0
        xp = namespace(self.table.x)
        for pieces, inside in self._pieces(columns):
            v = like(squared_weights[inside], self.table.x)
            center = pieces[-1].values[:, :-2]
            norms = 0.5 * (pieces[-1].squares @ v)
            total = total + norms[:, None] + norms[None, :] - (center * v) @ xp.matrix_transpose(center)
        pairs = to_numpy(total)[np.ix_(real, real)]
        return np.maximum(pairs[np.triu_indices(real.size, 1)], 0.0)

    def _pieces(self, columns: HostArray) -> Iterator[tuple[list[Piece], slice]]:
        """Yield standardised columns, for every block and then for the centres."""
        if columns.size <= self.max_columns:
            if self._held is None or not np.array_equal(self._held[0], columns):
                self._held = None
                self._held = (columns.copy(), self._standardized(columns))
            yield self._held[1], slice(0, columns.size)
            return
        self._held = None
        for start in range(0, columns.size, self.max_columns):
            inside = slice(start, min(start + self.max_columns, columns.size))
            yield self._standardized(columns[inside]), inside

    def _standardized(self, columns: HostArray) -> list[Piece]:
        wanted = [*(b.rows.ravel() for b in self.blocks), self.centers]
        return [Piece.of(self.table.take(np.maximum(rows, 0), columns)) for rows in wanted]


def _row_slices(x: Array, elements: int = 250_000) -> Iterator[slice]:
    """Cut the rows so that a temporary copy of each piece stays small."""
    step = max(1, elements // max(1, int(x.shape[1])))
    for start in range(0, int(x.shape[0]), step):
        yield slice(start, min(start + step, int(x.shape[0])))


def _deal(fold_of_row: HostArray, n_folds: int, rows_per_fold: int) -> list[Block]:
    """Cut the row numbers of every fold into blocks of at most ``rows_per_fold`` each."""
    members = [np.flatnonzero(fold_of_row == f) for f in range(n_folds)]
    longest = max(m.size for m in members)
    n_blocks = -(-longest // rows_per_fold)
    width = -(-longest // n_blocks)
    dealt = np.full((n_folds, n_blocks * width), -1)
    for f, m in enumerate(members):
        dealt[f, : m.size] = m
    return [Block(dealt[:, i * width : (i + 1) * width]) for i in range(n_blocks)]
