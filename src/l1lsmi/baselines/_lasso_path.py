"""The first knot of the lasso path that has a given number of active columns."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path

from l1lsmi._arrays import HostArray
from l1lsmi._clock import check_time

#: Maximum number of knots to compute, over the number of active columns required.
MAX_KNOTS = 50
#: `lars_path` leaves out columns whose norm after projection on the active ones is below 1e-7: with columns
#: of this norm, those of which the active ones explain all but 1e-11 of the variance.
COLUMN_NORM = 0.03
#: `lars_path` stops at a penalty of 1e-7: starting from this one, at 1e-12 of the largest.
LARGEST_PENALTY = 1e5
#: Relative difference of the norms of two successive columns.
NORM_STEP = 1e-13
#: A coefficient below this fraction of its value at the previous knot is zero.
ZERO = 1e-12


def lasso_path_until(x: HostArray, y: HostArray, k: int) -> tuple[HostArray, HostArray, float]:
    """Follow the lasso path from the largest penalty down to the first knot with k active columns.

    `sklearn.linear_model.lars_path` finds the active sets. It requires that columns join one at a time: with
    exact ties it returns points that are not solutions. So each column is made slightly shorter than the one
    before: of tied columns the first joins first.

    Parameters
    ----------
    x : numpy.ndarray of shape (n, m)
        Standardised columns, none a copy of another.
    y : numpy.ndarray of shape (n,)
        Centred.
    k : int

    Returns
    -------
    coef : numpy.ndarray of shape (m,)
    active : numpy.ndarray of bool, shape (m,)
        Fewer than k columns if there is no such knot: those of the last one.
    penalty : float
    """
    n, m = x.shape
    scaled = np.asfortranarray(x * (COLUMN_NORM / np.sqrt(n) * (1 - NORM_STEP * np.arange(m))))
    largest = np.abs(scaled.T @ y).max() / n
    if largest == 0:
        return np.zeros(m), np.zeros(m, dtype=bool), 0.0
    penalties, signs = _knots(scaled, y * (LARGEST_PENALTY / largest), k)
    found = np.flatnonzero(np.count_nonzero(signs, axis=0) == k)
    knot = found[0] if found.size else -1
    fraction = penalties[knot] / LARGEST_PENALTY
    penalty = float(np.abs(x.T @ y).max() / n * fraction) if fraction > 1e-11 else 0.0
    coef, active = np.zeros(m), signs[:, knot] != 0
    if active.any():
        coef[active] = _minimum(x[:, active], y, penalty, signs[active, knot])
    return coef, active, penalty


def _knots(x: HostArray, y: HostArray, k: int) -> tuple[HostArray, HostArray]:
    """Penalties of the knots, and signs of the coefficients at each, until one has k active columns."""
    max_knots = min(k + k // 4, MAX_KNOTS * k)  # some columns leave again
    while True:
        check_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # columns were left out
            penalties, _, coefs = lars_path(x, y, method="lasso", Gram=None, max_iter=max_knots)
        # A coefficient that becomes zero is a rounding error at this knot.
        previous = np.pad(coefs[:, :-1], ((0, 0), (1, 0)))
        signs = np.where(np.abs(coefs) > ZERO * np.abs(previous), np.sign(coefs), 0.0)
        is_complete = penalties.size <= max_knots or max_knots >= MAX_KNOTS * k
        if is_complete or (np.count_nonzero(signs, axis=0) == k).any():
            return penalties, signs
        max_knots = min(2 * max_knots, MAX_KNOTS * k)


def _minimum(x: HostArray, y: HostArray, penalty: float, signs: HostArray) -> HostArray:
    """Minimum over c of |y - x c|^2 / 2n + penalty * signs'c, by x = QR."""
    q, r = np.linalg.qr(x)
    shrinkage = solve_triangular(r, penalty * y.size * signs, trans="T")
    coef = solve_triangular(r, q.T @ y - shrinkage)
    # Of tied columns the last to join has the coefficient zero, or a rounding error of either sign.
    return np.where(coef * signs > 0, coef, 0.0)
