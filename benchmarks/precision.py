"""Work in float32 beside work in float64: the same set or not, how far the score is off, how much faster.

    L1LSMI_DATA=directory python benchmarks/precision.py [--device cuda]

Both run in turn in one process, each problem three times; the ratio is that of the shortest times. With a
device X is copied there by `fit`. Where sets differ, a third fit tells whether the data decide at all: it is
in float64, of values that were rounded to float32.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

from l1lsmi import L1LSMI
from machine import describe
from problems import small_problems

ROUNDS = 3


def problems() -> Iterator[tuple[str, np.ndarray, np.ndarray, int]]:
    """Small datasets, and large artificial tables."""
    for name, X, y in small_problems():
        yield name, X, y, 4
    rng = np.random.default_rng(0)
    for title, n, m in (("wide", 500, 20_000), ("long", 200_000, 100)):
        X = rng.normal(size=(n, m))
        noise = 0.3 * rng.normal(size=n)
        yield f"{title}, sum", X, X[:, 0] + X[:, 1] + X[:, 2] + noise, 3
        # With few rows and many pairs the interaction is not identifiable: all sets score alike.
        yield f"{title}, pair", X, X[:, 0] * X[:, 1] + X[:, 2] + noise, 3


def timed(X: np.ndarray, y: np.ndarray, k: int, precision: str, device: str | None) -> tuple[float, L1LSMI]:
    selector = L1LSMI(k, precision=precision, device=device, random_state=0)
    started = time.perf_counter()
    selector.fit(X, y)
    return time.perf_counter() - started, selector


def compare(title: str, X: np.ndarray, y: np.ndarray, k: int, device: str | None) -> None:
    if device is not None:
        timed(X, y, k, "float64", device)  # what a device does once is no part of it
    seconds: dict[str, list[float]] = {"float64": [], "float32": []}
    found: dict[str, L1LSMI] = {}
    for _ in range(ROUNDS):
        for precision, times in seconds.items():
            passed, found[precision] = timed(X, y, k, precision, device)
            times.append(passed)
    exact, quick = (min(times) for times in seconds.values())
    same = np.array_equal(found["float64"].support_, found["float32"].support_)
    off = abs(found["float64"].cv_score_ - found["float32"].cv_score_)
    shape = f"{X.shape[0]} x {X.shape[1]}"
    line = f"{title:<12} {shape:>14} {k:>2} {same!s:>9} {off:>10.0e}"
    line += f" {exact:>8.2f} {quick:>8.2f} {exact / quick:>6.2f}"
    if not same:
        rounded = timed(X.astype(np.float32).astype(np.float64), y, k, "float64", device)[1]
        stays = np.array_equal(rounded.support_, found["float64"].support_)
        line += f"  rounded values: {'the same set' if stays else 'another set too'}"
    print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default=None, help="such as cuda; the default is the processor")
    device = parser.parse_args().device
    print(describe())
    if device is not None:
        print(f"device {device}{_device_name(device)}")
    print(
        f"{'problem':<12} {'rows x columns':>14} {'k':>2} {'same set':>9} {'score off':>10} "
        f"{'float64':>8} {'float32':>8} {'ratio':>6}"
    )
    for title, X, y, k in problems():
        compare(title, X, y, k, device)


def _device_name(device: str) -> str:
    import torch

    if not device.startswith("cuda"):
        return f", torch {torch.__version__}"
    return f", {torch.cuda.get_device_name(device)}, torch {torch.__version__}, CUDA {torch.version.cuda}"


if __name__ == "__main__":
    main()
