r"""Functions of the target that the leave-one-out loss is measured on.

For any orthonormal functions :math:`\psi_j` of the target that are complete and have mean 0, the squared-loss
mutual information is :math:`\frac12\sum_j \mathrm{Var}\,E[\psi_j(Y) \mid X]`: half the variance of the
target's functions that the features explain. For classes the functions are the class memberships, so that
every row counts alike, whatever the size of its class; for numbers they are the leading features of a
Gaussian kernel of the target.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from l1lsmi._arrays import Array, HostArray, asarray_like, exp_in_place
from l1lsmi._numerics.grids import LOO_TARGET_WIDTH
from l1lsmi._numerics.sampling import spread_rows
from l1lsmi._numerics.target import Target
from l1lsmi._rows.blocks import Block

#: Leading features of the target's kernel that are used, and how many there are for each of several targets.
N_FUNCTIONS = 8
N_PER_TARGET = 2
#: Values of a numeric target that its functions are fitted to at most.
MOST_VALUES = 20_000
#: Values that the kernel is centred on.
N_POINTS = 100


@dataclass(frozen=True)
class TargetFunctions:
    """Functions of the target with mean 0, their variances adding up to 1.

    Attributes
    ----------
    points : numpy.ndarray of shape (points, t) or None
        Values that the kernel is centred on; None for classes.
    width : float
        Of the kernel.
    features : numpy.ndarray of shape (points, q)
        From kernels to features.
    mean : numpy.ndarray of shape (q,)
    norm : float
    """

    points: HostArray | None
    width: float
    features: HostArray
    mean: HostArray
    norm: float

    @classmethod
    def of(cls, target: Target, rng: np.random.Generator) -> TargetFunctions:
        """Fit them to a target; to some of its values where there are many."""
        if target.values is None:
            shares = target.class_shares()
            return cls(None, 0.0, np.eye(shares.size), shares, float(np.sqrt(1 - (shares**2).sum())))
        width = LOO_TARGET_WIDTH * target.median_distance(rng)
        if target.n_rows > MOST_VALUES:
            target = target.rows_of(spread_rows(target.ordered(), MOST_VALUES, rng))
        weights = np.ones(target.n_rows) if target.row_weights is None else target.row_weights
        points, features = _kernel_features(target, weights, width)
        found = cls(points, width, features, np.zeros(features.shape[1]), 1.0)
        raw = found.of_values(target.columns)
        mean = weights @ raw / weights.sum()
        variance = (weights @ (raw - mean) ** 2).sum() / weights.sum()
        return replace(found, mean=mean, norm=float(np.sqrt(variance)))

    def of_values(self, columns: Array) -> Array:
        """At some values (n, t) of a numeric target, (n, q), on the device where they are."""
        assert self.points is not None
        features = _kernel(columns, asarray_like(self.points, columns), self.width)
        return (
            features @ asarray_like(self.features, columns) - asarray_like(self.mean, columns)
        ) / self.norm

    def of_rows(self, target: Target) -> HostArray:
        """At some rows, (n, q)."""
        if target.values is not None:
            return np.asarray(self.of_values(target.columns))
        return np.asarray((self.features[target.codes] - self.mean) / self.norm)

    def attach(self, target: Target, block: Block) -> Array:
        """At the rows of a block, (1, rows, q); 0 for placeholders."""
        x, present = block.table.x, (block.rows.ravel() >= 0).astype(np.float64)
        some = target.rows_of(block.places[0])
        functions = (
            asarray_like(self.of_rows(some), x)
            if some.values is None
            else self.of_values(asarray_like(some.columns, x))
        )
        return (functions * asarray_like(present, x)[:, None])[None, ...]


def _kernel(columns: Array, points: Array, width: float) -> Array:
    """Gaussian kernel between rows of (n, t) and (p, t)."""
    total = None
    for j in range(columns.shape[1]):
        gaps = columns[:, j][:, None] - points[:, j][None, :]
        gaps /= width
        gaps *= gaps
        total = gaps if total is None else total + gaps
    assert total is not None
    total *= -0.5
    return exp_in_place(total)


def _kernel_features(target: Target, weights: HostArray, width: float) -> tuple[HostArray, HostArray]:
    """Leading features of a Gaussian kernel of the target, from kernels at some of its quantiles."""
    some = _quantiles(target, weights)
    size, vectors = np.linalg.eigh(_kernel(some, some, width))
    kept = size > 1e-10 * size[-1]
    white = vectors[:, kept] / np.sqrt(size[kept])
    features = _kernel(target.columns, some, width) @ white
    features -= weights @ features / weights.sum()
    _, leading = np.linalg.eigh(features.T @ (features * weights[:, None]))
    n_functions = max(N_FUNCTIONS, N_PER_TARGET * target.columns.shape[1])
    return some, np.asarray(white @ leading[:, ::-1][:, :n_functions])


def _quantiles(target: Target, weights: HostArray) -> HostArray:
    """Different values at evenly spaced ranks of the rows, a row of weight w counting as w rows."""
    order = np.argsort(target.ordered(), kind="stable")
    total = np.cumsum(weights[order])
    ranks = np.rint(np.linspace(0, 1, N_POINTS) * (total[-1] - 1))
    rows = order[np.minimum(np.searchsorted(total, ranks, side="right"), order.size - 1)]
    return np.unique(target.columns[rows], axis=0)
