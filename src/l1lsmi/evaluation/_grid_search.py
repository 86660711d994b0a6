"""The grid of support vector machines that measures how well a set of features predicts the target.

The grid has 8 values of C and 5 kernel widths; the loss of a cell is summed over the folds. The search
returns the same cell as an exhaustive one, with fewer fits:

- One kernel matrix per width is used for all C and all folds.
- The loss of a cell can only increase from fold to fold. The cell with the lowest loss so far is always
  evaluated on its next fold; the first cell with all folds evaluated is the best.
- Rows that are equal in all features get the same prediction: if their targets differ, this is a lower bound
  on the loss of every cell in the folds that are still to be evaluated.
- If all dual coefficients are far below their bound C, a larger C gives the same solution.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._clock import check_time
from l1lsmi.evaluation._svm import fit_predict, is_classes

#: Bounds on the dual coefficients.
C_VALUES = tuple(10.0**power for power in range(-3, 5))
#: Kernel widths, over the median distance between rows.
SIGMA_FACTORS = (0.2, 0.5, 1.0, 2.0, 5.0)
#: A larger C gives the same solution if no dual coefficient is at the bound, and the same iterations of the
#: solver if none reached it on the way. In all cases tried, those that end below this fraction of C did not.
FAR_BELOW = 0.5
#: Maximum size of the cache of kernel columns.
CACHE_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Problem:
    """Training rows and their folds.

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


class Cell(NamedTuple):
    """The best cell of the grid, its loss summed over all rows, and the number of fits made and saved."""

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


def grid_search(problem: Problem) -> Cell:
    """Find the cell of the grid with the lowest loss in cross-validation.

    Of equal cells the one with the smallest C is chosen, then that with the largest width.
    """
    return _BestFirstSearch(problem).run()


class _BestFirstSearch:
    """The loss of a cell in the folds evaluated so far is a lower bound on its total."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.kernels = [problem.kernel(factor) for factor in SIGMA_FACTORS]
        self.n_folds = int(problem.fold_of_row.max()) + 1
        self.bounds = np.array([loss_bound(problem, fold) for fold in range(self.n_folds)])
        self.losses: dict[tuple[int, int, int], float] = {}
        #: By width and fold, the smallest C found not to bound any coefficient, and its loss.
        self.unbounded: dict[tuple[int, int], tuple[int, float]] = {}
        self.n_fits = 0
        n_blocks = CACHE_BYTES // max(self.kernels[0].nbytes, 1)
        self.columns = lru_cache(maxsize=n_blocks)(self._columns)

    def run(self) -> Cell:
        center = (len(C_VALUES) // 2, SIGMA_FACTORS.index(1.0))
        # Folds with large losses first: bad cells are excluded sooner.
        losses = np.array([self.loss(*center, fold) for fold in range(self.n_folds)])
        order = np.argsort(self.bounds - losses, kind="stable")
        remaining = np.append(np.cumsum(self.bounds[order][::-1])[::-1], 0.0)
        # Equal losses are ordered by the other entries: smallest C first, then largest width.
        cells = product(range(len(C_VALUES)), range(len(SIGMA_FACTORS)))
        heap = [(remaining[0], c, -width, 0, 0.0) for c, width in cells]
        heapq.heapify(heap)
        while heap[0][3] < self.n_folds:
            _, c, width, n_done, loss = heap[0]
            loss += self.loss(c, -width, int(order[n_done]))
            heapq.heapreplace(heap, (loss + remaining[n_done + 1], c, width, n_done + 1, loss))
        _, c, width, _, _ = heap[0]
        total = sum(self.loss(c, -width, fold) for fold in range(self.n_folds))
        n_all = len(C_VALUES) * len(SIGMA_FACTORS) * self.n_folds
        return Cell(total, C_VALUES[c], SIGMA_FACTORS[-width], self.n_fits, n_all - self.n_fits)

    def loss(self, c: int, width: int, fold: int) -> float:
        """Loss of a cell in a fold, cached."""
        key = (c, width, fold)
        if key not in self.losses:
            smallest, loss = self.unbounded.get((width, fold), (len(C_VALUES), 0.0))
            self.losses[key] = loss if c > smallest else self._fit(c, width, fold)
        return self.losses[key]

    def _columns(self, width: int, fold: int) -> HostArray:
        """Kernel of all rows with those outside a fold."""
        # Rows of a symmetric matrix are its columns, and are taken several times faster.
        return np.ascontiguousarray(self.kernels[width][self.problem.fold_of_row != fold].T)

    def _fit(self, c: int, width: int, fold: int) -> float:
        check_time()
        in_fold = self.problem.fold_of_row == fold
        train, test = np.flatnonzero(~in_fold), np.flatnonzero(in_fold)
        y = self.problem.y
        predicted, largest = fit_predict(self.columns(width, fold), train, test, y[train], C_VALUES[c])
        loss = loss_of(predicted, y[test])
        self.n_fits += 1
        # A C above the smallest unbounded one is never fitted.
        if largest < FAR_BELOW * C_VALUES[c]:
            self.unbounded[width, fold] = (c, loss)
        return loss


def loss_bound(problem: Problem, fold: int) -> float:
    """Lower bound on the loss in a fold: rows with equal features get the same prediction."""
    rows = np.flatnonzero(problem.fold_of_row == fold)
    # The first row at distance 0.
    first = (problem.squared_distances[np.ix_(rows, rows)] == 0).argmax(axis=1)
    y = problem.y[rows]
    if is_classes(y):
        counts = np.zeros((rows.size, int(y.max()) + 1))
        np.add.at(counts, (first, y), 1.0)
        return float(rows.size - counts.max(axis=1).sum())
    sizes = np.bincount(first, minlength=rows.size)
    means = np.bincount(first, weights=y, minlength=rows.size) / np.maximum(sizes, 1)
    # A little less, for rounding errors in the sums of the losses.
    return float((1 - 1e-9) * ((y - means[first]) ** 2).sum())
