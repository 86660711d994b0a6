"""Effects of single features and of pairs, with z-scores, from all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._blas import single_threaded_blas
from l1lsmi._numerics.ranking import scatter
from l1lsmi._numerics.target import Target
from l1lsmi._numerics.terms.families import BEND, TREND, Term, z_scores
from l1lsmi._numerics.terms.search import TermSearch
from l1lsmi._rows.table import RowTable
from l1lsmi._validation.features import check_varying
from l1lsmi._validation.parameters import seed_of
from l1lsmi._validation.tables import check_table
from l1lsmi.explain._fitted import checked_names

#: Columns at most whose single effects are taken out of those of pairs.
MAX_TAKEN_OUT = 200


@dataclass(frozen=True)
class PairTerms:
    """Effects of single features and of pairs of features.

    The size of an effect is n times an estimate of twice the squared-loss mutual information, as far as it is
    explained by certain functions of the features. Without dependence, the size is chi-squared with the given
    degrees of freedom, and its z-score is standard normal.

    Attributes
    ----------
    names : tuple of str
        All features.
    single_size, single_z : numpy.ndarray of shape (m,)
        Effects of every feature by itself: trends and curvature. 0 for constant features.
    single_degrees : numpy.ndarray of int, shape (m,)
    pair_size, pair_z : numpy.ndarray of shape (m, m)
        Effects of two features together, beyond what single effects explain. 0 on the diagonal and for pairs
        that were not computed.
    pair_degrees : numpy.ndarray of int, shape (m, m)
        0 for pairs that were not computed.
    n_rows : int
    """

    names: tuple[str, ...]
    single_size: HostArray
    single_z: HostArray
    single_degrees: HostArray
    pair_size: HostArray
    pair_z: HostArray
    pair_degrees: HostArray
    n_rows: int

    def strongest(self, n: int = 10) -> list[tuple[str, str, float]]:
        """The pairs with the highest z-scores.

        Parameters
        ----------
        n : int, default=10

        Returns
        -------
        list of (name, name, z-score)
        """
        first, second = np.triu_indices(len(self.names), 1)
        z = np.where(self.pair_degrees[first, second] > 0, self.pair_z[first, second], -np.inf)
        best = [i for i in np.argsort(-z, kind="stable")[:n] if np.isfinite(z[i])]
        return [(self.names[first[i]], self.names[second[i]], float(z[i])) for i in best]


def pair_terms(
    X: Any,
    y: Any,
    *,
    task: str = "auto",
    feature_names: Sequence[str] | None = None,
    random_state: Any = 0,
) -> PairTerms:
    """Effects of every feature and of every pair of features on the target, with z-scores.

    Features are turned into polynomials of their ranks (contrasts if they have few values), and the target
    into contrasts of its classes or into ranks. The effects of all single features are fitted together first,
    so that dependence between features does not look like an interaction. All rows are used.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
    task : {"auto", "classification", "regression", "survival"}, default="auto"
    feature_names : sequence of str or None, default=None
        None takes the column names of X, or x0, x1, ...
    random_state : int, RandomState instance or None, default=0
        Seed of the features that are drawn at random: see the notes.

    Returns
    -------
    PairTerms

    Notes
    -----
    Pairs are taken from at most 3,000 features, and from at most twice as many features as rows (but at least
    300). If there are more features, three quarters of those used have the largest single effects, and the
    others are drawn at random. If more than 1,500 features are used, only products of trends are computed for
    all pairs; interactions of other shapes are computed among the 300 features with the largest single
    effects.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.explain import pair_terms
    >>> X = np.random.default_rng(0).normal(size=(1000, 6))
    >>> y = X[:, 1] * X[:, 4] + X[:, 2]
    >>> found = pair_terms(X, y)
    >>> int(found.single_z.argmax())
    2
    >>> found.strongest(1)[0][:2]
    ('x1', 'x4')
    """
    given = getattr(X, "columns", None) if feature_names is None else feature_names
    table, target = check_table(X, y, task)
    check_varying(table)
    return terms_of(table, target, checked_names(given, table.n_columns), seed_of(random_state))


@single_threaded_blas()
def terms_of(table: RowTable, target: Target, names: tuple[str, ...], seed: int) -> PairTerms:
    """The same for checked data."""
    search = TermSearch(table, target, table.varying, np.random.default_rng(seed))
    m, columns, b = table.n_columns, search.functions.columns, search.n_responses
    sizes = np.zeros((m, m))
    degrees = np.zeros((m, m), dtype=np.intp)
    if not columns.size:
        nothing, none = np.zeros(m), np.zeros(m, dtype=np.intp)
        return PairTerms(names, nothing, nothing, none, sizes, sizes, degrees, table.n_rows)
    singles = search.single_sizes(search.none_fitted())[:, : BEND.last].sum(axis=1)
    single_degrees = np.minimum(search.functions.sizes, BEND.last) * b
    single_z = z_scores(singles, single_degrees)
    strongest = np.sort(np.argsort(-single_z, kind="stable")[:MAX_TAKEN_OUT])
    taken_out = [Term((int(place),), family) for place in strongest for family in (TREND, BEND)]
    fit = search.fitted([term for term in taken_out if search.size_of(term)])
    for found in search.all_pair_sizes(fit, single_z):
        at = np.ix_(columns[found.places], columns[found.places])
        sizes[at] = found.product + found.interaction
        degrees[at] = found.product_degrees + found.interaction_degrees
    np.fill_diagonal(sizes, 0.0)
    np.fill_diagonal(degrees, 0)
    return PairTerms(
        names=names,
        single_size=scatter(singles, columns, m, fill=0.0),
        single_z=scatter(single_z, columns, m, fill=0.0),
        single_degrees=scatter(single_degrees, columns, m, fill=0),
        pair_size=sizes,
        pair_z=np.where(degrees > 0, z_scores(sizes, degrees), 0.0),
        pair_degrees=degrees,
        n_rows=table.n_rows,
    )
