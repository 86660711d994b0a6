"""Sums over rows that terms are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from l1lsmi._arrays import Array, HostArray, asarray_like, binned_sums, empty, namespace, to_numpy
from l1lsmi._clock import check_time
from l1lsmi._numerics.terms.columns import N_BINS, ColumnFunctions, row_slices
from l1lsmi._numerics.terms.families import Term
from l1lsmi._rows.parts import Part, added


class Residuals(NamedTuple):
    """What a fit on some terms leaves of the functions of the target.

    Attributes
    ----------
    terms : tuple of Term
    means : numpy.ndarray of shape (d,)
        Of the functions of the terms.
    coefficients : numpy.ndarray of shape (d, b)
    scale : numpy.ndarray of shape (b,)
        Residuals are divided by it.
    """

    terms: tuple[Term, ...]
    means: HostArray
    coefficients: HostArray
    scale: HostArray

    @classmethod
    def of(
        cls, terms: tuple[Term, ...], means: HostArray, coefficients: HostArray, gram: HostArray
    ) -> Residuals:
        """Of a fit to functions of the target with variance 1; ``gram`` are the covariances of the terms."""
        explained = np.einsum("db,de,eb->b", coefficients, gram, coefficients)
        return cls(terms, means, coefficients, np.sqrt(np.maximum(1 - explained, 1e-6)))


class Layout(NamedTuple):
    """Functions of columns in terms of pairs, side by side: first all first functions, then all second ones.

    Attributes
    ----------
    places : tuple of numpy.ndarray of int
        For each function the columns that have it.
    """

    places: tuple[HostArray, ...]

    @classmethod
    def of(cls, functions: ColumnFunctions, places: HostArray, most: int) -> Layout:
        """Of some columns, with so many functions at most."""
        counts = np.minimum(functions.n_pair_functions[places], most)
        return cls(tuple(places[counts > a] for a in range(int(counts.max(initial=0)))))

    @property
    def width(self) -> int:
        return sum(some.size for some in self.places)


def _blocks(part: Part, width: int) -> Iterator[tuple[Any, HostArray, HostArray | None]]:
    """Tables of a few rows each, with their responses and weights."""
    for start, stop in row_slices(part.table, width):
        weights = part.target.row_weights
        yield (
            part.table.slice_of(start, stop),
            part.target.values[start:stop],
            None if weights is None else weights[start:stop],
        )


def design(functions: ColumnFunctions, codes: Array, terms: Sequence[Term]) -> Array:
    """Functions of some terms at some rows, (rows, d)."""
    xp = namespace(codes)

    def values(place: int, first: int, last: int) -> Array:
        table = asarray_like(functions.values[place, :, first:last].astype(np.float64), codes)
        return xp.take(table, xp.astype(codes[:, place], xp.int64), axis=0)

    found = []
    for places, family in terms:
        if len(places) == 1:
            found.append(values(places[0], family.first, min(family.last, int(functions.sizes[places[0]]))))
        elif family.last == 1:
            product = values(places[0], 0, 1)
            for place in places[1:]:
                product = product * values(place, 0, 1)
            found.append(product)
        else:
            one, other = (values(place, 0, int(functions.n_pair_functions[place])) for place in places)
            product = one[:, :, None] * other[:, None, :]
            found.append(xp.reshape(product, (product.shape[0], -1))[:, 1:])
    return xp.concat(found, axis=1)


def size_of(functions: ColumnFunctions, term: Term) -> int:
    """Number of functions of a term."""
    places, family = term
    if len(places) == 1:
        return max(0, min(family.last, int(functions.sizes[places[0]])) - family.first)
    if family.last == 1:
        return 1
    return int(np.prod(functions.n_pair_functions[list(places)])) - 1


def _responses(
    functions: ColumnFunctions, codes: Array, values: HostArray, weights: HostArray | None, fit: Residuals
) -> Array:
    """Weighted residuals of the functions of the target, (rows, b)."""
    responses = asarray_like(values[:, : fit.scale.size], codes)
    if fit.terms:
        means, coefficients = (asarray_like(some, codes) for some in (fit.means, fit.coefficients))
        responses = responses - (design(functions, codes, fit.terms) - means) @ coefficients
    responses = responses / asarray_like(fit.scale, codes)
    return responses if weights is None else responses * asarray_like(weights, codes)[:, None]


def single_sums(part: Part, functions: ColumnFunctions, fit: Residuals) -> HostArray:
    """Sums of residuals in every bin of every column, (m, bins, b)."""
    total: Any = 0.0
    for table, values, weights in _blocks(part, functions.columns.size):
        codes = functions.codes(table)
        responses = _responses(functions, codes, values, weights, fit)
        total = total + to_numpy(binned_sums(codes, responses, N_BINS))
    return np.asarray(total)


def pair_sums(
    part: Part, functions: ColumnFunctions, layout: Layout, fit: Residuals, some: slice
) -> HostArray:
    """Sums of products of two functions and some of the residuals, (b, w, w)."""
    total: Any = None
    for table, values, weights in _blocks(part, layout.width):
        codes = functions.codes(table)
        xp = namespace(codes)
        responses = _responses(functions, codes, values, weights, fit)
        across = xp.concat(
            [functions.evaluate(_take(codes, some), some, a) for a, some in enumerate(layout.places)], axis=1
        )
        which = range(fit.scale.size)[some]
        if total is None:
            total = empty((len(which), layout.width, layout.width), across, across.dtype)
            total[...] = 0.0
        for place, b in enumerate(which):
            check_time()
            total[place, ...] += xp.matrix_transpose(across * responses[:, b][:, None]) @ across
    return np.asarray(to_numpy(total))


def triple_sums(part: Part, functions: ColumnFunctions, places: HostArray, fit: Residuals) -> HostArray:
    """Sums of products of the first functions of three columns and a residual.

    An array (b, m, m, m) that is 0 unless the columns are in increasing order.
    """
    m = places.size
    total = np.zeros((fit.scale.size, m, m, m))
    for table, values, weights in _blocks(part, places.size):
        codes = functions.codes(table)
        xp = namespace(codes)
        responses = _responses(functions, codes, values, weights, fit)
        first = functions.evaluate(_take(codes, places), places, 0)
        for b in range(fit.scale.size):
            for j in range(m - 2):
                check_time()
                later = first[:, j + 1 :]
                weighted = later * (first[:, j] * responses[:, b])[:, None]
                total[b, j, j + 1 :, j + 1 :] += to_numpy(xp.matrix_transpose(weighted) @ later)
    return total


class TermSums(NamedTuple):
    """Sums for least squares on some terms: of their functions, and of products of these and with targets."""

    sums: HostArray  # (d,)
    gram: HostArray  # (d, d)
    joint: HostArray  # (d, responses)


def gram_sums(part: Part, functions: ColumnFunctions, terms: tuple[Term, ...]) -> TermSums:
    """Sums for least squares on some terms."""
    width = sum(size_of(functions, term) for term in terms)
    total: Any = None
    for table, values, weights in _blocks(part, width):
        codes = functions.codes(table)
        xp = namespace(codes)
        columns = design(functions, codes, terms)
        weighted = columns if weights is None else columns * asarray_like(weights, codes)[:, None]
        across = xp.matrix_transpose(weighted)
        products = (xp.sum(weighted, axis=0), across @ columns, across @ asarray_like(values, codes))
        total = added(total, TermSums(*(np.asarray(to_numpy(product)) for product in products)))
    found: TermSums = total
    return found


def _take(codes: Array, places: HostArray) -> Array:
    if places.size == codes.shape[1]:
        return codes
    return namespace(codes).take(codes, asarray_like(places, codes), axis=1)
