"""The same set however the data are written down."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from fuzz.calls import SELECTORS, pick
from fuzz.judge import check
from fuzz.roads import ROADS

Generator = np.random.Generator
#: Sets whose scores differ by less are equally good.
EQUAL = 1e-9


def make_problem(rng: Generator) -> tuple[Any, Any]:
    """Features and target. No two columns, and no two rows, are the same."""
    n, m = int(rng.integers(30, 60)), int(rng.integers(3, 7))
    x = rng.normal(size=(n, m))
    if rng.random() < 0.3:
        x = np.round(x, 1)
    if rng.random() < 0.3:
        x = np.exp(2 * x)
    signal = x[:, 0] - x[:, 1] ** 2 + rng.normal(size=n)
    classes = rng.random() < 0.6
    return x, np.digitize(signal, np.quantile(signal, [0.3, 0.6])) if classes else signal


def transformed(name: str, x: Any, rng: Generator, folder: Path) -> Any:
    """X written down in another way."""
    if name == "units":
        return x * 10.0 ** rng.uniform(-6, 6, x.shape[1])
    if name == "shifts":
        return x + rng.normal(size=x.shape[1]) * x.std(axis=0)
    return ROADS[name](x, folder, rng)


#: Roads that every selector takes, and which change nothing about the columns.
SAME_ROADS = ["lists", "polars", "sparse rows", "torch", "array API"]


def make_invariance(seed: int, folder: Path) -> tuple[str, Callable[[], Any]]:
    """The pair of fits of a seed."""
    rng = np.random.default_rng((seed, 3))
    x, y = make_problem(rng)
    change = pick(rng, ["units", "shifts", *(road for road in SAME_ROADS if road in ROADS)])
    name = pick(rng, SELECTORS)
    selector = clone(SELECTORS[name]).set_params(n_features_to_select=2)
    other_x = transformed(change, x, rng, folder)

    def call() -> None:
        one = clone(selector).fit(x, y)
        other = clone(selector).fit(other_x, y)
        if np.array_equal(one.support_, other.support_) or _are_equally_good(one):
            return
        check(False, f"{name} depends on {change}: {one.support_ * 1} and {other.support_ * 1}")

    return f"{name}, {change}, {x.shape[0]} rows", call


def _are_equally_good(selector: Any) -> bool:
    """Whether the last feature that is selected is as good as the first that is not."""
    scores = getattr(selector, "scores_", None)
    if scores is None:
        return False
    inside, outside = scores[selector.support_], scores[~selector.support_]
    return bool(inside.size and outside.size and abs(inside.min() - outside.max()) <= EQUAL * np.ptp(scores))
