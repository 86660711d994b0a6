"""The fits whose answers `answers.py` writes down: each has a name and is run when it is called.

A case is named ``group/selector/problem``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

from sklearn.base import clone

from answer_problems import Problem, odd_problems, problems
from answer_rows import L1_WAYS, SAMPLE, SECONDARY, WAYS, fit_on_cluster, fit_way
from l1lsmi import L1HSIC, L1LSMI, FeatureSelector, baselines, strategies
from l1lsmi.measures import HSIC, MutualInformation, Pearson, SquaredMutualInformation
from l1lsmi.strategies import Backward, Exhaustive, Forward, Ranking

#: Fits a selector; what it has learned is the answer.
Run = Callable[[], Any]
Case = tuple[str, Run]


# -- measures x strategies, baselines ------------------------------------------------------------


#: Settings of the path, where one strategy has both algorithms.
PATH_SETTINGS = {
    "max_exchanges": "max_swaps",
    "exchange_width": "swap_width",
    "n_scorers": "n_judges",
    "step_size": "relative_step_size",
}


def l1_strategy(algorithm: str, **settings: Any) -> Any:
    """The search for weights in an l1 ball: one strategy for each algorithm, or one for both."""
    if hasattr(strategies, "L1Path"):
        return {"path": strategies.L1Path, "paper": strategies.L1Paper}[algorithm](**settings)
    if algorithm == "path":
        settings = {PATH_SETTINGS.get(name, name): value for name, value in settings.items()}
    return strategies.L1Weighting(algorithm=algorithm, **settings)


MEASURES = {
    "Pearson": Pearson(),
    "HSIC": HSIC(),
    "MutualInformation": MutualInformation(n_basis=20, sigma_factors=(0.5, 1.0)),
    "SquaredMutualInformation": SquaredMutualInformation(n_basis=50),
}
STRATEGIES: dict[str, Callable[[], Any]] = {
    "Ranking": Ranking,
    "Forward": Forward,
    "Backward": Backward,
    "Exhaustive": Exhaustive,
    "l1 path": partial(l1_strategy, "path"),
    "l1 paper": partial(l1_strategy, "paper", n_restarts=1),
}
BASELINES = {
    "MRMR": baselines.MRMR(random_state=0),
    "MRMR quotient f": baselines.MRMR(scheme="quotient", relevance="f"),
    "QPFS": baselines.QPFS(random_state=0),
    "QPFS Nystrom": baselines.QPFS(n_nystrom=8, random_state=0),
    "LassoK": baselines.LassoK(),
    "ReliefF": baselines.ReliefF(),
    "ReliefF all": baselines.ReliefF(n_neighbors="all"),
    "SPEC": baselines.SPEC(),
    "SPEC unsupervised": baselines.SPEC(graph="unsupervised"),
    "LaplacianScore": baselines.LaplacianScore(),
    "LaplacianScore unsupervised": baselines.LaplacianScore(graph="unsupervised"),
}
#: Selectors with weights, and those of parts that also work on rows which are not in memory.
L1_SELECTORS: dict[str, Callable[..., Any]] = {
    "L1LSMI": partial(L1LSMI, random_state=0),
    "L1LSMI paper": partial(L1LSMI, algorithm="paper", n_restarts=2, max_iter=30, random_state=0),
    "L1HSIC": partial(L1HSIC, random_state=0),
}
BLOCKWISE = {
    f"{measure} x {strategy.__name__}": partial(
        FeatureSelector, MEASURES[measure], strategy(), random_state=0
    )
    for measure in ("HSIC", "SquaredMutualInformation")
    for strategy in (Ranking, Forward)
}


def fit_cell(measure: str, strategy: str, p: Problem) -> Any:
    selector = FeatureSelector(clone(MEASURES[measure]), STRATEGIES[strategy](), p.k, random_state=0)
    return selector.fit(p.X, p.y)


def score_directly(measure: str, p: Problem) -> Any:
    part = clone(MEASURES[measure])
    if "random_state" in part.get_params():
        part.set_params(random_state=0)
    return SimpleNamespace(score_=part.score(p.X[:, : p.k], p.y), scores_=part.score_each(p.X, p.y))


def measures() -> Iterator[Case]:
    for measure in MEASURES:
        for p in problems():
            yield f"measures/{measure}/{p.name}", partial(score_directly, measure, p)


def cells() -> Iterator[Case]:
    for measure in MEASURES:
        for p in problems():
            # Mutual information is fitted by iterations, which takes seconds with all rows and columns.
            p = p.cut(200, 10) if measure == "MutualInformation" else p
            for strategy in STRATEGIES:
                # All sets of 4 out of 7 columns are 35; removal from more than 20 columns takes long.
                columns = {"Exhaustive": 7, "Backward": 20}.get(strategy, p.X.shape[1])
                small = p.cut(200 if strategy == "Exhaustive" else len(p.y), columns)
                yield f"cells/{measure} x {strategy}/{p.name}", partial(fit_cell, measure, strategy, small)


def fit_clone(selector: Any, p: Problem) -> Any:
    return clone(selector).set_params(n_features_to_select=p.k).fit(p.X, p.y)


def named_selectors() -> Iterator[Case]:
    l1 = {name: make() for name, make in L1_SELECTORS.items()}
    l1["L1HSIC paper"] = L1HSIC(algorithm="paper", n_restarts=1, random_state=0)
    for group, selectors in {"baselines": BASELINES, "l1 selectors": l1}.items():
        for name, selector in selectors.items():
            for p in problems():
                yield f"{group}/{name}/{p.name}", partial(fit_clone, selector, p)


# -- settings, and problems that are odd -----------------------------------------------------------


def options() -> Iterator[Case]:
    """Settings that are not the defaults, each on classes and on numbers."""
    smi = SquaredMutualInformation
    made: dict[str, Callable[[], Any]] = {
        "L1LSMI basis, cv": lambda: L1LSMI(n_basis=40, cv=3, random_state=1),
        "L1LSMI restarts": lambda: L1LSMI(n_restarts=3, max_iter=8, random_state=2),
        "L1LSMI as numbers": lambda: L1LSMI(task="regression", random_state=0),
        "L1HSIC sigma": lambda: L1HSIC(sigma=1.5, random_state=0),
        "SMI estimate": lambda: FeatureSelector(smi(n_basis=50, score_by="estimate"), random_state=0),
        "SMI uniform": lambda: FeatureSelector(smi(n_basis=50, centers="uniform"), Forward(), random_state=0),
        "HSIC sigmas": lambda: FeatureSelector(HSIC(sigma=2.0, target_sigma=0.5), Backward()),
        "short list": lambda: FeatureSelector(smi(n_basis=50), Forward(shortlist=2), random_state=0),
        "no exchanges": lambda: FeatureSelector(smi(), l1_strategy("path", max_exchanges=0), random_state=0),
        "wide exchanges": lambda: FeatureSelector(
            smi(), l1_strategy("path", exchange_width=5), random_state=0
        ),
        "steps": lambda: FeatureSelector(smi(), l1_strategy("path", step_size=0.3, keep=0.7), random_state=0),
        "two scorers": lambda: FeatureSelector(smi(), l1_strategy("path", n_scorers=2), random_state=0),
        "all restarts": lambda: FeatureSelector(
            smi(n_basis=50), l1_strategy("path", agreement=8), random_state=0
        ),
        "paper radius": lambda: FeatureSelector(
            smi(n_basis=50), l1_strategy("paper", initial_radius=1.0, n_restarts=2), random_state=0
        ),
        "two threads": lambda: FeatureSelector(smi(n_basis=50), Forward(n_jobs=2), random_state=0),
    }
    for name, make in made.items():
        for p in problems():
            if p.name in ("and_or 0", "quad 0", "vehicle", "housing"):
                yield f"options/{name}/{p.name}", lambda make=make, p=p: fit_clone(make(), p)


def odd() -> Iterator[Case]:
    makes = {**L1_SELECTORS, **BLOCKWISE}
    selectors = {**{name: make() for name, make in makes.items()}, **BASELINES}
    for p in odd_problems():
        for name, selector in selectors.items():
            yield f"odd problems/{name}/{p.name}", partial(fit_clone, selector, p)


# -- ways of passing rows --------------------------------------------------------------------------


def ways() -> Iterator[Case]:
    """All real sets and one draw of the others from the main sources; four problems for what takes longer."""
    data = [p for p in problems() if not p.name.endswith(" 1")]
    few = [p for p in data if p.name in ("and_or 0", "quad 0", "wine", "housing")]
    for way, (passed, settings) in {**WAYS, **L1_WAYS}.items():
        for name, make in {**L1_SELECTORS, **(BLOCKWISE if way in WAYS else {})}.items():
            for p in data if name in ("L1LSMI", "L1HSIC") and way not in SECONDARY else few:
                yield f"{way}/{name}/{p.name}", partial(fit_way, make, passed, settings, p)


def on_cluster() -> Iterator[Case]:
    for p in (p for p in problems() if p.name in ("and_or 0", "housing")):
        for name, make in L1_SELECTORS.items():
            yield f"cluster/{name}/{p.name}", partial(fit_on_cluster, make, {}, p)
        sampled = partial(fit_on_cluster, L1_SELECTORS["L1LSMI"], SAMPLE, p)
        yield f"cluster/L1LSMI, sample/{p.name}", sampled


def cases(only: str) -> Iterator[Case]:
    for group in (measures, cells, named_selectors, options, odd, ways, on_cluster):
        yield from ((name, run) for name, run in group() if only in name)
