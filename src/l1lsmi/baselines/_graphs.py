"""Similarity graphs of rows, and the smoothness of features on them.

A graph is a symmetric matrix S of similarities with degrees D, its row sums, and the Laplacian
L = D - S. A feature that takes similar values in similar rows is smooth: f' L f is small.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array, diags_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu
from scipy.stats import rankdata

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target
from l1lsmi._rows.kinds import summed
from l1lsmi._rows.medians import median_positive
from l1lsmi._rows.table import Table
from l1lsmi.baselines._columns import Scorer, column_coordinates
from l1lsmi.baselines._neighbours import nearest_rows

Graph: TypeAlias = Any
#: Largest possible eigenvalue of a normalised Laplacian.
MAX_EIGENVALUE = 2.0
#: A sum of squares about the mean below this fraction of the sum of squares is a rounding error.
CONSTANT = 1e-20
#: Up to this many rows a dense eigendecomposition is faster than an iterative one.
DENSE_ROWS = 2000
#: Similarities below this, divided by the roots of both degrees, are lost in rounding errors of eigenvalues.
NO_SIMILARITY = 1e-12
#: Restarts after which products with the graph are given up: eigenvalues that cluster need its inverse.
MAX_RESTARTS = 50
#: Added to the eigenvalues of the Laplacian to make it invertible.
SHIFT = 1e-9
#: Decimals of the coordinates of features some of which are categories.
N_DECIMALS = 9


def _by_column(values: HostArray, widths: HostArray | None) -> HostArray:
    """Values of coordinates, added up for each column."""
    return values if widths is None else np.asarray(summed(values, widths))


def graph_coordinates(table: Table, target: Target | None) -> HostArray:
    """Coordinates between which distances are measured: the ranks of a numeric target, else all features.

    Ranks are evenly spaced, so that rows in a long tail keep similar neighbours.
    """
    if target is None or target.values is None:
        return _feature_coordinates(table)
    if target.row_weights is None:
        return np.asarray(rankdata(target.values)[:, None])
    _, codes = np.unique(target.values, return_inverse=True)
    tied = np.bincount(codes.ravel(), target.row_weights)
    # As many rows are below as their weights say, and tied ones share their ranks.
    return np.asarray((np.cumsum(tied) - tied + (tied + 1) / 2)[codes.ravel(), None])


def _feature_coordinates(table: Table) -> HostArray:
    """Coordinates of all features, which do not depend on how the levels of a category are numbered.

    Levels are in the order in which they first occur. Coordinates are rounded, because rounding errors would
    decide which of equidistant rows, of which categories make many, are neighbours.
    """
    z, widths = column_coordinates(table)
    if widths is None:
        return z
    first = np.argmax(z > 0, axis=0)
    order = np.lexsort((first, np.repeat(np.arange(widths.size), widths)))
    # Levels that occur in no row have coordinates of 0.
    kept = order[np.count_nonzero(z, axis=0)[order] > 0]
    return np.asarray(np.round(z[:, kept], N_DECIMALS))


def neighbour_graph(
    points: HostArray, n_neighbors: int, sigma: float | None, row_weights: HostArray | None = None
) -> Graph:
    """Symmetric graph of nearest neighbours with the weights exp(-d^2 / (2 sigma^2)).

    Parameters
    ----------
    points : numpy.ndarray of shape (n, m)
    n_neighbors : int
        All other rows if there are fewer.
    sigma : float or None
        None is the median distance to a neighbour.
    row_weights : numpy.ndarray of shape (n,) or None
        A connection counts as often as the product of the weights of its rows.

    Returns
    -------
    graph : scipy.sparse.csr_array of shape (n, n)
        Two rows are connected if at least one is a nearest neighbour of the other.
    """
    n = points.shape[0]
    k = min(n_neighbors, n - 1)
    neighbours, distances = nearest_rows(points, k)
    width = median_positive(distances) if sigma is None else sigma
    weights = np.exp(-0.5 * (distances / width) ** 2)
    directed = csr_array((weights.ravel(), neighbours.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    graph = directed.maximum(directed.T).tocsr()
    graph.eliminate_zeros()
    if row_weights is not None:
        graph = (diags_array(row_weights) @ graph @ diags_array(row_weights)).tocsr()
    return graph


def within_class_variance(
    z: HostArray,
    codes: HostArray,
    row_weights: HostArray | None = None,
    widths: HostArray | None = None,
) -> HostArray:
    """Fraction of the variance of each centred column that is within the classes.

    This is f' L f / f' D f for the graph in which the rows of a class of size c are connected with weight
    1/c: its degrees are 1, and its Laplacian subtracts the class means.

    Parameters
    ----------
    z : numpy.ndarray of shape (n, c)
    codes : numpy.ndarray of int, shape (n,)
    row_weights : numpy.ndarray of shape (n,) or None
    widths : numpy.ndarray of int, shape (m,), or None
        How many columns of ``z`` each feature has; None for one each.

    Returns
    -------
    fractions : numpy.ndarray of shape (m,)
    """
    if row_weights is not None:
        return _weighted_within(z, codes, row_weights, widths)
    within = np.zeros(z.shape[1])
    for code in range(codes.max() + 1):
        members = z[codes == code]
        within += ((members - members.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(_by_column(within, widths) / _by_column((z**2).sum(axis=0), widths))


def _weighted_within(
    z: HostArray, codes: HostArray, row_weights: HostArray, widths: HostArray | None
) -> HostArray:
    within = np.zeros(z.shape[1])
    for code in range(codes.max() + 1):
        members, weights = z[codes == code], row_weights[codes == code]
        within += weights @ (members - weights @ members / weights.sum()) ** 2
    return np.asarray(_by_column(within, widths) / _by_column(row_weights @ z**2, widths))


def rayleigh_quotients(
    z: HostArray, graph: Graph, centred: bool, widths: HostArray | None = None
) -> HostArray:
    """f~' L f~ / f' D f for each column f, where f~ is f minus its mean weighted by the degrees.

    Parameters
    ----------
    z : numpy.ndarray of shape (n, c)
    graph : scipy.sparse.csr_array of shape (n, n)
    centred : bool
        Whether the denominator is f~' D f~, as in the Laplacian score.
    widths : numpy.ndarray of int, shape (m,), or None
        How many columns of ``z`` each feature has, over which numerators and denominators are added up; None
        for one each.

    Returns
    -------
    quotients : numpy.ndarray of shape (m,)
        Between 0 and 2; 2 if all rows with neighbours have the same value.
    """
    degrees = graph.sum(axis=1)
    deviations = z - (degrees @ z) / degrees.sum()
    around_mean, around_zero = (_by_column(degrees @ some**2, widths) for some in (deviations, z))
    numerator = around_mean - _by_column(np.einsum("ij,ij->j", deviations, graph @ deviations), widths)
    varies = around_mean > CONSTANT * around_zero
    denominator = np.where(varies, around_mean if centred else around_zero, 1.0)
    return np.where(varies, np.maximum(numerator, 0.0) / denominator, MAX_EIGENVALUE)


def spectral_scorer(graph: Graph, count: int, banded: bool) -> Scorer:
    """A function that scores columns by the first eigenvectors of the normalised Laplacian.

    The score is the sum of (2 - lambda_j) alpha_j^2, where the alpha_j are cosines of D^(1/2) f with the
    first ``count`` eigenvectors after the trivial one, D^(1/2) 1. A graph with more than ``count`` connected
    components has as many eigenvalues 0, whose eigenvectors have no order: the sum is over all of them.
    Components are connected by similarities that exceed rounding errors.

    Parameters
    ----------
    graph : scipy.sparse.csr_array of shape (n, n)
    count : int
    banded : bool
        Whether the graph is banded after some permutation, so that its linear systems are easy to solve.

    Returns
    -------
    score : callable
        Takes coordinates (n, c) and how many each of the features has, and returns their scores, (m,).
    """
    degrees = graph.sum(axis=1)

    def squares(z: HostArray, widths: HostArray | None) -> HostArray:
        found = _by_column(degrees @ z**2, widths)
        return np.where(found > 0, found, 1.0)

    root = np.sqrt(degrees)
    normalised = _normalised(graph, root)
    connected = normalised > NO_SIMILARITY
    component = connected_components(connected, directed=False)[1]
    # A row without neighbours has the eigenvalue 1.
    inside = np.where(connected.sum(axis=1) > 0, degrees, 0.0)
    _, component = np.unique(np.where(inside > 0, component, -1), return_inverse=True)
    weights = np.bincount(component, inside)
    if np.count_nonzero(weights) > count:
        members = csr_array((inside, (component, np.arange(component.size))))

        def between(z: HostArray, widths: HostArray | None) -> HostArray:
            totals = (members @ z) ** 2 / np.where(weights > 0, weights, 1.0)[:, None]
            found = _by_column(totals.sum(axis=0) - (inside @ z) ** 2 / weights.sum(), widths)
            return np.asarray(MAX_EIGENVALUE * found / squares(z, widths))

        return between
    values, vectors = _leading_eigenpairs(normalised, root, min(count, degrees.size - 1), banded)

    def score(z: HostArray, widths: HostArray | None) -> HostArray:
        cosines = _by_column((vectors.T @ (root[:, None] * z)) ** 2, widths) / squares(z, widths)
        return np.asarray((MAX_EIGENVALUE - values) @ cosines)

    return score


def _normalised(graph: Graph, root: HostArray) -> Graph:
    """Similarities divided by the roots of both degrees."""
    inverse = diags_array(np.where(root > 0, 1.0 / np.where(root > 0, root, 1.0), 0.0))
    return (inverse @ graph @ inverse).tocsc()


def _leading_eigenpairs(
    similarity: Graph, root: HostArray, count: int, banded: bool
) -> tuple[HostArray, HostArray]:
    """Smallest eigenvalues of the normalised Laplacian except the first, and their eigenvectors."""
    n = root.size
    first = root / np.linalg.norm(root)
    if n > DENSE_ROWS and count <= n // 4:
        # The eigenvalues of a chain cluster at 0: those of the inverse are well separated.
        for inverted in (True,) if banded else (False, True):
            with suppress(ArpackNoConvergence):
                return _iterated(similarity, first, count, inverted)
    # 1 - lambda is an eigenvalue of the similarity; the first, 1, is deflated to -1.
    deflated = similarity.toarray() - 2 * np.outer(first, first)
    values, vectors = eigh(deflated, subset_by_index=(n - count, n - 1), overwrite_a=True)
    return 1.0 - values, vectors


def _iterated(similarity: Graph, first: HostArray, count: int, inverted: bool) -> tuple[HostArray, HostArray]:
    """The same from products of vectors with the similarity, or with the inverse of the Laplacian."""
    n = first.size
    if inverted:
        solve = splu((1.0 + SHIFT) * eye_array(n, format="csc") - similarity).solve

    def multiply(v: HostArray) -> HostArray:
        if not inverted:
            return np.asarray(similarity @ v - 2 * first * (first @ v))
        w = solve(v - first * (first @ v))
        return np.asarray(w - first * (first @ w))

    operator = LinearOperator((n, n), multiply, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=n)
    basis = min(n, max(60, 3 * count))
    values, vectors = eigsh(operator, k=count, which="LA", v0=start, ncv=basis, maxiter=MAX_RESTARTS)
    return (1.0 / values - SHIFT if inverted else 1.0 - values), vectors
