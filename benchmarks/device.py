"""A GPU: restarts in a batch, large selections, and how much of the rate of matrix products is reached.

    python benchmarks/device.py [ROWS COLUMNS]

needs torch with CUDA, and takes CuPy along where it is installed. ROWS x COLUMNS (default 1000000 1000) is
the largest selection; its array is made on the device.
"""

from __future__ import annotations

import sys
import time
from functools import partial

import numpy as np
import torch

from l1lsmi import L1LSMI
from l1lsmi._numerics.model import ModelBatch
from l1lsmi._rows.table import Table
from l1lsmi._validation.target import check_target
from l1lsmi.measures import SquaredMutualInformation
from machine import describe
from problems import small_problems


def timed(function) -> tuple[float, object]:
    torch.cuda.synchronize()
    started = time.perf_counter()
    result = function()
    torch.cuda.synchronize()
    return time.perf_counter() - started, result


def problem(n: int, m: int, seed: int = 0, dtype=torch.float64):
    generator = torch.Generator("cuda").manual_seed(seed)
    X = torch.randn(n, m, generator=generator, device="cuda", dtype=dtype)
    noise = torch.randn(n, generator=generator, device="cuda", dtype=torch.float64)
    return X, (X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * noise).cpu().numpy()


def same_answers() -> None:
    print("\nat most 400 rows: same set as with NumPy, and how far the score is off")
    libraries = {"torch": lambda x: torch.as_tensor(x, device="cuda")}
    try:
        import cupy

        libraries["cupy"] = cupy.asarray
    except ImportError:
        print("CuPy is not installed")
    for title, X, y in small_problems():
        X, y = X[:400], y[:400]
        expected = L1LSMI(4, random_state=0).fit(X, y)
        for name, place in libraries.items():
            found = L1LSMI(4, random_state=0).fit(place(X), y)
            same = np.array_equal(found.support_, expected.support_)
            print(f"{title:<12} {name:<6} {same} {abs(found.cv_score_ - expected.cv_score_):.0e}", flush=True)


def restarts() -> None:
    print("\nrestarts in a batch, 400 x 617, 20 features: seconds (median of 5)")
    for task in ("regression", "classification"):
        X, y = problem(400, 617)
        y = y if task == "regression" else (y > 0).astype(int)
        L1LSMI(20, n_restarts=20, random_state=0).fit(X, y)
        seconds = {}
        for n in (1, 20):
            selectors = [L1LSMI(20, n_restarts=n, random_state=seed) for seed in range(5)]
            seconds[n] = float(np.median([timed(partial(s.fit, X, y))[0] for s in selectors]))
        ratio = seconds[20] / seconds[1]
        print(f"{task:<15} 1: {seconds[1]:.2f}   20: {seconds[20]:.2f}   ratio {ratio:.2f}", flush=True)


def product_rate(n: int, m: int, b: int, X) -> tuple[float, float]:
    """Rates of a square product, and of the one that distances of these rows to b centres are made of."""
    square = torch.randn(8192, 8192, device="cuda", dtype=X.dtype)
    right = torch.randn(m, b, device="cuda", dtype=X.dtype)
    square @ square, X @ right
    full = min(timed(lambda: square @ square)[0] for _ in range(3))
    thin = min(timed(lambda: X @ right)[0] for _ in range(3))
    return 2 * 8192**3 / full / 1e12, 2 * n * m * b / thin / 1e12


def largest(n: int, m: int) -> None:
    print(f"\n{n} x {m}, float64")
    X, y = problem(n, m)
    for _ in range(2):
        seconds, found = timed(lambda: L1LSMI(20, random_state=0).fit(X, y))
        right = bool(found.support_[:3].all())
        print(f"20 features in {seconds:.1f} s; the three that matter are among them: {right}", flush=True)
    b = 100
    full, thin = product_rate(n, m, b, X)
    table = Table.of(X)
    draw = SquaredMutualInformation().bind(table, check_target(y, "regression"), 0).draws([(0,)])
    columns = np.arange(m)[None]
    weights = draw.asarray(np.full((1, m), 1.0 / m))
    (model,) = draw.start_models(weights, columns, [8.0])
    models = ModelBatch(*(draw.asarray(np.array([v])) for v in (model.sigma, model.regularization)))
    draw.evaluate(weights, None, columns, models)
    # New weights in every step: kernels of the last weights are cached.
    steps = [weights * (1 + 0.001 * i) for i in range(1, 4)]
    seconds = min(timed(partial(draw.evaluate, w, None, columns, models))[0] for w in steps)
    flops = 2 * n * b * (2 * m + 3 * b)  # distances, their way back, and three products of b x b
    rate = flops / seconds / 1e12
    print(f"a step on all rows and columns: {seconds * 1e3:.0f} ms, {rate:.1f} Tflop/s")
    print(f"products in the same run: square {full:.1f}, rows by centres {thin:.1f} Tflop/s")
    print(f"share of the square one {rate / full:.0%}, of the other {rate / thin:.0%}")


def wide() -> None:
    X, y = problem(200, 20_000)
    L1LSMI(20, random_state=0).fit(X, y)
    seconds, _ = timed(lambda: L1LSMI(20, random_state=1).fit(X, y))
    print(f"\n200 x 20000, 20 features: {seconds:.2f} s", flush=True)


def main(n: int, m: int) -> None:
    print(describe())
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, CUDA {torch.version.cuda}")
    same_answers()
    restarts()
    wide()
    largest(n, m)


if __name__ == "__main__":
    given = [int(a) for a in sys.argv[1:]]
    main(*(given or (1_000_000, 1_000)))
