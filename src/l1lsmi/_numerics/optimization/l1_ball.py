"""Projection onto the positive part of the l1 ball, O(m log m)."""

from __future__ import annotations

import numpy as np

from l1lsmi._arrays import HostArray


def project_to_simplex_ball(weights: HostArray, radius: float) -> HostArray:
    """Find the nearest point with non-negative entries whose sum is at most ``radius``.

    Parameters
    ----------
    weights : numpy.ndarray of shape (m,)
    radius : float
        Positive.

    Returns
    -------
    projected : numpy.ndarray of shape (m,)

    Notes
    -----
    Inside the ball only the negative part is cut off. Outside, all entries are lowered by one
    threshold and cut at zero (Duchi et al., 2008); it is found among the sorted entries.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi._numerics.optimization.l1_ball import project_to_simplex_ball
    >>> project_to_simplex_ball(np.array([0.9, 0.5, -0.3]), 1.0)
    array([0.7, 0.3, 0. ])
    """
    positive = np.maximum(weights, 0.0)
    if positive.sum() <= radius:
        return positive
    descending = np.sort(positive)[::-1]
    thresholds = (np.cumsum(descending) - radius) / np.arange(1, descending.size + 1)
    n_left = max(1, int(np.count_nonzero(descending > thresholds)))
    return np.asarray(np.maximum(positive - thresholds[n_left - 1], 0.0))
