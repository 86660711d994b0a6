r"""Quadratic programmes whose Hessian is the positive part of a large matrix of correlations.

The nearest positive semi-definite matrix to Q is :math:`Q_+ = Q + Q_-`, where :math:`Q_-` has the negative
eigenvalues of Q with the sign turned. Absolute correlations have about as many negative eigenvalues as
positive ones, all over the spectrum, so that few eigenvectors do not make up :math:`Q_-`, and a
decomposition costs a multiple of :math:`m^3`. The minimum needs less: :math:`Q_+ w` for a few vectors w, by
Lanczos steps of one product with Q each. Between them the programme is solved with a quadratic polynomial
of Q in the place of :math:`Q_+`, corrected on the vectors for which :math:`Q_+ w` is known (a block update
of Broyden, Fletcher, Goldfarb and Shanno). The corrections make the solution that of :math:`Q_+`; the
polynomial decides how many of them it takes.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import blas, eigh_tridiagonal

from l1lsmi._arrays import HostArray
from l1lsmi._clock import check_time
from l1lsmi._numerics.correlation import correlation_between
from l1lsmi.baselines._simplex_qp import (
    RANK_TOLERANCE,
    WORKING_SET,
    Hessian,
    SimplexMinimum,
    minimise_on_simplex,
    nearest_positive,
)

#: Random vectors, and products of Q with all of them, that show the spectrum.
BLOCK_VECTORS = 32
BLOCK_STEPS = 8
#: Largest number of Lanczos steps for other vectors.
MOST_STEPS = 300
#: Residual, over its eigenvalue, of an eigenvector that is taken to be found: the rest is fitted.
RITZ_RESIDUAL = 0.1
#: Steps between two estimates of the quadratic form of a vector. They end where the last three differ by at
#: most a tolerance, over the last: one while the weights are still rough, one for the weights themselves.
CHECK_EVERY = 10
ROUGH_TOLERANCE = 1e-2
FORM_TOLERANCE = 1e-5
#: Changes of the weights, over the largest weight, at which the outer iteration ends, and at which the
#: Lanczos steps stop being rough.
WEIGHT_TOLERANCE = 1e-3
ROUGH_CHANGE = 0.15
#: The weights do not converge, because the polynomial is too far from the positive part, where a change is
#: more than this share of the one before, with at least so many corrections, or after so many changes.
SLOW = 0.8
SETTLED = 3
MOST_ITERATIONS = 20
#: Columns whose correlation is at least this are copies.
COPY = 1 - 1e-12


class CorrelationMatrix:
    """Absolute correlations between all columns: one triangle in float32, and exact submatrices.

    Parameters
    ----------
    x : numpy.ndarray of shape (n, m)
        Standardised columns.
    """

    def __init__(self, x: HostArray) -> None:
        self._x = x
        scaled = np.asfortranarray(x / np.sqrt(x.shape[0]), dtype=np.float32)
        self._lower = blas.ssyrk(1.0, scaled, trans=1, lower=1)
        np.abs(self._lower, out=self._lower)
        np.minimum(self._lower, 1.0, out=self._lower)
        self._copies = _copies(x)

    @property
    def size(self) -> int:
        return int(self._x.shape[1])

    def mean(self) -> float:
        """Mean of all entries."""
        return float(self @ np.ones(self.size) @ np.ones(self.size)) / self.size**2

    def __matmul__(self, vector: HostArray) -> HostArray:
        """Product with a vector or several, in which copies of a column have the same number."""
        if vector.ndim == 2:
            return self.equal_copies(blas.ssymm(1.0, self._lower, vector, lower=1))
        found = blas.ssymv(1.0, self._lower, vector.astype(np.float32), lower=1)
        return self.equal_copies(found.astype(np.float64))

    def equal_copies(self, vectors: HostArray) -> HostArray:
        """Vectors with the mean over the copies of each column in their places; overwritten."""
        for copies in self._copies:
            vectors[copies] = vectors[copies].mean(axis=0)
        return vectors

    def columns(self, some: HostArray) -> HostArray:
        """Some columns in float64, (m, len(some))."""
        return correlation_between(self._x, self._x[:, some])


def _copies(x: HostArray) -> list[HostArray]:
    """Groups of columns that are equal, or differ in sign."""
    n = x.shape[0]
    key = np.abs(np.random.default_rng(0).normal(size=n) @ x)
    order = np.argsort(key, kind="stable")
    near = np.diff(key[order]) <= 1e-9 * np.sqrt(n)
    groups = []
    for group in np.split(order, np.flatnonzero(~near) + 1):
        if group.size > 1:
            same = np.abs(x[:, group[0]] @ x[:, group]) / n >= COPY
            if same.sum() > 1:
                groups.append(group[same])
    return groups


class _Lanczos:
    """Products of a vector with Q and with its negative part, from the Krylov space of the vector."""

    def __init__(self, matrix: CorrelationMatrix, vector: HostArray, n_steps: int, tolerance: float) -> None:
        m = vector.size
        basis = np.empty((min(n_steps, m), m))
        diagonal, beside = np.zeros(len(basis)), np.zeros(len(basis))
        basis[0] = vector / np.linalg.norm(vector)
        forms: list[float] = []
        exhausted = False
        for j in range(len(basis)):
            check_time()
            after = matrix @ basis[j]
            if j == 0:
                self.product = after.copy()
            diagonal[j] = basis[j] @ after
            after -= diagonal[j] * basis[j]
            if j > 0:
                after -= beside[j - 1] * basis[j - 1]
            # Rounding errors would bring directions that have converged back.
            after -= (basis[: j + 1] @ after) @ basis[: j + 1]
            beside[j] = np.linalg.norm(after)
            size = j + 1
            exhausted = beside[j] <= 1e-6 * np.abs(diagonal[:size]).max()
            if exhausted or size == len(basis):
                break
            basis[size] = after / beside[j]
            if size % CHECK_EVERY == 0:
                forms.append(_negative_part(diagonal[:size], beside[:size], tail=True)[0])
                last = forms[-3:]
                whole = abs(last[-1]) + 1e-3 * abs(diagonal[0])
                if len(last) == 3 and max(last) - min(last) <= tolerance * whole:
                    break
        coefficients = _negative_part(diagonal[:size], beside[:size], tail=not exhausted)
        self.norm = norm = float(np.linalg.norm(vector))
        self.product *= norm
        self.negative = norm * (coefficients @ basis[:size])


def _negative_part(diagonal: HostArray, beside: HostArray, *, tail: bool) -> HostArray:
    """Coefficients of the negative part times the first vector of the basis.

    The entries of the tridiagonal matrix approach limits, and those beyond the last step are close to them.
    A ``tail`` with the means of the second half stands for them: the kink of the function at 0 then does not
    depend on how near to it an eigenvalue of the part that is known happens to lie, which makes the quadratic
    form about ten times as exact.
    """
    size = diagonal.size
    inner, outer = diagonal, beside[: size - 1]
    if tail and size > 2:
        half, length = size // 2, 3 * size
        inner = np.append(inner, np.full(length, diagonal[half:].mean()))
        outer = np.append(outer, [beside[size - 1], *np.full(length - 1, beside[half:].mean())])
    nodes, vectors = eigh_tridiagonal(inner, outer)
    return np.asarray(vectors[:size] @ (np.maximum(-nodes, 0.0) * vectors[0]))


def _outer_eigenvectors(matrix: CorrelationMatrix) -> tuple[HostArray, HostArray, HostArray]:
    """Approximate eigenvalues and eigenvectors (in rows), and the shares of the spectrum they stand for.

    From the block Krylov space of random vectors, which meet all eigenvectors alike: those at the ends of the
    spectrum are found, the others stand for what lies around them.
    """
    rng = np.random.default_rng(0)
    width = max(1, min(BLOCK_VECTORS, matrix.size // BLOCK_STEPS))
    start = matrix.equal_copies(rng.normal(size=(matrix.size, width)).astype(np.float32))
    block = np.linalg.qr(start)[0]
    blocks: list[HostArray] = []
    images: list[HostArray] = []
    while len(blocks) < BLOCK_STEPS:
        check_time()
        blocks.append(block)
        images.append(matrix @ block)
        known = np.hstack(blocks)
        block = images[-1] - known @ (known.T @ images[-1])
        block, beside = np.linalg.qr(block - known @ (known.T @ block))
        if np.abs(beside.diagonal()).min() <= 1e-4 * np.abs(beside).max():
            break
    inner = known.T @ np.hstack(images)
    values, vectors = np.linalg.eigh(((inner + inner.T) / 2).astype(np.float64))
    masses = (vectors[:width] ** 2).mean(axis=0)
    residuals = np.linalg.norm(beside @ vectors[-width:], axis=0)
    masses[residuals <= RITZ_RESIDUAL * np.abs(values)] = 0.0
    return values, np.asarray((known @ vectors.astype(np.float32)).T, dtype=np.float64), masses


class _Model:
    """The positive part of Q, approximately: exact on the span of some vectors.

    Eigenvectors far from the bulk of the spectrum are kept, and a quadratic polynomial of the rest of Q is in
    the place of its positive part.
    """

    def __init__(self, matrix: CorrelationMatrix) -> None:
        self._matrix = matrix
        values, vectors, masses = _outer_eigenvectors(matrix)
        self._polynomial = _fitted_polynomial(values, masses)
        self._outer = vectors
        #: What the positive part has more than the polynomial along these vectors.
        self._more = np.maximum(values, 0.0) - np.polyval(self._polynomial, values)
        self.clear()
        self._cached = np.empty(0, dtype=np.intp), np.empty((matrix.size, 0))

    def clear(self) -> None:
        """Forget the vectors for which the model is exact."""
        empty = np.empty((self._matrix.size, 0))
        #: An orthonormal basis of the span; products of the positive part and of the rough model with it.
        self.span, self.exact, self._rough = empty, empty, empty

    def add(self, known: _Lanczos, vector: HostArray) -> None:
        """Make the model exact for one more vector, which is orthogonal to the others."""
        vector = vector / np.linalg.norm(vector)
        self.span = np.column_stack([self.span, vector])
        self.exact = np.column_stack([self.exact, (known.product + known.negative) / known.norm])
        rough = self._polynomial_times(vector, known.product / known.norm)
        self._rough = np.column_stack(
            [self._rough, rough + (self._more * (self._outer @ vector)) @ self._outer]
        )

    def _polynomial_times(self, vector: HostArray, product: HostArray) -> HostArray:
        two, one, zero = self._polynomial
        return np.asarray((two * (self._matrix @ product) if two else 0.0) + one * product + zero * vector)

    def hessian(self) -> Hessian:
        """The model as a Hessian."""
        added = _factor(self.exact, self.span)
        removed = _factor(self._rough, self.span)
        left = np.column_stack([self._outer.T, added, removed])
        signs = np.concatenate([self._more, np.ones(added.shape[1]), -np.ones(removed.shape[1])])
        return Hessian(
            lambda some: self._block(some) + (left[some] * signs) @ left[some].T,
            lambda some, w: self._product(some, w) + left @ (signs * (w @ left[some])),
        )

    def _columns(self, some: HostArray) -> HostArray:
        if not np.array_equal(self._cached[0], some):
            self._cached = some.copy(), self._matrix.columns(some)
        return self._cached[1]

    def _block(self, some: HostArray) -> HostArray:
        two, one, zero = self._polynomial
        columns = self._columns(some)
        square = columns.T @ columns if two else 0.0
        return np.asarray(two * square + one * columns[some] + zero * np.eye(some.size))

    def _product(self, some: HostArray, w: HostArray) -> HostArray:
        vector = np.zeros(self._matrix.size)
        vector[some] = w
        return self._polynomial_times(vector, self._columns(some) @ w)


def _factor(products: HostArray, span: HostArray) -> HostArray:
    """V with V V' = A (S'A)^-1 A', for the products A of a matrix with vectors S."""
    if span.shape[1] == 0:
        return products
    inner = span.T @ products
    values, vectors = np.linalg.eigh((inner + inner.T) / 2)
    keep = values > RANK_TOLERANCE * values[-1]
    return np.asarray(products @ (vectors[:, keep] / np.sqrt(values[keep])))


