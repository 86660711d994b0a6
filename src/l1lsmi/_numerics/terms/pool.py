"""The columns with the largest single effects, which a search may be restricted to."""

from __future__ import annotations

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target
from l1lsmi._numerics.terms.columns import N_FUNCTIONS
from l1lsmi._numerics.terms.entries import chances_of_effects, effects_of_entries
from l1lsmi._numerics.terms.families import z_scores
from l1lsmi._numerics.terms.search import TermSearch
from l1lsmi._rows.table import RowTable, Table, is_large_sparse

#: Functions of a column that its effect is judged by: smooth ones.
N_SMOOTH = 3


def by_single_effect(
    table: RowTable,
    target: Target,
    columns: HostArray,
    given: HostArray | None = None,
    *,
    trends: bool = False,
) -> HostArray:
    """Columns by falling size of their smooth single effects.

    Parameters
    ----------
    table : RowTable
    target : Target
    columns : numpy.ndarray of int
    given : numpy.ndarray of int or None
        Columns, none of ``columns``, whose own effects are taken out of the target first: covariates.
    trends : bool
        Whether effects of numbers are rising or falling trends alone.

    Returns
    -------
    columns : numpy.ndarray of int
        Those without functions, such as constant ones, last.
    """
    if isinstance(table, Table) and is_large_sparse(table):
        effects = np.full(table.n_columns, -np.inf)
        effects[slice(None) if table.columns is None else table.columns] = effects_of_entries(table.x, target)
        return np.asarray(columns[np.argsort(-effects[columns], kind="stable")])
    wanted = columns if given is None else np.union1d(columns, given)
    # What covariates explain is taken out with all of their functions.
    n_functions = N_SMOOTH if given is None else N_FUNCTIONS
    terms = TermSearch(table, target, wanted, np.random.default_rng(0), n_functions=n_functions)
    fit = terms.none_fitted() if given is None else terms.fitted_to_singles(given)
    found = terms.functions.columns
    used = np.full(found.size, 1 if trends else N_SMOOTH)
    if table.kinds is not None:
        used[table.kinds.is_category[found]] = N_SMOOTH
    used = np.minimum(terms.functions.sizes, used)
    sizes = terms.single_sizes(fit)[:, :N_SMOOTH]
    sizes = np.where(np.arange(sizes.shape[1]) < used[:, None], sizes, 0.0).sum(axis=1)
    effects = np.full(table.n_columns, -np.inf)
    effects[found] = z_scores(sizes, used * terms.n_responses)
    return np.asarray(columns[np.argsort(-effects[columns], kind="stable")])


def chances_of_single_effects(table: Table, target: Target) -> HostArray:
    """Bounds on the probability of single effects as large as those of a sparse table, without dependence."""
    return chances_of_effects(effects_of_entries(table.x, target), target)
