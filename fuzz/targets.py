"""Kinds of y, weights and groups: good ones, odd ones and bad ones."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np

Generator = np.random.Generator


class Colour(Enum):
    """Labels that cannot be ordered."""

    RED = 1
    BLUE = 2


def _signal(x: np.ndarray[Any, Any], rng: Generator) -> Any:
    """A number for every row that depends on the first columns where these are numbers."""
    noise = rng.normal(size=len(x))
    try:
        first = np.nan_to_num(
            np.asarray(np.real(x), dtype=np.float64).reshape(len(x), -1)[:, :2], posinf=0, neginf=0
        )
        scale = np.abs(first).max(axis=0)
        return (first / np.where(scale > 0, scale, 1.0)).sum(axis=1) + 0.3 * noise
    except (TypeError, ValueError, IndexError, OverflowError):
        return noise


def _labelled(*labels: Any) -> Callable[..., Any]:
    def make(signal: Any, rng: Generator) -> Any:
        cuts = np.quantile(signal, np.arange(1, len(labels)) / len(labels)) if len(signal) else []
        codes = np.searchsorted(cuts, signal)
        found = np.empty(len(signal), dtype=object)
        for i, code in enumerate(codes.tolist()):
            found[i] = labels[code]
        try:
            return np.array(found.tolist()) if isinstance(labels[0], (int, float, str, bool)) else found
        except ValueError:
            return found

    return make


def _spoiled(value: Any) -> Callable[..., Any]:
    def make(signal: Any, rng: Generator) -> Any:
        y = signal.astype(object if value is None else np.float64)
        y[rng.random(len(y)) < 0.2] = value
        return y

    return make


def _rare(signal: Any, rng: Generator) -> Any:
    y = np.zeros(len(signal), dtype=int)
    y[: int(rng.integers(1, 3))] = 1
    return y


TARGETS: dict[str, Callable[[Any, Generator], Any]] = {
    "two classes": _labelled(0, 1),
    "three classes": _labelled("b", "a", "c"),
    "numbers": lambda signal, rng: signal,
    "bool": _labelled(True, False),
    "one class": _labelled("a"),
    "rare class": _rare,
    "all different labels": lambda signal, rng: np.arange(len(signal)).astype(str),
    "Enum": _labelled(Colour.RED, Colour.BLUE),
    "tuples": _labelled((1, 2), (3,)),
    "bytes": _labelled(b"a", b"b"),
    "mixed": _labelled(1, "a"),
    "huge whole numbers": _labelled(10**30, 10**31, 10**32),
    "large whole numbers": _labelled(2**62, 2**62 + 1),
    "tiny numbers": lambda signal, rng: signal * 1e-300,
    "huge numbers": lambda signal, rng: signal * 1e307,
    "constant": lambda signal, rng: np.full(len(signal), 0.5),
    "NaN": _spoiled(np.nan),
    "infinity": _spoiled(np.inf),
    "None": _spoiled(None),
    "dates": lambda signal, rng: (signal * 1e6).astype("M8[s]"),
    "durations": lambda signal, rng: (signal * 1e6).astype("m8[s]"),
    "complex": lambda signal, rng: signal * 1j,
    "two targets": lambda signal, rng: np.column_stack([signal, rng.normal(size=len(signal))]),
    "one column": lambda signal, rng: signal[:, None],
    "too short": lambda signal, rng: signal[:-1],
    "too long": lambda signal, rng: np.append(signal, 0.5),
    "three dimensions": lambda signal, rng: np.zeros((len(signal), 2, 2)),
    "list": lambda signal, rng: signal.tolist(),
    "none": lambda signal, rng: None,
    "masked": lambda signal, rng: np.ma.masked_array(signal > 0, mask=signal > 1),
    "survival": lambda signal, rng: np.array(
        [(value > 0, abs(value)) for value in signal], dtype=[("event", bool), ("time", float)]
    ),
}
#: Most cases have one of these, so that what is odd is found in one argument at a time.
PLAIN = ("two classes", "three classes", "numbers")


def make_target(name: str, x: Any, rng: Generator) -> Any:
    """A target of this kind for some rows."""
    return TARGETS[name](_signal(x, rng) if x.ndim and x.size else rng.normal(size=10), rng)


def make_weights(rng: Generator, n: int) -> Any:
    """Weights of rows, of which about half are good."""
    kinds: list[Callable[[], Any]] = [
        lambda: rng.random(n),
        lambda: rng.integers(0, 3, size=n),
        lambda: rng.random(n) * 1e300,
        lambda: rng.random(n) * 1e-300,
        lambda: rng.normal(size=n),
        lambda: np.zeros(n),
        lambda: np.where(np.arange(n) == 0, np.nan, 1.0),
        lambda: np.ones(n + 1),
        lambda: ["a"] * n,
        lambda: rng.random((n, 2)),
    ]
    return kinds[int(rng.integers(len(kinds)))]()


def make_groups(rng: Generator, n: int) -> Any:
    """Groups of rows."""
    kinds: list[Callable[[], Any]] = [
        lambda: rng.integers(0, 4, size=n),
        lambda: rng.integers(0, 12, size=n).astype(str),
        lambda: np.arange(n),
        lambda: np.zeros(n),
        lambda: np.where(np.arange(n) < 2, np.nan, 1.0),
        lambda: np.arange(n + 3),
    ]
    return kinds[int(rng.integers(len(kinds)))]()
