"""Compare sets of features, found by searches on parts of the rows, on the rows not seen by the search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.held_out import agreement_p_value, combined_p_value
from l1lsmi.strategies._pieces import CODEC
from l1lsmi.strategies._splits import Split

#: How many times the unpredicted variance of the best number of features a smaller number may always leave.
TOLERANCE = 1.01


@CODEC.record
@dataclass(frozen=True, eq=False)
class Validation:
    """How well sets of features predict the target in rows that their search has not seen.

    Attributes
    ----------
    k : numpy.ndarray of int, shape (sizes,)
        Numbers of features, from 0 on.
    mean : numpy.ndarray of float, shape (sizes,)
        Share of the target's variance (of class memberships, or of smooth functions of a numeric target) that
        is predicted in unseen rows, over all splits. Higher is better; 0 is as good as no features.
    standard_error : numpy.ndarray of float, shape (sizes,)
        Standard error of the mean, over unseen rows.
    per_split : numpy.ndarray of float, shape (splits, sizes)
        The same in each split.
    best_k : int
        The smallest number of features that predict nearly as well as the best number: the difference of the
        means is at most one standard error of this difference, or at most 1 % of the variance that the best
        number leaves unpredicted.
    pool : numpy.ndarray of int, shape (pools,)
        Sizes of the pools that were compared: numbers of columns that the search may choose from.
    pool_mean : numpy.ndarray of float, shape (pools,)
        For each pool, the highest mean over all numbers of features above 0.
    best_pool : int
        Size of the pool that was chosen. If columns outnumber rows, this is the pool with the highest mean;
        otherwise the pool with the highest sum of two shares of the variance: this mean, and the share that
        the set found on all rows predicts by leave-one-out.
    p_value : float
        Probability of predictions that agree at least as well with the target in unseen rows, if the target
        does not depend on the features.
    frequency : numpy.ndarray of float, shape (m,)
        Share of the splits in which each feature was selected.
    """

    k: HostArray
    mean: HostArray
    standard_error: HostArray
    per_split: HostArray
    best_k: int
    pool: HostArray
    pool_mean: HostArray
    best_pool: int
    p_value: float
    frequency: HostArray


@CODEC.record
class Judged(NamedTuple):
    """Sets of all sizes that searches on a split found, and their predictions for the unseen rows.

    Predictions that compare sets of different sizes are learned from all rows outside the block that is
    predicted, because fits to fewer rows favour small sets. All other predictions are learned from the seen
    rows, and so are the predictions of the next block that give the p-value.
    """

    sets: list[HostArray]
    predictions: HostArray  # (sizes, unseen, q)
    of_next: HostArray  # (sizes, next, q)


def validations_of(
    results: list[list[Judged]],
    splits: list[Split],
    functions: HostArray,
    sizes: HostArray,
    pools: Sequence[int],
    groups: HostArray | None,
    weights: HostArray | None,
    n_features: int,
    rng: np.random.Generator,
    *,
    least: int,
    beside: bool,
) -> list[Validation]:
    """Judge the sets of all sizes from each pool; with ``beside``, every set includes the covariates."""
    n_rows, shape = len(functions), (len(pools), sizes.size)
    lost = np.zeros((*shape, n_rows))
    counts = np.zeros(n_rows)
    per_split: list[HostArray] = []
    chosen: list[list[Judged]] = []
    p_values: list[float] = []
    n_next: list[int] = []
    for judged, split in zip(results, splits, strict=True):
        true = functions[split.unseen]
        predictions = np.array([one.predictions for one in judged])  # (pools, sizes, unseen, q)
        if split.judges:
            errors = ((true - predictions) ** 2).sum(axis=-1)
            lost[:, :, split.unseen] += errors
            counts[split.unseen] += 1
            of_unseen = None if weights is None else weights[split.unseen]
            per_split.append(1 - _mean(errors, of_unseen) / _mean(errors[:, :1], of_unseen))
            chosen.append(judged)
        if split.n_next == 0:
            continue
        # Rows are exchangeable, whatever their weights: they count alike in a test.
        of_next, wanted = np.array([one.of_next for one in judged]), true[: split.n_next]
        agreed, varies = of_next[:, 1:].mean(axis=(0, 1)), np.ptp(wanted, axis=0).any()
        if beside:  # what features add to the predictions of covariates, and what these leave to predict
            agreed, wanted = agreed - of_next[0, 0], wanted - of_next[0, 0]
        of_groups = None if groups is None else groups[split.unseen[: split.n_next]]
        if varies:  # else all permutations are the same
            p_values.append(agreement_p_value(agreed, wanted, of_groups, rng))
            n_next.append(split.n_next)
    tested = counts > 0
    losses = lost[:, :, tested] / counts[tested]
    of_tested = None if weights is None else weights[tested]
    gains = (losses[:, :1] - losses) / _mean(losses[0, 0], of_tested)
    mean = _mean(gains, of_tested)
    p_value = combined_p_value(p_values, n_next) if p_values else 1.0
    found = []
    for i, pool in enumerate(pools):
        of_groups = None if groups is None else groups[tested]
        best_k = _smallest_nearly_best(sizes, gains[i], of_groups, of_tested, least)
        place = int(np.flatnonzero(sizes == best_k)[0]) or sizes.size - 1
        frequency = np.zeros(n_features)
        for judged in chosen:
            frequency[judged[i].sets[place]] += 1 / len(chosen)
        validation = Validation(
            k=sizes,
            mean=mean[i],
            standard_error=_standard_errors(gains[i], of_groups, of_tested),
            per_split=np.array(per_split)[:, i],
            best_k=best_k,
            pool=np.array(pools),
            pool_mean=mean[:, 1:].max(axis=1),
            best_pool=int(pool),
            p_value=p_value,
            frequency=frequency,
        )
        found.append(validation)
    return found


def best_of(validations: Sequence[Validation]) -> Validation:
    """The validation of the pool with the highest mean; of pools that predict equally well, the largest.

    In the search on all rows, a larger pool may have useful columns that the others lack.
    """
    means = validations[0].pool_mean
    return validations[len(means) - 1 - int(means[::-1].argmax())]


def _smallest_nearly_best(
    sizes: HostArray, gains: HostArray, groups: HostArray | None, weights: HostArray | None, least: int
) -> int:
    """The smallest number of features that predict nearly as well as the best number does."""
    mean = np.where(sizes >= least, _mean(gains, weights), -np.inf)
    top = int(mean.argmax())
    # Rows that are hard to predict are so for sets of all sizes: differences vary less than means do.
    spread = _standard_errors(gains[top] - gains, groups, weights)
    # Whether there is anything to predict is decided by the p-value.
    near = (mean[top] - mean <= spread) & (sizes > 0)
    near |= 1 - mean <= TOLERANCE * (1 - mean[top])
    return int(sizes[np.flatnonzero(near & (sizes >= least))[0]])


def _mean(values: HostArray, weights: HostArray | None) -> HostArray:
    """Weighted mean over the last axis."""
    return np.asarray(values.mean(axis=-1) if weights is None else values @ (weights / weights.sum()))


def _standard_errors(
    gains: HostArray, groups: HostArray | None, weights: HostArray | None = None
) -> HostArray:
    """Standard errors of means over rows, or over groups of rows, (sizes,)."""
    if weights is not None:
        # Contributions to the weighted mean, times the number of rows.
        gains = (gains - _mean(gains, weights)[:, None]) * (weights / weights.mean())
    if groups is not None:
        _, codes = np.unique(groups, return_inverse=True)
        sums = np.array(
            [np.bincount(codes.ravel(), one) for one in gains - gains.mean(axis=1, keepdims=True)]
        )
        return np.asarray(np.sqrt((sums**2).sum(axis=1)) / gains.shape[1])
    return np.asarray(gains.std(axis=1, ddof=1 if gains.shape[1] > 1 else 0) / np.sqrt(gains.shape[1]))
