"""A test of dependence by permutations of the target."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._progress import Progress
from l1lsmi._rows.table import Table
from l1lsmi._validation.features import check_varying
from l1lsmi._validation.folds import check_groups
from l1lsmi._validation.parameters import check_measure, seed_of
from l1lsmi._validation.tables import check_table
from l1lsmi._validation.target import check_target, plain_target
from l1lsmi.inference._fits import in_order

#: Scores that differ by less, relatively, are equal: rounding must not make a tie a difference.
TIE = 1e-10

Permute = Callable[[np.random.Generator], HostArray]


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """Result of a permutation test: the p-value, and the scores behind it.

    Attributes
    ----------
    score : float
        Score of the target without a permutation.
    p_value : float
        Probability of a score at least as high if the target does not depend on the features; valid for any
        number of rows and permutations.
    null : numpy.ndarray of float
        Scores of the permuted targets.
    """

    score: float
    p_value: float
    null: HostArray


def permutation_test(
    measure: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    exchange: str = "groups",
    n_permutations: int = 999,
    stop_after: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> PermutationTest:
    r"""Test whether a target depends on features at all.

    The score of the target is compared with the scores of permutations of it. The p-value is
    :math:`(1 + b) / (1 + n)`, where b of n permutations score at least as high as the target itself. If
    target and features are independent, the probability of a p-value of at most a is at most a.

    Parameters
    ----------
    measure : Measure
        For instance `l1lsmi.measures.HSIC`; all columns of X are scored together.
    X : array-like or dataframe of shape (n_samples, n_features)
        Categories may have at most 40 levels; missing values carry no information.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Several targets are permuted together.
    groups : array-like of shape (n_samples,) or None, default=None
        Rows with the same label are not independent of each other: visits of one patient, for instance. None
        permutes rows.
    exchange : {"groups", "within"}, default="groups"
        What is exchanged if ``groups`` is given. "groups" exchanges the targets of whole groups, and keeps
        the order of the rows within a group. Groups of any size are exchanged if the target is constant in
        each group, otherwise only groups of the same size. This tests whether the targets of a group depend
        on its features, and needs groups that are independent of each other. "within" permutes the rows of
        each group. This tests whether targets depend on features within groups, and needs rows that are
        exchangeable there; differences between groups are not detected.
    n_permutations : int, default=999
    stop_after : int or None, default=None
        The test ends once this many permutations (20, for instance) score at least as high as the target,
        because the p-value is not going to be small. The p-value is then this number divided by the number of
        permutations so far, which is valid too [1]_.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutations, and of the random numbers of the measure, which are the same for all
        permutations.
    n_jobs : int or None, default=None
        Permutations are scored in parallel in threads, or by the backend of joblib that is set; the answer
        does not depend on it.
    verbose : int, default=0
        1 shows progress.

    Returns
    -------
    PermutationTest

    Notes
    -----
    Permuting rows where the rows of a group resemble each other gives p-values that are too small, as there
    is less information in the rows than their number suggests.

    References
    ----------
    .. [1] J. Besag and P. Clifford, "Sequential Monte Carlo p-values", Biometrika 78, 1991.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.inference import permutation_test
    >>> from l1lsmi.measures import HSIC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> y = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=100)
    >>> permutation_test(HSIC(), X, y, n_permutations=199, random_state=0).p_value
    0.01
    """
    check_measure(measure)
    _check_counts(n_permutations, stop_after)
    table, target = check_table(X, y, measure.task, missing="ignore", many_levels=False)
    check_varying(table)
    values = plain_target(y, measure.task)
    task = "classification" if target.is_classification else "regression"
    if target.parts or target.hazard is not None:
        task = measure.task
    permute = _permutations(values, check_groups(groups, len(values)), exchange)
    seed = seed_of(random_state)
    score = _score(measure, table, values, task, seed)
    reached, null = 0, []
    items = [(measure, table, values, task, seed, permute, i) for i in range(n_permutations)]
    with Progress(n_permutations, verbose, "permutation", "permuting") as progress:
        for value in in_order(_permuted_score, items, n_jobs):
            null.append(value)
            reached += value >= score - TIE * abs(score)
            progress.advance(detail=f"{reached} reach the score")
            if stop_after is not None and reached >= stop_after:
                return PermutationTest(score, reached / len(null), np.array(null))
    return PermutationTest(score, (1 + reached) / (1 + len(null)), np.array(null))


def _check_counts(n_permutations: Any, stop_after: Any) -> None:
    for name, value in (("n_permutations", n_permutations), ("stop_after", stop_after)):
        allowed = name == "stop_after" and value is None
        if not allowed and (not isinstance(value, Integral) or isinstance(value, bool) or value < 1):
            raise ValueError(f"{name}={value!r} must be an integer, at least 1.")


def _score(measure: Any, table: Table, values: HostArray, task: str, seed: int) -> float:
    """The same function of features and target for every permutation, which is what makes the test valid."""
    problem = measure.bind(table, check_target(values, task), seed)
    if hasattr(problem, "score_set"):
        return float(problem.score_set(problem.columns))
    return float(np.mean(problem.score_each(problem.columns)))


def _permuted_score(
    measure: Any, table: Table, values: HostArray, task: str, seed: int, permute: Permute, i: int
) -> float:
    return _score(measure, table, values[permute(np.random.default_rng((seed, i)))], task, seed)


@dataclass(frozen=True, eq=False)
class _Exchange:
    """Permutations that exchange blocks of rows with blocks of the same kind.

    Attributes
    ----------
    blocks : numpy.ndarray of int, shape (n,)
        Block of each row, 0 to B - 1.
    kinds : numpy.ndarray of int, shape (B,)
        Blocks with the same number are exchanged.
    first : numpy.ndarray of int, shape (B,), or None
        A row of each block, where all its rows have the same target and blocks of any size are exchanged.
    """

    blocks: HostArray
    kinds: HostArray
    first: HostArray | None = None

    def __call__(self, rng: np.random.Generator) -> HostArray:
        """Row that each row gets its target from."""
        source = np.arange(self.kinds.size)
        for kind in np.unique(self.kinds):
            members = np.flatnonzero(self.kinds == kind)
            source[members] = rng.permutation(members)
        if self.first is not None:
            return np.asarray(self.first[source][self.blocks])
        order = np.argsort(self.blocks, kind="stable")
        starts = np.searchsorted(self.blocks[order], np.arange(self.kinds.size))
        position = np.empty(order.size, dtype=np.intp)
        position[order] = np.arange(order.size) - starts[self.blocks[order]]
        return np.asarray(order[starts[source[self.blocks]] + position])


def _permutations(values: HostArray, groups: HostArray | None, exchange: str) -> Permute:
    """How targets may be permuted if they do not depend on features."""
    rows = np.arange(len(values))
    if values.ndim > 1 or values.dtype.names is not None:
        known: dict[tuple[Any, ...], int] = {}
        values = np.array([known.setdefault(tuple(row), len(known)) for row in values.tolist()])
    if exchange not in ("groups", "within"):
        raise ValueError(f"exchange={exchange!r} is not known: pass 'groups' or 'within'.")
    if groups is None:
        return _Exchange(rows, np.zeros_like(rows))
    if exchange == "within":
        found = _Exchange(rows, groups)
        if all(np.unique(values[groups == group]).size == 1 for group in np.unique(groups)):
            raise ValueError(
                "exchange='within' does not change y, because y is constant in every group: pass "
                "exchange='groups'."
            )
        return found
    _, first, sizes = np.unique(groups, return_index=True, return_counts=True)
    if (values == values[first][groups]).all():
        return _Exchange(groups, np.zeros(first.size, dtype=np.intp), first)
    if math.prod(math.factorial(min(count, 20)) for count in Counter(sizes.tolist()).values()) < 2:
        raise ValueError(
            "groups has no two groups of the same size, and y varies within groups, so that no groups can be "
            "exchanged: pass exchange='within' if the rows of a group are exchangeable."
        )
    return _Exchange(groups, sizes)
