r"""Single effects of the columns of a sparse matrix, from their non-zeros alone.

An effect is a sum over rows :math:`S = \sum_i f_i g_i` of a function f of a column, between -1 and 1, times a
function g of the target with mean 0, variance 1 and absolute values up to M. Where few rows have other values
than 0, or few a class, such sums are far from normal. Without dependence, whichever rows have which targets,
Bennett's inequality bounds the probability of a larger one:

.. math:: P(|S| \ge s) \le 2 \exp\left(-\frac{V}{M^2}\, h\left(\frac{M s}{V}\right)\right),
    \quad h(u) = (1 + u) \log(1 + u) - u,

where V is the sum of the squares of f about its mean. For many rows of each kind the exponent is half of
:math:`S^2 / V`, as for a normal sum.
"""

from __future__ import annotations

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target
from l1lsmi._numerics.terms.target_functions import target_functions
from l1lsmi._sparse import SparseMatrix

#: Functions of a column: whether it is 0, and its value over the largest one.
N_FUNCTIONS = 2


def effects_of_entries(x: SparseMatrix, target: Target) -> HostArray:
    """The largest exponent of every column, (m,); minus infinity for columns that are 0 or constant."""
    weights = np.ones(target.n_rows) if target.row_weights is None else target.row_weights
    responses = _responses(target) * weights[:, None]
    found = np.full(x.shape[1], -np.inf)
    for columns in x.chunks():
        found[columns] = _exponents(x, columns, responses, weights)
    return found


def chances_of_effects(effects: HostArray, target: Target) -> HostArray:
    """Bounds on the probability of effects as large as each, in any column."""
    n_sums = 2 * N_FUNCTIONS * _responses(target).shape[1] * effects.size
    return np.asarray(np.minimum(1.0, n_sums * np.exp(-np.maximum(effects, 0.0))))


def _responses(target: Target) -> HostArray:
    """Functions of the target of mean 0 and variance 1, (n, b): classes one by one, or ranks and values."""
    if not target.is_classification:
        weights = np.ones(target.n_rows) if target.row_weights is None else target.row_weights
        values = target.columns - weights @ target.columns / weights.sum()
        deviation = np.sqrt(weights @ values**2 / weights.sum())
        return np.hstack([target_functions(target), values / np.where(deviation > 0, deviation, 1.0)])
    shares = target.class_shares()
    shares = shares if shares.size > 2 else shares[:1]
    member = target.codes[:, None] == np.arange(shares.size)
    return np.asarray((member - shares) / np.sqrt(np.maximum(shares * (1 - shares), 1e-300)))


def _exponents(x: SparseMatrix, columns: HostArray, responses: HostArray, weights: HostArray) -> HostArray:
    rows, across, values = x.entries(columns)
    there, m = values != 0, columns.size
    rows, across, values = rows[there], across[there], values[there].astype(np.float64)
    largest = np.zeros(m)
    np.maximum.at(largest, across, np.abs(values))
    weight, w = float(weights.sum()), weights[rows]
    furthest = np.maximum(np.abs(responses).max(axis=0), 1e-300)
    best = np.full(m, -np.inf)
    for of_rows in (np.ones_like(values), values / largest[across]):
        mean = np.bincount(across, w * of_rows, minlength=m) / weight
        n_zero = weight - np.bincount(across, w, minlength=m)
        spread = np.bincount(across, w * (of_rows - mean[across]) ** 2, minlength=m) + n_zero * mean**2
        varies = spread > 1e-12 * weight * mean**2
        spread = np.where(varies, spread, 1.0)
        for b, most in enumerate(furthest):
            total = np.bincount(across, of_rows * responses[rows, b], minlength=m)
            u = most * np.abs(total) / spread
            exponent = spread / most**2 * ((1 + u) * np.log1p(u) - u)
            best = np.maximum(best, np.where(varies, exponent, -np.inf))
    return np.where(largest > 0, best, -np.inf)
