"""Least squares on groups of functions that enter and leave one group at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy

import numpy as np

from l1lsmi._arrays import HostArray


class NormalEquations:
    """The normal equations of a regression, from which groups of functions are swept.

    With the Gram matrix G of all functions and their products C with the responses, the matrix
    [[G, C], [C', 0]] is kept, swept at the functions that are in the regression. The lower right corner is
    then minus what they explain, the rest of G and C is what they leave of the other functions.

    Parameters
    ----------
    gram : numpy.ndarray of shape (d, d)
    joint : numpy.ndarray of shape (d, b)
    groups : sequence of numpy.ndarray of int
        The functions of every group.
    ridge : float
        Added to the diagonal of the Gram matrix.
    """

    def __init__(
        self, gram: HostArray, joint: HostArray, groups: Sequence[HostArray], ridge: float = 1e-4
    ) -> None:
        self.n_functions = len(gram)
        self.groups = groups
        self.inside: set[int] = set()
        corner = np.zeros((joint.shape[1], joint.shape[1]))
        self._matrix = np.block([[gram + ridge * np.eye(len(gram)), joint], [joint.T, corner]])
        sizes = np.array([len(group) for group in groups], dtype=np.intp)
        #: Groups of the same size, whose gains are computed together.
        self._by_size = [
            (np.flatnonzero(sizes == size), np.stack([group for group in groups if len(group) == size]))
            for size in np.unique(sizes)
        ]

    def copy(self) -> NormalEquations:
        """A copy whose groups enter and leave by themselves."""
        other = copy(self)
        other.inside, other._matrix = set(self.inside), self._matrix.copy()
        return other

    def enter(self, group: int) -> None:
        """Let a group into the regression."""
        self._sweep(self.groups[group], 1.0)
        self.inside.add(group)

    def leave(self, group: int) -> None:
        """Take a group out of the regression."""
        self._sweep(self.groups[group], -1.0)
        self.inside.remove(group)

    def _sweep(self, functions: HostArray, sign: float) -> None:
        matrix = self._matrix
        pivot = matrix[np.ix_(functions, functions)]
        inverse = np.linalg.inv(pivot)
        across = matrix[functions]
        solved = inverse @ across
        matrix -= across.T @ solved
        matrix[functions] = sign * solved
        matrix[:, functions] = sign * solved.T
        matrix[np.ix_(functions, functions)] = -inverse

    @property
    def explained(self) -> float:
        """What the groups inside explain of the responses."""
        return -float(np.trace(self._matrix[self.n_functions :, self.n_functions :]))

    def gains(self) -> HostArray:
        """How much more would be explained with each group; not meaningful for groups inside."""
        found = np.empty(len(self.groups))
        for members, functions in self._by_size:
            blocks = self._matrix[functions[:, :, None], functions[:, None, :]]
            joint = self._matrix[functions][:, :, self.n_functions :]
            small = 1e-9 * np.trace(blocks, axis1=1, axis2=2) / functions.shape[1] + 1e-12
            blocks = blocks + small[:, None, None] * np.eye(functions.shape[1])
            found[members] = (joint * np.linalg.solve(blocks, joint)).sum(axis=(1, 2))
        return found

    def loss_without(self, some: Iterable[int]) -> float:
        """How much less would be explained without some of the groups inside."""
        functions = np.concatenate([self.groups[group] for group in some])
        block = -self._matrix[np.ix_(functions, functions)]
        joint = self._matrix[functions, self.n_functions :]
        return float((joint * np.linalg.solve(block, joint)).sum())

    def coefficients(self) -> tuple[HostArray, HostArray]:
        """The functions inside, and their coefficients."""
        if not self.inside:
            return np.empty(0, dtype=np.intp), np.empty((0, self._matrix.shape[1] - self.n_functions))
        functions = np.concatenate([self.groups[group] for group in sorted(self.inside)])
        return functions, self._matrix[functions, self.n_functions :]
