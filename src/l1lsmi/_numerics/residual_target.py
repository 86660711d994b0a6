"""What covariates leave of a target: its functions less their regression on covariates."""

from __future__ import annotations

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.held_out import predict_unseen
from l1lsmi._numerics.squared_loss.target_functions import TargetFunctions
from l1lsmi._numerics.target import Target
from l1lsmi._rows.statistics import column_statistics

#: Parts of the rows, each of which is predicted from the others.
N_FOLDS = 5


def residual_target(target: Target, covariates: HostArray) -> Target:
    """Functions of the target less their predictions from covariates, by kernel regression on other rows.

    Parameters
    ----------
    target : Target
    covariates : numpy.ndarray of shape (n, q)

    Returns
    -------
    Target
        Numeric, with a column for every function; the variances add up to 1.
    """
    functions = TargetFunctions.of(target, np.random.default_rng(0)).of_rows(target)
    weights = np.ones(target.n_rows) if target.row_weights is None else target.row_weights
    mean, spread = column_statistics(covariates, target.row_weights)
    z = (covariates - mean) / np.where(spread > 0, spread, 1.0)
    left = functions.copy()
    folds = np.array_split(np.random.default_rng(0).permutation(len(z)), N_FOLDS)
    for number, fold in enumerate(folds):
        others = np.concatenate([some for i, some in enumerate(folds) if i != number])
        if fold.size and others.size:
            left[fold] -= predict_unseen(z[others], functions[others], z[fold], _some(target, others))
    left -= weights @ left / weights.sum()
    size = float(np.sqrt((weights @ left**2).sum() / weights.sum()))
    codes = np.zeros(len(left), dtype=np.intp)
    return Target(codes, left / (size if size > 0 else 1.0), row_weights=target.row_weights)


def _some(target: Target, rows: HostArray) -> HostArray | None:
    return None if target.row_weights is None else target.row_weights[rows]
