"""Graphs between rows, and how smoothly features vary along their links.

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

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target
from l1lsmi._rows.medians import median_positive
from l1lsmi.baselines._neighbours import nearest_rows

Graph: TypeAlias = Any
#: No feature is rougher: the eigenvalues of a normalised Laplacian lie between 0 and 2.
ROUGHEST = 2.0
#: Share of a sum of squares about the mean that is nothing but rounding errors.
FLAT = 1e-20
#: Up to so many rows all eigenvectors cost less than an iteration for the leading ones.
DENSE_ROWS = 500
#: Makes the Laplacian invertible; smaller than eigenvalues that matter.
SHIFT = 1e-9


def points_of(z: HostArray, target: Target | None) -> HostArray:
    """What rows are near in: the ranks of a numeric target, or all features where there is no target.

    Ranks are evenly spaced: no row of a long tail is cut off from the others.
    """
    if target is None or target.values is None:
        return z
    return np.asarray(rankdata(target.values)[:, None])


def neighbour_graph(points: HostArray, n_neighbors: int, sigma: float | None) -> Graph:
    """Link every row with its nearest ones, by heat kernels exp(-d^2 / (2 sigma^2)).

    Parameters
    ----------
    points : numpy.ndarray of shape (n, m)
    n_neighbors : int
        All other rows where there are fewer.
    sigma : float or None
        None is the median distance to a neighbour.

    Returns
    -------
    graph : scipy.sparse.csr_array of shape (n, n)
        Rows are linked where at least one is among the nearest of the other.
    """
    n = points.shape[0]
    k = min(n_neighbors, n - 1)
    neighbours, distances = nearest_rows(points, k)
    width = median_positive(distances) if sigma is None else sigma
    weights = np.exp(-0.5 * (distances / width) ** 2)
    links = csr_array((weights.ravel(), neighbours.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    graph = links.maximum(links.T).tocsr()
    graph.eliminate_zeros()
    return graph


def within_class_share(z: HostArray, codes: HostArray) -> HostArray:
    """Share of the sum of squares of each centred column that lies within the classes.

    This is f' L f / f' D f for the graph in which the rows of a class of size c are linked by 1/c:
    its degrees are 1, and its Laplacian takes class means off.
    """
    within = np.zeros(z.shape[1])
    for code in range(codes.max() + 1):
        members = z[codes == code]
        within += ((members - members.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(within / (z**2).sum(axis=0))


def roughness(z: HostArray, graph: Graph, centred: bool) -> HostArray:
    """f~' L f~ / f' D f for each column f, where f~ is f less its mean weighted by the degrees.

    Parameters
    ----------
    z : numpy.ndarray of shape (n, m)
    graph : scipy.sparse.csr_array of shape (n, n)
    centred : bool
        Whether f~ stands in the denominator too, as in the Laplacian score.

    Returns
    -------
    roughness : numpy.ndarray of shape (m,)
        Between 0 and 2; `ROUGHEST` where all rows with links have the same value.
    """
    degrees = graph.sum(axis=1)
    smooth = z - (degrees @ z) / degrees.sum()
    above = degrees @ smooth**2 - np.einsum("ij,ij->j", smooth, graph @ smooth)
    around_mean, around_zero = degrees @ smooth**2, degrees @ z**2
    varies = around_mean > FLAT * around_zero
    below = np.where(varies, around_mean if centred else around_zero, 1.0)
    return np.where(varies, np.maximum(above, 0.0) / below, ROUGHEST)


def leading_shares(z: HostArray, graph: Graph, count: int, narrow: bool) -> HostArray:
    """Sum of (2 - lambda_j) alpha_j^2 over the smoothest eigenvectors of the normalised Laplacian.

    The alpha_j are cosines of D^(1/2) f with the first ``count`` eigenvectors after D^(1/2) 1, which
    tells no rows apart. A graph of more than ``count`` pieces has as many eigenvalues 0, and none comes
    before another: all of them are summed.

    Parameters
    ----------
    z : numpy.ndarray of shape (n, m)
    graph : scipy.sparse.csr_array of shape (n, n)
    count : int
    narrow : bool
        Whether links join only rows that are near in some order, which makes its equations easy to solve.

    Returns
    -------
    shares : numpy.ndarray of shape (m,)
    """
    degrees = graph.sum(axis=1)
    squares = degrees @ z**2
    squares = np.where(squares > 0, squares, 1.0)
    pieces = connected_components(graph, directed=False)[1]
    _, pieces = np.unique(np.where(degrees > 0, pieces, -1), return_inverse=True)
    weights = np.bincount(pieces, degrees)
    if np.count_nonzero(weights) > count:
        members = csr_array((degrees, (pieces, np.arange(pieces.size))))
        totals = (members @ z) ** 2 / np.where(weights > 0, weights, 1.0)[:, None]
        between = totals.sum(axis=0) - (degrees @ z) ** 2 / weights.sum()
        return np.asarray(ROUGHEST * between / squares)
    root = np.sqrt(degrees)
    values, vectors = _leading_pairs(graph, root, min(count, z.shape[0] - 1), narrow)
    return np.asarray((ROUGHEST - values) @ ((vectors.T @ (root[:, None] * z)) ** 2 / squares))


def _leading_pairs(graph: Graph, root: HostArray, count: int, narrow: bool) -> tuple[HostArray, HostArray]:
    """Smallest eigenvalues of the normalised Laplacian but the first, and their eigenvectors."""
    n = root.size
    inverse = diags_array(np.where(root > 0, 1.0 / np.where(root > 0, root, 1.0), 0.0))
    similarity = (inverse @ graph @ inverse).tocsc()
    first = root / np.linalg.norm(root)
    if n <= DENSE_ROWS or count > n // 4:
        # 1 - lambda is an eigenvalue of the similarity; the first, 1, is moved to the other end.
        values, vectors = np.linalg.eigh(similarity.toarray() - 2 * np.outer(first, first))
        return 1.0 - values[n - count :], vectors[:, n - count :]
    start = np.random.default_rng(0).normal(size=n)
    size = min(n, max(60, 3 * count))
    if not narrow:
        operator = LinearOperator(
            (n, n), lambda v: similarity @ v - 2 * first * (first @ v), dtype=np.float64
        )
        values, vectors = eigsh(operator, k=count, which="LA", v0=start, ncv=size)
        return 1.0 - values, vectors
    # Along a line eigenvalues crowd at 0: those of the inverse are far apart.
    solve = splu((1.0 + SHIFT) * eye_array(n, format="csc") - similarity).solve

    def inverse_but_first(v: HostArray) -> HostArray:
        w = solve(v - first * (first @ v))
        return np.asarray(w - first * (first @ w))

    operator = LinearOperator((n, n), inverse_but_first, dtype=np.float64)
    values, vectors = eigsh(operator, k=count, which="LA", v0=start, ncv=size)
    return 1.0 / values - SHIFT, vectors
