r"""How well a set of features predicts the target in rows that its search has not seen.

Functions of the target (`squared_loss/target_functions`) are fitted by regularised least squares on Gaussian
kernels of the set, with the width and regularization of the lowest leave-one-out error in the rows of the
fit, and predicted for the unseen rows. The fit is the same for all measures, so that their sets can be
compared.
"""

from __future__ import annotations

import math
from typing import NamedTuple
from zlib import crc32

import numpy as np
from scipy.special import ndtr, ndtri

from l1lsmi._arrays import HostArray, whitening

#: Kernel centres of a fit at most. Where sets of different sizes are compared, there are so many more for
#: each function of the target beyond some: with few centres, many features do not tell many classes apart.
N_CENTERS = 150
FEW_FUNCTIONS = 8
MORE_CENTERS = 40
MAX_CENTERS = 250
#: Squared widths, in units of the median squared distance, and regularizations that are tried.
SQUARED_WIDTHS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
REGULARIZATIONS = (1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
#: Added to the diagonal of the kernel of the centres, which is singular where rows repeat.
RIDGE = 1e-6
#: Rows at a smaller share of the largest squared distance are the same, up to rounding errors.
SAME = 1e-9
#: A row with a leverage of 1 has no leave-one-out error.
LEAST_ONE_MINUS_LEVERAGE = 1e-6
#: Rows for each column and power of it in a basis, and regularization of its coefficients.
ROWS_OF_POWER = 10
LITTLE = 1e-3
#: Permutations of the target in a test.
N_PERMUTATIONS = 999


class KernelFit(NamedTuple):
    """Functions of the target as a mean and kernels around centres, and the leave-one-out error of that."""

    mean: HostArray
    centers: HostArray
    squared_width: float
    coefficients: HostArray
    error: float

    def predict(self, rows: HostArray) -> HostArray:
        """Predictions of the functions for other rows, (u, q)."""
        if not self.centers.size:
            return np.tile(self.mean, (len(rows), 1))
        exponents = -0.5 / self.squared_width * _squared_distances(rows, self.centers)
        return np.asarray(self.mean + np.exp(exponents) @ self.coefficients)


def centers_for_sizes(n_functions: int) -> int:
    """Kernel centres at most of fits that compare sets of different sizes."""
    return min(N_CENTERS + MORE_CENTERS * max(0, n_functions - FEW_FUNCTIONS), MAX_CENTERS)


def fit_kernels(
    fitted: HostArray,
    functions: HostArray,
    row_weights: HostArray | None = None,
    max_centers: int = N_CENTERS,
) -> KernelFit:
    """Fit functions of the target to standardised features.

    Parameters
    ----------
    fitted : numpy.ndarray of shape (n, w)
        Features of the rows of the fit.
    functions : numpy.ndarray of shape (n, q)
        Functions of the target there.
    row_weights : numpy.ndarray of shape (n,) or None
    max_centers : int

    Returns
    -------
    KernelFit
        The means of the functions alone where there are no features.
    """
    # Least squares in which rows are multiplied by the roots of their weights.
    roots = np.ones((len(fitted), 1)) if row_weights is None else np.sqrt(row_weights)[:, None]
    mean = functions.mean(axis=0) if row_weights is None else row_weights @ functions / row_weights.sum()
    wanted = roots * (functions - mean)
    if fitted.shape[1] == 0:
        return KernelFit(mean, np.empty((0, 0)), 1.0, np.empty((0, 0)), float((wanted**2).sum()))
    # Evenly spaced, which does not favour any rows: their order is random.
    places = np.unique(np.linspace(0, len(fitted) - 1, max_centers).round().astype(np.intp))
    centers = fitted[places]
    distances, between = _squared_distances(fitted, centers), _squared_distances(centers, centers)
    apart = distances[distances > SAME * distances.max(initial=0.0)]
    unit = float(np.median(apart)) if apart.size else 1.0
    found: dict[int, tuple[float, HostArray]] = {}

    def loss(place: int) -> float:
        if not 0 <= place < len(SQUARED_WIDTHS):
            return math.inf
        if place not in found:
            scale = -0.5 / (unit * SQUARED_WIDTHS[place])
            found[place] = _best_fit(roots * np.exp(scale * distances), np.exp(scale * between), wanted)
        return found[place][0]

    best = len(SQUARED_WIDTHS) // 2 - 1
    while loss(near := min((best - 1, best + 1), key=loss)) < loss(best):
        best = near
    error, coefficients = found[best]
    return KernelFit(mean, centers, unit * SQUARED_WIDTHS[best], coefficients, error)


def predict_unseen(
    fitted: HostArray,
    functions: HostArray,
    unseen: HostArray,
    row_weights: HostArray | None = None,
    max_centers: int = N_CENTERS,
) -> HostArray:
    """Predict functions of the target in rows that a fit has not seen.

    Parameters
    ----------
    fitted : numpy.ndarray of shape (n, w)
        Features of the rows of the fit.
    functions : numpy.ndarray of shape (n, q)
        Functions of the target there.
    unseen : numpy.ndarray of shape (u, w)
    row_weights : numpy.ndarray of shape (n,) or None
        Of the rows of the fit.
    max_centers : int

    Returns
    -------
    predictions : numpy.ndarray of shape (u, q)
        Means of the functions where there are no features.
    """
    return fit_kernels(fitted, functions, row_weights, max_centers).predict(unseen)


def predicted_left_out(
    fitted: HostArray,
    functions: HostArray,
    row_weights: HostArray | None = None,
    block_of_row: HostArray | None = None,
) -> float:
    """Share of the variance of functions of the target that features predict in rows that are left out.

    Parameters
    ----------
    fitted : numpy.ndarray of shape (n, w)
    functions : numpy.ndarray of shape (n, q)
    row_weights : numpy.ndarray of shape (n,) or None
    block_of_row : numpy.ndarray of int, shape (n,) or None
        Rows that are left out together; None leaves them out one at a time.

    Returns
    -------
    share : float
    """
    without = fit_kernels(fitted[:, :0], functions, row_weights).error
    if block_of_row is None:
        return 1 - fit_kernels(fitted, functions, row_weights).error / without
    error, weights = 0.0, np.ones(len(fitted)) if row_weights is None else row_weights
    for block in np.unique(block_of_row):
        out = block_of_row == block
        predictions = predict_unseen(fitted[~out], functions[~out], fitted[out], weights[~out])
        error += float(weights[out] @ ((functions[out] - predictions) ** 2).sum(axis=1))
    return 1 - error / without


def additive_basis(values: HostArray) -> HostArray:
    """Powers of standardised columns up to the third, and a constant; fewer where columns are many."""
    n, m = values.shape
    # Far values would decide about everything.
    clipped = np.clip(values, -3.0, 3.0)
    powers = [clipped**power for power in range(1, 1 + min(3, max(1, n // max(1, ROWS_OF_POWER * m))))]
    return np.concatenate([np.ones((n, 1)), *powers], axis=1)


def least_squares(basis: HostArray, functions: HostArray, row_weights: HostArray | None) -> HostArray:
    """Coefficients of a basis, with little regularization, (b, q)."""
    weighted = basis if row_weights is None else basis * (row_weights / row_weights.mean())[:, None]
    gram = weighted.T @ basis
    gram[np.diag_indices_from(gram)] += LITTLE * len(basis)
    return np.asarray(np.linalg.solve(gram, weighted.T @ functions))


def _squared_distances(a: HostArray, b: HostArray) -> HostArray:
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * a @ b.T
    return np.asarray(np.maximum(squares, 0.0))


def _best_fit(kernel: HostArray, between: HostArray, functions: HostArray) -> tuple[float, HostArray]:
    """The lowest leave-one-out error over all regularizations, and the coefficients of the kernels."""
    to_white = whitening(between, RIDGE)
    white = kernel @ to_white
    sizes, vectors = np.linalg.eigh(white.T @ white)
    sizes = np.maximum(sizes, 0.0)
    values = white @ vectors
    joint, squares = values.T @ functions, values**2
    best: tuple[float, HostArray] | None = None
    for regularization in REGULARIZATIONS:
        shrunk = 1 / (sizes + regularization)
        coefficients = shrunk[:, None] * joint
        remaining = np.maximum(1 - squares @ shrunk, LEAST_ONE_MINUS_LEVERAGE)[:, None]
        error = float((((functions - values @ coefficients) / remaining) ** 2).sum())
        if best is None or error < best[0]:
            best = error, coefficients
    assert best is not None
    return best[0], to_white @ (vectors @ best[1])


def agreement_p_value(
    predictions: HostArray, functions: HostArray, groups: HostArray | None, rng: np.random.Generator
) -> float:
    """Probability, without dependence, that predictions agree as well with the target in unseen rows.

    By permutations of the target among the unseen rows, which leave the agreement's distribution unchanged
    where the target does not depend on the features: the p-value is exactly uniform then. Rows of a group
    are not exchangeable with those of others; the contributions of whole groups get random signs instead.

    Parameters
    ----------
    predictions, functions : numpy.ndarray of shape (u, q)
    groups : numpy.ndarray of int, shape (u,) or None
    rng : numpy.random.Generator

    Returns
    -------
    p_value : float
    """
    predictions = predictions - predictions.mean(axis=0)
    functions = functions - functions.mean(axis=0)
    if groups is None:
        products = predictions @ functions.T
        rows = np.arange(len(products))
        observed = float(products[rows, rows].sum())
        permuted = rng.permuted(np.tile(rows, (N_PERMUTATIONS, 1)), axis=1)
        null = products[rows, permuted].sum(axis=1)
    else:
        _, codes = np.unique(groups, return_inverse=True)
        each = np.bincount(codes.ravel(), (predictions * functions).sum(axis=1))
        observed = float(each.sum())
        null = rng.choice([-1.0, 1.0], size=(N_PERMUTATIONS, each.size)) @ each
    # A random number that depends on the data alone, but on no rounding error, breaks ties: p-values are
    # uniform, and the same wherever they are computed.
    order = np.argsort(predictions[:, 0].round(6), kind="stable")
    tie = np.random.default_rng(crc32(order.tobytes())).random()
    margin = 1e-9 * max(1e-300, float(np.abs(null).max(initial=0.0)))
    above = int((null > observed + margin).sum())
    equal = 1 + int((np.abs(null - observed) <= margin).sum())
    return float((above + tie * equal) / (1 + N_PERMUTATIONS))


def combined_p_value(p_values: list[float], n_rows: list[int]) -> float:
    """One p-value of independent ones, each counting by the square root of its number of rows (Stouffer)."""
    weights = np.sqrt(np.array(n_rows, dtype=np.float64))
    z = ndtri(np.clip(p_values, 1e-12, 1 - 1e-12))
    return float(ndtr((weights * z).sum() / np.sqrt((weights**2).sum())))
