"""What is attacked with a table and a target: fits, measures, tests and explanations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from fuzz.features import FEATURES
from fuzz.judge import check
from fuzz.roads import ROADS
from fuzz.targets import PLAIN, TARGETS, make_groups, make_target, make_weights
from l1lsmi import L1HSIC, L1LSMI, FeatureSelector, baselines, explain
from l1lsmi.evaluation import selection_scores
from l1lsmi.inference import KnockoffSelector, StabilitySelector, permutation_test
from l1lsmi.measures import HSIC, MutualInformation, Pearson, SquaredMutualInformation
from l1lsmi.strategies import Backward, Exhaustive, Forward, L1Paper, L1Path, Ranking

Generator = np.random.Generator
MEASURES = {
    "Pearson": Pearson(),
    "HSIC": HSIC(),
    "MutualInformation": MutualInformation(n_basis=10, cv=2, sigma_factors=(0.5, 1.0)),
    "SquaredMutualInformation": SquaredMutualInformation(n_basis=10, cv=2),
}
STRATEGIES = {
    "Ranking": Ranking(),
    "Forward": Forward(),
    "Backward": Backward(),
    "Exhaustive": Exhaustive(),
    "L1Path": L1Path(n_restarts=2),
    "L1Paper": L1Paper(n_restarts=1, max_iter=3),
}
SELECTORS: dict[str, Any] = {
    "L1LSMI": L1LSMI(n_basis=20, n_restarts=2, random_state=0),
    "L1LSMI, paper": L1LSMI(algorithm="paper", n_restarts=1, max_iter=3, n_basis=10, random_state=0),
    "L1HSIC": L1HSIC(n_restarts=2, random_state=0),
    "MRMR": baselines.MRMR(),
    "MRMR, neighbours": baselines.MRMR(relevance="knn", random_state=0),
    "MRMR, f": baselines.MRMR(relevance="f", scheme="quotient"),
    "QPFS": baselines.QPFS(),
    "LassoK": baselines.LassoK(),
    "ReliefF": baselines.ReliefF(),
    "SPEC": baselines.SPEC(),
    "SPEC, unsupervised": baselines.SPEC(graph="unsupervised"),
    "LaplacianScore": baselines.LaplacianScore(),
    **{
        f"FeatureSelector, {measure}, {strategy}": FeatureSelector(one, search, random_state=0)
        for measure, one in MEASURES.items()
        for strategy, search in STRATEGIES.items()
        if measure != "Pearson" or strategy == "Ranking"
    },
}
#: Parameters and values of them, good and bad; those that a selector does not have are left out.
PARAMETERS: dict[str, list[Any]] = {
    "task": ["classification", "regression", "survival", "x"],
    "time_limit": [1e-9, 0.01, 0, -1, float("nan"), "a"],
    "n_basis": [1, 1000, 0, 2.5],
    "cv": [2, 1, 1000, "a"],
    "pool": [1, 2, "auto", None, 0],
    "missing": ["value", "ignore", "x"],
    "tails": ["keep", "x"],
    "precision": ["float32", "float16"],
    "class_weight": ["balanced", {0: 2.0}, {"z": 1}, 3],
    "memory_limit": [1, 10**5, -1],
    "must_include": [[0], [0, 0], [99], ["x0"], "x", []],
    "must_exclude": [[0], list(range(50)), [-1], [1.5]],
    "feature_groups": [[[0, 1]], [[0], [0]], [[]], [[99]], "x"],
    "costs": [np.ones(4), [1, 2], -np.ones(4), "x"],
    "budget": [2.0, 0, float("inf"), "x"],
    "categorical_features": [[0], None, ["x0"], [99], "x"],
    "explore_rows": [1, 10, None],
    "n_jobs": [1, 0],
    "random_state": [None, -1, "x"],
    "n_neighbors": [1, 1000, 0],
    "n_bins": [1, 2, 1000],
}
#: Rows and columns: ordinary ones, and small ones.
SIZES = [(30, 4), (24, 3), (40, 5), (12, 6), (60, 2)]
SMALL = [(30, 1), (5, 3), (3, 2), (2, 2), (1, 3), (0, 3), (10, 0)]
NUMBERS: list[Any] = [1, 2, 2, 3, None, 0.5, "auto", 0, -1, 99, 1.0, 2.0, "x", True]


def pick(rng: Generator, choices: Any) -> Any:
    """One of some choices."""
    choices = list(choices)
    return choices[int(rng.integers(len(choices)))]


def make_data(rng: Generator, folder: Path) -> tuple[str, Any, Any, Any]:
    """What the data are, X as an array, X on its road, and y. One of the three is odd, as a rule."""
    odd = pick(rng, ["X", "X", "y", "road", "size", "none"])
    n, m = pick(rng, SMALL if odd == "size" else SIZES)
    features = pick(rng, FEATURES) if odd == "X" else "normal"
    target = pick(rng, TARGETS) if odd == "y" else pick(rng, PLAIN)
    road = pick(rng, ROADS) if odd in ("road", "size") or rng.random() < 0.3 else "NumPy"
    x = FEATURES[features](rng, n, m)
    y = make_target(target, x, rng)
    try:
        given = ROADS[road](x, folder, rng)
    except Exception:  # a library that does not take such values
        road, given = "NumPy", x
    return f"X {features} {getattr(x, 'shape', '')} by {road}, y {target}", x, given, y


def make_selector(rng: Generator) -> tuple[str, Any]:
    """A selector, some of its parameters odd."""
    name = pick(rng, SELECTORS)
    k = 2 if rng.random() < 0.6 else pick(rng, NUMBERS)
    selector = clone(SELECTORS[name]).set_params(n_features_to_select=k)
    told = [f"{name}, k={k!r}"]
    if rng.random() < 0.4:
        known = set(selector.get_params(deep=False))
        parameter = pick(rng, sorted(known & set(PARAMETERS)) or ["n_features_to_select"])
        value = pick(rng, PARAMETERS.get(parameter, NUMBERS))
        selector.set_params(**{parameter: value})
        told.append(f"{parameter}={value!r}")
    return ", ".join(told), selector


def fit(rng: Generator, folder: Path) -> tuple[str, Callable[[], Any]]:
    """A fit, and what follows from it."""
    data, x, given, y = make_data(rng, folder)
    told, selector = make_selector(rng)
    n = len(x) if getattr(x, "ndim", 0) else 10
    beside: dict[str, Any] = {}
    if rng.random() < 0.15:
        beside["sample_weight"] = make_weights(rng, n)
    if "FeatureSelector" in told or told.startswith("L1"):
        if rng.random() < 0.1:
            beside["groups"] = make_groups(rng, n)
        if rng.random() < 0.1:
            beside["covariates"] = rng.normal(size=(n, int(rng.integers(0, 3))))

    def call() -> None:
        before = set(vars(selector))
        try:
            selector.fit(given, y, **beside)
        except Exception:
            left = sorted(set(vars(selector)) - before)
            check(not left, f"half-fitted after an error: {left}")
            raise
        check_fitted(selector, x)
        if not callable(given) and not isinstance(given, Path):
            found = selector.transform(given)
            check(found.shape[1] == selector.support_.sum(), "transform gives other columns")

    return f"{told}; {data}; {sorted(beside)}", call


def check_fitted(selector: Any, x: Any) -> None:
    """The contract of a fit."""
    support, k = selector.support_, selector.n_features_to_select
    check(support.dtype == bool and support.shape == (x.shape[1],), "support_ is no mask of the features")
    free = all(getattr(selector, name, None) is None for name in ("feature_groups", "budget", "must_include"))
    if isinstance(k, int) and free:
        check(support.sum() == k, f"another number of features: {support.sum()} of {k}")
    if getattr(selector, "time_limit", None) is not None:
        return  # scores for which there was no time are NaN
    for name in ("weights_", "scores_", "relevance_", "smi_", "score_"):
        values = getattr(selector, name, None)
        if values is not None:
            check(not np.isnan(np.asarray(values, dtype=float)).any(), f"{name} has NaN")
    check(not any("\n" in told for told in selector.warnings_), "a warning of two lines")


def measure(rng: Generator, folder: Path) -> tuple[str, Callable[[], Any]]:
    """A measure by itself."""
    data, _, given, y = make_data(rng, folder)
    name, each = pick(rng, MEASURES), rng.random() < 0.5
    one = clone(MEASURES[name])

    def call() -> None:
        found = one.score_each(given, y) if each else one.score(given, y)
        check(np.isfinite(found).all(), "a score is not finite")

    return f"{name}.{'score_each' if each else 'score'}; {data}", call


def inference(rng: Generator, folder: Path) -> tuple[str, Callable[[], Any]]:
    """Stability, knockoffs, permutations."""
    data, x, given, y = make_data(rng, folder)
    inner = clone(SELECTORS[pick(rng, ["MRMR", "LassoK", "FeatureSelector, Pearson, Ranking", "ReliefF"])])
    inner.set_params(n_features_to_select=1)
    kind = pick(rng, ["stability", "knockoffs", "permutations"])

    def call() -> None:
        if kind == "permutations":
            found = permutation_test(clone(MEASURES["Pearson"]), given, y, n_permutations=5, random_state=0)
            check(0 < found.p_value <= 1, "no p-value")
            return
        selector = (
            StabilitySelector(inner, n_resamples=4, random_state=0)
            if kind == "stability"
            else KnockoffSelector(inner, random_state=0)
        )
        before = set(vars(selector))
        try:
            selector.fit(given, y)
        except Exception:
            left = sorted(set(vars(selector)) - before)
            check(not left, f"half-fitted after an error: {left}")
            raise
        check(selector.support_.shape == (x.shape[1],), "support_ is no mask of the features")

    return f"{kind} of {inner}; {data}", call


EXPLANATIONS: dict[str, Callable[..., Any]] = {
    "score_by_size": explain.score_by_size,
    "contributions": explain.contributions,
    "redundancy": explain.redundancy,
    "interactions": explain.interactions,
    "selection_scores": selection_scores,
}


def explanation(rng: Generator, folder: Path) -> tuple[str, Callable[[], Any]]:
    """An explanation of a fit, where there is one."""
    data, _, given, y = make_data(rng, folder)
    name = pick(rng, EXPLANATIONS)
    selector = clone(SELECTORS[pick(rng, ["MRMR", "L1HSIC", "FeatureSelector, Pearson, Ranking"])])
    selector.set_params(n_features_to_select=2)

    def call() -> None:
        EXPLANATIONS[name](selector.fit(given, y), given, y)

    return f"{name} of {selector}; {data}", call


KINDS = {"fit": fit, "measure": measure, "inference": inference, "explanation": explanation}
SHARES = [0.65, 0.15, 0.12, 0.08]


def make_case(seed: int, folder: Path) -> tuple[str, Callable[[], Any]]:
    """The case of a seed: what it is, and the call."""
    rng = np.random.default_rng((seed, 1))
    return KINDS[str(rng.choice(list(KINDS), p=SHARES))](rng, folder)
