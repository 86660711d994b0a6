"""Why features were left out: others say the same, they say nothing, or they would add something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

import numpy as np

from l1lsmi.arrays import HostArray
from l1lsmi.explain._between import Between
from l1lsmi.explain._noise import gains_of_shuffled, noise_level, strongest_alone
from l1lsmi.explain._study import Study
from l1lsmi.explain.sample import MAX_ROWS
from l1lsmi.numerics.ranking import best_first
from l1lsmi.validation import check_count

__all__ = ["Redundancy", "Rejected", "redundancy", "score_rejected"]

#: Shuffled columns whose gains say what a gain is worth that means nothing.
N_SHUFFLED_COLUMNS = 10


@dataclass(frozen=True)
class Rejected:
    """A feature that was left out.

    Attributes
    ----------
    column : int
    name : str
    alone : float
        What it says of the target by itself.
    gain : float
        Score of the selected set with it, minus score of the set.
    nearest : int
        The selected feature that shares most with it.
    nearest_name : str
    smi : float
        Squared-loss mutual information between the two.
    correlation : float
        Their absolute correlation.
    kind : {"redundant", "silent", "adds"}
        Why it is out.
    reason : str
        The same as a sentence.
    """

    column: int
    name: str
    alone: float
    gain: float
    nearest: int
    nearest_name: str
    smi: float
    correlation: float
    kind: str
    reason: str


@dataclass(frozen=True, eq=False)
class Redundancy:
    """Rejected features, and what the selected ones share.

    Attributes
    ----------
    rejected : tuple of Rejected
        Those that say most alone come first.
    n_rejected_in : int
        How many features were left out altogether.
    columns : numpy.ndarray of int, shape (f,)
        Selected features, the heaviest where there are more than ``max_features``.
    names : tuple of str
    smi : numpy.ndarray of float, shape (f, f)
        Squared-loss mutual information between two of them; nan on the diagonal.
    correlation : numpy.ndarray of float, shape (f, f)
        Their absolute correlation; nan on the diagonal.
    noise : float
        What a feature must say by itself to be told from noise.
    gain_noise : float
        What a feature must add to be told from noise.
    n_rows, n_rows_in : int
        Rows that were used, and rows that were given.
    """

    rejected: tuple[Rejected, ...]
    n_rejected_in: int
    columns: HostArray
    names: tuple[str, ...]
    smi: HostArray
    correlation: HostArray
    noise: float
    gain_noise: float
    n_rows: int
    n_rows_in: int


def redundancy(
    selector: Any,
    X: Any,
    y: Any,
    *,
    n_rejected: int = 15,
    max_features: int = 20,
    max_rows: int = MAX_ROWS,
    random_state: Any = 0,
    feature_names: Sequence[str] | None = None,
) -> Redundancy:
    """Say of the strongest rejected features why they are out, and what the selected ones share.

    The strongest are, in turn, those that a quick look says most of alone (HSIC, of more than 100 features
    among those that correlate most with the target) and those that come next in the selector's
    ``ranking_``, where it has one.

    Parameters
    ----------
    selector : fitted selector
    X : array-like of shape (n, n_features_in_)
        All features, selected or not.
    y : array-like of shape (n,)
    n_rejected : int, default=15
        Rejected features to look at.
    max_features : int, default=20
        Selected features to compare in pairs.
    max_rows : int, default=500
        So many rows at most are drawn, in proportion to the classes or ranges of y.
    random_state : int, RandomState instance or None, default=0
    feature_names : sequence of str or None, default=None
        Names of all features; None takes those that the selector knows, or x0, x1, ...

    Returns
    -------
    Redundancy

    Notes
    -----
    Both thresholds are measured on these data. ``noise``: y is shuffled five times, the strongest features
    are looked for anew each time, and the highest of their scores is what noise can reach. ``gain_noise``:
    ten rejected features have their rows shuffled, and the largest gain of the set by one of them is
    what noise can add. Then a feature

    - "adds" where its gain is above ``gain_noise``;
    - is "redundant" where it says more than ``noise`` alone and adds nothing;
    - is "silent" where it says no more than ``noise`` alone and adds nothing.

    A redundant feature is put down to the nearest selected one where it adds nothing to that one alone, and
    to the selected features together otherwise. The nearest is the one with the largest squared-loss mutual
    information, which is compared in full for the two that HSIC finds nearest.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.explain import redundancy
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> X[:, 3] = X[:, 0] + 0.1 * rng.normal(size=200)
    >>> y = X[:, 0] + X[:, 1] > 0
    >>> why = redundancy(L1LSMI(2, random_state=0).fit(X, y), X, y)
    >>> [(feature.name, feature.kind) for feature in why.rejected]
    [('x3', 'redundant'), ('x2', 'silent'), ('x4', 'silent')]
    """
    study = Study(selector, X, y, max_rows=max_rows, random_state=random_state, feature_names=feature_names)
    return score_rejected(study, n_rejected, max_features)


def score_rejected(study: Study, n_rejected: int = 15, max_features: int = 20) -> Redundancy:
    """The same for a selection that is under study already."""
    m = len(study.names)
    check_count("n_rejected", min(n_rejected, m), m)
    check_count("max_features", min(max_features, m), m)
    between = Between(study)
    columns = study.strongest(max_features)
    others = np.setdiff1d(study.table.varying, study.selected)
    chosen = _strongest(study, others, n_rejected)
    noise = noise_level(study, study.table.varying) if chosen.size else 0.0
    gain_noise = max(0.0, *gains_of_shuffled(study, chosen[:N_SHUFFLED_COLUMNS])) if chosen.size else 0.0
    correlation = between.correlations(columns, columns)
    np.fill_diagonal(correlation, np.nan)
    return Redundancy(
        rejected=_explain(study, between, chosen, noise, gain_noise),
        n_rejected_in=m - study.selected.size,
        columns=columns,
        names=tuple(study.names[j] for j in columns),
        smi=between.matrix(columns),
        correlation=correlation,
        noise=noise,
        gain_noise=gain_noise,
        n_rows=study.n_rows,
        n_rows_in=study.n_rows_in,
    )


def _strongest(study: Study, others: HostArray, most: int) -> HostArray:
    """Rejected features that say most alone and those next in rank, in turn."""
    if others.size == 0:
        return others
    alone = strongest_alone(study, others).tolist()
    ranking = getattr(study.selector, "ranking_", None)
    ranked = [] if ranking is None else others[np.argsort(ranking[others], kind="stable")][:most].tolist()
    in_turn = chain.from_iterable(zip_longest(alone, ranked))
    wanted = list(dict.fromkeys(j for j in in_turn if j is not None))[:most]
    columns = np.array(wanted, dtype=np.intp)
    return columns[best_first(study.alone(columns))]


def _explain(
    study: Study, between: Between, chosen: HostArray, noise: float, gain_noise: float
) -> tuple[Rejected, ...]:
    if chosen.size == 0:
        return ()
    correlations = between.correlations(chosen, study.selected)
    together = study.score(study.selected)
    found = []
    for column, correlated in zip(chosen.tolist(), correlations, strict=True):
        nearest, smi = between.nearest(column, study.selected, correlated)
        alone, gain = study.score((column,)), study.score((*study.selected, column)) - together
        kind = "adds" if gain > gain_noise else "redundant" if alone > noise else "silent"
        same = kind == "redundant" and study.score((nearest, column)) - study.score((nearest,)) <= gain_noise
        names = study.names[column], study.names[nearest]
        found.append(
            Rejected(
                column=column,
                name=names[0],
                alone=alone,
                gain=gain,
                nearest=nearest,
                nearest_name=names[1],
                smi=smi,
                correlation=float(correlated[study.selected == nearest][0]),
                kind=kind,
                reason=_reason(kind, same, *names, smi, alone, gain),
            )
        )
    return tuple(found)


def _reason(kind: str, same: bool, name: str, nearest: str, smi: float, alone: float, gain: float) -> str:
    if kind == "adds":
        return f"{name} would add {gain:.3f} to the score of the set."
    if kind == "silent":
        return f"{name} is out because it says nothing, neither alone nor with the selected features."
    if same:
        return f"{name} is out because {nearest} says the same (SMI between them {smi:.2f})."
    return (
        f"{name} is out because the selected features together say what it says ({alone:.2f} alone); "
        f"{nearest} is nearest (SMI between them {smi:.2f})."
    )
