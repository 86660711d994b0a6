"""Why features were left out: others say the same, they say nothing, or they would add something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray, steady_blas
from l1lsmi._numerics.ranking import best_first
from l1lsmi._validation.parameters import check_count
from l1lsmi.explain._between import COPY, Between
from l1lsmi.explain._noise import chance_levels, strongest_alone
from l1lsmi.explain._study import Study
from l1lsmi.explain.sample import MAX_ROWS
from l1lsmi.explain.score_by_size import best_inside

#: What a feature says must exceed what noise reaches by this factor: five shuffles do not show its worst.
CLEARLY = 1.5
#: A gain of less than this share of the score is a better estimate rather than more to estimate.
LITTLE = 0.05
#: A feature that shares less than this with a selected one does not stand in for it.
SHARED = 0.1
#: One feature adds nothing to another where it adds less than this share of what it says alone.
SAME = 0.1
#: Two features say the same where they share as much as normal ones of which either explains half of the
#: variance of the other: their squared-loss mutual information is then 1/2.
ALIKE, ALIKE_CORRELATION = 0.5, 0.5**0.5


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
        What the selected features say with it, minus what they say without: see `Redundancy`.
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

    Notes
    -----
    Gains are those of the best set on the way of a backward elimination inside the selected features,
    which is the selected set itself unless it has many features that mean little.

    Both thresholds are measured on these data. The rows of all features are shuffled against the target
    five times, and the two strongest are looked for anew each time. ``noise`` is one and a half times the
    highest score that one of these ten reaches alone. ``gain_noise`` is as much of the largest gain by one of
    them, or by a second copy of a selected feature, which adds no information either; and at least a
    twentieth of the score, as a feature made of others can make them easier to read. Then a feature

    - "adds" where its gain is above ``gain_noise``;
    - is "redundant" where it says more than ``noise`` alone and adds nothing; so is one that says nothing
      alone, but shares at least 0.1 with a selected feature and adds something once that one is gone;
    - is "silent" where it says no more than ``noise`` alone and adds nothing.
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

    The strongest are, in turn, those that a quick look says most of alone (HSIC, of more than 40 features
    among those that correlate most with the target, as they are or squared) and those that come next in
    the selector's ``ranking_``, where it has one.

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
    `Redundancy` says how the thresholds are measured and how the three kinds are told apart.

    A redundant feature is put down to the nearest selected one where it adds nothing to that one, or less
    than a tenth of what it says alone; and to the selected features together otherwise. That it adds nothing
    about the target does not make the two alike: they "say the same" only where their squared-loss mutual
    information is at least 1/2 or their correlation at least 0.71, which is where two normal features explain
    half of each other's variance.

    The nearest is a copy where there is one, else the one with the larger squared-loss mutual information, of
    those that correlation and HSIC find nearest. Between two features with at most 10 values each, or two
    with more, this information is the mean of both directions; otherwise the one with fewer values is the
    target.

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


@steady_blas()
def score_rejected(study: Study, n_rejected: int = 15, max_features: int = 20) -> Redundancy:
    """The same for a selection that is under study already."""
    m = len(study.names)
    check_count("n_rejected", min(n_rejected, m), m)
    check_count("max_features", min(max_features, m), m)
    between = Between(study)
    columns = study.strongest(max_features)
    others = np.setdiff1d(study.table.varying, study.selected)
    chosen = _strongest(study, others, n_rejected)
    core = best_inside(study) if chosen.size else study.selected
    noise, gain_noise = _thresholds(study, core) if chosen.size else (0.0, 0.0)
    correlation = between.correlations(columns, columns)
    np.fill_diagonal(correlation, np.nan)
    return Redundancy(
        rejected=tuple(_Judge(study, between, core, noise, gain_noise).judge(chosen)),
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


def _thresholds(study: Study, core: HostArray) -> tuple[float, float]:
    """What a feature must say alone, and what it must add, to be told from noise."""
    alone, gain = chance_levels(study, core)
    return CLEARLY * alone, max(CLEARLY * gain, LITTLE * study.score(core))


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


def _alike(smi: float, correlation: float) -> bool:
    return smi >= ALIKE or correlation >= ALIKE_CORRELATION


@dataclass(frozen=True)
class _Judge:
    """What rejected features are judged by."""

    study: Study
    between: Between
    core: HostArray
    noise: float
    gain_noise: float

    def judge(self, chosen: HostArray) -> Iterator[Rejected]:
        selected = self.study.selected
        together = self.study.score(self.core)
        correlations = self.between.correlations(chosen, selected)
        for column, correlated in zip(chosen.tolist(), correlations, strict=True):
            nearest, smi = self.between.nearest(column, selected, correlated)
            gain = self.study.score((*self.core, column)) - together
            correlation = float(correlated[selected == nearest][0])
            kind, reason = self._reason(column, nearest, gain, smi, correlation)
            yield Rejected(
                column=column,
                name=self.study.names[column],
                alone=self.study.score((column,)),
                gain=gain,
                nearest=nearest,
                nearest_name=self.study.names[nearest],
                smi=smi,
                correlation=correlation,
                kind=kind,
                reason=reason,
            )

    def _reason(
        self, column: int, nearest: int, gain: float, smi: float, correlation: float
    ) -> tuple[str, str]:
        name, other = self.study.names[column], self.study.names[nearest]
        alone = self.study.score((column,))
        if gain > self.gain_noise:
            return "adds", f"{name} would add {gain:.3f} to the score of {self._set()}."
        if alone <= self.noise:
            if smi >= SHARED and self._stands_in(column, nearest):
                why = (
                    f"{other} says the same and more"
                    if _alike(smi, correlation)
                    else f"what it adds to the others of the set, {other} adds too"
                )
                return "redundant", f"{name} is out because {why} (SMI between the two {smi:.2f})."
            return "silent", (
                f"{name} is out because it says no more than noise does ({alone:.3f} alone; noise may reach "
                f"{self.noise:.3f})."
            )
        if correlation > COPY:
            return "redundant", f"{name} is out because {other} is the same but for its scale."
        if self._adds_to(nearest, column) <= max(self.gain_noise, SAME * alone):
            why = (
                f"{other} says the same"
                if _alike(smi, correlation)
                else f"it adds nothing to what {other} says of the target"
            )
            return "redundant", f"{name} is out because {why} (SMI between the two {smi:.2f})."
        return "redundant", (
            f"{name} is out because the selected features together say what it says ({alone:.3f} alone); "
            f"nearest is {other} (SMI between the two {smi:.2f})."
        )

    def _adds_to(self, member: int, column: int) -> float:
        return self.study.score((member, column)) - self.study.score((member,))

    def _stands_in(self, column: int, member: int) -> bool:
        """Whether a column adds something where a member of the set is left out."""
        rest = self.core[self.core != member]
        added = self.study.score((*rest, column)) - self.study.score(rest)
        return rest.size < self.core.size and added > self.gain_noise

    def _set(self) -> str:
        if self.core.size == self.study.selected.size:
            return "the set"
        return f"the {self.core.size} selected features that say most"