def _fitted_polynomial(nodes: HostArray, masses: HostArray) -> HostArray:
    """Coefficients of the square, the linear and the constant term of a polynomial near max(t, 0)."""
    if nodes.size == 0 or nodes.min() >= 0:
        return np.array([0.0, 1.0, 0.0])
    nodes, root = nodes[masses > 0], np.sqrt(masses[masses > 0])
    if nodes.size == 0:
        return np.array([0.0, 1.0, 0.0])
    positive = np.maximum(nodes, 0.0)
    powers = np.column_stack([nodes**2, nodes, np.ones_like(nodes)])
    found = np.linalg.lstsq(powers * root[:, None], positive * root, rcond=None)[0]
    if found[0] < 0:
        found[0] = 0.0
        found[1:] = np.linalg.lstsq(powers[:, 1:] * root[:, None], positive * root, rcond=None)[0]
    # The model must stay positive definite.
    least = 0.05 * (positive @ root**2) / (root @ root)
    found[2] += max(least - (powers @ found).min(), 0.0)
    return np.asarray(found)


def minimise_with_positive_part(
    matrix: CorrelationMatrix, scale: float, linear: HostArray
) -> SimplexMinimum | None:
    """Minimise ``scale * w'Pw / 2 + linear'w`` on the simplex, with the positive part P of a matrix.

    Parameters
    ----------
    matrix : CorrelationMatrix
    scale : float
        Above 0.
    linear : numpy.ndarray of shape (m,)

    Returns
    -------
    SimplexMinimum or None
        None where it does not converge, as with many columns that are nearly copies of each other.
    """
    linear = linear / scale
    w = _first_weights(matrix, linear)
    model = _Model(matrix)
    rough, change = True, math.inf
    for _ in range(MOST_ITERATIONS):
        check_time()
        found = minimise_on_simplex(model.hessian(), linear, np.flatnonzero(w))
        # The mean over copies is as good, as the programme is convex; rounding alone tells them apart.
        last, w = w, matrix.equal_copies(found.weights)
        change, before = float(np.abs(w - last).max() / w.max()), change
        # Changes that shrink like this from now on add up to no more than the tolerance.
        rest = change / (before - change) if change < before else math.inf
        if not rough and change * max(1.0, rest) <= WEIGHT_TOLERANCE:
            multipliers = matrix.equal_copies(scale * found.multipliers)
            return SimplexMinimum(w, multipliers, scale * found.objective)
        if model.span.shape[1] >= SETTLED and not rough and change > SLOW * before:
            return None
        if rough and change <= ROUGH_CHANGE:
            # The weights hardly move any more: from here on with all digits.
            rough, change = False, math.inf
            model.clear()
        new = w - model.span @ (model.span.T @ w)
        # A small vector adds little, and needs fewer digits.
        tolerance = ROUGH_TOLERANCE
        if not rough:
            share = float(np.linalg.norm(new) / np.linalg.norm(w))
            tolerance = min(tolerance, FORM_TOLERANCE * share**-1.5)
        model.add(_Lanczos(matrix, new, MOST_STEPS, tolerance), new)
    return None


def _first_weights(matrix: CorrelationMatrix, linear: HostArray) -> HostArray:
    """The solution for the columns with the smallest linear terms alone."""
    some = np.sort(np.argsort(linear, kind="stable")[:WORKING_SET])
    block = nearest_positive(matrix.columns(some)[some])
    weights = np.zeros(linear.size)
    weights[some] = minimise_on_simplex(Hessian.of_matrix(block), linear[some]).weights
    return weights
