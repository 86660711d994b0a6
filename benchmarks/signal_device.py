"""Weak signals on a GPU: the same answer as on the processor, and a million rows by a thousand columns.

``python benchmarks/signal_device.py`` needs torch with a GPU; CuPy is compared where it is installed.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
import torch

from l1lsmi import L1LSMI
from l1lsmi.explain import pair_terms
from machine import describe

TRUE = (3, 7, 11, 20, 30, 41, 50)


def same_answer() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6_000, 40))
    signal = X[:, 3] * X[:, 7] + X[:, 11] + 0.5 * np.abs(X[:, 20])
    y = signal / signal.std() + 2 * rng.normal(size=len(X))
    arrays = {"torch": torch.asarray(X, device="cuda")}
    try:
        import cupy

        arrays["cupy"] = cupy.asarray(X)
    except ImportError:
        print("cupy is not installed")
    expected, terms = L1LSMI(4, random_state=0).fit(X, y), pair_terms(X, y)
    for name, array in arrays.items():
        found = L1LSMI(4, random_state=0).fit(array, y)
        sizes = pair_terms(array, y).pair_size
        print(
            f"{name}: same set {np.array_equal(found.support_, expected.support_)}, score off by "
            f"{abs(found.cv_score_ - expected.cv_score_):.1e}, pair terms by "
            f"{np.abs(sizes - terms.pair_size).max() / terms.pair_size.max():.1e}"
        )


def large(n: int, m: int, precision: str) -> None:
    generator = torch.Generator(device="cuda").manual_seed(0)
    X = torch.randn((n, m), device="cuda", dtype=torch.float32, generator=generator)
    signal = X[:, 3] * X[:, 7] + X[:, 11] * X[:, 20] + 0.7 * X[:, 30] + 0.7 * torch.sign(X[:, 41])
    signal = signal + 0.5 * (X[:, 50] ** 2 - 1)
    noise = torch.randn(n, device="cuda", generator=generator)
    numbers = (signal / signal.std() + 4 * noise).double().cpu().numpy()
    rare = (numbers > np.quantile(numbers, 0.995)).astype(int)
    for name, y in {"numbers": numbers, "a class of 0.5 %": rare}.items():
        torch.cuda.synchronize()
        started = time.perf_counter()
        found = L1LSMI(len(TRUE), precision=precision, random_state=0).fit(X, y).get_support(indices=True)
        torch.cuda.synchronize()
        seconds = time.perf_counter() - started
        share = len(set(TRUE) & set(found.tolist())) / len(TRUE)
        print(f"{n:>9} x {m:<5} {precision} {name:<18} F {share:.2f} in {seconds:.2f} s", flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    print(describe(), torch.cuda.get_device_name())
    same_answer()
    for n, m, precision in (
        (100_000, 100, "float64"),
        (100_000, 100, "float32"),
        (1_000_000, 1_000, "float32"),
    ):
        large(n, m, precision)


if __name__ == "__main__":
    main()
