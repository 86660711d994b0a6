"""The support vector machines that judge a set of features, and the search of their grid.

The grid has 8 values of C and 5 kernel widths; the loss of a cell is summed over the folds. The search
gives what fitting all of it would give, for less:

- One kernel matrix per width serves all C and all folds.
- Losses only grow from fold to fold. The cell with the lowest loss so far is always taken one fold
  further; the first to be finished is the best, and no other cell has been taken further than needed.
- Rows that agree in all features get the same prediction: where their targets differ, every cell loses,
  and this much is known of the folds that are still to come.
- Where all dual coefficients are far below the bound C, a larger C gives the same solution.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.evaluation.machines import is_classes, predict

#: Bounds on the dual coefficients.
C_VALUES = tuple(10.0**power for power in range(-3, 5))
#: Kernel widths, over the median distance between rows.
SIGMA_FACTORS = (0.2, 0.5, 1.0, 2.0, 5.0)
#: A larger C gives the same solution where no dual coefficient is at the bound, and takes the solver along
#: the same steps where none met it on the way. Those that end below this share of C were never seen to.
FAR_BELOW = 0.5


@dataclass(frozen=True)
class Problem:
    """Rows to learn from, and how they are dealt to folds.

    Attributes
    ----------
    squared_distances : numpy.ndarray of shape (n, n)
    median : float
        The median distance.
    y : numpy.ndarray of shape (n,)
        Codes of the classes (integers), or numbers (floats) in regression.
    fold_of_row : numpy.ndarray of int, shape (n,)
    """

    squared_distances: HostArray
    median: float
    y: HostArray
    fold_of_row: HostArray

    def kernel(self, factor: float, squared_distances: HostArray | None = None) -> HostArray:
        """Gaussian kernel of a width, between the rows or of other rows with them."""
        squares = self.squared_distances if squared_distances is None else squared_distances
        return np.exp(squares / (-2.0 * (factor * self.median) ** 2))


class Choice(NamedTuple):
    """The best cell of the grid, its loss summed over all rows, and what it took to find it."""

    loss: float
    C: float
    sigma_factor: float
    n_fits: int
    n_skipped: int


def loss_of(predicted: HostArray, y: HostArray) -> float:
    """Number of wrong classes, or sum of squared errors."""
    if is_classes(y):
        return float(np.count_nonzero(predicted != y))
    return float(((predicted - y) ** 2).sum())


def search(problem: Problem) -> Choice:
    """Find the cell of the grid with the lowest loss in cross-validation.

    Of equal cells the one with the smallest C is chosen, then that with the largest width.
    """
    return _Search(problem).run()


class _Search:
    """Best first: the loss of a cell so far is a bound on what it will be."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.kernels = [problem.kernel(factor) for factor in SIGMA_FACTORS]
        self.n_folds = int(problem.fold_of_row.max()) + 1
        self.least = np.array([least_loss(problem, fold) for fold in range(self.n_folds)])
        self.losses: dict[tuple[int, int, int], float] = {}
        #: Loss at the first C that was found to bind nothing, by width and fold.
        self.free: dict[tuple[int, int], tuple[int, float]] = {}
        self.n_fits = 0

    def run(self) -> Choice:
        middle = (len(C_VALUES) // 2, SIGMA_FACTORS.index(1.0))
        # Hard folds first: hopeless cells are told from the best one sooner.
        pilot = np.array([self.loss(*middle, fold) for fold in range(self.n_folds)])
        order = np.argsort(self.least - pilot, kind="stable")
        still_to_come = np.append(np.cumsum(self.least[order][::-1])[::-1], 0.0)
        # Equal losses come out by the rest of the entry: smallest C first, then largest width.
        heap = [
            (still_to_come[0], c, -width, 0, 0.0)
            for c in range(len(C_VALUES))
            for width in range(len(SIGMA_FACTORS))
        ]
        heapq.heapify(heap)
        while heap[0][3] < self.n_folds:
            _, c, width, n_done, loss = heap[0]
            loss += self.loss(c, -width, int(order[n_done]))
            heapq.heapreplace(heap, (loss + still_to_come[n_done + 1], c, width, n_done + 1, loss))
        _, c, width, _, _ = heap[0]
        total = sum(self.loss(c, -width, fold) for fold in range(self.n_folds))
        n_all = len(C_VALUES) * len(SIGMA_FACTORS) * self.n_folds
        return Choice(total, C_VALUES[c], SIGMA_FACTORS[-width], self.n_fits, n_all - self.n_fits)

    def loss(self, c: int, width: int, fold: int) -> float:
        """Loss of a cell in a fold, worked out once."""
        key = (c, width, fold)
        if key not in self.losses:
            first, loss = self.free.get((width, fold), (len(C_VALUES), 0.0))
            self.losses[key] = loss if c > first else self._fit(c, width, fold)
        return self.losses[key]

    def _fit(self, c: int, width: int, fold: int) -> float:
        inside = self.problem.fold_of_row == fold
        train, test = np.flatnonzero(~inside), np.flatnonzero(inside)
        kernel, y = self.kernels[width], self.problem.y
        # Columns of a symmetric matrix, taken as rows: several times faster than by numpy.ix_.
        columns = kernel[train].T
        blocks = np.ascontiguousarray(columns[train]), np.ascontiguousarray(columns[test])
        predicted, largest = predict(blocks[0], y[train], blocks[1], C_VALUES[c])
        loss = loss_of(predicted, y[test])
        self.n_fits += 1
        if largest < FAR_BELOW * C_VALUES[c] and c < self.free.get((width, fold), (len(C_VALUES), 0.0))[0]:
            self.free[width, fold] = (c, loss)
        return loss


def least_loss(problem: Problem, fold: int) -> float:
    """What every prediction loses in a fold, as rows at the same place get the same one."""
    rows = np.flatnonzero(problem.fold_of_row == fold)
    # The first row at distance 0 stands for the place.
    place = (problem.squared_distances[np.ix_(rows, rows)] == 0).argmax(axis=1)
    y = problem.y[rows]
    if is_classes(y):
        counts = np.zeros((rows.size, int(y.max()) + 1))
        np.add.at(counts, (place, y), 1.0)
        return float(rows.size - counts.max(axis=1).sum())
    sizes = np.bincount(place, minlength=rows.size)
    means = np.bincount(place, weights=y, minlength=rows.size) / np.maximum(sizes, 1)
    # A little less, for rounding in the sums of the losses.
    return float((1 - 1e-9) * ((y - means[place]) ** 2).sum())
