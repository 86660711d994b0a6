"""Data as blocks of rows, and the two sums over rows that every step needs.

A wide feature matrix is never copied whole. :class:`Table` standardises what is
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

from l1lsmi.arrays import Array, HostArray, clip_in_place, gather, like, namespace, product_into, to_numpy

__all__ = ["Block", "FoldedRows", "Piece", "Table", "column_statistics", "standardize"]

#: Rows per block: a block of distances to 100 centres then stays in cache, and memory is small.
BLOCK_ROWS = 500
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


def standardize(values: Array, mean: HostArray, scale: HostArray) -> Array:
    """Subtract the mean and divide by the scale, column by column, in place; a scale of 0 is 1.

    Columns near the limits of floating point are brought to order 1 first, by a power of 2, which
    is exact: the difference of two large numbers must not overflow.
    """
    scale = np.where(scale > 0, scale, 1.0)
    exponents = np.frexp(scale)[1]
    if np.abs(exponents).max(initial=0) > 900:
        power = np.ldexp(1.0, -np.clip(exponents, -1000, 1000))
        values *= like(power, values)
        mean, scale = mean * power, scale * power
    values -= like(mean, values)
    values /= like(scale, values)
    return values


@dataclass(frozen=True)
class Table:
    """A feature matrix that hands out standardised pieces of itself.

    Attributes
    ----------
    x : array of shape (n, m)
        The raw values, in any array API library.
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

    def take(self, rows: HostArray, columns: HostArray) -> Array:
        """Standardised float64 values of some rows and columns, as a new array."""
        xp = namespace(self.x)
        whole = columns.size == self.n_columns and np.array_equal(columns, np.arange(columns.size))
        z = xp.astype(gather(self.x, rows, None if whole else columns), xp.float64, copy=False)
        return standardize(z, self.mean[columns], self.scale[columns])


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
        one = like(np.ones((z.shape[0], 1)), z)
        return cls(xp.concat([z, one, one], axis=1), z * z)


