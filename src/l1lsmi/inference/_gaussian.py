"""Second-order Gaussian knockoffs, and columns of any distribution made normal and back."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata
from sklearn.covariance import ledoit_wolf

from l1lsmi._arrays import HostArray

#: Sweeps over the columns at most, and the relative decrease of the objective at which they end.
MAX_SWEEPS = 50
TOLERANCE = 1e-6
#: Draws of the scores of columns with ties, each given the last, and their largest distance from the mean.
N_SCORE_DRAWS = 30
MAX_SCORE = 8.0
#: Where the smallest eigenvalue of the joint covariance is kept, of correlations.
MIN_EIGENVALUE = 1e-6


def correlation_of(z: HostArray) -> HostArray:
    """Correlations of standardised columns, shrunk towards none (Ledoit and Wolf, 2004)."""
    covariance = ledoit_wolf(z, assume_centered=True)[0]
    scale = np.sqrt(np.diag(covariance))
    return np.asarray(covariance / np.outer(scale, scale))


def equicorrelated(correlation: HostArray) -> HostArray:
    """The same distance from every column to its knockoff, the largest that a covariance allows."""
    smallest = float(eigh(correlation, eigvals_only=True, subset_by_index=[0, 0])[0])
    return np.full(len(correlation), min(1.0, 2.0 * max(smallest, MIN_EIGENVALUE)) * (1.0 - MIN_EIGENVALUE))


def least_reconstructable(correlation: HostArray) -> HostArray:
    r"""Distances from columns to knockoffs that make columns hardest to predict from all the others.

    Minimises :math:`\sum_j 1/s_j + \mathrm{tr}\,(2\Sigma - S)^{-1}`, which is the sum of the reciprocals of
    the variances that are left of each column (and knockoff) given all others, up to a constant (Spector and
    Janson, 2022). Coordinate by coordinate: with D = 2 Sigma - S, c = D^-1 e_j, the objective changes with
    s_j + d by 1/(s_j + d) - 1/s_j + d |c|^2 / (1 - d c_j), whose minimum is d = (1 - |c| s_j)/(c_j + |c|).

    Parameters
    ----------
    correlation : numpy.ndarray of shape (m, m)
        Positive definite.

    Returns
    -------
    s : numpy.ndarray of shape (m,)
        2 Sigma - S is positive definite.
    """
    s = equicorrelated(correlation) / 2.0
    inverse = np.linalg.inv(2.0 * correlation - np.diag(s))
    before = np.inf
    for _ in range(MAX_SWEEPS):
        for j in range(s.size):
            c = inverse[:, j].copy()
            norm = float(np.sqrt(c @ c))
            d = (1.0 - norm * s[j]) / (c[j] + norm)
            s[j] += d
            # Of D - d e_j e_j', by the formula of Sherman and Morrison.
            inverse += np.outer(c * (d / (1.0 - d * c[j])), c)
        objective = float((1.0 / s).sum() + np.trace(inverse))
        if before - objective <= TOLERANCE * objective:
            break
        before = objective
    # Rounding errors of the updates add up: at the very edge S is scaled back.
    smallest = float(eigh(2.0 * correlation - np.diag(s), eigvals_only=True, subset_by_index=[0, 0])[0])
    return s if smallest > 0 else s * (1.0 - MIN_EIGENVALUE) * np.min(equicorrelated(correlation) / s)


def draw_gaussian(z: HostArray, rng: np.random.Generator) -> HostArray:
    """Knockoffs of standardised columns: exchanging both changes neither means nor covariances.

    Parameters
    ----------
    z : numpy.ndarray of shape (n, m)
    rng : numpy.random.Generator

    Returns
    -------
    knockoffs : numpy.ndarray of shape (n, m)
    """
    correlation = correlation_of(z)
    s = least_reconstructable(correlation)
    factor = cho_factor(correlation)
    mean = z - cho_solve(factor, z.T).T * s
    covariance = 2.0 * np.diag(s) - s[:, None] * cho_solve(factor, np.diag(s))
    values, vectors = eigh((covariance + covariance.T) / 2.0)
    # The symmetric root changes little with rounding errors; single eigenvectors may change completely.
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return np.asarray(mean + rng.standard_normal(z.shape) @ root)


def normal_scores(x: HostArray, rng: np.random.Generator) -> HostArray:
    """Columns made normal by their ranks: normal values that the columns may be rounded from.

    Equal values stand for a range of normal ones. Where in the range a row is depends on its other columns:
    scores that are spread over the range without regard to them have smaller correlations than those behind
    the columns, and knockoffs made from them are less related to other columns than the columns are. Scores
    of columns with ties are therefore drawn given all others, again and again, with the correlations that the
    last scores have.
    """
    n = len(x)
    low, high = (rankdata(x, "min", axis=0) - 1.0) / n, rankdata(x, "max", axis=0) / n
    z = np.asarray(ndtri(low + (high - low) * rng.uniform(0.5 / n, 1 - 0.5 / n, size=x.shape)))
    tied = np.flatnonzero((high - low).max(axis=0) * n > 1.5)
    low, high = ndtri(low), ndtri(high)
    for _ in range(N_SCORE_DRAWS if tied.size and x.shape[1] > 1 else 0):
        precision = np.linalg.inv(correlation_of(z / z.std(axis=0)))
        for j in tied:
            scale = 1.0 / np.sqrt(precision[j, j])
            mean = z[:, j] - (z @ precision[:, j]) * scale**2
            z[:, j] = _truncated_normal(mean, scale, low[:, j], high[:, j], rng)
    return z


def _truncated_normal(
    mean: HostArray, scale: float, low: HostArray, high: HostArray, rng: np.random.Generator
) -> HostArray:
    """Normal values between limits, which may be infinite."""
    a, b = (low - mean) / scale, (high - mean) / scale
    # The lower tail has the digits.
    flip = a > 0
    a, b = np.where(flip, -b, a), np.where(flip, -a, b)
    drawn = ndtri(ndtr(a) + (ndtr(b) - ndtr(a)) * rng.uniform(1e-12, 1.0 - 1e-12, size=mean.shape))
    drawn = np.clip(drawn, np.maximum(a, -MAX_SCORE), np.minimum(b, MAX_SCORE))
    return np.asarray(mean + scale * np.where(flip, -drawn, drawn))


def from_normal_scores(z: HostArray, x: HostArray) -> HostArray:
    """Values with the distribution of the columns of ``x``, by the empirical quantiles.

    Between neighbouring values of a column without ties they are interpolated; others keep to their values.
    """
    result = np.empty_like(z)
    n = len(x)
    for j in range(z.shape[1]):
        ordered = np.sort(x[:, j])
        position = ndtr(z[:, j]) * n
        if (np.diff(ordered) > 0).all():
            result[:, j] = np.interp(position, np.arange(n) + 0.5, ordered)
        else:
            result[:, j] = ordered[np.minimum(position.astype(np.intp), n - 1)]
    return result


def draw_knockoffs(x: HostArray, kind: str, rng: np.random.Generator) -> HostArray:
    """Knockoffs of columns of any scale, of which constant ones are their own.

    Parameters
    ----------
    x : numpy.ndarray of shape (n, m)
    kind : {"copula", "gaussian"}
    rng : numpy.random.Generator

    Returns
    -------
    knockoffs : numpy.ndarray of shape (n, m)
    """
    result = np.array(x, dtype=np.float64)
    varying = np.flatnonzero(result.max(axis=0) > result.min(axis=0))
    # In units, powers of two, in which differences of values near the largest float64 do not overflow.
    unit = np.ldexp(1.0, np.frexp(np.abs(result[:, varying]).max(axis=0))[1] - 1)
    columns = result[:, varying] / unit
    if kind == "copula":
        z = normal_scores(columns, rng)
        drawn = from_normal_scores(draw_gaussian(z / z.std(axis=0), rng), columns)
    else:
        mean, scale = columns.mean(axis=0), columns.std(axis=0)
        drawn = draw_gaussian((columns - mean) / scale, rng) * scale + mean
    most = np.finfo(np.float64).max / np.maximum(unit, 1.0)
    result[:, varying] = np.clip(drawn, -most, most) * unit
    return result
