"""Bounds on the expected number of false selections of stability selection."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray

#: Halvings of the interval that contains the parameter of an extremal distribution.
N_BISECTIONS = 60
#: Logarithm of the largest and smallest offset of an extremal distribution, in steps of its support.
LOG_OFFSET = 30.0
#: Thresholds that differ from a multiple of 1 / n_resamples by less are that multiple.
ROUNDING = 1e-9


@dataclass(frozen=True)
class FalseSelectionsBound:
    """Bounds on the expected number of false selections, from the fewest assumptions to the most.

    Here, a selection is false if the feature is selected from a random half of the rows no more often than by
    guessing: with a probability of at most q / m, where q of the m features are selected on average.

    Attributes
    ----------
    worst_case : float
        For any distribution of the selection frequencies: q^2 / ((2 threshold - 1) m), but at most q /
        threshold. This is the bound of Meinshausen and Buehlmann; with complementary pairs, it does not need
        exchangeable noise (Shah and Samworth).
    unimodal : float
        If the frequencies at which both halves of a pair select a false feature have a unimodal distribution.
    r_concave : float
        If the distribution of these frequencies is -1/2-concave, and the distribution of the selection
        frequencies is -1/4-concave.
    """

    worst_case: float
    unimodal: float
    r_concave: float

    @property
    def smallest(self) -> float:
        """The smallest of the three."""
        return min(self.worst_case, self.unimodal, self.r_concave)


def false_selections_bound(
    n_selected: float, n_features: int, *, threshold: float = 0.6, n_resamples: int = 50
) -> FalseSelectionsBound:
    """Bound the expected number of false selections of stability selection with complementary pairs.

    Parameters
    ----------
    n_selected : float
        Number of features that are selected from half of the rows, on average.
    n_features : int
    threshold : float, default=0.6
        Share of the half-samples from which a feature must be selected.
    n_resamples : int, default=50
        Number of half-samples, two for each pair.

    Returns
    -------
    FalseSelectionsBound

    See Also
    --------
    StabilitySelector : Selects, and has the bound as an attribute.

    References
    ----------
    .. [1] R. D. Shah and R. J. Samworth, "Variable selection with error control: another look at stability
       selection", Journal of the Royal Statistical Society B 75, 2013.
    .. [2] N. Meinshausen and P. Buehlmann, "Stability selection", Journal of the Royal Statistical Society B
       72, 2010.

    Examples
    --------
    Of 1,000 features, 30 are selected from each half. Few features are selected from 90 % of the halves by
    chance:

    >>> from l1lsmi.inference import false_selections_bound
    >>> bound = false_selections_bound(30, 1000, threshold=0.9, n_resamples=100)
    >>> round(bound.worst_case, 3), round(bound.unimodal, 3), round(bound.r_concave, 3)
    (1.125, 0.388, 0.059)
    """
    _check(n_selected, n_features, threshold, n_resamples)
    position = int(np.ceil(threshold * n_resamples - ROUNDING))
    return bounds_by_threshold(float(n_selected), int(n_features), int(n_resamples))[position - 1]


def _check(n_selected: Any, n_features: Any, threshold: Any, n_resamples: Any) -> None:
    if not isinstance(n_features, Integral) or isinstance(n_features, bool) or n_features < 1:
        raise ValueError(f"n_features={n_features!r} must be an integer, at least 1.")
    if not isinstance(n_selected, Real) or not 0 <= float(n_selected) <= int(n_features):
        raise ValueError(
            f"n_selected={n_selected!r} must be a number from 0 to n_features={n_features}: pass the mean "
            "number of features that are selected from half of the rows."
        )
    if not isinstance(threshold, Real) or not 0 < float(threshold) <= 1:
        raise ValueError(f"threshold={threshold!r} must be a number above 0 and at most 1.")
    check_resamples(n_resamples)


def check_resamples(n_resamples: Any) -> None:
    """Check a number of half-samples."""
    if (
        not isinstance(n_resamples, Integral)
        or isinstance(n_resamples, bool)
        or n_resamples < 2
        or n_resamples % 2
    ):
        raise ValueError(
            f"n_resamples={n_resamples!r} must be an even integer, at least 2: half-samples come in pairs, "
            "each with the rows that the other leaves out."
        )


def bounds_by_threshold(q: float, m: int, n_resamples: int) -> list[FalseSelectionsBound]:
    """Bounds at the thresholds 1/n_resamples, 2/n_resamples, ..., 1."""
    theta = q / m
    n_pairs = n_resamples // 2
    # Selected from a share of at least t of all halves, a feature is selected from both halves of a share of
    # at least 2 t - 1 of the pairs; the expected shares are theta and theta^2 at most.
    of_pairs = largest_tails(theta**2, n_pairs, -0.5)
    of_halves = largest_tails(theta, n_resamples, -0.25)
    bounds = []
    for position in range(1, n_resamples + 1):
        threshold = position / n_resamples
        both = max(position - n_pairs, 0)
        bounds.append(
            FalseSelectionsBound(
                worst_case=_worst_case(q, m, threshold),
                unimodal=min(m, _unimodal_factor(theta, threshold, n_pairs) * q * theta),
                r_concave=float(m * min(of_pairs[both], of_halves[position])),
            )
        )
    return bounds


def _worst_case(q: float, m: int, threshold: float) -> float:
    """Theorem 1 of Shah and Samworth, and Markov's inequality for the frequency itself."""
    by_pairs = q * q / ((2.0 * threshold - 1.0) * m) if threshold > 0.5 else np.inf
    return float(min(by_pairs, q / threshold, m))


