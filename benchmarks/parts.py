"""One ascent step and one cross-validation against the linear algebra that they cannot do without.

The yardstick runs the same matrix products, exponentials and Cholesky solves on arrays of the same
shapes and nothing else. Both are timed in turn, in the same run; the best of several is taken.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy.linalg import lapack

from l1lsmi._blas import single_threaded_blas
from l1lsmi._numerics.model import Model, ModelBatch
from l1lsmi._numerics.squared_loss.draw import LeastSquaresDraw
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Table
from l1lsmi.measures import SquaredMutualInformation
from machine import describe

N_FEATURES = 50
FOLDS = 5


def best_of(functions: list[Callable[[], object]], seconds: float) -> list[float]:
    """Shortest time of each function, called in turn."""
    best = [np.inf] * len(functions)
    for function in functions:
        function()
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline:
        for i, function in enumerate(functions):
            started = time.perf_counter()
            function()
            best[i] = min(best[i], time.perf_counter() - started)
    return best


class Yardstick:
    """The bare linear algebra of one step and of one cross-validation."""

    def __init__(self, n: int, b: int, groups: int, sigmas: int, regularizations: int) -> None:
        rng = np.random.default_rng(0)
        self.x = rng.normal(size=(n, N_FEATURES))
        self.centers = rng.normal(size=(b, N_FEATURES))
        each = b // groups
        self.half = rng.random((n, b)) + 1.0
        self.kernel = rng.random((FOLDS, groups, n // FOLDS, each))
        self.square = rng.random((FOLDS, groups, each, each))
        gram = self.kernel[0, 0].T @ self.kernel[0, 0]
        positive = np.asfortranarray(gram + each * n * np.eye(each))
        self.positive = [positive] * (FOLDS * groups)
        self.thin = rng.random((FOLDS, groups, each, 2))
        self.squares = self.x**2
        # For classes the target's kernel is one number per row and group; for regression the joint
        # sums are elementwise, which is not counted here.
        self.target = rng.random((FOLDS, groups, n // FOLDS, 1)) if groups > 1 else None
        self.linear = rng.random((FOLDS, groups, 1, each))
        self.right = rng.random(each)
        self.grid = (sigmas, regularizations)

    def distances(self) -> None:
        self.x @ self.centers.T
        self.squares @ self.squares[0]

    def grams(self) -> None:
        np.exp(self.half)
        np.matmul(np.swapaxes(self.kernel, -1, -2), self.kernel)
        if self.target is not None:
            np.matmul(np.swapaxes(self.target, -1, -2), self.kernel)

    def gradient(self) -> None:
        np.matmul(self.kernel, self.square)
        if self.target is not None:
            np.matmul(self.target, self.linear)
        self.half.T @ self.x
        self.half[:, 0] @ self.squares

    def solve(self, right_sides: int) -> None:
        for matrix in self.positive:
            factor, _ = lapack.dpotrf(matrix)
            for _ in range(right_sides):
                lapack.dpotrs(factor, self.right)

    def step_on_smi(self) -> None:
        self.distances()
        self.grams()
        for matrix in self.positive[::FOLDS]:  # one fit per group, not one per fold
            factor, _ = lapack.dpotrf(matrix)
            lapack.dpotrs(factor, self.right)
        self.gradient()

    def step_on_score(self) -> None:
        self.distances()
        self.grams()
        self.solve(2)
        np.matmul(self.square, self.thin)
        np.matmul(self.thin, np.swapaxes(self.thin, -1, -2))
        self.gradient()

    def cross_validation(self) -> None:
        self.distances()
        for _ in range(self.grid[0]):
            self.grams()
            for _ in range(self.grid[1]):
                self.solve(1)


def draw_for(n: int, b: int, groups: int) -> LeastSquaresDraw:
    """A problem of the given size; one group means regression."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, N_FEATURES))
    if groups == 1:
        target = Target.of_values(x[:, 0] + rng.normal(size=n), 0.0, 1.0)
    else:
        target = Target.of_classes(np.argsort(np.argsort(x[:, 0])) * groups // n)
    return SquaredMutualInformation(n_basis=b).bind(Table.of(x), target, 0).draws([(0,)])


def main() -> None:
    print(describe())
    print("time over that of its own matrix products, exponentials and Cholesky solves (ms in brackets)")
    heads = ("step on the score", "step on SMI", "cross-validation")
    print(f"{'n':>6} {'b':>4} {'target':<12}" + "".join(f"{head:>20}" for head in heads))
    columns, weights = np.arange(N_FEATURES), np.full(N_FEATURES, 0.3)
    for n in (400, 10_000):
        for b in (100, 300):
            for groups in (2, 10, 1):
                draw = draw_for(n, b, groups)
                model = Model(draw.median_distance(weights, columns), 0.01)
                models = ModelBatch(np.array([model.sigma]), np.array([model.regularization]))
                yard = Yardstick(n, b, groups, 10, 5)
                with single_threaded_blas():
                    score, bare_score, smi, bare_smi = best_of(
                        [
                            lambda d=draw, m=models: d.evaluate(weights[None], None, columns[None], m),
                            yard.step_on_score,
                            lambda d=draw, m=model: d.value_and_gradient(weights, columns, m),
                            yard.step_on_smi,
                        ],
                        3.0,
                    )
                    cv, bare_cv = best_of(
                        [lambda d=draw: d.select_model(weights, columns), yard.cross_validation], 4.0
                    )
                target = "regression" if groups == 1 else f"{groups} classes"
                pairs = ((score, bare_score), (smi, bare_smi), (cv, bare_cv))
                cells = [f"{own / bare:.2f} ({1e3 * own:.2f})" for own, bare in pairs]
                print(f"{n:>6} {b:>4} {target:<12}" + "".join(f"{cell:>20}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
