"""Projection onto the positive part of the l1 ball, O(m log m)."""

from __future__ import annotations

from l1lsmi.arrays import Array, namespace

__all__ = ["project_to_simplex_ball"]


def project_to_simplex_ball(weights: Array, radius: float) -> Array:
    """Find the nearest point with non-negative entries whose sum is at most ``radius``.

    Parameters
    ----------
    weights : array of shape (m,)
    radius : float
        Positive.

    Returns
    -------
    projected : array of shape (m,)

    Notes
    -----
    Inside the ball only the negative part is cut off. Outside, all entries are lowered by one
    threshold and cut at zero (Duchi et al., 2008); it is found among the sorted entries.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.numerics.l1_ball import project_to_simplex_ball
    >>> project_to_simplex_ball(np.array([0.9, 0.5, -0.3]), 1.0)
    array([0.7, 0.3, 0. ])
    """
    xp = namespace(weights)
    positive = xp.clip(weights, min=0.0)
    if float(xp.sum(positive)) <= radius:
        return positive
    descending = xp.flip(xp.sort(positive))
    counts = xp.cumulative_sum(xp.ones_like(descending))
    thresholds = (xp.cumulative_sum(descending) - radius) / counts
    n_left = int(xp.sum(xp.astype(descending > thresholds, xp.int64)))
    return xp.clip(positive - thresholds[max(n_left, 1) - 1], min=0.0)
