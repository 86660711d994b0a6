"""What each selected feature contributes to predictions of held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray, to_numpy
from l1lsmi._blas import single_threaded_blas
from l1lsmi._clock import check_time
from l1lsmi._numerics.held_out import predict_unseen
from l1lsmi._numerics.sampling import stratified_folds
from l1lsmi._numerics.squared_loss.target_functions import TargetFunctions
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Table
from l1lsmi.explain._subset_scorer import SubsetScorer

#: Rows that are sampled, and folds of them.
MAX_ROWS, N_FOLDS = 1_000, 4
#: Of more features there are more sets to fit, from fewer rows and in fewer folds.
MANY_FEATURES, FEWER_ROWS, FEWER_FOLDS = 20, 500, 2


@dataclass(frozen=True, eq=False)
class Dispensable:
    """Selected features without which the others predict held-out rows about as well.

    Attributes
    ----------
    columns : numpy.ndarray of int
        The features, largest contribution first.
    names : tuple of str
    lost : float
        Contribution of all of them together.
    standard_error : float
        Of this contribution, over rows.
    """

    columns: HostArray
    names: tuple[str, ...]
    lost: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class Contributions:
    """Contributions of the selected features.

    Shares are shares of the variation of the target, as in `validation_` of a selector: 1 is a perfect
    prediction, 0 is no better than a constant.

    Attributes
    ----------
    columns : numpy.ndarray of int, shape (k,)
        The selected features, largest contribution first.
    names : tuple of str
    lost : numpy.ndarray of float, shape (k,)
        Contribution of each: the share that the set predicts in held-out rows, minus the share that it
        predicts without the feature. Near 0 where the feature is redundant, below 0 where the others alone
        predict better.
    standard_error : numpy.ndarray of float, shape (k,)
        Of the contribution, over rows.
    alone : numpy.ndarray of float, shape (k,)
        Share that each feature predicts alone.
    frequency : numpy.ndarray of float, shape (k,), or None
        Share of the searches on parts of the rows that selected each feature; None without such searches.
    share : float
        Share that the set predicts.
    n_rows, n_rows_in : int
        Number of rows used, and number of rows given.
    dispensable : Dispensable or None
        Features that contribute no more than one standard error, each alone and all together; None where
        there are none.
    """

    columns: HostArray
    names: tuple[str, ...]
    lost: HostArray
    standard_error: HostArray
    alone: HostArray
    frequency: HostArray | None
    share: float
    n_rows: int
    n_rows_in: int
    dispensable: Dispensable | None = None


def contributions(
    selector: Any,
    X: Any,
    y: Any,
    *,
    max_rows: int = MAX_ROWS,
    random_state: Any = 0,
    feature_names: Sequence[str] | None = None,
) -> Contributions:
    """Measure what each selected feature contributes to predictions of held-out rows.

    The target is predicted by regularised least squares on Gaussian kernels, in a cross-validation with four
    folds: with all selected features, without each of them, and with each alone. A feature that predicts
    little alone and contributes much is part of an interaction. A feature that predicts much alone and
    contributes little is redundant given the others.

    The features were selected from the same rows. Use the contributions to compare features with each other,
    and `validation_` of the selector to judge how well the features predict new rows.

    Parameters
    ----------
    selector : fitted selector
    X : array-like of shape (n, n_features_in_)
        All features, selected or not.
    y : array-like of shape (n,) or (n, t)
    max_rows : int, default=1000
        Number of rows to sample, stratified by y. For more than 20 selected features, at most 500 rows are
        used, in two folds.
    random_state : int, RandomState instance or None, default=0
    feature_names : sequence of str or None, default=None
        Names of all features; None takes those of the selector, or x0, x1, ...

    Returns
    -------
    Contributions

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.explain import contributions
    >>> X = np.random.default_rng(0).integers(0, 2, size=(300, 6))
    >>> y = X[:, 1] ^ X[:, 4]
    >>> result = contributions(L1LSMI(2, random_state=0).fit(X, y), X, y)
    >>> result.names, result.alone.round(1) + 0, result.lost.round(1)
    (('x1', 'x4'), array([0., 0.]), array([1., 1.]))
    """
    scorer = SubsetScorer(
        selector, X, y, max_rows=max_rows, random_state=random_state, feature_names=feature_names
    )
    return measure_contributions(scorer, max_rows)


def rows_for(n_features: int, max_rows: int = MAX_ROWS) -> int:
    """Number of rows to sample for the contributions of a number of features."""
    return min(max_rows, FEWER_ROWS) if n_features > MANY_FEATURES else max_rows


@single_threaded_blas()
def measure_contributions(scorer: SubsetScorer, max_rows: int = MAX_ROWS) -> Contributions:
    """`contributions` for the data of an existing scorer."""
    columns = scorer.selected
    many = columns.size > MANY_FEATURES
    rows, table, target = scorer.sampled(rows_for(columns.size, max_rows))
    sets = [columns, *(columns[columns != j] for j in columns), *(columns[columns == j] for j in columns)]
    n_folds = FEWER_FOLDS if many else N_FOLDS
    found = held_out_losses(table, target, sets, n_folds, scorer.seed)
    total = found[-1].sum()
    shares = 1 - found[:-1].sum(axis=1) / total
    more = found[1 : columns.size + 1] - found[0]
    errors = more.std(axis=1) * np.sqrt(rows.size) / total
    lost, alone = shares[0] - shares[1 : columns.size + 1], shares[columns.size + 1 :]
    order = np.argsort(-lost, kind="stable")
    frequency = getattr(scorer.selector, "frequency_", None)
    weak = columns[order][(lost <= errors)[order]]
    weak = weak[int(weak.size == columns.size) :]  # one feature stays
    return Contributions(
        columns=columns[order],
        names=tuple(scorer.names[j] for j in columns[order]),
        lost=lost[order],
        standard_error=errors[order],
        alone=alone[order],
        frequency=None if frequency is None else np.asarray(frequency)[columns[order]],
        share=float(shares[0]),
        n_rows=int(rows.size),
        n_rows_in=scorer.n_rows_in,
        dispensable=_dispensable(scorer, table, target, columns[order], weak, n_folds),
    )


def _dispensable(
    scorer: SubsetScorer, table: Table, target: Target, columns: HostArray, weak: HostArray, n_folds: int
) -> Dispensable | None:
    """The most of the weak features, largest contribution first, that are not needed all together.

    Copies of each other contribute nothing each, but something together. All, half, a quarter, ... of the
    features are tried, those with the smallest contributions.
    """
    if not weak.size:
        return None
    tried = [weak[-(weak.size >> halved) :] for halved in range(int(weak.size).bit_length())]
    sets = [columns, *(columns[~np.isin(columns, gone)] for gone in tried)]
    found = held_out_losses(table, target, sets, n_folds, scorer.seed)
    more = found[1:-1] - found[0]
    lost = more.sum(axis=1) / found[-1].sum()
    errors = more.std(axis=1) * np.sqrt(table.n_rows) / found[-1].sum()
    for gone, contribution, error in zip(tried, lost, errors, strict=True):
        if contribution <= error:
            names = tuple(scorer.names[j] for j in gone)
            return Dispensable(gone, names, float(contribution), float(error))
    return None


def held_out_losses(
    table: Table, target: Target, sets: Sequence[HostArray], n_folds: int, seed: int
) -> HostArray:
    """Squared errors of predictions of held-out rows from sets of columns, and from none.

    Parameters
    ----------
    table : Table
    target : Target
    sets : sequence of numpy.ndarray of int
    n_folds : int
    seed : int

    Returns
    -------
    numpy.ndarray of shape (sets + 1, n)
        One row per set; the last row has the errors without features.
    """
    rng = np.random.default_rng((seed, 11))
    functions = TargetFunctions.of(target, rng).of_rows(target)
    used = np.unique(np.concatenate(sets))
    used = used[table.scale[used] > 0]
    points = to_numpy(table.points(np.arange(table.n_rows), used).values)
    places = [table.places_of(used, one[np.isin(one, used)]) for one in (*sets, used[:0])]
    folds = stratified_folds(target.codes, n_folds, rng)
    losses = np.empty((len(places), len(functions)))
    for fold in range(n_folds):
        # In random order, as the kernel centres are evenly spaced.
        train, test = rng.permutation(np.flatnonzero(folds != fold)), np.flatnonzero(folds == fold)
        for place, inside in enumerate(places):
            check_time()
            predicted = predict_unseen(points[train][:, inside], functions[train], points[test][:, inside])
            losses[place, test] = ((functions[test] - predicted) ** 2).sum(axis=1)
    return losses
