"""Kinds of X: good ones, odd ones and bad ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Generator = np.random.Generator
MakeFeatures = Callable[[Generator, int, int], Any]


def normal(rng: Generator, n: int, m: int) -> Any:
    """Numbers without any oddity."""
    return rng.normal(size=(n, m))


def _of_type(dtype: Any) -> MakeFeatures:
    return lambda rng, n, m: (10 * rng.normal(size=(n, m))).astype(dtype)


def _scaled(rng: Generator, n: int, m: int) -> Any:
    """Columns of very different scales."""
    return rng.normal(size=(n, m)) * 10.0 ** rng.integers(-300, 308, size=m)


def _near_the_largest(rng: Generator, n: int, m: int) -> Any:
    return rng.uniform(-1, 1, size=(n, m)) * np.finfo(np.float64).max


def _offset(rng: Generator, n: int, m: int) -> Any:
    """Variation that is tiny beside the values."""
    return 10.0 ** rng.integers(0, 18) + rng.normal(size=(n, m))


def _constants(rng: Generator, n: int, m: int) -> Any:
    x = rng.normal(size=(n, m))
    x[:, rng.random(m) < 0.7] = rng.normal()
    return x


def _copies(rng: Generator, n: int, m: int) -> Any:
    return np.repeat(rng.normal(size=(n, 1)), m, axis=1) * rng.choice([1.0, -1.0, 2.0], size=m)


def _spoiled(value: float) -> MakeFeatures:
    def make(rng: Generator, n: int, m: int) -> Any:
        x = rng.normal(size=(n, m))
        x[rng.random(x.shape) < rng.choice([0.02, 0.3, 0.95])] = value
        return x

    return make


def _masked(rng: Generator, n: int, m: int) -> Any:
    x = rng.normal(size=(n, m))
    return np.ma.masked_array(x, mask=x > rng.choice([0.0, 9.0]))


def _few_values(rng: Generator, n: int, m: int) -> Any:
    return rng.integers(0, int(rng.integers(1, 5)), size=(n, m)).astype(np.float64)


def _one_odd_row(rng: Generator, n: int, m: int) -> Any:
    """Constant but for one row."""
    x = np.zeros((n, m))
    x[: min(n, 1)] = rng.normal(size=m) * 10.0 ** rng.integers(-300, 300)
    return x


def _negative_zero(rng: Generator, n: int, m: int) -> Any:
    return np.where(rng.random((n, m)) < 0.5, -0.0, rng.integers(0, 2, size=(n, m)))


def _numbers_in_text(rng: Generator, n: int, m: int) -> Any:
    return rng.normal(size=(n, m)).astype(str)


def _objects(rng: Generator, n: int, m: int) -> Any:
    x = rng.normal(size=(n, m)).astype(object)
    odd = [None, "a", 10**400, 1 + 2j, float("nan"), True, np.datetime64("2020-01-01"), [1, 2], b"x"]
    if x.size and rng.random() < 0.8:
        x[int(rng.integers(n)), int(rng.integers(m))] = odd[int(rng.integers(len(odd)))]
    return x


def _strided(rng: Generator, n: int, m: int) -> Any:
    return rng.normal(size=(2 * n, 3 * m))[::-2, ::3]


def _read_only(rng: Generator, n: int, m: int) -> Any:
    x = np.asfortranarray(rng.normal(size=(n, m)))
    x.flags.writeable = False
    return x


def _other_dimensions(rng: Generator, n: int, m: int) -> Any:
    return rng.normal(size=[(n,), (n, m, 2), ()][int(rng.integers(3))])


#: By name. Those of numbers alone go through every road.
FEATURES: dict[str, MakeFeatures] = {
    "normal": normal,
    "float32": _of_type(np.float32),
    "float16": _of_type(np.float16),
    "longdouble": _of_type(np.longdouble),
    "int8": _of_type(np.int8),
    "int64": _of_type(np.int64),
    "uint64": lambda rng, n, m: rng.integers(0, 2**64, size=(n, m), dtype=np.uint64),
    "bool": lambda rng, n, m: rng.random((n, m)) < 0.5,
    "complex": _of_type(np.complex128),
    "scaled": _scaled,
    "near the largest": _near_the_largest,
    "subnormal": lambda rng, n, m: rng.normal(size=(n, m)) * 1e-310,
    "offset": _offset,
    "constants": _constants,
    "copies": _copies,
    "NaN": _spoiled(np.nan),
    "infinity": _spoiled(np.inf),
    "outliers": _spoiled(1e300),
    "masked": _masked,
    "few values": _few_values,
    "one odd row": _one_odd_row,
    "negative zero": _negative_zero,
    "numbers in text": _numbers_in_text,
    "objects": _objects,
    "dates": lambda rng, n, m: rng.integers(0, 10**6, size=(n, m)).astype("M8[s]"),
    "strided": _strided,
    "read-only": _read_only,
    "other dimensions": _other_dimensions,
}