class FoldedRows:
    """The rows of a table in blocks, each with its share of every fold.

    Parameters
    ----------
    table : Table
    fold_of_row : numpy.ndarray of shape (n,)
        The fold of each row, 0 to ``n_folds - 1``; -1 leaves a row out.
    n_folds : int
    centers : numpy.ndarray of shape (n_centers,)
        Rows that distances are measured to; -1 is a placeholder, far from every row.
    max_columns : int
        At most so many standardised columns are held at a time; wider requests are worked
        through in pieces, standardised anew each time.
    block_rows : int or None
        Rows in a block at most.
    append_centers : bool
        Let one more block follow, of the centres themselves.
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
        append_centers: bool = False,
    ) -> None:
        self.table = table
        self.centers = centers
        self.max_columns = max_columns
        self.fold_sizes = np.bincount(fold_of_row[fold_of_row >= 0], minlength=n_folds)
        self.blocks = _deal(fold_of_row, n_folds, max(1, (block_rows or BLOCK_ROWS) // n_folds))
        if append_centers:
            self.blocks.append(Block(centers[None, :]))
        # Placeholders are so far from everything that their kernels are exactly 0.
        self._row_offsets = [like(np.where(b.rows.ravel() < 0, FAR, 0.0), table.x) for b in self.blocks]
        self._center_offsets = like(np.where(centers < 0, FAR, 0.0), table.x)
        self._held: tuple[HostArray, list[Piece], Piece] | None = None
        self._exponents: list[Array] = [None] * len(self.blocks)

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
        (folds * rows per fold, n_centers) for each block; the next call may write over it.
        """
        right: Array = None
        for i in range(len(self.blocks)):
            for piece, center, inside in self._pieces(i, columns):
                first = inside.start == 0
                v = like(squared_weights[inside], self.table.x)
                if right is None or columns.size > self.max_columns:
                    right = self._right_side(center, v, first)
                row_term = 0.5 * (piece.squares @ v)
                piece.values[:, -1] = row_term + self._row_offsets[i] if first else row_term
                if first:
                    self._exponents[i] = product_into(self._exponents[i], piece.values, right)
                else:
                    self._exponents[i] += piece.values @ right
            # The expanded square can exceed 0 by a rounding error, which a small width would blow up.
            self._exponents[i] = clip_in_place(self._exponents[i], 0.0)
        return self._exponents

    def forget(self) -> None:
        """Give back the memory of the last exponents and of the columns behind them."""
        self._exponents = [None] * len(self.blocks)
        self._held = None

    def moved_exponents(
        self, columns: HostArray, others: HostArray, sign: float, scale: float
    ) -> Iterator[list[Array]]:
        r"""Exponents of sets one column away from ``columns``, all weights alike.

        For every other column j in turn, the exponents of the set with it (sign 1) or without it
        (sign -1), times ``scale``, block by block: :math:`e_{il} \mp \frac12 (x_{ij} - c_{lj})^2`. Distances
        within the set are worked out once; a neighbour costs one update of them.
        """
        base = [e * 1.0 for e in self.exponents(np.full(columns.size, scale), columns)]
        per_piece = max(1, self.max_columns)
        unit = (0.5 * scale) ** 0.5
        for start in range(0, others.size, per_piece):
            some = others[start : start + per_piece]
            # One column after the other in memory, scaled so that squared gaps are what is added.
            at_rows = [self._lines(b.rows.ravel(), some, unit) for b in self.blocks]
            at_centers = self._lines(self.centers, some, unit)
            for j in range(some.size):
                moved = []
                for within, values in zip(base, at_rows, strict=True):
                    gaps = values[j, :][:, None] - at_centers[j, :][None, :]
                    gaps *= gaps
                    moved.append(within - gaps if sign > 0 else clip_in_place(within + gaps, 0.0))
                yield moved

    def _lines(self, rows: HostArray, columns: HostArray, unit: float) -> Array:
        xp = namespace(self.table.x)
        values = self.table.take(np.maximum(rows, 0), columns)
        flat = xp.reshape(xp.matrix_transpose(values) * unit, (-1,))  # lays the columns out anew
        return xp.reshape(flat, (columns.size, -1))

    def _right_side(self, center: Piece, v: Array, first: bool) -> Array:
        xp = namespace(v)
        center_term = -0.5 * (center.squares @ v)
        if first:
            center_term = center_term - self._center_offsets
        ones = xp.ones_like(center_term)
        weighted = xp.matrix_transpose(center.values[:, :-2] * v)
        return xp.concat([weighted, center_term[None, :], -ones[None, :]])

    def pull_back(self, slope_of: Callable[[int], Array], columns: HostArray) -> HostArray:
        r"""Carry slopes in minus the exponents back to the squared weights.

        For slopes :math:`M_{il}`, which ``slope_of`` gives block by block, this is
        :math:`\frac12\sum_{il} M_{il}(x_{ij}-c_{lj})^2` for each column j, by one matrix product per
        block.
        """
        xp = namespace(self.table.x)
        totals: dict[int, Array] = {}
        for i in range(len(self.blocks)):
            slope = slope_of(i)
            row_sums, turned = xp.sum(slope, axis=1), xp.matrix_transpose(slope)
            for piece, center, inside in self._pieces(i, columns):
                cross = turned @ piece.values[:, :-1]
                # The column of ones has summed the slopes of each centre.
                total = row_sums @ piece.squares + cross[:, -1] @ center.squares
                total -= 2 * xp.sum(cross[:, :-1] * center.values[:, :-2], axis=0)
                totals[inside.start] = total + totals[inside.start] if inside.start in totals else total
        return np.asarray(0.5 * np.concatenate([to_numpy(totals[start]) for start in sorted(totals)]))

    def center_half_distances(self, squared_weights: HostArray, columns: HostArray) -> HostArray:
        """Half the weighted squared distances between all pairs of centres, on the host."""
        real = np.flatnonzero(self.centers >= 0)
        total: Any = 0.0
        norms: Any = 0.0
        xp = namespace(self.table.x)
        for _, center, inside in self._pieces(None, columns):
            v = like(squared_weights[inside], self.table.x)
            values = center.values[:, :-2]
            half = 0.5 * (center.squares @ v)
            norms = norms + half
            total = total + half[:, None] + half[None, :] - (values * v) @ xp.matrix_transpose(values)
        pairs, sizes = to_numpy(total)[np.ix_(real, real)], to_numpy(norms)[real]
        # Equal points come out at rounding errors instead of 0, which would pass for distances.
        pairs[pairs <= 1e-12 * (sizes[:, None] + sizes)] = 0.0
        return np.asarray(pairs[np.triu_indices(real.size, 1)])

    def _pieces(self, block: int | None, columns: HostArray) -> Iterator[tuple[Any, Piece, slice]]:
        """Yield standardised columns of a block and of the centres: at once, or a few at a time."""
        if columns.size <= self.max_columns:
            if self._held is None or not np.array_equal(self._held[0], columns):
                self._held = None
                blocks = [self._piece(b.rows.ravel(), columns) for b in self.blocks]
                self._held = (columns.copy(), blocks, self._piece(self.centers, columns))
            _, blocks, center = self._held
            yield None if block is None else blocks[block], center, slice(0, columns.size)
            return
        self._held = None
        for start in range(0, columns.size, self.max_columns):
            inside = slice(start, min(start + self.max_columns, columns.size))
            some = columns[inside]
            piece = None if block is None else self._piece(self.blocks[block].rows.ravel(), some)
            yield piece, self._piece(self.centers, some), inside

    def _piece(self, rows: HostArray, columns: HostArray) -> Piece:
        return Piece.of(self.table.take(np.maximum(rows, 0), columns))


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
