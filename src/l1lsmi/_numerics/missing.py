"""Whether it informs about the target that values are missing."""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from l1lsmi._arrays import HostArray, asarray_like, namespace, to_numpy
from l1lsmi._numerics.target import Target
from l1lsmi._numerics.terms.target_functions import target_functions
from l1lsmi._rows.kinds import Kinds
from l1lsmi._rows.parts import Part
from l1lsmi._rows.table import RowTable

#: Columns that are taken for informative by their missing values where none are, on average.
FALSE_COLUMNS = 0.05


def informative_missing(table: RowTable, target: Target, kinds: Kinds) -> HostArray:
    """Columns whose missing values depend on the target.

    A chi-squared test of correlations with functions of the target, with a p-value below 0.05 over the number
    of columns that have missing values.

    Parameters
    ----------
    table : RowTable
    target : Target
    kinds : Kinds

    Returns
    -------
    mask : numpy.ndarray of bool, shape (m,)
    """
    some = np.flatnonzero((kinds.missing_share > 0) & (kinds.missing_share < 1))
    found = np.zeros(kinds.missing_share.size, dtype=bool)
    if not some.size:
        return found
    functions = target_functions(target)
    weights = np.ones(target.n_rows) if target.row_weights is None else target.row_weights
    # In place of the target, so that parts of the rows get the functions of their targets.
    beside = Target(np.zeros(target.n_rows, dtype=np.intp), functions * weights[:, None])
    fold_of_row = np.zeros((1, target.n_rows), dtype=np.intp)
    parts = table.parts(beside, fold_of_row, table.max_part_rows)
    share = kinds.missing_share[some]
    correlations = parts.sum(_missing_sums, some, share, columns=some) / weights.sum()
    # Weights that are no counts: the number of rows that are worth as much.
    n_rows = weights.sum() ** 2 / (weights**2).sum()
    sizes = n_rows * (correlations**2).sum(axis=1)
    found[some] = chi2.sf(sizes, functions.shape[1]) < FALSE_COLUMNS / some.size
    return found


def _missing_sums(part: Part, columns: HostArray, share: HostArray) -> HostArray:
    """Sums of products of standardised indicators of missing values with functions of the target."""
    table = part.table
    places = columns if table.columns is None else np.searchsorted(table.columns, columns)
    xp = namespace(table.x)
    gone = xp.isnan(xp.take(table.x, asarray_like(places, table.x), axis=1))
    z = (np.asarray(to_numpy(gone), dtype=np.float64) - share) / np.sqrt(share * (1 - share))
    return np.asarray(z.T @ part.target.values)
