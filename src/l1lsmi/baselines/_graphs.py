"""Similarity graphs of rows, and the smoothness of features on them.

A graph is a symmetric matrix S of similarities with degrees D, its row sums, and the Laplacian
L = D - S. A feature that takes similar values in similar rows is smooth: f' L f is small.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh, splu
from scipy.stats import rankdata

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._numerics.target import Target
from l1lsmi._rows.kinds import summed
from l1lsmi._rows.medians import median_positive
from l1lsmi._rows.table import Table
from l1lsmi.baselines._neighbours import nearest_rows

Graph: TypeAlias = Any
#: Largest possible eigenvalue of a normalised Laplacian.
MAX_EIGENVALUE = 2.0
#: A sum of squares about the mean below this fraction of the sum of squares is a rounding error.
CONSTANT = 1e-20
#: Up to this many rows a dense eigendecomposition is faster than an iterative one.
DENSE_ROWS = 500
#: Added to the eigenvalues of the Laplacian to make it invertible.
SHIFT = 1e-9


def column_coordinates(table: Table) -> tuple[HostArray, HostArray | None]:
    """Coordinates of the columns that vary, (n, c), and how many each has; None for one each.

    A category has several, whose quadratic forms are added up; a missing value is at the mean.
    """
    columns = table.varying
    z = to_numpy(table.points(np.arange(table.n_rows), columns).values)
    return z, None if table.kinds is None else table.kinds.widths[columns]


def _by_column(values: HostArray, widths: HostArray | None) -> HostArray:
    """Values of coordinates, added up for each column."""
    return values if widths is None else np.asarray(summed(values, widths))


def graph_coordinates(z: HostArray, target: Target | None) -> HostArray:
    """Coordinates between which distances are measured: the ranks of a numeric target, else all features.

    Ranks are evenly spaced, so that rows in a long tail keep similar neighbours.
    """
    if target is None or target.values is None:
        return z
    return np.asarray(rankdata(target.values)[:, None])


def neighbour_graph(points: HostArray, n_neighbors: int, sigma: float | None) -> Graph:
    """Symmetric graph of nearest neighbours with the weights exp(-d^2 / (2 sigma^2)).

    Parameters
    ----------
    points : numpy.ndarray of shape (n, m)
    n_neighbors : int
        All other rows if there are fewer.
    sigma : float or None
        None is the median distance to a neighbour.

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
    return graph


def within_class_variance(z: HostArray, codes: HostArray, widths: HostArray | None = None) -> HostArray:
    """Fraction of the variance of each centred column that is within the classes.

    This is f' L f / f' D f for the graph in which the rows of a class of size c are connected with weight
    1/c: its degrees are 1, and its Laplacian subtracts the class means.
    """
    within = np.zeros(z.shape[1])
    for code in range(codes.max() + 1):
        members = z[codes == code]
        within += ((members - members.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(_by_column(within, widths) / _by_column((z**2).sum(axis=0), widths))


def rayleigh_quotients(
    z: HostArray, graph: Graph, centred: bool, widths: HostArray | None = None
) -> HostArray:
    """f~' L f~ / f' D f for each column f, where f~ is f minus its mean weighted by the degrees.

    Parameters
    ----------
    z : numpy.ndarray of shape (n, m)
    graph : scipy.sparse.csr_array of shape (n, n)
    centred : bool
        Whether the denominator is f~' D f~, as in the Laplacian score.
    widths : numpy.ndarray of int, or None
        How many columns of ``z`` each feature has; None for one each.

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


def spectral_scores(
    z: HostArray, graph: Graph, count: int, banded: bool, widths: HostArray | None = None
) -> HostArray:
    """Sum of (2 - lambda_j) alpha_j^2 over the first eigenvectors of the normalised Laplacian.

    The alpha_j are cosines of D^(1/2) f with the first ``count`` eigenvectors after the trivial one,
    D^(1/2) 1. A graph with more than ``count`` connected components has as many eigenvalues 0, whose
    eigenvectors have no order: the sum is over all of them.

    Parameters
    ----------
    z : numpy.ndarray of shape (n, m)
    graph : scipy.sparse.csr_array of shape (n, n)
    count : int
    banded : bool
        Whether the graph is banded after some permutation, so that its linear systems are easy to solve.
    widths : numpy.ndarray of int, or None
        How many columns of ``z`` each feature has; None for one each.

    Returns
    -------
    scores : numpy.ndarray of shape (m,)
    """
    degrees = graph.sum(axis=1)
    squares = _by_column(degrees @ z**2, widths)
    squares = np.where(squares > 0, squares, 1.0)
    component = connected_components(graph, directed=False)[1]
    _, component = np.unique(np.where(degrees > 0, component, -1), return_inverse=True)
    weights = np.bincount(component, degrees)
    if np.count_nonzero(weights) > count:
        members = csr_array((degrees, (component, np.arange(component.size))))
        totals = (members @ z) ** 2 / np.where(weights > 0, weights, 1.0)[:, None]
        between = _by_column(totals.sum(axis=0) - (degrees @ z) ** 2 / weights.sum(), widths)
        return np.asarray(MAX_EIGENVALUE * between / squares)
    root = np.sqrt(degrees)
    values, vectors = _leading_eigenpairs(graph, root, min(count, z.shape[0] - 1), banded)
    cosines = _by_column((vectors.T @ (root[:, None] * z)) ** 2, widths) / squares
    return np.asarray((MAX_EIGENVALUE - values) @ cosines)


def _leading_eigenpairs(
    graph: Graph, root: HostArray, count: int, banded: bool
) -> tuple[HostArray, HostArray]:
    """Smallest eigenvalues of the normalised Laplacian except the first, and their eigenvectors."""
    n = root.size
    inverse = diags_array(np.where(root > 0, 1.0 / np.where(root > 0, root, 1.0), 0.0))
    similarity = (inverse @ graph @ inverse).tocsc()
    first = root / np.linalg.norm(root)
    if n <= DENSE_ROWS or count > n // 4:
        # 1 - lambda is an eigenvalue of the similarity; the first, 1, is deflated to -1.
        values, vectors = np.linalg.eigh(similarity.toarray() - 2 * np.outer(first, first))
        return 1.0 - values[n - count :], vectors[:, n - count :]
    if banded:
        # The eigenvalues of a chain cluster at 0: those of the inverse are well separated.
        solve = splu((1.0 + SHIFT) * eye_array(n, format="csc") - similarity).solve

        def multiply(v: HostArray) -> HostArray:
            w = solve(v - first * (first @ v))
            return np.asarray(w - first * (first @ w))
    else:

        def multiply(v: HostArray) -> HostArray:
            return np.asarray(similarity @ v - 2 * first * (first @ v))

    operator = LinearOperator((n, n), multiply, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=n)
    values, vectors = eigsh(operator, k=count, which="LA", v0=start, ncv=min(n, max(60, 3 * count)))
    return (1.0 / values - SHIFT if banded else 1.0 - values), vectors
