"""Three artificial problems of ten features whose true features are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from l1lsmi._arrays import HostArray

#: The features that determine the target, by problem.
TRUE_FEATURES = {"and_or": (0, 1, 2, 3), "quad": (0, 1), "xor": (0, 1)}


def make_and_or(n_samples: int = 400, *, random_state: Any = None) -> tuple[HostArray, HostArray]:
    """Make the and-or problem: two classes, redundant columns and a weak interaction.

    The target is (x0 and x1) or (x2 and x3), so features 0 to 3 are the true ones. Features 4 to 6 are
    noise; 7 to 9 are copies of the target with one value in five flipped: each is more informative
    about the target than any true feature alone, but the true features together determine it.

    Parameters
    ----------
    n_samples : int, default=400
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 10)
    y : ndarray of int, shape (n_samples,)

    Examples
    --------
    >>> from l1lsmi.datasets import make_and_or
    >>> X, y = make_and_or(5, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((5, 10), [0, 1])
    """
    rng = check_random_state(random_state)
    x = (rng.uniform(size=(n_samples, 7)) < 0.5).astype(np.float64)
    y = np.maximum(x[:, 0] * x[:, 1], x[:, 2] * x[:, 3])
    flipped = rng.uniform(size=(n_samples, 3)) < 0.2
    copies = np.where(flipped, 1.0 - y[:, None], y[:, None])
    return np.hstack([x, copies]), y.astype(np.intp)


def make_quad(n_samples: int = 400, *, random_state: Any = None) -> tuple[HostArray, HostArray]:
    """Make the quad problem: a regression with non-linear dependence.

    The target is (x0^2 + x1) / (0.5 + (x1 + 1.5)^2) plus noise, so features 0 and 1 are the true
    ones. Features 2 to 7 are noise; 8 and 9 are noisy copies of the two true ones.

    Parameters
    ----------
    n_samples : int, default=400
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 10)
    y : ndarray of float, shape (n_samples,)

    Examples
    --------
    >>> from l1lsmi.datasets import make_quad
    >>> X, y = make_quad(5, random_state=0)
    >>> X.shape, y.dtype
    ((5, 10), dtype('float64'))
    """
    rng = check_random_state(random_state)
    x = rng.normal(size=(n_samples, 8))
    y = (x[:, 0] ** 2 + x[:, 1]) / (0.5 + (x[:, 1] + 1.5) ** 2) + 0.1 * rng.normal(size=n_samples)
    copies = 0.5 * x[:, :2] + rng.uniform(-1, 1, size=(n_samples, 2))
    return np.hstack([x, copies]), y


def make_xor(n_samples: int = 400, *, random_state: Any = None) -> tuple[HostArray, HostArray]:
    """Make the xor problem: two classes and a pure interaction.

    The target is x0 xor x1, so features 0 and 1 are the true ones, and each alone is independent of the
    target. The other features are noise: features 2 to 4 equal 1 with probability 1/2, features 5 to 9 with
    probability 3/4.

    Parameters
    ----------
    n_samples : int, default=400
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 10)
    y : ndarray of int, shape (n_samples,)

    Examples
    --------
    >>> from l1lsmi.datasets import make_xor
    >>> X, y = make_xor(5, random_state=0)
    >>> bool(((X[:, 0] != X[:, 1]) == y).all())
    True
    """
    rng = check_random_state(random_state)
    chance = np.where(np.arange(10) < 5, 0.5, 0.75)
    x = (rng.uniform(size=(n_samples, 10)) < chance).astype(np.float64)
    return x, (x[:, 0] != x[:, 1]).astype(np.intp)
