"""Blocks of rows laid out fold by fold, seen from kernel centres."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from l1lsmi._arrays import (
    Array,
    HostArray,
    blas_threads,
    clip_in_place,
    exp_in_place,
    in_float64,
    is_foreign,
    like,
    namespace,
    product_into,
    to_numpy,
)
from l1lsmi._rows.table import Table
from l1lsmi._rows.wide import CentersAt, wide_exponents, wide_pull_back

#: Rows per block: a block of distances to 100 centres then stays in cache, and memory is small.
BLOCK_ROWS = 500
#: The same for other libraries, where a product costs a launch, however small it is.
DEVICE_BLOCK_ROWS = 100_000
#: Standardised columns and their squares are held up to so many bytes where rows are few; as many columns
#: take half of it in float32.
HELD_BYTES = 2**24
#: Half a squared distance at which a Gaussian kernel is exactly 0, at any width, and nothing overflows.
FAR = {"float64": 1e200, "float32": 1e20}


class _Piece(NamedTuple):
    """Some standardised columns of some rows, ready for products.

    ``values`` has two columns more: ones, and one that :meth:`FoldedBlock.exponents` writes to, so that
    a single product gives the whole expanded square.
    """

    values: Array
    squares: Array

    @classmethod
    def of(cls, z: Array) -> _Piece:
        """Append the two columns and work out the squares."""
        xp = namespace(z)
        one = like(np.ones((z.shape[0], 1)), z, dtype=z.dtype)
        return cls(xp.concat([z, one, one], axis=1), z * z)


class Centers:
    """Rows that distances are measured to.

    Parameters
    ----------
    table : Table
        Where they are: the whole, or these rows alone, which can go where blocks go.
    places : numpy.ndarray of int, shape (n_centers,)
        Their numbers in it.
    rows : numpy.ndarray of int, shape (n_centers,)
        Their numbers in the whole; -1 is a placeholder, far from every row.
    max_columns : int
        At most so many standardised columns of a block are held at a time; wider requests are worked
        through in pieces, standardised anew each time.
    """

    def __init__(self, table: Table, places: HostArray, rows: HostArray, max_columns: int) -> None:
        self.table = table
        self.places = places
        self.rows = rows
        self.max_columns = max_columns
        # Placeholders are so far from everything that their kernels are exactly 0.
        self.offsets = table.place(np.where(rows < 0, FAR[table.means.precision], 0.0))
        self._held: tuple[HostArray, _Piece] | None = None
        self._wide: tuple[HostArray, HostArray] | None = None
        self._right: tuple[HostArray, HostArray, Array] | None = None

    @property
    def size(self) -> int:
        return int(self.rows.size)

    def piece(self, columns: HostArray) -> _Piece:
        """Standardised columns of the centres."""
        held = self._held  # threads may share centres
        if held is not None and np.array_equal(held[0], columns):
            return held[1]
        piece = _Piece.of(self.table.take(self.places, columns))
        self._held = (columns.copy(), piece) if columns.size <= self.max_columns else None
        return piece

    def wide(self, columns: HostArray) -> HostArray:
        """Many standardised columns of the centres; those asked for last are kept."""
        known = self._wide
        if known is None or not np.array_equal(known[0], columns):
            known = self._wide = (columns.copy(), self.table.take(self.places, columns))
        return known[1]

    def right_side(self, squared_weights: HostArray, columns: HostArray, first: bool) -> Array:
        """What a piece of rows is multiplied with; the same for every block."""
        known = self._right
        if known is not None and known[0] is squared_weights and known[1] is columns:
            return known[2]
        center = self.piece(columns)
        v = self.table.place(squared_weights)
        xp = namespace(v)
        center_term = -0.5 * (center.squares @ v)
        if first:
            center_term = center_term - self.offsets
        ones = xp.ones_like(center_term)
        weighted = xp.matrix_transpose(center.values[:, :-2] * v)
        right = xp.concat([weighted, center_term[None, :], -ones[None, :]])
        self._right = (squared_weights, columns, right)
        return right

    def half_distances(self, squared_weights: HostArray, columns: HostArray) -> HostArray:
        """Half the weighted squared distances between all pairs of centres, on the host."""
        real = np.flatnonzero(self.rows >= 0)
        total, norms = self.distances(squared_weights, columns)
        pairs, sizes = to_numpy(total)[np.ix_(real, real)], to_numpy(norms)[real]
        # Equal points come out at rounding errors instead of 0, which would pass for distances.
        pairs[pairs <= 1e-12 * (sizes[:, None] + sizes)] = 0.0
        return np.asarray(pairs[np.triu_indices(real.size, 1)])

    def distances(self, squared_weights: HostArray, columns: HostArray) -> tuple[Array, Array]:
        """Half the weighted squared distances between centres, and half their squared lengths, in float64."""
        total: Any = 0.0
        norms: Any = 0.0
        xp = namespace(self.table.x)
        for inside in _pieces(columns.size, self.max_columns):
            center = self.piece(columns[inside])
            v = like(squared_weights[inside], self.table.x)
            values = in_float64(center.values[:, :-2])
            # Squares that were rounded would make equal points differ.
            half = 0.5 * ((center.squares if center.squares.dtype == values.dtype else values * values) @ v)
            norms = norms + half
            total = total + half[:, None] + half[None, :] - (values * v) @ xp.matrix_transpose(values)
        return total, norms

    def block(self) -> FoldedBlock:
        """The centres themselves as a block."""
        return CenterBlock(self.table, self.places[None, :], self)

    def forget(self) -> None:
        """Give back the memory of the last columns."""
        self._held = self._wide = self._right = None


class _HasRows(Protocol):
    def rows_of(self, rows: HostArray) -> Table: ...


def centers_of(table: Table | _HasRows, rows: HostArray, exact: bool = False) -> Centers:
    """Centres at some rows of a table, -1 for none; seen in float64 if ``exact``."""
    rows = rows.ravel()
    places = np.maximum(rows, 0)
    # Standardised columns and their squares are then two of the arrays of rows by centres that are held.
    least = max(rows.size, 50)
    if not isinstance(table, Table):  # the whole is elsewhere
        here = table.rows_of(places)
        return Centers(here.exact if exact else here, np.arange(rows.size), rows, least)
    table = table.exact if exact else table
    if is_foreign(table.x):
        # A device has memory for all columns, and loses more by working through them in pieces.
        return Centers(table, places, rows, max(table.n_columns, 1))
    return Centers(table, places, rows, max(least, HELD_BYTES // (16 * table.n_rows)))


@dataclass
class FoldedBlock:
    """Some rows of every fold.

    Attributes
    ----------
    table : Table
    rows : numpy.ndarray of int, shape (folds, rows per fold)
        Row numbers in the table, -1 where a fold has fewer.
    centers : Centers
    attached : dict
        Arrays that go with these rows, by name.
    """

    table: Table
    rows: HostArray
    centers: Centers
    attached: dict[str, Any] = field(default_factory=dict)
    _held: tuple[HostArray, _Piece] | None = None
    _wide: tuple[HostArray, HostArray] | None = None
    _work: Array = None
    _content: tuple[str, HostArray, HostArray] | None = None

    @property
    def n_folds(self) -> int:
        return int(self.rows.shape[0])

    def pick(self, values: HostArray, fill: float) -> HostArray:
        """Values of these rows out of an array over all of them, (folds, rows); the rest is ``fill``."""
        return np.where(self.rows < 0, fill, values[np.maximum(self.rows, 0)])

    def exponents(self, squared_weights: HostArray, columns: HostArray) -> Array:
        r"""Exponents of Gaussian kernels of width 1, :math:`-\frac12\sum_j v_j (x_{ij}-c_{lj})^2`.

        One matrix product. The array, of shape (folds * rows per fold, n_centers), is kept: asking for the
        same again costs nothing, and the next request may write over it.
        """
        if not self._has("exponents", squared_weights, columns):
            self._content = None
            self._work = self._new_exponents(squared_weights, columns)
            self._content = ("exponents", squared_weights, columns)
        return self._work

    def _new_exponents(self, squared_weights: HostArray, columns: HostArray) -> Array:
        points = self._wide_points(columns)
        if points is not None:
            at, v = self._wide_centers(points, columns), squared_weights.astype(points.dtype)
            work = wide_exponents(points, at, v, self._n_threads())
            work = work.astype(self.table.dtype, copy=False)
            if self._has_all_rows:
                work = work[np.maximum(self.rows.ravel(), 0)]
            work -= self.offsets()[:, None]
            work -= self.centers.offsets
        else:
            work = self._work
            for piece, inside in self._pieces(columns):
                some, v, first = self._part(columns, squared_weights, inside)
                right = self.centers.right_side(v, some, first)
                row_term = 0.5 * (piece.squares @ self.table.place(v))
                piece.values[:, -1] = row_term + self.offsets() if first else row_term
                if first:
                    work = product_into(work, piece.values, right)
                else:
                    work += piece.values @ right
        # The expanded square can exceed 0 by a rounding error, which a small width would blow up.
        return clip_in_place(work, 0.0)

    def _wide_points(self, columns: HostArray) -> HostArray | None:
        """Many columns from the standardised copy of the table, where there is one; None elsewhere.

        Of all rows in their own order where this block has them all, which are not copied; else of its own.
        """
        z = self.table.standardized if columns.size > self.centers.max_columns else None
        if z is None:
            return None
        if self._wide is None or not np.array_equal(self._wide[0], columns):
            self._wide = None
            whole = columns.size == self.table.n_columns
            some = z if self._has_all_rows else z[np.maximum(self.rows.ravel(), 0)]
            self._wide = (columns.copy(), some if whole else some.take(columns, axis=1))
        return self._wide[1]

    @cached_property
    def _has_all_rows(self) -> bool:
        return bool(np.unique(self.rows[self.rows >= 0]).size == self.table.n_rows)

    def _wide_centers(self, points: HostArray, columns: HostArray) -> CentersAt:
        if self._has_all_rows and self.centers.table is self.table:
            return lambda inside: points[self.centers.places, inside]
        wide = self.centers.wide(columns).astype(points.dtype, copy=False)
        return lambda inside: wide[:, inside]

    def _n_threads(self) -> int:
        """Threads for one wide product, where so many are at work already."""
        return max(1, blas_threads() // self.table.means.n_jobs)

    def kernels(self, squared_weights: HostArray, columns: HostArray) -> Array:
        """Gaussian kernels of width 1, kept like `exponents`, over which they are written."""
        if not self._has("kernels", squared_weights, columns):
            self._work = exp_in_place(self.exponents(squared_weights, columns))
            self._content = ("kernels", squared_weights, columns)
        return self._work

    def pull_back(self, slope: Array, columns: HostArray) -> Array:
        r"""Carry slopes in minus the exponents back to the squared weights.

        For slopes :math:`M_{il}` this is :math:`\frac12\sum_{il} M_{il}(x_{ij}-c_{lj})^2` for each column j,
        by one matrix product. What leaves the block, to be added to other sums, is in float64.
        """
        xp = namespace(slope)
        points = self._wide_points(columns)
        slope = xp.astype(slope, self.table.dtype if points is None else points.dtype, copy=False)
        if points is not None:
            if self._has_all_rows:
                real = self.rows.ravel() >= 0
                natural = np.zeros((points.shape[0], slope.shape[1]), dtype=slope.dtype)
                # Added, as centres that only fill up a class are all in one place.
                np.add.at(natural, self.rows.ravel()[real], slope[real])
                slope = natural
            at = self._wide_centers(points, columns)
            return in_float64(wide_pull_back(points, at, slope, self._n_threads()))
        row_sums, turned = xp.sum(slope, axis=1), xp.matrix_transpose(slope)
        totals = []
        for piece, inside in self._pieces(columns):
            center = self.centers.piece(columns[inside])
            cross = turned @ piece.values[:, :-1]
            # The column of ones has summed the slopes of each centre.
            total = row_sums @ piece.squares + cross[:, -1] @ center.squares
            total -= 2 * xp.sum(cross[:, :-1] * center.values[:, :-2], axis=0)
            totals.append(in_float64(0.5 * total))
        return totals[0] if len(totals) == 1 else xp.concat(totals)

    def moved_exponents(
        self, columns: HostArray, others: HostArray, sign: float, scale: float
    ) -> Iterator[Array]:
        r"""Exponents of sets one column away from ``columns``, all weights alike.

        For every other column j in turn, the exponents of the set with it (sign 1) or without it
        (sign -1), times ``scale``: :math:`e_{il} \mp \frac12 (x_{ij} - c_{lj})^2`. Distances within the set
        are worked out once; a neighbour costs one update of them.
        """
        within = self.exponents(np.full(columns.size, scale), columns) * 1.0
        unit = (0.5 * scale) ** 0.5  # squared gaps are what is added
        centers = self.centers.block()
        for inside in _pieces(others.size, self.centers.max_columns):
            at_rows, at_centers = self._lines(others[inside], unit), centers._lines(others[inside], unit)
            for j in range(at_rows.shape[0]):
                gaps = at_rows[j, :][:, None] - at_centers[j, :][None, :]
                gaps *= gaps
                yield within - gaps if sign > 0 else clip_in_place(within + gaps, 0.0)

    def _lines(self, columns: HostArray, unit: float) -> Array:
        """Standardised columns times ``unit``, one after the other in memory: (columns, rows)."""
        xp = namespace(self.table.x)
        values = self.table.take(np.maximum(self.rows.ravel(), 0), columns)
        flat = xp.reshape(xp.matrix_transpose(values) * unit, (-1,))
        return xp.reshape(flat, (columns.size, -1))

    def forget(self) -> None:
        """Give back the memory of the last exponents and of the columns behind them."""
        self._held = self._wide = self._work = self._content = None

    def _has(self, what: str, squared_weights: HostArray, columns: HostArray) -> bool:
        return (
            self._content is not None
            and self._content[0] == what
            and np.array_equal(self._content[1], squared_weights)
            and np.array_equal(self._content[2], columns)
        )

    def offsets(self) -> Array:
        """What makes rows that only fill up a fold far from everything."""
        if "offsets" not in self.attached:
            far = np.where(self.rows.ravel() < 0, FAR[self.table.means.precision], 0.0)
            self.attached["offsets"] = self.table.place(far)
        return self.attached["offsets"]

    def _part(
        self, columns: HostArray, squared_weights: HostArray, inside: slice
    ) -> tuple[HostArray, HostArray, bool]:
        if inside.stop - inside.start == columns.size:  # the very same arrays: the right side is known
            return columns, squared_weights, True
        return columns[inside], squared_weights[inside], inside.start == 0

    def _pieces(self, columns: HostArray) -> Iterator[tuple[_Piece, slice]]:
        """Yield standardised columns: at once, or a few at a time."""
        for inside in _pieces(columns.size, self.centers.max_columns):
            some = columns[inside]
            if self._held is None or not np.array_equal(self._held[0], some):
                self._held = None
                rows = np.maximum(self.rows.ravel(), 0)
                piece = _Piece.of(self.table.take(rows, some))
                if some.size == columns.size:
                    self._held = (some.copy(), piece)
                yield piece, inside
            else:
                yield self._held[1], inside


class CenterBlock(FoldedBlock):
    """The centres as a block: few, and what becomes of their kernels needs all digits.

    Exponents are in float64 whatever the precision of the table.
    """

    def _new_exponents(self, squared_weights: HostArray, columns: HostArray) -> Array:
        if self.table.means.precision == "float64":
            return super()._new_exponents(squared_weights, columns)
        total, _ = self.centers.distances(squared_weights, columns)
        return clip_in_place(-total - in_float64(self.centers.offsets), 0.0)


@dataclass(frozen=True)
class Layout:
    """How rows are made into a block: where their folds go, and what is attached to them.

    Attributes
    ----------
    n_folds : int
    centers : Centers
    attach : mapping of str to callable
        ``make(target, block)`` gives the array that goes with the rows of a block.
    """

    n_folds: int
    centers: Centers
    attach: Mapping[str, Callable[[Any, FoldedBlock], Array]]

    def bytes_per_row(self, n_columns: int) -> int:
        """What is kept of a row: exponents, the target's side, and columns with their squares."""
        numbers = 2 * self.centers.size + 2 * min(n_columns, self.centers.max_columns)
        return self.centers.table.means.number_bytes * numbers

    def blocks(
        self, table: Table, target: Any, fold_of_row: HostArray, block_rows: int
    ) -> Iterator[FoldedBlock]:
        """Deal rows out in blocks of at most ``block_rows``."""
        for rows in _deal(fold_of_row, self.n_folds, max(1, block_rows // self.n_folds)):
            block = FoldedBlock(table, rows, self.centers)
            for name, make in self.attach.items():
                block.attached[name] = make(target, block)
            yield block


class FoldedRows:
    """The rows of a table in blocks, each with its share of every fold, all at hand.

    Parameters
    ----------
    table : Table
    target : object
        What `Layout.attach` makes arrays of.
    fold_of_row : numpy.ndarray of shape (n,)
        The fold of each row; -1 leaves a row out.
    layout : Layout
    block_rows : int or None
        Rows in a block at most.
    """

    def __init__(
        self,
        table: Table,
        target: Any,
        fold_of_row: HostArray,
        layout: Layout,
        block_rows: int | None = None,
    ) -> None:
        self.at_hand = True
        self.centers = layout.centers
        self.fold_sizes = np.bincount(fold_of_row[fold_of_row >= 0], minlength=layout.n_folds)
        block_rows = block_rows or (DEVICE_BLOCK_ROWS if is_foreign(table.x) else BLOCK_ROWS)
        self.blocks = list(layout.blocks(table, target, fold_of_row, block_rows))

    def sum(self, term: Callable[..., Any], *arguments: Any, columns: HostArray | None = None) -> Any:
        """Add up ``term(block, *arguments)`` over the blocks, in order; terms may be tuples.

        ``columns`` are those that the term reads, None for none; here all are at hand.
        """
        return add_up(term(block, *arguments) for block in self.blocks)

    def forget(self) -> None:
        """Give back the memory of the last exponents and of the columns behind them."""
        self.centers.forget()
        for block in self.blocks:
            block.forget()


def add_up(terms: Iterable[Any]) -> Any:
    """The sum of arrays, or of tuples of arrays place by place."""
    total: Any = None
    for value in terms:
        if value is None:  # no rows, no term
            continue
        if total is None:
            total = value
        elif isinstance(value, tuple):
            total = tuple(a + b for a, b in zip(total, value, strict=True))
        else:
            total = total + value
    return total


def _pieces(size: int, most: int) -> Iterator[slice]:
    for start in range(0, max(size, 1), most):
        yield slice(start, min(start + most, size))


def _deal(fold_of_row: HostArray, n_folds: int, rows_per_fold: int) -> list[HostArray]:
    """Cut the row numbers of every fold into blocks of at most ``rows_per_fold`` each."""
    members = [np.flatnonzero(fold_of_row == f) for f in range(n_folds)]
    longest = max(m.size for m in members)
    if longest == 0:
        return []
    n_blocks = -(-longest // rows_per_fold)
    width = -(-longest // n_blocks)
    dealt = np.full((n_folds, n_blocks * width), -1)
    for f, m in enumerate(members):
        dealt[f, : m.size] = m
    return [dealt[:, i * width : (i + 1) * width] for i in range(n_blocks)]