def _unimodal_factor(theta: float, threshold: float, n_pairs: int) -> float:
    """C(threshold, n_pairs) of Theorem 2 of Shah and Samworth; infinite where it has none."""
    smallest = min(0.5 + theta**2, 0.5 + 0.5 / n_pairs + 0.75 * theta**2)
    if theta > 1.0 / np.sqrt(3.0) or threshold <= smallest or threshold < 0.5 + 1.0 / n_pairs - ROUNDING:
        return np.inf
    if threshold <= 0.75 + ROUNDING:
        return 0.5 / (2.0 * threshold - 1.0 - 0.5 / n_pairs)
    return 4.0 * (1.0 - threshold + 0.5 / n_pairs) / (1.0 + 1.0 / n_pairs)


def largest_tails(mean: float, n_steps: int, r: float) -> HostArray:
    r"""Largest probabilities of i / n_steps or more under r-concave distributions with a limited mean.

    A distribution f on {0, 1/n, ..., 1} is r-concave, for negative r, if it is positive between its ends and
    f^r is convex there. A linear functional of f is largest at an extreme point of the convex hull of the
    r-concave distributions with the given mean. Where f^r is linear on its support, f + d g is r-concave for
    small d of both signs if and only if g is f^(1-r) times a linear function, which has two parameters; a
    kink in f^r adds a third. Of three parameters, the total and the mean fix two. The third is free, so that
    f is the midpoint of two other such distributions, and not an extreme point. The extreme points are
    therefore

    - f proportional to (a + i)^(1/r), i = 0 ... l, on any part of {0, ..., n} of l + 1 points, or mirrored,
    - the distributions at a single point.

    For a given support, the mean increases with a (or decreases, if mirrored), so that the mean determines a.

    Parameters
    ----------
    mean : float
        Largest mean, between 0 and 1.
    n_steps : int
    r : float
        Negative.

    Returns
    -------
    tails : numpy.ndarray of shape (n_steps + 1,)
        For i = 0, ..., n_steps.
    """
    tails = np.zeros(n_steps + 1)
    at_mean = int(np.floor(mean * n_steps + ROUNDING))
    tails[: at_mean + 1] = 1.0  # the point at the mean, or below it
    target = mean * n_steps
    if mean <= 0:
        return tails
    steps = np.arange(n_steps + 1)
    for first in range(min(at_mean, n_steps - 1) + 1):
        # All last points of the support at once, as rows.
        last = np.arange(max(first + 1, int(np.ceil(target - ROUNDING))), n_steps + 1)[:, None]
        inside = (steps >= first) & (steps <= last)
        from_first, to_last = np.where(inside, steps - first, 0), np.where(inside, last - steps, 0)

        def distribution(
            slope: HostArray, inside: Any = inside, up: Any = from_first, down: Any = to_last
        ) -> HostArray:
            # Slope -1 to 1: from all at the first point over the uniform distribution to all at the last.
            with np.errstate(divide="ignore"):
                log_offset = LOG_OFFSET * (1.0 - 2.0 * np.abs(slope))
            logs = np.log(np.where(slope < 0, up, down) + np.exp(log_offset)) / r
            logs = np.where(inside, logs, -np.inf)
            f = np.exp(logs - logs.max(axis=1, keepdims=True))
            return np.asarray(f / f.sum(axis=1, keepdims=True))

        low, high = np.full(last.shape, -1.0), np.ones(last.shape)
        for _ in range(N_BISECTIONS):
            middle = (low + high) / 2.0
            above = (distribution(middle) @ steps)[:, None] > target
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        found = distribution(low)
        reached = np.cumsum(found[:, ::-1], axis=1)[:, ::-1].max(axis=0)
        tails = np.maximum(tails, reached)
    return np.minimum(tails, 1.0)
