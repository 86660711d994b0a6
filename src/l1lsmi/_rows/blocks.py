"""Blocks of rows laid out fold by fold, and their distances to kernel centres.

Every array has a leading batch axis: r draws of folds and centres, or r sets of features, are worked on at
once. On the processor r is 1. Axes of length 1 broadcast: one draw serves many sets of features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from l1lsmi._arrays import (
    Array,
    HostArray,
    asarray_like,
    batched_product,
    clip_in_place,
    exp_in_place,
    in_float64,
    matrix_vector,
    namespace,
    product_into,
    take_members,
    to_numpy,
    vector_matrix,
)
from l1lsmi._blas import blas_threads
from l1lsmi._rows.kinds import Coordinates
from l1lsmi._rows.medians import median_positive, median_positive_rows
from l1lsmi._rows.parts import add_up
from l1lsmi._rows.table import RowTable, Table
from l1lsmi._rows.wide import CentersAt, wide_exponents, wide_pull_back

#: Half a squared distance at which a Gaussian kernel is exactly 0, at any width, and nothing overflows.
FAR = {"float64": 1e200, "float32": 1e20}
#: Rows whose squared distance in standard deviations is smaller are equal: no width can tell them apart.
SMALLEST_SQUARE = 1e-30


class _Piece(NamedTuple):
    """Coordinates of some columns at some rows, ready for products.

    ``values`` has two more columns: ones, and one that :meth:`Block.exponents` writes to, so that a single
    product gives the whole expanded square.
    """

    values: Array  # (r, rows, coordinates + 2)
    squares: Array  # (r, rows, coordinates), with what missing values add

    @classmethod
    def of(cls, found: Coordinates) -> _Piece:
        """Append the two columns and compute the squares."""
        z = found.values
        one = asarray_like(np.ones((*z.shape[:-1], 1)), z, dtype=z.dtype)
        return cls(namespace(z).concat([z, one, one], axis=-1), found.squares)


class Centers:
    """Rows that distances are measured to.

    Parameters
    ----------
    table : Table
        Has the centres among its rows.
    places : numpy.ndarray of int, shape (r, n_centers)
        Their row numbers in ``table``.
    rows : numpy.ndarray of int, shape (r, n_centers)
        Their row numbers in the data; -1 is a placeholder, far from every row.
    max_columns : int
        At most so many standardised columns of a block are cached; more columns are worked through in
        pieces, standardised anew each time.
    """

    def __init__(self, table: Table, places: HostArray, rows: HostArray, max_columns: int) -> None:
        self.table = table
        self.places = places
        self.rows = rows
        self.max_columns = max_columns
        # Placeholders are so far from everything that their kernels are exactly 0.
        self.offsets = table.asarray(np.where(rows < 0, FAR[table.resources.precision], 0.0))
        self._piece: tuple[HostArray, _Piece] | None = None
        self._wide: tuple[HostArray, HostArray] | None = None
        self._right: tuple[Array, HostArray, Array] | None = None

    @classmethod
    def of(cls, table: RowTable, rows: HostArray, exact: bool = False) -> Centers:
        """Centres at some rows of a table, (r, n_centers), -1 for none; in float64 if ``exact``."""
        source, places = table.locate(np.maximum(rows, 0))
        # Standardised columns and their squares then take as much memory as two arrays of rows by centres.
        max_columns = table.max_cached_columns(max(rows.shape[1], 50))
        return cls(source.exact if exact else source, places, rows, max_columns)

    @property
    def size(self) -> int:
        """Number of centres of a draw, placeholders included."""
        return int(self.rows.shape[1])

    def piece(self, columns: HostArray) -> _Piece:
        """Standardised columns of the centres."""
        cached = self._piece  # threads may share centres
        if cached is not None and np.array_equal(cached[0], columns):
            return cached[1]
        piece = _Piece.of(self.table.coordinates(self.places, columns))
        self._piece = (columns.copy(), piece) if columns.shape[1] <= self.max_columns else None
        return piece

    def wide(self, columns: HostArray) -> HostArray:
        """Many standardised columns of the centres of one draw, (n_centers, columns), cached."""
        cached = self._wide
        if cached is None or not np.array_equal(cached[0], columns):
            cached = self._wide = (columns.copy(), self.table.take(self.places[0], columns[0]))
        return cached[1]

    def right_side(self, squared_weights: Array, columns: HostArray, first: bool) -> Array:
        """Right factor of the product that gives the exponents; the same for every block."""
        cached = self._right
        if cached is not None and cached[0] is squared_weights and cached[1] is columns:
            return cached[2]
        center = self.piece(columns)
        v = self.table.for_coordinates(self.table.asarray(squared_weights), columns)
        xp = namespace(v)
        center_term = -0.5 * matrix_vector(center.squares, v)
        if first:
            center_term = center_term - self.offsets
        ones = xp.ones_like(center_term)
        weighted = xp.matrix_transpose(center.values[..., :-2] * v[:, None, :])
        right = xp.concat([weighted, center_term[:, None, :], -ones[:, None, :]], axis=1)
        self._right = (squared_weights, columns, right)
        return right

    def distances(self, squared_weights: Array, columns: HostArray) -> tuple[Array, Array]:
        """Half the weighted squared distances between centres, (r, b, b), and half their squared norms.

        In float64, whatever the precision of the table.
        """
        xp = namespace(self.table.x)
        weights = asarray_like(squared_weights, self.table.x)
        total: Any = 0.0
        norms: Any = 0.0
        for inside in _pieces(columns.shape[1], self.max_columns):
            some = columns[:, inside]
            center, v = self.piece(some), self.table.for_coordinates(weights[:, inside], some)
            values = in_float64(center.values[..., :-2])
            # Rounded squares would make equal points differ.
            rounded = center.squares.dtype != values.dtype and self.table.kinds is None
            squares = values * values if rounded else in_float64(center.squares)
            half = 0.5 * matrix_vector(squares, v)
            norms = norms + half
            inner = (values * v[:, None, :]) @ xp.matrix_transpose(values)
            total = total + half[..., :, None] + half[..., None, :] - inner
        return total, norms

    def median_distances(self, squared_weights: Array, columns: HostArray) -> list[float]:
        """Median weighted distance between two centres, for every member of the batch."""
        xp = namespace(self.table.x)
        total, norms = self.distances(squared_weights, columns)
        # Equal points come out at rounding errors instead of 0, which would pass for distances.
        small = 1e-12 * (norms[..., :, None] + norms[..., None, :]) + SMALLEST_SQUARE
        halves = xp.where(total <= small, xp.zeros_like(total), total)
        if (self.rows >= 0).all():
            upper = asarray_like(np.flatnonzero(_upper(self.size)), halves)
            medians = median_positive_rows(xp.take(xp.reshape(halves, (halves.shape[0], -1)), upper, axis=1))
        else:
            real = [np.flatnonzero(rows >= 0) for rows in self.rows]
            pairs = [half[np.ix_(at, at)] for half, at in zip(to_numpy(halves), real, strict=True)]
            medians = [median_positive(half[_upper(len(half))]) for half in pairs]
        return [float(np.sqrt(2 * median)) for median in medians]

    def block(self) -> Block:
        """The centres themselves as a block."""
        return CenterBlock(self.table, self.places[:, None, :], self)

    def take(self, members: Sequence[int]) -> Centers:
        """The centres of some draws of the batch."""
        chosen = list(members)
        return Centers(self.table, self.places[chosen], self.rows[chosen], self.max_columns)

    def clear_cache(self) -> None:
        """Free the memory of the last columns."""
        self._piece = self._wide = self._right = None


def _upper(size: int) -> HostArray:
    """Mask of the pairs above the diagonal."""
    return np.triu(np.ones((size, size), dtype=bool), 1)


@dataclass
class Block:
    """Some rows of every fold.

    Attributes
    ----------
    table : Table
    rows : numpy.ndarray of int, shape (r, folds, rows per fold)
        Row numbers in the table, -1 where a fold has fewer.
    centers : Centers
    attached : dict
        Arrays that go with these rows, by name, with a leading batch axis.
    """

    table: Table
    rows: HostArray
    centers: Centers
    attached: dict[str, Any] = field(default_factory=dict)
    _piece: tuple[HostArray, _Piece] | None = None
    _wide: tuple[HostArray, HostArray] | None = None
    _work: Array = None
    _content: tuple[str, Array, HostArray] | None = None

    @property
    def n_folds(self) -> int:
        return int(self.rows.shape[1])

    @cached_property
    def places(self) -> HostArray:
        """Row numbers as (r, rows), 0 for placeholders."""
        return np.maximum(self.rows.reshape(len(self.rows), -1), 0)

    @property
    def row_weights(self) -> Array | None:
        """Weights of the rows, (r, folds, rows per fold), 0 for placeholders; None where all count alike."""
        return self.attached.get("row_weights")

    def pick(self, values: HostArray, fill: float) -> HostArray:
        """Values of these rows out of an array over all rows; placeholders get ``fill``."""
        picked = values[np.maximum(self.rows, 0)]
        placeholder = (self.rows < 0).reshape(self.rows.shape + (1,) * (picked.ndim - 3))
        return np.where(placeholder, fill, picked)

    def exponents(self, squared_weights: Array, columns: HostArray) -> Array:
        r"""Exponents of Gaussian kernels of width 1, :math:`-\frac12\sum_j v_j (x_{ij}-c_{lj})^2`.

        One matrix product. The array, of shape (r, folds * rows per fold, n_centers), is cached: the same
        request again costs nothing, and the next request may write over it.

        Parameters
        ----------
        squared_weights : array of shape (r, w)
        columns : numpy.ndarray of int, shape (r, w)
        """
        if not self._has("exponents", squared_weights, columns):
            self._content = None
            self._work = self._new_exponents(squared_weights, columns)
            self._content = ("exponents", squared_weights, columns)
        return self._work

    def _new_exponents(self, squared_weights: Array, columns: HostArray) -> Array:
        points = self._wide_points(columns)
        if points is not None:
            work = self._wide_exponents(points, squared_weights, columns)
        else:
            work = self._work
            for piece, inside in self._pieces(columns):
                some, v, first = _part(columns, squared_weights, inside)
                right = self.centers.right_side(v, some, first)
                of_coordinates = self.table.for_coordinates(self.table.asarray(v), some)
                row_term = 0.5 * matrix_vector(piece.squares, of_coordinates)
                piece.values[..., -1] = row_term + self.offsets() if first else row_term
                if first:
                    work = product_into(work, piece.values, right)
                else:
                    work += batched_product(piece.values, right)
        # The expanded square can exceed 0 by a rounding error, which a small width would amplify.
        return clip_in_place(work, 0.0)

    def _wide_exponents(self, points: HostArray, squared_weights: Array, columns: HostArray) -> HostArray:
        v = squared_weights[0].astype(points.dtype)
        work = wide_exponents(points, self._wide_centers(points, columns), v, self._n_threads())
        work = work.astype(self.table.dtype, copy=False)
        if self._has_all_rows:
            work = work[self.places[0]]
        work -= self.offsets()[0][:, None]
        work -= self.centers.offsets[0]
        return work[None]

    def _wide_points(self, columns: HostArray) -> HostArray | None:
        """Many columns of one member from the standardised copy of the table; None where there is no copy.

        If this block has all rows, they are in the order of the table and not copied.
        """
        z = self.table.standardized if columns.shape[1] > self.centers.max_columns else None
        if z is None or len(columns) > 1 or len(self.rows) > 1:
            return None
        if self._wide is None or not np.array_equal(self._wide[0], columns):
            self._wide = None
            all_columns = columns.shape[1] == self.table.n_columns
            some = z if self._has_all_rows else z[self.places[0]]
            self._wide = (columns.copy(), some if all_columns else some.take(columns[0], axis=1))
        return self._wide[1]

    @cached_property
    def _has_all_rows(self) -> bool:
        return bool(np.unique(self.rows[self.rows >= 0]).size == self.table.n_rows)

    def _wide_centers(self, points: HostArray, columns: HostArray) -> CentersAt:
        if self._has_all_rows and self.centers.table is self.table:
            return lambda inside: points[self.centers.places[0], inside]
        wide = self.centers.wide(columns).astype(points.dtype, copy=False)
        return lambda inside: wide[:, inside]

    def _n_threads(self) -> int:
        """Threads for one wide product, given that ``n_jobs`` may be computing at the same time."""
        return max(1, blas_threads() // self.table.resources.n_jobs)

    def kernels(self, squared_weights: Array, columns: HostArray) -> Array:
        """Gaussian kernels of width 1, cached in the place of `exponents`."""
        if not self._has("kernels", squared_weights, columns):
            if not self._has("exponents", squared_weights, columns):
                self._content = None
                self._work = self._new_exponents(squared_weights, columns)
            self._work = exp_in_place(self._work)
            self._content = ("kernels", squared_weights, columns)
        return self._work

    def pull_back(self, gradient: Array, columns: HostArray) -> Array:
        r"""Gradient in the squared weights from that in minus the exponents, (r, columns).

        For a gradient :math:`M_{il}` this is :math:`\frac12\sum_{il} M_{il}(x_{ij}-c_{lj})^2` for each column
        j, by one matrix product. The result is in float64: it is added to that of other blocks.

        Parameters
        ----------
        gradient : array of shape (r, folds * rows per fold, n_centers)
        columns : numpy.ndarray of int, shape (r or 1, w)
        """
        xp = namespace(gradient)
        points = self._wide_points(columns)
        if points is not None:
            return self._wide_pull_back(points, gradient, columns)
        gradient = xp.astype(gradient, self.table.dtype, copy=False)
        row_sums, across = xp.sum(gradient, axis=-1), xp.matrix_transpose(gradient)
        totals = []
        for piece, inside in self._pieces(columns):
            center = self.centers.piece(columns[:, inside])
            cross = batched_product(across, piece.values[..., :-1])
            # The column of ones has summed the gradients of each centre.
            total = vector_matrix(row_sums, piece.squares)
            total += vector_matrix(cross[..., -1], center.squares)
            total -= 2 * xp.sum(cross[..., :-1] * center.values[..., :-2], axis=-2)
            totals.append(self.table.over_coordinates(in_float64(0.5 * total), columns[:, inside]))
        return totals[0] if len(totals) == 1 else xp.concat(totals, axis=1)

    def _wide_pull_back(self, points: HostArray, gradient: HostArray, columns: HostArray) -> HostArray:
        of_rows = gradient[0].astype(points.dtype, copy=False)
        if self._has_all_rows:
            real = self.rows.ravel() >= 0
            in_order = np.zeros((points.shape[0], of_rows.shape[1]), dtype=of_rows.dtype)
            # Added, because all placeholders among centres have the same row.
            np.add.at(in_order, self.rows.ravel()[real], of_rows[real])
            of_rows = in_order
        centers_at = self._wide_centers(points, columns)
        total = wide_pull_back(points, centers_at, of_rows, self._n_threads())
        return np.asarray(in_float64(total)[None])

    def moved_exponents(
        self, columns: HostArray, others: HostArray, sign: float, scale: float
    ) -> Iterator[Array]:
        r"""Exponents of sets one column away from ``columns``, all weights alike, one set at a time.

        For every other column j in turn, the exponents of the set with it (sign 1) or without it
        (sign -1), times ``scale``: :math:`e_{il} \mp \frac12 (x_{ij} - c_{lj})^2`. Distances within the set
        are computed once; a neighbouring set costs one update of them.
        """
        within = (
            self.exponents(asarray_like(np.full((1, columns.size), scale), self.table.x), columns[None]) * 1.0
        )
        unit = (0.5 * scale) ** 0.5  # squared differences are added
        centers = self.centers.block()
        for inside in _pieces(others.size, self.centers.max_columns):
            some = others[inside]
            at_rows, at_centers = self._lines(some, unit), centers._lines(some, unit)
            widths = (
                np.ones(some.size, dtype=int) if self.table.kinds is None else self.table.kinds.widths[some]
            )
            for lines in np.split(np.arange(widths.sum()), np.cumsum(widths)[:-1]):
                gaps = add_up(squared_gaps(at_rows, at_centers, int(j)) for j in lines)
                yield within - gaps if sign > 0 else clip_in_place(within + gaps, 0.0)

    def _lines(self, columns: HostArray, unit: float) -> tuple[Array, Array | None]:
        """Coordinates of columns times ``unit``, (coordinates, rows), contiguous; and spreads."""
        xp = namespace(self.table.x)
        found = self.table.coordinates(self.places[:1], columns[None])
        flat = xp.reshape(xp.matrix_transpose(found.values[0, ...]) * unit, (-1,))
        values = xp.reshape(flat, (found.values.shape[-1], -1))
        if found.spread is None:
            return values, None
        return values, xp.matrix_transpose(found.spread[0, ...]) * unit**2

    def take(self, members: Sequence[int]) -> Block:
        """The rows of some draws of the batch."""
        chosen = list(members)
        attached = {name: take_members(array, chosen) for name, array in self.attached.items()}
        return Block(self.table, self.rows[chosen], self.centers.take(chosen), attached)

    def clear_cache(self) -> None:
        """Free the memory of the last exponents and of the columns behind them."""
        self._piece = self._wide = self._work = self._content = None

    def _has(self, what: str, squared_weights: Array, columns: HostArray) -> bool:
        return (
            self._content is not None
            and self._content[0] == what
            and _is_equal(self._content[1], squared_weights)
            and _is_equal(self._content[2], columns)
        )

    def offsets(self) -> Array:
        """Half squared distances that put placeholders far from everything, (r, rows)."""
        if "offsets" not in self.attached:
            far = np.where(self.rows < 0, FAR[self.table.resources.precision], 0.0)
            self.attached["offsets"] = self.table.asarray(far.reshape(len(far), -1))
        return self.attached["offsets"]

    def _pieces(self, columns: HostArray) -> Iterator[tuple[_Piece, slice]]:
        """Yield standardised columns: all of them, or a few at a time."""
        for inside in _pieces(columns.shape[1], self.centers.max_columns):
            some = columns[:, inside]
            if self._piece is None or not np.array_equal(self._piece[0], some):
                self._piece = None
                piece = _Piece.of(self.table.coordinates(self.places, some))
                if some.shape[1] == columns.shape[1]:
                    self._piece = (some.copy(), piece)
                yield piece, inside
            else:
                yield self._piece[1], inside


class CenterBlock(Block):
    """The centres as a block: exponents are in float64 whatever the precision of the table.

    They are few, and what is made of their kernels needs all digits.
    """

    def _new_exponents(self, squared_weights: Array, columns: HostArray) -> Array:
        if self.table.resources.precision == "float64":
            return super()._new_exponents(squared_weights, columns)
        total, _ = self.centers.distances(squared_weights, columns)
        return clip_in_place(-total - in_float64(self.centers.offsets)[:, None, :], 0.0)


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
    attach: Mapping[str, Callable[[Any, Block], Array]]

    def bytes_per_row(self, n_columns: int) -> int:
        """Bytes that are cached of a row: exponents, target kernels, and columns with their squares."""
        numbers = 2 * self.centers.size + 2 * min(n_columns, self.centers.max_columns)
        return self.centers.table.resources.number_bytes * numbers

    def blocks(self, table: Table, target: Any, fold_of_row: HostArray, block_rows: int) -> Iterator[Block]:
        """Deal rows out in blocks of at most ``block_rows``; ``fold_of_row`` is (r, n)."""
        for rows in _deal(fold_of_row, self.n_folds, max(1, block_rows // self.n_folds)):
            block = Block(table, rows, self.centers)
            if target is not None and target.row_weights is not None:
                block.attached["row_weights"] = table.asarray(block.pick(target.row_weights, 0.0))
            for name, make in self.attach.items():
                block.attached[name] = make(target, block)
            yield block


def squared_gaps(
    at_rows: tuple[Array, Array | None], at_centers: tuple[Array, Array | None], j: int
) -> Array:
    """Squared differences in one coordinate between rows and centres, (rows, centres)."""
    gaps = at_rows[0][j, :][:, None] - at_centers[0][j, :][None, :]
    gaps *= gaps
    for spread, shape in ((at_rows[1], (-1, 1)), (at_centers[1], (1, -1))):
        if spread is not None:
            gaps += namespace(spread).reshape(spread[j, :], shape)
    return gaps


def _is_equal(one: Array, other: Array) -> bool:
    """Tell whether two arrays are known to be equal, without a transfer from a device."""
    return one is other or (
        isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and np.array_equal(one, other)
    )


def _part(columns: HostArray, squared_weights: Array, inside: slice) -> tuple[HostArray, Array, bool]:
    if inside.stop - inside.start == columns.shape[1]:  # the very same arrays: the right side is cached
        return columns, squared_weights, True
    return columns[:, inside], squared_weights[:, inside], inside.start == 0


def _pieces(size: int, most: int) -> Iterator[slice]:
    for start in range(0, max(size, 1), most):
        yield slice(start, min(start + most, size))


def _deal(fold_of_row: HostArray, n_folds: int, rows_per_fold: int) -> list[HostArray]:
    """Cut the row numbers of every fold into blocks of at most ``rows_per_fold``, (r, folds, rows) each."""
    members = [[np.flatnonzero(folds == f) for f in range(n_folds)] for folds in fold_of_row]
    longest = max(m.size for draw in members for m in draw)
    if longest == 0:
        return []
    n_blocks = -(-longest // rows_per_fold)
    width = -(-longest // n_blocks)
    dealt = np.full((len(fold_of_row), n_folds, n_blocks * width), -1)
    for draw, of_draw in zip(dealt, members, strict=True):
        for fold, rows in zip(draw, of_draw, strict=True):
            fold[: rows.size] = rows
    return [dealt[:, :, i * width : (i + 1) * width] for i in range(n_blocks)]
